"""The settings in force are those of the configuration, whatever was on record before it was read."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from fwdperm.errors import OperatorError
from fwdperm.judge.setup import JudgeSetup, Prices
from fwdperm.policy.config import Config, read_settings
from fwdperm.policy.opening import open_rulebook
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import LayerKind
from fwdperm.rules.toml_file import SETTINGS, read_config
from fwdperm.seat.unattended import Unattended
from fwdperm.serve.in_force import Kind, as_written, differences, digest_of_text, set_by_hand
from fwdperm.serve.logs import configure_logs
from fwdperm.serve.parts import DaemonOptions, build_parts
from fwdperm.serve.status import Status
from fwdperm.sessions.registry import RecordedSession, end_session, record_session, this_process
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fwdperm.policy.rulebook import Rulebook

PRICES = "[judge.prices]\ninput = 1\noutput = 2\ncache_read = 3\ncache_write = 4\n"

CASES: dict[str, tuple[str, Any]] = {
    "mode": ('mode = "ask"', Mode.ASK),
    "agents.worker.mode": ('[agents.worker]\nmode = "ask"', Mode.ASK),
    "unattended": ('unattended = "reject"', Unattended.REJECT),
    "workspaces": ('workspaces = ["/srv/app"]', ("/srv/app",)),
    "seat.wait_s": ("[seat]\nwait_s = 30", 30.0),
    "guard.sensitive_read": ('[guard]\nsensitive_read = ["*/customers/*"]', ("*/customers/*",)),
    "guard.sensitive_write": ('[guard]\nsensitive_write = ["*/ledger/*"]', ("*/ledger/*",)),
    "guard.exec_judgeable": ("[guard]\nexec_judgeable = false", False),
    "journal.keep_days": ("[journal]\nkeep_days = 90", 90),
    "journal.keep_bytes": ("[journal]\nkeep_bytes = 5_000", 5_000),
    "judge.enabled": ("[judge]\nenabled = true", True),
    "judge.model": ('[judge]\nmodel = "m"', "m"),
    "judge.base_url": ('[judge]\nbase_url = "http://localhost:1"', "http://localhost:1"),
    "judge.key_env": ('[judge]\nkey_env = "KEY"', "KEY"),
    "judge.key_command": ('[judge]\nkey_command = ["pass", "key"]', ("pass", "key")),
    "judge.deadline_s": ("[judge]\ndeadline_s = 7", 7.0),
    "judge.calls_per_hour": ("[judge]\ncalls_per_hour = 9", 9),
    "judge.dollars_per_hour": (f"[judge]\ndollars_per_hour = 2\n{PRICES}", 2.0),
    "judge.prices": (f"[judge]\n{PRICES}", Prices(1.0, 2.0, 3.0, 4.0)),
    "judge.advise": ("[judge]\nadvise = true", True),
    "judge.schema": ("[judge]\nschema = false", False),
    "judge.context": ('[judge]\ncontext = "ours"', "ours"),
}
"""Every setting, with a text that sets it to something else than its default, and that value."""

FIELDS = {"advise": "advises", "schema": "has_schema"}
"""Where a field of a value is called otherwise than the setting that fills it."""

RECORDS = ("running", "ended", "killed", "none")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


def put_on_record(state: Path, kind: str, *, cwd: str = "/srv/elsewhere", session: str = "build") -> None:
    """Leave what `fwdperm run` leaves: of a session that runs, that ended, whose launcher was killed; or nothing."""
    if kind == "none":
        return
    me = this_process() | ({"ticks": 1} if kind == "killed" else {})
    made = RecordedSession(session, "root", cwd=cwd, token="t" * 64, started_ms=1, **me)
    record_session(state, made, ruleset=None)
    if kind == "ended":
        end_session(state, made, at_ms=2)


def opened(place: Path, text: str, *, record: str) -> Rulebook:
    """Open the rules as a daemon does that starts over what an earlier one left."""
    put_on_record(place / "state", record)
    (place / "config.toml").write_text(text, encoding="utf-8")
    return open_rulebook(root=place / "root", state=place / "state", config=place / "config.toml", workspace="")


def request(agent: str = "") -> Request:
    facts = Facts("bash", ("make",), cwd="/srv/app", home="/home/u")
    return Request("r", digest="", inbox="root", session="child", agent=agent, facts=facts)


def held(book: Rulebook, name: str) -> Any:
    """Look where a setting takes effect, or would."""
    *_, key = name.split(".")
    context = book.context(request("worker" if name.startswith("agents.") else ""))
    if key == "mode":
        return context.chain[0].mode
    if name.startswith("judge."):
        assert context.has_judge
        return True if key == "enabled" else getattr(book.config.judge, FIELDS.get(key, key))
    if name == "workspaces":
        assert set(book.config.workspaces) <= set(context.surroundings.workspaces)
    if name.startswith("guard."):
        assert getattr(book.config, key) == getattr(context.surroundings, key)
    return getattr(book.config, key)


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("name", CASES)
def test_a_setting_is_in_force_from_the_start_whatever_is_on_record(tmp_path: Path, name: str, record: str) -> None:
    """A recorded session, running or not, never keeps a setting from being read."""
    text, value = CASES[name]
    book = opened(tmp_path, text, record=record)
    assert book.problems == ()
    assert held(book, name) == value


@pytest.mark.parametrize("record", RECORDS)
def test_all_settings_together_are_what_the_file_says(tmp_path: Path, record: str) -> None:
    text = (
        'mode = "judge"\nunattended = "reject"\nworkspaces = ["/srv/app"]\n[seat]\nwait_s = 30\n[guard]\n'
        'sensitive_read = ["*/a/*"]\nsensitive_write = ["*/b/*"]\nexec_judgeable = false\n[judge]\nmodel = "m"\n'
    )
    book = opened(tmp_path, text, record=record)
    assert book.config == read_settings(read_config(text, file="c.toml", kind=LayerKind.USER))[0]


@pytest.mark.parametrize("name", CASES)
def test_a_case_can_fail(name: str) -> None:
    """Each case sets something else than what holds where nothing is written."""
    key, value = name.rpartition(".")[2], CASES[name][1]
    default = {"mode": Mode.JUDGE, "enabled": None}.get(key)
    if name.startswith("judge.") and key != "enabled":
        default = getattr(JudgeSetup(), FIELDS.get(key, key))
    elif key not in {"mode", "enabled"}:
        default = getattr(Config(), key)
    assert value != default


def test_every_setting_there_is_has_a_case() -> None:
    """A setting that is added has to be added here: every key that a file may hold, every field that is filled."""
    keys = {name.partition(".")[0] for name in CASES} - {"agents"}
    assert keys == SETTINGS
    for table in ("seat", "guard", "judge"):
        inner = {name.partition(".")[2] for name in CASES if name.startswith(f"{table}.")}
        assert inner == known_in(table)
    filled = {FIELDS.get(name.rpartition(".")[2], name.rpartition(".")[2]) for name in CASES}
    there = {each.name for kind in (Config, JudgeSetup) for each in fields(kind)}
    assert there - filled == {"judge"}


def known_in(table: str) -> set[str]:
    """Ask what a table may hold: the complaint about a key that nobody reads names all others."""
    _, problems = read_settings(read_config(f"[{table}]\nnobody_reads_this = 1\n", file="c", kind=LayerKind.USER))
    (words,) = [one.remedy for one in problems if "nobody_reads_this" in one.message]
    return set(words.removeprefix("known here: ").partition(";")[0].split(", "))


@pytest.mark.parametrize("record", RECORDS)
def test_a_daemon_does_not_start_with_a_wrong_setting_whatever_is_on_record(tmp_path: Path, record: str) -> None:
    """What would have been refused without a session on record is refused with one."""
    put_on_record(tmp_path / "state", record)
    (tmp_path / "config.toml").write_text("[seat]\nwait_s = -1\n", encoding="utf-8")
    (tmp_path / "work").mkdir()
    places = {"root": tmp_path / "root", "state": tmp_path / "state", "config": tmp_path / "config.toml"}
    with pytest.raises(OperatorError, match=r"seat\.wait_s"):
        build_parts(DaemonOptions(**places, workspace=str(tmp_path / "work"), asks_here=False))


# -- what is told of them --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_setting_is_told_by_its_name_with_its_value(name: str) -> None:
    """What `status` shows lacks no setting, and shows none that was changed as if it were not."""
    if name == "judge.enabled":
        return  # a judge is told of when there is one
    file = read_config(CASES[name][0], file="c.toml", kind=LayerKind.USER)
    told = as_written(read_settings(file)[0], file)
    assert name in told
    assert json.loads(json.dumps(told)) == told
    assert f"{name} = " in set_by_hand(told)
    assert told[name] != as_written(Config(judge=JudgeSetup()), read_config("", file="c", kind=LayerKind.USER)).get(
        name
    )


def test_no_setting_is_told_that_a_file_could_not_say() -> None:
    file = read_config(CASES["agents.worker.mode"][0], file="c.toml", kind=LayerKind.USER)
    assert set(as_written(Config(judge=JudgeSetup()), file)) == set(CASES) - {"judge.enabled"}


def test_a_key_in_a_command_is_not_told() -> None:
    secret = "sk-ant-" + "a1B2" * 12
    made = Config(judge=JudgeSetup(key_env="", key_command=("echo", secret)))
    assert secret not in json.dumps(as_written(made, read_config("", file="c", kind=LayerKind.USER)))


@pytest.mark.parametrize("name", sorted(set(CASES) - {"judge.enabled"}))
def test_a_daemon_that_lost_a_setting_of_the_text_it_read_is_found_out(tmp_path: Path, name: str) -> None:
    """The very text is in force and a setting of it is not: that is told, by name."""
    path = tmp_path / "c.toml"
    path.write_text(CASES[name][0], encoding="utf-8")
    lost = as_written(Config(), read_config("", file="c", kind=LayerKind.USER))
    digest = digest_of_text(path.read_bytes())
    status = Status("r", pid=1, started_at=1, updated_at=1, config=str(path), config_digest=digest, settings=lost)
    found = {one.words.split("`")[1]: one.kind for one in differences(status)}
    assert found[name] is Kind.SETTING


# -- while it runs ---------------------------------------------------------------------------------------------


def test_an_edit_is_told_though_others_looked_first(tmp_path: Path) -> None:
    """Whoever looks at the files between the edit and the daemon's own look hides nothing from it."""
    book = opened(tmp_path, 'unattended = "hold"', record="none")
    (tmp_path / "config.toml").write_text('unattended = "reject"\n[guard]\nsensitive_read = ["*/a/*"]\n', "utf-8")
    book.files.reload()  # as when a grant for a project was written
    put_on_record(tmp_path / "state", "running")
    book.reload_sessions()
    assert book.reload()
    assert book.config.unattended is Unattended.REJECT
    assert book.context(request()).surroundings.sensitive_read == ("*/a/*",)


def test_a_new_session_alone_is_no_change_of_the_rules(tmp_path: Path) -> None:
    """It makes its directory a workspace; what waits is not weighed again for each child that starts."""
    book = opened(tmp_path, 'workspaces = ["/srv/app"]', record="none")
    put_on_record(tmp_path / "state", "running", cwd="/srv/new")
    book.reload_sessions()
    assert set(book.context(request()).surroundings.workspaces) == {"/srv/app", "/srv/new"}
    assert not book.reload()


def test_a_projects_ruleset_found_before_a_session_started_is_told_all_the_same(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    book = opened(tmp_path, f'workspaces = ["{work}"]', record="none")
    (work / ".fwdperm.toml").write_text('[rules.bash]\n"make *" = "deny"\n', encoding="utf-8")
    book.files.project_files(str(work))
    put_on_record(tmp_path / "state", "running")
    book.reload_sessions()
    assert book.reload()


def test_how_long_requests_wait_and_what_nobody_answers_follow_the_settings(tmp_path: Path) -> None:
    """The lifecycle keeps no settings of its own from the start."""
    (tmp_path / "config.toml").write_text("[seat]\nwait_s = 30\n", encoding="utf-8")
    (tmp_path / "work").mkdir()
    places = {"root": tmp_path / "root", "state": tmp_path / "state", "config": tmp_path / "config.toml"}
    parts = build_parts(DaemonOptions(**places, workspace=str(tmp_path / "work"), asks_here=False))
    try:
        before = parts.services.limits()
        (tmp_path / "config.toml").write_text('unattended = "reject"\n[seat]\nwait_s = 40\n', encoding="utf-8")
        parts.rulebook.reload()
        after = parts.services.limits()
    finally:
        parts.close()
    assert (before.wait_s, before.refuses_unattended) == (30.0, False)
    assert (after.wait_s, after.refuses_unattended) == (40.0, True)

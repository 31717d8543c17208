"""`fwdperm run`: a child that can ask, on record while it lives and after."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.errors import ChildError, EnvironmentFailure, OperatorError
from fwdperm.sessions import launch, registry
from fwdperm.sessions.registry import RecordedSession, end_session, read_sessions, record_session, this_process
from fwdperm.wire.proof import prove

if TYPE_CHECKING:
    from conftest import Responder

ENV = {"PATH": os.environ["PATH"], "HOME": "/home/me"}
PACKAGE = str(Path(launch.__file__).parent.parent)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def run(code: str, *, root: Path, state: Path, **options: object) -> int:
    """Run Python code as a child session."""
    given = {"session": "child", "env": ENV, "root": root, "state": state, **options}
    return launch.run_child([sys.executable, "-c", code], **given)  # type: ignore[arg-type]


def tell(path: Path) -> str:
    return f"import json, os; json.dump(dict(os.environ), open({str(path)!r}, 'w'))"


def test_the_child_knows_who_it_is_and_what_was_its_own_stays(root: Path, state: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    assert run(tell(told), root=root, state=state, parent="mother", agent="reviewer") == 0
    env = json.loads(told.read_text())
    token = env.pop("FWDPERM_TOKEN")
    assert len(token) == 64
    ours = {name: value for name, value in env.items() if name.startswith(("FWDPERM", "PI_"))}
    assert ours == {
        "FWDPERM_ROOT": str(root),
        "FWDPERM_SESSION": "child",
        "FWDPERM_PARENT": "mother",
        "FWDPERM_AGENT": "reviewer",
        "PI_SUBAGENT_PARENT_SESSION": "mother",
        "PI_IS_SUBAGENT": "1",
    }
    assert env["HOME"] == "/home/me"


def test_a_run_inside_a_run_asks_the_session_around_it(root: Path, state: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    run(
        tell(told),
        root=root,
        state=state,
        session="inner",
        env={**ENV, "FWDPERM_SESSION": "outer", "FWDPERM_TOKEN": "its own"},
    )
    env = json.loads(told.read_text())
    assert (env["FWDPERM_SESSION"], env["FWDPERM_PARENT"]) == ("inner", "outer")
    assert env["FWDPERM_TOKEN"] != "its own"  # noqa: S105 - an example


def test_the_session_is_on_record_while_it_runs_and_without_its_token_after(
    root: Path, state: Path, tmp_path: Path
) -> None:
    ruleset = tmp_path / "child.toml"
    ruleset.write_text('[rules.bash]\n"git *" = "allow"\n')
    copy = tmp_path / "copy"
    code = f"import shutil; shutil.copytree({str(state / 'sessions')!r}, {str(copy / 'sessions')!r})"
    assert run(code, root=root, state=state, session="a/b", agent="reviewer", ruleset=ruleset, cwd=tmp_path) == 0
    (during,) = read_sessions(copy)
    (after,) = read_sessions(state)
    assert (during.session, during.parent, during.agent, during.cwd) == ("a/b", "root", "reviewer", str(tmp_path))
    assert during.pid == os.getpid()
    assert during.is_running
    assert len(during.token) == 64
    assert during.token not in repr(during)
    assert during.ruleset_source == str(ruleset)
    assert Path(during.ruleset) == state / "sessions" / "a%2Fb.toml"
    assert Path(during.ruleset).read_bytes() == ruleset.read_bytes()
    assert (after.token, after.is_running, after.ruleset) == ("", False, during.ruleset)
    assert after.ended_ms >= after.started_ms > 0
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (state / "sessions").iterdir()}
    assert modes == {"a%2Fb.json": 0o600, "a%2Fb.toml": 0o600}
    assert stat.S_IMODE((state / "sessions").stat().st_mode) == 0o700


def test_a_later_run_without_a_ruleset_does_not_keep_the_earlier_ones(root: Path, state: Path, tmp_path: Path) -> None:
    ruleset = tmp_path / "child.toml"
    ruleset.write_text('[rules]\n"*" = "deny"\n')
    run("", root=root, state=state, ruleset=ruleset)
    run("", root=root, state=state)
    assert [path.name for path in (state / "sessions").iterdir()] == ["child.json"]
    assert read_sessions(state)[0].ruleset == ""


def test_a_question_of_the_child_carries_a_proof_of_its_recorded_token(
    root: Path, state: Path, responder: Responder
) -> None:
    tokens: list[str] = []

    def look(_request: object) -> dict[str, object]:
        tokens.extend(record.token for record in read_sessions(state))
        return {"approved": True, "state": "approved"}

    responder.decide = look
    code = (
        f"import sys; sys.path.insert(0, {PACKAGE!r}); import fwdperm;"
        "sys.exit(fwdperm.ask('bash', 'git push', cwd='/').exit_code)"
    )
    assert run(code, root=root, state=state, parent="mother", agent="reviewer") == 0
    (request,) = responder.seen
    assert request["targetSessionId"] == "mother"
    assert request["proof"] == prove(
        tokens[0],
        request_id=request["id"],
        created_ms=request["createdAt"],
        session="child",
        agent="reviewer",
        surface="bash",
        values=["git push"],
        cwd="/",
    )


def test_the_childs_exit_code_is_ours(root: Path, state: Path) -> None:
    assert run("import sys; sys.exit(7)", root=root, state=state) == 7
    assert run("import os; os.kill(os.getpid(), 9)", root=root, state=state) == 128 + 9


def test_a_ruleset_with_a_mistake_starts_nothing_and_names_the_line(root: Path, state: Path, tmp_path: Path) -> None:
    ruleset = tmp_path / "child.toml"
    ruleset.write_text('[rules.bash]\n"git *" = "permit"\n')
    told = tmp_path / "told"
    with pytest.raises(OperatorError) as caught:
        run(tell(told), root=root, state=state, ruleset=ruleset)
    assert (caught.value.file, caught.value.line) == (str(ruleset), 2)
    assert "permit" in str(caught.value)
    assert not told.exists()
    assert not state.exists()
    with pytest.raises(OperatorError, match="No such file"):
        run("", root=root, state=state, ruleset=tmp_path / "missing.toml")


def test_a_session_that_runs_already_is_not_started_again(root: Path, state: Path) -> None:
    held = record_session(state, RecordedSession("child", "root", token="t", **this_process()), ruleset=None)  # noqa: S106
    with pytest.raises(OperatorError, match=f"runs already \\(process {os.getpid()}\\)"):
        run("", root=root, state=state)
    assert read_sessions(state) == (held,)
    end_session(state, held, at_ms=5)
    assert run("", root=root, state=state) == 0


def test_a_session_whose_launcher_was_killed_does_not_run(state: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        alive = {**this_process(), "pid": other.pid, "ticks": registry.start_of(other.pid)}
        record = RecordedSession("child", "root", **alive)
        assert record.is_running
        other.kill()
        other.wait()
    assert not record.is_running
    assert not RecordedSession("child", "root", **(alive | {"pid": os.getpid()})).is_running
    assert not RecordedSession("child", "root", **(this_process() | {"boot": "another"})).is_running
    assert state is not None


def test_an_end_does_not_overwrite_a_newer_runs_record(state: Path) -> None:
    old = record_session(state, RecordedSession("child", "root", pid=1, ticks=1), ruleset=None)
    new = record_session(state, RecordedSession("child", "root", pid=2, ticks=2), ruleset=None)
    end_session(state, old, at_ms=9)
    assert read_sessions(state) == (new,)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"schema":"other"}',
        b"[" * 100_000,
        b'{"schema":"fwdperm.session/1","session":"child","parent":7}',
        b"\xff",
    ],
)
def test_an_unreadable_record_is_nobodys(content: bytes, state: Path) -> None:
    kept = record_session(state, RecordedSession("kept", "root"), ruleset=None)
    (state / "sessions" / "child.json").write_bytes(content)
    assert read_sessions(state) == (kept,)


def test_a_record_under_another_sessions_name_is_nobodys(state: Path) -> None:
    record_session(state, RecordedSession("one", "root"), ruleset=None)
    (state / "sessions" / "one.json").rename(state / "sessions" / "two.json")
    assert read_sessions(state) == ()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"session": ".."}, ChildError, "cannot name an inbox"),
        ({"parent": "unknown"}, ChildError, "cannot name an inbox"),
        ({"session": "a", "parent": "a"}, OperatorError, "its own parent"),
        ({"cwd": Path("/proc/nowhere")}, OperatorError, "does not exist"),
    ],
)
def test_what_makes_no_sense_starts_nothing(
    options: dict[str, object], error: type[Exception], says: str, root: Path, state: Path
) -> None:
    told = state.parent / "told"
    with pytest.raises(error, match=says):
        run(tell(told), root=root, state=state, **options)
    assert not told.exists()
    assert read_sessions(state) == ()


@pytest.mark.parametrize("argv", [[], ["/proc/nowhere/at/all"], ["\0"]])
def test_a_command_that_cannot_be_started_says_so_and_is_on_record_as_ended(
    argv: list[str], root: Path, state: Path
) -> None:
    with pytest.raises(OperatorError, match="cannot start"):
        launch.run_child(argv, session="child", root=root, state=state, env=ENV)
    assert read_sessions(state)[0].ended_ms > 0


def test_a_state_that_cannot_be_written_starts_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    told = tmp_path / "told"
    with pytest.raises(EnvironmentFailure, match="cannot record session"):
        run(tell(told), root=root, state=tmp_path / "state")
    assert not told.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1])
def test_signals_reach_the_child_and_the_end_is_recorded(number: signal.Signals, root: Path, state: Path) -> None:
    child = (
        "import signal, sys;"
        f"signal.signal({int(number)}, lambda *_: sys.exit(42));"
        "print('ready', flush=True); signal.pause()"
    )
    launcher = (
        f"import sys; sys.path.insert(0, {PACKAGE!r}); import os;"
        "from pathlib import Path; from fwdperm.sessions.launch import run_child as run;"
        f"sys.exit(run([sys.executable, '-c', {child!r}], session='child', root=Path({str(root)!r}),"
        f" state=Path({str(state)!r}), env=os.environ))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", launcher],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(timeout=20) == 42
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # a child that a failure left behind
        process.communicate()
    (record,) = read_sessions(state)
    assert record.ended_ms > 0
    assert not record.token

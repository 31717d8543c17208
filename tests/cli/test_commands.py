"""Commands without a daemon: what they print, where, and how they exit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

Run = "Callable[..., subprocess.CompletedProcess[str]]"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def command(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "fwdperm", *words],
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "NO_COLOR": "1", **env},
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return command


def config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / ".config" / "fwdperm" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_init_writes_a_starter_that_loads_and_never_overwrites(run: Any) -> None:
    first = run("init")
    assert first.returncode == 0
    path = Path(first.stdout.strip())
    assert path.stat().st_mode & 0o777 == 0o600
    assert "fwdperm serve" in first.stderr
    assert run("check").returncode == 0
    path.write_text("mine", encoding="utf-8")
    again = run("init")
    assert again.returncode == 2
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("value", "code", "word"), [("git status", 0, "ALLOW"), ("npm i", 10, "DENY"), ("make", 12, "ASK")]
)
def test_explain_exits_with_what_would_happen_and_names_the_line(
    run: Any, tmp_path: Path, value: str, code: int, word: str
) -> None:
    path = config(tmp_path, '[rules.bash]\n"git *" = "allow"\n"npm *" = { action = "deny", reason = "use pnpm" }\n')
    done = run("explain", "--surface", "bash", "--value", value)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(word)
    if code != 12:
        assert f"{path}:" in done.stdout


def test_explain_shows_hostile_text_escaped(run: Any) -> None:
    done = run("explain", "--surface", "bash", "--value", "ls\u001b[2J \u202e")
    assert "\u001b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "u{1B}" in done.stdout


def test_explain_without_a_request_says_what_to_give(run: Any) -> None:
    done = run("explain")
    assert done.returncode == 2
    assert "--surface" in done.stderr


def test_a_programs_page_says_what_the_book_knows_of_it(run: Any) -> None:
    """What it is, its options by what they take, its subcommands by class, and how rules see it."""
    done = run("explain", "--program", "git")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "git keeps the history of a project" in text
    assert "taking the directory it works in: `--work-tree`" in text
    assert "`status`: shows the state" in text
    assert "`push`, `request-pull`, `send-email`, `send-pack`: publishes to a shared remote" in text


def test_a_programs_page_as_json_names_its_schema(run: Any) -> None:
    page = json.loads(run("explain", "--program", "/usr/bin/git", "--json").stdout)
    assert page["schema"] == "fwdperm.program/1"
    assert (page["program"], page["known"]) == ("git", True)
    push = next(one for one in page["subcommands"] if one["names"] == ["push"])
    assert push["class"] == "dangerous"
    assert push["dangers"][0]["id"] == "dangerous.git-push"


def test_an_unknown_program_is_said_to_be_one_with_what_that_means(run: Any) -> None:
    done = run("explain", "--program", "frobnicate\u202e")
    assert done.returncode == 5
    assert "is in no book of programs" in done.stdout
    assert "nothing is assumed about it" in done.stdout
    assert "\u202e" not in done.stdout
    assert json.loads(run("explain", "--program", "git frobnicate", "--json").stdout)["known"] is False


def test_a_program_and_a_request_are_not_explained_at_once(run: Any) -> None:
    assert run("explain", "--program", "git", "--surface", "bash", "--value", "git push").returncode == 2


def test_a_file_of_requests_gives_one_line_for_each(run: Any, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "surface": "bash", "value": "git status", "rules": [["bash", "git *", "allow"]]},
        {"id": "b", "surface": "bash", "value": "git push; rm -rf /", "rules": [["bash", "*", "allow"]]},
        {
            "id": "c",
            "surface": "read",
            "values": ["a", "/etc/passwd"],
            "cwd": "/w",
            "layers": [[["read", "/w/*", "allow"]]],
        },
        {"id": "d", "surface": "bash", "value": 7},
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "not json\n", encoding="utf-8")
    done = run("explain", "--file", "r.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    out = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["id"], row["action"]) for row in out] == [
        ("a", "allow"),
        ("b", "deny"),
        ("c", "ask"),
        ("d", "ask"),
        (5, "ask"),
    ]
    assert out[0]["rule"]["pattern"] == "git *"
    assert out[1]["stage"] == "guard"
    assert set(out[1]["guard"]) >= {"class", "id", "words"}


def test_check_names_file_and_line_and_exits_3(run: Any, tmp_path: Path) -> None:
    path = config(tmp_path, '[rules.bash]\n"git *" = "permit"\n"a *" = "allow"\n"*" = "deny"\n')
    done = run("check")
    assert done.returncode == 3
    assert f"cannot load ruleset `{path}`: line 2: unknown action `permit`, expected allow, ask or deny" in done.stdout


def test_check_reports_a_wrong_setting_with_what_was_expected(run: Any, tmp_path: Path) -> None:
    config(tmp_path, 'unattended = "allow"\n\n[seat]\nwait_s = -1\nwait = 3\n')
    done = run("check", "--json")
    assert done.returncode == 3
    messages = [row["message"] for row in json.loads(done.stdout)["problems"]]
    assert any("expected hold or reject" in message for message in messages)
    assert any("seat.wait_s" in message for message in messages)
    assert any("unknown key `seat.wait`" in message for message in messages)


def test_trust_is_of_content(run: Any, tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    rules = project / ".fwdperm.toml"
    rules.write_text('[rules.bash]\n"make *" = "allow"\n', encoding="utf-8")
    ask = ("explain", "--surface", "bash", "--value", "make", "--cwd", str(project))
    assert run(*ask).returncode == 12
    assert run("trust", str(rules)).returncode == 0
    assert run(*ask).returncode == 0
    rules.write_text('[rules.bash]\n"make *" = "allow"\n"x" = "allow"\n', encoding="utf-8")
    assert run(*ask).returncode == 12


def test_status_and_tree_say_that_nobody_serves(run: Any) -> None:
    assert run("status").returncode == 4
    assert run("tree").returncode == 4
    assert json.loads(run("status", "--json").stdout)["serving"] is False


def test_unknown_ids_exit_5(run: Any) -> None:
    assert run("show", "nope").returncode == 5
    assert run("allow", "nope").returncode == 5
    assert run("why", "nope").returncode == 5


@pytest.mark.parametrize("name", ["request", "response", "prompt", "reply", "heartbeat"])
def test_every_schema_is_printed(run: Any, name: str) -> None:
    assert json.loads(run("schema", name).stdout)["$id"] == f"fwdperm.{name}/1"


def test_an_unknown_schema_says_which_there_are(run: Any) -> None:
    done = run("schema", "nope")
    assert done.returncode == 2
    assert "heartbeat" in done.stderr


def test_a_config_that_is_named_must_exist(run: Any) -> None:
    done = run("serve", "--once", "--config", "nowhere.toml")
    assert done.returncode == 3
    assert "nowhere.toml" in done.stderr


def test_a_recorded_ruleset_with_a_mistake_starts_no_child(run: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[rules.bash]\n"x" = "perhaps"\n', encoding="utf-8")
    done = run("run", "--session", "s1", "--ruleset", "bad.toml", "--", "touch", "started")
    assert done.returncode == 3
    assert "line 2" in done.stderr
    assert not (tmp_path / "started").exists()


def test_a_root_that_was_never_served_has_no_journal_and_says_so(run: Any) -> None:
    done = run("audit", "verify")
    assert done.returncode == 4
    assert "never served" in done.stderr
    assert run("audit", "tail").stdout == ""


def test_the_first_help_names_every_command_in_whole_sentences(run: Any) -> None:
    shown = run("--help").stdout
    rows = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(rows) > 20
    assert [row for row in rows if not row.endswith(".") or row.endswith("...")] == []
    assert run("-h").stdout == shown


def test_the_version_is_said(run: Any) -> None:
    import fwdperm  # noqa: PLC0415 - only its version

    assert run("--version").stdout == f"fwdperm {fwdperm.__version__}\n"


@pytest.mark.parametrize("command", ["ask", "hook", "serve", "run", "bridge"])
def test_help_is_no_mistake(run: Any, command: str) -> None:
    done = run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_ctrl_c_while_loading_shows_nobody_a_traceback() -> None:
    script = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["fwdperm", "status"]
from fwdperm.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("words", [("status",), ("schema", "request"), ("explain", "--surface", "a", "--value", "b")])
def test_a_reader_that_leaves_ends_a_command_without_a_word(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As `head` does."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "fwdperm", *words],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


@pytest.mark.parametrize(
    "words", [("status",), ("tree",), ("list",), ("rules", "add", "--surface", "a", "--pattern", "b")]
)
def test_where_nobody_serves_the_next_step_is_named(run: Any, words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 4
    assert "nobody serves `" in done.stdout + done.stderr
    assert "`fwdperm serve`" in done.stdout + done.stderr


@pytest.mark.parametrize("words", [("status",), ("tree",), ("list",), ("doctor",)])
def test_json_is_printed_where_nobody_serves_too(run: Any, words: tuple[str, ...]) -> None:
    assert json.loads(run(*words, "--json").stdout)["schema"].startswith("fwdperm.")


@pytest.mark.parametrize("option", ["--stage", "--outcome", "--kind"])
def test_a_filter_that_could_never_match_is_refused_and_the_known_ones_named(run: Any, option: str) -> None:
    assert run("serve", "--once", "--no-prompt", "--quiet").returncode == 0
    done = run("audit", "query", option, "nope")
    assert done.returncode == 2
    assert f"`{option}` has no `nope`, expected one of " in done.stderr
    assert run("audit", "query", "--text", "nope").stderr == "no line matches\n"


def test_a_file_of_requests_and_one_request_exclude_each_other(run: Any) -> None:
    assert run("explain", "--file", "r.jsonl", "--surface", "bash", "--value", "ls").returncode == 2


def test_a_session_that_can_have_no_inbox_is_a_usage_error(run: Any) -> None:
    assert run("serve", "--once", "--session", "../x").returncode == 2


def test_the_next_step_after_init_names_the_config_that_was_written(run: Any) -> None:
    assert "`fwdperm serve --config 'my rules.toml'`" in run("init", "--config", "my rules.toml").stderr


def test_numbers_agree_with_their_nouns(run: Any, tmp_path: Path) -> None:
    config(tmp_path, '[rules.bash]\n"git *" = "allow"\n')
    assert run("check").stderr == "1 rule, 0 errors, 0 warnings\n"

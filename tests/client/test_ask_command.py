"""`fwdperm ask` as a person or a script runs it: what is printed where, and the exit code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.client.ask_command import read_duration, run_ask
from fwdperm.sessions.locations import fast_command

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Responder

STANDARD = frozenset(sys.stdlib_module_names)


def run(root: Path, *arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    words = [*fast_command(sys.executable), "ask", "--root", str(root), *arguments]
    if code:
        words = [sys.executable, "-c", code, *words[4:]]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)


def ask(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(root, "--surface", "bash", "--value", "git push", *arguments)


def test_an_allowed_question_exits_0_and_prints_the_note(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: {"approved": True, "state": "approved", "note": "go on\n\x1b[2Jrejected \u202e"}
    done = ask(root)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "allowed\ngo on\\n\\x1b[2Jrejected \\u202e\n",
        "",
    )


def test_a_rejected_question_exits_10_and_says_why_on_stderr(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: {"approved": False, "state": "denied_with_reason", "denialReason": "use pnpm here"}
    done = ask(root)
    assert (done.returncode, done.stdout, done.stderr) == (10, "rejected\n", "fwdperm: use pnpm here\n")
    quiet = ask(root, "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (10, "rejected\n", "")


def test_json_prints_one_object(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: {
        "approved": False,
        "state": "denied",
        "denialReason": "no\nno",
        "decidedBy": {"kind": "rule", "pattern": "*"},
    }
    done = ask(root, "--json", "-v")
    request_id = responder.seen[0]["id"]
    assert json.loads(done.stdout) == {
        "schema": "fwdperm.answer/1",
        "requestId": request_id,
        "outcome": "denied",
        "approved": False,
        "note": "",
        "reason": "no\nno",
        "decidedBy": {"kind": "rule", "pattern": "*"},
        "exitCode": 10,
    }
    assert (done.returncode, done.stderr) == (10, f"fwdperm: request {request_id}\n")


def test_a_question_that_nobody_answers_exits_11(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: None
    done = ask(root, "--wait=50ms")
    assert (done.returncode, done.stdout) == (11, "expired\n")


def test_a_question_that_nobody_serves_exits_4(root: Path) -> None:
    """With the real grace of two seconds."""
    done = ask(root, "--wait", "30s")
    assert (done.returncode, done.stdout) == (4, "nobody serving\n")
    assert "session `root`; start `fwdperm serve`" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_question_is_withdrawn_and_exits_130(
    number: signal.Signals, root: Path, responder: Responder
) -> None:
    responder.decide = lambda _: None
    words = [*fast_command(sys.executable), "ask", "--root", str(root), "--surface", "bash", "--value", "ls", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert responder.came.wait(20)
        process.send_signal(number)
        out, error = process.communicate(timeout=20)
    answer = json.loads(out)
    assert (process.returncode, error) == (130, "")
    assert (answer["outcome"], answer["requestId"]) == ("withdrawn", responder.seen[0]["id"])
    assert [path for path in root.glob("sessions/**/*") if path.is_file()] == []


def test_everything_said_reaches_the_request(root: Path, responder: Responder, tmp_path: Path) -> None:
    done = ask(
        root,
        *("--value", "git push origin", "--cwd", str(tmp_path), "--parent", "P", "--session", "S", "--agent=A"),
        *("--message", "--odd", "--suggest", "git *", "--turn", "t", "--tool", "Bash", "--tool-input", '{"a":1}'),
        *("--wait", "20s", "--no-color"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    request: dict[str, Any] = responder.seen[0]
    assert request["accessIntent"]["matchValues"] == ["git push", "git push origin"]
    assert request["accessIntent"]["requesterCwd"] == str(tmp_path)
    assert request["sessionApproval"] == {"grants": [{"surface": "bash", "pattern": "git *"}]}
    keys = ("targetSessionId", "requesterSessionId", "requesterAgentName", "message", "turnId", "toolName", "toolInput")
    assert [request[key] for key in keys] == ["P", "S", "A", "--odd", "t", "Bash", {"a": 1}]
    assert request["deadlineMs"] - request["createdAt"] == 20_000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "`--surface` and `--value` are needed"),
        (["--surface", "bash"], "`--surface` and `--value` are needed"),
        (["--value", "x", "--surface=bash", "--cwd"], "`--cwd` needs a value"),
        (["--surface", "a", "--surface", "b", "--value", "x"], "`--surface` is given twice"),
        (["--surface", "a", "--value", "x", "--wiat", "3"], "unknown argument `--wiat`"),
        (["--surface", "a", "--value", "x", "y"], "unknown argument `y`"),
        (["--surface", "a", "--value", "x", "--wait", "soon"], "`soon` is no time"),
        (["--surface", "a", "--value", "x", "--wait", "-1s"], "`-1s` is no time"),
        (["--surface", "a", "--value", "x", "--wait", "0s"], "waits more than 0"),
        (["--surface", "a", "--value", "x", "--tool-input", "[]"], "must be a JSON object"),
        (["--surface", "a", "--value", "x", "--tool-input", "{"], "`--tool-input` is unreadable"),
        (["--surface", "a", "--value", "x", "--parent", ".."], "cannot name an inbox"),
        (["--surface", "a", "--value", "\udcff"], "lone surrogate"),
    ],
)
def test_a_command_line_that_cannot_be_understood_exits_2_and_says_which_part(
    arguments: list[str], says: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    previous = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        assert run_ask(["--root", str(root), *arguments]) == 2
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("fwdperm: ")
    assert says in error
    assert "Traceback" not in error


def test_an_inbox_that_cannot_be_made_exits_1_with_a_plain_line(root: Path) -> None:
    (root / "sessions").write_text("in the way")
    done = ask(root)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "fwdperm: cannot leave a request" in done.stderr


def test_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_ask(["--help"]) == 0
    assert "10 rejected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"), [("250ms", 0.25), ("30s", 30.0), ("1.5m", 90.0), ("1h", 3600.0), ("7", 7.0)]
)
def test_times_are_read_with_their_unit(text: str, expected: float) -> None:
    assert read_duration(text) == expected


@pytest.mark.usefixtures("responder")
@pytest.mark.parametrize("flags", [["-I", "-S"], ["-I"]])
def test_asking_loads_the_standard_library_only_and_little_of_it(flags: list[str], root: Path) -> None:
    """What a whole question loads beyond what starting the interpreter does; every name here costs every tool call."""
    package = fast_command(sys.executable)[-1].rpartition("/fwdperm/")[0]
    list_modules = "print(*sys.modules, file=sys.stderr)"
    asking = (
        f"import sys; sys.path.insert(0, {package!r}); sys.argv[1:] = ['ask', '--root', {str(root)!r},"
        " '--surface', 'bash', '--value', 'cat ./x', '--tool-input', '{}'];"
        f" from fwdperm.__main__ import main; code = main(); {list_modules}; sys.exit(code)"
    )
    bare = subprocess.run(
        [sys.executable, *flags, "-c", f"import sys; {list_modules}"], capture_output=True, text=True, check=True
    )
    done = subprocess.run(
        [sys.executable, *flags, "-c", asking], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stdout) == (0, "allowed\n")
    extra = set(done.stderr.split()) - set(bare.stderr.split())
    foreign = {name for name in extra if name.partition(".")[0] not in STANDARD | {"fwdperm"}}
    assert foreign == set()
    standard = {name for name in extra if not name.startswith("fwdperm")}
    from_os = {"os", "os.path", "stat", "_stat", "posixpath", "genericpath", "_collections_abc", "errno"}
    assert standard <= from_os | {"__future__", "_json", "_blake2", "_sha2", "_sha256"}

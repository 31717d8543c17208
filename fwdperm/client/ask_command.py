"""`fwdperm ask`: one question from a command line.

Lives here: reading the arguments by hand, printing the answer, the exit code. Never here: argparse or typer (importing
them takes longer than asking), the exchange itself. Standard library only.

Fails closed: anything but an approval exits with something other than 0.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found, unused-ignore]  # importing `signal` would load enum and functools, too
import sys

from fwdperm.client.answer import Answer
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.wire import JsonError, read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final, NoReturn

    from fwdperm.client.question import Question

USAGE: Final = """\
usage: fwdperm ask --surface S --value V [--value V2 ...] [--cwd DIR] [--parent ID] [--session ID] [--agent NAME]
                   [--wait 30s] [--root DIR] [--json] [-q] [-v] [--message TEXT] [--suggest PATTERN ...]
                   [--turn ID] [--tool NAME] [--tool-input JSON]
"""
_EXIT_HELP: Final = """\

Asks whoever serves the parent's inbox for one permission and waits for the answer.

  --surface S        what kind of thing: bash, read, write, edit, web, mcp, a tool's name
  --value V          the thing itself as typed; again for further spellings of the same thing
  --cwd DIR          the directory it is meant in (default: here)
  --parent ID        the session whose inbox is asked (default: $FWDPERM_PARENT, else root)
  --session ID       the asking session (default: $FWDPERM_SESSION)
  --agent NAME       its agent name (default: $FWDPERM_AGENT)
  --wait TIME        how long to wait: 250ms, 30s, 5m, 1h (default: 10m)
  --root DIR         the inbox tree (default: $FWDPERM_ROOT, else the user's runtime directory)
  --message TEXT     the asker's own words about it, shown as a claim
  --suggest PATTERN  what "always" could record; again for more
  --turn ID          the asker's turn: what is taught in it counts from the next one on
  --tool NAME        the tool that is to be used, and with --tool-input its arguments as a JSON object
  --json             print one object, schema fwdperm.answer/1
  -q, -v             no words on stderr; the request's id on stderr

exit codes: 0 allowed, 2 usage, 4 nobody serving, 10 rejected, 11 expired, 130 interrupted, 1 anything else
"""
_WORDS: Final = {
    "approved": "allowed",
    "denied": "rejected",
    "expired": "expired",
    "unserved": "nobody serving",
    "withdrawn": "interrupted",
}
_NEXT_STEP: Final = "; start `fwdperm serve`, or name another inbox tree with --root or $FWDPERM_ROOT"
_ONE: Final = frozenset(
    {"surface", "cwd", "parent", "session", "agent", "wait", "root", "message", "turn", "tool", "tool-input", "config"}
)
_MANY: Final = frozenset({"value", "suggest"})
_FLAGS: Final = {"--json": "json", "--no-color": "plain", "-q": "quiet", "--quiet": "quiet", "-v": "verbose"}
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class _UsageError(Exception):
    """The command line cannot be understood; the message says which part."""


class _StoppedError(BaseException):
    """SIGTERM or SIGHUP came: withdraw and leave, as after Ctrl-C."""


def run_ask(arguments: Sequence[str]) -> int:
    """Run `fwdperm ask`.

    Args:
        arguments: The words after `ask`.

    Returns:
        The exit code: 0 allowed, 1 the inbox could not be used, 2 usage, 4 nobody serving, 10 rejected, 11 expired,
        130 interrupted.
    """
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(USAGE + _EXIT_HELP)
        return 0
    try:
        said = _Said(arguments)
        wait_s = read_duration(said.one["wait"]) if "wait" in said.one else None
        tool_input = _read_object(said.one["tool-input"]) if "tool-input" in said.one else None
    except _UsageError as error:
        return _fail(f"{error}\n{USAGE}", code=2)
    _signal.signal(_signal.SIGTERM, _stop)
    _signal.signal(_signal.SIGHUP, _stop)
    from fwdperm.client.exchange import put  # noqa: PLC0415 - a wrong command line need not load it
    from fwdperm.client.question import new_request_id  # noqa: PLC0415 - as above

    request_id = new_request_id()
    try:
        answer = put(_question(said, request_id=request_id, wait_s=wait_s, tool_input=tool_input))
    except (KeyboardInterrupt, _StoppedError):
        answer = Answer("withdrawn", request_id=request_id, reason="the asker was interrupted")
    except ChildError as error:
        return _fail(f"{error}\n", code=2)
    except EnvironmentFailure as error:
        return _fail(f"{error}\n", code=1)
    return _tell(answer, flags=said.flags)


def _question(
    said: _Said, *, request_id: str, wait_s: float | None, tool_input: Mapping[str, object] | None
) -> Question:
    """Make the question from the command line's options."""
    from fwdperm.client.question import Question, Requester  # noqa: PLC0415 - loaded by now

    one = said.one
    return Question(
        one["surface"],
        said.many["value"],
        requester=Requester(
            cwd=one.get("cwd"),
            parent=one.get("parent"),
            session=one.get("session"),
            agent=one.get("agent"),
            turn=one.get("turn", ""),
            root=one.get("root"),
        ),
        request_id=request_id,
        wait_s=wait_s,
        message=one.get("message", ""),
        tool=one.get("tool", ""),
        tool_input=tool_input,
        suggest=said.many["suggest"],
    )


class _Said:
    """A parsed command line: options that are given once, options that may be repeated, flags."""

    __slots__ = ("flags", "many", "one")

    def __init__(self, arguments: Sequence[str]) -> None:
        self.one: dict[str, str] = {}
        self.many: dict[str, list[str]] = {name: [] for name in _MANY}
        self.flags: set[str] = set()
        words = iter(arguments)
        for word in words:
            if word in _FLAGS:
                self.flags.add(_FLAGS[word])
                continue
            name, has_value, value = word.removeprefix("--").partition("=")
            if not word.startswith("--") or name not in _ONE | _MANY:
                raise _UsageError(f"unknown argument `{word}`")
            if not has_value:
                found = next(words, None)
                if found is None:
                    raise _UsageError(f"`--{name}` needs a value")
                value = found
            if name in _MANY:
                self.many[name].append(value)
            elif name in self.one:
                raise _UsageError(f"`--{name}` is given twice")
            else:
                self.one[name] = value
        if "surface" not in self.one or not self.many["value"]:
            raise _UsageError("`--surface` and `--value` are needed")


def read_duration(text: str) -> float:
    """Read `250ms`, `30s`, `5m`, `1h` or a plain number of seconds as seconds.

    Raises:
        _UsageError: For anything else.
    """
    for unit in ("ms", "s", "m", "h", ""):
        number = text.removesuffix(unit)
        if text.endswith(unit) and number.isascii() and number.replace(".", "", 1).isdigit():
            return float(number) * _UNITS.get(unit, 1.0)
    raise _UsageError(f"`{text}` is no time; write 250ms, 30s, 5m or 1h")


def _read_object(text: str) -> Mapping[str, object]:
    try:
        found = read_json(text)
    except JsonError as error:
        raise _UsageError(f"`--tool-input` is unreadable: {error}") from None
    if not isinstance(found, dict):
        raise _UsageError("`--tool-input` must be a JSON object")
    return found


def _tell(answer: Answer, *, flags: set[str]) -> int:
    """Print the answer: the outcome's word and an approval's note on stdout, what is meant for people on stderr."""
    if "verbose" in flags:
        sys.stderr.write(f"fwdperm: request {answer.request_id}\n")
    if "json" in flags:
        sys.stdout.write(write_json(as_object(answer)) + "\n")
        return answer.exit_code
    sys.stdout.write(_WORDS[answer.outcome] + "\n")
    if answer.note:
        sys.stdout.write(_shown(answer.note) + "\n")
    if answer.reason and "quiet" not in flags:
        then = _NEXT_STEP if answer.outcome == "unserved" else ""
        sys.stderr.write(f"fwdperm: {_shown(answer.reason)}{then}\n")
    return answer.exit_code


def as_object(answer: Answer) -> dict[str, object]:
    """Return an answer as the object `--json` prints."""
    return {
        "schema": "fwdperm.answer/1",
        "requestId": answer.request_id,
        "outcome": answer.outcome,
        "approved": answer.approved,
        "note": answer.note,
        "reason": answer.reason,
        "decidedBy": dict(answer.decided_by),
        "exitCode": answer.exit_code,
    }


def _shown(text: str) -> str:
    """Escape what could imitate other output: controls, bidirectional and zero-width characters, line breaks."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _fail(message: str, *, code: int) -> int:
    sys.stderr.write(f"fwdperm: {message}".encode(errors="backslashreplace").decode())
    return code


def _stop(_number: int, _frame: object) -> NoReturn:
    raise _StoppedError

"""`fwdperm hook AGENT EVENT`: the process an agent starts for every question and after every tool call.

Lives here: reading the event, asking, printing the decision in the agent's own shape. Never here: an agent's fields
(the dialects), what a tool accesses (`tool_calls.py`), whether it may. Standard library only, and little of it.

Fails closed: whatever goes wrong, a denial is printed and the exit code is 0, because most agents run the tool when
their hook crashes or is late. The denial names the request, and never holds an exception's text.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found, unused-ignore]  # importing `signal` would load enum and functools, too
import os
import sys
import time

from fwdperm import settings
from fwdperm.agents.event import BadEvent
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.sessions import TOKEN_VARIABLE, find_root
from fwdperm.wire import JsonError, read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any, Final, NoReturn

    from fwdperm.agents.event import AgentEvent
    from fwdperm.agents.lineage import TreePosition

WAIT_S: Final = settings.WAIT_S
"""Seconds a question waits for its answer. Less than `LAST_S`."""
LAST_S: Final = 630
"""Seconds after which a timer ends whatever the process is doing, and it denies. Less than `AGENT_TIMEOUT_S`."""
AGENT_TIMEOUT_S: Final = 660
"""Seconds that `fwdperm install` sets as the agent's own limit. After that most agents run the tool."""
EVENT_BYTES: Final = 1 << 26
"""Bytes of an event that are read; a write of a larger file is denied."""
_KIND: Final = 0o170000
_REGULAR: Final = 0o100000  # as in `stat`, which would be one more module to load
_LOG_BYTES: Final = 1 << 20
"""Bytes after which the log of refused events is left as it is."""
_UNLOGGED: Final = "-"
USAGE: Final = "usage: fwdperm hook AGENT EVENT [--root DIR]   (AGENT: claude, codex, copilot, gemini, qwen)\n"

PROBE: Final = {"fwdperm": "probe"}
"""The event with which `fwdperm doctor` tries a hook: it is denied, and not logged."""
AGENTS: Final = ("claude", "codex", "copilot", "gemini", "qwen")


class _ProbeError(Exception):
    """The event is a trial."""


class _StopError(BaseException):
    """The process is told to end, or its time is over."""


def run_hook(arguments: Sequence[str]) -> int:
    """Answer one event.

    Args:
        arguments: The words after `hook`: the agent, the event, and maybe `--root DIR`.

    Returns:
        0 whenever an answer was printed; 2 for a command line that names no agent and event.
    """
    words = list(arguments)
    root = None
    if "--root" in words[:-1]:
        at = words.index("--root")
        root = words[at + 1]
        del words[at : at + 2]
    if len(words) != 2 or words[0] not in AGENTS:  # noqa: PLR2004 - agent and event
        sys.stderr.write(USAGE)
        return 2
    dialect = _dialect(words[0])
    for number in (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT, _signal.SIGALRM):
        _signal.signal(number, _stop)
    _signal.setitimer(_signal.ITIMER_REAL, LAST_S)
    answer = _Hook(dialect, words[1], root=root, env=os.environ).answer()
    for number in (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT, _signal.SIGALRM):
        _signal.signal(number, _signal.SIG_IGN)  # only printing is left: a signal must not cut the answer short
    if answer is not None:
        _print(answer)
    return 0


def _dialect(agent: str) -> ModuleType:
    """Load one agent's dialect, and no other."""
    if agent == "claude":
        from fwdperm.agents import claude  # noqa: PLC0415 - each process loads only what it needs

        return claude
    if agent == "codex":
        from fwdperm.agents import codex  # noqa: PLC0415 - as above

        return codex
    if agent == "copilot":
        from fwdperm.agents import copilot  # noqa: PLC0415 - as above

        return copilot
    if agent == "gemini":
        from fwdperm.agents import gemini  # noqa: PLC0415 - as above

        return gemini
    from fwdperm.agents import qwen  # noqa: PLC0415 - as above

    return qwen


class _Hook:
    """One event's way to its answer."""

    def __init__(self, dialect: ModuleType, event: str, *, root: str | None, env: Mapping[str, str]) -> None:
        self._dialect = dialect
        self._event = event
        self._named_root = root
        self._env = env
        self._made_id = ""
        self._ends = time.monotonic() + WAIT_S

    @property
    def _id(self) -> str:
        """The request's id. It is made when first needed: the event after a tool call needs none."""
        if not self._made_id:
            from fwdperm.client import new_request_id  # noqa: PLC0415 - see above

            self._made_id = new_request_id()
        return self._made_id

    def answer(self) -> dict[str, Any] | None:
        """Give what is to be printed; None for nothing. Never raises."""
        try:
            if self._event in self._dialect.NOTES:
                return self._hand_over()
            if self._event in self._dialect.ASKS:
                return self._decide()
            return self._refuse(f"fwdperm does not know the event `{self._event[:40]}`")
        except _ProbeError:
            return self._refuse("this is only a trial", log=_UNLOGGED)
        except BadEvent as error:
            return self._refuse(f"fwdperm cannot read this call: {error}")
        except ChildError as error:
            return self._refuse(f"fwdperm cannot ask about this call: {error}")
        except EnvironmentFailure:
            return self._refuse("fwdperm's inbox cannot be written to")
        except (KeyboardInterrupt, _StopError):
            return self._refuse("fwdperm was stopped before anybody decided")
        except BaseException as error:  # noqa: BLE001 - the seam: an agent runs the tool when its hook crashes
            return self._refuse("fwdperm failed on this call", log=type(error).__name__)

    # -- asking ------------------------------------------------------------------------------------------------

    def _decide(self) -> dict[str, Any]:
        from fwdperm.agents.tool_calls import accesses  # noqa: PLC0415 - a note needs neither this nor the client

        said = self._read()
        place = self._place(said)
        wanted = accesses(said.tool, said.tool_input, cwd=said.cwd)
        requester = self._requester(said, place)
        notes: list[str] = []
        for number, access in enumerate(wanted):
            answer = self._ask(said, access, requester=requester, number=number)
            if not answer.approved:
                told: dict[str, Any] = self._dialect.denied(self._event, self._words(answer))
                return told
            if answer.note:
                notes.append(_told_with_note(answer))
        note = "\n".join(dict.fromkeys(notes))
        if note and not self._dialect.carries_note(self._event):
            self._leave(note, said)
        allowed: dict[str, Any] = self._dialect.allowed(self._event, note=note)
        return allowed

    def _requester(self, said: AgentEvent, place: TreePosition) -> Any:
        """Say who asks, for everything that the call accesses."""
        from fwdperm.client import Requester  # noqa: PLC0415 - a note has no use for it

        return Requester(
            cwd=said.cwd or None,
            parent=place.inbox,
            session=place.session,
            agent=place.agent[: settings.NAME_CHARS],
            ancestors=place.ancestors,
            turn=said.turn[: settings.NAME_CHARS],
            root=self._named_root,
            env=self._env if place.is_launched else _without_token(self._env),
        )

    def _ask(self, said: AgentEvent, access: Any, *, requester: Any, number: int) -> Any:
        from fwdperm.agents.summary import shortened  # noqa: PLC0415 - loaded by `tools` already
        from fwdperm.client import Question, put  # noqa: PLC0415 - as above

        question = Question(
            access.surface,
            access.values,
            requester=requester,
            request_id=self._id if number == 0 else f"{self._id}.{number}",
            wait_s=max(self._ends - time.monotonic(), 0.001),
            message=access.message,
            floor=access.floor,
            tool=said.tool,
            tool_input=shortened(dict(said.tool_input)),
        )
        return put(question)

    def _words(self, answer: Any) -> str:
        """Give a denial's words: the serving side's own, or ours that nobody decided."""
        match answer.outcome:
            case "denied":
                return str(answer.reason)
            case "unserved":
                reason = "nobody serves fwdperm's inbox, so nobody could permit this; start `fwdperm serve`"
            case _:
                reason = "nobody answered in time, so this was not permitted; nobody refused it either"
        self._log(answer.outcome)
        return f"{reason} (request {answer.request_id})"

    # -- notes -------------------------------------------------------------------------------------------------

    def _hand_over(self) -> dict[str, Any] | None:
        """Give the note for the call that has just run, if there is one. Finding none takes one `stat`."""
        from fwdperm.client import take_note  # noqa: PLC0415 - a question has no use for it

        try:
            said = self._read()
            note = take_note(self._root(), session=_owner(said), agent=said.agent_id, call=said.call)
        except BaseException as error:  # noqa: BLE001 - the tool has run; nothing is decided here
            if not isinstance(error, _ProbeError):
                self._log(f"no note handed over: {type(error).__name__}")
            return None
        if not note:
            return None
        told: dict[str, Any] = self._dialect.noted(self._event, note)
        return told

    def _leave(self, note: str, said: AgentEvent) -> None:
        from fwdperm.client import leave_note  # noqa: PLC0415 - few approvals have a note

        if not leave_note(self._root(), session=_owner(said), agent=said.agent_id, call=said.call, note=note):
            self._log("a note could not be left")

    # -- the world ---------------------------------------------------------------------------------------------

    def _read(self) -> AgentEvent:
        content = _read_input()
        try:
            raw = read_json(content.decode())
        except (JsonError, UnicodeDecodeError):
            raise BadEvent("the event is no JSON") from None
        if raw == PROBE:
            raise _ProbeError
        if not isinstance(raw, dict):
            raise BadEvent("the event is no JSON object")
        event: AgentEvent = self._dialect.read(self._event, raw)
        return event

    def _place(self, said: AgentEvent) -> TreePosition:
        from fwdperm.agents.lineage import position_of  # noqa: PLC0415 - after the event could be read

        return position_of(said, self._env, name=self._dialect.NAME)

    def _root(self) -> str:
        return find_root(self._env, explicit=self._named_root)

    def _refuse(self, reason: str, *, log: str = "") -> dict[str, Any]:
        if log != _UNLOGGED:
            self._log(log or reason)
        told: dict[str, Any] = self._dialect.denied(self._event, f"{reason} (request {self._id})")
        return told

    def _log(self, what: str) -> None:
        """Write one line to standard error and to a file that `fwdperm doctor` shows; no text of the event."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        shown = "".join(char if char.isprintable() else "?" for char in f"{self._event[:40]} {self._id} {what}")
        line = f"{when} hook {self._dialect.NAME} {shown}\n".encode(errors="replace")
        for write in (_to_stderr, self._to_file):
            try:
                write(line)
            except Exception:  # noqa: BLE001, S112 - a log that cannot be written changes no decision
                continue

    def _to_file(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(f"{self._root()}/hooks.log", flags, 0o600)
        try:
            is_ = os.fstat(descriptor)
            is_plain = is_.st_mode & _KIND == _REGULAR and is_.st_nlink == 1
            if is_plain and is_.st_uid == os.geteuid() and is_.st_size < _LOG_BYTES:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)


def _owner(said: AgentEvent) -> str:
    """Give whose note it is: a subagent's own id, because agents differ in which session they name for it."""
    return said.agent_id or said.session


def _told_with_note(answer: Any) -> str:
    """Give the sentence that tells the agent of a note: the daemon's own, else one of the same form."""
    told = answer.raw.get("denialReason")
    return told if isinstance(told, str) and told else f"User approved this tool call with feedback: {answer.note}"


def _without_token(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name != TOKEN_VARIABLE}


def _read_input() -> bytes:
    parts: list[bytes] = []
    size = 0
    while more := os.read(0, 1 << 20):
        parts.append(more)
        size += len(more)
        if size > EVENT_BYTES:
            raise BadEvent("the event is too large")
    return b"".join(parts)


def _print(answer: dict[str, Any]) -> None:
    rest = memoryview((write_json(answer) + "\n").encode())
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError:
        return  # the agent no longer reads, and so it got no approval


def _to_stderr(line: bytes) -> None:
    os.write(2, b"fwdperm: " + line)


def _stop(_number: int, _frame: object) -> NoReturn:
    raise _StopError

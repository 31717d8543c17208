"""What a requester states about its own request, written where the request is born.

Lives here: the request file's fields, and the few looks at the disk that only the requester can take (real paths as
its own file system resolves them). Never here: publishing, waiting, a decision. Standard library only.

Facts are claims: the serving side uses them to narrow, and floors to ask when they are missing.
"""

from __future__ import annotations

import os
from os.path import abspath, expanduser, isabs, join, lexists, realpath

from fwdperm import settings
from fwdperm.errors import ChildError
from fwdperm.wire import JsonError, prove, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

PATH_SURFACES: Final = frozenset(
    {"read", "write", "edit", "multiedit", "notebook_edit", "path_read", "path_write", "path", "external_directory"}
    | {"external", "grep", "find", "ls", "glob"}
)
"""Surfaces whose value is a path, and so has a real path to report."""

_OPERANDS: Final = 64
"""Words of a command line whose real path is reported; the serving side resolves the rest lexically."""
_NOT_PLAIN: Final = frozenset("'\"`$\\*?[]{}<>|&;()~!#")
"""Characters after which a word is no longer what the shell would make of it."""
_MESSAGE_CHARS: Final = 500
"""Characters of the message made from surface and value when the caller gives none."""


class Question:
    """One request as its asker states it; immutable.

    Attributes:
        id: The request's id, and its file's stem.
        inbox: The parent's session: whose inbox it goes to.
        content: The request file's bytes.
        wait_s: Seconds the asker waits.
    """

    __slots__ = ("content", "id", "inbox", "wait_s")

    content: bytes
    id: str
    inbox: str
    wait_s: float

    def __init__(self, *, request_id: str, inbox: str, content: bytes, wait_s: float) -> None:
        fix = object.__setattr__
        fix(self, "id", request_id)
        fix(self, "inbox", inbox)
        fix(self, "content", content)
        fix(self, "wait_s", wait_s)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a question is fixed once asked: `{name}`")


def state_question(  # noqa: PLR0913 - one argument per field that crosses the wire
    surface: str,
    values: Sequence[str],
    *,
    request_id: str,
    now_ms: int,
    cwd: str,
    inbox: str,
    session: str,
    agent: str,
    wait_s: float,
    home: str = "",
    token: str = "",
    turn: str = "",
    tool: str = "",
    tool_input: Mapping[str, Any] | None = None,
    message: str = "",
    suggest: Sequence[str] = (),
    ancestors: Sequence[tuple[str, str]] = (),
    floor: str = "",
) -> Question:
    """Compose one request.

    Args:
        surface: What kind of thing is accessed.
        values: Spellings of the one thing, the first as typed; at least one.
        request_id: The request's id.
        now_ms: Epoch milliseconds.
        cwd: The requester's working directory, absolute.
        inbox: The session whose inbox it goes to.
        session: The requester's own session.
        agent: Its agent name.
        wait_s: Seconds it waits from `now_ms`.
        home: The requester's home directory; empty when unknown.
        token: Its session's secret; empty for none, and then there is no proof.
        turn: Its turn; empty for none.
        tool: The tool's name; empty for none.
        tool_input: The tool's input; None for none.
        message: Its own words about it; made from surface and value when empty.
        suggest: Patterns it suggests for an *always*.
        ancestors: (session, agent name) from its inbox's session upwards, as far as it knows.
        floor: Why a person must look, in words; empty when the facts show everything.

    Raises:
        ChildError: For something no serving side would take: empty or overlong, no UTF-8, no absolute cwd, a wait out
            of range. Fails closed: nothing is published.
    """
    _check(surface, values, cwd=cwd, wait_s=wait_s)
    intent: dict[str, Any] = {
        "surface": surface,
        "matchValues": list(values),
        "boundaryValue": _real(values[0], cwd=cwd) if surface in PATH_SURFACES else None,
        "requesterCwd": cwd,
        "home": home,
        "principal": {"sessionId": session, "agentName": agent},
    }
    if floor:
        intent["floor"] = floor
    if surface in PATH_SURFACES:
        folds = _folds_case(str(intent["boundaryValue"]))
        if folds is not None:
            intent["foldsCase"] = folds
    if surface == "bash":
        intent["operands"] = _operands(values[0], cwd=cwd)
    request: dict[str, Any] = {
        "id": request_id,
        "v": 1,
        "createdAt": now_ms,
        "requesterSessionId": session,
        "targetSessionId": inbox,
        "requesterAgentName": agent,
        "message": message or f"{surface}: {values[0]}"[:_MESSAGE_CHARS],
        "source": "tool_call",
        "surface": surface,
        "value": values[0],
        "accessIntent": intent,
        "deadlineMs": now_ms + int(wait_s * 1000),
        "route": [],
    }
    if ancestors:
        request["ancestors"] = [{"sessionId": one, "agentName": name} for one, name in ancestors[: settings.ROUTE_HOPS]]
    if suggest:
        request["sessionApproval"] = {"grants": [{"surface": surface, "pattern": pattern} for pattern in suggest]}
    request.update({key: text for key, text in (("turnId", turn), ("toolName", tool)) if text})
    if tool_input is not None:
        request["toolInput"] = dict(tool_input)
    if token:
        request["proof"] = prove(
            token,
            request_id=request_id,
            created_ms=now_ms,
            session=session,
            agent=agent,
            surface=surface,
            values=values,
            cwd=cwd,
        )
    return Question(request_id=request_id, inbox=inbox, content=_encode(request), wait_s=wait_s)


def _encode(request: dict[str, Any]) -> bytes:
    try:
        content = (write_json(request) + "\n").encode()
    except JsonError as error:
        raise ChildError(f"the request cannot be written down: {error}") from None
    if len(content) > settings.REQUEST_BYTES:
        raise ChildError(f"the request has {len(content)} bytes, at most {settings.REQUEST_BYTES} are read")
    return content


def _check(surface: str, values: Sequence[str], *, cwd: str, wait_s: float) -> None:
    if not surface.strip() or len(surface) > settings.NAME_CHARS:
        raise ChildError(f"a surface has 1 to {settings.NAME_CHARS} characters")
    if not values or len(values) > settings.VALUES:
        raise ChildError(f"a request has 1 to {settings.VALUES} values")
    if any(len(value) > settings.VALUE_CHARS for value in values):
        raise ChildError(f"a value has at most {settings.VALUE_CHARS} characters")
    if not isabs(cwd):
        raise ChildError(f"working directory `{cwd}` is not absolute")
    if not 0 < wait_s <= settings.LONGEST_WAIT_S:  # false for NaN too
        raise ChildError(f"a request waits more than 0 and at most {settings.LONGEST_WAIT_S:.0f} seconds")


def _real(path: str, *, cwd: str) -> str | None:
    """Resolve a path's links as far as it exists; the rest stays as it is. None for what no file system can hold."""
    try:
        return realpath(join(cwd, expanduser(path)))
    except (OSError, ValueError):
        return None


def _operands(line: str, *, cwd: str) -> dict[str, str]:
    """Report the real paths of those words of a command line that plainly are, or could be, paths.

    Only words the shell would leave alone, split at blanks; a word that is left out is resolved lexically by the
    serving side, so leaving out never widens.
    """
    found: dict[str, str] = {}
    for word in line.split():
        if len(found) >= _OPERANDS:
            break
        operand = word.partition("=")[2] if "=" in word and "/" in word.partition("=")[2] else word
        if operand in found or "://" in operand or not _NOT_PLAIN.isdisjoint(word):
            continue
        try:
            if "/" in operand or lexists(join(cwd, operand)):
                found[operand] = realpath(join(cwd, operand))
        except (OSError, ValueError):
            continue
    return found


def _folds_case(path: str) -> bool | None:
    """Say whether the file system ignores letter case at `path`; None when one cheap look does not tell."""
    head, _, tail = path.rpartition("/")
    if tail.swapcase() == tail:
        return None
    try:
        here = os.lstat(path)
    except (OSError, ValueError):
        return None
    try:
        there = os.lstat(f"{head}/{tail.swapcase()}")
    except (OSError, ValueError):
        return False
    return os.path.samestat(here, there)


def working_directory(cwd: str | None) -> str:
    """Return `cwd` made absolute, else the process's own working directory.

    Raises:
        ChildError: The process's own directory is gone.
    """
    try:
        return abspath(cwd) if cwd is not None else os.getcwd()
    except OSError:
        raise ChildError("the working directory no longer exists; name one that does") from None

"""A question as the bytes of its request file, written where the request is born.

Lives here: the file's fields, and what only the requester can look up: real paths, as its own file system resolves
them. Never here: publishing, waiting, a decision. Standard library only.

To the daemon all of this is a claim: it may only make the decision stricter, and what is missing makes it ask.
"""

from __future__ import annotations

import os
from os.path import expanduser, isabs, join, lexists, realpath

from fwdperm import settings
from fwdperm.errors import ChildError
from fwdperm.wire import JsonError, prove, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from fwdperm.client.question import Question

PATH_SURFACES: Final = frozenset(
    {"read", "write", "edit", "multiedit", "notebook_edit", "path_read", "path_write", "path", "external_directory"}
    | {"external", "grep", "find", "ls", "glob"}
)
"""Surfaces whose value is a path, and so has a real path to report."""

_OPERANDS: Final = 64
"""Words of a command line whose real path is reported; for others the daemon only resolves `.` and `..`."""
_NOT_PLAIN: Final = frozenset("'\"`$\\*?[]{}<>|&;()~!#")
"""Characters by which a shell would change a word; then the word as typed is no path."""
_MESSAGE_CHARS: Final = 500
"""Characters of the message made from surface and value when the caller gives none."""


def encode_request(question: Question) -> bytes:
    """Compose the request file of a question.

    Raises:
        ChildError: For something no serving side would take: empty or overlong, no UTF-8, no absolute cwd, a wait out
            of range. Fails closed: nothing is published.
    """
    _check(question)
    asker = question.requester
    request: dict[str, Any] = {
        "id": question.id,
        "v": 1,
        "createdAt": question.created_ms,
        "requesterSessionId": asker.session,
        "targetSessionId": asker.inbox,
        "requesterAgentName": asker.agent,
        "message": question.message or f"{question.surface}: {question.values[0]}"[:_MESSAGE_CHARS],
        "source": "tool_call",
        "surface": question.surface,
        "value": question.values[0],
        "accessIntent": _facts(question),
        "deadlineMs": question.created_ms + int(question.wait_s * 1000),
        "route": [],
    }
    if asker.ancestors:
        above = asker.ancestors[: settings.ROUTE_HOPS]
        request["ancestors"] = [{"sessionId": one, "agentName": name} for one, name in above]
    if question.suggest:
        grants = [{"surface": question.surface, "pattern": pattern} for pattern in question.suggest]
        request["sessionApproval"] = {"grants": grants}
    request.update({key: text for key, text in (("turnId", asker.turn), ("toolName", question.tool)) if text})
    if question.tool_input is not None:
        request["toolInput"] = dict(question.tool_input)
    if asker.token:
        request["proof"] = _proof(question)
    return _encode(request)


def _proof(question: Question) -> str:
    """Prove with its session's secret who asks."""
    asker = question.requester
    return prove(
        asker.token,
        request_id=question.id,
        created_ms=question.created_ms,
        session=asker.session,
        agent=asker.agent,
        surface=question.surface,
        values=question.values,
        cwd=asker.cwd,
    )


def _facts(question: Question) -> dict[str, Any]:
    """State what is accessed, by whom and from where."""
    surface, value, asker = question.surface, question.values[0], question.requester
    is_path = surface in PATH_SURFACES
    facts: dict[str, Any] = {
        "surface": surface,
        "matchValues": list(question.values),
        "boundaryValue": _real(value, cwd=asker.cwd) if is_path else None,
        "requesterCwd": asker.cwd,
        "home": asker.home,
        "principal": {"sessionId": asker.session, "agentName": asker.agent},
    }
    if question.floor:
        facts["floor"] = question.floor
    if is_path:
        folds = _folds_case(str(facts["boundaryValue"]))
        if folds is not None:
            facts["foldsCase"] = folds
    if surface == "bash":
        facts["operands"] = _operands(value, cwd=asker.cwd)
    return facts


def _encode(request: dict[str, Any]) -> bytes:
    try:
        content = (write_json(request) + "\n").encode()
    except JsonError as error:
        raise ChildError(f"the request cannot be written down: {error}") from None
    if len(content) > settings.REQUEST_BYTES:
        raise ChildError(f"the request has {len(content)} bytes, at most {settings.REQUEST_BYTES} are read")
    return content


def _check(question: Question) -> None:
    surface, values, cwd = question.surface, question.values, question.requester.cwd
    if not surface.strip() or len(surface) > settings.NAME_CHARS:
        raise ChildError(f"a surface has 1 to {settings.NAME_CHARS} characters")
    if not values or len(values) > settings.VALUES:
        raise ChildError(f"a request has 1 to {settings.VALUES} values")
    if any(len(value) > settings.VALUE_CHARS for value in values):
        raise ChildError(f"a value has at most {settings.VALUE_CHARS} characters")
    if not isabs(cwd):
        raise ChildError(f"working directory `{cwd}` is not absolute")
    if not 0 < question.wait_s <= settings.LONGEST_WAIT_S:  # false for NaN too
        raise ChildError(f"a request waits more than 0 and at most {settings.LONGEST_WAIT_S:.0f} seconds")


def _real(path: str, *, cwd: str) -> str | None:
    """Resolve the links in a path, as far as it exists. None for a text that cannot be a path."""
    try:
        return realpath(join(cwd, expanduser(path)))
    except (OSError, ValueError):
        return None


def _operands(line: str, *, cwd: str) -> dict[str, str]:
    """Give the real paths of those words of a command line that are, or may be, paths.

    The line is split at blanks, and words that a shell would change are left out. For such a word the daemon resolves
    `.` and `..` itself, so that leaving it out allows nothing more.
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
    """Say whether the file system ignores letter case at `path`; None when one look at the disk does not show it."""
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

"""From the bytes of a request file to a `Request`, or to the reason it is refused.

Lives here: the forms of a request file (of every version of pi, and ours with more fields), and reading them.
Pure. Never here: the file itself (`inbox/files.py`), whether it may be permitted.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fwdperm.errors import ChildError
from fwdperm.settings import EVIDENCE_CHARS, LONGEST_WAIT_S, NAME_CHARS, ROUTE_HOPS, VALUE_CHARS, VALUES
from fwdperm.wire.ids import is_request_id
from fwdperm.wire.request import Facts, Request, Suggestion
from fwdperm.wire.strict import strict_loads

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_FACTS: Final = "the request carries no facts to match a rule on"
_LATEST_MS: Final = 1 << 50  # the year 37648; a larger number is no clock's mistake, and is taken for this one
CONTRADICTS: Final = "the request says different things of what would run"
PARTIAL: Final = "the request shows a longer command than the facts it carries"


_FULL_COMMAND: Final = re.compile(
    r"\(\s*full\s+command\s*:\s*(?:(?P<text>.*)\)|(?P<open>.*))", re.IGNORECASE | re.DOTALL
)
"""Where pi shows the whole line: `(full command: 'a && b'). Allow this command?`. It is read up to the last `)`,
because the command may hold some itself; without any, to the end."""
_REQUESTED: Final = re.compile(
    r"requested bash command (?P<text>'.*?')(?: \(full command:|\. Allow this command\?)", re.IGNORECASE | re.DOTALL
)
"""Where pi names the command it asks about: `requested bash command 'git status'. Allow this command?`."""


class _Wire(BaseModel):
    """What all parts of a request file have in common: frozen, strictly checked, unknown keys ignored."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class AskingUnit(_Wire):
    """One sub-command that made the requester ask."""

    command: str = Field(max_length=VALUE_CHARS)
    floor: str | None = None


class AccessIntent(_Wire):
    """The facts to match on. `home`, `operands` and `foldsCase` are ours; pi children do not send them."""

    surface: str = Field(min_length=1, max_length=NAME_CHARS)
    match_values: list[str] = Field(min_length=1, max_length=VALUES)
    boundary_value: str | None = None
    requester_cwd: str | None = None
    floor: str | None = None
    asking_units: list[AskingUnit] | None = None
    home: str | None = None
    operands: dict[str, str] | None = None
    folds_case: bool = False


class _Grant(_Wire):
    surface: str
    pattern: str


class _Approval(_Wire):
    surface: str | None = None
    patterns: list[str] | None = None
    grants: list[_Grant] | None = None


class RequestFile(_Wire):
    """A request as a child writes it. Unknown fields are ignored.

    Nested objects are only checked to be objects here: a mistake in one of them must not refuse the whole request.
    """

    model_config = ConfigDict(title="Request")

    id: str
    created_at: int | float
    requester_session_id: str
    target_session_id: str
    requester_agent_name: str
    v: Literal[1] | None = None
    message: str | None = None
    payload: dict[str, Any] | None = None
    source: str = "tool_call"
    surface: str | None = None
    value: str | None = None
    session_approval: dict[str, Any] | None = None
    access_intent: dict[str, Any] | None = None
    deadline_ms: int | float | None = None
    route: list[str] | None = None
    ancestors: list[Any] | None = None
    turn_id: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] | None = None
    proof: str | None = None


def read_request(data: bytes, *, stem: str, inbox: str) -> Request:
    """Read one request.

    Args:
        data: The file's bytes, read once.
        stem: The file's name without `.json`; the id inside must equal it.
        inbox: The session whose inbox it lay in; the target inside must equal it.

    Returns:
        The request. With `facts=None` and a `floor` when it carries no usable facts: it then goes to the human.

    Raises:
        ChildError: When it cannot be used at all. Fails closed: the child gets a denial with this reason, or the
            file is set aside when its name is no request id.
    """
    digest = hashlib.sha256(data).hexdigest()
    raw = strict_loads(data)
    if not isinstance(raw, dict):
        raise ChildError("is not a JSON object")
    version = raw.get("v")
    if version is not None and (version is True or version != 1):
        raise ChildError(f"speaks version {str(version)[:20]!r} of the wire; this daemon speaks 1", code="version")
    try:
        wire = RequestFile.model_validate(raw)
    except ValidationError as error:
        raise ChildError(_words(error)) from None
    _check(wire, stem=stem, inbox=inbox)
    facts, floor = _facts(wire)
    evidence = tuple(dict.fromkeys(_longer(wire)))
    if sum(map(len, evidence)) > EVIDENCE_CHARS:
        raise ChildError(f"it shows more than {EVIDENCE_CHARS} characters of commands", code="too-large")
    return Request(
        id=wire.id,
        digest=digest,
        inbox=inbox,
        session=wire.requester_session_id,
        agent=wire.requester_agent_name,
        facts=facts,
        floor=floor,
        surface=wire.surface or (facts.surface if facts else ""),
        value=wire.value or (facts.value if facts else ""),
        evidence=evidence,
        message=(wire.message or "")[:VALUE_CHARS],
        source=wire.source[:NAME_CHARS],
        created_ms=max(0, min(int(wire.created_at), _LATEST_MS)),
        wait_ms=_wait_ms(wire),
        suggestions=_suggestions(wire.session_approval),
        route=tuple(wire.route or ())[:ROUTE_HOPS],
        ancestors=_ancestors(wire.ancestors),
        turn=(wire.turn_id or "")[:NAME_CHARS],
        tool=(wire.tool_name or "")[:NAME_CHARS],
        tool_input=wire.tool_input or {},
        proof=wire.proof or "",
    )


def _check(wire: RequestFile, *, stem: str, inbox: str) -> None:
    """Raise ChildError when the content names another id or inbox than the file it lay in, or has texts too long."""
    if wire.id != stem or not is_request_id(stem):
        raise ChildError(f"its id {wire.id[:80]!r} differs from its file's name", code="id")
    if wire.target_session_id.strip() != inbox.strip():
        raise ChildError(f"it is addressed to {wire.target_session_id[:80]!r}, not to this inbox", code="target")
    if not wire.requester_session_id.strip():
        raise ChildError("its requesterSessionId is empty")
    for name, text in (("requesterSessionId", wire.requester_session_id), ("agent name", wire.requester_agent_name)):
        if len(text) > NAME_CHARS:
            raise ChildError(f"its {name} is longer than {NAME_CHARS} characters")
    if len(wire.value or "") > VALUE_CHARS:
        raise ChildError(f"its value is longer than {VALUE_CHARS} characters", code="too-large")


def _facts(wire: RequestFile) -> tuple[Facts | None, str]:
    """Give the facts, and why a person has to look, if so.

    Malformed facts are dropped as a whole. When other parts of the request say something else than the facts, the facts
    are given with a floor.
    """
    if wire.access_intent is None:
        return None, NO_FACTS
    try:
        intent = AccessIntent.model_validate(wire.access_intent)
    except ValidationError as error:
        return None, f"its facts are malformed: {_words(error)}"
    if any(len(value) > VALUE_CHARS for value in intent.match_values):
        return None, f"its facts hold a value longer than {VALUE_CHARS} characters"
    values = intent.match_values
    floor = intent.floor or ""
    for unit in intent.asking_units or ():
        floor = floor or unit.floor or ""
        if unit.command not in values[0]:
            values = [f"{values[0]}\n{unit.command}", *values[1:]]
    facts = Facts(
        surface=intent.surface,
        values=tuple(values),
        cwd=_absolute(intent.requester_cwd),
        home=_absolute(intent.home),
        canonical=_absolute(intent.boundary_value),
        canonical_operands=tuple((intent.operands or {}).items())[:VALUES],
        folds_case=intent.folds_case,
    )
    if _contradicts(wire, intent):
        return facts, CONTRADICTS
    if intent.surface == "bash" and any(text not in values[0] for text in _longer(wire)):
        return facts, PARTIAL
    return facts, f'the requester asks for a person, saying "{_quoted(floor)}"' if floor else ""


def _quoted(text: str) -> str:
    """Clip a requester's words, and replace double quotation marks: they could end the quotation around them."""
    begun = text if len(text) <= NAME_CHARS else f"{text[:NAME_CHARS]}..."
    return begun.replace('"', "'")


def _longer(wire: RequestFile) -> Iterator[str]:
    """Give the texts beside `value` that show what would really run.

    Source: pi children of 20.7.3 forward only the first asking sub-command as `value`; the whole line stands in the
    message as "(full command: '...')", and in later versions in the payload.
    """
    shown = _FULL_COMMAND.search(wire.message or "")
    if shown:
        yield _unquoted(shown["text"] if shown["text"] is not None else shown["open"])
    command = (wire.tool_input or {}).get("command")
    known = [wire.value, *_listed((wire.access_intent or {}).get("matchValues"))]
    if isinstance(command, str) and command.strip() and command not in known:
        yield command[:VALUE_CHARS]
    payload = wire.payload or {}
    inner = payload.get("request")
    if isinstance(inner, dict):
        for key in ("commandContext", "executedUnit", "value"):
            text = inner.get(key)
            if isinstance(text, str) and text and text != wire.value:
                yield text[:VALUE_CHARS]
    evidence = payload.get("evidence")
    for item in evidence if isinstance(evidence, list) else ():
        if isinstance(item, dict) and "command" in str(item.get("label", "")).lower():
            text = item.get("text")
            if isinstance(text, str) and text and text != wire.value:
                yield text[:VALUE_CHARS]


def _contradicts(wire: RequestFile, intent: AccessIntent) -> bool:
    """Say whether parts of a request name different things; then no rule may allow it."""
    if intent.surface != "bash":
        return intent.surface.strip().lower() == "bash"  # `Bash` is another surface here, and no rule for `bash` speaks
    if intent.asking_units is not None and not intent.asking_units:
        return True
    if any(not unit.command.strip() for unit in intent.asking_units or ()):
        return True
    shown = _REQUESTED.search(wire.message or "")
    named = [wire.value or "", _unquoted(shown["text"]) if shown else ""]
    return any(text.strip() and text.strip() not in intent.match_values[0] for text in named)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _unquoted(text: str) -> str:
    """Remove the quotation marks that pi puts around a command; pi does not escape those inside it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"`" else text


def _suggestions(approval: dict[str, Any] | None) -> tuple[Suggestion, ...]:
    """Read both shapes of `sessionApproval`; a malformed one suggests nothing."""
    if approval is None:
        return ()
    try:
        read = _Approval.model_validate(approval)
    except ValidationError:
        return ()
    if read.grants is not None:
        return tuple(Suggestion(grant.surface, grant.pattern) for grant in read.grants[:VALUES])
    return tuple(Suggestion(read.surface or "", pattern) for pattern in (read.patterns or ())[:VALUES])


def _ancestors(raw: list[Any] | None) -> tuple[tuple[str, str], ...]:
    """Read the claimed ancestors of the inbox, up to the first malformed one: they are only shown, and add denials."""
    found: list[tuple[str, str]] = []
    for item in (raw or ())[:ROUTE_HOPS]:
        session = item.get("sessionId") if isinstance(item, dict) else None
        name = item.get("agentName") if isinstance(item, dict) else None
        if not isinstance(session, str) or not 0 < len(session.strip()) <= NAME_CHARS:
            break
        found.append((session, name if isinstance(name, str) and len(name) <= NAME_CHARS else ""))
    return tuple(found)


def _wait_ms(wire: RequestFile) -> int:
    """Give how long the requester waits: the difference of two times of its own clock, since ours may differ."""
    if wire.deadline_ms is None:
        return 0
    return max(1, min(int(wire.deadline_ms) - int(wire.created_at), int(LONGEST_WAIT_S * 1000)))


def _absolute(path: str | None) -> str:
    """Give a path if it is absolute, else nothing: a relative one would be resolved in the daemon's directory."""
    return path if path and path.startswith("/") and len(path) <= VALUE_CHARS else ""


def _words(error: ValidationError) -> str:
    """Say in one line what is wrong and where."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"its field {field!r}: {first['msg'][0].lower()}{first['msg'][1:]}"

"""The answer to a question as a value, and reading it from a response file's bytes.

Lives here: `Answer`, `read_answer`. Pure. Never here: a file. Standard library only.

Fails closed: bytes that are not plainly an approval of exactly this question are a denial.
"""

from __future__ import annotations

from fwdperm import settings
from fwdperm.wire import JsonError, digest_of, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final, Literal, TypeAlias

    from fwdperm.client.question import Question

    AnswerOutcome: TypeAlias = Literal["approved", "denied", "expired", "unserved", "withdrawn"]

OUTCOMES: Final[Mapping[AnswerOutcome, int]] = {
    "approved": 0,
    "denied": 10,
    "expired": 11,
    "unserved": 4,
    "withdrawn": 130,
}
"""Every way a question can end, with the exit code that says so."""

_APPROVED_STATES: Final = frozenset({"approved", "approved_for_session"})


class Answer:
    """How a question ended; immutable.

    Attributes:
        outcome: `approved`, `denied`, `expired` (nobody answered in time), `unserved` (nobody serves the inbox) or
            `withdrawn` (the asker itself was stopped).
        note: What the person who approved wants the agent to know; empty for none.
        reason: Why it was not approved, in words for the agent; empty when approved.
        decided_by: Who decided, as the serving side recorded it (`{"kind": "rule", ...}`); empty when nobody did.
        request_id: The request's id, for `fwdperm why`.
        raw: The whole response as read; empty when there was none.
    """

    __slots__ = ("decided_by", "note", "outcome", "raw", "reason", "request_id")

    outcome: AnswerOutcome
    note: str
    reason: str
    decided_by: Mapping[str, Any]
    request_id: str
    raw: Mapping[str, Any]

    def __init__(  # noqa: PLR0913 - a value's fields
        self,
        outcome: AnswerOutcome,
        *,
        request_id: str,
        note: str = "",
        reason: str = "",
        decided_by: Mapping[str, Any] | None = None,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        if outcome not in OUTCOMES:
            raise ValueError(f"unknown outcome `{outcome}`")
        fix = object.__setattr__
        fix(self, "outcome", outcome)
        fix(self, "note", note)
        fix(self, "reason", reason)
        fix(self, "decided_by", decided_by or {})
        fix(self, "request_id", request_id)
        fix(self, "raw", raw or {})

    @property
    def approved(self) -> bool:
        """Say whether the request was approved. Nothing else permits it."""
        return self.outcome == "approved"

    @property
    def exit_code(self) -> int:
        """The command line's exit code for it."""
        return OUTCOMES[self.outcome]

    if not TYPE_CHECKING:  # hidden from type checkers: for an object without `__bool__` they can report `if ask(...)`

        def __bool__(self) -> bool:
            """Raise TypeError: without this, `if ask(...)` would be true for a denial, too."""
            raise TypeError("an answer is not a truth value; read its `approved`")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an answer cannot be changed: `{name}`")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an answer cannot be changed: `{name}`")

    def __repr__(self) -> str:
        told = f", note={self.note!r}" if self.note else f", reason={self.reason!r}" if self.reason else ""
        return f"Answer({self.outcome!r}, request_id={self.request_id!r}{told})"


def read_answer(content: bytes, *, question: Question) -> Answer:
    """Read a response file.

    Args:
        content: Its bytes.
        question: What was asked.

    Returns:
        An approval only when `approved` is true, `state` agrees, and it names this question's id and digest. Anything
        else is a denial, with the reason that it gives or with why it could not be read.
    """

    def denied(reason: str, *, raw: Mapping[str, Any] | None = None) -> Answer:
        return Answer("denied", request_id=question.id, reason=reason, decided_by=_decider(raw), raw=raw)

    try:
        raw = read_json(content.decode())
    except (JsonError, UnicodeDecodeError):
        return denied("the answer is unreadable")
    if not isinstance(raw, dict):
        return denied("the answer is unreadable")
    told, note = _text(raw.get("denialReason")), _text(raw.get("note"))
    state = raw.get("state")
    if raw.get("approved") is not True or not isinstance(state, str) or state not in _APPROVED_STATES:
        return denied(told or note or "no reason was given", raw=raw)
    if raw.get("requestId") != question.id or raw.get("requestDigest") != digest_of(question.content):
        return denied("the answer belongs to another request", raw=raw)
    return Answer("approved", request_id=question.id, note=note or told, decided_by=_decider(raw), raw=raw)


def _decider(raw: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = raw.get("decidedBy") if raw else None
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    """Return a text, clipped and encodable as UTF-8; empty for anything that is no text."""
    if not isinstance(value, str):
        return ""
    return value[: 2 * settings.NOTE_CHARS].encode(errors="replace").decode()

"""The answer file: what a child reads.

Lives here: a decision's form on disk, for our own clients and for pi children of every version. Pure.
Never here: publishing it (`inbox/files.py`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, assert_never

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from fwdperm.wire.decision import Decision, Outcome, Stage, UndecidedCode

if TYPE_CHECKING:
    from fwdperm.wire.request import Request

PI_NOTE_CAP = 2_000
"""Characters of `denialReason`: agents put it into a model's context."""


_ON_DISK = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)
"""How answers are read. Unknown fields are ignored by every reader, ours included."""


class _By(BaseModel):
    """What every form of `decidedBy` says."""

    model_config = _ON_DISK

    stage: Stage = Field(strict=False)


class ByRule(_By):
    """A recorded rule decided, or with `*` for both patterns the default."""

    kind: Literal["rule"]
    surface: str
    pattern: str
    origin: str


class BySessionRule(_By):
    """What a person taught decided."""

    kind: Literal["session_approval"]
    surface: str
    pattern: str
    id: str


class ByAuthorizer(_By):
    """The guard or the judge decided."""

    kind: Literal["authorizer"]
    name: str
    verdict: Literal["allow", "reject"]
    reason: str


class ByUser(_By):
    """A person decided, at the interface named."""

    kind: Literal["user"]
    via: str


class ByNobody(_By):
    """Nobody decided, and so it is denied. `gate_error` says that something about the request stood in the way."""

    kind: Literal["unavailable", "gate_error"]
    reason: str
    code: UndecidedCode = Field(strict=False)


DecidedBy: TypeAlias = Annotated[ByRule | BySessionRule | ByAuthorizer | ByUser | ByNobody, Field(discriminator="kind")]
"""Who decided: one closed form for each kind."""


class Response(BaseModel):
    """One answer."""

    model_config = _ON_DISK

    v: Literal[1] = 1
    approved: bool
    state: Literal["approved", "denied", "denied_with_reason"]
    denial_reason: str | None = None
    responder_session_id: str
    responded_at: int
    decided_by: DecidedBy
    request_id: str
    request_digest: str
    note: str | None = None


def response_to(request: Request, decision: Decision, *, at_ms: int) -> dict[str, Any]:
    """Give the answer file's content for a decision.

    Args:
        request: What was asked; its digest is in the answer, so that a child can see that its own request was meant.
        decision: What was decided.
        at_ms: Now, epoch milliseconds.

    Returns:
        A JSON object. Its state is never `approved_for_session`: grants are kept by the daemon, where they are listed
        and can be revoked. The note on an approval is also put into `denialReason`, the only text that pi children pass
        on to the model; they do not take it for a denial.
    """
    approved = decision.outcome is Outcome.APPROVED
    told = decision.reason[:PI_NOTE_CAP]
    # The fields of `Response`, written by hand: validating our own values would take a tenth of the shortest round
    # trip.
    answer: dict[str, Any] = {
        "v": 1,
        "approved": approved,
        "state": "approved" if approved else ("denied_with_reason" if told else "denied"),
        "responderSessionId": request.inbox,
        "respondedAt": at_ms,
        "decidedBy": decided_by(decision),
        "requestId": request.id,
        "requestDigest": request.digest,
    }
    if told and (not approved or decision.note):
        answer["denialReason"] = told
    if decision.note:
        answer["note"] = decision.note
    return answer


def decided_by(decision: Decision) -> dict[str, Any]:
    """Say who decided in the form pi children log, with our own `stage` and `code` beside it: one of `DecidedBy`."""
    base: dict[str, Any] = {"stage": str(decision.stage)}
    match decision.stage:
        case Stage.RULE if decision.rule is not None:
            rule = decision.rule
            return base | {"kind": "rule", "surface": rule.surface, "pattern": rule.pattern, "origin": rule.origin}
        case Stage.RULE:
            return base | {"kind": "rule", "surface": "*", "pattern": "*", "origin": decision.by or "default"}
        case Stage.SESSION_RULE:
            shown = decision.rule
            return base | {
                "kind": "session_approval",
                "surface": shown.surface if shown else "",
                "pattern": shown.pattern if shown else "",
                "id": shown.id if shown else "",
            }
        case Stage.GUARD | Stage.JUDGE:
            verdict = "allow" if decision.outcome is Outcome.APPROVED else "reject"
            return base | {"kind": "authorizer", "name": decision.by, "verdict": verdict, "reason": decision.reason}
        case Stage.HUMAN:
            return base | {"kind": "user", "via": decision.by}
        case Stage.NOBODY:
            internal = decision.code in (UndecidedCode.MALFORMED, UndecidedCode.INTERNAL, UndecidedCode.REPLAYED)
            kind = "gate_error" if internal else "unavailable"
            return base | {"kind": kind, "reason": decision.reason, "code": str(decision.code)}
        case _:
            assert_never(decision.stage)


_dumps = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode


def encode_response(answer: dict[str, Any]) -> bytes:
    """Give the bytes of an answer file: ASCII, sorted keys, one line."""
    return _dumps(answer).encode() + b"\n"

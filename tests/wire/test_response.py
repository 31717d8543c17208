"""Answers on disk: what children of every version read."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from fwdperm.wire.decision import Decision, Outcome, RuleRef, Stage, UndecidedCode
from fwdperm.wire.request import Request
from fwdperm.wire.response import DecidedBy, Response, decided_by, encode_response, response_to
from fwdperm.wire.schemas import SCHEMAS

REQUEST = Request("r1", "d" * 64, "root", "child", "worker", facts=None, floor="it has no facts")
RULE = RuleRef("bash", "npm *", "deny", "a.toml:3", "user")
PI_KINDS = {"user", "authorizer", "rule", "session_approval", "yolo", "unavailable", "gate_error", "forwarded"}

DECISIONS = [
    Decision(Outcome.APPROVED, Stage.RULE, "ok", rule=RULE),
    Decision(Outcome.DENIED, Stage.RULE, "use pnpm", rule=RULE),
    Decision(Outcome.APPROVED, Stage.RULE, "ok", by="default"),
    Decision(Outcome.APPROVED, Stage.SESSION_RULE, "ok", rule=RULE),
    Decision(Outcome.APPROVED, Stage.GUARD, "ok", by="read-only.read"),
    Decision(Outcome.DENIED, Stage.GUARD, "no", by="critical.wipe"),
    Decision(Outcome.DENIED, Stage.JUDGE, "no", by="model"),
    Decision(Outcome.APPROVED, Stage.HUMAN, "User approved", note="mind it", by="cli"),
    *(Decision(Outcome.DENIED, Stage.NOBODY, "why", code=code) for code in UndecidedCode),
]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: f"{d.outcome}-{d.stage}-{d.code or ''}")
def test_every_decision_has_a_form_that_pi_children_understand(decision: Decision) -> None:
    answer = response_to(REQUEST, decision, at_ms=7)
    approved = decision.outcome is Outcome.APPROVED
    assert answer["approved"] is approved
    assert answer["state"] == ("approved" if approved else "denied_with_reason")
    assert answer["decidedBy"]["kind"] in PI_KINDS
    assert (answer["requestId"], answer["requestDigest"], answer["respondedAt"]) == ("r1", "d" * 64, 7)
    assert encode_response(answer).isascii()
    assert Response.model_validate(answer).model_dump(by_alias=True, exclude_none=True) == answer


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: f"{d.outcome}-{d.stage}-{d.code or ''}")
def test_who_decided_is_one_of_the_closed_forms_and_nothing_more(decision: Decision) -> None:
    said = decided_by(decision)
    read = TypeAdapter(DecidedBy).validate_python(said)
    assert read.model_dump(by_alias=True) == said
    assert read.stage is decision.stage


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "user", "stage": "human"},
        {"kind": "somebody", "stage": "human", "via": "cli"},
        {"kind": "authorizer", "stage": "judge", "name": "m", "verdict": "perhaps", "reason": ""},
        {"kind": "unavailable", "stage": "nobody", "reason": "", "code": "because"},
        {"kind": "rule", "stage": "somewhere", "surface": "bash", "pattern": "*", "origin": "a"},
    ],
)
def test_another_form_of_who_decided_is_no_answer_of_ours(said: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(DecidedBy).validate_python(said)


def test_the_response_schema_lists_every_form_of_who_decided() -> None:
    schema = SCHEMAS["response"]()
    kinds = set(schema["properties"]["decidedBy"]["discriminator"]["mapping"])
    assert kinds == {"rule", "session_approval", "authorizer", "user", "unavailable", "gate_error"}


def test_only_a_user_is_called_a_user() -> None:
    kinds = {decision.stage: response_to(REQUEST, decision, at_ms=0)["decidedBy"]["kind"] for decision in DECISIONS}
    assert [stage for stage, kind in kinds.items() if kind == "user"] == [Stage.HUMAN]


def test_an_approvals_note_is_mirrored_where_pi_children_look() -> None:
    answer = response_to(REQUEST, DECISIONS[7], at_ms=0)
    assert (answer["note"], answer["denialReason"]) == ("mind it", "User approved")


def test_an_approval_without_a_note_carries_no_denial_reason() -> None:
    assert "denialReason" not in response_to(REQUEST, DECISIONS[0], at_ms=0)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_every_schema_names_itself_and_uses_the_names_on_disk(name: str) -> None:
    schema = SCHEMAS[name]()
    assert schema["$id"] == f"fwdperm.{name}/1"
    assert all("_" not in key for key in schema["properties"])

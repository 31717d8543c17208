"""What counts as an approval: every combination of an answer's fields against a slow and obvious reading."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fwdperm.client.answer import OUTCOMES, Answer, read_answer
from fwdperm.client.question import Question, Requester

ASKED = Question("bash", ["ls"], requester=Requester(env={"HOME": "/home/u"}), request_id="one", wait_s=1.0)
DIGEST = hashlib.sha256(ASKED.content).hexdigest()
odd = st.none() | st.booleans() | st.integers(0, 2) | st.just("yes") | st.lists(st.just("approved"), max_size=1)
answers = st.fixed_dictionaries(
    {},
    optional={
        "approved": st.just(value=True) | odd,
        "state": st.sampled_from(["approved", "approved_for_session", "denied", "denied_with_reason", "Approved"])
        | odd,
        "requestId": st.sampled_from(["one", "One", "two", ""]) | odd,
        "requestDigest": st.sampled_from([DIGEST, DIGEST.upper(), DIGEST[:-1], ""]) | odd,
        "note": st.text(max_size=5) | odd,
        "denialReason": st.text(max_size=5) | odd,
        "decidedBy": st.dictionaries(st.just("kind"), st.text(max_size=3)) | odd,
        "unheardOf": odd,
    },
)


def is_plain_approval(found: dict[str, Any]) -> bool:
    return (
        type(found.get("approved")) is bool
        and found["approved"]
        and found.get("state") in ("approved", "approved_for_session")
        and found.get("requestId") == "one"
        and found.get("requestDigest") == DIGEST
    )


@given(answers)
def test_only_a_plain_approval_of_exactly_this_question_approves(found: dict[str, Any]) -> None:
    answer = read_answer(json.dumps(found).encode(), question=ASKED)
    assert answer.approved == is_plain_approval(found)
    assert answer.outcome == ("approved" if answer.approved else "denied")
    assert bool(answer.reason) != answer.approved
    assert answer.request_id == "one"


@given(st.binary(max_size=60))
def test_no_bytes_that_are_not_an_answer_do_more_than_deny(content: bytes) -> None:
    assert read_answer(content, question=ASKED).outcome == "denied"


def test_every_outcome_has_an_exit_code_of_its_own_and_one_of_them_permits() -> None:
    made = [Answer(outcome, request_id="x") for outcome in OUTCOMES]
    assert len({answer.exit_code for answer in made}) == len(made)
    assert [answer.outcome for answer in made if answer.approved or answer.exit_code == 0] == ["approved"]

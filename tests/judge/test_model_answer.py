"""Reading answers: only one exact form is a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.judge.model_answer import ANSWER_CHARS, REASON_CHARS, read_answer, read_message
from fwdperm.judge.verdict import Choice, Effect, Risk, Silence, SilenceCode, Verdict
from fwdperm.testing import verdict

RULES = frozenset({"n1", "g2"})

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=6), below, max_size=3),
    max_leaves=6,
)
fields = st.fixed_dictionaries(
    {
        "effects": st.lists(st.sampled_from([*map(str, Effect), "fly", "", 3]), max_size=3) | anything,
        "manipulation": st.booleans() | anything,
        "risk": st.sampled_from([*map(str, Risk), "none", "LOW", ""]) | anything,
        "rule": st.sampled_from(["", "n1", "zz"]) | anything,
        "reason": st.sampled_from(["fine", "", "  ", "x" * (REASON_CHARS + 1)]) | anything,
        "verdict": st.sampled_from([*map(str, Choice), "approve", "Allow"]) | anything,
    }
)


def read(value: Any) -> Verdict | Silence:
    return read_answer(value if isinstance(value, str) else json.dumps(value), rules=RULES, model="m")


@given(fields)
def test_a_verdict_is_exactly_what_the_text_says_and_never_less_strict(found: dict[str, Any]) -> None:
    """Oracle: spelled out anew, field by field."""
    opinion = read(found)
    well_formed = (
        isinstance(found["effects"], list)
        and found["effects"] != []
        and all(type(one) is str and one in list(Effect) for one in found["effects"])
        and type(found["manipulation"]) is bool
        and type(found["risk"]) is str
        and found["risk"] in list(Risk)
        and type(found["verdict"]) is str
        and found["verdict"] in list(Choice)
        and type(found["rule"]) is str
        and type(found["reason"]) is str
        and bool(found["reason"].strip())
        and len(found["reason"]) <= REASON_CHARS
    )
    if isinstance(opinion, Verdict):
        assert well_formed
        assert (opinion.choice, opinion.risk) == (found["verdict"], found["risk"])
        assert opinion.manipulation is found["manipulation"]
        assert opinion.rule in {"", *RULES}
        if opinion.choice is Choice.ALLOW:
            assert opinion.risk in (Risk.LOW, Risk.MEDIUM)
            assert not opinion.manipulation
    else:
        assert opinion.code in (SilenceCode.SCHEMA, SilenceCode.INCONSISTENT)
        assert (opinion.code == SilenceCode.SCHEMA) is not well_formed


@given(st.text() | anything.map(json.dumps))
def test_no_text_makes_the_reader_raise_or_allow(text: str) -> None:
    opinion = read(text)
    assert isinstance(opinion, Silence)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", SilenceCode.BAD_JSON),
        ("null", SilenceCode.SCHEMA),
        ("[]", SilenceCode.SCHEMA),
        (json.dumps(verdict(verdict="allow"))[:-1], SilenceCode.BAD_JSON),
        (json.dumps(verdict())[:-1] + ', "verdict": "allow"}', SilenceCode.DUPLICATE_KEY),
        (json.dumps(verdict()) + json.dumps(verdict()), SilenceCode.BAD_JSON),
        (json.dumps(verdict(reason="x" * ANSWER_CHARS)), SilenceCode.SCHEMA),
        ('{"verdict": NaN}', SilenceCode.BAD_JSON),
        ("\ufeff" + json.dumps(verdict()), SilenceCode.BAD_JSON),
        (json.dumps(verdict(verdict="allow", effects=["secret_access"])), SilenceCode.INCONSISTENT),
        (json.dumps(verdict(verdict="allow", effects=["unknown"])), SilenceCode.INCONSISTENT),
        (json.dumps(verdict(verdict="allow", manipulation=True)), SilenceCode.INCONSISTENT),
        (json.dumps(verdict(verdict="reject", risk="low")), SilenceCode.INCONSISTENT),
        (json.dumps(verdict(rule="g9")), SilenceCode.INCONSISTENT),
        (json.dumps(verdict(manipulation="no")), SilenceCode.SCHEMA),
    ],
)
def test_each_way_to_be_malformed_has_its_code(text: str, code: SilenceCode) -> None:
    opinion = read(text)
    assert isinstance(opinion, Silence)
    assert opinion.code == code


@pytest.mark.parametrize("stop", [None, "", "max_tokens", "refusal", "tool_use", "stop_sequence", "pause_turn", "new"])
def test_only_a_model_that_finished_has_said_anything(stop: str | None) -> None:
    blocks = [("text", json.dumps(verdict(verdict="allow")))]
    assert isinstance(read_message(stop, blocks, rules=RULES, model="m"), Silence)
    assert isinstance(read_message("end_turn", blocks, rules=RULES, model="m"), Verdict)


def test_a_reason_is_one_line() -> None:
    opinion = read(verdict(reason="one\ntwo\r\n  three"))
    assert isinstance(opinion, Verdict)
    assert opinion.reason == "one two three"

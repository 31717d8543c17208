from __future__ import annotations

import pytest

from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
HERE = Origin(LayerKind.USER, "p", 1)


def rule(action: Action, pattern: str = "ls", *, only_human: bool = False) -> Rule:
    return Rule("bash", pattern, action, HERE, only_human=only_human)


@pytest.mark.parametrize(
    ("pattern", "is_bare_star", "is_exact"),
    [
        ("*", True, False),
        ("***", True, False),
        ("", False, True),
        ("rm -rf /", False, True),
        ("[ab]", False, True),
        ("rm *", False, False),
        ("rm ?", False, False),
        ("?", False, False),
        ("*?", False, False),
    ],
)
def test_a_pattern_is_a_bare_star_or_exact_or_neither(pattern: str, *, is_bare_star: bool, is_exact: bool) -> None:
    """The one may permit what cannot be known, the other what is critical: no further pattern may pass for either."""
    said = rule(ALLOW, pattern)
    assert (said.is_bare_star, said.is_exact) == (is_bare_star, is_exact)


def test_a_place_is_told_as_exactly_as_it_is_known() -> None:
    known = [HERE, Origin(LayerKind.PROJECT, "p"), Origin(LayerKind.SESSION), Origin(LayerKind.AGENT, line=0)]
    assert [str(one) for one in known] == ["p:1", "p", "session", "agent"]


def test_deny_is_stricter_than_ask_and_ask_than_allow() -> None:
    assert sorted(Action, key=lambda action: action.strictness) == [ALLOW, ASK, DENY]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (RuleFinding(ASK, rule(ASK, only_human=True)), True),
        (RuleFinding(ASK, rule(DENY)), True),
        (RuleFinding(ASK, default=Default("bash", ASK, HERE, only_human=True)), True),
        (RuleFinding(ASK, rule(ASK)), False),
        (RuleFinding(ASK, rule(ALLOW)), False),
        (RuleFinding(ASK, default=Default("bash", ASK, HERE)), False),
        (RuleFinding(ASK), False),
        (RuleFinding(ALLOW, rule(ASK, only_human=True)), False),
        (RuleFinding(DENY, rule(DENY)), False),
        (RuleFinding(DENY, default=Default("bash", DENY, HERE, only_human=True)), False),
    ],
)
def test_an_ask_is_for_a_person_alone_where_its_rule_or_default_says_so_or_denies_a_part(
    found: RuleFinding, *, expected: bool
) -> None:
    assert found.is_for_the_human is expected


@pytest.mark.parametrize("said", [rule(ALLOW), rule(ASK), rule(DENY), None])
def test_only_an_ask_in_the_name_of_a_deny_may_forbid(said: Rule | None) -> None:
    may = [RuleFinding(action, said).may_forbid for action in (ALLOW, ASK, DENY)]
    assert may == [False, said is not None and said.action is DENY, False]


def test_findings_rank_from_silence_to_a_denial_with_a_step_between_each_two() -> None:
    """The strictest of a request's findings decides, so that no two of these may weigh alike."""
    ranked = [
        RuleFinding(ALLOW, speaks=False),
        RuleFinding(ALLOW, rule(ALLOW)),
        RuleFinding(ASK, rule(ASK)),
        RuleFinding(ASK, rule(ASK, only_human=True)),
        RuleFinding(DENY, rule(DENY)),
    ]
    assert [found.strictness for found in ranked] == [0, 1, 2, 3, 4]
    assert RuleFinding(DENY).strictness == 4
    assert RuleFinding(ASK, rule(DENY)).strictness == 3
    assert RuleFinding(DENY, rule(DENY), speaks=False).strictness == 0

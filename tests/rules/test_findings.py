"""Which of several findings is the stricter, which is for a person alone, and which default holds."""

from __future__ import annotations

from itertools import product

import pytest

from fwdperm.rules.defaults import BASE, Defaults
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding

HERE = Origin(LayerKind.USER, "rules.toml", 1)


def rule(action: Action, *, only_human: bool = False) -> Rule:
    return Rule("bash", "x", action, HERE, only_human=only_human)


def test_findings_are_ordered_silent_allow_ask_a_person_deny() -> None:
    ordered = [
        RuleFinding(Action.ALLOW, speaks=False),
        RuleFinding(Action.ALLOW, rule(Action.ALLOW)),
        RuleFinding(Action.ASK, rule(Action.ASK)),
        RuleFinding(Action.ASK, rule(Action.ASK, only_human=True)),
        RuleFinding(Action.DENY, rule(Action.DENY)),
    ]
    assert [finding.strictness for finding in ordered] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("speaks", [True, False])
def test_what_does_not_speak_is_never_strict(*, speaks: bool) -> None:
    for action in Action:
        assert (RuleFinding(action, rule(action), speaks=speaks).strictness > 0) is speaks


def test_a_person_alone_answers_what_is_kept_for_one_and_what_a_deny_may_mean() -> None:
    for action, said, only_human in product(Action, Action, [True, False]):
        finding = RuleFinding(action, rule(said, only_human=only_human))
        is_ask = action is Action.ASK
        assert finding.is_for_the_human is (is_ask and (only_human or said is Action.DENY))
        assert finding.may_forbid is (is_ask and said is Action.DENY)


def test_a_default_is_kept_for_a_person_only_where_it_asks_and_says_so() -> None:
    for action, only_human in product(Action, [True, False]):
        finding = RuleFinding(action, default=Default("bash", action, HERE, only_human=only_human))
        assert finding.is_for_the_human is (action is Action.ASK and only_human)
        assert finding.may_forbid is False
    assert RuleFinding(Action.ASK).is_for_the_human is False


STRENGTH = {"allow": 0, "ask": 1, "human": 2, "deny": 3}


def default(surface: str, what: str) -> Default:
    action = Action.ASK if what == "human" else Action(what)
    return Default(surface, action, HERE, only_human=what == "human")


def chosen(*entries: tuple[int, str, str], auxiliary: bool = False) -> str:
    found = Defaults([(group, default(surface, what)) for group, surface, what in entries]).choose(
        "bash", auxiliary=auxiliary
    )
    if found is None:
        return ""
    return "human" if found.only_human else str(found.action)


def test_a_layer_that_only_narrows_is_heard_where_it_is_stricter_whatever_it_names() -> None:
    for base, narrow, base_surface, narrow_surface in product(STRENGTH, STRENGTH, ["bash", "*"], ["bash", "*"]):
        entries = [(BASE, base_surface, base), (1, narrow_surface, narrow)]
        heard = STRENGTH[narrow] > STRENGTH[base] and not (base_surface == "bash" and narrow_surface == "*")
        assert chosen(*entries) == (narrow if heard else base), entries
        assert chosen(*reversed(entries)) == chosen(*entries)


def test_of_several_that_narrow_the_strictest_is_heard() -> None:
    for one, other, third in product(STRENGTH, repeat=3):
        entries = [(BASE, "bash", "allow"), (1, "bash", one), (2, "bash", other), (3, "bash", third)]
        assert chosen(*entries) == max((one, other, third), key=STRENGTH.__getitem__)


def test_alone_a_layer_that_narrows_is_the_default() -> None:
    assert [chosen((2, "bash", what)) for what in STRENGTH] == list(STRENGTH)
    assert [chosen((2, "*", what)) for what in STRENGTH] == list(STRENGTH)


def test_for_an_auxiliary_unit_only_a_default_that_names_its_surface_counts() -> None:
    assert chosen((BASE, "*", "deny"), auxiliary=True) == ""
    assert chosen((1, "*", "deny"), auxiliary=True) == ""
    assert chosen((BASE, "*", "deny"), (BASE, "bash", "ask"), auxiliary=True) == "ask"


def test_the_last_of_a_layer_wins() -> None:
    assert chosen((BASE, "bash", "deny"), (BASE, "bash", "allow")) == "allow"
    assert chosen((1, "bash", "deny"), (1, "bash", "ask"), (BASE, "bash", "allow")) == "ask"

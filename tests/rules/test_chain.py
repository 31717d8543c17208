from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.chain import resolve_chain
from fwdperm.rules.layer import Layer, Problem, broken_layer
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.unit import Unit

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
HERE = Origin(LayerKind.USER, "p", 1)
LS = Unit("bash", ("ls",))
READ = Unit("path_read", ("ls",), auxiliary=True)


def rule(action: Action, *, only_human: bool = False, pattern: str = "ls") -> Rule:
    return Rule("bash", pattern, action, HERE, only_human=only_human)


def ruleset(*rules: Rule, default: Action | None = None, is_broken: bool = False) -> Ruleset:
    defaults = (Default("bash", default, HERE),) if default else ()
    layers = [Layer(LayerKind.USER, "p", rules=rules, defaults=defaults)]
    if is_broken:
        layers.append(broken_layer(LayerKind.PROJECT, "q", problems=[Problem("q", 1, "gone")]))
    return Ruleset.compose(layers)


def test_a_denial_of_any_ancestor_stands() -> None:
    assert resolve_chain([ruleset(rule(ALLOW)), ruleset(), ruleset(rule(DENY))], LS).action is DENY


def test_an_ask_for_the_human_of_any_ancestor_stands() -> None:
    found = resolve_chain([ruleset(rule(ALLOW)), ruleset(rule(ASK, only_human=True))], LS)
    assert found.action is ASK
    assert found.is_for_the_human


def test_the_nearest_rule_goes_before_a_farther_one_and_before_any_default() -> None:
    assert resolve_chain([ruleset(rule(ALLOW)), ruleset(rule(ASK))], LS).action is ALLOW
    assert resolve_chain([ruleset(rule(ASK)), ruleset(rule(ALLOW))], LS).action is ASK
    assert resolve_chain([ruleset(default=ASK), ruleset(rule(ALLOW))], LS).action is ALLOW
    assert resolve_chain([ruleset(default=ALLOW), ruleset(rule(ASK))], LS).action is ASK


def test_without_any_rule_the_nearest_default_holds() -> None:
    assert resolve_chain([ruleset(default=ALLOW), ruleset(default=ASK)], LS).action is ALLOW
    assert resolve_chain([ruleset(), ruleset(default=ALLOW)], LS).action is ASK
    assert resolve_chain([ruleset(default=ALLOW), ruleset(default=DENY)], LS).action is DENY


def test_a_layer_that_cannot_be_read_anywhere_in_the_chain_leaves_no_allow() -> None:
    for chain in (
        [ruleset(rule(ALLOW)), ruleset(is_broken=True)],
        [ruleset(is_broken=True), ruleset(rule(ALLOW))],
        [ruleset(), ruleset(is_broken=True)],
        [ruleset(is_broken=True)],
    ):
        found = resolve_chain(chain, LS)
        assert found.action is ASK
        assert "`q`: line 1: gone" in found.note


def test_an_auxiliary_unit_that_no_rule_of_the_chain_names_is_silent() -> None:
    assert resolve_chain([ruleset(), ruleset()], READ) == RuleFinding(ALLOW, speaks=False)


def test_a_ruleset_with_nothing_to_say_does_not_speak_before_one_whose_default_does() -> None:
    for action in (ASK, DENY):
        far = Ruleset.compose([Layer(LayerKind.USER, "p", defaults=(Default("path_read", action, HERE),))])
        found = resolve_chain([ruleset(), far], READ)
        assert (found.action, found.speaks) == (action, True)


def test_an_ask_of_a_rule_is_not_explained_by_a_layer_that_cannot_be_read() -> None:
    asked = resolve_chain([ruleset(rule(ASK)), ruleset(is_broken=True)], LS)
    assert (asked.action, asked.note) == (ASK, "")


def test_no_ruleset_at_all_asks_and_says_why() -> None:
    assert resolve_chain([], LS) == RuleFinding(ASK, note="no ruleset is recorded")


chains = st.lists(
    st.tuples(
        st.none() | st.tuples(st.sampled_from(Action), st.booleans()),
        st.none() | st.sampled_from(Action),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@given(chains)
def test_a_chain_says_what_its_description_says(
    parts: list[tuple[tuple[Action, bool] | None, Action | None, bool]],
) -> None:
    chain = [
        ruleset(
            *([rule(said[0], only_human=said[1] and said[0] is ASK)] if said else []), default=default, is_broken=lost
        )
        for said, default, lost in parts
    ]
    effective = [said[0] if said else default or ASK for said, default, _ in parts]
    ruled = [said[0] for said, _, _ in parts if said]
    if DENY in effective:
        expected = DENY
    elif any(said == (ASK, True) for said, _, _ in parts):
        expected = ASK
    else:
        expected = ruled[0] if ruled else effective[0]
    if expected is ALLOW and any(lost for _, _, lost in parts):
        expected = ASK
    assert resolve_chain(chain, LS).action is expected

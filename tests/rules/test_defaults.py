from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.defaults import BASE, Defaults
from fwdperm.rules.layer import Layer, untrusted
from fwdperm.rules.rule import Action, Default, LayerKind, Origin
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.unit import Unit

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY


def default(surface: str, action: Action, *, line: int = 0, only_human: bool = False) -> Default:
    return Default(surface, action, Origin(LayerKind.USER, "p", line), only_human=only_human)


def layer_of(*defaults: Default) -> Layer:
    return Layer(LayerKind.USER, "p", defaults=defaults)


def action_of(*layers: Layer, surface: str = "bash") -> Action:
    return Ruleset.compose(layers).resolve(Unit(surface, ("x",))).action


def test_a_stricter_default_of_a_layer_nobody_vouched_for_counts_wherever_the_layer_stands() -> None:
    """By its surface's name or by the star, over a default of the operator's and where there is none."""
    for said in ("bash", "*"):
        strange = untrusted(layer_of(default(said, DENY)))
        for trusted in (layer_of(), layer_of(default("*", ALLOW)), layer_of(default("*", ASK))):
            assert action_of(trusted, strange) is DENY
            assert action_of(strange, trusted) is DENY
    assert action_of(untrusted(layer_of(default("bash", DENY))), layer_of(default("bash", ALLOW))) is DENY


def test_the_star_of_a_layer_nobody_vouched_for_leaves_alone_what_the_operator_named() -> None:
    """It is the default of the surfaces that no other default names."""
    strange = untrusted(layer_of(default("*", DENY)))
    assert action_of(layer_of(default("bash", ALLOW)), strange) is ALLOW
    assert action_of(layer_of(default("bash", ALLOW)), strange, surface="web") is DENY


def test_the_strictest_of_several_layers_nobody_vouched_for_counts() -> None:
    asks, denies = (untrusted(layer_of(default("bash", action))) for action in (ASK, DENY))
    for layers in ([asks, denies], [denies, asks]):
        assert action_of(layer_of(default("bash", ALLOW)), *layers) is DENY
    kept = untrusted(layer_of(default("bash", ASK, only_human=True)))
    found = Ruleset.compose([layer_of(default("bash", ASK)), asks, kept]).resolve(Unit("bash", ("x",)))
    assert found.is_for_the_human


def test_among_equally_strict_defaults_the_operators_is_named_and_then_the_first_layers() -> None:
    said = [(group, default("bash", ASK, line=group)) for group in (8, 1, 16)]
    assert Defaults(said).choose("bash", auxiliary=False) == said[1][1]
    ours = default("bash", ASK, line=99)
    assert Defaults([*said, (BASE, ours)]).choose("bash", auxiliary=False) == ours


def test_a_default_of_no_name_is_that_of_no_name_alone() -> None:
    nameless = default("", DENY)
    assert Defaults([(BASE, nameless)]).choose("", auxiliary=True) == nameless
    assert Defaults([(BASE, nameless)]).choose("bash", auxiliary=False) is None


said = st.lists(
    st.tuples(
        st.integers(BASE, 2), st.builds(default, st.sampled_from(["bash", "b*", "*", "web"]), st.sampled_from(Action))
    ),
    max_size=6,
)


@given(said, st.booleans())
def test_a_default_is_chosen_as_its_description_says(entries: list[tuple[int, Default]], auxiliary: bool) -> None:
    def last(group: int, *names: str) -> list[Default]:
        return [one for at, one in entries if at == group and one.surface in names][-1:]

    stars = () if auxiliary or last(BASE, "bash", "b*") else ("*",)
    heard = [last(group, "bash", "b*") or last(group, *stars) for group in range(BASE, 3)]
    expected = max((one.action for ones in heard for one in ones), key=lambda one: one.strictness, default=None)
    found = Defaults(entries).choose("bash", auxiliary=auxiliary)
    assert (found.action if found else None) == expected

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.decision.settled import Settled, settle
from fwdperm.rules.chain import resolve_chain
from fwdperm.rules.layer import Layer
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule, RuleFinding
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.unit import Unit

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
HERE = Origin(LayerKind.USER, "p", 1)


def verdict_on(units: list[Unit], *rules: tuple[str, str, Action]) -> Settled:
    layer = Layer(LayerKind.USER, "p", rules=tuple(Rule(*rule, HERE) for rule in rules))
    chain = [Ruleset.compose([layer])]
    return settle(units, [resolve_chain(chain, unit) for unit in units])


def command(text: str, *, carrier: int = -1, opaque: str = "", remote: bool = False) -> Unit:
    return Unit("bash", (text,), carrier=carrier, program=text.partition(" ")[0], opaque=opaque, remote=remote)


def test_the_strictest_unit_decides_and_is_named() -> None:
    units = [command("ls"), command("git push"), command("rm x"), command("pwd")]
    rules = [("bash", "ls", ALLOW), ("bash", "git *", ASK), ("bash", "rm *", DENY)]
    denied = verdict_on(units, *rules)
    assert (denied.action, denied.deciding, denied.finding.spelling) == (DENY, 2, "rm x")
    asked = verdict_on([units[0], units[3], units[1]], *rules)
    assert (asked.action, asked.deciding) == (ASK, 1)
    aux = Unit("path_read", ("x",), auxiliary=True)
    allowed = verdict_on([aux, units[0]], *rules)
    assert (allowed.action, allowed.deciding) == (ALLOW, 1)


def test_a_request_without_a_unit_that_speaks_asks() -> None:
    assert verdict_on([]) == Settled(ASK, -1, ())
    silent = verdict_on([Unit("path_read", ("x",), auxiliary=True)], ("bash", "*", ALLOW))
    assert (silent.action, silent.deciding, silent.finding.action) == (ASK, -1, ASK)
    named = verdict_on([Unit("path_read", ("x",), auxiliary=True)], ("path_read", "*", ALLOW))
    assert named.action is ASK


@pytest.mark.parametrize(
    ("pattern", "inner", "expected"),
    [
        ("ssh * uptime *", "uptime", ALLOW),
        ("xargs rm *", "rm a", ALLOW),
        ("xargs *", "rm a", ASK),
        ("xargs r*", "r a", ASK),
        ("xargs rm* x", "rm a", ASK),
        ("bash -c 'npm test'", "npm test", ALLOW),
        ("bash -c 'npm *", "npm test", ASK),
    ],
)
def test_a_rule_that_names_the_inner_program_consents_to_it(pattern: str, inner: str, expected: Action) -> None:
    outer = pattern.replace("*", "h1")
    units = [command(outer), command(inner, carrier=0)]
    for rules in ([], [("bash", "*", ASK)]):
        assert verdict_on(units, *rules, ("bash", pattern, ALLOW)).action is expected


def test_consent_by_naming_reaches_through_what_it_covers() -> None:
    units = [command("sudo env rm x"), command("env rm x", carrier=0), command("rm x", carrier=1)]
    found = verdict_on(units, ("bash", "sudo env rm *", ALLOW))
    assert found.action is ALLOW
    assert found.findings[2].note == "`sudo env rm *` (p:1) names `rm`"


def test_naming_covers_neither_a_rule_of_its_own_nor_what_cannot_be_known() -> None:
    outer = ("bash", "xargs rm *", ALLOW)
    units = [command("xargs rm a"), command("rm a", carrier=0)]
    assert verdict_on(units, outer, ("bash", "rm *", ASK)).action is ASK
    assert verdict_on(units, outer, ("bash", "rm *", DENY)).action is DENY
    assert verdict_on([units[0], replace(units[1], opaque="unknown")], outer).action is ASK
    assert verdict_on([units[0], replace(units[1], carrier=-1)], outer).action is ASK
    assert verdict_on([replace(units[0], opaque="unknown"), units[1]], outer).action is ASK


@pytest.mark.parametrize("stands", ["redirect", "canonical"])
@pytest.mark.parametrize("opaque", ["", "unknown"])
def test_a_written_file_is_covered_by_a_catch_all_allow_of_its_command_alone(stands: str, opaque: str) -> None:
    units = [command("git show"), Unit("write", ("/p/x",), stands=stands, carrier=0, opaque=opaque)]
    assert verdict_on(units, ("bash", "*", ALLOW)).action is ALLOW
    assert verdict_on(units, ("bash", "git show *", ALLOW)).action is ASK
    assert verdict_on(units, ("bash", "*", ALLOW), ("write", "*", ASK)).action is ASK
    assert verdict_on(units, ("bash", "*", ALLOW), ("path", "/p/*", DENY)).action is DENY
    units[1] = replace(units[1], stands="request")
    assert verdict_on(units, ("bash", "*", ALLOW)).action is ASK


def test_a_glob_that_cannot_be_told_is_covered_by_a_catch_all_allow_and_by_no_other() -> None:
    glob = Unit("path_read", ("/et?/x",), auxiliary=True, glob=True, opaque="unknown", carrier=0)
    units = [command("cat /et?/x"), glob]
    assert verdict_on(units, ("bash", "*", ALLOW)).action is ALLOW
    assert verdict_on(units, ("bash", "cat *", ALLOW)).action is ASK
    assert verdict_on(units, ("bash", "*", ALLOW), ("path", "/etc/*", DENY)).action is DENY


def test_findings_that_do_not_fit_the_units_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        settle([command("ls")], [])


@given(
    st.lists(
        st.tuples(
            st.builds(RuleFinding, st.sampled_from(Action), speaks=st.booleans()),
            st.booleans(),
            st.integers(-1, 4),
        ),
        max_size=6,
    )
)
def test_no_verdict_is_looser_than_its_strictest_unit(parts: list[tuple[RuleFinding, bool, int]]) -> None:
    """Without rules there is no consent, so nothing is covered."""
    units = [Unit("bash", ("x",), auxiliary=aux, carrier=carrier, program="x") for _, aux, carrier in parts]
    found = settle(units, [finding for finding, _, _ in parts])
    spoken = [finding.action for finding, _, _ in parts if finding.speaks]
    primary = [finding for finding, aux, _ in parts if finding.speaks and not aux]
    strictest = max(spoken, key=lambda action: action.strictness, default=ASK)
    assert found.action is (ASK if strictest is ALLOW and not primary else strictest)
    assert found.findings == tuple(finding for finding, _, _ in parts)

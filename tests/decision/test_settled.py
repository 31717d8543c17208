from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.decision.settled import Settled, settle
from fwdperm.rules.chain import resolve_chain
from fwdperm.rules.layer import Layer
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding
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


@pytest.mark.parametrize("action", [ASK, DENY])
@pytest.mark.parametrize("consent", ["xargs rm *", "*"])
def test_a_denial_by_default_is_not_lifted_by_the_consent_to_what_carries_it(consent: str, action: Action) -> None:
    """Consent covers an ask that nobody meant; a denial is always meant, and so is what a person is to see."""
    layer = Layer(
        LayerKind.USER,
        "p",
        rules=(Rule("bash", consent, ALLOW, HERE), Rule("bash", "rm *", ALLOW, HERE)),
        defaults=(Default("write", action, HERE), Default("mcp", action, HERE, only_human=True)),
    )
    ruleset = Ruleset.compose([layer])
    written = Unit("write", ("/p/x",), stands="redirect", carrier=0)
    named = Unit("write", ("rm a",), program="rm", carrier=0)
    kept = Unit("mcp", ("rm a",), program="rm", carrier=0)
    for unit in (written, named, kept):
        units = [command("xargs rm a"), unit]
        found = settle(units, [ruleset.resolve(one) for one in units])
        is_meant = action is DENY or unit is kept
        is_covered = not is_meant and ((unit is named) is (consent != "*"))
        assert found.action is (ALLOW if is_covered else action)


CARRIERS = {
    "a catch-all allow": RuleFinding(ALLOW, Rule("bash", "*", ALLOW, HERE)),
    "an allow that names rm": RuleFinding(ALLOW, Rule("bash", "xargs rm *", ALLOW, HERE)),
    "a silent allow": RuleFinding(ALLOW, Rule("bash", "*", ALLOW, HERE), speaks=False),
    "an allow by default": RuleFinding(ALLOW, default=Default("bash", ALLOW, HERE)),
    "an ask that a mode made an allow": RuleFinding(ALLOW, Rule("bash", "*", ASK, HERE), note="yolo"),
    "an allow that a broken layer made an ask": RuleFinding(ASK, Rule("bash", "*", ALLOW, HERE), note="gone"),
    "a denial": RuleFinding(DENY, Rule("bash", "xargs rm *", DENY, HERE)),
}
CARRIED = {
    "nothing": RuleFinding(ASK),
    "a default": RuleFinding(ASK, default=Default("*", ASK, HERE)),
    "a default for a person": RuleFinding(ASK, default=Default("*", ASK, HERE, only_human=True)),
    "a catch-all ask": RuleFinding(ASK, Rule("bash", "*", ASK, HERE), "rm a"),
    "a catch-all ask for a person": RuleFinding(ASK, Rule("bash", "*", ASK, HERE, only_human=True)),
    "a catch-all allow that cannot count": RuleFinding(ASK, Rule("bash", "*", ALLOW, HERE)),
    "an ask that names it": RuleFinding(ASK, Rule("bash", "rm *", ASK, HERE)),
    "what cannot be known": RuleFinding(ASK, note="unknown"),
    "a broken layer": RuleFinding(ASK, note="gone"),
    "a catch-all ask and a broken layer": RuleFinding(ASK, Rule("bash", "*", ASK, HERE), note="gone"),
    "a denial": RuleFinding(DENY),
    "an allow": RuleFinding(ALLOW, Rule("bash", "rm *", ALLOW, HERE)),
    "no word": RuleFinding(ALLOW, speaks=False),
}
UNITS = {
    "a command": Unit("bash", ("rm a",), program="rm"),
    "another command": Unit("bash", ("mv a",), program="mv"),
    "a command without a name": Unit("bash", ("rm a",)),
    "a command that cannot be known": Unit("bash", ("rm $X",), program="rm", opaque="unknown"),
    "a file it writes": Unit("write", ("/p/x",), stands="redirect"),
    "the file's real name": Unit("write", ("/p/x",), stands="canonical", opaque="unknown"),
    "a file that is asked for": Unit("write", ("/p/x",)),
    "a file it reads": Unit("read", ("/p/x",), stands="redirect"),
    "a glob": Unit("path_read", ("/p/*",), auxiliary=True, glob=True),
    "a glob of its own": Unit("path_read", ("/p/*",), glob=True),
    "an operand": Unit("path_read", ("/p/x",), auxiliary=True),
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_consent_to_a_carrier_covers_what_is_described_and_nothing_else(carrier: str) -> None:
    """A catch-all allow covers the files of its command, an allow that names a program that program."""
    consent = CARRIERS[carrier]
    for (what, unit), (who, finding) in product(UNITS.items(), CARRIED.items()):
        units = [Unit("bash", ("xargs rm a",), program="xargs"), replace(unit, carrier=0)]
        is_file = what in {"a file it writes", "the file's real name", "a glob"}
        by_star = (
            carrier == "a catch-all allow"
            and is_file
            and (who in {"nothing", "a default"} or (who == "what cannot be known" and unit.opaque == "unknown"))
        )
        by_name = (
            carrier == "an allow that names rm"
            and what == "a command"
            and who in {"nothing", "a default", "a catch-all ask"}
        )
        found = settle(units, [consent, finding]).findings
        if by_star or by_name:
            assert replace(found[1], note="") == RuleFinding(ALLOW, consent.rule), (what, who)
            assert found[1].note
        else:
            assert found[1] == finding, (what, who)


@pytest.mark.parametrize(("word", "expected"), [("r*", ASK), ("r?", ASK), ("r*?", ASK), ("rm", ALLOW)])
def test_a_word_with_a_wildcard_names_no_program_even_one_of_that_very_name(word: str, expected: Action) -> None:
    units = [command("xargs x"), Unit("bash", (f"{word} a",), program=word, carrier=0)]
    consent = RuleFinding(ALLOW, Rule("bash", f"xargs {word} *", ALLOW, HERE))
    assert settle(units, [consent, RuleFinding(ASK)]).action is expected


def test_nothing_is_covered_by_what_comes_after_it_or_carries_nothing() -> None:
    allowed, asked = RuleFinding(ALLOW, Rule("bash", "xargs rm *", ALLOW, HERE)), RuleFinding(ASK)
    for carrier in (-1, 0, 1, 2):
        units = [command("rm a", carrier=carrier), command("xargs rm a")]
        assert settle(units, [asked, allowed]).findings[0] == asked


def test_the_finding_of_a_request_is_the_one_that_decides_even_when_it_is_the_first() -> None:
    found = verdict_on([command("ls"), command("pwd")], ("bash", "*", ALLOW), ("bash", "ls", ASK))
    assert (found.deciding, found.finding.spelling) == (0, "ls")
    assert verdict_on([]).finding.note == "nothing in the request can be ruled on"


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

"""What is found for a request before anything is decided: all its texts, and the evidence for the journal."""

from __future__ import annotations

from typing import Any

import pytest

from fwdperm.decision.context import DecisionContext, NothingTaught, RuleAnswer
from fwdperm.decision.evaluation import Evaluation, evaluate, rule_ref
from fwdperm.decision.order import AskHuman, begin
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.surroundings import Surroundings
from fwdperm.rules.layer import Layer
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule, RuleFinding
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.unit import Unit
from fwdperm.wire.decision import RuleRef, UnitEvidence
from fwdperm.wire.request import Facts, Request

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
HERE = Origin(LayerKind.USER, "p", 1)
RULE = Rule("bash", "c *", ASK, HERE)


def ruleset(*rules: tuple[str, str, Action]) -> Ruleset:
    return Ruleset.compose([Layer(LayerKind.USER, "p", rules=tuple(Rule(*rule, HERE) for rule in rules))])


def context(*chain: Ruleset) -> DecisionContext:
    return DecisionContext(chain or (ruleset(),), Surroundings(workspaces=("/w",), home="/home/u"), NothingTaught())


def request(facts: Facts | None, **more: Any) -> Request:
    return Request("r1", "d", "root", "c", "a", facts, **more)


def found(unit: Unit, finding: RuleFinding, danger: Danger) -> Evaluation:
    assessment = Assessment(danger, "test.it", "it")
    return Evaluation(request(None, floor="it names nothing"), (unit,), (finding,), (assessment,), assessment, "v1")


# -- evidence ----------------------------------------------------------------------------------------------------


def test_a_unit_that_rules_spoke_of_is_evidence_with_all_that_was_found() -> None:
    evaluation = found(
        Unit("bash", ("c 1", "/bin/c 1"), stands="wrapper"), RuleFinding(ASK, RULE, note="why"), Danger.ROUTINE
    )
    assert evaluation.evidence == (
        UnitEvidence(
            surface="bash",
            text="c 1",
            action="ask",
            rule=RuleRef("bash", "c *", "ask", "p:1", "user"),
            danger="routine",
            guard_id="test.it",
            note="why",
            stands="wrapper",
        ),
    )


@pytest.mark.parametrize("danger", Danger)
def test_a_unit_that_no_rule_spoke_of_is_evidence_only_where_it_is_dangerous(danger: Danger) -> None:
    evaluation = found(Unit("path_read", ()), RuleFinding(ALLOW, speaks=False), danger)
    is_told = danger in (Danger.DANGEROUS, Danger.CRITICAL)
    assert [(line.text, line.action, line.rule, line.danger) for line in evaluation.evidence] == (
        [("", "-", None, str(danger))] if is_told else []
    )


def test_a_grant_stands_in_the_evidence_in_place_of_what_asked() -> None:
    evaluation = found(Unit("bash", ("c 1",)), RuleFinding(ASK, RULE), Danger.ROUTINE)
    grant = RuleRef("bash", "c 1", "allow", "answer", "session", "g1")
    (line,) = evaluation.evidence_with({0: RuleAnswer(grant)})
    assert (line.action, line.rule, line.text) == ("allow", grant, "c 1")
    assert evaluation.evidence_with({1: RuleAnswer(grant)}) == evaluation.evidence


def test_what_is_open_is_what_was_asked_aloud() -> None:
    unit = Unit("bash", ("c",))
    for finding, expected in (
        (RuleFinding(ASK), (0,)),
        (RuleFinding(ASK, speaks=False), ()),
        (RuleFinding(ALLOW), ()),
        (RuleFinding(DENY), ()),
    ):
        assert found(unit, finding, Danger.ROUTINE).open == expected


def test_no_rule_has_no_flat_form() -> None:
    assert rule_ref(None) is None


# -- the texts of a request --------------------------------------------------------------------------------------


def texts(evaluation: Evaluation) -> list[str]:
    return [unit.spellings[0] for unit in evaluation.units if not unit.auxiliary]


def test_every_text_of_a_command_is_looked_at_and_the_worst_is_the_class_of_the_whole() -> None:
    facts = Facts("bash", ("ls",), cwd="/w", home="/home/u")
    for evidence in (("sudo make", "pwd"), ("pwd", "sudo make")):
        evaluation = evaluate(request(facts, evidence=evidence), context())
        assert texts(evaluation)[0] == "ls"
        assert {"pwd", "make"} < set(texts(evaluation))
        assert evaluation.danger.danger is Danger.DANGEROUS


def test_a_carrier_counts_from_the_first_unit_of_all_texts_and_what_nothing_carries_stays_so() -> None:
    facts = Facts("bash", ("ls",), cwd="/w", home="/home/u")
    evaluation = evaluate(request(facts, evidence=("nohup make", "pwd")), context())
    by_text = {unit.spellings[0]: unit for unit in evaluation.units}
    assert [by_text[text].carrier for text in ("ls", "nohup make", "pwd")] == [-1, -1, -1]
    assert evaluation.units[by_text["make"].carrier] is by_text["nohup make"]


def test_a_unit_that_is_not_told_ends_no_evidence() -> None:
    silent, asked = (Unit("path_read", ("x",)), Unit("bash", ("c 1",)))
    mild = Assessment(Danger.ROUTINE, "test.it", "it")
    findings = (RuleFinding(ALLOW, speaks=False), RuleFinding(ASK, RULE))
    evaluation = Evaluation(
        request(None, floor="it names nothing"), (silent, asked), findings, (mild, mild), mild, "v1"
    )
    assert [line.text for line in evaluation.evidence] == ["c 1"]


def test_other_texts_are_read_in_the_requests_own_directory() -> None:
    facts = Facts("bash", ("ls",), cwd="/w", home="/home/u")
    denied = context(ruleset(("path_read", "/w/secret", DENY)))
    evaluation = evaluate(request(facts, evidence=("cat secret",)), denied)
    assert DENY in {finding.action for finding in evaluation.findings}


def test_other_texts_beside_what_is_no_command_line_are_not_taken_for_it() -> None:
    facts = Facts("read", ("a.py",), cwd="/w", home="/home/u")
    evaluation = evaluate(request(facts, evidence=("/etc/shadow",)), context())
    assert texts(evaluation) == ["a.py"]


@pytest.mark.parametrize(
    ("value", "evidence", "expected"),
    [
        ("ls", ("pwd",), ["ls", "pwd"]),
        ("ls", ("ls", "pwd", "ls"), ["ls", "pwd"]),
        ("", ("pwd",), ["pwd"]),
        ("ls", (), ["ls"]),
    ],
)
def test_without_facts_every_text_that_is_shown_is_looked_at_once(
    value: str, evidence: tuple[str, ...], expected: list[str]
) -> None:
    shown = request(None, floor="no facts", surface="bash", value=value, evidence=evidence)
    assert texts(evaluate(shown, context())) == expected


def test_a_request_that_shows_nothing_at_all_is_dangerous_and_for_a_person() -> None:
    nothing = request(None, floor="no facts", surface="bash")
    assert evaluate(nothing, context()).danger.danger is Danger.DANGEROUS
    assert isinstance(begin(nothing, context()), AskHuman)


def test_a_long_text_is_weighed_as_a_short_one_is() -> None:
    short = Facts("bash", ("ls && rm x",), cwd="/w", home="/home/u")
    long = Facts("bash", ("ls && rm x" + " && ls" * 1_000,), cwd="/w", home="/home/u")
    denied = context(ruleset(("bash", "*", ALLOW), ("bash", "rm *", DENY)))
    for facts in (short, long, short):
        evaluation = evaluate(request(facts), denied)
        assert [finding.action for finding in evaluation.findings if finding.speaks][:2] == [ALLOW, DENY]


def test_a_decision_names_every_ruleset_along_the_chain_once() -> None:
    first, second = ruleset(), ruleset(("bash", "ls", ALLOW))
    where = context(first, second, ruleset())
    assert where.version == f"{first.version}.{second.version}"
    assert evaluate(request(Facts("bash", ("ls",))), where).version == where.version


def test_where_nobody_taught_anything_nothing_is_granted_cited_or_refused() -> None:
    asked, unit = request(Facts("bash", ("ls",))), Unit("bash", ("ls",))
    nothing = NothingTaught()
    assert nothing.refusal(asked) is None
    assert nothing.grant(asked, unit) is None
    assert nothing.cites(asked, unit, "n1") is False
    assert nothing.is_any_citable(asked, unit) is False
    assert (context().has_judge, context().judge_advises) == (False, False)

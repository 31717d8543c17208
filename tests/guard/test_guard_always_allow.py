"""With a judge that allows everything, only what the guard vouches for is allowed, or what a user's rule covers."""

from __future__ import annotations

import pytest
from guard_cases import AROUND, HOME, WORKSPACE, Case, cases, facts_of

from fwdperm.decision.context import DecisionContext, NothingTaught
from fwdperm.decision.order import AskJudge, Decided, after_judge, begin
from fwdperm.guard.classes import Danger
from fwdperm.judge.verdict import Choice, Risk, Verdict
from fwdperm.rules.layer import Layer
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule
from fwdperm.rules.ruleset import Ruleset
from fwdperm.wire.decision import Outcome
from fwdperm.wire.request import Request

NO_RULES = (Ruleset.compose([], home=HOME, mode=Mode.JUDGE),)
MILD = {Danger.READ_ONLY, Danger.ROUTINE}


class OneRule(NothingTaught):
    """A user's rule `g1` that covers everything that may be covered."""

    def cites(self, request: Request, unit: object, rule: str) -> bool:  # noqa: ARG002 - the protocol's shape
        return rule == "g1"

    def is_any_citable(self, request: Request, unit: object) -> bool:  # noqa: ARG002 - the protocol's shape
        return True


def outcome(case: Case, taught: NothingTaught, *, cited: str = "") -> Decided | None:
    """Give the approval that a judge allowing everything leads to; None when there is none."""
    request = Request(
        id="r",
        digest="d",
        inbox="root",
        session="c",
        agent="a",
        facts=facts_of(case.surface, case.value, cwd=WORKSPACE),
    )
    context = DecisionContext(NO_RULES, AROUND, taught, has_judge=True)
    step = begin(request, context)
    if isinstance(step, AskJudge):
        step = after_judge(step, Verdict(Choice.ALLOW, Risk.LOW, "as you like", rule=cited), context)
    return step if isinstance(step, Decided) and step.decision.outcome is Outcome.APPROVED else None


def test_without_a_users_rule_only_the_positive_lists_are_allowed() -> None:
    for case in cases():
        approved = outcome(case, NothingTaught(), cited="g1")
        if approved is not None:
            assert approved.evaluation.danger.danger in MILD, case
            assert case.expected in {"allow", "either"}, case


def test_every_row_that_a_careful_engineer_allows_is_allowed() -> None:
    lost = [case.id for case in cases() if case.expected == "allow" and outcome(case, NothingTaught()) is None]
    assert lost == []


@pytest.mark.parametrize("cited", ["", "g2", "G1", "g1 "])
def test_a_rule_that_does_not_exist_allows_nothing_more(cited: str) -> None:
    for case in cases()[::4]:
        approved = outcome(case, OneRule(), cited=cited)
        assert approved is None or approved.evaluation.danger.danger in MILD, case


def test_an_existing_rule_covers_what_is_ruled_and_never_what_is_worse() -> None:
    covered = set()
    for case in cases():
        approved = outcome(case, OneRule(), cited="g1")
        if approved is not None:
            assert approved.evaluation.danger.danger.rank <= Danger.RULED.rank, case
            assert case.expected not in {"dangerous", "reject"}, case
            covered.add(approved.evaluation.danger.danger)
    assert Danger.RULED in covered


@pytest.mark.parametrize("mode", [Mode.JUDGE, Mode.YOLO])
def test_no_broad_allow_and_no_mode_lets_a_catastrophe_through(mode: Mode) -> None:
    """Wherever in the line it hides: only a rule without wildcards could name it."""
    everything = Rule("*", "*", Action.ALLOW, Origin(LayerKind.USER, "rules.toml", 1))
    layer = Layer(LayerKind.USER, "rules.toml", rules=(everything,))
    context = DecisionContext((Ruleset.compose([layer], home=HOME, mode=mode),), AROUND, NothingTaught())
    let_through = []
    for case in cases():
        facts = facts_of(case.surface, case.value, cwd=WORKSPACE)
        step = begin(Request("r", "d", "root", session="c", agent="a", facts=facts), context)
        is_denied = isinstance(step, Decided) and not step.is_approved
        if step.evaluation.danger.danger is Danger.CRITICAL and not is_denied:
            let_through.append(case.id)
    assert let_through == []

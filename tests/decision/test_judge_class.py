"""The class of the whole binds its parts where no part explains it: harmless steps can add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fwdperm.decision import order
from fwdperm.decision.context import DecisionContext, NothingTaught, RuleAnswer
from fwdperm.decision.evaluation import evaluate
from fwdperm.decision.order import AskHuman, AskJudge, Decided, after_judge, begin
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.surroundings import Surroundings
from fwdperm.judge.verdict import Choice, Risk, Verdict
from fwdperm.rules.mode import Mode
from fwdperm.rules.ruleset import Ruleset
from fwdperm.wire.decision import RuleRef
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    import pytest

ALLOW = Verdict(Choice.ALLOW, Risk.LOW, "fine", rule="n1")


@dataclass
class OneNote(NothingTaught):
    """One approval with a note, and perhaps a grant for everything."""

    is_granted: bool = False

    def cites(self, request, unit, rule: str) -> bool:  # noqa: ARG002
        return rule == "n1"

    def is_any_citable(self, request, unit) -> bool:  # noqa: ARG002
        return True

    def grant(self, request, unit) -> RuleAnswer | None:  # noqa: ARG002
        return RuleAnswer(RuleRef("bash", "*", "allow", "reply", "session", id="g1")) if self.is_granted else None


def context(*, taught: NothingTaught | None = None) -> DecisionContext:
    ruleset = Ruleset.compose((), home="/home/u", mode=Mode.JUDGE)
    around = Surroundings(workspaces=("/w",), home="/home/u")
    return DecisionContext((ruleset,), around, taught or NothingTaught(), has_judge=True)


def together(monkeypatch: pytest.MonkeyPatch, danger: Danger, value: str = "pytest -q && cargo test") -> Request:
    """Give a request of routine parts that the guard calls `danger` as a whole."""
    request = Request("r1", "d", "root", "c", "a", Facts("bash", (value,), cwd="/w", home="/home/u"))
    found = evaluate(request, context())
    assert {one.danger for one in found.dangers} <= {Danger.READ_ONLY, Danger.ROUTINE}
    worse = replace(found, danger=Assessment(danger, "test.together", "they add up"))
    monkeypatch.setattr(order, "evaluate", lambda *_: worse)
    return request


def test_routine_parts_that_are_routine_together_need_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    step = begin(together(monkeypatch, Danger.ROUTINE), context())
    assert isinstance(step, AskJudge)
    assert isinstance(after_judge(step, ALLOW, context()), Decided)


def test_routine_parts_that_are_ruled_together_need_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    request = together(monkeypatch, Danger.RULED)
    assert isinstance(begin(request, context()), AskHuman)
    noted = context(taught=OneNote())
    step = begin(request, noted)
    assert isinstance(step, AskJudge)
    assert isinstance(after_judge(step, ALLOW, noted), Decided)
    assert isinstance(after_judge(step, replace(ALLOW, rule=""), noted), AskHuman)


def test_routine_parts_that_are_a_catastrophe_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked, and grants for every part change nothing."""
    request = together(monkeypatch, Danger.CRITICAL)
    for taught in (OneNote(), OneNote(is_granted=True)):
        step = begin(request, context(taught=taught))
        assert isinstance(step, Decided)
        assert not step.is_approved


def test_routine_parts_that_are_dangerous_together_are_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a judge nor grants for every part."""
    request = together(monkeypatch, Danger.DANGEROUS)
    assert isinstance(begin(request, context(taught=OneNote())), AskHuman)
    assert isinstance(begin(request, context(taught=OneNote(is_granted=True))), AskHuman)


def test_a_free_read_is_free_only_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request("r1", "d", "root", "c", "a", Facts("read", ("src/a.py",), cwd="/w", home="/home/u"))
    assert isinstance(begin(request, context()), Decided)
    worse = replace(evaluate(request, context()), danger=Assessment(Danger.RULED, "test.whole", "not only that"))
    monkeypatch.setattr(order, "evaluate", lambda *_: worse)
    assert isinstance(begin(request, context()), AskHuman)

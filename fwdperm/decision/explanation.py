"""Why a request is decided as it is: one line per unit, and what each stage had to say.

Lives here: `Explanation`, as a value, as lines for people and as JSON. Pure. Never here: deciding (`order.py`), a
file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from fwdperm.decision.evaluation import rule_ref
from fwdperm.decision.order import AskHuman, AskJudge, Decided, begin
from fwdperm.rules import Action
from fwdperm.wire import Outcome, RuleRef, Stage, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.decision.context import DecisionContext
    from fwdperm.decision.evaluation import Evaluation
    from fwdperm.rules import RuleFinding, Unit
    from fwdperm.wire import Request

OrderStep = Decided | AskJudge | AskHuman


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would happen to a request, and why.

    Attributes:
        action: What comes out without asking anybody: allow, ask or deny.
        stage: Who decides, or who would be asked: `rule`, `session_rule`, `guard`, `judge`, `human`.
        step: What the order gave: the decision, or the question it would put to the judge or a person.
        context: The snapshot it was evaluated against.
    """

    action: Action
    stage: str
    step: OrderStep
    context: DecisionContext

    @property
    def evaluation(self) -> Evaluation:
        """The request with what was found for each unit."""
        return self.step.evaluation

    @property
    def rule(self) -> RuleRef | None:
        """The rule that decides, or that asks."""
        if isinstance(self.step, Decided):
            return self.step.decision.rule
        asking = [self.evaluation.findings[at].rule for at in self.evaluation.open]
        return rule_ref(asking[0]) if asking else None


def explain(request: Request, context: DecisionContext) -> Explanation:
    """Walk a request through the order as far as it goes without asking anybody."""
    step = begin(request, context)
    match step:
        case Decided():
            action = Action.ALLOW if step.decision.outcome is Outcome.APPROVED else Action.DENY
            return Explanation(action, str(step.decision.stage), step, context)
        case AskJudge():
            return Explanation(Action.ASK, str(Stage.JUDGE), step, context)
        case AskHuman():
            return Explanation(Action.ASK, str(Stage.HUMAN), step, context)
        case _:
            assert_never(step)


def explanation_as_json(explained: Explanation) -> dict[str, Any]:
    """Give it as a JSON object: action, stage, rule, units, guard."""
    evaluation = explained.evaluation
    worst = evaluation.danger
    return {
        "action": str(explained.action),
        "stage": explained.stage,
        "rule": _rule_json(explained.rule),
        "reason": explained.step.decision.reason if isinstance(explained.step, Decided) else explained.step.why,
        "units": [
            {
                "surface": unit.surface,
                "text": unit.spellings[0] if unit.spellings else "",
                "action": str(finding.action) if finding.speaks else "-",
                "rule": _rule_json(rule_ref(finding.rule)),
                "note": finding.note,
                "stands": unit.stands,
                "guard": {"class": str(danger.danger), "id": danger.id, "words": list(danger.words)},
            }
            for unit, finding, danger in _rows(evaluation)
        ],
        "guard": {"class": str(worst.danger), "id": worst.id, "reason": worst.reason, "words": list(worst.words)},
        "ruleset": evaluation.version,
    }


def explanation_as_lines(explained: Explanation) -> Iterator[str]:
    """Give it as lines for a person. Every quoted text is shown escaped."""
    action = {Action.ALLOW: "ALLOW", Action.DENY: "DENY", Action.ASK: "ASK"}[explained.action]
    yield f"{action} {'by' if isinstance(explained.step, Decided) else '->'} {explained.stage}"
    evaluation = explained.evaluation
    yield "units"
    for number, (unit, finding, danger) in enumerate(_rows(evaluation)):
        yield from _unit_lines(number + 1, unit, finding, danger=f"{danger.danger} ({danger.id})")
        yield from _rule_lines(unit, finding, explained.context)
    worst = evaluation.danger
    words = " ".join(shown(word) for word in worst.words)
    yield f"guard   {worst.danger}: {worst.reason} [{worst.id}]{f'  words: {words}' if words else ''}"
    yield from _stage_lines(explained)


def _rows(evaluation: Evaluation) -> list[tuple[Unit, RuleFinding, Any]]:
    """Give the units that a rule or a default spoke of; all units when none did, so that the list is never empty."""
    rows = list(zip(evaluation.units, evaluation.findings, evaluation.dangers, strict=True))
    return [row for row in rows if row[1].speaks] or rows


def _unit_lines(number: int, unit: Unit, finding: RuleFinding, *, danger: str) -> Iterator[str]:
    text = shown(unit.spellings[0]) if unit.spellings else ""
    yield f"  {number}  {finding.action!s:<5} {unit.surface} `{text}`   {unit.stands}, {danger}"
    if finding.note:
        yield f"     note   {shown(finding.note)}"


def _rule_lines(unit: Unit, finding: RuleFinding, context: DecisionContext) -> Iterator[str]:
    """Say which rule decides a unit and which ones it overrides, for every ruleset on the chain that speaks."""
    for ruleset in context.chain:
        for step in ruleset.walk(unit)[:6]:
            rule = step.rule
            yield f'     {rule.action!s:<5}  {rule.surface} "{shown(rule.pattern)}"  {rule.origin}  {step.status}'
            if rule is finding.rule and rule.reason:
                yield f"            says: {shown(rule.reason)}"
    if finding.rule is None:
        where = f"the default at {finding.default.origin}" if finding.default else "no default is written, so it asks"
        yield f"     -      no rule matches; {where}"


def _stage_lines(explained: Explanation) -> Iterator[str]:
    step = explained.step
    match step:
        case Decided():
            yield f"because {shown(step.decision.reason)}"
        case AskJudge():
            yield f"judge   is asked: {shown(step.why)}"
            yield "human   only if the judge escalates"
        case AskHuman():
            yield f"human   is asked: {shown(step.why)}"
        case _:
            assert_never(step)


def _rule_json(rule: RuleRef | None) -> dict[str, str] | None:
    if rule is None:
        return None
    return {
        "surface": rule.surface,
        "pattern": rule.pattern,
        "action": rule.action,
        "origin": rule.origin,
        "layer": rule.layer,
    }

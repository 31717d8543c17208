"""THE ORDER: recorded ruleset, inherited session rules, judge, and only then the one human.

Lives here: the stepper. `begin` gives `Decided`, `AskJudge` or `AskHuman`; `after_judge` gives `Decided` or `AskHuman`;
`after_human` gives `Decided`. The types enforce the order: the judge cannot be asked twice, the human cannot defer.
Pure: no clock, disk, network, environment or logging. Never here: matching, shell analysis, waiting.

Direction of every failure: deny, or the human. There is no path from a missing fact, a broken layer, an unknown
command or a silent judge to an approval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.decision.evaluation import evaluate, rule_ref
from fwdperm.guard import Assessment, Danger
from fwdperm.judge import Choice, Opinion, Risk, Silence, Verdict
from fwdperm.rules import Action, RuleFinding, is_every
from fwdperm.wire import Decision, Outcome, ReplyKind, Stage, UndecidedCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.decision.context import DecisionContext, RuleAnswer
    from fwdperm.decision.evaluation import Evaluation
    from fwdperm.wire import Request

JUDGE_REJECTION = "The automatic judge rejected this tool call as too dangerous. A person did not see it."
"""All that an agent is told of a judge's rejection: reasons would teach it, try by try, how to word what it wants."""
_QUOTED_CHARS: Final = 200
"""Characters of a requester's text that are quoted in the reason for asking."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The request is decided: nobody is asked any more."""

    evaluation: Evaluation
    decision: Decision

    @property
    def is_approved(self) -> bool:
        """Say whether the requester may go ahead."""
        return self.decision.outcome is Outcome.APPROVED


@dataclass(frozen=True, slots=True)
class AskJudge:
    """Rules and session rules left it open, and the guard lets a judge speak of it."""

    evaluation: Evaluation
    why: str


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Only a person can say.

    Attributes:
        evaluation: The request with its findings.
        why: Why it got here, in words for the prompt.
        only_human: True when a rule keeps it from session rules and judge: no *always* is offered.
        opinion: What the judge said, if it was asked.
    """

    evaluation: Evaluation
    why: str
    only_human: bool = False
    opinion: Opinion | None = None

    @property
    def may_teach(self) -> bool:
        """Say whether an *always* may be offered: never for dangerous units, only-human asks or missing facts."""
        facts = self.evaluation.request.facts is not None and not self.evaluation.request.floor
        return facts and not self.only_human and self.evaluation.danger.danger.rank < Danger.DANGEROUS.rank


def begin(request: Request, context: DecisionContext) -> Decided | AskJudge | AskHuman:
    """Take a request through the recorded rulesets and the session rules.

    Args:
        request: What is asked. Without usable facts it can be denied here, or go to the human; never be approved.
        context: The snapshot to decide against.

    Returns:
        The decision, or who must be asked next.
    """
    evaluation = evaluate(request, context)
    final = _recorded(evaluation)
    if final is not None:
        return Decided(evaluation, final)
    if request.facts is None or request.floor:
        return AskHuman(evaluation, f"{request.floor}, so a person must look")
    kept = _human_only(evaluation)
    if kept:
        return AskHuman(evaluation, f"{kept} is for a person alone", only_human=True)
    taught = _session_rules(evaluation, context)
    if taught is not None:
        return Decided(evaluation, taught)
    left = _left(evaluation, context)
    if not left:
        return AskHuman(evaluation, "nothing in it can be ruled on")
    if all(_is_free_read(evaluation, at) for at in left):
        return Decided(evaluation, _by_guard(evaluation, Outcome.APPROVED, _worst(evaluation, left)))
    why = _why(evaluation, left)
    is_mild = evaluation.danger.danger.rank < Danger.DANGEROUS.rank
    if context.has_judge and is_mild and all(_may_judge(evaluation, at, context) for at in left):
        return AskJudge(evaluation, why)
    return AskHuman(evaluation, why)


def after_judge(asked: AskJudge, opinion: Opinion, context: DecisionContext) -> Decided | AskHuman:
    """Take the judge's opinion, tightening it: the result is never looser than what the judge said.

    Args:
        asked: What the judge was asked.
        opinion: What it said, or why it is silent.
        context: The snapshot of now, for the rules it may cite.

    Returns:
        Approval only for low risk, no manipulation and the guard class's own condition; a rejection only for critical
        risk; the human for everything else, failures included.
    """
    evaluation = asked.evaluation
    match opinion:
        case Silence():
            return AskHuman(evaluation, f"the judge is silent ({opinion.code}); {asked.why}", opinion=opinion)
        case Verdict() if context.judge_advises:
            return AskHuman(evaluation, f"the judge only advises; {asked.why}", opinion=opinion)
        case Verdict(choice=Choice.ALLOW, risk=Risk.LOW, manipulation=False):
            left = _left(evaluation, context)
            is_mild = evaluation.danger.danger.rank < Danger.DANGEROUS.rank
            if left and is_mild and all(_judge_may_allow(evaluation, at, opinion, context) for at in left):
                return Decided(evaluation, _by_judge(evaluation, opinion, Outcome.APPROVED))
            return AskHuman(evaluation, f"the judge may not allow this class alone; {asked.why}", opinion=opinion)
        case Verdict(choice=Choice.REJECT, risk=Risk.CRITICAL):
            return Decided(evaluation, _by_judge(evaluation, opinion, Outcome.DENIED))
        case Verdict():
            return AskHuman(evaluation, f"the judge escalates; {asked.why}", opinion=opinion)
        case _:
            assert_never(opinion)


def spare_judge(asked: AskJudge, why: str, *, opinion: Opinion | None = None) -> AskHuman:
    """Send what was open to the judge to the human: its opinion is not wanted, or no longer holds.

    Args:
        asked: What was open to it.
        why: Why it is not heard, in words for the human.
        opinion: What it said all the same, to be shown.
    """
    return AskHuman(asked.evaluation, f"{why}; {asked.why}", opinion=opinion)


def after_human(asked: AskHuman, reply: ReplyKind, *, note: str = "", via: str) -> Decided:
    """Take a person's answer. Final.

    Args:
        asked: The question.
        reply: What they answered.
        note: Their words, passed on to the agent.
        via: Through which interface.
    """
    said = f" with feedback: {note}" if note else ""
    match reply:
        case ReplyKind.ONCE | ReplyKind.ALWAYS:
            outcome, reason = Outcome.APPROVED, f"User approved this tool call{said or '.'}"
        case ReplyKind.REJECT:
            outcome, reason = Outcome.DENIED, f"User rejected this tool call{said or '.'}"
        case _:
            assert_never(reply)
    decision = Decision(outcome=outcome, stage=Stage.HUMAN, reason=reason, note=note, by=via)
    return Decided(asked.evaluation, _with_evidence(decision, asked.evaluation))


def nobody(evaluation: Evaluation | None, code: UndecidedCode, reason: str) -> Decision:
    """Give the denial of a request on which no rule, judge or person decided.

    Args:
        evaluation: What was found about the request; None when it never came to that.
        code: What ended it: it expired, was withdrawn, was malformed, was replayed, or the service failed.
        reason: The same in words, for the agent.
    """
    decision = Decision(outcome=Outcome.DENIED, stage=Stage.NOBODY, reason=reason, code=code)
    return decision if evaluation is None else _with_evidence(decision, evaluation)


# -- the steps, in order ---------------------------------------------------------------------------------------


def _recorded(evaluation: Evaluation) -> Decision | None:
    """Take stage one: a recorded deny is final; then critical units are denied; then rules that allow every unit."""
    for finding in evaluation.findings:
        if finding.speaks and finding.action is Action.DENY:
            return _by_rule(evaluation, Outcome.DENIED, finding)
    catastrophe = _catastrophe(evaluation)
    if catastrophe is not None:
        return _by_guard(evaluation, Outcome.DENIED, catastrophe)
    request = evaluation.request
    if evaluation.open or request.facts is None or request.floor:
        return None
    spoke = [
        finding
        for unit, finding in zip(evaluation.units, evaluation.findings, strict=True)
        if finding.speaks and not unit.auxiliary
    ]
    return _by_rule(evaluation, Outcome.APPROVED, spoke[0]) if spoke else None


def _catastrophe(evaluation: Evaluation) -> Assessment | None:
    """Give the first critical finding that no recorded rule without wildcards allows; None when there is none.

    Commands may be critical only together, none of them by itself. Then each primary unit must be allowed by such a
    rule, because no single unit stands for the danger.
    """
    critical = [at for at, danger in enumerate(evaluation.dangers) if danger.danger is Danger.CRITICAL]
    for at in critical:
        if not _is_named(evaluation, at):
            return evaluation.dangers[at]
    primary = [at for at, unit in enumerate(evaluation.units) if not unit.auxiliary]
    is_hidden = evaluation.danger.danger is Danger.CRITICAL and not critical
    return evaluation.danger if is_hidden and not all(_is_named(evaluation, at) for at in primary) else None


def _is_named(evaluation: Evaluation, at: int) -> bool:
    """Say whether a recorded rule without wildcards allows this unit.

    For a command that runs on another machine, such a rule for the command that takes it there counts too.
    """
    finding, unit = evaluation.findings[at], evaluation.units[at]
    if finding.action is Action.ALLOW and finding.rule is not None and finding.rule.is_exact:
        return True
    return unit.remote and 0 <= unit.carrier < at and _is_named(evaluation, unit.carrier)


def _human_only(evaluation: Evaluation) -> str:
    """Name the rule or default that keeps the request from session rules and judge; empty when none does."""
    for at in evaluation.open:
        finding = evaluation.findings[at]
        if finding.is_for_the_human:
            if finding.may_forbid:
                return f"what rule {rule_ref(finding.rule)} may forbid ({finding.note})"
            origin = finding.default.origin if finding.default else ""
            return f"rule ask {rule_ref(finding.rule)}" if finding.rule else f"the default at {origin}"
    return ""


def _session_rules(evaluation: Evaluation, context: DecisionContext) -> Decision | None:
    """Stage two: a noted rejection of the identical request, or grants that cover every open unit."""
    refused = context.taught.refusal(evaluation.request)
    if refused is not None:
        reason = f"User rejected this tool call with feedback: {refused.note}"
        return _by_taught(evaluation, Outcome.DENIED, refused, reason)
    granted = [_grant(evaluation, at, context) for at in evaluation.open]
    if not granted or any(one is None for one in granted):
        return None
    by_unit = {at: one for at, one in zip(evaluation.open, granted, strict=True) if one is not None}
    first = by_unit[evaluation.open[0]]
    said = f" with feedback: {first.note}" if first.note else "."
    reason = f"Approved by session rule {first.rule}{said}"
    return replace(
        _by_taught(evaluation, Outcome.APPROVED, first, reason),
        units=evaluation.evidence_with(by_unit),
    )


def _grant(evaluation: Evaluation, at: int, context: DecisionContext) -> RuleAnswer | None:
    """Give the grant for one open unit; a dangerous one has none, whatever was taught."""
    if evaluation.class_at(at).rank >= Danger.DANGEROUS.rank or evaluation.units[at].opaque:
        return None
    return context.taught.grant(evaluation.request, evaluation.units[at])


def _left(evaluation: Evaluation, context: DecisionContext) -> tuple[int, ...]:
    """Give the open units that no grant covers."""
    return tuple(at for at in evaluation.open if _grant(evaluation, at, context) is None)


def _is_free_read(evaluation: Evaluation, at: int) -> bool:
    """Say whether a unit is read-only and neither a rule nor the surface's own default asks about it."""
    finding = evaluation.findings[at]
    said = finding.rule is not None or finding.note or (finding.default and not is_every(finding.default.surface))
    return evaluation.class_at(at) is Danger.READ_ONLY and not said


def _may_judge(evaluation: Evaluation, at: int, context: DecisionContext) -> bool:
    """Say whether the guard lets a judge speak of a unit at all."""
    found = evaluation.class_at(at)
    match found:
        case Danger.READ_ONLY | Danger.ROUTINE:
            return True
        case Danger.RULED:
            return context.taught.is_any_citable(evaluation.request, evaluation.units[at])
        case Danger.DANGEROUS | Danger.CRITICAL:
            return False
        case _:
            assert_never(found)


def _judge_may_allow(evaluation: Evaluation, at: int, verdict: Verdict, context: DecisionContext) -> bool:
    """Say whether the class's own condition for a judge's allow holds for a unit."""
    found = evaluation.class_at(at)
    match found:
        case Danger.READ_ONLY | Danger.ROUTINE:
            return True
        case Danger.RULED:
            return context.taught.cites(evaluation.request, evaluation.units[at], verdict.rule)
        case Danger.DANGEROUS | Danger.CRITICAL:
            return False
        case _:
            assert_never(found)


def _worst(evaluation: Evaluation, among: Sequence[int]) -> Assessment:
    return max((evaluation.dangers[at] for at in among), key=lambda one: one.danger.rank, default=evaluation.danger)


def _why(evaluation: Evaluation, left: Sequence[int]) -> str:
    """Say why rules left the request open, by the first unit that they left open and no grant covers."""
    at = left[0]
    finding, unit = evaluation.findings[at], evaluation.units[at]
    what = f"{_quoted(unit.surface)} `{_quoted(unit.spellings[0] if unit.spellings else '')}`"
    if finding.note:
        return f"{what}: {finding.note}"
    if finding.rule is not None:
        return f"rule ask {rule_ref(finding.rule)}"
    return f"no rule covers {what}"


def _quoted(text: str) -> str:
    """Clip a requester's text and take out backticks, so that it cannot end the quotation it is put into.

    Nothing is lost by that: the prompt shows the whole text elsewhere.
    """
    begun = text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]}..."
    return begun.replace("`", "'")


# -- decisions with their evidence -----------------------------------------------------------------------------


def _with_evidence(decision: Decision, evaluation: Evaluation) -> Decision:
    return replace(decision, units=evaluation.evidence, ruleset=evaluation.version)


def _by_rule(evaluation: Evaluation, outcome: Outcome, finding: RuleFinding) -> Decision:
    rule = rule_ref(finding.rule)
    if outcome is Outcome.APPROVED:
        reason = f"Allowed by rule {rule}." if rule else "Allowed by the ruleset's default."
    else:
        own = f": {finding.rule.reason}" if finding.rule and finding.rule.reason else ""
        named = f"rule {rule}" if rule else "the ruleset's default"
        reason = f"Denied by {named}{own}. Other tool calls are judged on their own; no person was asked."
    return Decision(
        outcome=outcome,
        stage=Stage.RULE,
        reason=reason,
        rule=rule,
        by="" if rule else "default",
        units=evaluation.evidence,
        ruleset=evaluation.version,
    )


def _by_guard(evaluation: Evaluation, outcome: Outcome, danger: Assessment) -> Decision:
    if outcome is Outcome.APPROVED:
        reason = f"Allowed: {danger.reason}."
    else:
        reason = f"Refused outright ({danger.id}): {danger.reason}. No person was asked."
    return _with_evidence(Decision(outcome=outcome, stage=Stage.GUARD, reason=reason, by=danger.id), evaluation)


def _by_taught(evaluation: Evaluation, outcome: Outcome, taught: RuleAnswer, reason: str) -> Decision:
    decision = Decision(
        outcome=outcome, stage=Stage.SESSION_RULE, reason=reason, note=taught.note, rule=taught.rule, by=taught.by
    )
    return _with_evidence(decision, evaluation)


def _by_judge(evaluation: Evaluation, verdict: Verdict, outcome: Outcome) -> Decision:
    reason = "Allowed by the automatic judge." if outcome is Outcome.APPROVED else JUDGE_REJECTION
    return _with_evidence(Decision(outcome=outcome, stage=Stage.JUDGE, reason=reason, by=verdict.model), evaluation)

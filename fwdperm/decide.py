"""THE ORDER: recorded ruleset, inherited session rules, judge, and only then the one human.

Lives here: the stepper. `begin` gives `Decided`, `AskJudge` or `AskHuman`; `after_judge` gives `Decided` or `AskHuman`;
`after_human` gives `Decided`. The types enforce the order: the judge cannot be asked twice, the human cannot defer.
Pure: no clock, disk, network, environment or logging. Never here: matching, shell analysis, waiting.

Direction of every failure: deny, or the human. There is no path from a missing fact, a broken layer, an unknown
command or a silent judge to an approval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, assert_never

from fwdperm.guard import assess
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.judge.verdict import Choice, Opinion, Risk, Silence, Verdict
from fwdperm.rules.chain import resolve_chain
from fwdperm.rules.rule import Action, Finding, Rule
from fwdperm.rules.settled import settle
from fwdperm.rules.surface import is_every
from fwdperm.units.breakdown import breakdown
from fwdperm.wire.decision import Code, Decision, Outcome, RuleRef, Stage, UnitEvidence
from fwdperm.wire.prompt import ReplyKind
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fwdperm.guard import Surroundings
    from fwdperm.rules.ruleset import Ruleset
    from fwdperm.rules.unit import Unit
    from fwdperm.wire.request import Request

_REMEMBERED_CHARS: Final = 2_000
"""Characters of a text whose findings are remembered: what 512 of them take stays at a few megabytes."""

JUDGE_REJECTION = "The automatic judge rejected this tool call as too dangerous. A person did not see it."
"""All an agent hears of the judge's reasons: a specific one would make the judge an oracle."""


@dataclass(frozen=True, slots=True)
class Taught:
    """What a session rule says of a request or a unit.

    Attributes:
        rule: The session rule.
        note: The note that came with it; told to the agent.
        by: Who taught it.
    """

    rule: RuleRef
    note: str = ""
    by: str = ""


class SessionRules(Protocol):
    """What humans taught this requester's tree: stage two of the order."""

    def refusal(self, request: Request) -> Taught | None:
        """Give the noted rejection that covers the identical request, if there is one."""

    def grant(self, request: Request, unit: Unit) -> Taught | None:
        """Give the grant that covers this one unit, if there is one."""

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:
        """Say whether `rule` is a rule in force that may be cited for this unit."""

    def is_any_citable(self, request: Request, unit: Unit) -> bool:
        """Say whether any rule in force could be cited for this unit: else the judge need not be asked."""


class NothingTaught:
    """Session rules where nobody taught anything."""

    def refusal(self, request: Request) -> Taught | None:  # noqa: ARG002 - the protocol's shape
        """Give nothing."""
        return None

    def grant(self, request: Request, unit: Unit) -> Taught | None:  # noqa: ARG002 - the protocol's shape
        """Give nothing."""
        return None

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:  # noqa: ARG002 - the protocol's shape
        """Say no."""
        return False

    def is_any_citable(self, request: Request, unit: Unit) -> bool:  # noqa: ARG002 - the protocol's shape
        """Say no."""
        return False


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything the order reads beside the request: one snapshot.

    Attributes:
        chain: Composed rulesets along the parent chain, the requester's own first, the root's last. Never empty.
        surroundings: What the guard may take for the workspace, and what is sensitive.
        taught: What humans taught.
        has_judge: Whether a judge is configured and the mode lets it speak.
        judge_advises: Whether what it says is only shown to the human, and decides nothing.
    """

    chain: tuple[Ruleset, ...]
    surroundings: Surroundings
    taught: SessionRules
    has_judge: bool = False
    judge_advises: bool = False

    @property
    def version(self) -> str:
        """Names the ruleset snapshot in decisions: the versions along the chain."""
        return ".".join(dict.fromkeys(ruleset.version for ruleset in self.chain))


@dataclass(frozen=True, slots=True)
class Weighed:
    """A request with what was found for each of its units.

    Attributes:
        request: The request.
        units: Its units.
        findings: What the rulesets say, one per unit, after coverings.
        dangers: What the guard says, one per unit.
        danger: The guard's word on the whole.
        version: The ruleset snapshot.
    """

    request: Request
    units: tuple[Unit, ...]
    findings: tuple[Finding, ...]
    dangers: tuple[Assessment, ...]
    danger: Assessment
    version: str

    @property
    def evidence(self) -> tuple[UnitEvidence, ...]:
        """One line per unit that has something to say."""
        return self.evidence_with({})

    def evidence_with(self, granted: Mapping[int, Taught]) -> tuple[UnitEvidence, ...]:
        """Give the evidence; where a grant covers an open unit, the grant in place of what asked.

        Args:
            granted: Grants by the index of their unit.
        """
        lines = []
        for at, (unit, finding, danger) in enumerate(zip(self.units, self.findings, self.dangers, strict=True)):
            grant = granted.get(at)
            if not finding.speaks and danger.danger not in (Danger.DANGEROUS, Danger.CRITICAL):
                continue
            made = UnitEvidence(
                surface=unit.surface,
                text=unit.spellings[0] if unit.spellings else "",
                action=str(finding.action) if finding.speaks else "-",
                rule=ref(finding.rule),
                danger=str(danger.danger),
                guard_id=danger.id,
                note=finding.note,
                stands=unit.stands,
            )
            if grant is not None:
                made = replace(made, action=str(Action.ALLOW), rule=grant.rule)
            lines.append(made)
        return tuple(lines)

    def class_at(self, at: int) -> Danger:
        """Give the class a unit counts as: its own, or that of the whole where no unit alone explains it."""
        together = self.danger.danger
        worst = max((one.danger.rank for one in self.dangers), default=together.rank)
        return together if together.rank > worst else self.dangers[at].danger

    @property
    def open(self) -> tuple[int, ...]:
        """Indices of the units that the rulesets left open."""
        return tuple(at for at, found in enumerate(self.findings) if found.speaks and found.action is Action.ASK)


@dataclass(frozen=True, slots=True)
class Decided:
    """The end of the way."""

    weighed: Weighed
    decision: Decision

    @property
    def is_approved(self) -> bool:
        """Say whether the requester may go ahead."""
        return self.decision.outcome is Outcome.APPROVED


@dataclass(frozen=True, slots=True)
class AskJudge:
    """Rules and session rules left it open, and the guard lets a judge speak of it."""

    weighed: Weighed
    why: str


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Only a person can say.

    Attributes:
        weighed: The request with its findings.
        why: Why it got here, in words for the prompt.
        only_human: True when a rule keeps it from session rules and judge: no *always* is offered.
        opinion: What the judge said, if it was asked.
    """

    weighed: Weighed
    why: str
    only_human: bool = False
    opinion: Opinion | None = None

    @property
    def may_teach(self) -> bool:
        """Say whether an *always* may be offered: never for dangerous units, only-human asks or missing facts."""
        facts = self.weighed.request.facts is not None and not self.weighed.request.floor
        return facts and not self.only_human and self.weighed.danger.danger.rank < Danger.DANGEROUS.rank


def weigh(request: Request, standing: Standing) -> Weighed:
    """Find what the rulesets and the guard say of every unit of a request. Decides nothing."""
    found = [_found(facts, standing.chain, standing.surroundings) for facts in _texts(request)]
    return Weighed(
        request=request,
        units=tuple(unit for one in found for unit in one.units),
        findings=tuple(finding for one in found for finding in one.findings),
        dangers=tuple(danger for one in found for danger in one.dangers),
        danger=max((one.danger for one in found), key=lambda assessment: assessment.danger.rank),
        version=standing.version,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found for one text of a request."""

    units: tuple[Unit, ...]
    findings: tuple[Finding, ...]
    dangers: tuple[Assessment, ...]
    danger: Assessment


def _found(facts: Facts, chain: tuple[Ruleset, ...], surroundings: Surroundings) -> _Found:
    """Find what is to be found for one text; short ones are remembered, because agents ask the same again and again."""
    short = sum(map(len, facts.values)) <= _REMEMBERED_CHARS
    return _look_up(facts, chain, surroundings) if short else _look_up.__wrapped__(facts, chain, surroundings)


@lru_cache(maxsize=512)
def _look_up(facts: Facts, chain: tuple[Ruleset, ...], surroundings: Surroundings) -> _Found:
    """The same facts, rulesets and surroundings always give the same: everything here is pure."""
    part = breakdown(facts)
    danger, dangers = assess(facts, part, surroundings)
    settled = settle(part.units, [resolve_chain(chain, unit) for unit in part.units])
    return _Found(part.units, settled.findings, dangers, danger)


def begin(request: Request, standing: Standing) -> Decided | AskJudge | AskHuman:
    """Take a request through the recorded rulesets and the session rules.

    Args:
        request: What is asked. Without usable facts it can be denied here, or go to the human; never be approved.
        standing: The snapshot to decide against.

    Returns:
        The decision, or who must be asked next.
    """
    weighed = weigh(request, standing)
    final = _recorded(weighed)
    if final is not None:
        return Decided(weighed, final)
    if request.facts is None or request.floor:
        return AskHuman(weighed, f"{request.floor}, so a person must look")
    kept = _human_only(weighed)
    if kept:
        return AskHuman(weighed, f"{kept} is for a person alone", only_human=True)
    taught = _session_rules(weighed, standing)
    if taught is not None:
        return Decided(weighed, taught)
    left = _left(weighed, standing)
    if not left:
        return AskHuman(weighed, "nothing in it can be ruled on")
    if all(_is_free_read(weighed, at) for at in left):
        return Decided(weighed, _by_guard(weighed, Outcome.APPROVED, _worst(weighed, left)))
    why = _why(weighed, left)
    is_mild = weighed.danger.danger.rank < Danger.DANGEROUS.rank
    if standing.has_judge and is_mild and all(_may_judge(weighed, at, standing) for at in left):
        return AskJudge(weighed, why)
    return AskHuman(weighed, why)


def after_judge(asked: AskJudge, opinion: Opinion, standing: Standing) -> Decided | AskHuman:
    """Take the judge's opinion, tightening it: the result is never looser than what the judge said.

    Args:
        asked: What the judge was asked.
        opinion: What it said, or why it is silent.
        standing: The snapshot of now, for the rules it may cite.

    Returns:
        Approval only for low risk, no manipulation and the guard class's own condition; a rejection only for critical
        risk; the human for everything else, failures included.
    """
    weighed = asked.weighed
    match opinion:
        case Silence():
            return AskHuman(weighed, f"the judge is silent ({opinion.code}); {asked.why}", opinion=opinion)
        case Verdict() if standing.judge_advises:
            return AskHuman(weighed, f"the judge only advises; {asked.why}", opinion=opinion)
        case Verdict(choice=Choice.ALLOW, risk=Risk.LOW, manipulation=False):
            left = _left(weighed, standing)
            is_mild = weighed.danger.danger.rank < Danger.DANGEROUS.rank
            if left and is_mild and all(_judge_may_allow(weighed, at, opinion, standing) for at in left):
                return Decided(weighed, _by_judge(weighed, opinion, Outcome.APPROVED))
            return AskHuman(weighed, f"the judge may not allow this class alone; {asked.why}", opinion=opinion)
        case Verdict(choice=Choice.REJECT, risk=Risk.CRITICAL):
            return Decided(weighed, _by_judge(weighed, opinion, Outcome.DENIED))
        case Verdict():
            return AskHuman(weighed, f"the judge escalates; {asked.why}", opinion=opinion)
        case _:
            assert_never(opinion)


def spare_judge(asked: AskJudge, why: str, *, opinion: Opinion | None = None) -> AskHuman:
    """Send what was open to the judge to the human: its opinion is not wanted, or no longer holds.

    Args:
        asked: What was open to it.
        why: Why it is not heard, in words for the human.
        opinion: What it said all the same, to be shown.
    """
    return AskHuman(asked.weighed, f"{why}; {asked.why}", opinion=opinion)


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
    return Decided(asked.weighed, _with_evidence(decision, asked.weighed))


def nobody(weighed: Weighed | None, code: Code, reason: str) -> Decision:
    """Give the denial that nobody made: expired, withdrawn, unavailable, malformed, replayed, our own fault."""
    decision = Decision(outcome=Outcome.DENIED, stage=Stage.NOBODY, reason=reason, code=code)
    return decision if weighed is None else _with_evidence(decision, weighed)


@lru_cache(maxsize=1024)
def ref(rule: Rule | None) -> RuleRef | None:
    """Give a recorded rule in its flat form."""
    if rule is None:
        return None
    return RuleRef(rule.surface, rule.pattern, str(rule.action), str(rule.origin), str(rule.origin.kind))


# -- the steps, in order ---------------------------------------------------------------------------------------


def _texts(request: Request) -> list[Facts]:
    """Give the facts, and every other text in the request that shows what would run: `deny` looks at all of them."""
    if request.facts is not None:
        others = request.evidence if request.facts.surface == "bash" else ()
        return [request.facts, *(replace(request.facts, values=(text,)) for text in others)]
    shown = tuple(dict.fromkeys(text for text in (request.value, *request.evidence) if text)) or ("",)
    return [Facts(surface=request.surface, values=(text,)) for text in shown]


def _recorded(weighed: Weighed) -> Decision | None:
    """Stage one: a recorded deny is final, then certain catastrophe, then an allow of everything."""
    for finding in weighed.findings:
        if finding.speaks and finding.action is Action.DENY:
            return _by_rule(weighed, Outcome.DENIED, finding)
    for at, danger in enumerate(weighed.dangers):
        if danger.danger is Danger.CRITICAL and not _is_named(weighed.findings[at]):
            return _by_guard(weighed, Outcome.DENIED, danger)
    request = weighed.request
    if weighed.open or request.facts is None or request.floor:
        return None
    spoke = [
        finding
        for unit, finding in zip(weighed.units, weighed.findings, strict=True)
        if finding.speaks and not unit.auxiliary
    ]
    return _by_rule(weighed, Outcome.APPROVED, spoke[0]) if spoke else None


def _is_named(finding: Finding) -> bool:
    """Say whether a recorded rule without wildcards allows exactly this: the operator meant it."""
    return finding.action is Action.ALLOW and finding.rule is not None and finding.rule.is_exact


def _human_only(weighed: Weighed) -> str:
    """Give what keeps the request from session rules and judge, in words; empty when nothing does."""
    for at in weighed.open:
        finding = weighed.findings[at]
        if finding.is_for_the_human:
            origin = finding.default.origin if finding.default else ""
            return f"rule ask {ref(finding.rule)}" if finding.rule else f"the default at {origin}"
    return ""


def _session_rules(weighed: Weighed, standing: Standing) -> Decision | None:
    """Stage two: a noted rejection of the identical request, or grants that cover every open unit."""
    refused = standing.taught.refusal(weighed.request)
    if refused is not None:
        reason = f"User rejected this tool call with feedback: {refused.note}"
        return _by_taught(weighed, Outcome.DENIED, refused, reason)
    granted = [_grant(weighed, at, standing) for at in weighed.open]
    if not granted or any(one is None for one in granted):
        return None
    by_unit = {at: one for at, one in zip(weighed.open, granted, strict=True) if one is not None}
    first = by_unit[weighed.open[0]]
    said = f" with feedback: {first.note}" if first.note else "."
    reason = f"Approved by session rule {first.rule}{said}"
    return replace(
        _by_taught(weighed, Outcome.APPROVED, first, reason),
        units=weighed.evidence_with(by_unit),
    )


def _grant(weighed: Weighed, at: int, standing: Standing) -> Taught | None:
    """Give the grant for one open unit; a dangerous one has none, whatever was taught."""
    if weighed.class_at(at).rank >= Danger.DANGEROUS.rank or weighed.units[at].opaque:
        return None
    return standing.taught.grant(weighed.request, weighed.units[at])


def _left(weighed: Weighed, standing: Standing) -> tuple[int, ...]:
    """Give the open units that no grant covers."""
    return tuple(at for at in weighed.open if _grant(weighed, at, standing) is None)


def _is_free_read(weighed: Weighed, at: int) -> bool:
    """Say whether a unit is read-only and neither a rule nor the surface's own default asks about it."""
    finding = weighed.findings[at]
    said = finding.rule is not None or finding.note or (finding.default and not is_every(finding.default.surface))
    return weighed.class_at(at) is Danger.READ_ONLY and not said


def _may_judge(weighed: Weighed, at: int, standing: Standing) -> bool:
    """Say whether the guard lets a judge speak of a unit at all."""
    found = weighed.class_at(at)
    match found:
        case Danger.READ_ONLY | Danger.ROUTINE:
            return True
        case Danger.RULED:
            return standing.taught.is_any_citable(weighed.request, weighed.units[at])
        case Danger.DANGEROUS | Danger.CRITICAL:
            return False
        case _:
            assert_never(found)


def _judge_may_allow(weighed: Weighed, at: int, verdict: Verdict, standing: Standing) -> bool:
    """Say whether the class's own condition for a judge's allow holds for a unit."""
    found = weighed.class_at(at)
    match found:
        case Danger.READ_ONLY | Danger.ROUTINE:
            return True
        case Danger.RULED:
            return standing.taught.cites(weighed.request, weighed.units[at], verdict.rule)
        case Danger.DANGEROUS | Danger.CRITICAL:
            return False
        case _:
            assert_never(found)


def _worst(weighed: Weighed, among: Sequence[int]) -> Assessment:
    return max((weighed.dangers[at] for at in among), key=lambda one: one.danger.rank, default=weighed.danger)


def _why(weighed: Weighed, left: Sequence[int]) -> str:
    """Say which unit got it here and why."""
    at = left[0]
    finding, unit = weighed.findings[at], weighed.units[at]
    shown = unit.spellings[0] if unit.spellings else ""
    if finding.note:
        return f"{unit.surface} `{shown}`: {finding.note}"
    if finding.rule is not None:
        return f"rule ask {ref(finding.rule)}"
    return f"no rule covers {unit.surface} `{shown}`"


# -- decisions with their evidence -----------------------------------------------------------------------------


def _with_evidence(decision: Decision, weighed: Weighed) -> Decision:
    return replace(decision, units=weighed.evidence, ruleset=weighed.version)


def _by_rule(weighed: Weighed, outcome: Outcome, finding: Finding) -> Decision:
    rule = ref(finding.rule)
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
        units=weighed.evidence,
        ruleset=weighed.version,
    )


def _by_guard(weighed: Weighed, outcome: Outcome, danger: Assessment) -> Decision:
    if outcome is Outcome.APPROVED:
        reason = f"Allowed: {danger.reason}."
    else:
        reason = f"Refused outright ({danger.id}): {danger.reason}. No person was asked."
    return _with_evidence(Decision(outcome=outcome, stage=Stage.GUARD, reason=reason, by=danger.id), weighed)


def _by_taught(weighed: Weighed, outcome: Outcome, taught: Taught, reason: str) -> Decision:
    decision = Decision(
        outcome=outcome, stage=Stage.SESSION_RULE, reason=reason, note=taught.note, rule=taught.rule, by=taught.by
    )
    return _with_evidence(decision, weighed)


def _by_judge(weighed: Weighed, verdict: Verdict, outcome: Outcome) -> Decision:
    reason = "Allowed by the automatic judge." if outcome is Outcome.APPROVED else JUDGE_REJECTION
    return _with_evidence(Decision(outcome=outcome, stage=Stage.JUDGE, reason=reason, by=verdict.model), weighed)

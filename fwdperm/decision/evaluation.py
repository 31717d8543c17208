"""What the rulesets and the guard find for every unit of a request, before anything is decided.

Lives here: `Evaluation` and `evaluate`. Pure. Never here: the order in which findings count (`order.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain as chained
from typing import TYPE_CHECKING, Final

from fwdperm.decision.settled import settle
from fwdperm.guard import Assessment, Danger, assess
from fwdperm.rules import Action, Rule, RuleFinding, resolve_chain
from fwdperm.units import break_down
from fwdperm.wire import Facts, RuleRef, UnitEvidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fwdperm.decision.context import DecisionContext, RuleAnswer
    from fwdperm.guard import Surroundings
    from fwdperm.rules import Ruleset, Unit
    from fwdperm.wire import Request

_REMEMBERED_CHARS: Final = 2_000
"""The most characters that the texts of one request may have together for its findings to be cached.
The cache keeps 512 requests; with this limit that is a few megabytes."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A request with what was found for each of its units.

    Attributes:
        request: The request.
        units: Its units.
        findings: What the rulesets say, one per unit, after the consent to a carrier was applied (`settled.py`).
        dangers: The guard's class of each unit, in the same order.
        danger: The guard's class of the request as a whole; it may be worse than that of every unit.
        version: Names the rulesets it was evaluated against.
    """

    request: Request
    units: tuple[Unit, ...]
    findings: tuple[RuleFinding, ...]
    dangers: tuple[Assessment, ...]
    danger: Assessment
    version: str
    _is_lifted: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find out whether the request as a whole is of a worse class than each of its primary units.

        That is so for `curl ... | sh`: only together are the two dangerous. It is found out once, because `class_at` is
        called for each unit, and a command line may have ten thousand.
        """
        own = (one.danger.rank for unit, one in zip(self.units, self.dangers, strict=True) if not unit.auxiliary)
        worst = max(own, default=self.danger.danger.rank)
        object.__setattr__(self, "_is_lifted", self.danger.danger.rank > worst)

    @property
    def evidence(self) -> tuple[UnitEvidence, ...]:
        """What goes on record: one entry per unit that a rule or default spoke of, or that is dangerous or worse."""
        return self.evidence_with({})

    def evidence_with(self, granted: Mapping[int, RuleAnswer]) -> tuple[UnitEvidence, ...]:
        """Give the evidence, naming for each granted unit the grant that allows it and not the rule that asked.

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
                rule=rule_ref(finding.rule),
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
        """Give the class that a unit is treated as: its own, or that of the whole request where that is worse.

        Where only several commands together are dangerous, none of them may be granted or judged by itself.
        """
        return self.danger.danger if self._is_lifted else self.dangers[at].danger

    @property
    def open(self) -> tuple[int, ...]:
        """Indices of the units that the rulesets left open."""
        return tuple(at for at, found in enumerate(self.findings) if found.speaks and found.action is Action.ASK)


def evaluate(request: Request, context: DecisionContext) -> Evaluation:
    """Find what the rulesets and the guard say of every unit of a request. Decides nothing."""
    found = [_found(facts, context.chain, context.surroundings) for facts in _texts(request)]
    return Evaluation(
        request=request,
        units=tuple(_joined(found)),
        findings=tuple(finding for one in found for finding in one.findings),
        dangers=tuple(danger for one in found for danger in one.dangers),
        danger=max((one.danger for one in found), key=lambda assessment: assessment.danger.rank),
        version=context.version,
    )


def _joined(found: list[_TextEvaluation]) -> Iterator[Unit]:
    """Give the units of all texts in one row.

    `Unit.carrier` is an index among the units of its own text, so it is moved on by the number of units before.
    """
    before = 0
    for one in found:
        for unit in one.units:
            yield replace(unit, carrier=unit.carrier + before) if before and unit.carrier >= 0 else unit
        before += len(one.units)


@dataclass(frozen=True, slots=True)
class _TextEvaluation:
    """What was found for one text of a request."""

    units: tuple[Unit, ...]
    findings: tuple[RuleFinding, ...]
    dangers: tuple[Assessment, ...]
    danger: Assessment


def _found(facts: Facts, chain: tuple[Ruleset, ...], surroundings: Surroundings) -> _TextEvaluation:
    """Evaluate one text of a request; short ones come from a cache, because agents ask the same again and again."""
    texts = (*facts.values, facts.cwd, facts.home, facts.canonical, *chained.from_iterable(facts.canonical_operands))
    short = sum(map(len, texts)) <= _REMEMBERED_CHARS
    return _look_up(facts, chain, surroundings) if short else _look_up.__wrapped__(facts, chain, surroundings)


@lru_cache(maxsize=512)
def _look_up(facts: Facts, chain: tuple[Ruleset, ...], surroundings: Surroundings) -> _TextEvaluation:
    """Evaluate one text. The result may be cached: everything called here depends on the three arguments alone."""
    part = break_down(facts)
    danger, dangers = assess(facts, part, surroundings)
    settled = settle(part.units, [resolve_chain(chain, unit) for unit in part.units])
    return _TextEvaluation(part.units, settled.findings, dangers, danger)


@lru_cache(maxsize=1024)
def rule_ref(rule: Rule | None) -> RuleRef | None:
    """Give a recorded rule in the form in which decisions name it: surface, pattern, action and origin as texts."""
    if rule is None:
        return None
    return RuleRef(rule.surface, rule.pattern, str(rule.action), str(rule.origin), str(rule.origin.kind))


def _texts(request: Request) -> list[Facts]:
    """Give each text of the request that may show what would run, as facts of its own; never an empty list.

    Beside the facts these are the texts that a requester shows to people. They may differ from the facts, so a `deny`
    that matches any of them counts.
    """
    if request.facts is not None:
        others = request.evidence if request.facts.surface == "bash" else ()
        return [request.facts, *(replace(request.facts, values=(text,)) for text in others)]
    shown = tuple(dict.fromkeys(text for text in (request.value, *request.evidence) if text)) or ("",)
    return [Facts(surface=request.surface, values=(text,)) for text in shown]

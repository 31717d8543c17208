"""What the rules say of a whole request, from what they say of each unit.

Lives here: `settle` and `Settled`. Pure. Never here: what is done with an ask (`order.py`), which rule matches one unit
(`ruleset.py`, `chain.py`).

The strictest finding decides. Before that, a unit that only a default or a catch-all `"*" = "ask"` speaks of may be
allowed by the rule that allows the command which carries it: who allows `npx *` means the tools that `npx` runs, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fwdperm.rules import Action, Rule, RuleFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.rules import Unit

_SHELL_MARKS: Final = re.compile(r"[\s'\"`();&|${}<>]+")
"""What separates the words of a command line: blanks, quotes and operators, as in `cd 'a' && (ls)`."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What the rules say of a request.

    Attributes:
        action: The strictest over all units.
        deciding: Index of the unit the action comes from: the first denied one, else the first that asks, else the
            first primary unit that is allowed; -1 when no rule speaks of a primary unit, and then the action is ask.
        findings: One per unit. Where the rule for a carrier allows a unit, the finding is an allow whose note names
            that rule.
    """

    action: Action
    deciding: int
    findings: tuple[RuleFinding, ...]

    @property
    def finding(self) -> RuleFinding:
        """The deciding finding."""
        if self.deciding < 0:
            return RuleFinding(Action.ASK, note="nothing in the request can be ruled on")
        return self.findings[self.deciding]


def settle(units: Sequence[Unit], findings: Sequence[RuleFinding]) -> Settled:
    """Work out the finding on a whole request from the findings on its units.

    Args:
        units: The units of a breakdown, a carrier before what it carries.
        findings: What `resolve_chain` says of each, in the same order.

    Returns:
        What they come to, and the unit that decides.

    Raises:
        ValueError: There are not as many findings as units.
    """
    settled: list[RuleFinding] = []
    for unit, finding in zip(units, findings, strict=True):
        carrier = settled[unit.carrier] if 0 <= unit.carrier < len(settled) else None
        settled.append(_cover(unit, finding, carrier=carrier))
    for action in (Action.DENY, Action.ASK):
        for place, finding in enumerate(settled):
            if finding.speaks and finding.action is action:
                return Settled(action, place, tuple(settled))
    allowed = [place for place, finding in enumerate(settled) if finding.speaks]
    primary = [place for place in allowed if not units[place].auxiliary]
    if not primary:
        return Settled(Action.ASK, -1, tuple(settled))
    return Settled(Action.ALLOW, primary[0], tuple(settled))


def _cover(unit: Unit, finding: RuleFinding, *, carrier: RuleFinding | None) -> RuleFinding:
    """Give an allow in place of an ask that nobody wrote for this unit, where the rule for its carrier is meant for it.

    Fails towards the ask: the finding comes back as it was unless one of the three cases holds.
    """
    if carrier is None or carrier.action is not Action.ALLOW or not carrier.speaks:
        return finding
    consent = carrier.rule
    if consent is None or consent.action is not Action.ALLOW:
        return finding
    if finding.action is not Action.ASK or finding.is_for_the_human:
        return finding
    # A bare `*` is meant for every command: also for the files and globs that belong to it.
    is_unruled = finding.rule is None and finding.note in {"", unit.opaque}
    if is_unruled and consent.is_bare_star and _is_part_of_its_carrier(unit):
        return _covered(finding, consent, f"part of a command that `*` allows ({consent.origin})")
    is_unmeant = not finding.note and (finding.rule is None or _is_catch_all(finding.rule))
    # A runner: who allows `npx *` means the `eslint` that it runs.
    if is_unmeant and unit.consented and not unit.opaque:
        return _covered(finding, consent, f"run by a command that `{consent.pattern}` ({consent.origin}) allows")
    # The pattern names both: `sudo apt *` allows the `apt` behind `sudo`.
    if is_unmeant and unit.program and not unit.opaque and unit.program in named_words(consent):
        return _covered(finding, consent, f"`{consent.pattern}` ({consent.origin}) names `{unit.program}`")
    return finding


def _is_part_of_its_carrier(unit: Unit) -> bool:
    """Say whether a unit is a file of the command that carries it, not a further command.

    That is a redirect's target, or a path with a glob: of a glob, every rule that some matching name could fall under
    was tried already.
    """
    return (unit.surface == "write" and unit.stands in {"redirect", "canonical"}) or (unit.auxiliary and unit.glob)


def _is_catch_all(rule: Rule) -> bool:
    return rule.is_bare_star and rule.action is Action.ASK


def _covered(finding: RuleFinding, consent: Rule, note: str) -> RuleFinding:
    return replace(finding, action=Action.ALLOW, rule=consent, spelling="", note=note, default=None)


def named_words(rule: Rule) -> frozenset[str]:
    """Return the words of a rule's pattern that have no wildcard in them.

    A pattern without any wildcard is one whole command line that a person read, so it is also split at quotes and
    operators: `sh -c 'make check'` names `make`.
    """
    if rule.is_exact:
        return frozenset(filter(None, _SHELL_MARKS.split(rule.pattern))) | frozenset(rule.pattern.split())
    return frozenset(word for word in rule.pattern.split() if "*" not in word and "?" not in word)

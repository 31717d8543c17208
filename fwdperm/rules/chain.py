"""Rulesets along the chain of sessions, from the one that asks up to the root.

Lives here: `resolve_chain`. Pure. Never here: one ruleset (`ruleset.py`), the whole request (`decision/settled.py`),
who is whose parent.

A child's ruleset may loosen what its parent asks, never what any ancestor denies or keeps for the human.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fwdperm.rules.rule import Action, RuleFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.rules.ruleset import Ruleset
    from fwdperm.rules.unit import Unit


def resolve_chain(chain: Sequence[Ruleset], unit: Unit) -> RuleFinding:
    """Say what all rulesets of a chain together say of one unit.

    Args:
        chain: The rulesets, that of the asking session first, the root's last.
        unit: What must be permitted.

    Returns:
        A denial if any ruleset denies; else the ask of any that only the human may answer; else what the nearest
        ruleset says in which a rule matched; else the nearest default. While any ruleset of the chain
        holds a layer that cannot be read, an allow is an ask and the note says so. An empty chain asks.
    """
    findings = [ruleset.resolve(unit) for ruleset in chain]
    spoken = [finding for finding in findings if finding.speaks]
    if not spoken:
        return findings[0] if findings else RuleFinding(Action.ASK, note="no ruleset is recorded")
    found = (
        next((finding for finding in spoken if finding.action is Action.DENY), None)
        or next((finding for finding in spoken if finding.is_for_the_human), None)
        or next((finding for finding in spoken if finding.rule is not None), None)
        or spoken[0]
    )
    broken = next((ruleset.broken for ruleset in chain if ruleset.broken), "")
    is_clamped = found.action is Action.ALLOW or (found.action is Action.ASK and found.rule is None)
    if broken and is_clamped:
        return replace(found, action=Action.ASK, note=broken)
    return found

"""Which of all session rules hold for one request: those of its own session and of the sessions above it.

Lives here: `ChainStep` (one session of a parent chain) and `SessionRulesView`. Pure. Never here: how a chain is found,
what time it is.

A grant or note holds only for sessions that are facts: the inbox a request lay in, and the sessions on record above it.
A claimed name is enough for a refusal, because a refusal makes nothing looser. In doubt a rule is not in force.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from fwdperm.decision import RuleAnswer
from fwdperm.journal import digest_of_values
from fwdperm.session_rules.project import NO_PROJECT, ProjectGrants
from fwdperm.session_rules.values import Anchor, Grant, Guidance, Refusal, SessionRule, likeness_of
from fwdperm.wire import RuleRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.rules import Unit
    from fwdperm.session_rules.fold import RulesFold
    from fwdperm.session_rules.grants import SessionKey
    from fwdperm.wire import Request


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One session of a requester's parent chain, the requester itself first.

    Attributes:
        session: Its id.
        inbox: The inbox it asks in: for the requester the one its file lay in, above it the recorded parent's; empty
            when nothing is on record.
        run: When it was started on record, epoch milliseconds; 0 for one that was not, and for a requester without
            proof.
        is_fact: False for what is only claimed: an unproven requester, and whatever a claimed edge leads to.
        is_over: True for a recorded session that has ended: what hung on it ended too.
    """

    session: str
    inbox: str = ""
    run: int = 0
    is_fact: bool = False
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class SessionRulesView:
    """The session rules of one request at one moment. Implements `decision.SessionRules`.

    Attributes:
        fold: Everything taught.
        chain: The request's parent chain, the requester first. Never empty.
        now_ms: Now on the clock that is never set back, epoch milliseconds.
        until: Number of the last journal line whose notes the judge may read in this turn.
        project: What the files of the request's project grant.
    """

    fold: RulesFold
    chain: tuple[ChainStep, ...]
    now_ms: int
    until: int = 0
    project: ProjectGrants = NO_PROJECT

    # -- the order's questions ---------------------------------------------------------------------------------

    def refusal(self, request: Request) -> RuleAnswer | None:
        """Give the noted rejection that covers the identical request, newest first."""
        if request.facts is None:
            return None
        facts = request.facts
        like = likeness_of(facts.surface, digest_of_values(facts.values), facts.cwd)
        for rule in reversed(self.fold.refusals.get(like, {}).values()):
            if self._forbids(rule):
                return _taught(rule, facts.surface, rule.shown, "deny")
        return None

    def grant(self, request: Request, unit: Unit) -> RuleAnswer | None:  # noqa: ARG002 - the protocol's shape
        """Give the newest grant that covers this one unit, from the requester up."""
        for place in self._places():
            for rule in self.fold.grants.matches(place, surface=unit.surface, spellings=unit.spellings):
                if self.is_in_force(rule):
                    return _taught(rule, rule.surface, rule.pattern, "allow")
        own = self.project.covering(unit, now_ms=self.now_ms)
        return _taught(own, own.surface, own.pattern, "allow") if own is not None else None

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:  # noqa: ARG002 - the protocol's shape
        """Say whether `rule` is an approval in force that speaks of the unit's surface."""
        found = self.fold.rules.get(rule)
        match found:
            case Guidance():
                return unit.surface in found.surfaces and self.is_in_force(found)
            case Grant():
                return unit.surface == found.surface and self.is_in_force(found)
            case _:
                return False

    def is_any_citable(self, request: Request, unit: Unit) -> bool:  # noqa: ARG002 - the protocol's shape
        """Say whether any note on an approval in force speaks of the unit's surface."""
        return any(
            self.is_in_force(rule) for place in self._places() for rule in self.fold.guidance_on(place, unit.surface)
        )

    # -- what holds --------------------------------------------------------------------------------------------

    def is_in_force(self, rule: SessionRule) -> bool:
        """Say whether a rule holds for this request now."""
        if isinstance(rule, Refusal):
            return self._forbids(rule)
        return not rule.has_expired(self.now_ms) and self._reaches(rule.anchor)

    def newest(self, most: int) -> list[SessionRule]:
        """Give the newest rules that hold for this request and that the judge may read in this turn.

        A rule that was revoked or has expired is gone at once, inside a turn too.
        """
        hanging = [self.fold.hanging_on(place) for place in self._places(names=True)]
        rules = merge(*hanging, key=_seq, reverse=True)
        return list(islice((rule for rule in rules if rule.seq <= self.until and self.is_in_force(rule)), most))

    def _places(self, *, names: bool = False) -> Iterator[SessionKey]:
        """Give the keys of the rules to look at, from the requester up; with `names` also for merely claimed sessions.

        This only narrows the search: `is_in_force` is asked about every rule that is found.
        """
        seen = set()
        for depth, step in enumerate(self.chain):
            if not (step.is_fact or names or depth == 0):
                continue
            for place in ((step.inbox, step.session), ("", step.session)):
                if place not in seen:
                    seen.add(place)
                    yield place

    def _reaches(self, anchor: Anchor) -> bool:
        """Say whether a rule with this anchor holds for this request: its session is on the chain, and is the same."""
        return any(
            step.session == anchor.session and _is_at(anchor, step, is_requester=depth == 0)
            for depth, step in enumerate(self.chain)
        )

    def _forbids(self, rule: Refusal) -> bool:
        """Say whether a refusal holds: for the session it was told to and those below it, known by name alone.

        A session of that name that was started later is not the one it was told to.
        """
        anchor = rule.anchor
        return not rule.has_expired(self.now_ms) and any(
            step.session == anchor.session and not 0 < anchor.run < step.run for step in self.chain
        )


def _is_at(anchor: Anchor, step: ChainStep, *, is_requester: bool) -> bool:
    """Say whether a step of the chain is the very session an anchor names, and not another one of its name."""
    if step.is_over or anchor.run != step.run:
        return False
    if not anchor.inbox:  # hangs on an inbox's session: a claimed name is not enough
        return step.is_fact
    if step.inbox != anchor.inbox:
        return False
    # It hangs on a requester. That is this one, or one that started this one and is on record.
    return is_requester or (step.is_fact and step.run > 0)


def _seq(rule: SessionRule) -> int:
    return rule.seq


def _taught(rule: SessionRule, surface: str, pattern: str, action: str) -> RuleAnswer:
    answer = f"answer to {rule.inbox}/{rule.request}" if rule.request else f"granted by {rule.by}"
    origin = f"{rule.id}, {answer}, for {rule.anchor}"
    return RuleAnswer(RuleRef(surface, pattern, action, origin, "session", rule.id), rule.note, rule.by)


def places_of(chain: Sequence[ChainStep]) -> list[str]:
    """Give the sessions above the requester that a grant may hang on, nearest first: up to the first mere claim."""
    found = []
    for step in chain[1:]:
        if not step.is_fact:
            break
        found.append(step.session)
    return found

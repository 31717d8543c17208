"""What an *always* would teach: checked against its own request before anything is recorded.

Lives here: `proposal_of`, `Proposal`, `anchor_for`. Pure. Never here: recording it.

Direction of every failure: an `Objection` in words. Nothing is recorded then, and nothing is answered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from fwdperm.decision import Decided, DecisionContext, RuleAnswer, begin
from fwdperm.guard import Danger
from fwdperm.rules import Wildcard
from fwdperm.session_rules.values import REQUESTER, SUBTREE, TREE, Anchor
from fwdperm.session_rules.view import places_of
from fwdperm.wire import Outcome, ReplyKind, RuleRef, Scope, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fwdperm.decision import AskHuman, Evaluation, SessionRules
    from fwdperm.rules import Unit
    from fwdperm.session_rules.view import ChainStep
    from fwdperm.wire import Reply, Request

Pair: TypeAlias = "tuple[str, str]"
"""(surface, pattern)."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a reply teaches beside its note.

    Attributes:
        grants: (surface, pattern) of each grant, in order; empty for anything but *always*.
        anchor: Where they hold; None for the project, and for anything but *always*.
        surfaces: The surfaces of the units that were asked about.
        run: When the requester was started, epoch milliseconds, as recorded; 0 for a requester without proof.
        expires_at: When the grants end, epoch milliseconds; 0 for the session's life.
        for_project: True when the grants go to the project's file instead.
    """

    grants: tuple[Pair, ...] = ()
    anchor: Anchor | None = None
    surfaces: tuple[str, ...] = ()
    run: int = 0
    expires_at: int = 0
    for_project: bool = False


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a reply teaches nothing and is not taken, and what to do instead."""

    words: str


def proposal_of(  # noqa: PLR0913 - what an answer is checked against
    asked: AskHuman,
    reply: Reply,
    *,
    context: DecisionContext,
    chain: Sequence[ChainStep],
    suggestions: Sequence[Pair],
    now_ms: int,
    may_stand: Callable[[str], bool],
) -> Proposal | Objection:
    """Say what a reply teaches.

    Args:
        asked: The question, with its open units.
        reply: The answer; only *always* may be objected to.
        context: The snapshot of now.
        chain: The requester's parent chain.
        suggestions: What *always* records when the reply names no patterns.
        now_ms: Now on the clock that is never set back, epoch milliseconds.
        may_stand: Says whether a pattern may be recorded in full: no secret in it, not too long.

    Returns:
        What is to be recorded, or why the reply cannot be taken; then nothing may be recorded and nothing answered.
    """
    evaluation = asked.evaluation
    surfaces = tuple(dict.fromkeys(evaluation.units[at].surface for at in evaluation.open))
    run = chain[0].run if chain else 0
    if reply.reply is not ReplyKind.ALWAYS:
        return Proposal(surfaces=surfaces, run=run)
    if not asked.may_teach:
        return Objection("`always` is not taken here: answer `once` or `reject`")
    scope = reply.scope or Scope.REQUESTER
    anchor = None
    if scope is not Scope.PROJECT:
        found = anchor_for(scope, chain, session=reply.session or "", inbox=evaluation.request.inbox)
        if isinstance(found, Objection):
            return found
        anchor = found
    elif reply.session:
        return Objection("a project grant hangs on no session: name a scope or a session")
    grants = _pairs(evaluation, reply.patterns, suggestions)
    if isinstance(grants, Objection):
        return grants
    for _, pattern in grants:
        if not may_stand(pattern):
            return Objection(
                "a pattern holds what looks like a secret, or is too long, and is not recorded: "
                "name a shorter pattern without it, or answer `once`"
            )
    left = _left_after(evaluation.request, grants, context)
    if left:
        return Objection(f"that would still leave `{shown(left)}` to ask about: cover it too, or answer `once`")
    expires_at = now_ms + reply.expires_in_ms if reply.expires_in_ms else 0
    return Proposal(grants, anchor, surfaces, run, expires_at, for_project=scope is Scope.PROJECT)


def anchor_for(scope: Scope, chain: Sequence[ChainStep], *, session: str = "", inbox: str = "") -> Anchor | Objection:
    """Give the session at and below which a grant would hold.

    Args:
        scope: How far it reaches. Not `PROJECT`.
        chain: The requester's parent chain.
        session: The id of an ancestor, to let the grant hold from there on whatever the scope; only the inbox's session
            and ancestors on record are taken, never one that is merely claimed.
        inbox: The inbox the request lay in.
    """
    above = places_of(chain)
    if session:
        if session not in above:
            known = ", ".join(f"`{shown(one)}`" for one in above)
            return Objection(f"`{shown(session)}` is not an ancestor of the requester; there are {known or 'none'}")
        return _at(SUBTREE, chain, session)
    match scope:
        case Scope.REQUESTER:
            return Anchor(REQUESTER, chain[0].session, inbox, chain[0].run)
        case Scope.SUBTREE:
            return _at(SUBTREE, chain, above[0]) if above else Objection("the requester has no parent on record")
        case Scope.TREE:
            return _at(TREE, chain, above[-1]) if above else Objection("the requester has no parent on record")
        case Scope.PROJECT:
            return Objection("a project grant hangs on no session")
        case _:
            assert_never(scope)


def _at(scope: str, chain: Sequence[ChainStep], session: str) -> Anchor:
    step = next(one for one in chain[1:] if one.session == session)
    return Anchor(scope, session, "", step.run)


def matching_patterns(evaluation: Evaluation, pattern: str) -> tuple[str, ...]:
    """Give the surfaces of the open units that a pattern covers and a grant may cover; each once, in order."""
    wildcard = Wildcard.literal_aware(pattern)
    return tuple(
        dict.fromkeys(
            evaluation.units[at].surface
            for at in evaluation.open
            if _may_be_granted(evaluation, at) and any(map(wildcard.matches, evaluation.units[at].spellings))
        )
    )


def _may_be_granted(evaluation: Evaluation, at: int) -> bool:
    return evaluation.dangers[at].danger.rank < Danger.DANGEROUS.rank and not evaluation.units[at].opaque


def _pairs(
    evaluation: Evaluation, patterns: Sequence[str] | None, suggestions: Sequence[Pair]
) -> tuple[Pair, ...] | Objection:
    """Give what would be recorded, each with the surface of the unit it covers."""
    if patterns is None:
        if not suggestions:
            return Objection("nothing is suggested for `always` here: name a pattern, or answer `once` or `reject`")
        useless = [pattern for surface, pattern in suggestions if surface not in matching_patterns(evaluation, pattern)]
        if len(useless) == len(suggestions):
            return Objection("no suggested pattern covers what is asked: name a pattern, or answer `once`")
        return tuple(dict.fromkeys(pair for pair in suggestions if pair[1] not in useless))
    pairs: list[Pair] = []
    for pattern in patterns:
        surfaces = matching_patterns(evaluation, pattern)
        if not surfaces:
            return Objection(f"pattern `{shown(pattern)}` does not match what is asked; nothing was recorded")
        pairs.extend((surface, pattern) for surface in surfaces)
    return tuple(dict.fromkeys(pairs))


def _left_after(request: Request, grants: Sequence[Pair], context: DecisionContext) -> str:
    """Decide the same request as if the grants were recorded; give what would still ask or deny, empty when nothing.

    A unit may stay open to the judge and yet be granted, so the units are looked at, and not only the outcome.
    """
    as_if = _AsIf(context.taught, grants)
    step = begin(request, replace(context, taught=as_if))
    if isinstance(step, Decided):
        return "" if step.decision.outcome is Outcome.APPROVED else step.decision.reason
    for at in step.evaluation.open:
        unit = step.evaluation.units[at]
        if not _may_be_granted(step.evaluation, at) or as_if.grant(request, unit) is None:
            return f"{unit.surface} {unit.spellings[0] if unit.spellings else ''}".strip()
    return step.why


class _AsIf:
    """The session rules in force, and the proposed grants as if they were recorded. A `decision.SessionRules`."""

    def __init__(self, taught: SessionRules, grants: Sequence[Pair]) -> None:
        self._taught = taught
        self._grants = [(surface, Wildcard.literal_aware(pattern)) for surface, pattern in grants]

    def refusal(self, request: Request) -> RuleAnswer | None:
        return self._taught.refusal(request)

    def grant(self, request: Request, unit: Unit) -> RuleAnswer | None:
        for surface, wildcard in self._grants:
            if surface == unit.surface and any(map(wildcard.matches, unit.spellings)):
                return RuleAnswer(RuleRef(surface, wildcard.pattern, "allow", "about to be recorded", "session"))
        return self._taught.grant(request, unit)

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:
        return self._taught.cites(request, unit, rule)

    def is_any_citable(self, request: Request, unit: Unit) -> bool:
        return self._taught.is_any_citable(request, unit)

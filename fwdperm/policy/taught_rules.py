"""Session rules as the daemon serves them: bound to the tree, the clock and the projects.

Lives here: `TaughtRules`. Never here: the fold itself (`session_rules/`), the journal, the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwdperm.clock import NeverBack
from fwdperm.session_rules import (
    MOST_RULES,
    NO_PROJECT,
    ChainStep,
    Grant,
    HistoryFold,
    Objection,
    Proposal,
    RulesFold,
    SessionRulesView,
    TurnStarts,
    history_section,
    preview_lines,
    project_rules,
    project_section,
    proposal_of,
    rules_section,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fwdperm.clock import Clock
    from fwdperm.decision import AskHuman, DecisionContext
    from fwdperm.journal import Fold
    from fwdperm.session_rules import Anchor, Past, ProjectGrants, SessionRule
    from fwdperm.sessions import ChainMember, SessionTree
    from fwdperm.wire import Reply, Request


@dataclass(frozen=True, slots=True)
class JudgeSections:
    """What a judge reads of a request beside the request: three sections, each the same bytes while nothing changed.

    Attributes:
        project: What the project's owner granted, as facts.
        rules: What people taught, with its preamble.
        history: The requester's last decisions, with marks for notes.
        until: Number of the last journal line whose notes are shown in this turn.
    """

    project: str
    rules: str
    history: str
    until: int


class TaughtRules:
    """What people taught, for the request lifecycle and the rulebook.

    Args:
        sessions: The tree of sessions.
        clock: Both clocks.

    Attributes:
        rules: The fold of what was taught; give it to the journal.
        history: The fold of what was decided; give it to the journal.
    """

    def __init__(self, sessions: SessionTree, *, clock: Clock) -> None:
        self.rules = RulesFold()
        self.history = HistoryFold()
        self._sessions = sessions
        self._turn_starts = TurnStarts()
        self._clock = NeverBack(clock, floor=lambda: self.rules.clock)

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The folds that the journal has to apply its entries to."""
        return (self.rules, self.history)

    @property
    def epoch(self) -> int:
        """Number of the journal line that last changed a rule."""
        return self.rules.epoch

    def now_ms(self) -> int:
        """Give the time that expiry is measured by."""
        return self._clock.now_ms()

    def view(
        self, request: Request, places: Sequence[ChainMember], project: ProjectGrants = NO_PROJECT
    ) -> SessionRulesView:
        """Give what one request may use of all that was taught.

        Args:
            request: The request.
            places: Its parent chain, the requester first.
            project: What its project's files grant.
        """
        until = self._turn_starts.until((request.inbox, request.session), request.turn, epoch=self.rules.epoch)
        return SessionRulesView(self.rules, self.steps(request, places), self.now_ms(), until, project)

    def steps(self, request: Request, places: Sequence[ChainMember]) -> tuple[ChainStep, ...]:
        """Give a parent chain with what session rules need of each session, facts and claims told apart."""
        made = []
        for depth, place in enumerate(places):
            # Whoever asks under the name of a recorded session has to prove that it is that session.
            known = place.known if depth or place.trusted else None
            inbox = request.inbox if not depth else known.parent if known is not None else ""
            run = known.started_ms if known is not None else 0
            is_over = self._sessions.state(place.session) == "ended" if depth else False
            made.append(ChainStep(place.session, inbox, run, is_fact=place.trusted, is_over=is_over))
        return tuple(made)

    def proposal(
        self,
        asked: AskHuman,
        reply: Reply,
        *,
        context: DecisionContext,
        suggestions: Sequence[tuple[str, str]],
        may_stand: Callable[[str], bool],
    ) -> Proposal | Objection:
        """Say what an answer would teach; see `session_rules.proposal`."""
        request = asked.evaluation.request
        made = proposal_of(
            asked,
            reply,
            context=context,
            chain=self.steps(request, self._sessions.chain(request)),
            suggestions=suggestions,
            now_ms=self.now_ms(),
            may_stand=may_stand,
        )
        return self._without_doubles(made) if isinstance(made, Proposal) else made

    def preview(self, proposal: Proposal) -> tuple[str, ...]:
        """Say in lines what a proposal would record, and which past requests it would have matched."""
        return preview_lines(proposal, self.history.preview(proposal.grants), now_ms=self.now_ms())

    def same(self, surface: str, pattern: str, anchor: Anchor) -> Grant | None:
        """Give the grant with this surface, pattern and anchor that does not expire; None when there is none."""
        for rule in self.rules.hanging_on((anchor.inbox, anchor.session)):
            is_same = isinstance(rule, Grant) and (rule.surface, rule.pattern, rule.anchor) == (
                surface,
                pattern,
                anchor,
            )
            if is_same and not rule.expires_at:
                return rule if isinstance(rule, Grant) else None
        return None

    def _without_doubles(self, proposal: Proposal) -> Proposal:
        """Leave out what is taught already: the same rule is not stored again and again."""
        anchor = proposal.anchor
        if anchor is None:
            return proposal
        grants = tuple(pair for pair in proposal.grants if self.same(*pair, anchor) is None)
        return Proposal(grants, anchor, proposal.surfaces, proposal.run, proposal.expires_at)

    # -- for the judge -----------------------------------------------------------------------------------------

    def brief(self, request: Request, context: DecisionContext) -> JudgeSections:
        """Give what a judge reads of a request beside the request.

        Args:
            request: The request.
            context: The snapshot it is decided against; its session rules are a view of this very object.
        """
        view = context.taught
        if not isinstance(view, SessionRulesView):
            raise TypeError("the context was made without these session rules")
        recorded = project_rules(rule for ruleset in context.chain[:1] for rule in ruleset.rules)
        granted = [(one.surface, one.pattern) for one in view.project.grants if not one.has_expired(view.now_ms)]
        past = self.history.of((request.inbox, request.session))

        def mark(one: Past) -> str:
            taught: list[SessionRule] = self.rules.taught_by((request.inbox, one.id))
            return next((rule.id for rule in taught if rule.note and view.is_in_force(rule)), "")

        return JudgeSections(
            project=project_section(dict.fromkeys((*recorded, *granted))),
            rules=rules_section(view.newest(MOST_RULES)),
            history=history_section(past, mark=mark),
            until=view.until,
        )

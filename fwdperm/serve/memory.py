"""Session rules as the daemon serves them: bound to the tree, the clock and the projects.

Lives here: `Memory`. Never here: the fold itself (`memory/`), the journal, the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwdperm.memory.fold import RulesFold
from fwdperm.memory.history import HistoryFold, history_section
from fwdperm.memory.lesson import Lesson, Objection, lesson_of
from fwdperm.memory.preview import preview_lines
from fwdperm.memory.project import NO_PROJECT
from fwdperm.memory.render import MOST, project_rules, project_section, rules_section
from fwdperm.memory.turns import Turns
from fwdperm.memory.values import Grant
from fwdperm.memory.view import Step, View
from fwdperm.serve.clock import NeverBack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fwdperm.decide import AskHuman
    from fwdperm.journal.state import Fold
    from fwdperm.memory.history import Past
    from fwdperm.memory.project import ProjectGrants
    from fwdperm.memory.values import Anchor, Rule
    from fwdperm.serve.clock import Clock
    from fwdperm.serve.sessions import Place, Sessions
    from fwdperm.standing import Standing
    from fwdperm.wire.prompt import Reply
    from fwdperm.wire.request import Request


@dataclass(frozen=True, slots=True)
class Brief:
    """What a judge reads of a request beside the request: three sections, each the same bytes while nothing changed.

    Attributes:
        project: What the project's owner granted, as facts.
        rules: What people taught, with its preamble.
        history: The requester's last decisions, with marks for notes.
        until: The journal line up to which notes count in this turn: names the rules' version.
    """

    project: str
    rules: str
    history: str
    until: int


class Memory:
    """What people taught, for the desk and the rulebook.

    Args:
        sessions: The tree of sessions.
        clock: Both clocks.

    Attributes:
        rules: The fold of what was taught; give it to the journal.
        history: The fold of what was decided; give it to the journal.
    """

    def __init__(self, sessions: Sessions, *, clock: Clock) -> None:
        self.rules = RulesFold()
        self.history = HistoryFold()
        self._sessions = sessions
        self._turns = Turns()
        self._clock = NeverBack(clock, floor=lambda: self.rules.clock)

    @property
    def folds(self) -> tuple[Fold, ...]:
        """What the journal has to move along."""
        return (self.rules, self.history)

    @property
    def epoch(self) -> int:
        """Moves whenever what was taught changes."""
        return self.rules.epoch

    def now_ms(self) -> int:
        """Give the time that expiry is measured by."""
        return self._clock.now_ms()

    def view(self, request: Request, places: Sequence[Place], project: ProjectGrants = NO_PROJECT) -> View:
        """Give what one request may use of all that was taught.

        Args:
            request: The request.
            places: Its parent chain, the requester first.
            project: What its project's files grant.
        """
        until = self._turns.until((request.inbox, request.session), request.turn, epoch=self.rules.epoch)
        return View(self.rules, self.steps(request, places), self.now_ms(), until, project)

    def steps(self, request: Request, places: Sequence[Place]) -> tuple[Step, ...]:
        """Give a parent chain as facts and claims."""
        made = []
        for depth, place in enumerate(places):
            known = place.known if depth or place.trusted else None
            inbox = request.inbox if not depth else known.parent if known is not None else ""
            run = known.started_ms if known is not None else 0
            is_over = self._sessions.state(place.session) == "ended" if depth else False
            made.append(Step(place.session, inbox, run, is_fact=place.trusted, is_over=is_over))
        return tuple(made)

    def lesson(
        self,
        asked: AskHuman,
        reply: Reply,
        *,
        standing: Standing,
        suggestions: Sequence[tuple[str, str]],
        may_stand: Callable[[str], bool],
    ) -> Lesson | Objection:
        """Say what an answer would teach; see `memory.lesson`."""
        request = asked.weighed.request
        made = lesson_of(
            asked,
            reply,
            standing=standing,
            chain=self.steps(request, self._sessions.chain(request)),
            suggestions=suggestions,
            now_ms=self.now_ms(),
            may_stand=may_stand,
        )
        return self._without_doubles(made) if isinstance(made, Lesson) else made

    def preview(self, lesson: Lesson) -> tuple[str, ...]:
        """Say in lines what a lesson would record, and which past requests it would have matched."""
        return preview_lines(lesson, self.history.preview(lesson.grants), now_ms=self.now_ms())

    def same(self, surface: str, pattern: str, anchor: Anchor) -> Grant | None:
        """Give the grant in force that says exactly this, without an end."""
        for rule in self.rules.hanging_on((anchor.inbox, anchor.session)):
            is_same = isinstance(rule, Grant) and (rule.surface, rule.pattern, rule.anchor) == (
                surface,
                pattern,
                anchor,
            )
            if is_same and not rule.expires_at:
                return rule if isinstance(rule, Grant) else None
        return None

    def _without_doubles(self, lesson: Lesson) -> Lesson:
        """Leave out what is taught already: the same rule is not stored again and again."""
        anchor = lesson.anchor
        if anchor is None:
            return lesson
        grants = tuple(pair for pair in lesson.grants if self.same(*pair, anchor) is None)
        return Lesson(grants, anchor, lesson.surfaces, lesson.run, lesson.expires_at)

    # -- for the judge -----------------------------------------------------------------------------------------

    def brief(self, request: Request, standing: Standing) -> Brief:
        """Give what a judge reads of a request beside the request.

        Args:
            request: The request.
            standing: The snapshot it is decided against; its session rules are this memory's view.
        """
        view = standing.taught
        if not isinstance(view, View):
            raise TypeError("the standing was made without this memory")
        recorded = project_rules(rule for ruleset in standing.chain[:1] for rule in ruleset.rules)
        granted = [(one.surface, one.pattern) for one in view.project.grants if not one.has_expired(view.now_ms)]
        past = self.history.of((request.inbox, request.session))

        def mark(one: Past) -> str:
            taught: list[Rule] = self.rules.taught_by((request.inbox, one.id))
            return next((rule.id for rule in taught if rule.note and view.is_in_force(rule)), "")

        return Brief(
            project=project_section(dict.fromkeys((*recorded, *granted))),
            rules=rules_section(view.newest(MOST)),
            history=history_section(past, mark=mark),
            until=view.until,
        )

"""The rulesets along a requester's parent chain, and what else the order reads.

Lives here: `Rulebook`. An edge: it owns the ruleset files and the recorded sessions. Never here: composing or matching
(`rules/`), what a claim may do (`sessions/session_tree.py`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fwdperm.decision import DecisionContext, NothingTaught
from fwdperm.guard import Surroundings
from fwdperm.judge import Background
from fwdperm.late_log import late_log
from fwdperm.policy.briefing import background_of, epoch_of
from fwdperm.policy.config import read_settings
from fwdperm.rules import Mode, untrusted
from fwdperm.session_rules import NO_PROJECT
from fwdperm.sessions import read_session_ruleset, read_sessions
from fwdperm.units import break_down, suggest_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fwdperm.decision import SessionRules
    from fwdperm.policy.config import Config
    from fwdperm.policy.projects import Projects
    from fwdperm.policy.taught_rules import TaughtRules
    from fwdperm.rules import ConfigFile, Layer, Problem, Ruleset, RulesetFiles
    from fwdperm.sessions import ChainMember, RecordedSession, SessionTree
    from fwdperm.wire import Request


_RULESETS_KEPT: Final = 1_024
"""Composed rulesets that are remembered between two reloads. Bounded, because each directory and each agent name makes
one of its own, and children may claim ever new ones."""


class Rulebook:
    """Gives the context of a request's decision: rulesets, surroundings and session rules as they are now.

    Args:
        files: The ruleset files.
        sessions: The tree of sessions; what `fwdperm run` recorded is read into it.
        state: The state directory.
        own: Paths that belong to this program: dangerous to touch.
        workspace: The directory the daemon was started in, which counts as workspace; empty when it does not count.
        home: The operator's home directory.
        projects: The projects' own grants.

    Attributes:
        taught_rules: What people taught; None until the journal that remembers it is open.
    """

    def __init__(  # noqa: PLR0913 - what it is told at the start
        self,
        files: RulesetFiles,
        sessions: SessionTree,
        *,
        state: Path,
        own: Sequence[Path],
        workspace: str,
        home: str,
        projects: Projects,
    ) -> None:
        self.files = files
        self.problems: tuple[Problem, ...] = ()
        self._sessions = sessions
        self._state = state
        self._own = tuple(str(path) for path in own)
        self._workspace = workspace
        self._home = home
        self.projects = projects
        self.taught_rules: TaughtRules | None = None
        self._layers: dict[str, tuple[str, Layer]] = {}
        self._rulesets: dict[tuple[str, str, str, bool, bool], Ruleset] = {}
        self._checked: tuple[ConfigFile, Config, tuple[Problem, ...]] | None = None
        self._reported = -1  # the generation of the ruleset files that `reload` last told its caller of
        self._surroundings = Surroundings()
        self._known: tuple[RecordedSession, ...] = ()
        self._running: tuple[str, ...] = ()
        self.reload_sessions()
        self.reload()

    @property
    def config(self) -> Config:
        """The settings of the configuration that `files` holds now."""
        return self._settings()[0]

    def _settings(self) -> tuple[Config, tuple[Problem, ...]]:
        """Give the settings and what is wrong in them, checked once for each reading of the configuration."""
        file = self.files.config
        if self._checked is None or self._checked[0] is not file:
            self._checked = (file, *read_settings(file))
        return self._checked[1:]

    # -- keeping up --------------------------------------------------------------------------------------------

    def reload(self) -> bool:
        """Read again what changed on disk; True when anything that is known changed.

        A broken edit keeps the last good deny and ask: see `rules/store.py`. Settings that became wrong fall back to
        their defaults.
        """
        self._rulesets.clear()
        self.projects.forget()
        for problem in self.files.reload():
            late_log().warning("ruleset.problem", problem=str(problem))
        generation = self.files.generation
        if generation == self._reported:
            return False
        is_first = self._reported < 0
        _, wrong = self._settings()
        for problem in wrong:
            late_log().warning("setting.problem", problem=str(problem))
        self._surround()
        self.problems = (*self.files.problems(), *wrong)
        # Set here alone: whatever else set it would hide that change from the next reload, which then says "no change".
        self._reported = generation
        if not is_first:
            late_log().info("ruleset.reloaded", problems=len(self.problems))
        return not is_first

    def reload_sessions(self) -> None:
        """Read the sessions that `fwdperm run` recorded."""
        known = read_sessions(self._state)
        running = tuple(one.session for one in known if one.is_running)
        if (known, running) == (self._known, self._running):
            return
        self._known, self._running = known, running
        self._rulesets.clear()
        self.projects.forget()
        self._sessions.record(known, running=running)
        self._layers = {name: kept for name, kept in self._layers.items() if self._sessions.known(name)}
        self._surround()

    def _surround(self) -> None:
        """Work out the surroundings again: workspaces are the daemon's, the settings' and those of running sessions."""
        running = (one.cwd for one in self._known if one.session in self._running)
        workspaces = tuple(dict.fromkeys(self._usable((self._workspace, *self.config.workspaces, *running))))
        self._surroundings = Surroundings(
            workspaces=workspaces,
            home=self._home,
            sensitive_read=self.config.sensitive_read,
            sensitive_write=self.config.sensitive_write,
            own=self._own,
            exec_judgeable=self.config.exec_judgeable,
        )
        self.files.set_workspaces([Path(path) for path in workspaces])

    def _usable(self, paths: Iterable[str]) -> Iterable[str]:
        """Leave out what is too large to vouch for: the file system's root, a home, nothing at all."""
        for path in paths:
            full = os.path.normpath(Path(path).expanduser()) if path else ""
            if full.startswith("/") and full not in ("/", "/home", "/root", self._home):
                yield full

    # -- answering ---------------------------------------------------------------------------------------------

    def context(self, request: Request) -> DecisionContext:
        """Compose the rulesets along the parent chain; the requester's own first, the root's last."""
        places = self._sessions.chain(request)
        chain = dict.fromkeys(self._ruleset(place, request) for place in places)
        mode = next(iter(chain)).mode
        judge = self.config.judge
        return DecisionContext(
            chain=tuple(chain),
            surroundings=self._surroundings,
            taught=self._taught(request, places),
            has_judge=judge is not None and mode is Mode.JUDGE,
            judge_advises=judge is not None and judge.advises,
            line=tuple([place.session for place in places]),
        )

    def background(self, request: Request, context: DecisionContext) -> Background:
        """Give what a judge is shown of a request beside the request, from the request's context."""
        told = self.config.judge.context if self.config.judge is not None else ""
        if self.taught_rules is None:
            return Background(context=told)
        return background_of(self.taught_rules.brief(request, context), context.taught, context=told)

    def epoch(self, request: Request, context: DecisionContext) -> str:
        """Name the rules a judge would be shown for a request in this context."""
        return epoch_of(self.background(request, context), context)

    def _taught(self, request: Request, places: Sequence[ChainMember]) -> SessionRules:
        """Give what people taught, bound to the request's place in the tree."""
        if self.taught_rules is None:
            return NothingTaught()
        project = self.projects.grants(request.facts.cwd) if request.facts is not None else NO_PROJECT
        return self.taught_rules.view(request, places, project)

    def suggestions(self, request: Request) -> Sequence[tuple[str, str]]:
        """Give what an *always* would record: our own suggestion; the requester's is only a claim."""
        if request.facts is None:
            return ()
        made = suggest_patterns(request.facts, break_down(request.facts))
        return [(one.surface, one.pattern) for one in made]

    def _ruleset(self, place: ChainMember, request: Request) -> Ruleset:
        """Give the composed ruleset of one session on the chain; remembered until the next reload, a second at most."""
        cwd = request.facts.cwd if request.facts else ""
        is_known = place.trusted and place.known is not None
        own = place.session if place.known is not None and place.known.ruleset else ""
        key = (cwd, place.agent, own, place.trusted, is_known)
        kept = self._rulesets.get(key)
        if kept is None:
            if len(self._rulesets) >= _RULESETS_KEPT:
                self._rulesets.clear()
            kept = self._rulesets[key] = self._compose(place, cwd, is_known=is_known)
        return kept

    def _compose(self, place: ChainMember, cwd: str, *, is_known: bool) -> Ruleset:
        return self.files.ruleset_for(
            cwd=cwd,
            home=self._home,
            mode=self.files.mode_for(agent=place.agent, agent_is_known=is_known) or Mode.JUDGE,
            agent=place.agent,
            agent_is_known=is_known,
            cwd_is_known=True,  # projects are looked for inside vouched workspaces only
            session=self._own_layer(place),
        )

    def _own_layer(self, place: ChainMember) -> Layer | None:
        """Give a session's recorded ruleset: all of it on a known place, only its deny and ask on a claimed one."""
        known = place.known
        if known is None or not known.ruleset:
            return None
        full = f"{known.ruleset}\n{known.started_ms}\n{place.trusted}"
        kept = self._layers.get(place.session)
        if kept is not None and kept[0] == full:
            return kept[1]
        layer = read_session_ruleset(Path(known.ruleset), source=known.ruleset_source)
        made = layer if place.trusted else untrusted(layer)
        self._layers[place.session] = (full, made)
        return made

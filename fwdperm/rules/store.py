"""The ruleset files of a machine: found, read, read again when they change.

Lives here: `RulesetFiles`. An edge. Never here: when to look again (the caller has the clock), who runs which agent.

A file that becomes unreadable, or goes away, keeps its last good denials and asks; its allows are gone at once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.rules.disk import Content, FileStamp, read_file, stamp_of
from fwdperm.rules.layer import Layer, Problem, Severity, broken_layer, untrusted
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, LayerKind
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.toml_file import PROJECT_SETTINGS, RULESET_BYTES, SETTINGS, AgentSection, ConfigFile, read_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.rules.trust import TrustStore

PROJECT_FILE: Final = ".fwdperm.toml"
"""Name of a project's own ruleset."""

_NO_STAMP: Final = (0, 0, 0, 0, 0)
"""The stamp of a text that did not come from its file, but from what an earlier run kept of it."""
_COMPOSED: Final = 64
"""Composed rulesets kept: as many as differ by agent, project and session at one time."""
_PROJECTS: Final = 1_000
"""Project files kept; each came from a directory that a child named."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One file as it was last read."""

    config: ConfigFile
    narrow: ConfigFile
    good: ConfigFile | None
    digest: str = ""
    stamp: FileStamp | None = None
    text: bytes | None = None
    """What `good` was read from; kept of the user's configuration only."""


class RulesetFiles:
    """The user's configuration and the projects' rulesets.

    Args:
        user: The user's configuration; None for none.
        trust: Which project files may allow.
        workspaces: Directories inside which project files are looked for.
        last_good: What the user's configuration said before: where it is broken or gone now, that goes on as in a
            daemon which has read it.
    """

    def __init__(
        self,
        *,
        user: Path | None,
        trust: TrustStore,
        workspaces: Sequence[Path] = (),
        last_good: bytes | None = None,
    ) -> None:
        self.generation = 0
        """Goes up whenever something in a file that is known changed: time to decide anew on what is waiting."""
        self._user = user
        self._trust = trust
        self._workspaces = [Path(os.path.normpath(workspace.absolute())) for workspace in workspaces]
        self._unwritten = ConfigFile(Layer(LayerKind.USER, str(user or "")))
        self._loaded: dict[Path, _Loaded] = {}
        self._composed: dict[tuple[object, ...], tuple[Ruleset, tuple[Layer, ...]]] = {}
        if user is not None and last_good is not None:
            self._loaded[user] = _read(user, LayerKind.USER, Content(last_good, _NO_STAMP), None)
        self.reload()

    @property
    def config(self) -> ConfigFile:
        """The user's configuration, as far as it can be read; its settings are the last good ones.

        The same object until what it says is read anew.
        """
        if self._user is None or self._user not in self._loaded:
            return self._unwritten
        return self._loaded[self._user].config

    @property
    def text_in_force(self) -> bytes | None:
        """What the user's configuration was read from when it could last be read; None when it never could."""
        loaded = self._loaded.get(self._user) if self._user is not None else None
        return loaded.text if loaded is not None else None

    def set_workspaces(self, workspaces: Sequence[Path]) -> None:
        """Replace the directories inside which project files are looked for; `reload` says nothing of it."""
        self._workspaces = [Path(os.path.normpath(workspace.absolute())) for workspace in workspaces]

    def reload(self) -> list[Problem]:
        """Look at every known file again, and read what changed.

        Returns:
            What is wrong in the files that changed; empty when none did. Never raises.
        """
        problems: list[Problem] = []
        known = ([self._user] if self._user is not None else []) + [path for path in self._loaded if path != self._user]
        for path in known:
            before = self._loaded.get(path)
            after = self._load(path)
            if after is not None and (before is None or after.config is not before.config):
                problems.extend(after.config.problems)
        self._forget_some()
        return problems

    def problems(self) -> list[Problem]:
        """Return everything that is wrong now, in all files, an untrusted project's lost allows included."""
        problems: list[Problem] = []
        for path, loaded in self._loaded.items():
            problems.extend(loaded.config.problems)
            if path != self._user and _allows(loaded.config) and not self._is_trusted(path, loaded):
                remedy = f"read it, then run `fwdperm trust {path}`"
                problems.append(Problem(str(path), 0, "not trusted: its allows do not count", remedy, Severity.WARNING))
        return problems

    def project_files(self, cwd: str) -> list[Path]:
        """Return the project files that concern a directory, the outermost first.

        Args:
            cwd: Absolute; outside every workspace there are none.
        """
        return [path for path in reversed(list(self._candidates(cwd))) if self._load(path) is not None]

    def projects(self, cwd: str) -> list[tuple[Path, ConfigFile, bool]]:
        """Return what the project files that concern a directory say, the outermost first, and whether each is trusted.

        Args:
            cwd: As for `project_files`.
        """
        found = []
        for path in self.project_files(cwd):
            loaded = self._loaded[path]
            found.append((path, loaded.config, self._is_trusted(path, loaded)))
        return found

    def project_path(self, cwd: str) -> Path | None:
        """Say which file keeps what is granted for the project of a directory.

        Args:
            cwd: As for `project_files`.

        Returns:
            The innermost project file there is, else the one to be made at the top of the workspace; None outside
            every workspace.
        """
        existing = self.project_files(cwd)
        if existing:
            return existing[-1]
        return next(reversed(list(self._candidates(cwd))), None)

    def layers_for(
        self, *, cwd: str, agent: str = "", agent_is_known: bool = False, cwd_is_known: bool = False
    ) -> tuple[Layer, ...]:
        """Return the layers that concern a requester, in the order in which they compose.

        Args:
            cwd: Where it works; empty or relative for nowhere known.
            agent: Its agent name; empty for none.
            agent_is_known: True when somebody trusted gave it that name. A name that it only claims may narrow: its
                section then denies and asks, and allows nothing.
            cwd_is_known: The same for the directory and the projects found from there.

        Returns:
            User, projects from the outermost in, the user's section for the agent, the projects'.
        """
        layers, sections = [], []
        sources = [(self._user, True)] if self._user in self._loaded and self._user is not None else []
        sources.extend((path, cwd_is_known) for path in self.project_files(cwd))
        for path, may_allow in sources:
            loaded = self._loaded[path]
            vouched = may_allow and (path == self._user or self._is_trusted(path, loaded))
            layers.append((loaded.config if vouched else loaded.narrow).layer)
            section = (loaded.config if vouched and agent_is_known else loaded.narrow).agents.get(agent)
            if section is not None:
                sections.append(section.layer)
        return (*layers, *sections)

    def mode_for(self, *, agent: str = "", agent_is_known: bool = False) -> Mode | None:
        """Return the mode that the user's configuration gives an agent; None when it says nothing.

        A name that is only claimed may make the mode more careful, never bolder. Projects have no say.
        """
        common = self.config.mode
        section = self.config.agents.get(agent)
        if section is None or section.mode is None:
            return common
        if agent_is_known or section.mode is Mode.ASK:
            return section.mode
        return section.mode if common is Mode.YOLO else common

    def ruleset_for(  # noqa: PLR0913 - each is a fact about the requester
        self,
        *,
        cwd: str,
        home: str,
        mode: Mode,
        agent: str = "",
        agent_is_known: bool = False,
        cwd_is_known: bool = False,
        session: Layer | None = None,
    ) -> Ruleset:
        """Compose what concerns a requester; the same object as long as nothing changed.

        Args:
            cwd: As in `layers_for`.
            home: The requester's home directory.
            mode: How bold.
            agent: As in `layers_for`.
            agent_is_known: As in `layers_for`.
            cwd_is_known: As in `layers_for`.
            session: The session's own recorded ruleset.
        """
        layers = self.layers_for(cwd=cwd, agent=agent, agent_is_known=agent_is_known, cwd_is_known=cwd_is_known)
        if session is not None:
            layers = (*layers, session)
        key = (home, mode, *map(id, layers))
        kept = self._composed.pop(key, None) or (Ruleset.compose(layers, home=home, mode=mode), layers)
        # The key holds id(layer), and Python gives the id of a freed object to a new one: keeping the layers beside
        # what was composed of them keeps a new layer from being taken for an old one.
        self._composed[key] = kept
        if len(self._composed) > _COMPOSED:
            del self._composed[next(iter(self._composed))]
        return kept[0]

    def _candidates(self, cwd: str) -> Iterator[Path]:
        """Yield where project files may lie, the innermost first."""
        if not cwd.startswith("/") or "\0" in cwd:
            return
        place = Path(os.path.normpath(cwd))
        for directory in (place, *place.parents):
            if not any(directory.is_relative_to(workspace) for workspace in self._workspaces):
                return
            yield directory / PROJECT_FILE

    def _is_trusted(self, path: Path, loaded: _Loaded) -> bool:
        is_known = bool(loaded.digest) and self._trust.is_trusted(path, digest=loaded.digest)
        return is_known and self.lies_inside(path)

    def lies_inside(self, path: Path) -> bool:
        """Say whether a project file really lies inside a workspace, with every link on the way there resolved."""
        real = Path(os.path.realpath(path.parent))
        return any(real.is_relative_to(os.path.realpath(workspace)) for workspace in self._workspaces)

    def _load(self, path: Path) -> _Loaded | None:
        """Return a file as it is now, reading it only when it changed; None when there never was one."""
        before = self._loaded.get(path)
        stamp = stamp_of(path)
        if before is not None and before.stamp == stamp:
            return before
        kind = LayerKind.USER if path == self._user else LayerKind.PROJECT
        try:
            content = read_file(path, limit=RULESET_BYTES, follow=kind is LayerKind.USER)
        except FileNotFoundError:
            if before is None:
                return None
            after = _gone(path, before)
        except EnvironmentFailure as cause:
            problem = Problem(str(path), 0, str(cause), "make it a readable file")
            after = replace(_unreadable(path, kind, before, [problem]), stamp=stamp)
        else:
            if before is not None and before.digest == content.digest:
                after = replace(before, stamp=content.stamp)
            else:
                after = _read(path, kind, content, before)
        if before is None or after.config is not before.config:
            self.generation += 1
        self._loaded[path] = after
        return after

    def _forget_some(self) -> None:
        """Keep the number of project files bounded; the newest go, and are read again when they are asked for.

        The older ones are the operator's: whoever plants many files must not push out what one of those denies.
        """
        while len(self._loaded) > _PROJECTS:
            del self._loaded[next(path for path in reversed(self._loaded) if path != self._user)]


def _read(path: Path, kind: LayerKind, content: Content, before: _Loaded | None) -> _Loaded:
    settings = SETTINGS if kind is LayerKind.USER else PROJECT_SETTINGS
    config = read_config(content.data, file=str(path), kind=kind, settings=settings)
    if config.layer.broken:
        return replace(_unreadable(path, kind, before, config.problems), digest=content.digest, stamp=content.stamp)
    text = content.data if kind is LayerKind.USER else None
    return _Loaded(config, _narrow(config), config, content.digest, content.stamp, text)


def _unreadable(path: Path, kind: LayerKind, before: _Loaded | None, problems: Sequence[Problem]) -> _Loaded:
    """Keep the denials and asks of what it was before, and its settings."""
    good = before.good if before is not None else None
    last = good.layer if good is not None else None
    kept = _narrow(good) if good is not None else ConfigFile(Layer(kind, str(path)))
    layer = broken_layer(kind, str(path), problems=problems, last_good=last)
    config = replace(kept, layer=layer, problems=tuple(problems))
    return _Loaded(config, _narrow(config), good, text=before.text if before is not None else None)


def _gone(path: Path, before: _Loaded) -> _Loaded:
    """Keep the denials and asks of a file that went away: a child may have taken it away."""
    good = before.good if before.good is not None else before.config
    remedy = "put it back, or start the daemon again without it"
    problem = Problem(str(path), 0, "is gone; its denials and asks go on", remedy, Severity.WARNING)
    narrow = replace(_narrow(good), problems=(problem,))
    return _Loaded(narrow, narrow, good, text=before.text)


def _narrow(config: ConfigFile) -> ConfigFile:
    """Return what a file says when nobody vouches for it."""
    agents = {name: AgentSection(untrusted(said.layer), said.mode) for name, said in config.agents.items()}
    return replace(config, layer=untrusted(config.layer), agents=agents)


def _allows(config: ConfigFile) -> bool:
    layers = (config.layer, *(section.layer for section in config.agents.values()))
    rules = any(rule.action is Action.ALLOW for layer in layers for rule in layer.rules)
    return rules or any(default.action is Action.ALLOW for layer in layers for default in layer.defaults)

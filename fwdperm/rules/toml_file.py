"""Reading rules and configuration from TOML.

Lives here: `read_config` and `read_layer`: text in, layers, settings and problems out. They touch no disk; `store.py`
does. Never here: what a setting means (the room that it configures checks its value), what a rule decides.

A file that is no TOML gives a broken layer, and an entry that is not understood an ask that only the human may answer:
nothing unreadable ever widens.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from fwdperm.rules.layer import Layer, Problem, Severity, broken_layer
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import LayerKind
from fwdperm.rules.surface import PATH_SURFACES
from fwdperm.rules.toml_lines import KeyPath, locate_keys
from fwdperm.rules.toml_rules import Lines, RulesReader, says_an_action, show

RULESET_BYTES: Final = 4 << 20
"""Bytes in one ruleset file: about forty thousand rules. More is a mistake, and parsing it would hold up everyone."""

SETTINGS: Final = frozenset({"mode", "unattended", "judge", "seat", "workspaces", "guard", "journal"})
"""Keys that a user's configuration may hold beside `rules` and `agents`."""

PROJECT_SETTINGS: Final = frozenset({"grants"})
"""Keys that a project's file may hold beside them: what people granted for every session there."""

_MEANT_RULES: Final = frozenset({"permission", "permissions", "rule", "ruleset", "policy", "allow", "deny", "ask"})
_SURFACES: Final = frozenset({*PATH_SURFACES, "bash", "external", "external_directory", "web", "mcp", "skill", "agent"})


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration value, not yet checked by the room that it is for.

    Attributes:
        value: As TOML gives it: a string, number, list or table.
        line: Where it stands.
        lines: For a table, the line of each key in it.
    """

    value: Any
    line: int
    lines: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentSection:
    """What `[agents.NAME]` says.

    Attributes:
        layer: Its rules.
        mode: Its mode; None when it says nothing.
    """

    layer: Layer
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What one file says.

    Attributes:
        layer: The rules for everybody.
        agents: Sections by agent name.
        mode: The file's mode; None when it says nothing.
        settings: Every setting by key, `mode` included.
        problems: Everything wrong in the whole file.
    """

    layer: Layer
    agents: dict[str, AgentSection] = field(default_factory=dict)
    mode: Mode | None = None
    settings: dict[str, Setting] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_layer(text: str | bytes, *, file: str, kind: LayerKind, agent: str | None = None) -> Layer:
    """Read the rules of a file that may hold rules, agents' sections and `mode`, and nothing else.

    Args:
        text: The file's content; bytes must be UTF-8.
        file: What to call it in origins and messages.
        kind: Whose layer it is.
        agent: Also take the section of this agent, after the rules for everybody.

    Returns:
        The layer, broken when the text cannot be read. Never raises.
    """
    config = read_config(text, file=file, kind=kind, settings=frozenset({"mode"}))
    layer = config.layer
    if agent is None or agent not in config.agents:
        return layer
    section = config.agents[agent].layer
    return Layer(
        kind,
        file,
        rules=layer.rules + section.rules,
        defaults=layer.defaults + section.defaults,
        problems=config.problems,
        broken=layer.broken,
    )


def read_config(text: str | bytes, *, file: str, kind: LayerKind, settings: frozenset[str] = SETTINGS) -> ConfigFile:
    """Read a whole file.

    Args:
        text: The file's content; bytes must be UTF-8.
        file: What to call it in origins and messages.
        kind: Whose layer it is.
        settings: Top-level keys that may stand beside `rules` and `agents`.

    Returns:
        What it says. A file that is no TOML gives a broken layer. Never raises.
    """
    try:
        document, lines = _parse(text)
    except _UnreadableError as cause:
        problem = Problem(file, cause.line, cause.message, cause.remedy)
        return ConfigFile(broken_layer(kind, file, problems=[problem]), problems=(problem,))
    return _File(Lines(file, lines), kind=kind).read(document, settings=settings)


class _UnreadableError(Exception):
    def __init__(self, message: str, *, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.remedy = "mend it, or take the file away"
        if "overwrite" in message:
            self.remedy = 'a name stands once; for a default beside rules write "*" = "ask" first among them'


def _parse(text: str | bytes) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    if len(text) > RULESET_BYTES:
        raise _UnreadableError(f"larger than {RULESET_BYTES >> 20} MiB")
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as cause:
            raise _UnreadableError("not UTF-8", line=cause.object.count(b"\n", 0, cause.start) + 1) from cause
    text = text.removeprefix("\ufeff")
    try:
        return tomllib.loads(text), locate_keys(text)
    except tomllib.TOMLDecodeError as cause:
        message, line = _describe(str(cause), text)
        raise _UnreadableError(message, line=line) from cause
    except RecursionError as cause:
        raise _UnreadableError("nested too deeply") from cause


def _describe(message: str, text: str) -> tuple[str, int]:
    """Split the parser's message into our words and a line."""
    place = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$", message)
    if place is None:
        return f"not valid TOML: {message}", 0
    line = int(place[1]) if place[1] else text.rstrip("\n").count("\n") + 1
    words = message[: place.start()]
    return f"not valid TOML: {words[:1].lower()}{words[1:]}", line


class _File:
    """One file being read: what was found so far."""

    def __init__(self, lines: Lines, *, kind: LayerKind) -> None:
        self.lines = lines
        self.kind = kind
        self.others: list[Problem] = []

    def read(self, document: dict[str, Any], *, settings: frozenset[str]) -> ConfigFile:
        layer = self._section((), document, kind=self.kind)
        agents = self._agents(document.get("agents", {}), known={"rules", *({"mode"} & settings)})
        found: dict[str, Setting] = {}
        stray: list[Problem] = []
        for key, value in document.items():
            if key in settings:
                found[key] = self._setting(key, value)
            elif key not in {"rules", "agents"}:
                stray.append(self._unknown_key((key,), value, known={*settings, "rules", "agents"}))
        mode = self._mode(("mode",), document.get("mode")) if "mode" in settings else None
        errors = tuple(problem for problem in stray if problem.is_error)
        if errors:  # rules in the wrong place: what they would have denied is not known, so the layer adds no allow
            layer = Layer(layer.kind, layer.name, layer.rules, layer.defaults, layer.problems + errors)
        rest = (p for p in (*stray, *self.others) if p not in errors)
        of_agents = (problem for agent in agents.values() for problem in agent.layer.problems)
        problems = sorted((*layer.problems, *of_agents, *rest), key=lambda problem: problem.line)
        return ConfigFile(layer, agents=agents, mode=mode, settings=found, problems=tuple(problems))

    def _agents(self, value: Any, *, known: set[str]) -> dict[str, AgentSection]:
        if not isinstance(value, dict):
            self.others.append(
                self.lines.problem(("agents",), "`agents` is not a table", "write `[agents.NAME.rules.bash]`")
            )
            return {}
        agents = {}
        for name, section in value.items():
            path = ("agents", name)
            if not isinstance(section, dict):
                self.others.append(self.lines.problem(path, f"agent `{name}` is not a table", "write its rules in it"))
                continue
            layer = self._section(path, section, kind=LayerKind.AGENT)
            stray = [
                self._unknown_key((*path, key), inner, known=known)
                for key, inner in section.items()
                if key not in known
            ]
            layer = Layer(layer.kind, layer.name, layer.rules, layer.defaults, (*layer.problems, *stray))
            mode = self._mode((*path, "mode"), section.get("mode")) if "mode" in known else None
            agents[name] = AgentSection(layer, mode=mode)
        return agents

    def _section(self, path: KeyPath, section: dict[str, Any], *, kind: LayerKind) -> Layer:
        """Read the `rules` of the whole file or of an agent."""
        reader = RulesReader(self.lines, kind=kind)
        rules, at = section.get("rules", {}), (*path, "rules")
        match rules:
            case dict():
                reader.read_tables(at, rules)
            case list():
                reader.read_entries(at, rules)
            case _:
                reader.problems.append(self.lines.problem(at, "`rules` is not a table", "write `[rules.bash]`"))
        return reader.layer()

    def _mode(self, path: KeyPath, value: Any) -> Mode | None:
        if value is None:
            return None
        if isinstance(value, str) and value in set(Mode):
            return Mode(value)
        message = f"unknown mode {show(value)}, expected ask, judge or yolo"
        self.others.append(self.lines.problem(path, message, "until then it is ask"))
        return Mode.ASK

    def _setting(self, key: str, value: Any) -> Setting:
        lines = {inner: self.lines.line((key, inner)) for inner in value} if isinstance(value, dict) else {}
        return Setting(value, self.lines.line((key,)), lines)

    def _unknown_key(self, path: KeyPath, value: Any, *, known: set[str]) -> Problem:
        key = str(path[-1])
        holds_rules = says_an_action(value)
        if key.lower() in _MEANT_RULES:
            hint = "did you mean `rules`"
        elif key in _SURFACES:
            hint = f"did you mean `rules.{key}`"
        elif near := get_close_matches(key, known, n=1):
            hint = f"did you mean `{near[0]}`"
        elif holds_rules:
            hint = f"did you mean `rules.{key}`"
        else:
            hint = f"known here: {', '.join(sorted(known))}"
        severity = Severity.ERROR if holds_rules else Severity.WARNING
        return self.lines.problem(path, f"unknown key `{key}`", hint, severity=severity)

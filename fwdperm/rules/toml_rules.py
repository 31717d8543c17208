"""Reading the rules of one section of a TOML file.

Lives here: `Lines`, which knows where things stand in the file, and `RulesReader`. Pure. Never here: the rest of the
file (`toml_file.py`).

What is not understood becomes an ask that only the human may answer; a denial stays one.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from fwdperm.rules.layer import Layer, Problem, Severity
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule

if TYPE_CHECKING:
    from fwdperm.rules.toml_lines import KeyPath

_PARTS: Final = frozenset({"surface", "pattern", "action", "reason", "only"})
_EXPECTED: Final = "expected allow, ask or deny"
_GLANCE: Final = 60
"""Characters of a value that a message shows."""


class Lines:
    """Where things stand in a file.

    Args:
        file: What to call the file.
        found: The line of each path, in file order.
    """

    def __init__(self, file: str, found: dict[KeyPath, int]) -> None:
        self.file = file
        self._found = found
        self._order = {path: number for number, path in enumerate(found)}

    def line(self, path: KeyPath) -> int:
        """Return the line of a path, or of the nearest thing around it; 0 when there is none."""
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, 0)

    def order(self, path: KeyPath) -> int:
        """Return the number of a path in file order."""
        return self._order.get(path, 0)

    def problem(self, path: KeyPath, message: str, remedy: str = "", *, severity: Severity = Severity.ERROR) -> Problem:
        """Make a problem that stands at a path."""
        return Problem(self.file, self.line(path), message, remedy, severity)


class RulesReader:
    """The rules of one section being read."""

    def __init__(self, lines: Lines, *, kind: LayerKind) -> None:
        self.lines = lines
        self.kind = kind
        self.rules: list[tuple[int, Rule]] = []
        self.defaults: list[tuple[int, Default]] = []
        self.problems: list[Problem] = []

    def layer(self) -> Layer:
        """Return what was read, in file order also where tables take turns."""
        self.rules.sort(key=lambda item: item[0])
        self.defaults.sort(key=lambda item: item[0])
        return Layer(
            self.kind,
            self.lines.file,
            rules=tuple(rule for _, rule in self.rules),
            defaults=tuple(default for _, default in self.defaults),
            problems=tuple(self.problems),
        )

    def read_tables(self, path: KeyPath, tables: dict[str, Any]) -> None:
        """Read `[rules]`: a string is a surface's default, a table its patterns."""
        for surface, value in tables.items():
            at = (*path, surface)
            if isinstance(value, dict):
                for pattern, said in value.items():
                    self._add((*at, pattern), surface=surface, pattern=pattern, said=said)
            else:
                self._add_default(at, surface=surface, said=value)

    def read_entries(self, path: KeyPath, entries: list[Any]) -> None:
        """Read `[[rules]]`: one rule each, in an order of their own across surfaces."""
        for number, entry in enumerate(entries):
            at = (*path, number)
            surface = entry.get("surface") if isinstance(entry, dict) else None
            if not isinstance(entry, dict) or not isinstance(surface, str):
                self._complain(at, "a rule without a surface", 'write surface = "bash"')
                continue
            pattern = entry.get("pattern")
            said = {key: value for key, value in entry.items() if key not in {"surface", "pattern"}}
            if isinstance(pattern, str):
                self._add(at, surface=surface, pattern=pattern, said=said)
            elif pattern is None:
                self._add_default(at, surface=surface, said=said.pop("action", None), rest=said)
            else:
                self._complain(at, f"pattern {show(pattern)} is not a string", "quote it")

    def _add_default(self, path: KeyPath, *, surface: str, said: Any, rest: dict[str, Any] | None = None) -> None:
        action = read_action(said)
        if action is None:
            self._complain(path, f"unknown action {show(said)}, {_EXPECTED}")
        for key in rest or {}:
            self._complain((*path, key), f"`{key}` does not go with a default", "give the rule a pattern")
        origin = self._origin(path)
        default = Default(surface, action or Action.ASK, origin, only_human=action is None)
        self.defaults.append((self._order(path), default))

    def _add(self, path: KeyPath, *, surface: str, pattern: str, said: Any) -> None:
        parts = said if isinstance(said, dict) else {"action": said}
        wrong = len(self.problems)
        action = read_action(parts.get("action"))
        if "action" not in parts:
            self._complain(path, f"rule `{pattern}` has no action, {_EXPECTED}")
        elif action is None:
            self._complain(path, f"unknown action {show(parts['action'])}, {_EXPECTED}")
        only_human = self._only(path, parts.get("only"), action=action)
        reason = parts.get("reason", "")
        if not isinstance(reason, str):
            self._complain((*path, "reason"), f"reason {show(reason)} is not a string", "quote it")
            reason = ""
        for key in parts:
            if key not in _PARTS:
                near = get_close_matches(key, _PARTS, n=1)
                hint = f"did you mean `{near[0]}`" if near else "known here: action, only, reason"
                self._complain((*path, key), f"unknown key `{key}` in rule `{pattern}`", hint)
        if len(self.problems) > wrong and action is not Action.DENY:
            action, only_human = Action.ASK, True  # it may have been meant to deny, so neither mode nor judge answers
        rule = Rule(surface, pattern, action or Action.ASK, self._origin(path), reason, only_human)
        self.rules.append((self._order(path), rule))

    def _only(self, path: KeyPath, said: Any, *, action: Action | None) -> bool:
        if said is None:
            return False
        if said != "human":
            self._complain((*path, "only"), f'unknown only {show(said)}, expected "human"')
        elif action is not Action.ASK:
            self._complain((*path, "only"), '`only = "human"` goes with ask alone', 'write action = "ask"')
        return True

    def _complain(self, path: KeyPath, message: str, remedy: str = "") -> None:
        self.problems.append(self.lines.problem(path, message, remedy))

    def _origin(self, path: KeyPath) -> Origin:
        return Origin(self.kind, self.lines.file, self.lines.line(path))

    def _order(self, path: KeyPath) -> int:
        return self.lines.order(path)


def read_action(said: Any) -> Action | None:
    """Return the action that a value names; None when it names none."""
    return Action(said) if isinstance(said, str) and said in set(Action) else None


def says_an_action(value: Any) -> bool:
    """Say whether `allow`, `ask` or `deny` stands somewhere in a value of bounded depth."""
    match value:
        case str():
            return read_action(value) is not None
        case dict():
            return any(map(says_an_action, value.values()))
        case list():
            return any(map(says_an_action, value))
        case _:
            return False


def show(value: Any) -> str:
    """Show a value in a message, on one line and short."""
    words = value if isinstance(value, str) else repr(value)
    words = words.encode("unicode_escape").decode() if not words.isprintable() else words
    return f"`{words[:_GLANCE]}…`" if len(words) > _GLANCE else f"`{words}`"

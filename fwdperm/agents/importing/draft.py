"""The ruleset an import writes: rules in order, and comments on what was left out.

Lives here: `Draft`, `Imported`, and reading JSON with comments. Pure. Never here: a program's own meaning.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import tomlkit

from fwdperm.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ACTIONS: Final = ("allow", "ask", "deny")
PATHS: Final = ("read", "write", "edit", "multiedit", "notebook_edit", "path_read", "path_write")
# What is kept or dropped on the way to plain JSON: `"a // text"` is kept; `// comment`, `/* comment */`, and a comma
# before `}` or `]` (also with a comment in between) are dropped.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?://[^\n]*\s*)*[}\]])', re.DOTALL)
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made.

    Attributes:
        toml: The ruleset's text, comments included.
        dropped: One line for each setting that could not be carried over.
    """

    toml: str
    dropped: tuple[str, ...]


@dataclass(slots=True)
class Draft:
    """Rules by surface, in the order in which they will stand: within a surface the last match wins.

    Attributes:
        kind: The program they come from.
        file: Its settings file.
        default: The action for everything no rule speaks of.
        closed: The least strict action any rule may have, when the settings hold a rule for all tools; empty for none.
    """

    kind: str
    file: str
    default: str = "ask"
    closed: str = ""
    _rules: dict[str, dict[str, str]] = field(default_factory=dict)
    _dropped: list[str] = field(default_factory=list)

    def add(self, surface: str, pattern: str, action: str) -> None:
        """Add a rule at the end; one with the same pattern is replaced."""
        rules = self._rules.setdefault(surface, {})
        rules.pop(pattern, None)
        rules[pattern] = action

    def add_all(self, surfaces: Iterable[str], patterns: Iterable[str], action: str) -> None:
        """Add each pattern to each surface."""
        every = tuple(patterns)
        for surface in surfaces:
            for pattern in every:
                self.add(surface, pattern, action)

    def drop(self, setting: str, why: str) -> None:
        """Leave a setting out, and say why."""
        self._dropped.append(f"{_one_line(setting)}: {why}")

    def finish(self) -> Imported:
        """Write the ruleset."""
        head = [
            f"# Imported from {self.kind}'s settings in {_one_line(self.file)}.",
            "# Within one surface the last match wins. Nothing here allows more than those settings did;",
            "# relative paths are meant from the directory in which the agent works.",
        ]
        if self._dropped:
            head += ["#", "# Not carried over:", *(f"#   {line}" for line in self._dropped)]
        default = strictest((self.default, self.closed)) if self.closed else self.default
        document = [*head, "", "[rules]", f'"*" = "{default}"']
        for surface, rules in self._rules.items():
            name = surface if _KEY.fullmatch(surface) else _quoted(surface)
            document += ["", f"[rules.{name}]"]
            for pattern, action in rules.items():
                told = strictest((action, self.closed)) if self.closed else action
                document.append(f'{_quoted(pattern)} = "{told}"')
        return Imported("\n".join(document) + "\n", tuple(self._dropped))


def read_json_with_comments(text: str, *, file: str) -> dict[str, Any]:
    """Read JSON that may hold comments, and commas before a closing bracket.

    Raises:
        OperatorError: It is none, or no object.
    """

    def kept(match: re.Match[str]) -> str:
        return match[0] if match[0].startswith('"') else " "

    try:
        found = json.loads(_TOKEN.sub(kept, text))
    except (ValueError, RecursionError) as error:
        raise OperatorError(f"no JSON: {error}", file=file) from None
    if not isinstance(found, dict):
        raise OperatorError("no JSON object", file=file)
    return found


def strictest(actions: Iterable[str]) -> str:
    """Give the strictest of some actions; `ask` for none."""
    return max(actions, key=ACTIONS.index, default="ask")


def as_map(value: Any, draft: Draft, *, name: str) -> Mapping[str, str]:
    """Read an action, or a table of patterns and actions, as a table; what is neither is left out and asks."""
    if isinstance(value, str):
        value = {"*": value}
    if not isinstance(value, dict):
        draft.drop(name, "neither an action nor a table of patterns; it asks")
        return {"*": "ask"}
    made = {}
    for pattern, action in value.items():
        if isinstance(action, dict):
            action = action.get("action")  # noqa: PLW2901 - a table with a reason
        if action in ACTIONS:
            made[pattern] = action
        else:
            draft.drop(f"{name} {pattern!r}", f"unknown action {str(action)[:40]!r}; it asks")
            made[pattern] = "ask"
    return made


def _quoted(text: str) -> str:
    return tomlkit.string(text).as_string() if text.isprintable() else json.dumps(text)


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)[:300]

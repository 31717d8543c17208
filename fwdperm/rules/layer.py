"""A layer: the rules of one file or one section, with what was wrong in it.

Lives here: `Layer`, `Problem`, and what counts of a layer that is untrusted or unreadable. Pure.
Never here: reading a layer (`toml_file.py`), joining layers (`ruleset.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from fwdperm.rules.rule import Action, Default, LayerKind, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    """What was written is not known: the layer's allows do not count, and a daemon does not start with it."""
    WARNING = "warning"
    """What was written is known and works, though perhaps not as meant."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a ruleset or configuration that a person should mend.

    Attributes:
        file: The file's name as the operator knows it.
        line: From 1; 0 when it concerns the whole file.
        message: What is wrong: lower case, input in backticks.
        remedy: What to do; may be empty.
        severity: Whether what was written is unknown, or only doubtful.
    """

    file: str
    line: int
    message: str
    remedy: str = ""
    severity: Severity = Severity.ERROR

    @property
    def is_error(self) -> bool:
        """Say whether the layer it stands in lost its allows."""
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        lead = "cannot load ruleset" if self.is_error else "ruleset"
        at = f"line {self.line}: " if self.line else ""
        then = f"; {self.remedy}" if self.remedy else ""
        return f"{lead} `{self.file}`: {at}{self.message}{then}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules and defaults in file order.

    Attributes:
        kind: Whose layer it is.
        name: The file, or a name where there is none.
        rules: In order; a later one wins.
        defaults: In order; a later one wins among those that name the same surface.
        problems: What was wrong while reading it.
        broken: True when nothing of it could be read. Its rules are then the last good denials and asks, and every
            allow of a ruleset that holds it becomes an ask: what it would have denied is not known.
        narrows: True when it may only make things stricter: its ask does not then stand against an earlier denial.
    """

    kind: LayerKind
    name: str
    rules: tuple[Rule, ...] = ()
    defaults: tuple[Default, ...] = ()
    problems: tuple[Problem, ...] = ()
    broken: bool = False
    narrows: bool = False

    @property
    def has_errors(self) -> bool:
        """Say whether something in it is not known."""
        return any(problem.is_error for problem in self.problems)


def untrusted(layer: Layer) -> Layer:
    """Return what a layer may say that nobody vouched for: its denials and asks, where they make things stricter."""
    return replace(
        layer,
        narrows=True,
        rules=tuple(rule for rule in layer.rules if rule.action is not Action.ALLOW),
        defaults=tuple(default for default in layer.defaults if default.action is not Action.ALLOW),
    )


def trimmed(layer: Layer) -> Layer:
    """Return what counts of a layer: all of it, or without its allows while something in it is not known."""
    return untrusted(layer) if layer.has_errors else layer


def broken_layer(kind: LayerKind, name: str, *, problems: Iterable[Problem], last_good: Layer | None = None) -> Layer:
    """Return the layer that stands in for an unreadable one.

    Args:
        kind: Whose layer it is.
        name: The file.
        problems: Why it cannot be read; at least one.
        last_good: What it was before, whose denials and asks go on; None when it never was read.
    """
    kept = untrusted(last_good) if last_good is not None else Layer(kind, name)
    return replace(kept, kind=kind, name=name, problems=tuple(problems), broken=True)

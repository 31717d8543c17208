"""The operator's settings, checked.

Lives here: `Config` and `read_settings`. Pure: it checks values that `rules/toml_file.py` read. Never here: a file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fwdperm.journal import Retention
from fwdperm.policy.judge_config import read_judge
from fwdperm.rules import Problem
from fwdperm.seat import Unattended
from fwdperm.settings import LONGEST_WAIT_S, WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fwdperm.judge import JudgeSetup
    from fwdperm.rules import ConfigFile, Setting


@dataclass(frozen=True, slots=True)
class Config:
    """What the operator set.

    Attributes:
        unattended: What happens to questions while no interface is attached.
        workspaces: Directories that count as workspace, as written (`~` not yet expanded).
        wait_s: Seconds a request waits for a person at most.
        sensitive_read: Further path patterns that must not be read unasked.
        sensitive_write: The same for writing.
        exec_judgeable: Whether test runners and build tools count as routine.
        judge: How the judge is set up; None for no judge.
        keep_days: Days that the journal's lines are kept at least; None for ever.
        keep_bytes: Bytes of the journal past which its oldest lines go; None for no limit.
    """

    unattended: Unattended = Unattended.HOLD
    workspaces: tuple[str, ...] = ()
    wait_s: float = WAIT_S
    sensitive_read: tuple[str, ...] = ()
    sensitive_write: tuple[str, ...] = ()
    exec_judgeable: bool = True
    judge: JudgeSetup | None = None
    keep_days: float | None = None
    keep_bytes: int | None = None

    @property
    def retention(self) -> Retention:
        """How much of the journal is kept."""
        return Retention(days=self.keep_days, size=self.keep_bytes)


class _Reader:
    """Settings while they are checked, and the problems found so far."""

    def __init__(self, file: str, settings: Mapping[str, Setting]) -> None:
        self.file = file
        self.settings = settings
        self.problems: list[Problem] = []

    def value(self, key: str, inner: str = "") -> tuple[Any, int]:
        """Give a setting's value and its line in the file; None when it is not set. `inner` is a key of its table."""
        setting = self.settings.get(key)
        if setting is None:
            return None, 0
        if not inner:
            return setting.value, setting.line
        if not isinstance(setting.value, dict):
            return None, setting.line
        return setting.value.get(inner), setting.lines.get(inner, setting.line)

    def take(self, key: str, inner: str, *, default: Any, check: Callable[[Any], bool], expected: str) -> Any:
        """Give a checked value, or the default and a problem."""
        value, line = self.value(key, inner)
        if value is None:
            return default
        if check(value):
            return value
        name = f"{key}.{inner}" if inner else key
        self.problems.append(Problem(self.file, line, f"`{name}` is `{str(value)[:60]}`, expected {expected}"))
        return default

    def table(self, key: str, known: frozenset[str]) -> None:
        """Complain about a setting that is no table, and about keys in it that nobody reads."""
        value, line = self.value(key)
        if value is not None and not isinstance(value, dict):
            self.problems.append(Problem(self.file, line, f"`{key}` is not a table", f"write `[{key}]`"))
            return
        for inner in value or {}:
            if inner not in known:
                _, at = self.value(key, inner)
                hint = f"known here: {', '.join(sorted(known))}"
                self.problems.append(Problem(self.file, at, f"unknown key `{key}.{inner}`", hint))


def read_settings(config: ConfigFile) -> tuple[Config, tuple[Problem, ...]]:
    """Check the settings of a configuration file.

    Returns:
        The settings, each one that was wrong at its default (never looser than the default), and what was wrong.
    """
    reader = _Reader(config.layer.name, config.settings)
    reader.table("seat", frozenset({"wait_s"}))
    reader.table("guard", frozenset({"sensitive_read", "sensitive_write", "exec_judgeable"}))
    reader.table("journal", frozenset({"keep_days", "keep_bytes"}))
    judge, wrong = read_judge(config.settings.get("judge"), file=config.layer.name)
    unattended = reader.take(
        "unattended",
        "",
        default=Unattended.HOLD,
        check=lambda value: isinstance(value, str) and value in set(Unattended),
        expected="hold or reject",
    )
    made = Config(
        unattended=Unattended(unattended),
        workspaces=tuple(reader.take("workspaces", "", default=(), check=_is_texts, expected="a list of directories")),
        wait_s=float(
            reader.take(
                "seat",
                "wait_s",
                default=WAIT_S,
                check=_is_wait,
                expected=f"a number of seconds from 1 to {int(LONGEST_WAIT_S)}",
            )
        ),
        sensitive_read=_patterns(reader, "sensitive_read"),
        sensitive_write=_patterns(reader, "sensitive_write"),
        exec_judgeable=reader.take(
            "guard",
            "exec_judgeable",
            default=True,
            check=lambda value: isinstance(value, bool),
            expected="true or false",
        ),
        judge=judge,
        # A wrong value counts as no limit: the journal must not lose lines that the operator never gave up.
        keep_days=reader.take(
            "journal", "keep_days", default=None, check=_is_days, expected="a number of days above 0"
        ),
        keep_bytes=reader.take(
            "journal", "keep_bytes", default=None, check=_is_size, expected="a whole number of bytes above 0"
        ),
    )
    return made, (*reader.problems, *wrong)


def _patterns(reader: _Reader, name: str) -> tuple[str, ...]:
    return tuple(reader.take("guard", name, default=(), check=_is_texts, expected="a list of path patterns"))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _is_wait(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= LONGEST_WAIT_S


def _is_days(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0

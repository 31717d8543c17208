"""What a rule is and what it can say.

Lives here: `Action`, `Origin`, `Rule`, `Default`, `RuleFinding`.
Never here: matching (`wildcard.py`, `index.py`), reading a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What a rule says. Ordered by `strictness`: deny, then ask, then allow."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """Rank: allow 0, ask 1, deny 2. The strictest over all units decides."""
        return _STRICTNESS[self]


_STRICTNESS = {Action.ALLOW: 0, Action.ASK: 1, Action.DENY: 2}


class LayerKind(StrEnum):
    """Where a rule was written; later ones are nearer the end and so win."""

    USER = "user"
    PROJECT = "project"
    AGENT = "agent"
    SESSION = "session"
    INLINE = "inline"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rule stands, so that a person can go and change it.

    Attributes:
        kind: The layer it belongs to.
        file: Path of the file, or a name for what stands in none.
        line: Line in that file, from 1; 0 when there is none.
    """

    kind: LayerKind
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or str(self.kind)


@dataclass(frozen=True, slots=True)
class Rule:
    """Surface pattern + value pattern + action.

    Attributes:
        surface: Surface pattern; `*` and `?` are wildcards. `path` stands for every surface whose values are paths,
            `external` for `external_directory`.
        pattern: Value pattern as written.
        action: What it says.
        reason: The operator's own words, told to the agent with a denial.
        only_human: True for an `ask` that session rules and judge may not answer.
        origin: Where it stands.
    """

    surface: str
    pattern: str
    action: Action
    origin: Origin
    reason: str = ""
    only_human: bool = False

    @property
    def is_bare_star(self) -> bool:
        """Say whether it covers every value of its surface: the only kind of allow that may permit the unknowable."""
        return bool(self.pattern) and not self.pattern.strip("*")

    @property
    def is_exact(self) -> bool:
        """Say whether it has no wildcard: the only kind of allow that may permit a critical unit."""
        return "*" not in self.pattern and "?" not in self.pattern


@dataclass(frozen=True, slots=True)
class Default:
    """What a surface gets when no rule matches: `bash = "ask"` under `[rules]`.

    Attributes:
        surface: Surface pattern; a bare `*` is the default of every surface that no other default names.
        action: What it says.
        origin: Where it stands.
        only_human: True for the ask that stands in for an action that could not be read: no mode answers it.
    """

    surface: str
    action: Action
    origin: Origin
    only_human: bool = False


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """What a ruleset says of one unit.

    Attributes:
        action: The verdict. `ALLOW` without a rule is what a default said. It differs from `rule.action` when a mode,
            a broken layer or an unknowable command changed it, and then `note` says so.
        rule: The deciding rule; None when nothing matched and a default spoke (or nobody did, for an auxiliary unit).
        spelling: The spelling that the rule matched; empty without a rule.
        speaks: False for a unit that has no opinion: an auxiliary one that no rule matched, or a remote command that
            only a catch-all ask would have spoken of.
        note: Why the verdict is not what the rule alone says, in words: a broken layer, an unknowable command, a mode,
            a carrier's consent; empty otherwise.
        default: The default that spoke; None with a rule, and for the ask that holds where nothing is written.
    """

    action: Action
    rule: Rule | None = None
    spelling: str = ""
    speaks: bool = True
    note: str = ""
    default: Default | None = None

    @property
    def is_for_the_human(self) -> bool:
        """Say whether it asks, and neither session rules nor judge nor a nearer ruleset may answer."""
        if self.action is not Action.ASK:
            return False
        if self.rule is not None:
            return self.rule.only_human or self.may_forbid
        return self.default is not None and self.default.only_human

    @property
    def may_forbid(self) -> bool:
        """Say whether it asks because a deny may mean it: a part of a search, a word not known, a name it mentions."""
        return self.action is Action.ASK and self.rule is not None and self.rule.action is Action.DENY

    @property
    def strictness(self) -> int:
        """Rank: silent 0, allow 1, ask 2, ask the human alone 3, deny 4."""
        if not self.speaks:
            return 0
        return 1 + self.action.strictness + (self.is_for_the_human or self.action is Action.DENY)

"""The final word on a request, with its evidence.

Lives here: `Decision` and what it is made of. Never here: how it is reached (`decision/order.py`) or written
(`response.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What the requester may do."""

    APPROVED = "approved"
    DENIED = "denied"


class Stage(StrEnum):
    """Who decided. `NOBODY` never comes with an approval."""

    RULE = "rule"
    SESSION_RULE = "session_rule"
    GUARD = "guard"
    JUDGE = "judge"
    HUMAN = "human"
    NOBODY = "nobody"


class UndecidedCode(StrEnum):
    """Why nobody decided."""

    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    UNAVAILABLE = "unavailable"
    MALFORMED = "malformed"
    REPLAYED = "replayed"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class RuleRef:
    """The rule that decided, flat enough for a journal line.

    Attributes:
        surface: Its surface pattern.
        pattern: Its value pattern.
        action: `allow`, `ask` or `deny`.
        origin: `file:line`, or the layer's name.
        layer: The layer's kind.
        id: A session rule's id; empty for a recorded rule.
    """

    surface: str
    pattern: str
    action: str
    origin: str
    layer: str
    id: str = ""

    def __str__(self) -> str:
        return f'{self.surface} "{self.pattern}" ({self.origin})'


@dataclass(frozen=True, slots=True)
class UnitEvidence:
    """What was found for one unit: one line of the explanation.

    Attributes:
        surface: The unit's surface.
        text: Its first spelling.
        action: What the rules say of it: `allow`, `ask`, `deny`, or `-` when none speaks of it.
        rule: The rule that spoke; None for a default.
        danger: Its guard class.
        guard_id: Id of the guard's reason for that class.
        note: Why an allow did not count, or which rule for its carrier allows it; empty otherwise.
        stands: Where in the request it was found.
    """

    surface: str
    text: str
    action: str
    rule: RuleRef | None
    danger: str
    guard_id: str
    note: str = ""
    stands: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """Approved or denied, by whom, and on what evidence.

    Attributes:
        outcome: What the requester may do.
        stage: Who decided.
        reason: What the agent is told, in words that say who decided.
        code: Why nobody decided; None unless `stage` is `NOBODY`.
        note: A person's note; empty when there was none.
        rule: The deciding rule, where one decided.
        by: Name of the interface, model or guard entry that decided; empty otherwise.
        units: Evidence, one line per unit.
        ruleset: Version of the ruleset snapshot it was resolved against.
    """

    outcome: Outcome
    stage: Stage
    reason: str
    code: UndecidedCode | None = None
    note: str = ""
    rule: RuleRef | None = None
    by: str = ""
    units: tuple[UnitEvidence, ...] = ()
    ruleset: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for what must not exist: an approval by nobody, or a code beside somebody who decided."""
        if (self.stage is Stage.NOBODY) != (self.code is not None):
            raise ValueError("a code belongs to exactly those decisions that nobody made")
        if self.stage is Stage.NOBODY and self.outcome is Outcome.APPROVED:
            raise ValueError("nobody cannot approve")

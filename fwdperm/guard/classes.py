"""The classes of danger and what a unit's class looks like.

Lives here: `Danger`, `Assessment`. Never here: the tables that earn a class.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Danger(StrEnum):
    """How bad it could be, mildest first; `rank` orders them."""

    READ_ONLY = "read-only"
    ROUTINE = "routine"
    RULED = "ruled"
    DANGEROUS = "dangerous"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for read-only to 4 for critical; the worst over all units is the request's class."""
        return _RANK[self]


_RANK = {danger: rank for rank, danger in enumerate(Danger)}


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the guard says of a request or of one of its units.

    Attributes:
        danger: The class.
        id: Stable id of the entry that earned it, for the journal: `critical.wipe-root`, `routine.git-log`, ...
        reason: Why, in words for a person.
        words: The words of the request that earned it.
    """

    danger: Danger
    id: str
    reason: str
    words: tuple[str, ...] = ()

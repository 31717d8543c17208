"""From facts to units: what must be permitted for a request to be permitted.

Lives here: one small module per kind of surface, and `breakdown`. Pure. Never here: a rule, a class of danger.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.units.breakdown import Breakdown, break_down
    from fwdperm.units.suggest import suggest_patterns
    from fwdperm.units.suspected import suspected_commands
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "breakdown": ("Breakdown", "break_down"),
            "suggest": ("suggest_patterns",),
            "suspected": ("suspected_commands",),
        },
    )

__all__ = [
    "Breakdown",
    "break_down",
    "suggest_patterns",
    "suspected_commands",
]

"""Guard: deterministic classes of danger.

Lives here: `assess`, and behind it the looks at a command: routine uses (`routine.py`), dangers (`dangers.py`),
catastrophes (`critical.py`, `flows.py`), sensitive paths (`markers.py`), our own files (`self_protection.py`), secrets
shown or sent out (`exfiltration.py`). What is known of a program stands in the book of programs;
`program_page.py` says it in words. Pure.
Never here: a rule, a model, a question to anybody.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.guard.assessment import assess
    from fwdperm.guard.classes import Assessment, Danger
    from fwdperm.guard.program_forms import (
        program_as_json,
        program_as_lines,
        unknown_program_json,
        unknown_program_lines,
    )
    from fwdperm.guard.program_page import describe_program
    from fwdperm.guard.surroundings import Surroundings
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "assessment": ("assess",),
            "classes": ("Assessment", "Danger"),
            "program_page": ("describe_program",),
            "program_forms": (
                "program_as_json",
                "program_as_lines",
                "unknown_program_json",
                "unknown_program_lines",
            ),
            "surroundings": ("Surroundings",),
        },
    )

__all__ = [
    "Assessment",
    "Danger",
    "Surroundings",
    "assess",
    "describe_program",
    "program_as_json",
    "program_as_lines",
    "unknown_program_json",
    "unknown_program_lines",
]

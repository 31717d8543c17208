"""The book of programs: everything this house knows about a program, once.

Lives here: the pages (`book/`, one TOML table a program), the values they become (`program.py`), the look-up that folds
a typed word to the program it means (`folding.py`), the reading of a command by its page (`invocation.py`), variables
of the environment (`variables.py`). Pure, but for `pages.py`, which makes the pages into `compiled.py`.
Never here: a rule, a class of danger decided, a path.

To add a program, add a table: see `docs/how-to/add-a-program.md`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.programs.command_use import CommandUse, read_command_use
    from fwdperm.programs.families import FAMILIES
    from fwdperm.programs.folding import every_program, is_in_family, lookup, lookup_local, name_of, names_of_family
    from fwdperm.programs.invocation import Reading, read_use
    from fwdperm.programs.program import Carries, Files, First, Option, Program, Takes, Use, UsePattern, Wrapping
    from fwdperm.programs.standard import standard_base
    from fwdperm.programs.variables import (
        CODE,
        CODE_HEADS,
        HARMLESS,
        changes_what_runs,
        decides_programs,
        is_harmless_variable,
        runs_code,
    )
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "command_use": ("CommandUse", "read_command_use"),
            "families": ("FAMILIES",),
            "invocation": ("Reading", "read_use"),
            "folding": ("every_program", "is_in_family", "lookup", "lookup_local", "name_of", "names_of_family"),
            "program": ("Carries", "UsePattern", "Files", "First", "Option", "Program", "Takes", "Use", "Wrapping"),
            "standard": ("standard_base",),
            "variables": (
                "CODE",
                "CODE_HEADS",
                "HARMLESS",
                "changes_what_runs",
                "decides_programs",
                "is_harmless_variable",
                "runs_code",
            ),
        },
    )

__all__ = [
    "CODE",
    "CODE_HEADS",
    "FAMILIES",
    "HARMLESS",
    "Carries",
    "CommandUse",
    "Files",
    "First",
    "Option",
    "Program",
    "Reading",
    "Takes",
    "Use",
    "UsePattern",
    "Wrapping",
    "changes_what_runs",
    "decides_programs",
    "every_program",
    "is_harmless_variable",
    "is_in_family",
    "lookup",
    "lookup_local",
    "name_of",
    "names_of_family",
    "read_command_use",
    "read_use",
    "runs_code",
    "standard_base",
]

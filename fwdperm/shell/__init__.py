"""What a command line would run.

Lives here: `parse_line`, the values it gives (`command.py`), the walk over the syntax tree (`walk.py`), quote removal
(`words.py`), the code in a text (`substitution.py`), the table of wrappers (`wrappers.py`) and how their words are read
(`unwrap.py`). Pure: text in, values out. Never here: a rule, a class of danger, a unit.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.shell.command import Command, CommandLine, Redirect, Stands, Word
    from fwdperm.shell.given import ending_of_filled, values_set_once
    from fwdperm.shell.literal import (
        assignments,
        decodes,
        expand,
        feeder,
        literal_input,
        literal_output,
        literal_values,
        put_in,
        unbase64,
    )
    from fwdperm.shell.parsing import parse_line
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "command": ("Command", "CommandLine", "Redirect", "Stands", "Word"),
            "given": ("ending_of_filled", "values_set_once"),
            "literal": (
                "assignments",
                "decodes",
                "expand",
                "feeder",
                "literal_input",
                "literal_output",
                "literal_values",
                "put_in",
                "unbase64",
            ),
            "parsing": ("parse_line",),
        },
    )

__all__ = [
    "Command",
    "CommandLine",
    "Redirect",
    "Stands",
    "Word",
    "assignments",
    "decodes",
    "ending_of_filled",
    "expand",
    "feeder",
    "literal_input",
    "literal_output",
    "literal_values",
    "parse_line",
    "put_in",
    "unbase64",
    "values_set_once",
]

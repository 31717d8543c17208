"""What a command line would run.

Lives here: the values (`command.py`), the walk over the syntax tree (`walk.py`), quote removal (`words.py`), the table
of wrappers (`wrappers.py`) and how their words are read (`carried.py`). Pure: text in, values out.
Never here: a rule, a class of danger, a unit.

`parse_line` loads the grammar on its first call; the values can be had without it.
"""

from __future__ import annotations

from fwdperm.shell.command import Command, Line, Redirect, Stands, Word

__all__ = ["Command", "Line", "Redirect", "Stands", "Word", "parse_line"]


def parse_line(text: str) -> Line:
    """Find every simple command that a command line would run; see `fwdperm.shell.walk.parse_line`."""
    from fwdperm.shell.walk import parse_line as parse  # noqa: PLC0415 - only who parses loads the grammar

    return parse(text)

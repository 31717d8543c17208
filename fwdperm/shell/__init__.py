"""What a command line would run.

Lives here: the values (`command.py`), the walk over the syntax tree (`walk.py`), quote removal (`words.py`), the table of
wrappers (`wrappers.py`) and how their words are read (`carried.py`). Pure: text in, values out.
Never here: a rule, a class of danger, a unit.

`parse_line` loads the grammar on its first call; the values can be had without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwdperm.shell.command import Command, Line, Redirect, Stands, Word

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Command", "Line", "Redirect", "Stands", "Word", "parse_line"]

_parse: Callable[[str], Line] | None = None


def parse_line(text: str) -> Line:
    """Find every simple command that a command line would run; see `fwdperm.shell.walk.parse_line`."""
    global _parse
    if _parse is None:
        from fwdperm.shell.walk import parse_line as parse

        _parse = parse
    return _parse(text)

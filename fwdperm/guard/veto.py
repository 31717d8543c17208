"""What keeps a whole line from being routine, whatever its commands are: it cannot be read by a person, or goes on.

Lives here: `veto_of`. Never here: a look at any one command (`command_line.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.command_web import MOST_COMMANDS
from fwdperm.programs import is_in_family

if TYPE_CHECKING:
    from fwdperm.shell import CommandLine

LONGEST_ROUTINE: Final = 2_000
"""Characters of a line that can still be routine: more than a person takes in."""


_QUOTED: Final = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
r"""What a shell reads as text: `\&`, `'a & b'`, `"a & b"`. Taken away before `&` is looked for."""


_BACKGROUND: Final = re.compile(r"(?<![&<>|])&(?![&>])")
"""A `&` that leaves a job running (`sleep 9 & ls`), and no part of `&&`, `&>`, `>&`, `<&` or `|&`."""


_PADDING: Final = re.compile(r" {40}|\t{10}|(?:\n[ \t]*){4}")
r"""Blanks that push what follows out of sight (`ls\n\n\n\nrm x`): forty in a row, ten tabs, or three empty lines."""


def veto_of(line: CommandLine, text: str) -> Assessment | None:  # noqa: C901 - a fixed order of looks
    """Say what forbids the whole line to be routine."""
    if line.opaque:
        return Assessment(Danger.DANGEROUS, "dangerous.opaque", line.opaque)
    if len(line.commands) > MOST_COMMANDS:
        return Assessment(Danger.DANGEROUS, "dangerous.many", f"more than {MOST_COMMANDS} commands in one line")
    if not text.isascii() or not text.isprintable():
        bad = next((char for char in text if not char.isprintable() and char not in "\n\t"), "")
        if bad:
            return Assessment(
                Danger.DANGEROUS,
                "dangerous.unprintable",
                "characters that do not show what they are",
                (f"U+{ord(bad):04X}",),
            )
        if not text.isascii():
            for command in line.commands:
                if not command.program.isascii():
                    return Assessment(
                        Danger.DANGEROUS,
                        "dangerous.lookalike",
                        "letters of another script in a program's name",
                        (command.program[:80],),
                    )
            return Assessment(Danger.RULED, "ruled.letters", "letters beyond ASCII")
    if len(text) > LONGEST_ROUTINE:
        return Assessment(Danger.RULED, "ruled.long", f"longer than {LONGEST_ROUTINE} characters")
    if _PADDING.search(text):
        return Assessment(Danger.RULED, "ruled.padding", "padding that may push something out of sight")
    if "&" in text and not _opens_a_window(line, text) and _BACKGROUND.search(_QUOTED.sub("", text)):
        return Assessment(Danger.RULED, "ruled.background", "goes on running after the line has ended")
    if line.functions:
        return Assessment(
            Danger.RULED, "ruled.function", "defines functions, so that a name may mean anything", line.functions
        )
    return None


def _opens_a_window(line: CommandLine, text: str) -> bool:
    """Say whether a line is one program with a window, left open: it goes on with or without the `&`."""
    head, sign, rest = text.partition("&")
    return (
        bool(sign)
        and not rest.strip()
        and len(line.commands) == 1
        and not line.commands[0].redirects
        and head.strip() != ""
        and is_in_family(line.commands[0].program, "window")
    )

"""What a command may run besides itself, where its words are not explained: an unknown wrapper whatever stands behind.

Lives here: `suspected_commands`, and `suspected_units` for the rules. Never here: which words are not explained
(`unexplained.py`), what wrappers of the book run (`shell/`), anything that an allow may match.

Guesses, and they may guess too much: `anywrap rm x` may run `rm x`, or take two names. Errs towards a person.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fwdperm.programs import lookup, read_command_use
from fwdperm.rules import Unit
from fwdperm.shell import parse_line
from fwdperm.units.texts import fold
from fwdperm.units.unexplained import unexplained_at

if TYPE_CHECKING:
    from fwdperm.shell import Command

_MOST: Final = 16
"""Words of a command that are looked at."""
_CHARS: Final = 2_000
"""Characters of one word that are read as a line of its own."""
_NAME: Final = re.compile(r"[\w./+-]*[A-Za-z][\w./+-]*")
"""A word that may be the name or the path of a program: `rm`, `./x`, `g++`."""
_ATTACHED: Final = re.compile(r"-[A-Za-z][\w./+-]*[A-Za-z]")
"""An option of one letter that may have its value in the same word: `-xrm`."""
_HEAD: Final = re.compile(r"-[\w-]*=|\w[\w.-]*=|!")
"""What may stand before code in the same word: `--exec=`, `SHELL=`, `alias.x=`, `!`."""


def suspected_commands(command: Command) -> list[Command]:
    """Give the commands that unexplained words of a command may be.

    Args:
        command: One that the reading of wrappers found nothing in.

    Returns:
        For each such word the command that begins with it; for one with blanks in it, the commands of that line.
    """
    found: list[Command] = []
    for at in unexplained_at(command)[:_MOST]:
        word = command.words[at]
        if not word.known:
            continue
        if _NAME.fullmatch(word.text) and not word.text.startswith("-"):
            rest = command.words[at:]
            raw = " ".join([one.raw for one in rest])
            found.append(replace(command, words=rest, raw=raw, prefixes=(), redirects=()))
            continue
        text = word.text
        if _ATTACHED.match(text):
            rest = (replace(word, text=text[2:], raw=text[2:]), *command.words[at + 1 :])
            found.append(
                replace(command, words=rest, raw=" ".join([one.raw for one in rest]), prefixes=(), redirects=())
            )
            continue
        while head := _HEAD.match(text):
            text = text[head.end() :]
        if text and not text.startswith("-") and len(text) <= _CHARS:
            line = parse_line(text)
            found.extend(one for one in line.commands if one.words and not line.opaque)
    return found


def suspected_units(command: Command) -> tuple[Unit, ...]:
    """Give what `ask` and `deny` rules may match of the commands that a command may run."""
    found: dict[str, Unit] = {}
    for one in suspected_commands(command):
        argv = one.argv
        text = fold(" ".join(argv))
        if text in found:
            continue
        base = argv[0].rpartition("/")[2]
        others = (fold(" ".join((base, *argv[1:]))),) if base and base != argv[0] else ()
        uses = read_command_use(list(argv)) if lookup(argv[0]) is not None else ()
        found[text] = Unit("bash", (text,), others, stands="suspected", uses=uses)
    return tuple(found.values())

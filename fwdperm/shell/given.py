"""What a line itself says of words that are filled in when it runs: values set once, and names that `find` prints.

Lives here: `values_set_once`, `ending_of_filled`. Pure. Never here: values that a line may or may not give
(`literal.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.programs import Carries, Takes, lookup

if TYPE_CHECKING:
    from fwdperm.shell.command import Command, CommandLine, Word

_OTHERWISE: Final = frozenset({"-o", "-or", "!", "-not", ","})
"""Signs of `find` with which a `-name` does not hold for all that is found."""
_GLOB: Final = re.compile(r"[*?]|\[[^]]*\]?")
"""A part of a pattern that stands for something: `*`, `?`, `[a-z]`."""


def values_set_once(line: CommandLine, text: str, name: str) -> list[Word]:
    """Give the values of a variable that one `for` over known words sets, or one literal, and nothing else of the line.

    Args:
        line: The parsed line.
        text: The line as typed: any other mention of the name counts as another place that may set it.
        name: The variable.

    Returns:
        Its values; nothing where they are not known for sure. The line may leave the variable alone (`false && x=a`):
        then the environment's value counts, which a line before this one does not reach.
    """
    values = [word for one, word in line.loops if one == name]
    for command in line.commands:
        values += [word for one, word in command.prefixes if one == name and not command.words]
    if not values or not all(word.known for word in values):
        return []
    uses = re.findall(rf"(?<![\w$])(?<!\$\{{){re.escape(name)}(?!\w)", text)
    return values if len(uses) == 1 else []


def ending_of_filled(line: CommandLine, index: int) -> str:
    """Give how the paths end that a wrapper puts into a command, where `find -name` says so; empty where nobody does.

    Args:
        line: The parsed line.
        index: The command that is filled.
    """
    source = line.commands[index].carrier
    while source >= 0 and not _finds(line.commands[source]) and line.commands[source].fed_by < 0:
        source = line.commands[source].carrier
    if source >= 0 and not _finds(line.commands[source]):
        source = line.commands[source].fed_by
    if _reads_a_list(line.commands[line.commands[index].carrier]):
        return ""
    words = line.commands[source].words if source >= 0 and _finds(line.commands[source]) else ()
    texts = [word.text for word in words]
    named = [at + 1 for at, text in enumerate(texts[:-1]) if text == "-name"]
    if len(named) != 1 or not words[named[0]].known or not _OTHERWISE.isdisjoint(texts):
        return ""
    return _GLOB.split(texts[named[0]])[-1]


def _finds(command: Command) -> bool:
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.style is Carries.FIND


def _reads_a_list(command: Command) -> bool:
    """Say whether a wrapper is told another place to read from than its input (`xargs -a list`)."""
    program = lookup(command.program)
    options = program.use.options.items() if program is not None else ()
    heads = tuple(spelling for spelling, option in options if option.takes is Takes.INPUT)
    return bool(heads) and any(word.text.startswith(heads) for word in command.words[1:])

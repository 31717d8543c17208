"""A command as it will be once its unknown words are filled in, where the line itself says by what.

Lives here: `filled_in`. Pure. Never here: whether that is a routine use (`routine.py`).

`for f in src/*.py; do wc -l "$f"; done` is `wc -l src/*.py`; `find . -name '*.py' | xargs grep x` reads files that end
in `.py`. What is made here stands for every command that will run; where one may be another, nothing is made.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fwdperm.guard.writing import ENDINGS
from fwdperm.programs import lookup
from fwdperm.shell import Word, ending_of_filled, values_set_once

if TYPE_CHECKING:
    from fwdperm.shell import Command, CommandLine

_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
"""A word that is one variable: `$f`, `${f}`."""
_EXEC: Final = ("-exec", "-execdir")
_MOST: Final = 16
"""Commands that are made of one."""


def filled_in(line: CommandLine, index: int, text: str) -> list[Command]:
    """Give the commands that a command with unknown words stands for.

    Args:
        line: The parsed line.
        index: The command's place in it.
        text: The line as typed.

    Returns:
        Every one of them, by an example where they are alike; nothing where that is not known.
    """
    command = line.commands[index]
    if command.filled:
        return _given_files(command, ending_of_filled(line, index))
    if any(word.text in _EXEC for word in command.words):
        return _with_what_it_runs(line, index)
    if _puts_behind(command):
        return _what_it_runs(line, index)
    return _in_loop(command, line, text) if any(not word.known for word in command.words) else []


def _given_files(command: Command, ending: str) -> list[Command]:
    """Give a command with an example of the files that it is given: by a name that says they are sources."""
    if ending.removeprefix(".") not in ENDINGS or ending[:1] != ".":
        return []
    example = Word(f"x{ending}", f"x{ending}")
    words = tuple(example if word.text == "{}" else word for word in command.words)
    return [replace(command, words=words if words != command.words else (*words, example), filled=False)]


def _with_what_it_runs(line: CommandLine, index: int) -> list[Command]:
    """Give `find` without the commands that it runs, and those with the files that they are given."""
    command = line.commands[index]
    alone, made = _without_execs(command), _what_it_runs(line, index)
    if len(made) < sum(word.text in _EXEC for word in command.words) or not alone:
        return []
    return [*alone, *made]


def _what_it_runs(line: CommandLine, index: int) -> list[Command]:
    """Give the commands that a wrapper runs, with the files that they are given; none where one is not known."""
    carried = [at for at, one in enumerate(line.commands) if one.carrier == index and one.wrapped_by]
    made = [_given_files(line.commands[at], ending_of_filled(line, at)) for at in carried if line.commands[at].filled]
    return [one for some in made for one in some] if len(made) == len(carried) and all(made) else []


def _puts_behind(command: Command) -> bool:
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.appends


def _without_execs(command: Command) -> list[Command]:
    """Give `find` without the commands that it runs: those stand in the line, too."""
    words: list[Word] = []
    is_inside = False
    for word in command.words:
        if not is_inside and word.text in _EXEC:
            is_inside = True
        elif not is_inside:
            words.append(word)
        elif word.text in (";", "+"):
            is_inside = False
    return [] if is_inside else [replace(command, words=tuple(words))]


def _in_loop(command: Command, line: CommandLine, text: str) -> list[Command]:
    """Give a command once for each value of the variables that it names."""
    made = [command]
    for word in command.words:
        found = None if word.known else _VARIABLE.fullmatch(word.text)
        if found is None:
            if not word.known:
                return []
            continue
        values = values_set_once(line, text, found[1] or found[2])
        if not values or len(made) * len(values) > _MOST:
            return []
        made = [_with(one, word, value) for one in made for value in values]
    return made


def _with(command: Command, unknown: Word, value: Word) -> Command:
    return replace(command, words=tuple(value if word is unknown else word for word in command.words))

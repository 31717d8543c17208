"""Text of a command that its program's page does not explain: code, unknown options, whatever an unknown program takes.

Lives here: `unexplained_text`, `unexplained_at`, `files_to_run`. Pure. Never here: what is looked for in it
(`rules/mentions.py`), what it may run (`suspected.py`), paths (`operands.py`).

A word is explained when the book says what it is, and it is neither code nor a command: a path has units of its own, a
message or a pattern is only text. Errs towards unexplained.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from fwdperm.programs import Files, First, Takes, is_harmless_variable, lookup, read_use

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.programs import Option, Program, Reading
    from fwdperm.shell import Command, CommandLine, Word

_UNREADABLE: Final = frozenset(
    {Takes.SETTING, Takes.VARIABLE, Takes.PROGRAM, Takes.SHELL, Takes.COMMAND, Takes.CODE, Takes.WORDS, Takes.SECRET}
)
"""Values that are code, a command, or a setting that may name one."""
_EXPLAINED: Final = frozenset(
    {
        Takes.NOTHING,
        Takes.PATTERN,
        Takes.PROSE,
        Takes.NUMBER,
        Takes.INPUT,
        Takes.OUTPUT,
        Takes.CHDIR,
        Takes.READ,
        Takes.ARCHIVE,
    }
    | {Takes.NAME, Takes.TREE, Takes.WRITE, Takes.NEW, Takes.GOES}
)
"""Values that are a path, which is a unit, or text that nothing is done with."""
_TEXTS: Final = frozenset({Takes.TEXT, Takes.PATTERN, Takes.PROSE})
"""What operands of a routine use are where nothing is done with them but show or search for them."""
_CODE: Final = frozenset({First.CODE, First.SED, First.AWK})
"""First operands that may run a command or name a file."""
_PATHS: Final = frozenset(
    {Files.READ, Files.WRITE, Files.CHANGE, Files.WRITE_LAST, Files.MOVE, Files.OF, Files.READ_THEN_WRITE}
)
_RUNS_OPERANDS: Final = frozenset({"interpreter", "argument runner", "script runner", "editor", "database client"})
"""Families whose operands may be code, or what code is made of."""
_TAKES_AWAY: Final = frozenset({Files.MOVE, Files.WRITE_LAST})
_SOURCES: Final = frozenset({".", "source"})
_PLAIN: Final = re.compile(r"[\w.-]+")
"""A word that can only be a name of the program's own, where it opens no files: `man rm`."""
_BLANK: Final = re.compile(r"\s")
"""A blank, which names of programs do not have: `a b/c` is rather text."""
_CHAIN: Final = 8
"""Commands of a pipe whose text is looked at."""


def unexplained_text(line: CommandLine, index: int, *, is_carrier: bool) -> str:
    """Give the text of a command in which the name of something denied counts.

    Args:
        line: The line.
        index: The command's place in it.
        is_carrier: Whether commands found in its words are units of their own.

    Returns:
        The text; empty where all of it is explained. It holds what is written to files and what unexplained commands
        read from a pipe or a here-document, too.
    """
    command = line.commands[index]
    words = [] if is_carrier else unexplained_at(command)
    parts = [command.words[at].text for at in words]
    parts += [command.program] if "/" in command.program else []
    parts += [value.text for name, value in command.prefixes if not (is_harmless_variable(name) and value.known)]
    is_written = any(one.writes for one in command.redirects)
    if words or is_written or _reads_names_or_code(command):
        parts += [one.target.text for one in command.redirects if one.operator.startswith("<<")]
        parts += [word.text for word in command.words[1:]] if is_written else []
        parts += _fed(line, index)
    return "\n".join(parts)


def files_to_run(command: Command) -> str:
    """Give the files that a command copies, links, moves or runs, or may: a denied program under another name is it."""
    program = lookup(command.program)
    if program is None:
        return ""
    words = [word.text for word in command.words[1:]]
    if program.use.files in _TAKES_AWAY or program.use.first is First.SCRIPT or command.base in _SOURCES:
        return "\n".join(words)
    paths = [word for word in words if "/" in word and not _BLANK.search(word)]
    return "\n".join(paths) if paths and not _may_be_routine(command, _reading(command, program)) else ""


def _fed(line: CommandLine, index: int) -> Iterator[str]:
    """Give the text of the commands that a command reads from."""
    for _ in range(_CHAIN):
        index = line.commands[index].fed_by
        if index < 0:
            return
        writer = line.commands[index]
        yield writer.raw
        yield from (one.target.text for one in writer.redirects if one.operator.startswith("<<"))


def _reads_names_or_code(command: Command) -> bool:
    """Say whether what a command reads may be code or names of files: unless it is a use known to be routine."""
    program = lookup(command.program)
    return program is None or not _may_be_routine(command, _reading(command, program))


def _may_be_routine(command: Command, reading: Reading) -> bool:
    """Say whether a command is of a routine use, as far as the options that the use needs tell."""
    use = reading.use
    return bool(use.routine) and (not use.requires or not use.requires.isdisjoint(command.argv))


def _reading(command: Command, program: Program) -> Reading:
    return read_use(program, [word.text for word in takewhile(lambda word: word.known, command.words)])


def unexplained_at(command: Command) -> list[int]:
    """Give the places of the words that the book does not explain."""
    words = command.words
    program = lookup(command.program) if words else None
    if program is None:
        return list(range(1, len(words)))
    return list(_unexplained_at(words, program, _reading(command, program)))


def _unexplained_at(words: Sequence[Word], program: Program, reading: Reading) -> Iterator[int]:
    has_code = reading.use.first in _CODE
    is_explained = _explains_operands(program, reading)
    is_name = (bool(reading.use.routine) or _files(program, reading) is Files.NONE) and (
        not program.families & _RUNS_OPERANDS
    )
    only_operands = False
    at = 1
    while at < len(words):
        text = words[at].text
        is_option = not only_operands and text[:1] in ("-", "+") and len(text) > 1
        if is_option and not (reading.use.unknown_is_text and _option(reading, text, at) is None):
            only_operands = text == "--"
            width, is_known, gives_code = _look_at_option(reading, text, at)
            has_code = has_code and not gives_code
            yield from () if is_known else range(at, min(at + max(width, 1 + gives_code), len(words)))
            at += width
            continue
        if at >= reading.at and (has_code or not (is_explained or (is_name and _PLAIN.fullmatch(text)))):
            yield at
            has_code = False
        at += 1


def _explains_operands(program: Program, reading: Reading) -> bool:
    """Say whether plain operands of a use are known to be paths, which are units, or text that nothing is done with."""
    if program.families & _RUNS_OPERANDS:
        return False
    return _files(program, reading) in _PATHS or (bool(reading.use.routine) and reading.use.operands in _TEXTS)


def _files(program: Program, reading: Reading) -> Files:
    return reading.use.files if reading.use.files is not Files.UNKNOWN else program.use.files


def _look_at_option(reading: Reading, text: str, at: int) -> tuple[int, bool, bool]:
    """Give how many words an option takes, whether it and its value are explained, and whether its value is code."""
    option = _option(reading, text, at)
    if option is None:
        return 1, text == "--" or _is_cluster(reading, text, at), False
    takes_next = option.takes is not Takes.NOTHING and not option.is_attached and "=" not in text
    is_known = option.takes in _EXPLAINED or (option.is_accepted and option.takes not in _UNREADABLE)
    return 1 + takes_next, is_known, option.takes is Takes.CODE


def _option(reading: Reading, text: str, at: int) -> Option | None:
    return reading.option_at(text, at) or (
        reading.option_at(text.partition("=")[0], at) if text.startswith("--") else None
    )


def _is_cluster(reading: Reading, text: str, at: int) -> bool:
    """Say whether a word is several known options without values: `-rf`."""
    letters = [reading.option_at(f"{text[0]}{letter}", at) for letter in text[1:]]
    return not text.startswith("--") and all(one is not None and one.takes is Takes.NOTHING for one in letters)

"""Which words of a command name paths, and whether it reads or writes them.

Lives here: `path_operands` and its tables. Never here: the names of a path (`paths.py`).

A word that is no path costs nothing (no rule matches it); a path that is missed costs a deny. So it leans towards more,
but for scripts and patterns, which only look like paths.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.programs import Carries, Files, First, Program, Takes, lookup, read_use

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.programs import Option, Reading
    from fwdperm.shell import Command, Word


_KEY: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=(.+)", re.DOTALL)
"""A word that may hold a path behind a name: `if=/etc/x`, `src=a/b`."""
_SHORT_VALUE: Final = re.compile(r"-[A-Za-z]((?:~|\.{0,2})/.*|@.*)", re.DOTALL)
"""A path in the same word as a short option: `-f/etc/x`, `-C../x`, `-T~/x`, `-d@file`."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
"""The head of an address, which is no path: `https://h/x`."""
_IN_PLACE: Final = re.compile(r"-[A-Za-z]*i|--in-place")
"""An option by which a program changes the files it reads: `-i`, `-ni`, `--in-place`."""
_OUTPUT: Final = re.compile(
    r"(?P<name>--(?:output(?:-file|-document|-dir|-directory)?|out(?:-?file|-?dir)?)|-out|-fprint0?|-fprintf|-fls)(?:=(?P<value>.+))?",
    re.DOTALL,
)
"""An option that names a file to write, whatever the program: `--output=x`, `--out-dir`, `-fprint`."""
_WRITTEN: Final = (Takes.OUTPUT, Takes.ARCHIVE)
"""Values that are a file that may be written."""
_CLUSTER: Final = re.compile(r"-[A-Za-z0-9].", re.DOTALL)
"""The head of a word that may be several options of one letter, or one and its value: `-czf`, `-sSo/x`, `-o/x`."""
_NO_PATHS: Final = (Takes.CODE, Takes.PATTERN, Takes.PROSE, *_WRITTEN)
"""Values that are no path that is read, though they may look like one; files that are written are found apart."""
_PATHS: Final = (Takes.INPUT, Takes.CHDIR, Takes.READ, Takes.NAME, Takes.TREE, Takes.WRITE)
"""Values that are a path, which is read or gone to."""
_UNKNOWN: Final = Program("")
"""The page of a program that the book does not know."""


class Operand(NamedTuple):
    """One path operand.

    Attributes:
        word: The word it stands in.
        text: The path in it.
        writes: True when the command changes it.
    """

    word: Word
    text: str
    writes: bool = False


def path_operands(command: Command) -> list[Operand]:
    """Find the paths among a command's words.

    Returns:
        Operands in order; a path that is read and written comes twice.
    """
    program = lookup(command.program) or _UNKNOWN
    reading = read_use(program, [word.text for word in takewhile(lambda word: word.known, command.words)])
    files = reading.use.files if reading.use.files is not Files.UNKNOWN else program.use.files
    if not command.words or ("shell" in program.families and _runs_code(command)):
        return []
    found = list(_candidates(command, reading, files))
    if _searches(program):
        found += _starts(command.words)
    found += _outputs(command, reading)
    if files is Files.WRITE:
        return [one._replace(writes=True) for one in found]
    if files is Files.OF:
        return [one._replace(writes=one.word.text.startswith("of=")) for one in found]
    if files in (Files.WRITE_LAST, Files.MOVE):
        return list(_last_written(found, command, moves=files is Files.MOVE))
    if files is Files.READ_THEN_WRITE:
        first = _first_operand(command, reading)
        return [one if one.word is first else one._replace(writes=True) for one in found]
    if files is Files.CHANGE or _edits_in_place(command, program):
        return [*found, *(one._replace(writes=True) for one in found)]
    return found


def surfaces_of_operands(command: Command) -> tuple[str, ...]:
    """Say what a command does with files that it is given: read them, write them, or both where that is not known."""
    program = lookup(command.program)
    if program is None:
        return ("path_read", "path_write")
    reading = read_use(program, [word.text for word in takewhile(lambda word: word.known, command.words)])
    files = reading.use.files if reading.use.files is not Files.UNKNOWN else program.use.files
    if files in (Files.NONE, Files.TEXT):
        return ()
    if files is Files.READ and not _edits_in_place(command, program):
        return ("path_read",)
    return ("path_write",) if files is Files.WRITE else ("path_read", "path_write")


def _searches(program: Program) -> bool:
    return program.use.wrapping is not None and program.use.wrapping.style is Carries.FIND


def _edits_in_place(command: Command, program: Program) -> bool:
    """Say whether a command changes the files that it reads."""
    words = command.words[1:]
    if _searches(program):
        return any(word.text == "-delete" for word in words)
    return "edits in place" in program.families and any(_IN_PLACE.match(word.text) for word in words)


def _outputs(command: Command, reading: Reading) -> Iterator[Operand]:
    """Find the files that options name to be written: alone, or the last of a cluster of letters."""
    words = command.words
    written = (Takes.OUTPUT,) if _looks_into_an_archive(command, reading) else _WRITTEN
    for at, word in enumerate(words[1:], start=1):
        found = _OUTPUT.fullmatch(word.text)
        option, rest = _option_of(word.text, at, reading)
        if found and found["value"]:
            yield Operand(word, found["value"], writes=True)
        elif found is None and (option is None or option.takes not in written):
            continue
        elif rest:
            yield Operand(word, rest, writes=True)
        elif at + 1 < len(words):
            yield Operand(words[at + 1], words[at + 1].text, writes=True)


def _option_of(text: str, at: int, reading: Reading) -> tuple[Option | None, str]:
    """Give the option of a word that takes a value or stands alone, and what of its value stands in the same word."""
    found = list(_options_of(text, at, reading))
    if not found:
        return None, ""
    option, rest = found[-1]
    return option, "" if rest == "-" else rest


def _options_of(text: str, at: int, reading: Reading) -> Iterator[tuple[Option, str]]:
    """Give the options that a word is, each with what stands behind it: of a cluster up to the first with a value.

    Nothing where a letter is no option: then it is no cluster.
    """
    option = reading.option_at(text, at)
    if option is not None:
        yield option, ""
        return
    if not _CLUSTER.match(text) or reading.use.dash_is_word:
        return
    found: list[tuple[Option, str]] = []
    for position in range(1, len(text)):
        option = reading.option_at("-" + text[position], at)
        if option is None:
            return
        if option.takes is not Takes.NOTHING:
            found.append((option, text[position + 1 :]))
            break
        found.append((option, ""))
    yield from found


def _looks_into_an_archive(command: Command, reading: Reading) -> bool:
    """Say whether an archive that an option names is only read: it is listed or unpacked."""
    return any(
        not {"--list", "--extract"}.isdisjoint(option.spellings)
        for at, word in enumerate(command.words[1:], start=1)
        for option, _ in _options_of(word.text, at, reading)
    )


def _runs_code(command: Command) -> bool:
    """Say whether a shell is given code, whose paths are those of its own commands."""
    return any(word.text.startswith("-") and "c" in word.text and word.text[1:2] != "-" for word in command.words[1:])


def _first_operand(command: Command, reading: Reading) -> Word | None:
    """Give the first word that is neither an option nor the value of one; `-`, for standard input, is an operand."""
    words = iter(enumerate(command.words[1:], start=1))
    for at, word in words:
        if word.text == "-" or not word.text.startswith("-"):
            return word
        option = reading.option_at(word.text, at)
        if option is not None and option.takes is not Takes.NOTHING and not option.is_attached:
            next(words, None)
    return None


def _last_written(found: list[Operand], command: Command, *, moves: bool) -> Iterator[Operand]:
    # `lwp-download ADDRESS FILE`: what is read is no path
    reads_more = len(found) > 1 or any(_URL.match(word.text) for word in command.words[1:])
    into = next((at for at, word in enumerate(command.words) if word.text in ("-t", "--target-directory")), -1)
    target = command.words[into + 1] if 0 < into < len(command.words) - 1 else None
    for at, one in enumerate(found):
        is_target = one.word is target if target is not None else at + 1 == len(found)
        if is_target and reads_more:
            yield one._replace(writes=True)
        else:
            yield one
            if moves:
                yield one._replace(writes=True)


def _candidates(command: Command, reading: Reading, files: Files) -> Iterator[Operand]:
    words = command.words
    first = reading.use.first
    takes_files = files not in (Files.UNKNOWN, Files.TEXT, Files.OF) or first is not First.FILE
    has_code = first not in (First.FILE, First.SCRIPT) and not _is_code_given(words, reading)
    only_operands = False
    at = 1
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        if not only_operands and text.startswith("-") and len(text) > 1:
            only_operands = text == "--"
            value = words[at] if at < len(words) else None
            found = _in_value(reading.option_at(text, at - 1), value)
            at += found is not None
            yield from found if found is not None else _in_option(word, takes_files=takes_files)
        elif at <= reading.at or files is Files.NONE:
            continue  # a subcommand: every option before it is known, and so is its value
        elif has_code:
            # On BSD and macOS an empty word behind `-i` is its value (`sed -i '' s/a/b/ f`): the script is yet to come.
            has_code = text == "" and first is First.SED and _IN_PLACE.fullmatch(words[at - 2].text) is not None
        else:
            yield from _in_word(word, takes_files=takes_files)


def _in_value(option: Option | None, value: Word | None) -> list[Operand] | None:
    """Give the paths in the value that an option takes from the next word; None where it takes none."""
    if option is None or value is None or option.is_attached or option.takes is Takes.NOTHING:
        return None
    if option.takes in _PATHS:
        return [Operand(value, value.text)]
    if option.takes in _NO_PATHS:
        return []
    return list(_in_word(value, takes_files=False))


def _is_code_given(words: Sequence[Word], reading: Reading) -> bool:
    """Say whether an option gives the code or pattern that would else be the first operand."""
    for word in words[1:]:
        option = reading.option(word.text) or (
            reading.option(word.text.partition("=")[0]) if word.text.startswith("--") else None
        )
        if option is not None and option.takes in (Takes.CODE, Takes.PATTERN, Takes.INPUT):
            return True
    return False


def _starts(words: Sequence[Word]) -> Iterator[Operand]:
    """Find where a `find` starts: the words before its expression."""
    for word in words[1:]:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.text.startswith(("-", "(", "!")):
            return
        yield Operand(word, word.text)


def _in_option(word: Word, *, takes_files: bool) -> Iterator[Operand]:
    text = word.text
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        if equals and (_looks_like_path(value) or (takes_files and name in ("--file", "--files-from", "--output"))):
            yield Operand(word, value)
        return
    found = _SHORT_VALUE.fullmatch(text)
    if found:
        yield Operand(word, found[1].lstrip("@"))


def _in_word(word: Word, *, takes_files: bool) -> Iterator[Operand]:
    text = word.text
    if _URL.match(text) and not text.lower().startswith("file:"):
        return
    found = _KEY.fullmatch(text)
    if found and (_looks_like_path(found[2]) or found[1] in ("if", "of")):
        yield Operand(word, found[2])
    elif text.startswith("@") and len(text) > 1:
        yield Operand(word, text[1:])
    elif text and text != "-" and (takes_files or _looks_like_path(text)):
        yield Operand(word, text)


def _looks_like_path(text: str) -> bool:
    return "/" in text or text.startswith(("~", ".", "$HOME", "${HOME}", "file:"))

"""Holding a command against the positive list.

Lives here: the reading of programs, variables, flags and redirects. Never here: the list (`positive.py`), operands
(`operands.py`), anything that looks for danger: what is not recognised in full is simply not routine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.operands import NotRoutine, check_canonical, check_operands, check_readable, check_value
from fwdperm.guard.positive import (
    ALIASES,
    HARMLESS_VARIABLES,
    LOCAL_PROGRAMS,
    MODULES,
    MUST_HAVE,
    RUNNERS,
    SHOWS_VERSION,
    STANDARD_DIRECTORIES,
    TABLE,
    Entry,
    Takes,
)
from fwdperm.guard.writing import below, is_plain_directory, why_not_ordinary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.guard.surroundings import Ground
    from fwdperm.shell.command import Command, Word

_INDEX: Final[dict[str, tuple[Entry, ...]]] = {
    name: tuple(sorted((entry for entry in TABLE if entry.program == name), key=lambda entry: -len(entry.words)))
    for name in {entry.program for entry in TABLE}
}
_VALUE: Final = re.compile(r"(?!/)(?!.*\.\.)[A-Za-z0-9_.:,=@%+/* -]*$")
_VERSION: Final = Entry("version", "", "shows a version")


def routine_entry(command: Command, ground: Ground) -> Entry | str:
    """Hold one command against the positive list.

    Args:
        command: The command; its redirects and prefixes are looked at too.
        ground: Where it runs.

    Returns:
        The entry that accepts it in full, else why none does, in words. Fails toward the reason.
    """
    try:
        return _held(command, ground)
    except NotRoutine as reason:
        return str(reason)


def _held(command: Command, ground: Ground) -> Entry:  # noqa: C901, PLR0912 - a fixed order of looks
    if command.opaque or command.remote:
        raise NotRoutine(command.opaque or "runs on another machine")
    if not command.words:
        raise NotRoutine("no program")
    for word in command.words:
        if not word.known:
            raise NotRoutine(f"`{word.raw}` is not known before it runs")
    if command.words[0].raw != command.program and not command.wrapped_by:
        raise NotRoutine(f"`{command.words[0].raw}` is not how anyone types `{command.program}`")
    if not ground.is_in_workspace:
        raise NotRoutine("not run in the workspace")
    if command.prefixes:
        _check_prefixes(command, ground)
    program = _program(command.program)
    is_local = command.program in LOCAL_PROGRAMS
    words: Sequence[Word] = command.words[1:]
    if program == "python" and len(words) > 1 and words[0].text == "-m" and words[1].text in MODULES:
        # Python looks for the module in the workspace first.
        program, words, is_local = words[1].text, words[2:], True
    elif program == "git":
        while words and words[0].text in {"--no-pager", "-P"}:
            words = words[1:]
    elif len(words) > 1 and (program, words[0].text) in RUNNERS:
        program, words = _program(words[1].text), words[2:]
        if program == "python" and len(words) > 1 and words[0].text == "-m" and words[1].text in MODULES:
            program, words = words[1].text, words[2:]
        if program not in MODULES and not any(entry.runs for entry in _INDEX.get(program, ())):
            raise NotRoutine(f"`{program}` is no checking tool")
    if (
        len(words) == 1
        and not is_local
        and words[0].text == "--version"
        and program in SHOWS_VERSION
        and not command.redirects
    ):
        return _VERSION
    entries = _INDEX.get(program)
    if entries is None:
        raise NotRoutine(f"`{program}` is on no positive list")
    for entry in entries:
        lead = len(entry.words)
        if lead == 0 or tuple(word.text for word in words[:lead]) == entry.words:
            _check_words(entry, words[lead:], ground)
            break
    else:
        raise NotRoutine(f"`{program} {words[0].text if words else ''}` is on no positive list".replace(" `", "`"))
    if entry.runs or is_local:
        if not ground.surroundings.exec_judgeable:
            raise NotRoutine("running the project's code is not left to the judge here")
        if any(part.startswith(".") for part in below(ground.cwd, ground)):
            raise NotRoutine("what it makes would land in a hidden directory")
    for redirect in command.redirects:
        if redirect.writes:
            problem = (
                why_not_ordinary(ground.resolve(redirect.target.text), ground)
                if redirect.target.known and not redirect.target.glob
                else "target unknown"
            )
            if problem:
                raise NotRoutine(f"writes `{redirect.target.text}`: {problem}")
            check_canonical(redirect.target.text, ground)
        elif redirect.reads:
            check_readable(redirect.target, ground)
        elif not redirect.target.known:
            raise NotRoutine("reads text that is not known before it runs")
    return entry


def _program(typed: str) -> str:
    if typed in LOCAL_PROGRAMS:
        return LOCAL_PROGRAMS[typed]
    directory, _, base = typed.rpartition("/")
    if "/" in typed and directory not in STANDARD_DIRECTORIES:
        raise NotRoutine(f"`{typed}` is not the program of that name")
    return ALIASES.get(base, base)


def _check_prefixes(command: Command, ground: Ground) -> None:
    for name, value in command.prefixes:
        if not value.known:
            raise NotRoutine(f"variable `{name}` is not known before it runs")
        if name == "PYTHONPATH":
            for part in value.text.split(":"):
                if not part or (problem := is_plain_directory(ground.resolve(part), ground)):
                    raise NotRoutine(f"`PYTHONPATH` leads to `{part}`: {problem if part else 'no directory'}")
        elif name not in HARMLESS_VARIABLES or not _VALUE.match(value.text):
            raise NotRoutine(f"variable `{name}` before the command")


def _check_words(entry: Entry, words: Sequence[Word], ground: Ground) -> None:  # noqa: C901, PLR0912 - one walk over options
    operands: list[Word] = []
    seen: set[str] = set()
    at, count = 0, len(words)
    takes_all = entry.id == "echo"
    while at < count:
        word = words[at]
        text = word.text
        at += 1
        if takes_all or len(text) < 2 or text[0] != "-":  # noqa: PLR2004 - `-` alone is standard input
            if text in entry.flags:
                seen.add(text)
            else:
                operands.append(word)
            continue
        if text == "--":
            if entry.operands is Takes.NOTHING:
                continue
            operands.extend(words[at:])
            break
        if text in entry.flags:
            seen.add(text)
            continue
        name, equals, value = text.partition("=")
        kind = entry.valued.get(name)
        if kind is not None and (equals or name == text):
            seen.add(name)
            if equals:
                check_value(kind, word, value, ground)
            elif at < count:
                check_value(kind, words[at], words[at].text, ground)
                at += 1
            else:
                raise NotRoutine(f"`{text}` lacks its value")
            continue
        if entry.numbers and text[1:].isdigit():
            continue
        if entry.words_only or text.startswith("--"):
            raise NotRoutine(f"flag `{name}` of `{entry.program}` is not on the positive list")
        at = _check_cluster(entry, words, at, seen, ground)
    must = MUST_HAVE.get(entry.id)
    if must and not (must & seen):
        raise NotRoutine(
            f"`{entry.program}` without {' or '.join(f'`{flag}`' for flag in sorted(must))} may change files"
        )
    check_operands(entry, operands, seen, ground)


def _check_cluster(entry: Entry, words: Sequence[Word], at: int, seen: set[str], ground: Ground) -> int:
    """Read `-abc`, whose last letter may take the rest or the next word; give where reading goes on."""
    word = words[at - 1]
    letters = word.text
    for position in range(1, len(letters)):
        flag = "-" + letters[position]
        kind = entry.valued.get(flag)
        if kind is not None:
            seen.add(flag)
            rest = letters[position + 1 :]
            if rest:
                check_value(kind, word, rest, ground)
                return at
            if at >= len(words):
                raise NotRoutine(f"`{flag}` lacks its value")
            check_value(kind, words[at], words[at].text, ground)
            return at + 1
        if flag not in entry.flags and letters[position] not in entry.letters:
            raise NotRoutine(f"flag `{flag}` of `{entry.program}` is not on the positive list")
        seen.add(flag)
    return at

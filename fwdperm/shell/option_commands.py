"""Commands that options run, of programs that are no wrappers: `tar --to-command=X`, `nix develop -c X y`.

Lives here: `commands_of_options`. Never here: wrappers (`unwrap.py`, `wrapper_options.py`), which options and settings
run something (the book of programs).

Errs towards more: an option is looked for in every word, and a long one in every abbreviation.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from fwdperm.programs import Takes, lookup
from fwdperm.shell.command import Word
from fwdperm.shell.inner_command import UNKNOWN_CODE, InnerCommand, Unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.programs import Option, Program, Reading

_RUNS: Final = frozenset({Takes.PROGRAM, Takes.SHELL, Takes.COMMAND, Takes.SETTING})
_BARE: Final = re.compile(r"[\w+-]+")
"""A name without a path: `less`."""
_NAMED: Final = re.compile(r"[\w.'\"-]*[\w.-]=")
"""A setting of which the name is known: `core.pager=$X`."""
_NO_PROGRAM: Final = re.compile(r"(?:\d[\d.]*)?|@.*", re.DOTALL)
"""A value that names no program though the option may: none at all, a version (`3.12`), a reference (`@file`)."""


def commands_of_options(program: Program, words: Sequence[Word], reading: Reading) -> Unwrapped | None:
    """Read what a command's options run.

    Args:
        program: Its program's page.
        words: The command's words, the program first.
        reading: Which use of the program it is.

    Returns:
        What they run, opaque where it is not known; None where no option runs anything.
    """
    result = Unwrapped("")
    for option, value, at in _given(program, words, reading):
        if option.takes is Takes.COMMAND:
            behind = tuple(words[at:])
            result.carried.extend([InnerCommand(behind)] if behind else [])
            break
        if option.takes is Takes.SETTING:
            _add_setting(result, program, value)
        else:
            _add(result, _without_head(value))
    return result if result.carried or result.opaque else None


def _add_setting(result: Unwrapped, program: Program, given: Word) -> None:
    """Give what a setting makes the program run: `core.pager=less`, and `alias.x=!cmd`, whose sign is dropped."""
    name, _, value = given.text.partition("=")
    if program.running_settings and not given.known and not _NAMED.match(given.raw):
        result.opaque = UNKNOWN_CODE
    elif any(fnmatchcase(name.strip().lower(), pattern) for pattern in program.running_settings):
        value = value.strip().lstrip("!")
        _add(result, Word(value, value, known=given.known))


def _without_head(value: Word) -> Word:
    """Drop what says that a command follows: `exec=` of `tar --checkpoint-action=exec=CMD`."""
    text = value.text.removeprefix("exec=")
    return value if text == value.text else Word(text, text, known=value.known)


def _add(result: Unwrapped, value: Word) -> None:
    """Give what runs, unless it is nothing, or a program that by its bare name does nothing but show its input."""
    shown = lookup(value.text) if value.known and _BARE.fullmatch(value.text) else None
    is_harmless = shown is not None and bool(shown.use.routine) and "interpreter" not in shown.families
    if not (is_harmless or (value.known and _NO_PROGRAM.fullmatch(value.text))):
        result.add_code(value)


def _given(program: Program, words: Sequence[Word], reading: Reading) -> Iterator[tuple[Option, Word, int]]:
    """Yield each option that runs something, with its value and the index of the first word that belongs to it."""
    if program.bundles and len(words) > 1 and words[1].text[:1] != "-":
        yield from _in_bundle(words, reading)
    for at, word in enumerate(words[1:], start=1):
        text = word.text
        if text[:1] not in ("-", "+") or len(text) == 1:
            continue
        if text == "--":
            return
        name, equals, value = text.partition("=")
        meant = _long(reading, name, at) if text.startswith("--") else [reading.option_at(text, at)]
        for option in meant:
            if option is None or option.takes not in _RUNS:
                continue
            if equals and name != text:
                yield option, Word(value, value, known=word.known), at
            elif not option.is_attached and at + 1 < len(words):
                yield option, words[at + 1], at + 1
        if meant == [None]:
            yield from _in_cluster(words, reading, at)


def _long(reading: Reading, name: str, at: int) -> list[Option | None]:
    """Find a long option; by an abbreviation all that it may be."""
    exact = reading.option_at(name, at)
    if exact is not None:
        return [exact]
    return [option for use in reversed(reading.uses) for full, option in use.options.items() if full.startswith(name)]


def _in_bundle(words: Sequence[Word], reading: Reading) -> Iterator[tuple[Option, Word, int]]:
    """Look through options without a dash, whose values stand behind them in turn: `cfI a.tar gzip`."""
    at = 2
    for letter in words[1].text:
        option = reading.option_at(f"-{letter}", 1)
        if option is None or option.takes is Takes.NOTHING or at >= len(words):
            continue
        if option.takes in _RUNS:
            yield option, words[at], at
        at += 1


def _in_cluster(words: Sequence[Word], reading: Reading, at: int) -> Iterator[tuple[Option, Word, int]]:
    """Look through several options in one word, the last of which may have its value there too: `-xfIzstd`."""
    text, known = words[at].text, words[at].known
    for place in range(1, len(text)):
        option = reading.option_at(f"{text[0]}{text[place]}", at)
        if option is None:
            continue
        if option.takes in _RUNS:
            rest = text[place + 1 :]
            if rest:
                rest = rest.removeprefix("=")
                yield option, Word(rest, rest, known=known), at
            elif at + 1 < len(words):
                yield option, words[at + 1], at + 1
        if option.takes is not Takes.NOTHING:
            return

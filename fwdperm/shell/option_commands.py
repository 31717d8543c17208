"""Commands that options run, of programs that are no wrappers: `tar --to-command=X`, `nix develop -c X y`.

Lives here: `commands_of_options`. Never here: wrappers (`unwrap.py`, `wrapper_options.py`), settings in which a command
may hide (`git -c`), which the book calls dangerous.

Errs towards more: an option is looked for in every word, and a long one in every abbreviation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.programs import Takes
from fwdperm.shell.command import Word
from fwdperm.shell.inner_command import InnerCommand, Unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.programs import Option, Reading

_RUNS: Final = frozenset({Takes.PROGRAM, Takes.SHELL, Takes.COMMAND})
_NO_PROGRAM: Final = re.compile(r"[\d.]*|@.*", re.DOTALL)
"""A value that names no program though the option may: none at all, a version (`3.12`), a reference (`@file`)."""


def commands_of_options(words: Sequence[Word], reading: Reading) -> Unwrapped | None:
    """Read what a command's options run.

    Args:
        words: The command's words, the program first.
        reading: Which use of the program it is.

    Returns:
        What they run, opaque where it is not known; None where no option runs anything.
    """
    result = Unwrapped("")
    for option, value, at in _given(words, reading):
        if option.takes is Takes.COMMAND:
            behind = tuple(words[at:])
            result.carried.extend([InnerCommand(behind)] if behind else [])
            break
        if not (value.known and _NO_PROGRAM.fullmatch(value.text)):
            result.add_code(value)
    return result if result.carried else None


def _given(words: Sequence[Word], reading: Reading) -> Iterator[tuple[Option, Word, int]]:
    """Yield each option that runs something, with its value and the index of the first word that belongs to it."""
    for at, word in enumerate(words[1:], start=1):
        text = word.text
        if text[:1] not in ("-", "+") or len(text) == 1:
            continue
        if text == "--":
            return
        name, equals, value = text.partition("=")
        option = _long(reading, name, at) if text.startswith("--") else reading.option_at(text, at)
        if option is not None and option.takes in _RUNS:
            if equals and name != text:
                yield option, Word(value, value, known=word.known), at
            elif not option.is_attached and at + 1 < len(words):
                yield option, words[at + 1], at + 1
        elif option is None and not text.startswith("--"):
            yield from _in_cluster(words, reading, at)


def _long(reading: Reading, name: str, at: int) -> Option | None:
    """Find a long option, also by an abbreviation of one that runs something."""
    exact = reading.option_at(name, at)
    if exact is not None:
        return exact
    longer = (option for use in reading.uses for full, option in use.options.items() if full.startswith(name))
    return next((option for option in longer if option.takes in _RUNS), None)


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

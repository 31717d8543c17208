"""A wrapper's own options, read off the front of its words by its page in the book of programs.

Lives here: `read_options`, and the assignments that some wrappers take like options. Never here: what stands behind the
options (`unwrap.py`), a shell's own options (`shell_program.py`).

Errs towards not knowing: an option that the page does not list may take the next word, or not, and is remembered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fwdperm.programs import Carries, Takes
from fwdperm.shell.command import Word
from fwdperm.shell.words import split_words

if TYPE_CHECKING:
    from fwdperm.programs import Option, Program, Use, Wrapping

ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
"""The head of an assignment: `x=`, `PATH+=`."""


@dataclass(slots=True)
class WrapperOptions:
    """Options read off the front of a wrapper's words.

    Attributes:
        at: Index of the next word to read.
        seen: Every spelling of each option that was given; `digits` for one like `-5`.
        values: The values that options took, in order.
        unknown: True when the page does not list one of them, so that the command's beginning is not certain.
    """

    at: int = 1
    seen: set[str] = field(default_factory=set)
    values: list[tuple[Option, Word]] = field(default_factory=list)
    unknown: bool = False

    def value(self, takes: Takes) -> Word | None:
        """Give the first value of an option that takes this; None when there is none."""
        return next((word for option, word in self.values if option.takes is takes), None)


@dataclass(frozen=True, slots=True)
class WrapperUse:
    """A use that carries a command, with how it does: what reading its words needs."""

    program: Program
    use: Use
    wrapping: Wrapping

    def takes(self, kind: Takes) -> bool:
        """Say whether an option of this use takes such a value."""
        return any(option.takes is kind for option in self.use.options.values())


def read_options(words: list[Word], row: WrapperUse, *, options: WrapperOptions) -> None:
    """Advance `options.at` past options; a word whose value is not known ends them.

    Args:
        words: The wrapper's words; where an option's value is split into words (`env -S`), they are put in here.
        row: The wrapper's use.
        options: What was read before, and is added to.
    """
    splits = row.takes(Takes.WORDS)
    while options.at < len(words):
        word = words[options.at]
        text = word.text
        if not word.known or not text.startswith("-"):
            if _is_assignment(word, row):
                options.unknown = options.unknown or not _is_one_word(word)
                options.at += 1
                continue
            return
        if text == "-" and not (splits or row.wrapping.style is Carries.CODE):
            return
        options.at += 1
        if text == "--":
            while options.at < len(words) and _is_assignment(words[options.at], row):
                options.at += 1
            return
        if text == "-":
            options.seen.add("-")
        elif text.startswith("--"):
            _long_option(words, row, text, options=options)
        elif row.wrapping.digits and text[1:].lstrip("-").isdigit():
            options.seen.add("digits")
        else:
            _short_options(words, row, text[1:], options=options)


def _is_assignment(word: Word, row: WrapperUse) -> bool:
    """Say whether a word before the command sets a variable; for the shell itself only where its name is not quoted."""
    text = word.raw if "reserved word" in row.program.families else word.text
    return row.wrapping.assigns and ASSIGNMENT.match(text) is not None


def _is_one_word(word: Word) -> bool:
    """Say whether the shell makes exactly one word of it: an unquoted expansion may become several."""
    return word.known or (word.raw.partition("=")[2][:1] == '"' and word.raw.endswith('"'))


def _long_option(words: list[Word], row: WrapperUse, text: str, *, options: WrapperOptions) -> None:
    name, equals, value = text.partition("=")
    option = row.use.options.get(name)
    if option is None:
        longer = {id(one): one for full, one in row.use.options.items() if full.startswith(name)}
        if len(longer) != 1:
            options.unknown = True
            options.seen.add(name)
            return
        option = next(iter(longer.values()))
    options.seen.update(option.spellings)
    if equals:
        _take(words, option, Word(value, value), options=options)
    elif option.takes is not Takes.NOTHING and not option.is_attached and options.at < len(words):
        options.at += 1
        _take(words, option, words[options.at - 1], options=options)


def _short_options(words: list[Word], row: WrapperUse, letters: str, *, options: WrapperOptions) -> None:
    for place, letter in enumerate(letters):
        option = row.use.options.get(f"-{letter}")
        if option is None:
            options.seen.add(f"-{letter}")
            options.unknown = True
            continue
        options.seen.update(option.spellings)
        if option.takes is Takes.NOTHING:
            continue
        rest = letters[place + 1 :]
        if rest or option.is_attached:
            _take(words, option, Word(rest, rest), options=options)
        elif options.at < len(words):
            options.at += 1
            _take(words, option, words[options.at - 1], options=options)
        return


def _take(words: list[Word], option: Option, value: Word, *, options: WrapperOptions) -> None:
    options.values.append((option, value))
    if option.takes is Takes.WORDS:
        words[options.at : options.at] = split_words(value.text) if value.known else [value]

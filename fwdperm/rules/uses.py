"""Denies and asks of a use of a program, found however the command is written.

Lives here: `UseIndex`. Pure. Never here: reading a command by its program's page (`programs/command_use.py`), allows:
they are matched by text alone.

`"git push --force *"` is about a program, its subcommand and an option. It covers every command that has these, with
other options among them and global ones before; `"rm -rf *"` covers `rm -r -f x`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.programs import CommandUse, read_command_use
from fwdperm.rules.wildcard import Wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WILD: Final = frozenset("*?")


class _UsePattern(NamedTuple):
    """What a pattern says of a use.

    Attributes:
        words: Subcommands and operands; the first ones of a command that it covers. A word with a wildcard is one.
        options: Options that a command has to have; one may have a wildcard.
        has_more: True when further words and options may follow.
    """

    words: tuple[str, ...]
    options: frozenset[str]
    has_more: bool

    def covers(self, use: CommandUse) -> bool:
        """Say whether a command is such a use."""
        if len(use.words) < len(self.words) or (not self.has_more and len(use.words) > len(self.words)):
            return False
        if not all(_is_like(wanted, word) for wanted, word in zip(self.words, use.words, strict=False)):
            return False
        if not all(_has(use.options, wanted) for wanted in self.options):
            return False
        return self.has_more or all(
            option in use.before or any(_is_like(wanted, option) for wanted in self.options) for option in use.options
        )


class UseIndex:
    """Patterns of one surface by the program they name.

    Args:
        patterns: (position, pattern as written) of rules that ask or deny.
    """

    __slots__ = ("_by_program",)

    def __init__(self, patterns: Iterable[tuple[int, str]]) -> None:
        self._by_program: dict[str, list[tuple[int, _UsePattern]]] = {}
        for position, pattern in patterns:
            for program, made in _read_pattern(pattern):
                self._by_program.setdefault(program, []).append((position, made))

    def covering(self, uses: Sequence[CommandUse]) -> list[int]:
        """Return the position of every pattern that covers one of the readings of a command, latest first."""
        found = {
            position
            for use in uses
            for position, pattern in self._by_program.get(use.program, ())
            if pattern.covers(use)
        }
        return sorted(found, reverse=True)


def _read_pattern(pattern: str) -> Iterator[tuple[str, _UsePattern]]:
    """Read a pattern as a command; nothing where its program is not plain, or it names nothing but a program."""
    words = pattern.split()
    has_more = len(words) > 1 and words[-1] == "*"
    words = words[:-1] if has_more else words
    if len(words) < 1 + has_more or not words or _WILD & set(words[0]) or "/" in words[0] or words[-1] == "*":
        return
    if has_more is False and "*" in words[-1]:
        has_more = words[-1].endswith("*")  # `git push*` goes on, in this word or in others
    for use in read_command_use(words):
        options = frozenset(one for one in use.options if "=" not in one or _named(one, words))
        if use.words or options:
            yield use.program, _UsePattern(use.words, options, has_more)


def _named(option: str, words: Sequence[str]) -> bool:
    """Say whether a value belongs to the pattern's own words, as in `-n prod`: then a command has to have it too."""
    return option.partition("=")[2] in " ".join(words)


def _has(options: frozenset[str], wanted: str) -> bool:
    return wanted in options or (bool(_WILD & set(wanted)) and any(_is_like(wanted, one) for one in options))


def _is_like(wanted: str, word: str) -> bool:
    return wanted == word or (bool(_WILD & set(wanted)) and Wildcard(wanted).matches(word))

"""A command as its program reads it: which use, which options, which operands, however they are written.

Lives here: `CommandUse`, `read_command_use`. Pure. Never here: what a rule makes of it (`rules/uses.py`).

`git -C x push -f origin` and `git push --force origin` are one use: global options stand apart, an option has one
name, and where it stands does not count. It is read for `ask` and `deny`: where a
word may be read in two ways, both count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.programs.folding import lookup
from fwdperm.programs.program import Takes, Use

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.programs.program import Option

_NO_PAGE: Final = Use()
_SHORTEST: Final = 4
"""Characters of the shortest long option that is taken for an abbreviation: `--f` may be many."""


class CommandUse(NamedTuple):
    """One reading of a command.

    Attributes:
        program: The program's canonical name.
        words: Its subcommands by their canonical names, then its operands, as they stand.
        options: The names of its options, the canonical ones where the book has them; with each value also
            `name=value`. A `--` is one.
        typed: The same words as `words`, as they were typed.
        before: Those of them that stand before the subcommand, or the first operand where there is none.
    """

    program: str
    words: tuple[str, ...]
    options: frozenset[str]
    typed: tuple[str, ...] = ()
    before: frozenset[str] = frozenset()


def read_command_use(words: Sequence[str]) -> tuple[CommandUse, ...]:
    """Read a command by its program's page.

    Args:
        words: The command's words after quote removal, the program first; at least one.

    Returns:
        One reading; two where an option is not known, for it may take the next word or not. The program of a command
        that the book does not know is its name without the directory, and every option of it is an unknown one.
    """
    first = _Reader(words, unknown_takes=False)
    use = first.read()
    if not first.met_unknown:
        return (use,)
    other = _Reader(words, unknown_takes=True).read()
    return (use,) if other == use else (use, other)


class _Reader:
    """One pass over the words."""

    __slots__ = (
        "at",
        "before",
        "found",
        "met_unknown",
        "options",
        "program",
        "typed",
        "unknown_takes",
        "uses",
        "words",
    )

    def __init__(self, words: Sequence[str], *, unknown_takes: bool) -> None:
        page = lookup(words[0])
        self.program = page.name if page is not None else words[0].rpartition("/")[2]
        self.uses = [page.use if page is not None else _NO_PAGE]
        self.words = words
        self.at = 1
        self.found: list[str] = []
        self.options: set[str] = set()
        self.typed: list[str] = []
        self.before: frozenset[str] = frozenset()
        self.unknown_takes = unknown_takes
        self.met_unknown = False

    def read(self) -> CommandUse:
        only_operands = False
        while self.at < len(self.words):
            text = self.words[self.at]
            self.at += 1
            if not only_operands and text[:1] in ("-", "+") and len(text) > 1:
                if text == "--":
                    only_operands = True
                    self.options.add(text)
                else:
                    self._option(text)
                continue
            self.typed.append(text)
            sub = None if only_operands else self.uses[-1].subs.get(text)
            if sub is not None and len(self.found) == len(self.uses) - 1:
                self.uses.append(sub)
                text = sub.words[-1] if sub.words else text
                self.before = frozenset(self.options)
            elif not self.found:
                self.before = frozenset(self.options)
            self.found.append(text)
        return CommandUse(self.program, tuple(self.found), frozenset(self.options), tuple(self.typed), self.before)

    def _option(self, text: str) -> None:
        name, equals, value = text.partition("=")
        given = value if equals else None
        option = self._find(name)
        likely = self._abbreviated(name) if option is None and text.startswith("--") else []
        if option is not None:
            self._take(option.name, given, takes=_takes_next(option))
        elif likely:
            self.options.update(one.name for one in likely)
            self._take(likely[0].name, given, takes=_takes_next(likely[0]))
        elif text.startswith("--") or self.uses[-1].dash_is_word or text[0] == "+":
            self._unknown(name, given)
        else:
            self._cluster(text)

    def _find(self, name: str) -> Option | None:
        return next((use.options[name] for use in reversed(self.uses) if name in use.options), None)

    def _abbreviated(self, name: str) -> list[Option]:
        """Find the long options that a word may abbreviate: most programs take `--forc` for `--force`."""
        if len(name) < _SHORTEST:
            return []
        longer = {
            option.name: option
            for use in self.uses
            for spelling, option in use.options.items()
            if spelling.startswith(name)
        }
        return list(longer.values())

    def _cluster(self, text: str) -> None:
        """Read `-rfv` as its letters; what stands behind one that takes a value is its value."""
        for place, letter in enumerate(text[1:], start=1):
            option = self._find(f"-{letter}")
            if option is None:
                if place == 1:
                    self._unknown(text, None)
                self.options.add(f"-{letter}")
            elif option.takes is Takes.NOTHING:
                self.options.add(option.name)
            else:
                rest = text[place + 1 :]
                self._take(option.name, rest or None, takes=_takes_next(option))
                return

    def _unknown(self, name: str, value: str | None) -> None:
        self.met_unknown = self.met_unknown or value is None
        self._take(name, value, takes=self.unknown_takes)

    def _take(self, name: str, value: str | None, *, takes: bool) -> None:
        self.options.add(name)
        if value is None and takes and self.at < len(self.words):
            value = self.words[self.at]
            self.at += 1
        if value is not None:
            self.options.add(f"{name}={value}")


def _takes_next(option: Option) -> bool:
    return option.takes is not Takes.NOTHING and not option.is_attached

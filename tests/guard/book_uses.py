"""The routine uses and the dangers of the whole book, for tests that go through all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fwdperm.programs.folding import every_program
from fwdperm.programs.program import Takes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.programs.program import Danger, Program, Use


class Routine(NamedTuple):
    """One routine use with its program, under the name that its id is written for."""

    program: Program
    use: Use

    @property
    def id(self) -> str:
        return self.use.routine

    @property
    def lead(self) -> list[str]:
        return [self.program.name, *self.use.words]

    @property
    def flags(self) -> set[str]:
        """Accepted options that take nothing, or need nothing."""
        return {
            spelling
            for spelling, option in self.use.options.items()
            if option.is_accepted and (option.takes is Takes.NOTHING or option.is_attached)
        }

    @property
    def valued(self) -> dict[str, Takes]:
        """Accepted options with a value in the next word."""
        return {
            spelling: option.takes
            for spelling, option in self.use.options.items()
            if option.is_accepted and option.takes is not Takes.NOTHING and not option.is_attached
        }


def routine_uses() -> list[Routine]:
    """Give every routine use of the book."""
    return [Routine(program, use) for program in every_program() for use in _below(program.use)]


def _below(use: Use) -> Iterator[Use]:
    if use.routine:
        yield use
    seen: set[int] = set()
    for sub in use.subs.values():
        if id(sub) not in seen:
            seen.add(id(sub))
            yield from _below(sub)


def listed_dangers() -> list[tuple[Program, Danger]]:
    """Give every danger with the program that lists it."""
    return [(program, danger) for program in every_program() for danger in program.dangers]

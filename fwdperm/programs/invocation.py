"""Reading a command by its program's page: which use it is, behind the options of the program itself.

Lives here: `read_use`. Pure. Never here: what a use means for a rule, a unit or a class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fwdperm.programs.program import Takes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.programs.program import Option, Program, Use


class Reading(NamedTuple):
    """Which use of a program a command is.

    Attributes:
        uses: The program itself, then its subcommands as far as the words name them.
        at: Index of the first word behind the last subcommand; 1 where there is none.
    """

    uses: tuple[Use, ...]
    at: int

    @property
    def use(self) -> Use:
        """The innermost use."""
        return self.uses[-1]

    def option(self, spelling: str) -> Option | None:
        """Find an option behind the subcommand: of the innermost use, else of an outer one that takes them anywhere."""
        found = self.use.options.get(spelling)
        if found is not None:
            return found
        return next((use.options[spelling] for use in self.uses[:-1] if use.anywhere and spelling in use.options), None)

    def option_at(self, spelling: str, at: int) -> Option | None:
        """Find the option that a word may be, wherever it stands.

        Before the subcommand the program's own options come first, behind it the subcommand's; where the nearer use has
        none, the other's counts: looking for files, one too many is better than one too few.
        """
        outer = next((use.options[spelling] for use in self.uses if spelling in use.options), None)
        return (self.option(spelling) or outer) if at >= self.at else outer


def read_use(program: Program, words: Sequence[str]) -> Reading:
    """Find the subcommand that a command names, behind options that stand before it.

    Args:
        program: The program's page.
        words: The command's words after quote removal, the program first. They end before the first word whose value
            is not known.

    Returns:
        The innermost use that surely is meant. An option that the page does not have ends the search: whether it takes
        the next word is not known.
    """
    uses = [program.use]
    at, behind = 1, 1
    while at < len(words) and uses[-1].subs:
        text = words[at]
        sub = uses[-1].subs.get(text)
        if sub is not None:
            uses.append(sub)
            at = behind = at + 1
            continue
        step = _width(Reading(tuple(uses), behind), text)
        if step == 0:
            break
        at += step
    return Reading(tuple(uses), behind)


def _width(reading: Reading, text: str) -> int:
    """Give how many words an option takes, itself included; 0 for a word that is no known option."""
    if text[:1] not in ("-", "+") or len(text) == 1:
        return 0
    name, equals, _ = text.partition("=")
    option = reading.option(name)
    if option is not None:
        return 2 if option.takes is not Takes.NOTHING and not option.is_attached and not equals else 1
    if text.startswith("--") or reading.use.dash_is_word:
        return 0
    letters = [reading.option(f"{text[0]}{letter}") for letter in text[1:]]
    for place, letter in enumerate(letters):
        if letter is None:
            return 0
        if letter.takes is not Takes.NOTHING:
            return 2 if place + 1 == len(letters) and not letter.is_attached else 1
    return 1

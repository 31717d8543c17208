"""What only a person may allow: destructive, secret-exposing, system-wide, privileged, lasting, remote, opaque.

Lives here: the look-up of a command among the dangers that its program's page lists. Never here: the list (the book of
programs), catastrophes (`critical.py`). What is missing there does not become routine: only a routine use does that.
The list keeps a user's rule from covering it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.programs import lookup, read_command_use

if TYPE_CHECKING:
    from fwdperm.programs import Use, UsePattern

_SHORTEST: Final = 4
"""Characters of a long option, dashes included, that are not yet taken for the beginning of one."""


def danger_of(argv: tuple[str, ...]) -> tuple[UsePattern, tuple[str, ...]] | None:
    """Find the first danger that a command is.

    Args:
        argv: Its words after quote removal, the program first.

    Returns:
        The danger and the words that earned it; None when the program's page has nothing to say.
    """
    program = lookup(argv[0]) or lookup(argv[0].rpartition("/")[2].partition(".")[0])
    for danger in program.dangers if program is not None else ():
        words = earned(danger, argv)
        if words is not None:
            return danger, words
    return None


def earned(danger: UsePattern, argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """Give the words by which a command is a danger, the program first; None when it is not."""
    verbs = _verbs(danger, argv)
    if verbs is None:
        return None
    words = [argv[0], *verbs]
    if danger.options or danger.operands:
        found = next((word for word in argv[1:] if _is_among(word, danger)), None)
        if found is None:
            return None
        words.append(found)
    return tuple(words)


def _verbs(danger: UsePattern, argv: tuple[str, ...]) -> list[str] | None:
    """Give the words of a command that are a danger's subcommand; None where it has another.

    Where the page knows the command's own subcommand that is the one that counts: `git stash push` pushes nothing.
    Else (a subcommand or an option that the page does not have) the words count wherever they stand.
    """
    program = lookup(argv[0])
    if program is not None and danger.words and program.use.subs:
        uses = read_command_use(argv)
        if len(uses) == 1 and uses[0].typed and uses[0].typed[0] in program.use.subs:
            return _at_their_place(danger, uses[0].typed, program.use)
    found: list[str] = []
    rest = iter([word for word in argv[1:] if not word.startswith("-")])
    for wanted in danger.words:
        word = next((word for word in rest if word in wanted), None)
        if word is None:
            return None
        found.append(word)
    return found


def _at_their_place(danger: UsePattern, typed: tuple[str, ...], use: Use) -> list[str] | None:
    """Give the words of a known subcommand that are a danger's.

    A word that is a subcommand where reading stands has to be that one (`push` of git); one that is none there may be
    one further down (`merge` of `gh pr merge`). Behind what the page knows the words may stand anywhere.
    """
    found: list[str] = []
    at = 0
    for wanted in danger.words:
        further = wanted - use.subs.keys()
        while at < len(typed) and typed[at] in use.subs:
            word = typed[at]
            use, at = use.subs[word], at + 1
            if not wanted.isdisjoint({word, *use.words[-1:]}):
                found.append(word)
                break
            wanted = further  # noqa: PLW2901 - what may still come
        else:
            word = next((word for word in typed[at:] if word in further), "")
            if not word:
                return None
            found.append(word)
            at = typed.index(word, at) + 1
    return found


def _is_among(word: str, danger: UsePattern) -> bool:
    """Say whether a word is one of a danger's options or operands; an operand `X=` is any value of X."""
    if word in danger.operands or f"{word.partition('=')[0]}=" in danger.operands:
        return True
    if "$" in danger.operands and "$" in word and not word.startswith("-"):
        return True
    return has_option(word, danger.options)


def has_option(word: str, options: frozenset[str]) -> bool:
    """Say whether a word gives one of these options: alone, with a value, in a cluster of letters, or shortened."""
    if word in options:
        return True
    if word.startswith("--"):
        name = word.partition("=")[0]
        return name in options or (
            len(name) > _SHORTEST and any(option.startswith(name) for option in options if option.startswith("--"))
        )
    if len(word) > 2 and word[0] == "-":  # noqa: PLR2004 - a dash and more than one letter
        letters = {option[1] for option in options if len(option) == 2 and option[0] == "-" and option[1].isalpha()}  # noqa: PLR2004 - a dash and a letter
        return not letters.isdisjoint(word[1:]) or word.partition("=")[0] in options
    return False

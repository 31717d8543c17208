"""A command without its program's global options, where an allow may look past them.

Lives here: `without_global_options`. Pure. Never here: what `ask` and `deny` see (`programs/command_use.py`).

`git -C sub status` is `git status` in a directory of the workspace. An option is looked past when its page accepts it
in a routine use, which is to say that it neither runs nor writes anything, and when its value stays in the workspace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.programs import Takes, lookup
from fwdperm.units.paths import has_glob, name_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fwdperm.programs import Option
    from fwdperm.shell import Command, Word

_PLAIN: Final = frozenset({Takes.NUMBER, Takes.WORD, Takes.TEXT, Takes.CHOICE})
"""Values that name nothing outside of the program."""


def without_global_options(command: Command, *, cwd: str, home: str) -> tuple[Word, ...]:
    """Give the words of a command without the harmless options in front of its subcommand.

    Args:
        command: The command.
        cwd: The requester's working directory, absolute; empty when unknown: then no path is known to be harmless.
        home: The requester's home directory; empty when unknown.

    Returns:
        The words; nothing where no option stands there, or one that is not harmless.
    """
    words = command.words
    program = lookup(command.program) if len(words) > 2 else None  # noqa: PLR2004 - program, option, subcommand
    if program is None or not program.use.subs or command.cwd or "/" in command.program:
        return ()
    at = 1
    while at < len(words) and words[at].known and words[at].text not in program.use.subs:
        width = _width(words, at, program.use.options, cwd=cwd, home=home)
        if not width:
            return ()
        at += width
    return (words[0], *words[at:]) if 1 < at < len(words) and words[at].known else ()


def _width(words: Sequence[Word], at: int, options: Mapping[str, Option], *, cwd: str, home: str) -> int:
    """Give how many words a harmless option takes, itself included; 0 for any other word."""
    name, equals, value = words[at].text.partition("=")
    option = options.get(name)
    if option is None or not option.is_accepted or words[at].glob:
        return 0
    if option.takes is Takes.NOTHING:
        return 0 if equals else 1
    width = 1 if equals or option.is_attached else 2
    if width == 2:  # noqa: PLR2004 - the option and its value
        if at + 1 >= len(words) or not words[at + 1].known or words[at + 1].glob:
            return 0
        value = words[at + 1].text
    return width if option.takes in _PLAIN or (option.takes is Takes.GOES and _is_inside(value, cwd, home)) else 0


def _is_inside(path: str, cwd: str, home: str) -> bool:
    names = name_path(path, cwd=cwd, home=home)
    return bool(path and names.absolute and cwd) and not names.outside and not has_glob(path)

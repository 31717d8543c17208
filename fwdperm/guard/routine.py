"""Holding a command against the book's routine uses.

Lives here: the reading of programs, variables, flags and redirects. Never here: the uses (the book of programs),
operands (`operands.py`), anything that looks for danger: what is not recognised in full is simply not routine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.expansions import is_substitution, shows_harmless_values
from fwdperm.guard.operands import NotRoutine, check_canonical, check_operands, check_readable, check_value
from fwdperm.guard.writing import below, is_plain_directory, why_not_ordinary
from fwdperm.programs import (
    Program,
    Takes,
    Use,
    is_harmless_variable,
    is_in_family,
    lookup,
    lookup_local,
    standard_base,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.guard.surroundings import Location
    from fwdperm.shell import Command, Word

_VALUE: Final = re.compile(r"(?!/)(?!.*\.\.)[A-Za-z0-9_.:,=@%+/* -]*$")
"""A value of a variable that is plain text and no path out of the workspace: `1`, `en_US.UTF-8`, `-O2 -g`."""
_VERSION: Final = Use(routine="version", why="shows a version")
_HELP: Final = Use(routine="help", why="shows its options")
_MODULE: Final = "-m"
_SEARCH_PATH: Final = "PYTHONPATH"
"""The one variable whose value is looked at: directories of the workspace may be put there."""


def routine_use(command: Command, location: Location) -> Use | str:
    """Hold one command against the routine uses of its program.

    Args:
        command: The command; its redirects and prefixes are looked at too.
        location: Where it runs.

    Returns:
        The use that accepts it in full, else why none does, in words. Fails toward the reason.
    """
    try:
        return _held(command, location)
    except NotRoutine as reason:
        return str(reason)


def _held(command: Command, location: Location) -> Use:
    _check_plain(command, location)
    carried_along = lookup_local(command.program)
    program: Program = carried_along or _program(command.program)
    words: Sequence[Word] = command.words[1:]
    is_local = carried_along is not None
    if (module := _module(program, words)) is not None:
        # Python looks for a module in the workspace first.
        program, words, is_local = module, words[2:], True
    elif len(words) > 1 and words[0].text in program.runs_tools:
        program, words = _tool(words[1:])
    elif words and "*" in program.runs_tools and words[0].text[:1] != "-":
        program, words = _tool(words)
    if not is_local and not command.redirects and (lone := _lone(program, words)) is not None:
        return lone
    use, words, location = _routine_use(program, words, location)
    _check_words(program, use, words, location)
    if use.runs_project or is_local:
        if not location.surroundings.exec_judgeable:
            raise NotRoutine("running the project's code is not left to the judge here")
        if any(part.startswith(".") for part in below(location.cwd, location)):
            raise NotRoutine("what it makes would land in a hidden directory")
    _check_redirects(command, location)
    return use


def _lone(program: Program, words: Sequence[Word]) -> Use | None:
    """Give what a program does with `--version` or `--help` alone; None with other words, or where it has none."""
    typed = [word.text for word in words]
    if typed == ["--version"] and program.shows_version:
        return _VERSION
    help_ = program.use.options.get("--help") if typed == ["--help"] else None
    return _HELP if help_ is not None and help_.takes is Takes.NOTHING else None


def _check_plain(command: Command, location: Location) -> None:
    """Raise unless everything of a command is known, typed as people type it, and run in the workspace."""
    if command.opaque or command.remote:
        raise NotRoutine(command.opaque or "runs on another machine")
    if not command.words:
        raise NotRoutine("no program")
    if command.filled:
        raise NotRoutine("is given files that are not known before it runs")
    prints = is_in_family(command.program, "printer")
    reads = is_in_family(command.program, "reader") and not is_in_family(command.program, "changer", "interpreter")
    for word in command.words:
        is_harmless = (prints and shows_harmless_values(word)) or (reads and is_substitution(word))
        if not word.known and not is_harmless:
            raise NotRoutine(f"`{word.raw}` is not known before it runs")
    if command.words[0].raw != command.program and not command.wrapped_by:
        raise NotRoutine(f"`{command.words[0].raw}` is not how anyone types `{command.program}`")
    if not location.is_in_workspace:
        raise NotRoutine("not run in the workspace")
    _check_prefixes(command, location)


def _program(typed: str) -> Program:
    if "/" in typed and not standard_base(typed):
        raise NotRoutine(f"`{typed}` is not the program of that name")
    found = lookup(typed)
    if found is None:
        raise NotRoutine(f"`{typed}` is in no book of programs")
    return found


def _module(program: Program, words: Sequence[Word]) -> Program | None:
    """Give the program that an interpreter's `-m` runs as a module; None where it runs none that is known for it."""
    if len(words) < 2 or words[0].text != _MODULE or _MODULE not in program.use.subs:  # noqa: PLR2004 - `-m` and a name
        return None
    found = lookup(words[1].text)
    return found if found is not None and found.is_module and found.name == words[1].text else None


def _tool(words: Sequence[Word]) -> tuple[Program, Sequence[Word]]:
    """Read what a project's runner runs: only tools that check the project are routine behind one."""
    program = lookup_local(words[0].text) or _program(words[0].text)
    words = words[1:]
    if (module := _module(program, words)) is not None:
        program, words = module, words[2:]
    if not program.is_module and not _any_runs_project(program.use):
        raise NotRoutine(f"`{program.name}` is no checking tool")
    return program, words


def _any_runs_project(use: Use) -> bool:
    return use.runs_project or any(_any_runs_project(sub) for sub in use.subs.values())


def _routine_use(program: Program, words: Sequence[Word], location: Location) -> tuple[Use, Sequence[Word], Location]:
    """Find the routine use that the first words name, the longest one; give it, the words behind, and where it runs."""
    use, at = program.use, 0
    found = (use, 0, location) if use.routine else None
    while at < len(words):
        sub = use.subs.get(words[at].text)
        if sub is not None:
            use, at = sub, at + 1
            if use.routine:
                found = (use, at, location)
            continue
        if use.words or (use.routine and not use.subs):
            break
        width, location = _global_option(use, words, at, location)
        if width == 0:
            break
        at += width
    if found is None:
        typed = " ".join((program.name, *(word.text for word in words[:1])))
        raise NotRoutine(f"`{typed}` is on no list of routine uses")
    use, at, location = found
    return use, words[at:], location


def _global_option(use: Use, words: Sequence[Word], at: int, location: Location) -> tuple[int, Location]:
    """Give how many words an option of the program itself takes, before its subcommand, and where it runs then."""
    name, equals, value = words[at].text.partition("=")
    option = use.options.get(name)
    if option is None or not option.is_accepted:
        return 0, location
    if option.takes is Takes.NOTHING:
        return int(not equals), location
    width = 1 if equals or option.is_attached else 2
    if width == 2:  # noqa: PLR2004 - the option and its value
        if at + 1 >= len(words):
            return 0, location
        value = words[at + 1].text
    check_value(option.takes, words[at + width - 1], value, location)
    if option.takes is Takes.GOES:
        if problem := is_plain_directory(location.resolve(value), location):
            raise NotRoutine(f"`{value}`: {problem}")
        location = location.at(value)
    return width, location


def _check_redirects(command: Command, location: Location) -> None:
    for redirect in command.redirects:
        if redirect.writes:
            problem = (
                why_not_ordinary(location.resolve(redirect.target.text), location)
                if redirect.target.known and not redirect.target.glob
                else "target unknown"
            )
            if problem:
                raise NotRoutine(f"writes `{redirect.target.text}`: {problem}")
            check_canonical(redirect.target.text, location)
        elif redirect.reads:
            check_readable(redirect.target, location)
        elif not redirect.target.known:
            raise NotRoutine("reads text that is not known before it runs")


def _check_prefixes(command: Command, location: Location) -> None:
    for name, value in command.prefixes:
        if not value.known:
            raise NotRoutine(f"variable `{name}` is not known before it runs")
        if name == _SEARCH_PATH:
            for part in value.text.split(":"):
                if not part or (problem := is_plain_directory(location.resolve(part), location)):
                    raise NotRoutine(f"`{name}` leads to `{part}`: {problem if part else 'no directory'}")
        elif not is_harmless_variable(name) or not _VALUE.match(value.text):
            raise NotRoutine(f"variable `{name}` before the command")


def _check_words(program: Program, use: Use, words: Sequence[Word], location: Location) -> None:  # noqa: C901, PLR0912 - one walk over options
    operands: list[Word] = []
    seen: set[str] = set()
    at, count = 0, len(words)
    while at < count:
        word = words[at]
        text = word.text
        at += 1
        option = use.options.get(text)
        if option is not None and not option.is_accepted:
            if not use.unknown_is_text:
                raise NotRoutine(f"flag `{text}` of `{program.name}` is not one of a routine use")
            option = None
        if use.unknown_is_text or len(text) < 2 or text[0] != "-":  # noqa: PLR2004 - `-` alone is standard input
            if option is not None:
                seen.update(option.spellings)
            else:
                operands.append(word)
            continue
        if text == "--" and option is None:
            if use.operands is Takes.NOTHING:
                continue
            operands.extend(words[at:])
            break
        if option is not None:
            seen.update(option.spellings)
            if option.takes is not Takes.NOTHING and not option.is_attached:
                if at >= count:
                    raise NotRoutine(f"`{text}` lacks its value")
                check_value(option.takes, words[at], words[at].text, location)
                at += 1
            continue
        name, equals, value = text.partition("=")
        option = use.options.get(name) if equals else None
        if option is not None and option.is_accepted and option.takes is not Takes.NOTHING:
            seen.update(option.spellings)
            check_value(option.takes, word, value, location)
            continue
        if use.numbers and text[1:].isdigit():
            continue
        if use.dash_is_word or text.startswith("--"):
            raise NotRoutine(f"flag `{name}` of `{program.name}` is not one of a routine use")
        at = _check_cluster(program, use, words, at, seen, location)
    if use.requires and not (use.requires & seen):
        needed = " or ".join(f"`{flag}`" for flag in sorted(use.requires))
        raise NotRoutine(f"`{program.name}` without {needed} may change files")
    check_operands(program, use, operands, seen, location)


def _check_cluster(  # noqa: PLR0913, PLR0917 - where reading stands, and what was read
    program: Program, use: Use, words: Sequence[Word], at: int, seen: set[str], location: Location
) -> int:
    """Read `-abc`, whose last letter may take the rest or the next word; give where reading goes on."""
    word = words[at - 1]
    letters = word.text
    for position in range(1, len(letters)):
        flag = "-" + letters[position]
        option = use.options.get(flag)
        if option is None or not option.is_accepted:
            raise NotRoutine(f"flag `{flag}` of `{program.name}` is not one of a routine use")
        seen.update(option.spellings)
        if option.takes is Takes.NOTHING:
            continue
        rest = letters[position + 1 :]
        if rest:
            check_value(option.takes, word, rest, location)
            return at
        if option.is_attached:
            return at
        if at >= len(words):
            raise NotRoutine(f"`{flag}` lacks its value")
        check_value(option.takes, words[at], words[at].text, location)
        return at + 1
    return at

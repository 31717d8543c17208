"""What an *always* would record for a request: patterns a person can read and means.

Lives here: `suggest_patterns`. How many words make a command stands in the book of programs. Pure. Never here:
recording it (`session_rules/`).

Each pattern matches its own request, stars of the request are literal in it, and a wildcard stands only where the
request had something more to say: `git status` is recorded as it is, `git checkout main` as `git checkout *`. Whatever
is wrapped or cannot be known is recorded word for word, or not at all.
"""

from __future__ import annotations

from posixpath import dirname
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from fwdperm.programs import lookup
from fwdperm.rules import Wildcard, escape_pattern
from fwdperm.settings import PATTERNS
from fwdperm.units.plain import PATH_SURFACES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fwdperm.rules import Unit
    from fwdperm.shell import Command
    from fwdperm.units.breakdown import Breakdown
    from fwdperm.wire import Facts

_FILE_SURFACES: Final = PATH_SURFACES | {"write"}
_SHALLOW: Final = 2
"""Directories nearer to the root than this are not offered whole."""


class Offer(NamedTuple):
    """One pattern that an *always* would record.

    Attributes:
        surface: The unit's surface.
        pattern: As `Wildcard.literal_aware` reads it.
    """

    surface: str
    pattern: str


def suggest_patterns(facts: Facts, made: Breakdown, *, asked: Collection[int] | None = None) -> tuple[Offer, ...]:
    """Suggest what an *always* would record.

    Args:
        facts: The request's facts.
        made: What they break down into.
        asked: Indices of the units that the answer is for; None for every unit that must be permitted.

    Returns:
        At most one pattern per unit, each covering that unit; none for a unit that cannot be known. None at all where
        that would be more than one answer may record: nobody reads so many, and some of them would not be enough.
    """
    if made.line is not None and made.line.opaque:
        return ()
    commands = made.line.commands if made.line is not None else ()
    wrapping = frozenset(one.carrier for one in commands if one.wrapped_by)
    found: dict[Offer, None] = {}
    for index, unit in enumerate(made.units):
        wanted = index in asked if asked is not None else not unit.auxiliary
        if not wanted or unit.opaque or not unit.spellings:
            continue
        wraps = unit.command in wrapping
        found[Offer(unit.surface, next(_covering(facts, made, unit, wraps=wraps)))] = None
        if len(found) > PATTERNS:
            return ()
    return tuple(found)


def _covering(facts: Facts, made: Breakdown, unit: Unit, *, wraps: bool) -> Iterator[str]:
    """Give patterns for a unit, the most useful first; each covers it, the last is its own text."""
    for pattern in _useful(facts, made, unit, wraps=wraps):
        wildcard = Wildcard.literal_aware(pattern)
        if any(wildcard.matches(text) for text in unit.spellings):
            yield pattern
    yield escape_pattern(unit.spellings[0])


def _useful(facts: Facts, made: Breakdown, unit: Unit, *, wraps: bool) -> Iterator[str]:
    if unit.surface == "bash":
        line = made.line
        if line is not None and 0 <= unit.command < len(line.commands):
            yield from _of_command(line.commands[unit.command], wraps=wraps)
    elif unit.surface in _FILE_SURFACES:
        yield from _of_path(unit, facts=facts)
    elif unit.surface == "mcp" or unit.surface.startswith("mcp__"):
        yield from (
            escape_pattern(text) for text in unit.spellings if ":" in text.partition(" ")[0] and " " not in text
        )
    elif "://" in unit.spellings[0]:
        yield from _of_address(unit.spellings[0])


def _of_command(command: Command, *, wraps: bool) -> Iterator[str]:
    if wraps or command.wrapped_by or command.prefixes:
        return
    words = command.words
    size = _arity(command)
    kept = words[:size]
    if not size or len(words) < size or any(word.quoted or not word.known or word.glob for word in kept):
        return
    if any(word.raw.startswith("-") for word in kept[1:]) and command.argv[1:2] != ("-m",):
        return
    pattern = " ".join(escape_pattern(word.raw) for word in kept)
    yield pattern if len(words) == size else f"{pattern} *"


def _arity(command: Command) -> int:
    """Give how many first words of a command make it; 0 where its page does not say, and it is kept word for word.

    `grep *` would be far more than anyone meant by one search.
    """
    program = lookup(command.program) if "/" not in command.program else None
    argv = command.argv[1:]
    keeps = program.keeps if program is not None else {}
    for size in (2, 1):
        if size <= len(argv) and (found := keeps.get(argv[:size])):
            return found
    return 0


def _of_path(unit: Unit, *, facts: Facts) -> Iterator[str]:
    """Offer the file's directory, unless it is a place too broad or too private to be given whole."""
    absolute = next((text for text in unit.spellings if text.startswith("/")), "")
    if not absolute:
        return
    parent = dirname(absolute)
    near = parent.strip("/").count("/") + 1 < _SHALLOW
    private = any(part.startswith(".") for part in parent.split("/"))
    if (
        near
        or private
        or unit.glob
        or parent in (facts.cwd.rstrip("/"), facts.home.rstrip("/"))
        or (facts.home and facts.home.startswith(f"{parent}/"))
    ):
        yield escape_pattern(absolute)
    else:
        yield f"{escape_pattern(parent)}/*"


def _of_address(value: str) -> Iterator[str]:
    """Offer the host of a plain https address."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return
    if value.startswith("https://") and parts.netloc and "@" not in parts.netloc and not value.endswith(parts.netloc):
        yield f"https://{escape_pattern(parts.netloc)}/*"

"""Where other rooms come in: facts and units in, classes of danger out.

Lives here: `assess` and `assess_unit`, which hand each surface to its own module. Pure: the same request earns the same
class every time, and what the requester says about itself is never looked at. Never raises for any text: what cannot be
understood is dangerous.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.guard.access import (
    READING,
    REMOVING,
    SEARCHING_WEB,
    WEB,
    WRITING,
    address,
    outside_directory,
    read_path,
    says,
    write_path,
)
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.command_line import assess_line, assess_text
from fwdperm.guard.command_web import MOST_COMMANDS
from fwdperm.guard.places import LONGEST_PATH
from fwdperm.guard.surroundings import Location, Surroundings
from fwdperm.guard.tools import MCP, skill, tool

if TYPE_CHECKING:
    from fwdperm.rules import Unit
    from fwdperm.shell import CommandLine
    from fwdperm.units import Breakdown
    from fwdperm.wire import Facts


_MOST_UNITS: Final = 1024
"""Units of one line whose operands are looked at one by one; no line so long is routine."""


def assess(facts: Facts, breakdown: Breakdown, surroundings: Surroundings) -> tuple[Assessment, tuple[Assessment, ...]]:
    """Say how dangerous a request and each of its units are.

    Args:
        facts: What is asked.
        breakdown: Its units and, for a command line, the parsed line.
        surroundings: What the operator vouches for.

    Returns:
        The worst over the whole request, and one assessment per unit in the breakdown's order. Operands that are units
        of their own (auxiliary ones) are assessed but do not worsen the whole: the command they belong to has been.
    """
    location = Location.of(facts, surroundings)
    if not facts.surface:
        nothing = Assessment(Danger.DANGEROUS, "dangerous.no-surface", "what kind of thing is asked for is missing")
        return nothing, tuple(nothing for _ in breakdown.units)
    if breakdown.line is None:
        units = tuple(assess_unit(unit, facts, surroundings) for unit in breakdown.units)
        own = [
            _surface(facts.surface, value, location, canonical=facts.canonical if at == 0 else "")
            for at, value in enumerate(facts.values)
        ]
        primary = [each for unit, each in zip(breakdown.units, units, strict=True) if not unit.auxiliary]
        return _worst([*own, *primary]), units
    worst, commands = assess_line(breakdown.line, facts.value, location)
    many = _many(breakdown, worst)
    units = tuple(
        many
        if many is not None and unit.auxiliary
        else _line_unit(unit, facts, surroundings, location, commands, worst)
        for unit in breakdown.units
    )
    primary = [each for unit, each in zip(breakdown.units, units, strict=True) if not unit.auxiliary]
    return _worst([worst, *primary]), units


def assess_unit(unit: Unit, facts: Facts, surroundings: Surroundings, line: CommandLine | None = None) -> Assessment:
    """Say how dangerous one unit is by itself.

    Args:
        unit: The unit; its first spelling is looked at, and for paths every one.
        facts: The request it belongs to, for where it runs.
        surroundings: What the operator vouches for.
        line: The parsed line when `unit.command` points into one.

    Returns:
        Its class. An auxiliary unit is at most dangerous.
    """
    location = Location.of(facts, surroundings)
    if line is not None and 0 <= unit.command < len(line.commands):
        worst, commands = assess_line(line, facts.value, location)
        return _line_unit(unit, facts, surroundings, location, commands, worst)
    canonical = facts.canonical if unit.surface == facts.surface else ""
    if not unit.spellings:
        return _surface(unit.surface, "", location)
    if unit.surface in READING | WRITING | REMOVING | {"external_directory", "external"}:
        found = _worst([_surface(unit.surface, spelling, location, canonical=canonical) for spelling in unit.spellings])
    else:
        found = _surface(unit.surface, unit.spellings[0], location)
    return _capped(found) if unit.auxiliary else found


def _line_unit(  # noqa: PLR0913, PLR0917 - what every look needs
    unit: Unit,
    facts: Facts,
    surroundings: Surroundings,
    location: Location,
    commands: list[Assessment],
    worst: Assessment,
) -> Assessment:
    if unit.surface == "bash":
        if 0 <= unit.command < len(commands):
            found = commands[unit.command]
        elif not unit.spellings or unit.spellings[0] == facts.value:
            found = worst
        else:
            found = assess_text(unit.spellings[0], location)
        if unit.opaque and found.danger.rank < Danger.DANGEROUS.rank:
            found = Assessment(Danger.DANGEROUS, "dangerous.opaque", unit.opaque, unit.spellings[:1])
        # a command on another machine says nothing to the rules, and is a catastrophe all the same
        return _capped(found) if unit.auxiliary and not unit.remote else found
    return assess_unit(unit, facts, surroundings)


def _many(breakdown: Breakdown, worst: Assessment) -> Assessment | None:
    """Give what every operand of a line is that has too many to look at one by one; None for other lines."""
    line = breakdown.line
    if line is None or (len(line.commands) <= MOST_COMMANDS and len(breakdown.units) <= _MOST_UNITS):
        return None
    if worst.danger.rank >= Danger.DANGEROUS.rank:
        return _capped(worst)
    return Assessment(Danger.DANGEROUS, "dangerous.many", f"more than {_MOST_UNITS} commands and files in one line")


def _capped(found: Assessment) -> Assessment:
    if found.danger is Danger.CRITICAL:
        return Assessment(Danger.DANGEROUS, found.id.replace("critical.", "dangerous."), found.reason, found.words)
    return found


def _worst(found: list[Assessment]) -> Assessment:
    if not found:
        return Assessment(Danger.DANGEROUS, "dangerous.empty", "there is nothing to judge")
    worst = found[0]
    for each in found:
        if each.danger.rank > worst.danger.rank:
            worst = each
    return worst


def _surface(surface: str, value: str, location: Location, *, canonical: str = "") -> Assessment:  # noqa: C901 - a fixed order of looks
    if not value.strip():
        return says(Danger.DANGEROUS, "empty", "there is nothing to judge")
    if surface == "bash":
        return assess_text(value, location)
    if len(value) > LONGEST_PATH and surface in READING | WRITING | REMOVING:
        return says(Danger.DANGEROUS, "long-path", "a path longer than any system opens", value)
    if surface in READING:
        return read_path(value, location, canonical=canonical, surface=surface)
    if surface in WRITING:
        return write_path(value, location, canonical=canonical, surface=surface)
    if surface in REMOVING:
        found = write_path(value, location, canonical=canonical, surface=surface)
        return (
            found
            if found.danger.rank >= Danger.DANGEROUS.rank
            else says(Danger.DANGEROUS, "remove", "removes a file", value)
        )
    if surface in {"external_directory", "external"}:
        return outside_directory(value, location, canonical=canonical)
    if surface in WEB:
        return address(value, location)
    if surface in SEARCHING_WEB:
        return says(Danger.RULED, "web-search", "sends a question to a search engine", value)
    if surface == "skill":
        return skill(value)
    if surface == "agent":
        return says(Danger.RULED, "agent", "starts another agent, which asks for itself", value)
    return tool(surface if surface not in MCP else "mcp", value, location, assess_text)

"""The shell surface: one assessment per command of a line, and the line's worst.

Lives here: the order of looks at a command. Never here: what the looks are: dangers (`command_danger.py`), what is said
of a whole line (`veto.py`, `flows.py`).

The order: the allow list in full, else catastrophe, else danger rule, else ruled. What several commands do together
comes on top and only ever makes things worse.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.command_danger import command_danger
from fwdperm.guard.container_loss import in_container
from fwdperm.guard.critical import by_words
from fwdperm.guard.filled_in import filled_in
from fwdperm.guard.flows import flows
from fwdperm.guard.routine import routine_use
from fwdperm.guard.self_protection import own_verb
from fwdperm.guard.touched import catastrophe
from fwdperm.guard.veto import veto_of
from fwdperm.programs import Use, lookup
from fwdperm.shell import parse_line
from fwdperm.units import suspected_commands

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.shell import Command, CommandLine

_POWER: Final = "critical.power"
_WRAPPER_WORD: Final = re.compile(
    r"(?:-?\d+(?:\.\d+)?[smhd]?|-[nkspv]|-[ioe](?:L|0)|--foreground|--preserve-status|(?:SIG)?(?:TERM|KILL|INT|HUP))$"
)
"""A word that may stand between a harmless wrapper and its command: `30s` of `timeout`, `-n` and `5` of `nice`, `-oL`
of `stdbuf`, `TERM`."""


def assess_line(line: CommandLine, text: str, location: Location) -> tuple[Assessment, list[Assessment]]:
    """Assess a command line.

    Args:
        line: The parsed line.
        text: As typed.
        location: Where it runs.

    Returns:
        The worst, and one assessment per command in the line's order.
    """
    if not text.strip():
        return Assessment(Danger.DANGEROUS, "dangerous.empty", "there is no command to judge"), []
    veto = veto_of(line, text)
    each = [_assess_command(index, line, location, veto, text) for index in range(len(line.commands))]
    if (
        len(each) > 1
        or "$" in text
        or "\0" in text
        or "<" in text
        or "`" in text
        or "{" in text
        or (each[:1] and each[0].danger is not Danger.ROUTINE)
    ):
        for index, (danger, id_, reason, words) in flows(line, location, text).items():
            hit = measured(Assessment(danger, id_, reason, words))
            if index >= len(each):
                each.append(hit)
            elif danger.rank > each[index].danger.rank:
                each[index] = hit
    worst = veto if veto is not None else None
    for one in each:
        if worst is None or one.danger.rank > worst.danger.rank:
            worst = one
    if worst is None:
        worst = Assessment(Danger.DANGEROUS, "dangerous.opaque", line.opaque or "no command could be found")
    return worst, each


def assess_text(text: str, location: Location) -> Assessment:
    """Assess text that a shell would run."""
    return assess_line(parse_line(text), text, location)[0]


def _assess_command(
    index: int, line: CommandLine, base_ground: Location, veto: Assessment | None, text: str
) -> Assessment:
    command = line.commands[index]
    location = base_ground.at(command.cwd) if command.cwd else base_ground
    is_lost = veto is not None and veto.danger is Danger.DANGEROUS
    why = "" if is_lost else routine_use(command, location)
    filled: list[Command] = []
    if isinstance(why, str) and not is_lost:
        filled = filled_in(line, index, text)
        uses = [routine_use(one, location) for one in filled]
        why = next((use for use in uses if isinstance(use, str)), uses[0]) if uses else why
    if isinstance(why, Use):
        return Assessment(Danger.ROUTINE, f"routine.{why.routine}", why.why, command.argv[:3]) if veto is None else veto
    hit = next(filter(None, (catastrophe(one, location) for one in (command, *filled))), None)
    hit = hit or (None if _carries_any(line, index) else _suspected_catastrophe(command, location))
    hit = in_container(line, index, hit, location) if command.remote else hit
    if hit:
        return measured(Assessment(Danger.CRITICAL, *hit))
    if command.opaque:
        return Assessment(Danger.DANGEROUS, "dangerous.opaque", command.opaque, (command.raw[:80],))
    danger = command_danger(command, location)
    if danger:
        return danger
    if veto is not None and is_lost:
        return veto
    if _is_plain_wrapper(command) and not command.prefixes and not command.redirects and _carries(line, index):
        return (
            Assessment(Danger.ROUTINE, "routine.wrapper", "only carries another command", (command.program,))
            if veto is None
            else veto
        )
    return Assessment(Danger.RULED, "ruled.unlisted", why, command.argv[:3] or (command.raw[:80],))


def _suspected_catastrophe(command: Command, location: Location) -> tuple[str, str, tuple[str, ...]] | None:
    """Find the catastrophe that unexplained words of a command are, should it run them: `anywrap rm -rf /`.

    Words that turn the machine off are names of scripts and stand in prose: they count only as words of a program that
    nobody knows. Our own commands run nothing that they are told of.
    """
    if own_verb(command.argv) is not None:
        return None
    is_known = lookup(command.program) is not None
    for one in suspected_commands(command):
        found = by_words(one.argv, location)
        is_own = command.argv[-len(one.argv) :] == one.argv
        if found and (found[0] != _POWER or (is_own and not is_known)):
            return found
    return None


def _carries_any(line: CommandLine, index: int) -> bool:
    """Say whether what a wrapper runs stands in the line as commands of their own."""
    return any(one.carrier == index and one.wrapped_by for one in line.commands[index + 1 : index + 64])


def _is_plain_wrapper(command: Command) -> bool:
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.is_plain


def _carries(line: CommandLine, index: int) -> bool:
    """Say whether what a wrapper runs stands in the line as a command of its own, word for word."""
    argv = line.commands[index].argv
    for child in line.commands[index + 1 : index + 64]:
        if child.carrier == index and child.wrapped_by:
            lead = argv[1 : len(argv) - len(child.words)]
            return (
                argv[len(argv) - len(child.words) :] == child.argv
                and all(word.known for word in line.commands[index].words)
                and all(_WRAPPER_WORD.match(word) for word in lead)
            )
    return False

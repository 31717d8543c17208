"""How the commands of one line hang together: what each carries, and whose output reaches it.

Lives here: `Web`, `upstream`, and how a finding is put down for the commands concerned. Never here: what is dangerous
about it (`flows.py`, `outflow.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Danger
from fwdperm.programs import lookup
from fwdperm.shell import Stands, feeder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.shell import Command, CommandLine

Flow = tuple[Danger, str, str, tuple[str, ...]]
"""A finding: its class, its id, the reason, the words that it is about."""
MOST_COMMANDS: Final = 500
"""Commands of one line that are looked at together; a longer line is for a person anyway."""


@dataclass(frozen=True, slots=True)
class Web:
    """A line, and for each command the commands that it carries.

    Attributes:
        line: The line.
        commands: Its commands, at most `MOST_COMMANDS`.
        children: Command index -> what it carries, but for what its options run.
    """

    line: CommandLine
    commands: tuple[Command, ...]
    children: dict[int, list[int]]

    @classmethod
    def of(cls, line: CommandLine) -> Web:
        """Index a line."""
        children: dict[int, list[int]] = {}
        commands = line.commands[:MOST_COMMANDS]
        for index, command in enumerate(commands):
            # what an option runs gives the command nothing that it could pass on: it is looked at for itself alone
            if command.carrier >= 0 and command.stands is not Stands.OPTION:
                children.setdefault(command.carrier, []).append(index)
        return cls(line, commands, children)


def families_of(command: Command) -> frozenset[str]:
    """Give the families of a command's program; none for one that the book does not know."""
    program = lookup(command.program)
    return program.families if program is not None else frozenset()


def mark_critical(found: dict[int, Flow], id_: str, reason: str, words: tuple[str, ...], *indexes: int) -> None:
    """Put a critical finding down for these commands; one that has such a finding keeps it, and -1 is nobody."""
    for index in indexes:
        if index >= 0 and (index not in found or found[index][0].rank < Danger.CRITICAL.rank):
            found[index] = (Danger.CRITICAL, id_, reason, words)


def upstream(web: Web, index: int) -> Iterator[int]:
    """Give every command whose output reaches this one: through pipes, what those run, what is put into its words."""
    seen: set[int] = set()
    waiting = [feeder(web.line, index), *substituted(web, index)]
    while waiting:
        at = waiting.pop()
        if at < 0 or at in seen:
            continue
        seen.add(at)
        yield at
        waiting.append(feeder(web.line, at))
        waiting.extend(web.children.get(at, ()))


def substituted(web: Web, index: int) -> list[int]:
    """Give the commands whose output is put into the words of this one, and no command that it runs as a wrapper."""
    return [at for at in web.children.get(index, ()) if not web.commands[at].wrapped_by]

"""A catastrophe inside of a container: the container's own loss is none, the host's behind a mount is.

Lives here: `in_container`. Pure. Never here: a command on another machine, whose loss is a loss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fwdperm.guard.touched import catastrophe
from fwdperm.programs import Carries, lookup, read_command_use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.guard.surroundings import Location
    from fwdperm.shell import CommandLine

Hit = tuple[str, str, tuple[str, ...]]
_MOUNTS = ("-v", "--volume", "--mount")


def in_container(line: CommandLine, index: int, hit: Hit | None, location: Location) -> Hit | None:
    """Say which catastrophe a command is that runs in a new container.

    Args:
        line: The line.
        index: The command's place in it.
        hit: What it would be here.
        location: Where the line runs.

    Returns:
        What it is with the host's paths for those that are mounted; nothing for a container without mounts; what it
        would be here for a container that runs already, and for another machine.
    """
    carrier = line.commands[line.commands[index].carrier]
    program = lookup(carrier.program)
    use = read_command_use(carrier.argv)[0] if program is not None and carrier.argv else None
    wrapping = None if program is None or use is None else _wrapping(carrier.argv)
    if use is None or wrapping is not Carries.CONTAINER or use.words[:1] != ("run",):
        return hit
    mounts = dict(_mounts(carrier.argv))
    for inside, outside in mounts.items():
        words = tuple(
            replace(word, text=outside + word.text[len(inside) :]) if _is_below(word.text, inside) else word
            for word in line.commands[index].words
        )
        found = catastrophe(replace(line.commands[index], words=words, remote=False), location)
        if found is not None and words != line.commands[index].words:
            return found
    return hit if any(outside == "/" for outside in mounts.values()) else None


def _wrapping(argv: tuple[str, ...]) -> Carries | None:
    program = lookup(argv[0])
    if program is None:
        return None
    uses = [program.use, *(use for name, use in program.use.subs.items() if name in argv)]
    return next((use.wrapping.style for use in uses if use.wrapping is not None), None)


def _mounts(argv: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield (path inside, path outside) of every mount of a command."""
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if word.startswith("-v") and len(word) > 2 and not word.startswith("--"):  # noqa: PLR2004 - `-v/a:/b`
            value = word[2:]
        elif name not in _MOUNTS:
            continue
        elif not equals:
            value = argv[at + 1] if at + 1 < len(argv) else ""
        fields = dict(part.partition("=")[::2] for part in value.split(","))
        outside = fields.get("source") or fields.get("src") or value.split(":")[0]
        inside = (
            fields.get("target")
            or fields.get("destination")
            or fields.get("dst")
            or value.partition(":")[2].partition(":")[0]
        )
        if inside:
            yield inside, outside


def _is_below(text: str, directory: str) -> bool:
    return text == directory or text.startswith(f"{directory.rstrip('/')}/")

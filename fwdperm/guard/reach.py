"""What a command's operands reach past the workspace: another machine, the system's directories, what runs later.

Lives here: `reach_of`. Never here: what a program is by itself (`dangers.py`), its paths as files (`touched.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.places import SYSTEM_DIRECTORIES
from fwdperm.guard.sensitive_paths import sensitive_to_write
from fwdperm.programs import Files

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.programs import Program
    from fwdperm.shell import Command

_CLIENT_ACTS: Final = re.compile(
    r"(?m)^\s*\.(?:shell|system|output|once|import|load|read|save|backup|excel)\b|\\(?:!|copy\b|o\b|i\b|w\b|g\s*\|)"
)
r"""A command of a database client's own that runs a program or writes a file: `.shell ls`, `\! ls`, `\copy`."""
_ELSEWHERE: Final = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!\\)|rsync://")
"""A path on another machine: `host:dir`, `me@host:`, `rsync://host/x`."""
_SYSTEM: Final = ("/etc/", "/usr/", "/bin/", "/sbin/", "/lib", "/boot/", "/var/", "/opt/")
_RUN_LATER: Final = ("workflows/x.yml", "settings.json", "commit-msg", "tasks.json", "hooks/x.sh")
"""Files that something runs or obeys later, by the directory that they stand in."""


def reach_of(command: Command, program: Program, location: Location) -> Assessment | None:
    """Say which danger a command's operands are; None for none.

    Args:
        command: The command.
        program: Its page.
        location: Where it runs.
    """
    argv, families, files = command.argv, program.families, program.use.files
    if "database client" in families and any(_CLIENT_ACTS.search(word) for word in argv[1:]):
        return Assessment(
            Danger.DANGEROUS, "dangerous.database", "a command of the client's own, which runs or writes", argv[:1]
        )
    if "remote copier" in families and any(_ELSEWHERE.match(word) for word in argv[1:]):
        return Assessment(Danger.DANGEROUS, "dangerous.send", "copies to or from another machine", argv[:1])
    if files in (Files.CHANGE, Files.WRITE) and (lost := _changes_system(command, location)):
        return Assessment(Danger.DANGEROUS, "dangerous.write-outside", "changes a directory of the system", lost)
    if files in (Files.MOVE, Files.WRITE_LAST) and len(argv) > 2:  # noqa: PLR2004 - source and target
        if location.resolve(argv[-1]).startswith(_SYSTEM):
            why = "changes a directory of the system"
            return Assessment(Danger.DANGEROUS, "dangerous.write-outside", why, (command.program, argv[-1]))
        return _placed(argv[-1], location)
    return None


def _changes_system(command: Command, location: Location) -> tuple[str, ...]:
    """Give the words by which a command changes what belongs to the system."""
    paths = [location.resolve(word.text) for word in command.words[1:] if word.text[:1] in ("/", ".")]
    system = next((path for path in paths if path in SYSTEM_DIRECTORIES or path.startswith(_SYSTEM)), "")
    return (command.program, system) if system else ()


def _placed(target: str, location: Location) -> Assessment | None:
    """Say whether a directory is put where its files are run or obeyed: hooks, workflows, an agent's settings."""
    path = location.resolve(target)
    for name in _RUN_LATER if path else ():
        marker = sensitive_to_write(f"{path}/{name}")
        if marker is not None and not sensitive_to_write(f"{path}x/{name}"):
            return Assessment(
                Danger.DANGEROUS, f"dangerous.write-{marker.id}", f"may change {marker.reason}", (target,)
            )
    return None

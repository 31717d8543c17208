"""Catastrophes by the files a command touches: keys read, logins and system files written, our own files changed.

Lives here: which words of a command may be paths, and what reading or writing them would be. Never here: catastrophes
by program (`critical.py`), which paths are sensitive (`sensitive_paths.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.guard.critical import BLOCK_DEVICE, by_words
from fwdperm.guard.places import LONGEST_PATH
from fwdperm.guard.self_protection import holds_own, is_own, own_verb
from fwdperm.guard.sensitive_paths import sensitive_to_read, sensitive_to_write
from fwdperm.programs import Carries, Files, lookup

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.programs import Program
    from fwdperm.shell import Command

Argv = tuple[str, ...]


def catastrophe(command: Command, location: Location) -> tuple[str, str, Argv] | None:
    """Find the catastrophe that one command is.

    Args:
        command: The command.
        location: Where it runs.

    Returns:
        (id, reason, words that earn it); None when it is none by itself.
    """
    argv = command.argv
    if argv:
        found = by_words(argv, location)
        if found:
            return found
    return _by_files(command, location)


def _by_files(command: Command, location: Location) -> tuple[str, str, Argv] | None:  # noqa: C901, PLR0912 - a fixed order of looks
    program = lookup(command.program) or lookup(command.program.lower())
    families = program.families if program is not None else frozenset()
    for redirect in command.redirects:
        target = redirect.target.text
        if redirect.writes:
            if target.startswith(("/dev/tcp/", "/dev/udp/")):
                continue
            if BLOCK_DEVICE.match(target):
                return "critical.device", "overwrites a block device", (redirect.operator, target)
            found = write_catastrophe(target, location)
        else:
            found = read_catastrophe(target, location) if redirect.reads else None
        if found:
            return found[0], found[1], (redirect.operator, target)
    if "printer" in families:
        return None
    files = program.use.files if program is not None else Files.UNKNOWN
    writes_last = files in (Files.WRITE_LAST, Files.MOVE)
    argv = command.argv
    is_ours = own_verb(argv) is not None
    for at, word in enumerate(command.words[1:], 1):
        is_last = at == len(command.words) - 1
        is_identity = not _IDENTITIES.isdisjoint((command.words[at - 1].text,)) and not families.isdisjoint(
            ("web client", "remote copier")
        )
        for candidate in candidates(word.text):
            found = None if is_ours else _own_operand(argv, program, candidate, location, last=is_last)
            if found is None and "reader" in families and not command.remote:
                is_read = not (writes_last and is_last) and not is_identity
                found = read_catastrophe(candidate, location) if is_read else None
            if found is None and candidate != word.text and word.text.startswith(_OUTPUTS):
                found = write_catastrophe(candidate, location)
            if found is None and "copier" in families and (is_last or not writes_last):
                found = write_catastrophe(candidate, location)
            if found:
                return found[0], found[1], (command.program, word.text)
    return None


_OUTPUTS: Final = ("--output", "--out-", "--outfile", "--log-file", "--export")
"""Options whose value is a file that is written, whatever the program."""
_IDENTITIES: Final = frozenset({"-i", "-e", "--key", "--cert", "-E", "--cacert", "--private-key"})
"""Options whose value is a key that is used to log in, and is not shown."""


def candidates(text: str) -> tuple[str, ...]:
    """Give the paths a word may name: itself, and what stands behind `=`, `@` or `:`."""
    if not text or len(text) > LONGEST_PATH or (text.startswith("--") and "=" not in text):
        return ()
    out = [text]
    for mark in "=@:":
        if mark in text:
            tail = text.rpartition(mark)[2]
            if tail and not tail.startswith("//"):
                out.append(tail)
    if text[0] == "-" and len(text) > 3 and text[2] in "/~.":  # noqa: PLR2004 - `-f/path`
        out.append(text[2:])
    return tuple(out)


def read_catastrophe(text: str, location: Location) -> tuple[str, str] | None:
    """Say which catastrophe reading this path is: private keys and stored credentials; None when it is none."""
    for path in _spellings(text, location):
        marker = sensitive_to_read(path)
        if marker is not None and marker.critical:
            return f"critical.read-{marker.id}", f"reads {marker.reason}"
    return None


def write_catastrophe(text: str, location: Location) -> tuple[str, str] | None:
    """Say which catastrophe writing this path is: our files, login keys, profiles, the system; None when it is none."""
    around = location.surroundings
    for path in _spellings(text, location):
        if BLOCK_DEVICE.match(path):
            return "critical.device", "overwrites a block device"
        if is_own(path, around.own, around.workspaces):
            return "critical.own-files", "changes this permission system's own files"
        marker = sensitive_to_write(path)
        if marker is not None and marker.critical:
            return f"critical.write-{marker.id}", f"writes {marker.reason}"
    return None


def _spellings(text: str, location: Location) -> tuple[str, ...]:
    path = location.resolve(text)
    real = tuple(after for typed, after in location.canonical if typed == text) if location.canonical else ()
    return (path or text, *real)


def _own_operand(
    argv: Argv, program: Program | None, text: str, location: Location, *, last: bool
) -> tuple[str, str] | None:
    around = location.surroundings
    if ("\n" in text or " " in text) and not text.startswith(("/", "~", ".", "$")):
        return None
    families = program.families if program is not None else frozenset()
    if "/" not in text and families.isdisjoint(("writer", "remover")):
        return None
    for path in _spellings(text, location):
        if _takes_away(argv, program, last=last) and holds_own(path, around.own, location.home):
            return "critical.own-files", "moves or removes a directory with this permission system's own files"
        writes = not families.isdisjoint(("copier", "archiver", "writer"))
        if (
            writes
            and "/" in path.strip("/")
            and any(sign in path for sign in "*?[")
            and holds_own(path, around.own, location.home)
        ):
            return "critical.own-files", "may change this permission system's own files"
        if not is_own(path, around.own, around.workspaces):
            continue
        if "bystander" in families and not (_searches(program) and _ACTIONS & set(argv)):
            continue
        if not last and program is not None and (_copies(program) or "archiver" in families):
            continue
        if not families.isdisjoint(("sed script", "awk program")) and not any(
            word.startswith(("-i", "--in-place")) or (word[:1] == "-" and "i" in word) for word in argv[1:]
        ):
            continue
        return "critical.own-files", "changes this permission system's own files"
    return None


def _takes_away(argv: Argv, program: Program | None, *, last: bool) -> bool:
    """Say whether what an operand names is not there any more afterwards: removed, or moved somewhere else."""
    if program is None:
        return False
    is_source = not last or any(word.startswith(("-t", "--target")) for word in argv)
    return "remover" in program.families or (program.use.files is Files.MOVE and is_source)


def _searches(program: Program | None) -> bool:
    return program is not None and program.use.wrapping is not None and program.use.wrapping.style is Carries.FIND


def _copies(program: Program) -> bool:
    """Say whether a program leaves what it copies as it was."""
    return "copier" in program.families and program.use.files is Files.WRITE_LAST


_ACTIONS: Final = frozenset({"-delete", "-exec", "-execdir", "-ok"})
"""What makes a search change what it finds."""

"""Places from which a program counts as the one of its name.

Lives here: the directories and the look-up. Pure. Never here: what the program does.
"""

from __future__ import annotations

from typing import Final

STANDARD_DIRECTORIES: Final = frozenset(
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"]
)
"""Directories that only the machine's owner writes to, whose programs are the ones meant by name."""


def standard_base(program: str) -> str:
    """Return the base name of a program in a standard directory; empty for any other path and for a bare name."""
    directory, slash, base = program.rpartition("/")
    return base if slash and directory in STANDARD_DIRECTORIES else ""

"""Directories kept open between calls, for as long as they are still the ones under their names.

Lives here: a small cache of descriptors. Never here: what is done with them.

To reach an inbox without following links takes four opens, one for each part of its path: a third of the work on a
request. A cached descriptor is used only if the path still leads to a directory with its inode. That comparison is
safe: while a directory is open the kernel gives its inode to no other, so a link on the way can only lead to the same
one.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.inbox import files

if TYPE_CHECKING:
    from fwdperm.inbox.files import Modes

_KEPT: Final = 128
"""Directories kept open: `requests/` and `responses/` of 64 busy inboxes."""


class _OpenDirectory(NamedTuple):
    descriptor: int
    device: int
    inode: int
    path: str


class OpenDirectories:
    """Open directories below a root. One thread.

    Args:
        root: As `files.open_directory`.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._doors: OrderedDict[tuple[str, ...], _OpenDirectory] = OrderedDict()

    def open(self, *parts: str, create: Modes | None = None) -> int:
        """Open a directory, or find it open.

        Args:
            parts: Components below the root.
            create: Make what is missing, with these modes.

        Returns:
            A descriptor that stays ours: use it before the next call, do not close it.

        Raises:
            OSError: As `files.open_directory`.
        """
        door = self._doors.get(parts)
        if door is not None:
            try:
                status = os.stat(door.path, follow_symlinks=False)  # noqa: PTH116 - on every request
                if (status.st_ino, status.st_dev) == (door.inode, door.device):
                    self._doors.move_to_end(parts)
                    return door.descriptor
            except OSError:
                pass  # the walk below says what is wrong
            self._shut(parts)
        descriptor = files.open_directory(self._root, parts, create=create)
        status = os.fstat(descriptor)
        if len(self._doors) >= _KEPT:
            self._shut(next(iter(self._doors)))
        self._doors[parts] = _OpenDirectory(descriptor, status.st_dev, status.st_ino, "/".join((self._root, *parts)))
        return descriptor

    def close(self) -> None:
        """Close every directory. They can be opened again."""
        for parts in tuple(self._doors):
            self._shut(parts)

    def _shut(self, parts: tuple[str, ...]) -> None:
        os.close(self._doors.pop(parts).descriptor)

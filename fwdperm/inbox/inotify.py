"""The kernel's watch descriptor, through the bindings that watchdog keeps.

Lives here: adding, removing and reading watches without a thread, so that the loop itself can wait on the descriptor.
Never here: which directories, or what an event means.

`is_available` is False where watchdog lacks these bindings; the doorbell then uses its public observer.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

try:
    from watchdog.observers import inotify_c

    is_available = all(
        hasattr(inotify_c, name) for name in ("inotify_init", "inotify_add_watch", "inotify_rm_watch")
    ) and os.path.isdir("/proc/self/fd")  # noqa: PTH112 - at import, before pathlib is worth its price
except (ImportError, AttributeError, OSError):  # not Linux, or a libc without inotify
    is_available = False

if TYPE_CHECKING:
    from collections.abc import Iterator

CLOSE_WRITE: Final = 0x8
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
DELETE: Final = 0x200
DELETE_SELF: Final = 0x400
MOVE_SELF: Final = 0x800
UNMOUNT: Final = 0x2000
OVERFLOW: Final = 0x4000
IGNORED: Final = 0x8000
ONLY_DIRECTORY: Final = 0x01000000
IS_DIRECTORY: Final = 0x40000000

_HEADER: Final = struct.Struct("iIII")
_BUFFER: Final = 1 << 16
_WATCH_LINE: Final = re.compile(r"^inotify wd:([0-9a-f]+)", re.MULTILINE)


class InotifyEvent(NamedTuple):
    """One event as the kernel gave it."""

    watch: int
    mask: int
    name: str


class Inotify:
    """One inotify instance.

    Raises:
        OSError: EMFILE when the user's limit of instances is reached.
    """

    def __init__(self) -> None:
        descriptor = inotify_c.inotify_init()
        if descriptor < 0:
            raise _last_error()
        os.set_blocking(descriptor, False)
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - takes no keywords
        self.descriptor: int = descriptor

    def add(self, directory: int, mask: int) -> int:
        """Watch the directory behind an open descriptor: exactly this one, whatever its path says by now.

        Returns:
            The watch; the same one when this directory is watched already (its mask is then replaced).

        Raises:
            OSError: ENOSPC when the limit of watches is reached; EACCES when the directory cannot be read.
        """
        path = f"/proc/self/fd/{directory}".encode()
        watch = inotify_c.inotify_add_watch(self.descriptor, path, mask | ONLY_DIRECTORY)
        if watch < 0:
            raise _last_error()
        return int(watch)

    def remove(self, watch: int) -> None:
        """Drop a watch; one that the kernel dropped already is fine."""
        inotify_c.inotify_rm_watch(self.descriptor, inotify_c.WatchDescriptor(watch))

    def read(self) -> list[InotifyEvent]:
        """Read what is there, without waiting."""
        try:
            buffer = os.read(self.descriptor, _BUFFER)
        except BlockingIOError:
            return []
        return list(_parse(buffer))

    def alive(self) -> frozenset[int] | None:
        """Ask the kernel which watches it still has; None when it does not say. About 4 us a watch."""
        try:
            text = Path(f"/proc/self/fdinfo/{self.descriptor}").read_text(encoding="ascii")
        except OSError:
            return None
        return frozenset(int(watch, 16) for watch in _WATCH_LINE.findall(text))

    def close(self) -> None:
        """Close the instance; the kernel drops its watches."""
        os.close(self.descriptor)


def _parse(buffer: bytes) -> Iterator[InotifyEvent]:
    at = 0
    while at + _HEADER.size <= len(buffer):
        watch, mask, _cookie, length = _HEADER.unpack_from(buffer, at)
        at += _HEADER.size
        yield InotifyEvent(watch, mask, os.fsdecode(buffer[at : at + length].rstrip(b"\0")))
        at += length


def _last_error() -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))

"""Linux's inotify, through the low-level functions inside watchdog.

docs/decisions/0011-libraries.md says why not through watchdog's documented observer.

Lives here: adding, removing and reading watches without a thread, so that the loop itself can wait on the descriptor.
Never here: which directories, or what an event means.

These functions are no public interface of watchdog. `is_available` is False where they are missing or behave otherwise
than we expect; the doorbell then uses watchdog's public observer. Only the three that `_works` tries are used.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

try:
    from watchdog.observers import inotify_c
except (ImportError, AttributeError, OSError):  # not Linux, or a libc without inotify
    has_bindings = False
else:
    has_bindings = True

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchdog.observers.inotify_c import WatchDescriptor


def _works() -> bool:
    """Say whether the functions take our arguments and report an error as we expect: for descriptor -1, that is EBADF.

    In doubt no: the public observer is slower, but works.
    """
    try:
        if not hasattr(inotify_c, "inotify_init") or not os.path.isdir("/proc/self/fd"):  # noqa: PTH112 - dearer there
            return False
        ctypes.set_errno(0)
        added, why = inotify_c.inotify_add_watch(-1, b"/", ONLY_DIRECTORY), ctypes.get_errno()
        ctypes.set_errno(0)
        removed, why_not = inotify_c.inotify_rm_watch(-1, _watch(0)), ctypes.get_errno()
    except Exception:  # noqa: BLE001 - the seam: another version may do anything
        return False
    return (added, why, removed, why_not) == (-1, errno.EBADF, -1, errno.EBADF)


def _watch(number: int) -> WatchDescriptor:
    """Give a watch's number the type that watchdog declares for it."""
    return cast("WatchDescriptor", number)


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

is_available = has_bindings and _works()

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
        """Watch the directory behind an open descriptor, also if another one has its name by now.

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
        inotify_c.inotify_rm_watch(self.descriptor, _watch(watch))

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

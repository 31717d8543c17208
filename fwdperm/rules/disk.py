"""The two things this room does to a disk.

Lives here: `read_file` and `write_private`. An edge. Never here: what is in a file.
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from fwdperm.errors import EnvironmentFailure

if TYPE_CHECKING:
    from pathlib import Path

FileStamp = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of change in nanoseconds: what differs when a file does."""


@dataclass(frozen=True, slots=True)
class Content:
    """What was read, at one moment.

    Attributes:
        data: The bytes.
        stamp: What the file looked like then.
    """

    data: bytes
    stamp: FileStamp

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex: what trust is given to."""
        return sha256(self.data).hexdigest()


def stamp_of(path: Path) -> FileStamp | None:
    """Return what a file looks like now; None when there is none or it cannot be asked."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return _stamp(status)


def read_file(path: Path, *, limit: int, follow: bool) -> Content:
    """Read a regular file whole; whatever else lies there (FIFO, device, directory) is refused without waiting.

    Args:
        path: The file.
        limit: Most bytes that are read; one more shows that there are too many.
        follow: Whether the file itself may be a symbolic link: yes for an operator's, no for a stranger's.

    Returns:
        The content.

    Raises:
        FileNotFoundError: There is no such file.
        EnvironmentFailure: It cannot be read, or is no regular file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise EnvironmentFailure("not a regular file")
            return Content(opened.read(limit + 1), _stamp(status))
    except (FileNotFoundError, NotADirectoryError) as cause:
        raise FileNotFoundError(str(path)) from cause
    except (OSError, ValueError) as cause:
        raise EnvironmentFailure(f"cannot be read: {_words(cause)}") from cause


def write_private(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Put a whole file in place at once, readable by its owner alone; the directory is made when missing.

    Args:
        path: Where.
        data: The bytes.
        mode: Its permission bits, where others may read it too.

    Raises:
        EnvironmentFailure: It cannot be written; what was there before is untouched.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as cause:
        raise EnvironmentFailure(f"cannot write `{path}`: {_words(cause)}") from cause


def _stamp(status: os.stat_result) -> FileStamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _words(cause: Exception) -> str:
    return (cause.strerror or str(cause)).lower() if isinstance(cause, OSError) else str(cause)

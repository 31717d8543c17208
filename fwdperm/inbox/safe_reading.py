"""Reading files that untrusted processes left: without blocking, without following links, and only up to a limit.

Lives here: looking at an entry, opening it for reading, saying what is wrong with it.
Never here: writing (that is `files.py`), what the bytes mean.

Every call takes a directory that is open already, and a name in it: a child that replaces a directory on the way by a
link cannot lead us elsewhere. What cannot be read safely is not read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from fwdperm.inbox.protocol import Identity, UnreadableCode

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A regular file's bytes, read once."""

    data: bytes = field(repr=False)
    digest: str
    identity: Identity


@dataclass(frozen=True, slots=True)
class BadFile:
    """An entry that is not what a requester may leave."""

    code: UnreadableCode
    reason: str
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class AbsentFile:
    """Nothing of that name."""


FileReading: TypeAlias = WholeFile | BadFile | AbsentFile


def identify(status: os.stat_result) -> Identity:
    """Take from a status what identifies this file with this content."""
    return Identity(status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size)


def is_same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Say whether two statuses are of one file, changed or not."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def status_of(name: str, *, at: int) -> os.stat_result | None:
    """Look at a name without following it or opening it; None when it is not there.

    Raises:
        OSError: When the directory cannot be searched.
    """
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None


def objection(status: os.stat_result, *, cap: int, owner: int | None, may_be_linked: bool = False) -> BadFile | None:
    """Say what is wrong with an entry. To be asked before opening it and again after: it may be replaced in between.

    Args:
        status: From `status_of`, or from the open descriptor.
        cap: Bytes allowed.
        owner: The uid it must have; None allows any (several-uid mode).
        may_be_linked: More than one name is fine: children cannot reach the directory.

    Returns:
        None when it may be read.
    """
    may_be_ours = owner is None or status.st_uid == owner
    has_one_name = status.st_nlink == 1 or may_be_linked
    if stat.S_ISREG(status.st_mode) and may_be_ours and status.st_size <= cap and has_one_name:
        return None
    identity = identify(status)
    if stat.S_ISLNK(status.st_mode):
        return BadFile(UnreadableCode.SYMLINK, "the request is a symbolic link, expected a regular file", identity)
    if not stat.S_ISREG(status.st_mode):
        kind = _kind(status.st_mode)
        return BadFile(UnreadableCode.NOT_REGULAR, f"the request is a {kind}, expected a regular file", identity)
    if not may_be_ours:
        return BadFile(
            UnreadableCode.FOREIGN_OWNER, f"the request belongs to user {status.st_uid}, expected {owner}", identity
        )
    if status.st_size > cap:
        return BadFile(
            UnreadableCode.TOO_LARGE, f"the request has {status.st_size} bytes, at most {cap} are read", identity
        )
    return BadFile(UnreadableCode.HARD_LINK, f"the request has {status.st_nlink} names, expected one", identity)


def read_regular(name: str, *, at: int, cap: int, owner: int | None, may_be_linked: bool = False) -> FileReading:
    """Read a file that an untrusted process left. Never blocks, follows a link, or gives more than `cap` bytes.

    Args:
        name: One path component inside the directory `at`.
        at: Directory descriptor.
        cap: Bytes.
        owner: As in `objection`.
        may_be_linked: As in `objection`.

    Returns:
        The bytes with the identity they had before the first was read (a file that changes meanwhile has another
        one later, and so is read again), or what is wrong. Never raises OSError.
    """
    try:
        before = status_of(name, at=at)
        if before is None:
            return AbsentFile()
        if (wrong := objection(before, cap=cap, owner=owner, may_be_linked=may_be_linked)) is not None:
            return wrong  # not even opened: opening a device can have effects, opening a FIFO wakes its writer
        descriptor = os.open(name, _READ, dir_fd=at)
    except OSError as error:
        return _unopened(error)
    try:
        status = os.fstat(descriptor)
        if (wrong := objection(status, cap=cap, owner=owner, may_be_linked=may_be_linked)) is not None:
            return wrong
        data = _read_all(descriptor, expected=status.st_size, cap=cap)
    except OSError as error:
        return BadFile(UnreadableCode.UNREADABLE, f"the request cannot be read: {os_error_words(error)}")
    finally:
        os.close(descriptor)
    if len(data) > cap:
        return BadFile(
            UnreadableCode.TOO_LARGE, f"the request grew past {cap} bytes while it was read", identify(status)
        )
    return WholeFile(data, hashlib.sha256(data).hexdigest(), identify(status))


def _unopened(error: OSError) -> FileReading:
    match error.errno:
        case errno.ENOENT:
            return AbsentFile()
        case errno.ELOOP:
            return BadFile(UnreadableCode.SYMLINK, "the request is a symbolic link, expected a regular file")
        case errno.ENXIO | errno.ENODEV:
            return BadFile(UnreadableCode.NOT_REGULAR, "the request is not a regular file")
        case _:
            return BadFile(UnreadableCode.UNREADABLE, f"the request cannot be read: {os_error_words(error)}")


def _read_all(descriptor: int, *, expected: int, cap: int) -> bytes:
    """Read to the end, or one byte past `cap`. The one byte more than expected shows that the end was reached."""
    data = os.read(descriptor, min(expected, cap) + 1)
    if len(data) == expected:
        return data
    pieces = [data]
    total = len(data)
    while data and total <= cap:
        data = os.read(descriptor, min(cap + 1 - total, 1 << 16))
        pieces.append(data)
        total += len(data)
    return b"".join(pieces)


def os_error_words(error: OSError) -> str:
    """Give the system's message for an error in lower case, for use inside a message of ours."""
    return (error.strerror or type(error).__name__).lower()


def _kind(mode: int) -> str:
    for test, kind in (
        (stat.S_ISDIR, "directory"),
        (stat.S_ISFIFO, "named pipe"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISCHR, "character device"),
        (stat.S_ISBLK, "block device"),
    ):
        if test(mode):
            return kind
    return "special file"

"""Reading what strangers left, and publishing what nobody may see half of.

Lives here: every open, link, rename and unlink of the inbox tree; the one home of open-for-write for it.
Never here: what a name or a byte means.

Everything works on a name inside an open directory, so a directory that is swapped for a link catches nobody.
Every read and every removal fails to "not this file"; every publication fails to "not published".
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from fwdperm.inbox.layout import SENTINEL, TEMP_PREFIX
from fwdperm.inbox.protocol import AlreadyThere, Code, Failed, Identity, Outcome, Published

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ROOT: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class Modes:
    """Permission bits of what we make."""

    directory: int
    file: int


PRIVATE: Final = Modes(directory=0o700, file=0o600)
"""One user: nobody else gets in."""
GROUP: Final = Modes(directory=0o2770, file=0o640)
"""Several users of one group (the root's own): its members may leave requests and read answers."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A regular file's bytes, read once."""

    data: bytes = field(repr=False)
    digest: str
    identity: Identity


@dataclass(frozen=True, slots=True)
class Bad:
    """An entry that is not what a requester may leave."""

    code: Code
    reason: str
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing of that name."""


Reading: TypeAlias = Whole | Bad | Absent


def identify(status: os.stat_result) -> Identity:
    """Take from a status what tells this file from any other."""
    return Identity(status.st_dev, status.st_ino, status.st_ctime_ns, status.st_size)


# -- reading ---------------------------------------------------------------------------------------------------
def status_of(name: str, *, at: int) -> os.stat_result | None:
    """Look at a name without following it or opening it; None when it is not there.

    Raises:
        OSError: When the directory cannot be searched.
    """
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None


def objection(status: os.stat_result, *, cap: int, owner: int | None) -> Bad | None:
    """Say what is wrong with an entry, before it is opened and again after.

    Args:
        status: From `status_of`, or from the open descriptor.
        cap: Bytes allowed.
        owner: The uid it must have; None allows any (several-uid mode).

    Returns:
        None when it may be read.
    """
    identity = identify(status)
    if stat.S_ISLNK(status.st_mode):
        return Bad(Code.SYMLINK, "the request is a symbolic link, expected a regular file", identity)
    if not stat.S_ISREG(status.st_mode):
        kind = _kind(status.st_mode)
        return Bad(Code.NOT_REGULAR, f"the request is a {kind}, expected a regular file", identity)
    if owner is not None and status.st_uid != owner:
        return Bad(Code.FOREIGN_OWNER, f"the request belongs to user {status.st_uid}, expected {owner}", identity)
    if status.st_size > cap:
        return Bad(Code.TOO_LARGE, f"the request has {status.st_size} bytes, at most {cap} are read", identity)
    if status.st_nlink != 1:
        return Bad(Code.HARD_LINK, f"the request has {status.st_nlink} names, expected one", identity)
    return None


def read_regular(name: str, *, at: int, cap: int, owner: int | None) -> Reading:
    """Read a file a stranger left: never blocks, never follows a link, never reads more than `cap` bytes.

    Args:
        name: One path component inside the directory `at`.
        at: Directory descriptor.
        cap: Bytes.
        owner: As in `objection`.

    Returns:
        The bytes with the identity they had before the first was read (a file that changes meanwhile has another
        one later, and so is read again), or what is wrong. Never raises OSError.
    """
    try:
        before = status_of(name, at=at)
        if before is None:
            return Absent()
        if (wrong := objection(before, cap=cap, owner=owner)) is not None:
            return wrong  # not even opened: opening a device can have effects, opening a FIFO wakes its writer
        descriptor = os.open(name, _READ, dir_fd=at)
    except OSError as error:
        return _unopened(error)
    try:
        status = os.fstat(descriptor)
        if (wrong := objection(status, cap=cap, owner=owner)) is not None:
            return wrong
        data = _read_all(descriptor, expected=status.st_size, cap=cap)
    except OSError as error:
        return Bad(Code.UNREADABLE, f"the request cannot be read: {said(error)}")
    finally:
        os.close(descriptor)
    if len(data) > cap:
        return Bad(Code.TOO_LARGE, f"the request grew past {cap} bytes while it was read", identify(status))
    return Whole(data, hashlib.sha256(data).hexdigest(), identify(status))


def _unopened(error: OSError) -> Reading:
    match error.errno:
        case errno.ENOENT:
            return Absent()
        case errno.ELOOP:
            return Bad(Code.SYMLINK, "the request is a symbolic link, expected a regular file")
        case errno.ENXIO | errno.ENODEV:
            return Bad(Code.NOT_REGULAR, "the request is not a regular file")
        case _:
            return Bad(Code.UNREADABLE, f"the request cannot be read: {said(error)}")


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


# -- directories -----------------------------------------------------------------------------------------------
def open_directory(root: str, parts: Sequence[str] = (), *, create: Modes | None = None) -> int:
    """Open a directory below `root`, one component at a time, following no link below the root.

    Args:
        root: A path the operator chose; links in it are the operator's.
        parts: Components below it.
        create: Make what is missing, with these modes; None makes nothing.

    Returns:
        A descriptor the caller closes.

    Raises:
        OSError: ENOENT when missing; ELOOP or ENOTDIR when something else stands there.
    """
    try:
        here = os.open(root, _ROOT)
    except FileNotFoundError:
        if create is None:
            raise
        Path(root).mkdir(mode=0o700, parents=True, exist_ok=True)
        here = os.open(root, _ROOT)
    for part in parts:
        try:
            deeper = _enter(part, at=here, create=create)
        finally:
            os.close(here)
        here = deeper
    return here


def _enter(part: str, *, at: int, create: Modes | None) -> int:
    try:
        return os.open(part, DIRECTORY, dir_fd=at)
    except FileNotFoundError:
        if create is None:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, create.directory, dir_fd=at)
    made = os.open(part, DIRECTORY, dir_fd=at)
    try:
        if create is GROUP:
            os.fchmod(made, create.directory)  # the umask took what the group needs
    except OSError:
        os.close(made)
        raise
    return made


@contextlib.contextmanager
def directory(root: str, parts: Sequence[str] = (), *, create: Modes | None = None) -> Iterator[int]:
    """Hold a directory open for a block; otherwise as `open_directory`."""
    descriptor = open_directory(root, parts, create=create)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def plant_sentinel(*, at: int, modes: Modes) -> None:
    """Leave the file that keeps others from removing a directory as empty. Whatever stands there already does too."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(SENTINEL, _CREATE, modes.file, dir_fd=at))


# -- publishing ------------------------------------------------------------------------------------------------
def publish(name: str, payload: bytes, *, at: int, modes: Modes = PRIVATE, sync: bool = False) -> Outcome:
    """Make a file appear whole, or not at all, and never over another one.

    Args:
        name: One path component inside the directory `at`.
        payload: The bytes.
        at: Directory descriptor.
        modes: Permission bits.
        sync: Make it durable before it can be seen. Answers are not: the journal is.

    Returns:
        What happened. A full disk is a Failed and leaves nothing behind. Never raises OSError.
    """
    try:
        temp = _write_temp(payload, at=at, modes=modes, sync=sync)
    except OSError as error:
        return failed(error)
    try:
        _link_or_rename(temp, name, at=at)
        if sync:
            os.fsync(at)
    except FileExistsError:
        return AlreadyThere()
    except OSError as error:
        return failed(error)
    finally:
        _discard(temp, at=at)
    return Published()


def replace(name: str, payload: bytes, *, at: int, modes: Modes = PRIVATE) -> None:
    """Put a whole file in the place of an older one, at once. A link planted under the name is replaced, not followed.

    Raises:
        OSError: The older one is then still there, unchanged.
    """
    temp = _write_temp(payload, at=at, modes=modes, sync=False)
    try:
        os.rename(temp, name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        _discard(temp, at=at)
        raise


def _write_temp(payload: bytes, *, at: int, modes: Modes, sync: bool) -> str:
    """Write a new file under a name nobody can foresee. A short write (a full disk has no other voice) is an error."""
    temp = f"{TEMP_PREFIX}{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temp, _CREATE, modes.file, dir_fd=at)
    try:
        try:
            if modes is GROUP:
                os.fchmod(descriptor, modes.file)
            rest = memoryview(payload)
            while rest:
                if not (written := os.write(descriptor, rest)):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                rest = rest[written:]
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)  # network file systems report a full disk here
    except OSError:
        _discard(temp, at=at)
        raise
    return temp


def _link_or_rename(temp: str, name: str, *, at: int) -> None:
    """Give the temp file its name; FileExistsError when the name is taken.

    Without hard links the check and the rename are two steps. That is enough while one daemon owns the root.
    """
    try:
        os.link(temp, name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if status_of(name, at=at) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(temp, name, src_dir_fd=at, dst_dir_fd=at)


def _discard(temp: str, *, at: int) -> None:
    """Remove our own temp file; after a rename it has gone already, and a leftover one is nobody's mail."""
    with contextlib.suppress(OSError):
        os.unlink(temp, dir_fd=at)


# -- removing --------------------------------------------------------------------------------------------------
def remove_same(name: str, identity: Identity, *, at: int) -> bool:
    """Remove a name if it still is the file we read. Directories stay.

    Between the look and the removal lies a moment in which a replacement would be lost; its requester then waits
    until its own deadline, and nothing is allowed.

    Returns:
        True when the name is gone. Never raises OSError.
    """
    try:
        status = status_of(name, at=at)
        if status is None:
            return True
        if identify(status) != identity or stat.S_ISDIR(status.st_mode):
            return False
        os.unlink(name, dir_fd=at)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove(name: str, *, at: int) -> bool:
    """Remove a name; True when it is gone. Directories stay. Never raises OSError."""
    try:
        os.unlink(name, dir_fd=at)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


# -- words -----------------------------------------------------------------------------------------------------
def explain(outcome: Outcome) -> str:
    """Say an outcome in words, for a log."""
    match outcome:
        case Published():
            return "published"
        case AlreadyThere():
            return "already there"
        case Failed(reason=reason):
            return f"failed: {reason}"
        case _:
            assert_never(outcome)


def failed(error: OSError) -> Failed:
    """Say why nothing was published."""
    return Failed(said(error), disk_full=error.errno in _FULL)


def said(error: OSError) -> str:
    """Put what the machine said into our words' case."""
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

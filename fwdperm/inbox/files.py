"""Writing files so that they appear whole or not at all, and removing a file only if it is still the one that was read.

Lives here: every directory made or opened, every write, link, rename and unlink of the inbox tree; nothing else opens a
file of it for writing. Never here: reading what children left (`safe_reading.py`), what a name or a byte means.

Every call takes a directory that is open already, and a name in it. So a child that replaces a directory on the way by
a link cannot lead us elsewhere. What fails is not published, or not removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.inbox.layout import SENTINEL, TEMP_PREFIX
from fwdperm.inbox.protocol import AlreadyThere, Failed, Identity, Published, PublishOutcome
from fwdperm.inbox.safe_reading import identify, os_error_words, status_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ROOT: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAMELESS: Final = os.O_WRONLY | getattr(os, "O_TMPFILE", os.O_CREAT | os.O_EXCL) | os.O_CLOEXEC
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES})


@dataclass(frozen=True, slots=True)
class Modes:
    """Permission bits of what we make."""

    directory: int
    file: int


PRIVATE_MODES: Final = Modes(directory=0o700, file=0o600)
"""One user: nobody else gets in."""
GROUP_MODES: Final = Modes(directory=0o2770, file=0o640)
"""Children of several users: members of the root's group may leave requests and read answers."""


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
    # Another process may make it first, or put a link there: opening without following links settles what it is.
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, create.directory, dir_fd=at)
    made = os.open(part, DIRECTORY, dir_fd=at)
    try:
        if create is GROUP_MODES:
            os.fchmod(made, create.directory)  # the umask may have taken away the group's bits
    except OSError:
        os.close(made)
        raise
    return made


@contextlib.contextmanager
def held_directory(root: str, parts: Sequence[str] = (), *, create: Modes | None = None) -> Iterator[int]:
    """Hold a directory open for a block; otherwise as `open_directory`."""
    descriptor = open_directory(root, parts, create=create)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def plant_sentinel(*, at: int, modes: Modes) -> None:
    """Leave a file that keeps children from removing the directory as empty; any file of that name will do."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(SENTINEL, _CREATE, modes.file, dir_fd=at))


# -- publishing ------------------------------------------------------------------------------------------------
def publish_file(  # noqa: PLR0913 - each a promise of its own
    name: str,
    payload: bytes,
    *,
    at: int,
    modes: Modes = PRIVATE_MODES,
    sync: bool = False,
    is_contested: bool = False,
) -> PublishOutcome:
    """Make a file appear whole, or not at all, and never over another one.

    Args:
        name: One path component inside the directory `at`.
        payload: The bytes.
        at: Directory descriptor.
        modes: Permission bits.
        sync: Make it durable before it can be seen. Answers need not be: the journal is, and they can be written again.
        is_contested: Others may publish under the same name at the same time: fail where there are no hard links.

    Returns:
        What happened. A full disk is a Failed and leaves nothing behind. Never raises OSError.
    """
    nameless = _publish_nameless(name, payload, at=at, modes=modes, sync=sync)
    if nameless is not None:
        return nameless
    try:
        temp, descriptor = _write_temp(payload, at=at, modes=modes, sync=sync)
    except OSError as error:
        return failed(error)
    try:
        os.close(descriptor)  # network file systems report a full disk here, so before anybody can see the file
        _link_or_rename(temp, name, at=at, is_contested=is_contested)
        if sync:
            os.fsync(at)
    except FileExistsError:
        return AlreadyThere()
    except OSError as error:
        return failed(error)
    finally:
        _discard(temp, at=at)
    return Published()


def _publish_nameless(name: str, payload: bytes, *, at: int, modes: Modes, sync: bool) -> PublishOutcome | None:
    """Publish a file that has no name until it gets its own: quicker by a third, and it never has two names.

    Returns:
        What happened; None where the file system or a missing `/proc` does not offer this way.
    """
    try:
        descriptor = os.open(".", _NAMELESS, modes.file, dir_fd=at)
    except OSError:
        return None
    try:
        if modes is GROUP_MODES:
            os.fchmod(descriptor, modes.file)
        _write_all(descriptor, payload)
        if sync:
            os.fsync(descriptor)  # before it gets its name: after a crash there could be a name without the content
        # `dst_dir_fd` makes Python call `linkat` with the flag that follows the link in `/proc` to the nameless file.
        os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=at)
        if sync:
            os.fsync(at)
    except FileExistsError:
        return AlreadyThere()
    except OSError:
        return None  # the other way says what is wrong, if it does not help either
    finally:
        os.close(descriptor)
    return Published()


def replace_file(name: str, payload: bytes, *, at: int, modes: Modes = PRIVATE_MODES) -> None:
    """Put a whole file in the place of an older one, at once. A link planted under the name is replaced, not followed.

    Raises:
        OSError: The older one is then still there, unchanged.
    """
    os.close(replace_file_and_hold(name, payload, at=at, modes=modes))


def replace_file_and_hold(name: str, payload: bytes, *, at: int, modes: Modes = PRIVATE_MODES) -> int:
    """Replace, and keep the new file open for writing.

    Returns:
        Its descriptor, which the caller closes.

    Raises:
        OSError: As `replace_file`.
    """
    temp, descriptor = _write_temp(payload, at=at, modes=modes, sync=False)
    try:
        os.rename(temp, name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        os.close(descriptor)
        _discard(temp, at=at)
        raise
    return descriptor


def _write_temp(payload: bytes, *, at: int, modes: Modes, sync: bool) -> tuple[str, int]:
    """Write a new file under a random name, so that nobody can plant a link there. Raises when not all was written."""
    temp = f"{TEMP_PREFIX}{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temp, _CREATE, modes.file, dir_fd=at)
    try:
        if modes is GROUP_MODES:
            os.fchmod(descriptor, modes.file)
        _write_all(descriptor, payload)
        if sync:
            os.fsync(descriptor)
    except OSError:
        os.close(descriptor)
        _discard(temp, at=at)
        raise
    return temp, descriptor


def _write_all(descriptor: int, payload: bytes) -> None:
    rest = memoryview(payload)
    while rest:
        if not (written := os.write(descriptor, rest)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[written:]


def _link_or_rename(temp: str, name: str, *, at: int, is_contested: bool) -> None:
    """Give the temp file its name; FileExistsError when the name is taken.

    Without hard links the check and the rename are two steps. That is enough while one daemon owns the root.
    """
    try:
        os.link(temp, name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if is_contested or error.errno not in _NO_LINKS:
            raise
        # A rename would replace a file of that name: an answer that a child may be reading.
        if status_of(name, at=at) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(temp, name, src_dir_fd=at, dst_dir_fd=at)


def _discard(temp: str, *, at: int) -> None:
    """Remove our own temp file, if it is still there. One that stays behind is never read as a request."""
    try:  # noqa: SIM105 - on every answer
        os.unlink(temp, dir_fd=at)
    except OSError:
        pass


# -- removing --------------------------------------------------------------------------------------------------
def remove_same_file(name: str, identity: Identity, *, at: int) -> bool:
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
        # A child may write a new request under the same name while the old one is answered: that one stays.
        if identify(status) != identity or stat.S_ISDIR(status.st_mode):
            return False
        os.unlink(name, dir_fd=at)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_file(name: str, *, at: int) -> bool:
    """Remove a name; True when it is gone. Directories stay. Never raises OSError."""
    try:
        os.unlink(name, dir_fd=at)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


# -- words -----------------------------------------------------------------------------------------------------
def publish_words(outcome: PublishOutcome) -> str:
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
    return Failed(os_error_words(error))

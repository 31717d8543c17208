"""One daemon per root, on one machine: a lock that the kernel lets go of when its owner dies.

Lives here: taking the lock, saying who holds it, standing by. Never here: file systems that other machines share
(that is `shared_lease.py`), what the owner does.

The kernel keeps the lock as long as any process has the descriptor open. So programs that we start do not inherit it,
and a forked copy of this process closes it: otherwise such a child would hold the lock of a daemon that has died.
Between fork and close the copy holds it all the same, so workers should be spawned, not forked.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import weakref
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from fwdperm.errors import AlreadyServed, EnvironmentFailure
from fwdperm.inbox import safe_reading

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK: Final = "lock"
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK_S: Final = 0.1
"""Seconds between two looks of a daemon that stands by; takeover is promised within one second."""
_LOOKS: Final = 3
"""Tries before giving up: a forked copy of a daemon that has ended may hold the lock for a moment longer."""
_HOLDER_BYTES: Final = 4096
_HELD: weakref.WeakSet[FlockLease] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, as the holder itself wrote it down.

    Attributes:
        pid: Its process id on its host.
        started: When it was started, in clock ticks since its host started: a later process may get the same id.
        host: Its host's name.
    """

    pid: int
    started: int
    host: str

    def __str__(self) -> str:
        """Name the holder for people."""
        return f"process {self.pid} on `{self.host}`"


def this_process() -> Holder:
    """Describe ourselves as a holder."""
    try:
        started = int(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        started = 0
    return Holder(os.getpid(), started, socket.gethostname())


def read_holder(text: bytes) -> Holder | None:
    """Read a holder back; None when it cannot be read (it is written just after the lock is taken)."""
    try:
        found: Any = json.loads(text)
        return Holder(int(found["pid"]), int(found["started"]), str(found["host"]))
    except (ValueError, TypeError, KeyError):
        return None


class Lease(Protocol):
    """The right to serve a root: one owner at a time."""

    def is_held(self) -> bool:
        """Say whether we may act as the owner now. Any thread; never waits."""
        ...

    def renew(self) -> bool:
        """Keep it; call every second, from one thread.

        Returns:
            False when it is somebody else's now: end, and leave what lies in the state directory to them. True
            otherwise, also while `is_held` says no because the disk stands in the way: try again.
        """
        ...

    def close(self) -> None:
        """Let go. A second call does nothing."""
        ...


class FlockLease:
    """The lock of one state directory, held until `close` or death. Made by `take_lease`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        _HELD.add(self)

    def is_held(self) -> bool:
        """Say whether the file we locked still is the one others would lock."""
        if self._descriptor < 0:
            return False
        # The kernel locks files, not names: once the file was removed another daemon can make and lock a new one under
        # the same name, while our lock on the nameless file still stands.
        try:
            return safe_reading.is_same_file(os.fstat(self._descriptor), self._path.lstat())
        except OSError:
            return False

    def renew(self) -> bool:
        """Lock anew where the lock file was removed, unless somebody else was quicker. See Lease."""
        if self._descriptor < 0 or self.is_held():
            return self._descriptor >= 0
        try:
            taken = _try(self._path)
        except OSError:
            return True  # a fault of the disk, not another owner: try again; until then `is_held` says no
        if isinstance(taken, FlockLease):
            # The old lock is let go only now that the new one is held, so that we hold one at every moment.
            os.close(self._descriptor)
            self._descriptor = taken.hand_over()
        return not isinstance(taken, Holder)

    def close(self) -> None:
        """Let go. A second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def hand_over(self) -> int:
        """Give the locked descriptor away, and hold nothing any more."""
        descriptor, self._descriptor = self._descriptor, -1
        return descriptor


def take_lease(state: Path, *, standby: bool = False, is_stopped: Callable[[], bool] = lambda: False) -> FlockLease:
    """Become the one daemon of a root, for life.

    Args:
        state: The root's state directory; made when missing.
        standby: Wait until the present owner ends, instead of giving up.
        is_stopped: Asked between two looks while standing by; True gives up.

    Returns:
        The lease. It ends with this process, however that ends.

    Raises:
        AlreadyServed: Somebody else holds it; says who.
        EnvironmentFailure: The lock file cannot be made.
    """
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        pause = threading.Event()
        looks = 0
        # One refusal proves nothing: `holder_of` takes the lock shared for a moment, only to ask who holds it.
        while not isinstance(taken := _try(state / LOCK), FlockLease):
            looks += 1
            if (not standby and looks >= _LOOKS) or is_stopped():
                who = taken or "another process"
                raise AlreadyServed(
                    f"this root is already served by {who}",
                    file=os.fspath(state / LOCK),
                    remedy="stop it, or start this one with --standby",
                )
            pause.wait(_LOOK_S)
    except OSError as error:
        raise EnvironmentFailure(f"cannot lock `{state / LOCK}`: {safe_reading.os_error_words(error)}") from error
    else:
        return taken


def _try(path: Path) -> FlockLease | Holder | None:
    """Take the lock, or read who has it."""
    descriptor = os.open(path, _OPEN, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_holder(os.pread(descriptor, _HOLDER_BYTES, 0))
        if not safe_reading.is_same_file(os.fstat(descriptor), path.lstat()):
            # Between open and lock somebody removed or replaced the file. Whoever locks the file that now has the name
            # owns the root; our lock is on one that nobody will look at again.
            return None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(asdict(this_process())).encode(), 0)
        lease = FlockLease(path, descriptor)
        descriptor = -1
        return lease
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _drop_in_child() -> None:
    """Close every lease in a forked copy of this process: the lock lasts as long as any copy of its descriptor."""
    for lease in tuple(_HELD):
        lease.close()


os.register_at_fork(after_in_child=_drop_in_child)

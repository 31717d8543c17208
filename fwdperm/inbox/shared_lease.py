"""One daemon per root where several machines share the file system.

Lives here: the lease by hard links, with an epoch. Never here: locks of one machine's kernel (`lease.py`), the record
of decisions (`decision_record.py`), comparing the clocks of two machines.

Each epoch is a file `lease.<epoch>` that only one process can create, and whoever created the highest one owns the
root. The owner renews its lease by counting up in its file. Whoever sees that count stand still for 30 s *on its own
clock* may create the next epoch. No waiting is needed where the owner let go, or was a process of the same machine that
has ended.

An owner that was asleep finds the higher epoch and knows that it has lost; one that could not renew in time stops
acting as the owner. Still, on any such file system two daemons can believe for a moment that they are the owner. Whose
decision counts then is settled by the decision record.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import AlreadyServed, EnvironmentFailure
from fwdperm.inbox import files, safe_reading
from fwdperm.inbox.lease import Holder, read_holder, this_process
from fwdperm.inbox.protocol import Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FENCE_S: Final = 15.0
"""Seconds without a renewal after which the owner stops acting as one: half of what others wait, so it stops first."""
STALE_S: Final = 30.0
"""Seconds a lease must be seen to stand still before it is taken over."""
_EPOCH: Final = re.compile(r"lease\.(\d{1,18})")
_LEASE_BYTES: Final = 4_096
_KEPT_EPOCHS: Final = 2
_LOOK_S: Final = 0.2
"""Seconds between two looks of a daemon that stands by."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A lease file as somebody found it: any change of it is a sign of life."""

    epoch: int
    text: bytes


class LinkLease:
    """A lease on a shared directory. Call `attempt` until it says True, then `renew` every second.

    Args:
        state: The shared state directory.
        clock: A clock that only goes forward, seconds.
    """

    def __init__(self, state: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._state = os.fspath(state)
        self._clock = clock
        self._nonce = secrets.token_hex(8)
        self._epoch = 0
        self._count = 0
        self._renewed = 0.0
        self._seen: _Seen | None = None
        self._since = 0.0

    @property
    def epoch(self) -> int:
        """The epoch we own; 0 when we own none. Grows with every change of owner."""
        return self._epoch

    def is_held(self) -> bool:
        """Say whether we may act as the owner, by our own clock and without touching the disk."""
        return self._epoch > 0 and self._clock() - self._renewed < FENCE_S

    def attempt(self) -> bool:
        """Take the lease if it is free, let go, or has stood still for STALE_S since we first saw it so.

        Raises:
            EnvironmentFailure: The directory cannot be used. The lease is then not held.
        """
        with self._directory() as at:
            newest = _newest(at)
            if newest is not None and not self._is_free(newest.text):
                # Only our own clock counts how long it stood still: the times in the file are those of another machine.
                if newest != self._seen:
                    self._seen, self._since = newest, self._clock()
                    return False
                if self._clock() - self._since < STALE_S:
                    return False
            return self._create(1 if newest is None else newest.epoch + 1, at=at)

    def renew(self) -> bool:
        """Count up in our own lease file; take the next epoch where we lost hold and nobody else had it. See Lease."""
        try:
            with self._directory() as at:
                return self._keep(at)
        except EnvironmentFailure:
            return True  # not renewed: `is_held` turns False by itself in time

    def _keep(self, at: int) -> bool:
        # The renewal counts from before the disk is touched: others may have seen the new count at any time since then.
        started = self._clock()
        newest = _newest(at)
        if self._epoch == 0 or newest is None or newest.epoch != self._epoch:
            self._epoch = 0
            return False
        if not self.is_held():
            # We could not renew for FENCE_S, and nobody took over so far. Somebody may be about to, so we do as they
            # do: of all who try to create the next epoch, one succeeds.
            return self._create(self._epoch + 1, at=at)
        self._count += 1
        files.replace_file(f"lease.{self._epoch}", self._text(), at=at)
        # Look again: between our look and our write another may have made the next epoch. Our write then changed a
        # file that no longer counts.
        if (newest := _newest(at)) is None or newest.epoch != self._epoch:
            self._epoch = 0
            return False
        self._renewed = started
        return True

    def _create(self, epoch: int, *, at: int) -> bool:
        """Create an epoch's file, and look whether it is ours: a network may report our own success as a failure."""
        self._epoch = 0
        started = self._clock()
        outcome = files.publish_file(f"lease.{epoch}", self._text(), at=at, is_contested=True)
        if isinstance(outcome, Failed):
            raise EnvironmentFailure(f"cannot make the lease in `{self._state}`: {outcome.reason}")
        # What lies in the directory counts, not what the call returned: on a network file system the link may have been
        # made although the call reports a failure, because the server's reply was lost.
        now = _newest(at)
        if now is None or now.epoch != epoch or _said(now.text).get("nonce") != self._nonce:
            return False  # another was quicker, or a later epoch was there and its predecessor swept away
        self._epoch, self._renewed = epoch, started
        _sweep(at, below=epoch - _KEPT_EPOCHS + 1)
        return True

    def holder(self) -> Holder | None:
        """Say who holds the lease, or held it last."""
        with self._directory() as at:
            newest = _newest(at)
        return None if newest is None else read_holder(newest.text)

    def close(self) -> None:
        """Let go, so that another may take it at once. A second call does nothing."""
        if self.is_held():
            with contextlib.suppress(EnvironmentFailure), self._directory() as at:
                newest = _newest(at)
                # only our own epoch's file: a successor must not be told that its lease was let go
                if newest is not None and newest.epoch == self._epoch:
                    files.replace_file(f"lease.{self._epoch}", self._text(let_go=True), at=at)
        self._epoch = 0

    def _is_free(self, text: bytes) -> bool:
        """Say whether a lease needs no waiting for: let go, our own that we lost hold of, or its owner has ended."""
        found = _said(text)
        return found.get("letGo") is True or found.get("nonce") == self._nonce or _has_ended(found)

    def _text(self, *, let_go: bool = False) -> bytes:
        facts = asdict(this_process()) | {
            "nonce": self._nonce,
            "count": self._count,
            "letGo": let_go,
            "machine": this_machine(),
        }
        return json.dumps(facts).encode()

    @contextlib.contextmanager
    def _directory(self) -> Iterator[int]:
        try:
            with files.held_directory(self._state, create=files.PRIVATE_MODES) as at:
                yield at
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot use the lease in `{self._state}`: {safe_reading.os_error_words(error)}"
            ) from error


def _newest(at: int) -> _Seen | None:
    """Read the lease file of the highest epoch."""
    while True:  # a file that was swept away between listing and reading is no answer: list again
        epochs = [int(match[1]) for name in os.listdir(at) if (match := _EPOCH.fullmatch(name))]
        if not epochs:
            return None
        epoch = max(epochs)
        found = safe_reading.read_regular(f"lease.{epoch}", at=at, cap=_LEASE_BYTES, owner=None, may_be_linked=True)
        if isinstance(found, safe_reading.WholeFile):
            return _Seen(epoch, found.data)
        if isinstance(found, safe_reading.BadFile):
            return _Seen(epoch, b"")  # it is somebody's lease, though unreadable: it has to stand still like any other


def _sweep(at: int, *, below: int) -> None:
    for name in os.listdir(at):
        if (match := _EPOCH.fullmatch(name)) and int(match[1]) < below:
            files.remove_file(name, at=at)


def take_shared_lease(
    state: Path, *, standby: bool = False, is_stopped: Callable[[], bool] = lambda: False
) -> LinkLease:
    """Become the one daemon of a root whose state other machines share.

    Args:
        state: The shared state directory; made when missing.
        standby: Wait until the present owner ends or falls silent, instead of giving up.
        is_stopped: Asked between two looks while standing by; True gives up.

    Returns:
        The lease. Renew it every second.

    Raises:
        AlreadyServed: Somebody else holds it, or held it less than STALE_S ago; says who.
        EnvironmentFailure: The directory cannot be used.
    """
    lease = LinkLease(state)
    pause = threading.Event()
    while not lease.attempt():
        if not standby or is_stopped():
            raise AlreadyServed(
                f"this root is already served by {lease.holder() or 'another process'}",
                file=os.fspath(state),
                remedy="stop it, or start this one with --standby: it serves as soon as the other ends, or has been "
                f"silent for {STALE_S:.0f} s",
            )
        pause.wait(_LOOK_S)
    return lease


def this_machine() -> str:
    """Name the kernel and the process table in which our process id counts; empty when it cannot be learned."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink().name}"
    except OSError:
        return ""


def _said(text: bytes) -> dict[str, Any]:
    """Read a lease file; one that cannot be read says nothing."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _has_ended(found: dict[str, Any]) -> bool:
    """Say whether a lease's owner was a process of this very machine and is gone. In doubt it lives."""
    pid, started, machine = found.get("pid"), found.get("started"), found.get("machine")
    if not machine or machine != this_machine() or type(pid) is not int or type(started) is not int or pid <= 0:
        return False
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return status[0] in {"Z", "X"} or int(status[19]) != started
    except (OSError, ValueError, IndexError):
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False

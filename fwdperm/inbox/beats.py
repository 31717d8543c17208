"""Heartbeat files: whole ones put in place of older ones, and cheap renewal when there are very many.

Lives here: how a heartbeat gets to disk. Never here: when, or what it says (that is `heartbeat.py`).

Renaming a new file into place for each of a thousand sessions a second would cost a twentieth of a processor. So past a
few dozen sessions the files that we made are kept open, and a renewal is written over the old content in one call; it
has the same length, because only the digits of the time differ. Before that we look whether the file still lies under
its name, and make a new one if not.

A fresh heartbeat of somebody else is neither overwritten nor removed: a parent that is alive and answers its own
children would otherwise share them with us. A heartbeat that cannot be read counts as nobody's.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import files, safe_reading
from fwdperm.inbox.layout import SERVING, beat_name
from fwdperm.settings import BEAT_STALE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.inbox.files import Modes

OURS: Final = "fwdperm"
"""The value of `by` in the heartbeats that this program writes."""
_BEAT_BYTES: Final = 4_096
"""Bytes that a heartbeat may have; a longer file is not taken for one."""
_FEW: Final = 64
"""Sessions up to which every heartbeat is a new file, renamed into place."""
_SHARE: Final = 2
"""Of the files that this process may open, heartbeats keep at most one in this many open."""


class ServedElsewhere(EnvironmentFailure):
    """Somebody else's heartbeat is fresh: that session's children are theirs to answer."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A heartbeat file we hold open."""

    descriptor: int
    device: int
    inode: int
    size: int
    name: str


class BeatFiles:
    """The heartbeats under one root. Any thread may call it, but never two at a time.

    Args:
        root: The inbox root.
        modes: Permission bits.
        now_ns: The wall clock, epoch nanoseconds.
    """

    def __init__(self, root: str, *, modes: Modes, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._root = root
        self._modes = modes
        self._now_ns = now_ns
        self._serving = -1
        self._slots: dict[str, _Slot] = {}
        self._shown: set[str] = set()

    def beat(self, session: str, payload: bytes) -> None:
        """Put a heartbeat in place of the last one. See Transport."""
        try:
            slot = self._slots.get(session)
            # The files we hold open may lie in a directory that was removed or replaced; nobody would see a renewal.
            # One look at the directory is enough for all of them, so it is done for the first session of each round.
            if slot is not None and slot is next(iter(self._slots.values())) and not self._is_in_place():
                self.close()
            elif slot is not None:
                if _renew(slot, payload, at=self._serving):
                    return
                self._let_go(session)
            with files.held_directory(self._root, (SERVING,), create=self._modes) as at:
                if self._is_elsewhere(session, at=at):
                    raise ServedElsewhere(f"`{session}` is served by somebody else")
                self._put(session, payload, at=at)
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot write the heartbeat of `{session}`: {safe_reading.os_error_words(error)}"
            ) from error
        self._shown.add(session)

    def unbeat(self, session: str) -> None:
        """Withdraw a heartbeat. See Transport."""
        self._let_go(session)
        self._shown.discard(session)
        try:
            with files.held_directory(self._root, (SERVING,)) as at:
                if not self._is_elsewhere(session, at=at) and not files.remove_file(beat_name(session), at=at):
                    raise PermissionError(errno.EACCES, "it cannot be removed")
        except FileNotFoundError:
            return
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot withdraw the heartbeat of `{session}`: {safe_reading.os_error_words(error)}"
            ) from error

    def is_elsewhere(self, session: str) -> bool:
        """Say whether somebody else's heartbeat is fresh; one that cannot be read is not."""
        try:
            with files.held_directory(self._root, (SERVING,)) as at:
                return self._is_elsewhere(session, at=at)
        except OSError:
            return False

    def _is_elsewhere(self, session: str, *, at: int) -> bool:
        """Look for a heartbeat that is not ours and whose time is near ours; one far in the future is not believed."""
        found = safe_reading.read_regular(beat_name(session), at=at, cap=_BEAT_BYTES, owner=None, may_be_linked=True)
        if not isinstance(found, safe_reading.WholeFile):
            return False
        try:
            said = json.loads(found.data)
            updated_at = said["updatedAt"]
            if said.get("by") == OURS or isinstance(updated_at, bool) or not isinstance(updated_at, int | float):
                return False
            return abs(self._now_ns() / 1e6 - updated_at) < BEAT_STALE_S * 1000
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return False

    def close(self) -> None:
        """Let go of every descriptor; the files stay."""
        for session in tuple(self._slots):
            self._let_go(session)
        if self._serving >= 0:
            os.close(self._serving)
            self._serving = -1

    def _is_in_place(self) -> bool:
        """Say whether the directory we hold open is still the one under its name."""
        try:
            there = os.lstat(f"{self._root}/{SERVING}")
            return safe_reading.is_same_file(os.fstat(self._serving), there)
        except OSError:
            return False

    def _put(self, session: str, payload: bytes, *, at: int) -> None:
        name = beat_name(session)
        many = len(self._shown) >= _FEW
        if not many or len(self._slots) + 1 >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] // _SHARE:
            files.replace_file(name, payload, at=at, modes=self._modes)
            return
        descriptor = files.replace_file_and_hold(name, payload, at=at, modes=self._modes)
        status = os.fstat(descriptor)
        if not self._slots:
            self.close()
            self._serving = os.dup(at)
        self._slots[session] = _Slot(descriptor, status.st_dev, status.st_ino, len(payload), name)

    def _let_go(self, session: str) -> None:
        if (slot := self._slots.pop(session, None)) is not None:
            os.close(slot.descriptor)


def _renew(slot: _Slot, payload: bytes, *, at: int) -> bool:
    """Write over a held file, if it still is the one under its name, and both are as long as it was."""
    if len(payload) != slot.size:
        return False
    try:
        status = os.stat(slot.name, dir_fd=at, follow_symlinks=False)
    except OSError:
        return False
    # A file that was put in its place is somebody else's, and a write of another length would leave half of the old
    # heartbeat behind the new one. The same length in one call is seen whole or not at all by whoever reads it.
    if (status.st_dev, status.st_ino, status.st_size) != (slot.device, slot.inode, slot.size):
        return False
    return os.pwrite(slot.descriptor, payload, 0) == slot.size

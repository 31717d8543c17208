"""One decision per request where several machines share the file system: the first one recorded counts.

Lives here: the record. Never here: who may decide (`shared_lease.py`), what is decided.

Two daemons may both believe for a moment that they own a root: one was asleep, and another took over. Each publishes
only what this record returns, so they publish the same answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import files, safe_reading
from fwdperm.inbox.layout import file_name
from fwdperm.inbox.protocol import AlreadyThere, Failed, Published
from fwdperm.wire import encode_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_RECORD_BYTES: Final = 1 << 20
_LOOKS: Final = 20
"""Records looked at in one call of `sweep`, which holds up the daemon: on a network file system 1 ms for each."""
_NOW: Final = ".now"
"""A file that is written to learn, from the time it then has, what time the file server has."""
RECORD_KEPT_S: Final = 24 * 3600.0
"""Seconds a recorded decision is kept: longer than any request waits, or any owner is asleep."""


class LastWord(Protocol):
    """Whose answer to a request counts."""

    def decide(self, inbox: str, stem: str, payload: bytes) -> bytes:
        """Give the answer that counts: `payload`, or what another daemon decided before.

        Raises:
            EnvironmentFailure: That cannot be told; publish nothing.
        """
        ...

    def sweep(self) -> int:
        """Forget a few decisions of long ago; give how many. Never raises."""
        ...


class OwnWord:
    """The last word where a lock of the kernel keeps other daemons away: always our own answer."""

    def decide(self, inbox: str, stem: str, payload: bytes) -> bytes:  # noqa: ARG002 - see LastWord
        """Give the payload. See LastWord."""
        return payload

    def sweep(self) -> int:
        """Forget nothing. See LastWord."""
        return 0


class DecisionRecord:
    """`decisions/<enc(inbox)>/<id>.json`: who decided first decided. Children cannot reach it.

    Args:
        state: The shared state directory.
        is_owner: Says whether we own the root now; nothing is decided otherwise.
    """

    def __init__(self, state: Path, *, is_owner: Callable[[], bool] = lambda: True) -> None:
        self._state = os.fspath(state)
        self._is_owner = is_owner
        self._round = self._walk()

    def decide(self, inbox: str, stem: str, payload: bytes) -> bytes:
        """Record a decision, durably, unless one is recorded.

        Returns:
            The decision that counts: `payload`, or what another one recorded before. Publish only this.

        Raises:
            EnvironmentFailure: Nothing could be recorded or read; publish nothing.
        """
        if not self._is_owner():
            raise EnvironmentFailure(f"cannot record the decision on `{stem}`: the lease on this root was lost")
        parts = ("decisions", encode_session(inbox))
        name = file_name(stem)
        try:
            with files.held_directory(self._state, parts, create=files.PRIVATE_MODES) as at:
                # The step that decides between two daemons: making a hard link fails when the name is taken. Without
                # hard links publishing fails here, because both daemons could see the name free and then both rename.
                outcome = files.publish_file(name, payload, at=at, sync=True, is_contested=True)
                match outcome:
                    case Published():
                        return payload
                    case Failed(reason=reason):
                        raise EnvironmentFailure(f"cannot record the decision on `{stem}`: {reason}")
                    case AlreadyThere():
                        found = safe_reading.read_regular(
                            name, at=at, cap=_RECORD_BYTES, owner=None, may_be_linked=True
                        )
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot record the decision on `{stem}`: {safe_reading.os_error_words(error)}"
            ) from error
        if not isinstance(found, safe_reading.WholeFile):
            raise EnvironmentFailure(f"cannot read the recorded decision on `{stem}`")
        return found.data

    def sweep(self) -> int:
        """Remove a few decisions older than RECORD_KEPT_S by the file system's own clock. Call it every second.

        Nothing is lost by that: the journal remembers every decided request, and this record only matters while another
        daemon may wrongly believe that it owns the root.

        Returns:
            How many went. Never raises: what stays is removed another time.
        """
        removed = 0
        try:
            for _ in range(_LOOKS):
                if (is_removed := next(self._round, None)) is None:
                    self._round = self._walk()
                    break
                removed += is_removed
        except OSError:
            self._round = self._walk()
        return removed

    def _walk(self) -> Iterator[bool]:
        """Look at all records once, one at each step; yield whether it was removed."""
        with files.held_directory(self._state, ("decisions",), create=files.PRIVATE_MODES) as above:
            # The records were dated by the file server's clock, so `now` is taken from a file that it dates now.
            files.replace_file(_NOW, b"", at=above)
            now = os.stat(_NOW, dir_fd=above).st_mtime
            inboxes = [name for name in os.listdir(above) if name != _NOW]  # noqa: PTH208 - a descriptor has no pathlib
        for inbox in inboxes:
            with files.held_directory(self._state, ("decisions", inbox)) as at:
                names = os.listdir(at)  # noqa: PTH208 - as above
            for name in names:
                # Opened again at each step: seconds pass between two steps, and no directory is held open meanwhile.
                with files.held_directory(self._state, ("decisions", inbox)) as at:
                    status = safe_reading.status_of(name, at=at)
                    is_old = status is not None and now - status.st_mtime > RECORD_KEPT_S
                    yield is_old and files.remove_file(name, at=at)

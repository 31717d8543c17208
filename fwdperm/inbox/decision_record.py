"""One decision per request where several machines share the file system, whatever happens: the first record counts.

Lives here: the record. Never here: who may decide (`shared_lease.py`), what.

Two daemons may both believe for a moment that they own a root: one was asleep, and another took over. What each of
them publishes is what this record returns, and so one answer.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import files, reading
from fwdperm.inbox.layout import file_name
from fwdperm.inbox.protocol import AlreadyThere, Failed, Published
from fwdperm.wire.ids import encode_session

if TYPE_CHECKING:
    from pathlib import Path

_RECORD_BYTES: Final = 1 << 20
RECORD_KEPT_S: Final = 24 * 3600.0
"""Seconds a recorded decision is kept: longer than any request waits, or any owner is asleep."""


class DecisionRecord:
    """`decisions/<enc(inbox)>/<id>.json`: who decided first decided. Children cannot reach it.

    Args:
        state: The shared state directory.
    """

    def __init__(self, state: Path) -> None:
        self._state = os.fspath(state)

    def decide(self, inbox: str, stem: str, payload: bytes) -> bytes:
        """Record a decision, durably, unless one is recorded.

        Returns:
            The decision that counts: `payload`, or what another one recorded before. Publish only this.

        Raises:
            EnvironmentFailure: Nothing could be recorded or read; publish nothing.
        """
        parts = ("decisions", encode_session(inbox))
        name = file_name(stem)
        try:
            with files.directory(self._state, parts, create=files.PRIVATE) as at:
                outcome = files.publish(name, payload, at=at, sync=True, is_contested=True)
                match outcome:
                    case Published():
                        return payload
                    case Failed(reason=reason):
                        raise EnvironmentFailure(f"cannot record the decision on `{stem}`: {reason}")
                    case AlreadyThere():
                        found = reading.read_regular(name, at=at, cap=_RECORD_BYTES, owner=None, may_be_linked=True)
        except OSError as error:
            raise EnvironmentFailure(f"cannot record the decision on `{stem}`: {reading.said(error)}") from error
        if not isinstance(found, reading.Whole):
            raise EnvironmentFailure(f"cannot read the recorded decision on `{stem}`")
        return found.data

    def sweep(self) -> int:
        """Remove decisions older than RECORD_KEPT_S by the file system's own clock. Returns how many went.

        The journal remembers a decided request for ever; this record matters only while another daemon may believe
        that it owns the root. Never raises: what stays is removed another time.
        """
        removed = 0
        with contextlib.suppress(OSError), files.directory(self._state, ("decisions",), create=files.PRIVATE) as above:
            files.replace(".now", b"", at=above)
            now = os.stat(".now", dir_fd=above).st_mtime
            for inbox in os.listdir(above):  # noqa: PTH208 - a descriptor has no pathlib
                with contextlib.suppress(OSError), files.directory(self._state, ("decisions", inbox)) as at:
                    for name in os.listdir(at):  # noqa: PTH208 - as above
                        status = reading.status_of(name, at=at)
                        if status is not None and now - status.st_mtime > RECORD_KEPT_S:
                            removed += files.remove(name, at=at)
        return removed

"""One daemon per root where several machines share the file system, and one decision per request whatever happens.

Lives here: the lease by hard links, with an epoch; the first-writer-wins record of decisions.
Never here: locks of one machine's kernel (`lease.py`), comparing the clocks of two machines.

Each epoch is a file `lease.<epoch>` that only one can create; the highest epoch owns the root. The owner renews by
counting up in its file. Whoever sees that count stand still for 30 s *on its own clock* may create the next epoch.
An owner that was asleep finds the higher epoch and knows that it lost; one that could not renew in time stops.
A moment with two believers remains possible on any such file system: the record decides then, once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import files, reading
from fwdperm.inbox.layout import file_name
from fwdperm.inbox.lease import Holder, read_holder, this_process
from fwdperm.inbox.protocol import AlreadyThere, Failed, Published
from fwdperm.wire.ids import encode_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RENEW_S: Final = 2.0
"""Seconds between renewals by the owner."""
FENCE_S: Final = 15.0
"""Seconds without a renewal after which an owner no longer counts itself as one: half of what others wait."""
STALE_S: Final = 30.0
"""Seconds a lease must be seen to stand still before it is taken over."""
_EPOCH: Final = re.compile(r"lease\.(\d{1,18})")
_RECORD_BYTES: Final = 1 << 20
_KEPT_EPOCHS: Final = 2


@dataclass(frozen=True, slots=True)
class _Seen:
    """A lease file as somebody found it: any change of it is a sign of life."""

    epoch: int
    text: bytes


class LinkLease:
    """A lease on a shared directory. Call `attempt` until it says True, then `renew` every RENEW_S.

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
                if newest != self._seen:
                    self._seen, self._since = newest, self._clock()
                    return False
                if self._clock() - self._since < STALE_S:
                    return False
            epoch = 1 if newest is None else newest.epoch + 1
            started = self._clock()
            if files.publish(f"lease.{epoch}", self._text(), at=at) != Published():
                return False
            now = _newest(at)
            if now is None or now.epoch != epoch:
                return False  # a later epoch was there before us, and its predecessor already swept away
            self._epoch, self._renewed = epoch, started
            _sweep(at, below=epoch - _KEPT_EPOCHS + 1)
            return True

    def renew(self) -> bool:
        """Count up in our own lease file. False when the lease is lost; then stop answering.

        Raises:
            EnvironmentFailure: The directory cannot be used; `is_held` turns False by itself in time.
        """
        if self._epoch == 0:
            return False
        with self._directory() as at:
            started = self._clock()
            newest = _newest(at)
            if newest is None or newest.epoch != self._epoch or not self.is_held():
                self._epoch = 0
                return False
            self._count += 1
            files.replace(f"lease.{self._epoch}", self._text(), at=at)
            if (newest := _newest(at)) is None or newest.epoch != self._epoch:
                self._epoch = 0
                return False
            self._renewed = started
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
                if newest is not None and newest.epoch == self._epoch:
                    files.replace(f"lease.{self._epoch}", self._text(let_go=True), at=at)
        self._epoch = 0

    def _is_free(self, text: bytes) -> bool:
        """Say whether a lease needs no waiting for: let go, or our own that we lost hold of."""
        try:
            found: Any = json.loads(text)
        except ValueError:
            return False
        return isinstance(found, dict) and (found.get("letGo") is True or found.get("nonce") == self._nonce)

    def _text(self, *, let_go: bool = False) -> bytes:
        facts = asdict(this_process()) | {"nonce": self._nonce, "count": self._count, "letGo": let_go}
        return json.dumps(facts).encode()

    @contextlib.contextmanager
    def _directory(self) -> Any:
        try:
            with files.directory(self._state, create=files.PRIVATE) as at:
                yield at
        except OSError as error:
            raise EnvironmentFailure(f"cannot use the lease in `{self._state}`: {reading.said(error)}") from error


def _newest(at: int) -> _Seen | None:
    """Read the lease file of the highest epoch."""
    while True:
        epochs = [int(match[1]) for name in os.listdir(at) if (match := _EPOCH.fullmatch(name))]
        if not epochs:
            return None
        epoch = max(epochs)
        found = reading.read_regular(f"lease.{epoch}", at=at, cap=_RECORD_BYTES, owner=None, may_be_linked=True)
        if isinstance(found, reading.Whole):
            return _Seen(epoch, found.data)
        if isinstance(found, reading.Bad):
            return _Seen(epoch, b"")  # somebody's all the same: it stands still, or it does not


def _sweep(at: int, *, below: int) -> None:
    for name in os.listdir(at):
        if (match := _EPOCH.fullmatch(name)) and int(match[1]) < below:
            files.remove(name, at=at)


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
                outcome = files.publish(name, payload, at=at, sync=True)
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

"""A doorbell for places from which no events come: it rings on time.

Lives here: when to look. Never here: how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.inbox.health import Health, Ring, WatchMode
from fwdperm.settings import SWEEP_S

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from fwdperm.inbox.tree import InboxTree

_FEW_INBOXES: Final = 100
_FEW_S: Final = 0.25
"""Seconds between listings while there are no more than `_FEW_INBOXES`; with more, listing so often costs too much."""


class PollingBell:
    """See Doorbell.

    Args:
        tree: Whose inboxes.
        loop: The loop that keeps the time.
        on_ring: See Ring.
        message: Why no events come, for the first check to say; empty says nothing.
    """

    mode = WatchMode.POLLING

    def __init__(self, tree: InboxTree, loop: asyncio.AbstractEventLoop, on_ring: Ring, *, message: str = "") -> None:
        self._tree = tree
        self._loop = loop
        self._on_ring = on_ring
        self._news = [message] if message else []
        self._others: list[str] = []
        self._closed = False
        self._sessions = tree.sessions()
        self._timer = loop.call_later(self._pause_s, self._tick)

    @property
    def _pause_s(self) -> float:
        return _FEW_S if len(self._sessions) <= _FEW_INBOXES else SWEEP_S

    def _tick(self) -> None:
        self._timer = self._loop.call_later(self._pause_s, self._tick)
        self._on_ring(None)
        for name in self._others:
            self._on_ring(name)

    def watch_directory(self, path: Path, name: str) -> None:
        """Ring `name` on time. See Doorbell."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._others.append(name)

    def check(self) -> Health:
        """Say that everything is polled. See Doorbell."""
        self._sessions = self._tree.sessions()
        news, self._news = tuple(self._news), []
        polled = frozenset((*self._sessions, *self._others))
        return Health(self.mode, is_alive=not self._closed, polled=polled, messages=news)

    def close(self) -> None:
        """Stop ringing. See Doorbell."""
        self._closed = True
        self._timer.cancel()

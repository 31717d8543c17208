"""A doorbell on watchdog's public observer, for systems and versions without the low-level bindings.

Lives here: the observer, its threads, and finding out that one died. Never here: a file being read.

`sessions/` is watched recursively with one call, each other directory with one more: watchdog starts a thread for each.
Handlers only pass a name on to the loop, because an exception in one would end the thread that calls all of them.
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from fwdperm.inbox import files, safe_reading
from fwdperm.inbox.health import WATCH_LIMIT, Health, Ring, WatchMode
from fwdperm.inbox.layout import REQUESTS, SESSIONS, TEMP_PREFIX
from fwdperm.wire import decode_session

if TYPE_CHECKING:
    import asyncio

    from watchdog.observers.api import BaseObserver

    from fwdperm.inbox.tree import InboxTree

_EVENTS: Final[list[type[FileSystemEvent]]] = [
    FileCreatedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
# Elsewhere than on Linux no event says that a file was closed after writing, so each change has to do.
_EVENTS_ELSEWHERE: Final[list[type[FileSystemEvent]]] = [*_EVENTS, FileModifiedEvent]
_PROOF_S: Final = 0.3
"""Seconds to wait for a new observer's first event; the loop stands still meanwhile."""
_JOIN_S: Final = 2.0
"""Seconds to wait for an observer's threads to end."""


class _Handler(FileSystemEventHandler):
    """Tells the bell of each path in an event. Called in the observer's thread."""

    def __init__(self, bell: ObserverBell, name: str | None) -> None:
        self._bell = bell
        self._name = name

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Pass what is dirty to the loop."""
        for path in (event.src_path, event.dest_path):
            if path:
                self._bell.heard(os.fsdecode(path), self._name)


class ObserverBell:
    """See Doorbell.

    Args:
        tree: Whose inboxes.
        loop: The running loop; `on_ring` is called in its thread.
        on_ring: See Ring.

    Raises:
        OSError: When the directories cannot be scheduled.
    """

    mode = WatchMode.OBSERVER

    def __init__(self, tree: InboxTree, loop: asyncio.AbstractEventLoop, on_ring: Ring) -> None:
        self._tree = tree
        self._loop = loop
        self._on_ring = on_ring
        self._sessions = tree.layout.sessions
        self._others: dict[str, Path] = {}
        self._held: dict[str, int] = {}
        self._probe = ""
        self._proved = threading.Event()
        self._is_deaf = False
        self._closed = False
        with files.held_directory(os.fspath(tree.root), (SESSIONS,), create=tree.modes):
            pass
        self._observer: BaseObserver = self._start()

    def watch_directory(self, path: Path, name: str) -> None:
        """Ring `name` on every change in `path`. See Doorbell."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._others[name] = path
        self._hold(name, path)
        self._schedule(self._observer, path, name)

    def check(self) -> Health:
        """Start a new observer when a thread has died or a directory was replaced by another. See Doorbell."""
        if self._closed:
            return Health(self.mode, is_alive=False)
        if not self._is_deaf and self._is_well() and self._are_the_same():
            return Health(self.mode)
        problem = "" if self._is_deaf else self._start_over()
        for name in (None, *self._others):
            self._ring(name)
        if problem:
            self._is_deaf = True
        if not self._is_deaf:
            return Health(self.mode, rearmed=1)
        polled = frozenset((*self._tree.sessions(), *self._others))
        return Health(self.mode, polled=polled, messages=(problem,) if problem else ())

    def _start_over(self) -> str:
        """Start a new observer; give what prevents it in words, empty when its events come.

        If they do not, no further observer is tried, and each check rings for everything instead: some versions of
        watchdog have one thread for the whole process, and once it has died no observer hears anything.
        """
        try:
            self._stop()
            self._observer = self._start()
        except OSError as error:
            return _explain(error)
        return "" if self.proves_itself(_PROOF_S) else "watchdog's observer is deaf; inboxes are listed once a second"

    def close(self) -> None:
        """End the threads. See Doorbell."""
        if not self._closed:
            self._closed = True
            self._stop()

    def proves_itself(self, timeout_s: float) -> bool:
        """Write a file and wait for its event: True when events really come from this file system."""
        self._proved.clear()
        self._probe = f"{TEMP_PREFIX}probe-{secrets.token_hex(8)}"
        try:
            with files.held_directory(os.fspath(self._tree.root), (SESSIONS,)) as at:
                files.publish_file(self._probe, b"", at=at)
                try:
                    return self._proved.wait(timeout_s)
                finally:
                    files.remove_file(self._probe, at=at)
        except OSError:
            return False

    # -- the observer's threads --------------------------------------------------------------------------------
    def heard(self, path: str, name: str | None) -> None:
        """Take a path from an event. Runs in the observer's thread; must never raise."""
        if path.endswith(self._probe) and self._probe:
            self._proved.set()
            return
        if name is None:
            parts = Path(path).parts[len(self._sessions.parts) :]
            session = decode_session(parts[0]) if parts else None
            if parts and (session is None or (len(parts) > 1 and parts[1] != REQUESTS)):
                return
            name = session
        try:
            self._loop.call_soon_threadsafe(self._ring, name)
        except RuntimeError:
            return  # the loop has ended; so has the need for a bell

    def _ring(self, name: str | None) -> None:
        if not self._closed:
            self._on_ring(name)

    # -- its life ----------------------------------------------------------------------------------------------
    def _start(self) -> BaseObserver:
        observer = Observer()
        observer.daemon = True
        try:
            self._hold("", self._sessions)
            self._schedule(observer, self._sessions, None)
            for name, path in self._others.items():
                self._hold(name, path)
                self._schedule(observer, path, name)
            observer.start()
        except BaseException:
            observer.unschedule_all()
            raise
        return observer

    def _schedule(self, observer: BaseObserver, path: Path, name: str | None) -> None:
        events = _EVENTS if sys.platform == "linux" else _EVENTS_ELSEWHERE
        observer.schedule(_Handler(self, name), os.fspath(path), recursive=name is None, event_filter=events)

    def _stop(self) -> None:
        observer = self._observer
        for descriptor in self._held.values():
            os.close(descriptor)
        self._held.clear()
        observer.unschedule_all()
        if observer.is_alive():
            observer.stop()
            observer.join(_JOIN_S)

    def _is_well(self) -> bool:
        observer = self._observer
        return observer.is_alive() and all(emitter.is_alive() for emitter in observer.emitters)

    def _hold(self, name: str, path: Path) -> None:
        """Keep a directory open: while it is, the kernel does not give its inode to another, which we took for it."""
        descriptor = os.open(path, files.DIRECTORY)
        if (old := self._held.pop(name, None)) is not None:
            os.close(old)
        self._held[name] = descriptor

    def _are_the_same(self) -> bool:
        """Say whether every directory whose events we count on is still the one under its name."""
        try:
            return all(
                safe_reading.is_same_file(os.fstat(descriptor), (self._others.get(name) or self._sessions).lstat())
                for name, descriptor in self._held.items()
            )
        except OSError:
            return False


def _explain(error: OSError) -> str:
    return (
        WATCH_LIMIT
        if error.errno == errno.ENOSPC
        else f"cannot watch the inboxes: {safe_reading.os_error_words(error)}"
    )

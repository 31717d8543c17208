"""The heartbeat tells children that somebody serves. A thread of its own renews it, so that nothing slow delays it.

Lives here: when it is written, what it says, when it is withdrawn. Never here: what counts as healthy (the daemon
says), writing a file.

When the daemon's loop stands still, the heartbeat is no longer renewed, and children give up once it is too old for
them; when the daemon knows that it is unwell, it is withdrawn at once. Fails towards "nobody serves": then the child
denies by itself.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.inbox.beats import OURS, ServedElsewhere
from fwdperm.settings import BEAT_S

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_STALE_S: Final = 3.0
"""Seconds the loop may stand still before its heartbeat is no longer renewed."""
_VERSION: Final = 1
_INITIAL_PID_NAMESPACE: Final = "pid:[4026531836]"
"""The kernel's fixed name for the pid namespace of the machine itself (PROC_PID_INIT_INO)."""
_ALWAYS_ALIVE: Final = 1
"""A pid that is alive in every pid namespace. A reader then has only the heartbeat's age to tell whether we live."""


class Beats(Protocol):
    """The part of a transport that the heart needs; called from its thread."""

    def beat(self, session: str, payload: bytes) -> None:
        """Publish a heartbeat; raise ServedElsewhere where somebody else's is fresh."""
        ...

    def unbeat(self, session: str) -> None:
        """Withdraw a heartbeat."""
        ...


def visible_pid(*, shared: bool = False, namespace: str | None = None) -> int:
    """Choose the pid a heartbeat carries, so that nobody who looks at it takes a living daemon for dead.

    Children test it with `kill(pid, 0)` in their own pid namespace, where ours may be no process or another one.

    Args:
        shared: The root is reached from other machines or containers.
        namespace: This process's pid namespace; None asks the kernel.

    Returns:
        Our pid on the machine itself; 1 in a container, on a shared root, or when the kernel does not say.
    """
    if namespace is None:
        try:
            namespace = Path("/proc/self/ns/pid").readlink().name
        except OSError:
            namespace = ""
    return os.getpid() if namespace == _INITIAL_PID_NAMESPACE and not shared else _ALWAYS_ALIVE


class Heart:
    """Renews a heartbeat for each served session, while the loop lives and says that all is well.

    Args:
        beats: Where heartbeats go.
        is_healthy: Says whether doorbell, lease and journal are well. Called in the heart's thread: it must not wait.
        pid: See `visible_pid`.
        now_ms: The wall clock, epoch milliseconds.
        clock: A clock that only goes forward, seconds.

    Attributes:
        trouble: Why a heartbeat could not be written in the last round that wrote any, in words; empty when all were.
    """

    def __init__(
        self,
        beats: Beats,
        *,
        is_healthy: Callable[[], bool],
        pid: int | None = None,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._beats = beats
        self._is_healthy = is_healthy
        self._pid = visible_pid() if pid is None else pid
        self._now_ms = now_ms
        self._clock = clock
        self._ticked = clock()
        self._lock = threading.Lock()
        # `_lock` guards these three; both threads use them.
        self._heads: dict[str, bytes] = {}  # by served session: its heartbeat up to the time
        self._leaving: set[str] = set()  # released, and their heartbeats not withdrawn yet
        self._yielded: set[str] = set()  # sessions found to be served by somebody else, until `yielded` is called
        self._is_shown = False  # whether heartbeats are on disk, as far as this thread knows
        self._wake = threading.Event()
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self.trouble = ""

    # -- the loop's side -----------------------------------------------------------------------------------------
    def tick(self) -> None:
        """Note that the daemon's loop is running. The loop calls this, at least once a second."""
        self._ticked = self._clock()

    def serve(self, session: str) -> None:
        """Begin to renew a heartbeat for a session; the first is written at once."""
        # Everything but the time is encoded once: the thread renews a thousand of them a second.
        facts = {"sessionId": session, "pid": self._pid, "v": _VERSION, "by": OURS}
        with self._lock:
            # In one step with `_leaving`: for a session that was released and is served again, the thread would
            # otherwise withdraw the heartbeat that it has just written.
            self._heads[session] = json.dumps(facts, separators=(",", ":"))[:-1].encode() + b',"updatedAt":'
            self._leaving.discard(session)
        self._wake.set()

    def release(self, session: str) -> None:
        """Stop renewing a session's heartbeat, and withdraw it."""
        with self._lock:
            if self._heads.pop(session, None) is not None:
                self._leaving.add(session)
        self._wake.set()

    def yielded(self) -> set[str]:
        """Give the sessions that we stopped for since the last call, because somebody else serves them."""
        with self._lock:
            yielded, self._yielded = self._yielded, set()
        return yielded

    def start(self) -> None:
        """Start the thread."""
        self.tick()
        self._thread = threading.Thread(target=self._run, name="fwdperm-heart", daemon=True)
        self._thread.start()

    def close(self, *, withdraws: bool = True) -> None:
        """End the thread and withdraw every heartbeat. A second call does nothing.

        Args:
            withdraws: False leaves the files to the daemon that serves now.
        """
        self._is_closing = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._lock:
            self._leaving |= set(self._heads) if withdraws else set()
            self._heads.clear()
        self._withdraw_leaving()

    # -- the thread's side ---------------------------------------------------------------------------------------
    def _run(self) -> None:
        due = self._clock()
        while not self._is_closing:
            self.round()
            due = max(due + BEAT_S, self._clock())
            self._wake.wait(max(0.0, due - self._clock()))
            if self._wake.is_set():
                # Cleared before the round, not after: a session that is added during the round sets it again.
                self._wake.clear()
                due = self._clock()

    def round(self) -> bool:
        """Renew every heartbeat once, or withdraw them, or let them age. The thread calls this every second.

        Returns:
            Whether every heartbeat was renewed.
        """
        self._withdraw_leaving()
        with self._lock:
            heads = dict(self._heads)
        # A daemon that knows it is unwell withdraws its heartbeats at once. A loop that stands still may go on in a
        # moment: then they only grow old, and children wait until their own limit instead of giving up.
        if not self._is_well():
            if self._is_shown:
                self._each(heads, lambda session, _: self._beats.unbeat(session))
                self._is_shown = False
            return False
        if self._clock() - self._ticked >= TICK_STALE_S:
            return False
        self.trouble = self._each(heads, self._beat)
        self._is_shown = True
        return not self.trouble

    def _beat(self, session: str, head: bytes) -> None:
        try:
            self._beats.beat(session, b"%b%d}" % (head, self._now_ms()))
        except ServedElsewhere:
            # The loop may have released this session while we wrote; then there is nothing to report.
            with self._lock:
                if self._heads.pop(session, None) is not None:
                    self._yielded.add(session)

    def _is_well(self) -> bool:
        try:
            return self._is_healthy()
        except Exception:  # noqa: BLE001 - the seam: health that cannot be told is none
            return False

    def _withdraw_leaving(self) -> None:
        with self._lock:
            leaving, self._leaving = self._leaving, set()
        self._each(dict.fromkeys(leaving, b""), lambda session, _: self._beats.unbeat(session))

    @staticmethod
    def _each(heads: dict[str, bytes], act: Callable[[str, bytes], None]) -> str:
        """Act for each session; one that fails stops no other. Returns the last problem."""
        problem = ""
        for session, head in heads.items():
            try:
                act(session, head)
            except (EnvironmentFailure, ChildError) as error:
                problem = str(error)
        return problem

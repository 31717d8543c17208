"""The heartbeat: a promise that somebody serves, renewed every second by a thread that nobody can hold up.

Lives here: when it is written, what it says, when it is not. Never here: what health is (the loop says), a file.

A loop that stands still lets the heartbeat age, and children give up at their own limit; a daemon that knows it is
unwell withdraws it at once. Fails towards "nobody serves": a child then denies by itself.
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
"""The pid that reads as alive in every pid namespace. The heartbeat's age then is what tells life from death."""


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
        is_healthy: Watcher, lock and journal are well. Called in the heart's thread: a plain read, no waiting.
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
        self._heads: dict[str, bytes] = {}
        self._leaving: set[str] = set()
        self._yielded: set[str] = set()
        self._is_shown = False
        self._wake = threading.Event()
        self._is_closing = False
        self._thread: threading.Thread | None = None
        self.trouble = ""

    # -- the loop's side -----------------------------------------------------------------------------------------
    def tick(self) -> None:
        """Say that the loop turns. Call it at least once a second, from the loop only."""
        self._ticked = self._clock()

    def serve(self, session: str) -> None:
        """Begin to beat for a session, at once."""
        # Everything but the time is encoded once: the thread renews a thousand of them a second.
        facts = {"sessionId": session, "pid": self._pid, "v": _VERSION, "by": OURS}
        with self._lock:
            # under one lock with `_leaving`: a session released and served again must not lose its new heartbeat
            self._heads[session] = json.dumps(facts, separators=(",", ":"))[:-1].encode() + b',"updatedAt":'
            self._leaving.discard(session)
        self._wake.set()

    def release(self, session: str) -> None:
        """Stop beating for a session and withdraw its heartbeat."""
        with self._lock:
            if self._heads.pop(session, None) is not None:
                self._leaving.add(session)
        self._wake.set()

    def yielded(self) -> set[str]:
        """Give the sessions we stopped beating for, since the last call, because somebody else serves them."""
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
                # cleared before the round that follows: a session served meanwhile sets it again and is not missed
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
        # Known to be unwell: take the promise back at once, and once. A loop that stands still cannot say how it is:
        # then the heartbeat only ages, and children wait out their own limit rather than give up on a short hiccup.
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
            # the loop may have released or served it again while we wrote: only what still stands there is yielded
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

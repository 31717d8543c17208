"""The daemon: one event loop that has a turn whenever the doorbell rings, and at least once a second.

Lives here: what happens in which order on a wake-up and on a tick. Never here: building the parts (`parts.py`), what
becomes of a letter (`lifecycle.py`).

A turn runs in a callback of the loop, without a task or a thread of its own: switching to one took most of the time
from request to answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import resource
import signal
from typing import TYPE_CHECKING, Final

import structlog

from fwdperm.inbox import WatchMode, open_doorbell
from fwdperm.settings import SWEEP_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.inbox import Doorbell
    from fwdperm.serve.parts import Parts

log = structlog.get_logger("fwdperm.serve")

REPLIES: Final = ".replies"
"""Name under which the doorbell rings for an answer file: no session can be called so."""
SESSIONS: Final = ".sessions"
"""Name under which it rings for a session that `fwdperm run` recorded."""
_UNREAD_EVERY: Final = 10
"""Ticks between two looks for answers that their requesters never read."""


class Daemon:
    """Serves one root until it is stopped.

    Args:
        parts: The parts it is made of, wired and not yet started.
        loop: The event loop it runs in.
        once: Stop as soon as nothing waits.
    """

    def __init__(self, parts: Parts, *, loop: asyncio.AbstractEventLoop, once: bool = False) -> None:
        self._parts = parts
        self._loop = loop
        self._once = once
        self._dirty: set[str] = set()
        self._everything = False
        self._is_scheduled = False
        self._ticks = 0
        self._stopped = asyncio.Event()
        self._doorbell: Doorbell | None = None
        self._timer: asyncio.TimerHandle | None = None

    # -- waking up ---------------------------------------------------------------------------------------------

    def ring(self, name: str | None) -> None:
        """Look again in the next turn.

        Args:
            name: Where something may have changed: an inbox, `REPLIES` or `SESSIONS`; None for everywhere.
        """
        if name is None:
            self._everything = True
        else:
            self._dirty.add(name)
        self.schedule()

    def schedule(self) -> None:
        """Have a turn as soon as the loop is free; calls before it add up to one turn."""
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._turn)

    def stop(self, reason: str) -> None:
        """End after the current turn."""
        if not self._stopped.is_set():
            log.info("daemon.stopping", reason=reason)
            self._stopped.set()

    # -- serving -----------------------------------------------------------------------------------------------

    async def run(self, open_doorbell: Callable[[Callable[[str | None], None]], Doorbell]) -> None:
        """Serve until stopped.

        The doorbell is opened before the directories are first listed: a request that arrives in between rings, where
        it would otherwise lie unnoticed until the next tick.

        Args:
            open_doorbell: Opens the doorbell; its argument is what the doorbell calls.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self.stop, signal.Signals(number).name)
        self._loop.add_signal_handler(signal.SIGHUP, self.ring, None)
        self._doorbell = open_doorbell(self.ring)
        for name, part in ((REPLIES, "replies"), (SESSIONS, "sessions")):
            self._doorbell.watch_directory(self._parts.options.state / part, name)
        try:
            self._everything = True
            self._tick()
            self._parts.heart.start()
            self._parts.interfaces.attach(self._parts.lifecycle.referrals, loop=self._loop, on_change=self.schedule)
            self._parts.judge_tasks.attach(self._parts.lifecycle, loop=self._loop, on_change=self.schedule)
            self.schedule()
            await self._stopped.wait()
        finally:
            self._close()

    def _turn(self) -> None:
        """One wake-up: list, read, decide, record, publish. A failure of one part never stops the next turn."""
        self._is_scheduled = False
        if not self._parts.ownership.lease.is_held():
            return  # nothing is decided or published; the next tick rings for everything
        dirty, self._dirty = self._dirty, set()
        everything, self._everything = self._everything, False
        parts = self._parts
        put_off = parts.lifecycle.intake.put_off()
        try:
            if SESSIONS in dirty or everything:
                parts.rulebook.reload_sessions()
            if parts.lifecycle.intake.is_swamped():  # read no more files; look at letters that are in memory already
                put_off, self._everything = put_off | (dirty - {REPLIES, SESSIONS}), everything
                parts.lifecycle.intake.receive(())
            else:
                wanted = self._wanted(dirty, everything=everything, but=put_off)
                parts.lifecycle.intake.receive(parts.transport.pending(wanted))
            if REPLIES in dirty or everything:
                parts.interfaces.collect(parts.lifecycle.referrals, parts.teaching, now=self._loop.time())
            parts.lifecycle.watch_over()
            parts.lifecycle.flush()
            parts.judge_tasks.give_up_all_but(parts.lifecycle.room.waiting)
            parts.interfaces.refresh()
            parts.trouble = ""
        except Exception:  # the seam: one turn; nothing was approved that was not recorded
            log.exception("turn.failed")
            parts.trouble = "a turn of the loop failed; the log has more"
        behind = parts.transport.behind() | parts.lifecycle.intake.put_off() | put_off
        if behind:
            self._dirty |= behind
            self.schedule()
        if self._once and not parts.lifecycle.room.waiting and not behind:
            self.stop("nothing waits")

    def _wanted(self, dirty: set[str], *, everything: bool, but: frozenset[str]) -> set[str] | None:
        """Give the inboxes to list in this turn; None for all.

        Those in `but` are left out: letters of theirs are in memory and come first.
        """
        if everything and not but:
            return None
        return (set(self._parts.transport.sessions()) if everything else dirty - {REPLIES, SESSIONS}) - but

    def _tick(self) -> None:
        """Once a second: look everywhere, look after the doorbell, the journal, the rules, the heartbeat."""
        self._timer = self._loop.call_later(SWEEP_S, self._tick)
        self._ticks += 1
        parts = self._parts
        if not parts.ownership.lease.renew():
            log.error("lease.lost", reason="another daemon serves this root")
            parts.is_superseded = True
            self.stop("another daemon serves this root")
            return
        try:
            self._check_doorbell()
            if parts.rulebook.reload():
                parts.lifecycle.room.reconsider()
                parts.judge_tasks.reload()
            if parts.ownership.lease.is_held():
                parts.lifecycle.outbox.retry()
                if self._ticks % _UNREAD_EVERY == 1:
                    parts.lifecycle.outbox.sweep_unread()
                parts.ownership.last_word.sweep()
                parts.pruner.tick()
            parts.serve_sessions()
            parts.heart.tick()
            parts.tell_rules()
            parts.tell_status()
        except Exception:  # the seam: one tick
            log.exception("tick.failed")
            parts.trouble = "a tick of the loop failed; the log has more"
        self.ring(None)

    def _check_doorbell(self) -> None:
        if self._doorbell is None:
            return
        health = self._doorbell.check()
        for message in health.messages:
            log.warning("doorbell.degraded", mode=str(health.mode), reason=message)
        if not health.is_alive:
            log.error("doorbell.dead", mode=str(health.mode))
        self._parts.doorbell_is_alive = health.is_alive
        self._parts.doorbell_mode = str(health.mode)

    def _close(self) -> None:
        """Stop in order: no more ticks and events, then the parts, of which the journal and the lease come last."""
        if self._timer is not None:
            self._timer.cancel()
        if self._doorbell is not None:
            self._doorbell.close()
        self._parts.close()


async def serve(parts: Parts, *, once: bool = False) -> bool:
    """Serve until SIGTERM or SIGINT, or with `once` until nothing waits.

    Returns:
        False when another daemon took the root over meanwhile.
    """
    _raise_descriptor_limit()
    # What is loaded by now stays for good. Without this a full collection walks through it and holds requests up 20 ms.
    gc.freeze()
    gc.enable()
    loop = asyncio.get_running_loop()
    daemon = Daemon(parts, loop=loop, once=once)
    try:
        mode = WatchMode.POLLING if parts.options.polls or parts.options.shared else None
        await daemon.run(lambda ring: open_doorbell(parts.transport, loop, ring, mode=mode))
    finally:
        await parts.judge_tasks.aclose()
    return not parts.is_superseded


def _raise_descriptor_limit() -> None:
    """Raise the limit of open files as far as the system allows: directories that cannot be held open are slower."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

"""When the lines of the journal are removed that the operator no longer wants kept.

Lives here: choosing the moment in a daemon, and pruning while nobody serves. Never here: which segments go, and how
they are removed so that nothing in force is lost (`journal/prune.py`).

Only the owner of a root prunes: the daemon, or a command that took the lease as a daemon would. A prune that fails
leaves more of the journal than was wanted, and never less than recovery needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from fwdperm.clock import SystemClock
from fwdperm.errors import FwdpermError
from fwdperm.journal import Journal, prune_journal, surplus
from fwdperm.policy import TaughtRules
from fwdperm.redaction import redacted_texts
from fwdperm.serve.ownership import Ownership, lies_shared, take_ownership
from fwdperm.sessions import SessionTree
from fwdperm.settings import PRUNE_EVERY_S, PRUNE_LATEST_S, PRUNE_QUIET_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fwdperm.clock import Clock
    from fwdperm.journal import Retention

log = structlog.get_logger("fwdperm.serve")


class Pruner:
    """Removes the journal's oldest segment when it is not wanted any more, at a quiet moment.

    One at a time: removing many would hold requests up, and a wall clock that jumps ahead for a moment must not cost
    the whole audit.

    Args:
        journal: The daemon's own.
        retention: Gives what the operator wants kept now: settings change.
        clock: Wall time for the age of lines, monotonic time for everything else.
    """

    def __init__(self, journal: Journal, *, retention: Callable[[], Retention], clock: Clock) -> None:
        self._journal = journal
        self._retention = retention
        self._clock = clock
        self._due = self._quiet_since = clock.monotonic()
        self._seen = (-1, -1)

    def tick(self) -> None:
        """Prune when it is due and the journal is quiet. To be called once a second.

        A journal that is never quiet is pruned all the same, `PRUNE_LATEST_S` after it was due. Never raises: what
        cannot be removed stays, and is tried again later.
        """
        now = self._clock.monotonic()
        if self._seen != self._written():
            self._seen, self._quiet_since = self._written(), now
        if now < self._due or not self._journal.healthy:
            return
        if now - self._quiet_since < PRUNE_QUIET_S and now - self._due < PRUNE_LATEST_S:
            return
        self._due = now + PRUNE_EVERY_S
        try:
            self._prune()
        except (FwdpermError, OSError) as error:
            log.error("journal.prune_failed", reason=str(error))  # noqa: TRY400 - the reason is all there is to know
        self._seen = self._written()  # the lines of the prune itself do not count as the journal being busy

    def _written(self) -> tuple[int, int]:
        """Give how far writing has come: two values that differ when anything was written between."""
        return self._journal.durable.seq, self._journal.pending

    def _prune(self) -> None:
        journal = self._journal
        unwanted = surplus(journal.directory, self._retention(), now_ms=self._clock.wall_ms())
        if unwanted:
            prune_journal(journal, count=1)
            log.info("journal.pruned", file=unwanted[0].name, left_over=len(unwanted) - 1)


def open_journal(state: Path, taught_rules: TaughtRules, *, ownership: Ownership, clock: Clock) -> Journal:
    """Open a root's journal for writing, with all folds; raises as `Journal.open`.

    A prune writes down what the removed lines added up to, for the folds that are given here. If the session rules were
    not among them, what people taught would be lost with the lines that taught it.
    """
    return Journal.open(
        state / "journal",
        clock=clock.wall_ms,
        folds=taught_rules.folds,
        redact=redacted_texts,
        may_write=ownership.may_write,
    )


def prune_unserved(state: Path, retention: Retention) -> int:
    """Prune the journal of a root that nobody serves; nobody can begin to meanwhile.

    Args:
        state: The root's state directory.
        retention: What the operator wants kept.

    Returns:
        How many segments were removed.

    Raises:
        AlreadyServed: A daemon serves it: it prunes by itself.
        FwdpermError: The journal cannot be opened or pruned.
        OSError: It cannot be read.
    """
    clock = SystemClock()
    ownership = take_ownership(state, is_shared=lies_shared(state), standby=False)
    try:
        journal = open_journal(state, TaughtRules(SessionTree(), clock=clock), ownership=ownership, clock=clock)
        try:
            unwanted = surplus(journal.directory, retention, now_ms=clock.wall_ms())
            return prune_journal(journal, count=len(unwanted))
        finally:
            journal.close()
    finally:
        ownership.lease.close()

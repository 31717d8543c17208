"""What was ever decided: at most one decision for a request, for ever.

Lives here: the daemon's view of decided keys: what the journal replayed, and what was decided since. Never here: the
journal itself.

A decided key whose answer may not have reached its requester keeps that answer, so that after a crash it is published
again and nobody is asked twice. A delivered key is only remembered as spent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fwdperm.journal import JournalState, key_hash
from fwdperm.seat import Closed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.wire import RequestKey


KEPT: Final = 10_000
"""Deciders remembered in words for late answers; the journal remembers all."""


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A recorded answer that its requester may not have.

    Attributes:
        digest: Of the request it answers.
        response: The answer file's content.
    """

    digest: str
    response: Mapping[str, Any] = field(hash=False)


class Ledger:
    """Decided keys.

    Args:
        state: What the journal adds up to; it moves along with every commit.
    """

    def __init__(self, state: JournalState) -> None:
        self._state = state
        self._spent: set[bytes] = set()
        self._undelivered: dict[RequestKey, Undelivered] = {}
        self._delivered: dict[RequestKey, None] = {}
        self._who: dict[RequestKey, Closed] = {}

    def is_decided(self, key: RequestKey) -> bool:
        """Say whether the key was ever decided, whether or not the disk took the record."""
        return self._state.is_decided(*key) or key_hash(*key) in self._spent

    def undelivered(self, key: RequestKey) -> Undelivered | None:
        """Give the recorded answer of a key whose requester may not have it."""
        if key in self._delivered:
            return None
        here = self._undelivered.get(key)
        if here is not None:
            return here
        before = self._state.undelivered.get(key)
        return Undelivered(before.digest, before.response) if before is not None else None

    def who(self, key: RequestKey) -> Closed | None:
        """Say who decided, for a person who comes too late."""
        known = self._who.get(key)
        if known is None and self.is_decided(key):
            return Closed(how="decided by an earlier run; `fwdperm why ID` has the record")
        return known

    def decide(self, key: RequestKey, digest: str, response: Mapping[str, Any], *, by: Closed) -> None:
        """Take a decision."""
        self._spent.add(key_hash(*key))
        self._undelivered[key] = Undelivered(digest, response)
        self._who[key] = by
        while len(self._who) > KEPT:
            del self._who[next(iter(self._who))]

    def deliver(self, key: RequestKey) -> None:
        """Take that the answer can be seen and the request is gone."""
        self._undelivered.pop(key, None)
        self._delivered[key] = None
        if len(self._delivered) > KEPT:
            # The journal's state drops a key with the commit after its delivery; then this memory may go.
            self._delivered = {one: None for one in self._delivered if one in self._state.undelivered}
            self._spent = {one for one in self._spent if one not in self._state.spent}

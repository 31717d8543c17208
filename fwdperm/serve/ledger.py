"""What was ever decided: at most one decision for a request, for ever.

Lives here: the one place that knows whether a request was decided by an earlier run (the journal says so), by this run,
or by another daemon that believed it owned the root (its decision record says so). Never here: the journal itself, the
files of decision records.

As long as an answer may not have reached its requester, it is kept: after a crash it is published again, and nobody is
asked twice. Of a request whose answer was delivered, only the fact that it was decided is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fwdperm.journal import JournalState, key_hash
from fwdperm.seat import Closed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.inbox import LastWord
    from fwdperm.wire import RequestKey


KEPT: Final = 10_000
"""Requests of which it is remembered who decided them, for telling people who answer too late; the journal has all."""


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A recorded answer that its requester may not have.

    Attributes:
        digest: Of the request it answers.
        response: The answer file's content.
    """

    digest: str
    response: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Spent:
    """The id is used up: its answer was delivered, or other bytes lie under it now than those that were answered."""


class Ledger:
    """Knows which requests were decided.

    Args:
        state: The journal's state; each commit brings it up to date.
        last_word: Whose answer counts where two daemons believed that they own the root.
    """

    def __init__(self, state: JournalState, last_word: LastWord) -> None:
        self._state = state
        self._last_word = last_word
        self._spent: set[bytes] = set()
        self._undelivered: dict[RequestKey, Undelivered] = {}
        self._delivered: dict[RequestKey, None] = {}
        self._who: dict[RequestKey, Closed] = {}

    def past(self, key: RequestKey, digest: str) -> Undelivered | Spent | None:
        """Say what was decided about a request before, whether or not that could be recorded.

        Args:
            key: The request.
            digest: SHA-256 of the file that lies under its id now.

        Returns:
            None when nothing was decided. The answer, when it is for a file with this digest and may not have reached
            its requester. Else `Spent`: the id must not be decided again.
        """
        answer = None if key in self._delivered else self._undelivered.get(key) or self._state.undelivered.get(key)
        if answer is not None:
            return Undelivered(answer.digest, answer.response) if answer.digest == digest else Spent()
        return Spent() if self._is_decided(key) else None

    def _is_decided(self, key: RequestKey) -> bool:
        return self._state.is_decided(*key) or key_hash(*key) in self._spent

    def who(self, key: RequestKey) -> Closed | None:
        """Say who decided, for a person who comes too late."""
        known = self._who.get(key)
        if known is None and self._is_decided(key):
            return Closed(how="decided by an earlier run; `fwdperm why ID` has the record")
        return known

    def decide(self, key: RequestKey, digest: str, response: Mapping[str, Any], *, by: Closed) -> None:
        """Remember a decision of this run, before its record is durable."""
        self._spent.add(key_hash(*key))
        self._undelivered[key] = Undelivered(digest, response)
        self._who[key] = by
        while len(self._who) > KEPT:
            del self._who[next(iter(self._who))]

    def settle(self, key: RequestKey, payload: bytes) -> bytes:
        """Give the answer that counts for a request we decided: ours, or another daemon's that was first.

        Raises:
            EnvironmentFailure: It cannot be known. Fails closed: then nothing is published.
        """
        return self._last_word.decide(*key, payload)

    def deliver(self, key: RequestKey) -> None:
        """Remember that the answer was published and the request file removed."""
        self._undelivered.pop(key, None)
        self._delivered[key] = None
        if len(self._delivered) > KEPT:
            # Needed only until the next commit: then the journal's state knows that these were decided and delivered.
            self._delivered = {one: None for one in self._delivered if one in self._state.undelivered}
            self._spent = {one for one in self._spent if one not in self._state.spent}

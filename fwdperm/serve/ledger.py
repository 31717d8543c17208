"""What was ever decided: at most one decision for a request, for ever.

Lives here: the daemon's memory of decided keys, filled by replay at start. Never here: the journal it comes from.

A decided key whose answer may not have reached its requester keeps that answer, so that a crash repeats it and nobody
is asked twice. A delivered key keeps only a hash.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fwdperm.seat.queue import Closed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Key = tuple[str, str]

WHO_KEPT = 10_000
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


def key_hash(key: Key) -> bytes:
    """Give 16 bytes that stand for a key: enough that no two of them ever meet by chance."""
    inbox, request_id = key
    return hashlib.blake2b(f"{len(inbox)}:{inbox}{request_id}".encode(errors="surrogatepass"), digest_size=16).digest()


class Ledger:
    """Decided keys.

    Args:
        decided: Hashes of every key that was ever decided.
        undelivered: Answers of decided keys that were not delivered when the last daemon ended.
    """

    def __init__(
        self, decided: Iterable[bytes] = (), undelivered: Mapping[Key, Undelivered] | None = None
    ) -> None:
        self._decided = set(decided)
        self._undelivered = dict(undelivered or {})
        self._who: dict[Key, Closed] = {}

    def is_decided(self, key: Key) -> bool:
        """Say whether the key was ever decided."""
        return key_hash(key) in self._decided

    def undelivered(self, key: Key) -> Undelivered | None:
        """Give the recorded answer of a key whose requester may not have it."""
        return self._undelivered.get(key)

    def who(self, key: Key) -> Closed | None:
        """Say who decided, for a person who comes too late."""
        known = self._who.get(key)
        if known is None and self.is_decided(key):
            return Closed(how="decided earlier; see `fwdperm why`")
        return known

    def decide(self, key: Key, digest: str, response: Mapping[str, Any], *, by: Closed) -> None:
        """Take a decision."""
        self._decided.add(key_hash(key))
        self._undelivered[key] = Undelivered(digest, response)
        self._who[key] = by
        while len(self._who) > WHO_KEPT:
            del self._who[next(iter(self._who))]

    def deliver(self, key: Key) -> None:
        """Take that the answer can be seen and the request is gone."""
        self._undelivered.pop(key, None)

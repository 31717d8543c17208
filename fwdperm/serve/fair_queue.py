"""Letters that were read and are put off to the next wake-up, so that a full inbox does not hold up the others.

Lives here: `FairQueue`. Pure. Never here: how long anything takes, what a letter means.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from fwdperm.inbox import Mail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.inbox import Letter


class FairQueue:
    """Letters put off, by inbox, each inbox's in order; the inbox that waits longest comes first."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[Letter]] = {}
        self._rest: dict[str, deque[Letter]] = {}

    def begin(self) -> list[Letter]:
        """Begin a wake-up: give the letter, if any was put off, that is handled before any new one.

        It is of the inbox that has waited longest. So each of those inboxes gets on by a letter in its turn, however
        many new letters arrive.
        """
        self._rest, self._lines = self._lines, {}
        first = next(iter(self._rest), None)
        if first is None:
            return []
        line = self._rest.pop(first)
        letter = line.popleft()
        if line:
            self._rest[first] = line  # at the end: every other inbox comes before this one's next letter
        return [letter]

    def rest(self) -> Iterator[Letter]:
        """Give the other letters that were put off, to be handled after the new ones, one inbox after the other."""
        while self._rest:
            inbox = next(iter(self._rest))
            line = self._rest.pop(inbox)
            while line:
                yield line.popleft()

    def put_off(self, letter: Letter) -> None:
        """Leave a letter to the next wake-up."""
        self._lines.setdefault(letter.inbox, deque()).append(letter)

    @property
    def size(self) -> int:
        """Bytes of everything that was put off."""
        return sum(len(letter.data) for line in self._lines.values() for letter in line if isinstance(letter, Mail))

    def inboxes(self) -> frozenset[str]:
        """Name the inboxes with letters that were put off."""
        return frozenset(self._lines)

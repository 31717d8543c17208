"""Which notes the judge may read in a turn.

Lives here: `TurnStarts`. Pure. Never here: what the notes say.

The rules that a judge is shown change once per turn of the agent: so everything before the history is byte for byte the
same inside a turn, and the model service can serve it from its cache. A note that a person gives meanwhile is shown at
once beside the decision it belongs to, in the history. A requester that names no turn gets new rules whenever a reply
changes them. The turn is a claim: a child that goes on naming an old one keeps new notes from the judge, but keeps no
grant, refusal or revocation from the order.
"""

from __future__ import annotations

from typing import Final

REQUESTERS: Final = 10_000
"""Requesters whose turn is remembered; the one that was quiet longest goes first, and begins its turn anew."""


class TurnStarts:
    """At which journal line each requester's present turn was first seen."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], tuple[str, int]] = {}

    def until(self, requester: tuple[str, str], turn: str, *, epoch: int) -> int:
        """Say up to which journal line notes count in a requester's turn.

        Args:
            requester: (inbox, session).
            turn: The turn that the request names; empty when it names none.
            epoch: The line that last changed a rule.

        Returns:
            The epoch when the turn was first seen; without a turn, the present one.
        """
        if not turn:
            return epoch
        begun = self._begun.pop(requester, None)
        if begun is None or begun[0] != turn:
            begun = (turn, epoch)
        self._begun[requester] = begun
        while len(self._begun) > REQUESTERS:
            del self._begun[next(iter(self._begun))]
        return begun[1]

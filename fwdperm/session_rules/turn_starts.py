"""Which notes the judge may read in a turn.

Lives here: `TurnStarts`. Pure. Never here: what the notes say.

Rules are rebuilt once per turn, so that everything the judge reads before the history stays byte for byte the same
inside one, and the model's cache with it. What a person says meanwhile shows as marks on the history at once. A
requester that names no turn gets new rules when a reply changes them. The turn is a claim: pinning an old one keeps
notes from the judge, and never a grant, a refusal or a revocation from the order.
"""

from __future__ import annotations

from typing import Final

REQUESTERS: Final = 10_000
"""Requesters whose turn is remembered; the one that was quiet longest goes first, and begins its turn anew."""


class TurnStarts:
    """When each requester's present turn began, told in journal lines."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], tuple[str, int]] = {}

    def until(self, requester: tuple[str, str], turn: str, *, epoch: int) -> int:
        """Say up to which journal line notes count in a requester's turn.

        Args:
            requester: (inbox, session).
            turn: As the request names it; empty when it does not.
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

"""The two clocks, behind one name, so that tests own them.

Lives here: wall time for records and for people, monotonic time for every deadline. A jump of the wall clock then
neither extends a wait nor loses a request.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock(Protocol):
    """What the daemon reads time from."""

    def wall_ms(self) -> int:
        """Give the wall clock, epoch milliseconds."""

    def monotonic(self) -> float:
        """Give seconds that never jump."""


class SystemClock:
    """The machine's clocks."""

    def wall_ms(self) -> int:
        """Give the wall clock, epoch milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Give seconds that never jump."""
        return time.monotonic()


class NeverBack:
    """Wall time that never goes back; the expiry of grants is measured by it.

    It advances at least as fast as the monotonic clock, and jumps ahead to the wall clock or to the latest time in the
    journal where one of them is later. So setting the clock back never makes a grant last longer, not even by a
    restart.

    Args:
        clock: Both clocks.
        floor: Gives the largest time recorded so far, epoch milliseconds.
    """

    def __init__(self, clock: Clock, *, floor: Callable[[], int]) -> None:
        self._clock = clock
        self._floor = floor
        self._high = 0.0
        self._at = clock.monotonic()

    def now_ms(self) -> int:
        """Give epoch milliseconds, never less than before."""
        now = self._clock.monotonic()
        self._high = max(self._high + (now - self._at) * 1000, self._clock.wall_ms(), self._floor())
        self._at = now
        return int(self._high)

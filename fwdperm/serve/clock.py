"""The two clocks, behind one name, so that tests own them.

Lives here: wall time for records and for people, monotonic time for every deadline. A jump of the wall clock then
neither extends a wait nor loses a request.
"""

from __future__ import annotations

import time
from typing import Protocol


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

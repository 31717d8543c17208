"""How long a request still waits, from what it says and from when it arrived.

Lives here: `remaining_s`. Pure. Every later comparison is on the monotonic clock, so a jump of the wall clock after
arrival neither extends nor cuts a wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fwdperm.wire import Request


def remaining_s(request: Request, *, arrived_ms: int, now_ms: int, wait_s: float) -> float:
    """Give the seconds a request still has; zero or less when it came too late.

    The smaller of the requester's wait and ours, less its age. Its age is the larger of what it says (`createdAt`) and
    what the file system says (ctime, which nobody can forge); a `createdAt` in the future counts as now.

    Args:
        request: What is asked.
        arrived_ms: The file's ctime, epoch milliseconds; 0 when unknown.
        now_ms: Now, epoch milliseconds.
        wait_s: The daemon's own limit in seconds.
    """
    allowed = min(wait_s, request.wait_ms / 1000) if request.wait_ms else wait_s
    age_ms = max(now_ms - request.created_ms, now_ms - arrived_ms if arrived_ms else 0, 0)
    return allowed - age_ms / 1000

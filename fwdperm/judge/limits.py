"""What keeps a judge from costing more than it saves: breaker, budget, and counting its own rejections.

Lives here: `Breaker`, `JudgeBudget`, `Rejections`. Pure: the time is an argument, in seconds that never jump.
Never here: a call, waiting.

Each of them fails towards silence: then the human is asked.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from fwdperm.judge.verdict import SilenceCode

IN_A_ROW: Final = 3
"""Outages in a row that open the breaker."""
OPEN_S: Final = 30.0
"""Seconds it stays open before one probe is let through."""
HOUR_S: Final = 3600.0
REJECTS_IN_A_ROW: Final = 3
"""Rejections in a row after which a person sees what the same requester asks next."""
REJECTS: Final = 10
"""Rejections among the last `REJECTS_OF` that do the same."""
REJECTS_OF: Final = 50
_REQUESTERS: Final = 4_096
"""Requesters whose rejections are remembered; the longest silent one is forgotten first."""

OUTAGES: Final = frozenset(
    {
        SilenceCode.TIMEOUT,
        SilenceCode.CONNECTION,
        SilenceCode.RATE_LIMITED,
        SilenceCode.OVERLOADED,
        SilenceCode.SERVER,
        SilenceCode.NOT_A_MESSAGE,
        SilenceCode.INTERNAL,
    }
)
"""Silences that are the service's fault, not that of this request."""
LASTING: Final = frozenset({SilenceCode.AUTH, SilenceCode.BAD_REQUEST})
"""Silences that only an operator can end: the breaker stays open until the configuration is read again."""


class BreakerState(StrEnum):
    """Closed: calls are made. Open: none is. Probing: one is, to see whether the service works again."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"
    LASTING = "open until the configuration is read again"


@dataclass(slots=True)
class Breaker:
    """Stops calls while the service fails, and lets one through from time to time to see whether it works again."""

    state: BreakerState = BreakerState.CLOSED
    cause: str = ""
    _failures: int = 0
    _until: float = 0.0

    def lets_through(self, now: float) -> bool:
        """Say whether a call may be made now.

        After the pause only one caller is told yes, and has to call `report` or `give_up`, or no other ever is.
        """
        if self.state is BreakerState.CLOSED:
            return True
        if self.state is BreakerState.OPEN and now >= self._until:
            self.state = BreakerState.PROBING
            return True
        return False

    def report(self, code: SilenceCode | None, now: float) -> None:
        """Note how a call ended.

        Args:
            code: Why there was no answer; None when there was one, whatever it said.
            now: Seconds that never jump.
        """
        if self.state is BreakerState.LASTING:
            return
        if code in LASTING:
            self.state, self.cause = BreakerState.LASTING, str(code)
        elif code in OUTAGES:
            self._failures += 1
            if self.state is BreakerState.PROBING or self._failures >= IN_A_ROW:
                self.state, self.cause, self._until = BreakerState.OPEN, str(code), now + OPEN_S
        else:
            self.state, self.cause, self._failures = BreakerState.CLOSED, "", 0

    def give_up(self, now: float) -> None:
        """Note that a call was cancelled before it ended. If it was the probe, the next call may be one at once."""
        if self.state is BreakerState.PROBING:
            self.state, self._until = BreakerState.OPEN, now

    def reset(self) -> None:
        """Let calls through again, because the operator changed something."""
        self.state, self.cause, self._failures = BreakerState.CLOSED, "", 0


@dataclass(slots=True)
class Spending:
    """What one call takes out of the budget; until `JudgeBudget.settle`, `microdollars` is the most it can cost."""

    at: float
    microdollars: int


@dataclass(slots=True)
class JudgeBudget:
    """Calls and money in any sixty minutes. A call counts from when it begins, with the most it could cost."""

    spent: deque[Spending] = field(default_factory=deque)
    _sum: int = 0

    def reserve(self, now: float, *, most: int, calls: int, microdollars: int) -> Spending | None:
        """Take a call's worst cost out of the budget.

        Args:
            now: Seconds that never jump.
            most: What the call could cost at most, millionths of a dollar.
            calls: Calls allowed in an hour; 0 for no limit.
            microdollars: Money allowed in an hour; 0 for no limit.

        Returns:
            The reservation, to be settled; None when there is not enough left.
        """
        self._forget(now)
        if calls and len(self.spent) >= calls:
            return None
        if microdollars and self._sum + most > microdollars:
            return None
        made = Spending(now, most)
        self.spent.append(made)
        self._sum += most
        return made

    def settle(self, spending: Spending, microdollars: int) -> None:
        """Replace what was reserved for a call by what it really cost."""
        if any(one is spending for one in self.spent):
            self._sum += microdollars - spending.microdollars
        spending.microdollars = microdollars

    def used(self, now: float) -> tuple[int, int]:
        """Give calls and millionths of a dollar in the last hour."""
        self._forget(now)
        return len(self.spent), self._sum

    def _forget(self, now: float) -> None:
        while self.spent and now - self.spent[0].at >= HOUR_S:
            self._sum -= self.spent.popleft().microdollars


class Rejections:
    """Counts how often the judge rejected each requester lately.

    A judge that rejects one requester again and again would stop it without any person knowing; so past a limit a
    person is asked instead.
    """

    def __init__(self) -> None:
        self._lately: dict[tuple[str, str], deque[bool]] = {}

    def add(self, requester: tuple[str, str], *, rejected: bool) -> None:
        """Note whether a request that was open to the judge was rejected by it, or ended in any other way."""
        lately = self._lately.pop(requester, None)
        if lately is None:
            lately = deque(maxlen=REJECTS_OF)
        lately.append(rejected)
        self._lately[requester] = lately
        if len(self._lately) > _REQUESTERS:
            del self._lately[next(iter(self._lately))]

    def is_over(self, requester: tuple[str, str]) -> bool:
        """Say whether a person should see what this requester asks next, instead of the judge."""
        lately = self._lately.get(requester, deque())
        in_a_row = len(lately) >= REJECTS_IN_A_ROW and all(list(lately)[-REJECTS_IN_A_ROW:])
        return in_a_row or sum(lately) >= REJECTS

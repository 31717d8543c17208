"""The requests that wait for the judge or a person, and what ends their wait without either.

Lives here: `WaitingRoom`: how many may wait, expiry, withdrawal, and rules that settle a question meanwhile. Never
here: asking anybody (`referrals.py`), a letter (`intake.py`).

A wait that ends here ends in a denial, or as a rule decides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.decision import AskHuman, Decided, begin, nobody
from fwdperm.seat import Closed
from fwdperm.settings import WAITING, WAITING_INBOX, WAITING_INBOX_BYTES
from fwdperm.wire import UndecidedCode

if TYPE_CHECKING:
    from fwdperm.decision import AskJudge
    from fwdperm.serve.outbox import Arrival, Outbox
    from fwdperm.serve.services import Services
    from fwdperm.wire import RequestKey

CROWDED: Final = "too many questions wait already, so nobody was asked and nobody refused it; try again later"
UNATTENDED: Final = "a person must answer this and none is attached; nobody refused it"


@dataclass(slots=True)
class Waiting:
    """A request that waits for a judge or a person.

    Attributes:
        arrival: The request.
        step: Whom it waits for.
        epoch: Names the rules that the judge was shown; empty until it is asked.
        consultations: How often the judge was asked.
    """

    arrival: Arrival
    step: AskHuman | AskJudge
    epoch: str = ""
    consultations: int = 0


class WaitingRoom:
    """Holds the requests that wait. Not thread-safe: only the daemon's loop calls it.

    Args:
        services: The other rooms.
        outbox: Takes the decision on whatever ends its wait here.
    """

    def __init__(self, services: Services, outbox: Outbox) -> None:
        self.waiting: dict[RequestKey, Waiting] = {}
        self._services = services
        self._outbox = outbox

    def has_place(self, arrival: Arrival) -> bool:
        """Say whether one more request may wait, and make room for it where that is fair.

        When all places are taken, the newest request of the inbox that has most is denied, unless the new one's inbox
        has as many itself: then the new one is refused.
        """
        inbox = arrival.request.inbox
        held = Counter(waiting.arrival.request.inbox for waiting in self.waiting.values())
        size = arrival.size + sum(one.arrival.size for key, one in self.waiting.items() if key[0] == inbox)
        if held[inbox] >= WAITING_INBOX or size > WAITING_INBOX_BYTES:
            return False
        if len(self.waiting) < WAITING:
            return True
        fullest, most = held.most_common(1)[0]
        if most <= held[inbox]:
            return False
        newest = next(key for key in reversed(self.waiting) if key[0] == fullest)
        closed = self.close(newest, Closed(how="too many questions wait"))
        if closed is not None:
            self._outbox.put(closed.arrival, nobody(closed.step.evaluation, UndecidedCode.UNAVAILABLE, CROWDED))
        return True

    def enter(self, arrival: Arrival, step: AskHuman | AskJudge) -> None:
        """Let a request wait for the one `step` names, also when it waited for another before."""
        self.waiting[arrival.request.key] = Waiting(arrival, step)

    def leave(self, key: RequestKey) -> Waiting | None:
        """Forget a request that waits no longer; gives what was held of it, None when it did not wait."""
        return self.waiting.pop(key, None)

    def notice_withdrawal(self, *keys: RequestKey) -> None:
        """End the wait of those of these requests whose file is gone: nobody would read an answer to them."""
        held = [(*key, waiting.arrival.letter.token) for key in keys if (waiting := self.waiting.get(key)) is not None]
        if not held:
            return
        seen = ((inbox, stem, token) for inbox, stem, token in held if token is not None)
        for key in self._services.transport.gone(seen):
            waiting = self.close(key, Closed(how="withdrawn by its requester"))
            if waiting is not None:
                told = nobody(waiting.step.evaluation, UndecidedCode.WITHDRAWN, "the requester withdrew its request")
                self._outbox.put(waiting.arrival, told, to_child=False)

    def reconsider(self) -> None:
        """Decide everything that waits again by rules and session rules: a changed rule or a reply may settle it."""
        for key, waiting in tuple(self.waiting.items()):
            step = begin(waiting.arrival.request, self._services.rules.context(waiting.arrival.request))
            if isinstance(step, Decided):
                self.close(key, Closed(how="settled by a rule", by=str(step.decision.rule or step.decision.by)))
                self._outbox.put(waiting.arrival, step.decision)

    def turns_away(self) -> bool:
        """Say whether questions for a person are denied at once: no interface is attached, and the settings say so."""
        return self._services.limits().refuses_unattended and not self._services.is_attended()

    def close_unattended(self) -> None:
        """Deny what waits for a person where nobody is there: the last interface left, or a setting changed."""
        if not self.waiting or not self.turns_away():
            return
        for key in [key for key, waiting in self.waiting.items() if isinstance(waiting.step, AskHuman)]:
            waiting = self.close(key, Closed(how="nobody is attached"))
            if waiting is not None:
                told = nobody(waiting.step.evaluation, UndecidedCode.UNAVAILABLE, UNATTENDED)
                self._outbox.put(waiting.arrival, told)

    def expire(self) -> None:
        """Deny the requests whose deadline has passed, with the reason that nobody answered."""
        if not self.waiting:
            return
        now = self._services.clock.monotonic()
        for key in [key for key, waiting in self.waiting.items() if now >= waiting.arrival.deadline]:
            waiting = self.close(key, Closed(how="expired"))
            if waiting is not None:
                words = self._expired(waiting.arrival)
                self._outbox.put(waiting.arrival, nobody(waiting.step.evaluation, UndecidedCode.EXPIRED, words))

    def close(self, key: RequestKey, closed: Closed) -> Waiting | None:
        """End a request's wait: take it out here, from the seat's queue, and from the prompt files.

        Args:
            key: The request.
            closed: What ended it, for people who answer too late.

        Returns:
            What was held of it; None when it did not wait.
        """
        self._services.queue.close(key, closed)
        self._services.prompt_files.take(key)
        return self.leave(key)

    def _expired(self, arrival: Arrival) -> str:
        waited = (self._services.clock.wall_ms() - arrival.at_ms) // 1000
        return f"nobody answered within {max(waited, 0)} s; nobody refused it"

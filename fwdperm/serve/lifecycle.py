"""One request's way, from mail to published answer, without an event loop.

Lives here: `RequestLifecycle`: the stations of the way, wired, and what happens on a wake-up. Never here: waiting,
threads, file paths, what any one station does: letters come in (`intake.py`), the judge and people are asked
(`referrals.py`), some wait (`waiting_room.py`), and answers go out (`outbox.py`).

One owner, one thread. Nothing becomes visible before `flush`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwdperm.serve.intake import Intake
from fwdperm.serve.outbox import Outbox
from fwdperm.serve.referrals import Referrals
from fwdperm.serve.waiting_room import WaitingRoom

if TYPE_CHECKING:
    from fwdperm.serve.services import Services


class RequestLifecycle:
    """The stations of a request's way.

    Args:
        services: The other rooms.

    Attributes:
        intake: Takes letters.
        referrals: Asks the judge and people, and takes their answers.
        room: What waits for them.
        outbox: What was decided, on its way out.
    """

    def __init__(self, services: Services) -> None:
        self._teaching = services.teaching
        self.outbox = Outbox(services)
        self.room = WaitingRoom(services, self.outbox)
        self.referrals = Referrals(services, self.outbox, room=self.room)
        self.intake = Intake(services, self.outbox, room=self.room, referrals=self.referrals)

    def watch_over(self) -> None:
        """Close what was withdrawn, expire what is late, give half-written files up. Called on every wake-up."""
        self.room.notice_withdrawal(*self.room.waiting)
        self.room.close_unattended()
        self.room.expire()
        self.intake.give_up_half_written()

    def flush(self) -> None:
        """Make every record durable, then publish, then remove the requests, then tell the seat and the judge.

        What the records taught is known only then: everything that waits is decided anew, and goes out the same way.
        """
        self._flush()
        if self._teaching.committed():
            self.room.reconsider()
            self._flush()

    def _flush(self) -> None:
        """Record and publish once."""
        if not self.outbox.send():
            self._teaching.dropped()
        self.referrals.put_questions()

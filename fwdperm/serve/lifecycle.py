"""One request's way, from mail to published answer, without an event loop.

Lives here: `RequestLifecycle`, which connects the stations of that way: letters come in (`intake.py`), the judge and
people are asked (`referrals.py`), requests wait meanwhile (`waiting_room.py`), answers go out (`outbox.py`). Never
here: what a station does, waiting, threads, file paths.

Not thread-safe: all calls come from the daemon's loop. Nothing becomes visible to others before `flush`.
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
        """End the waits of withdrawn and expired requests, and refuse files that stay half-written."""
        self.room.notice_withdrawal(*self.room.waiting)
        self.room.close_unattended()
        self.room.expire()
        self.intake.give_up_half_written()

    def flush(self) -> None:
        """Make every record durable, then publish, then remove the requests, then put questions to people and judge.

        What a reply teaches counts once its record is durable. So after that everything that waits is decided again,
        and what is settled by it goes out the same way.
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

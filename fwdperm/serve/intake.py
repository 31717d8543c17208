"""The letters that come in: each becomes a request that is decided, or is refused, or turns out to be answered already.

Lives here: `Intake`: which letters are handled in this wake-up, reading them, half-written files, ids seen before.
Never here: who is asked
(`referrals.py`), what waits (`waiting_room.py`), file paths.

One bad letter never stops the others; what cannot be read is denied or set aside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from fwdperm.decision import begin, nobody
from fwdperm.errors import ChildError
from fwdperm.inbox import Mail, UnreadableEntry
from fwdperm.journal import SessionSeenRecord, SetAsideRecord
from fwdperm.seat import Closed
from fwdperm.serve.deadline import remaining_s
from fwdperm.serve.fair_queue import FairQueue
from fwdperm.serve.ledger import Undelivered
from fwdperm.serve.outbox import Arrival
from fwdperm.settings import HALF_WRITTEN_S, PUT_OFF_BYTES, SHARE_S, TURN_S
from fwdperm.wire import Request, UndecidedCode, is_request_id, read_request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fwdperm.inbox import Letter
    from fwdperm.serve.outbox import Outbox
    from fwdperm.serve.referrals import Referrals
    from fwdperm.serve.services import Services
    from fwdperm.serve.waiting_room import WaitingRoom
    from fwdperm.wire import RequestKey

log = structlog.get_logger("fwdperm.serve")


class Intake:
    """Takes letters. One owner, one thread.

    Args:
        services: The other rooms.
        outbox: Takes refusals, and answers that are published again.
        room: What waits, for letters under an id that waits.
        referrals: Takes every request that could be read.
    """

    def __init__(self, services: Services, outbox: Outbox, *, room: WaitingRoom, referrals: Referrals) -> None:
        self._services = services
        self._outbox = outbox
        self._room = room
        self._referrals = referrals
        # Half-written files: the letter without its bytes, when it was first seen (monotonic), what is wrong with it.
        self._unfinished: dict[RequestKey, tuple[Mail, float, str]] = {}
        self._put_off = FairQueue()

    def receive(self, letters: Iterable[Letter]) -> None:
        """Handle letters as long as this wake-up and each inbox's share of it last, and put off the rest.

        The first letter is always handled, so that every wake-up gets on. One bad letter never stops the others.

        Args:
            letters: What the transport handed out; those that were put off before need not be given again.
        """
        began = now = self._services.clock.monotonic()
        spent: dict[str, float] = {}
        for letter in (*self._put_off.begin(), *letters, *self._put_off.rest()):
            is_first = not spent
            if not is_first and (now - began > TURN_S or spent.get(letter.inbox, 0.0) > SHARE_S):
                self._put_off.put_off(letter)
                continue
            self._receive_safely(letter)
            before, now = now, self._services.clock.monotonic()
            spent[letter.inbox] = spent.get(letter.inbox, 0.0) + now - before

    def _receive_safely(self, letter: Letter) -> None:
        """Handle one letter; when handling it raises, it is refused and the next one's turn comes."""
        try:
            self._receive(letter)
        except Exception:  # the seam: one request
            log.exception("request.failed", inbox=letter.inbox, request=letter.stem)
            try:
                reason = "the permission service failed on this request; try again later"
                self._refuse(letter, UndecidedCode.INTERNAL, reason)
            except Exception:  # the refusal failed too: nothing is answered, and so nothing is allowed
                log.exception("request.unanswered", inbox=letter.inbox, request=letter.stem)

    def put_off(self) -> frozenset[str]:
        """Give the inboxes that have letters in memory which the next `receive` goes on with."""
        return self._put_off.inboxes()

    def is_swamped(self) -> bool:
        """Say whether the letters that were put off take so much memory that no more files should be read for now."""
        return self._put_off.size > PUT_OFF_BYTES

    def give_up_half_written(self) -> None:
        """Refuse the files that stayed half-written for too long."""
        if not self._unfinished:
            return
        now = self._services.clock.monotonic()
        for letter, since, reason in tuple(self._unfinished.values()):
            if now - since >= HALF_WRITTEN_S:
                self._refuse(letter, UndecidedCode.MALFORMED, f"the request file {reason}")

    # -- one letter --------------------------------------------------------------------------------------------

    def _receive(self, letter: Letter) -> None:
        key = (letter.inbox, letter.stem)
        if self._repeats(letter, key):
            return
        if isinstance(letter, UnreadableEntry):
            self._refuse(letter, UndecidedCode.MALFORMED, f"the request file {letter.reason}")
            return
        try:
            request = read_request(letter.data, stem=letter.stem, inbox=letter.inbox)
        except ChildError as error:
            if error.code == "half-written":
                _, since, _ = self._unfinished.get(key, (letter, self._services.clock.monotonic(), ""))
                self._unfinished[key] = (replace(letter, data=b""), since, error.reason)
            else:
                self._refuse(letter, UndecidedCode.MALFORMED, f"the request file cannot be used: {error.reason}")
            return
        self._unfinished.pop(key, None)
        if self._services.sessions.see(request):
            edge = SessionSeenRecord(session=request.session, parent=request.inbox, agent=request.agent)
            self._services.journal.append(edge)
        arrival, left = self._arrival(letter, request)
        if left <= 0:
            reason = "the request is older than it may be; nobody was asked and nobody refused it"
            self._outbox.put(arrival, nobody(None, UndecidedCode.EXPIRED, reason))
            return
        context = self._services.rules.context(request)
        self._referrals.follow(arrival, begin(request, context), line=context.line)

    def _arrival(self, letter: Letter, request: Request) -> tuple[Arrival, float]:
        """Give when a request came, and the seconds it has left."""
        now_ms = self._services.clock.wall_ms()
        at_ms = letter.ctime_ns // 1_000_000 or now_ms
        left = remaining_s(request, arrived_ms=at_ms, now_ms=now_ms, wait_s=self._services.limits().wait_s)
        deadline = self._services.clock.monotonic() + left
        return Arrival(letter, request, at_ms, deadline, now_ms + int(left * 1000)), left

    def _repeats(self, letter: Letter, key: RequestKey) -> bool:
        """Handle a letter whose id was decided before or waits already; False when neither is so.

        A crash between recording a decision and removing its request leaves the request file there: the recorded answer
        is published again. Any other letter under a decided id is a replay, and denied. Under an id that waits, the
        same bytes are the same request, and other bytes end its wait with a denial.
        """
        digest = _digest(letter)
        past = self._services.ledger.past(key, digest)
        if isinstance(past, Undelivered):
            self._outbox.repeat(letter, past)
            return True
        if past is not None:
            reason = "this request id was already decided once; a new request needs a new id"
            self._outbox.put(self._stub(letter), nobody(None, UndecidedCode.REPLAYED, reason))
            return True
        waiting = self._room.waiting.get(key)
        if waiting is None:
            return False
        if waiting.arrival.request.digest == digest:
            waiting.arrival = replace(waiting.arrival, letter=letter)
            return True
        self._room.close(key, Closed(how="replaced by its requester"))
        reason = "the request's file was replaced while it waited; a new request needs a new id"
        told = nobody(waiting.step.evaluation, UndecidedCode.MALFORMED, reason)
        self._outbox.put(replace(waiting.arrival, letter=letter), told)
        return True

    def _refuse(self, letter: Letter, code: UndecidedCode, reason: str) -> None:
        """Deny a letter that cannot be read; where its name is no request id, only set it aside and count it."""
        self._room.leave((letter.inbox, letter.stem))
        self._unfinished.pop((letter.inbox, letter.stem), None)
        if is_request_id(letter.stem):
            self._outbox.put(self._stub(letter), nobody(None, code, reason))
            return
        self._outbox.counts.set_aside += 1
        log.warning("file.set_aside", inbox=letter.inbox, file=letter.stem, reason=reason)
        self._services.journal.append(SetAsideRecord(inbox=letter.inbox, file=letter.stem, reason=reason))

    def _stub(self, letter: Letter) -> Arrival:
        """Give the little that is known of a request that cannot be read: where it lay and its file's name."""
        unread = Request(
            letter.stem, _digest(letter), letter.inbox, session="", agent="", facts=None, floor="unreadable"
        )
        now_ms = self._services.clock.wall_ms()
        return Arrival(letter, unread, letter.ctime_ns // 1_000_000 or now_ms, self._services.clock.monotonic(), now_ms)


def _digest(letter: Letter) -> str:
    return letter.digest if isinstance(letter, Mail) else ""

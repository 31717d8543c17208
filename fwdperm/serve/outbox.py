"""The commit order that every answer keeps: record, make the record durable, publish, remove the request.

Lives here: `Outbox`, and the values it holds. Never here: a decision being made, waiting for anybody, file paths.

An answer is published after its record is durable: an approval that a crash could make us forget must not be seen. The
only exception are denials while the journal cannot be written, and they say so. The request is removed last: as long as
its file is there, a restarted daemon finds it and publishes the recorded answer again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, assert_never

import structlog

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import AlreadyThere, Failed, Published
from fwdperm.journal import DeliveredRecord, JournalFailed, OverruledRecord, decided_record
from fwdperm.seat import Closed
from fwdperm.settings import UNCONSUMED_S, UNRECORDED, UNSENT
from fwdperm.wire import Decision, Outcome, RequestKey, Stage, UndecidedCode, encode_response, response_to

if TYPE_CHECKING:
    from fwdperm.inbox import Letter
    from fwdperm.inbox import PublishOutcome as Publication
    from fwdperm.serve.ledger import Undelivered
    from fwdperm.serve.services import Services
    from fwdperm.wire import Request

log = structlog.get_logger("fwdperm.serve")

# What an agent is told in place of an approval that could not be recorded.
OUTAGE: Final = "the decision could not be recorded, so it does not count; the permission service's disk needs care"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request with when it came and until when it waits.

    Attributes:
        letter: The file it was read from.
        request: What is asked; a stub with only its id where the file could not be read.
        at_ms: When it arrived, epoch milliseconds.
        deadline: When it expires, on the monotonic clock.
        deadline_ms: The same for people, epoch milliseconds.
    """

    letter: Letter
    request: Request
    at_ms: int
    deadline: float
    deadline_ms: int

    @property
    def size(self) -> int:
        """Bytes of its file, which is about the memory that it takes while it waits."""
        token = self.letter.token
        return token.size if token is not None else 0


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A decision on its way out.

    Attributes:
        arrival: The request.
        decision: What was decided.
        answer: The content of its answer file.
        to_child: False when no answer is published, because the requester withdrew its request.
    """

    arrival: Arrival
    decision: Decision
    answer: dict[str, object]
    to_child: bool = True


@dataclass(slots=True)
class Counts:
    """What happened since the daemon started, for `fwdperm status`."""

    by_stage: dict[str, int] = field(default_factory=dict)
    approved: int = 0
    denied: int = 0
    set_aside: int = 0

    def add(self, decision: Decision) -> None:
        """Count one decision."""
        self.by_stage[str(decision.stage)] = self.by_stage.get(str(decision.stage), 0) + 1
        if decision.outcome is Outcome.APPROVED:
            self.approved += 1
        else:
            self.denied += 1


class Outbox:
    """Records decisions and publishes their answers. Not thread-safe: all calls come from the daemon's loop.

    Args:
        services: The other rooms.
    """

    def __init__(self, services: Services) -> None:
        self.counts = Counts()
        self._transport = services.transport
        self._journal = services.journal
        self._ledger = services.ledger
        self._clock = services.clock
        self._waiting: list[Outgoing] = []  # decided, for the next `send`
        self._unrecorded: list[Outgoing] = []  # denied while the journal could not be written; recorded once it can
        self._unpublished: list[Outgoing] = []  # recorded, and the answer file could not be written
        self._unread: dict[RequestKey, float] = {}  # published; removed at this monotonic time if nobody read it
        self._unrepeated: dict[RequestKey, tuple[Letter, Undelivered]] = {}  # as `_unpublished`, from an earlier run

    def put(self, arrival: Arrival, decision: Decision, *, to_child: bool = True) -> None:
        """Take a decision; it is recorded and published by the next `send`.

        Args:
            arrival: The request.
            decision: What was decided on it.
            to_child: False to publish no answer, because the requester withdrew its request.
        """
        request, now_ms = arrival.request, self._clock.wall_ms()
        answer = response_to(request, decision, at_ms=now_ms)
        one = Outgoing(arrival, decision, answer, to_child)
        if decision.code is not UndecidedCode.REPLAYED:
            self._record(one, now_ms=now_ms)
            self._ledger.decide(request.key, request.digest, answer, by=_by(decision))
        self.counts.add(decision)
        self._waiting.append(one)

    def repeat(self, letter: Letter, recorded: Undelivered) -> None:
        """Publish a recorded answer again: its request is still there, because a crash came before its removal."""
        outcome = self._respond((letter.inbox, letter.stem), encode_response(dict(recorded.response)))
        if isinstance(outcome, Failed):
            log.error("response.failed", inbox=letter.inbox, request=letter.stem, reason=outcome.reason)
            self._unrepeated[letter.inbox, letter.stem] = (letter, recorded)
        else:
            self._delivered(letter)

    def send(self) -> bool:
        """Make every record durable, then publish, then remove the requests.

        Returns:
            False when the journal refused: nothing of what waited was recorded, and no approval went out.
        """
        out, self._waiting = self._waiting, []
        is_durable = True
        try:
            self._journal.commit()
        except JournalFailed as failure:
            log.error("journal.failed", reason=str(failure))  # noqa: TRY400 - the reason is all there is to know
            self._journal.discard()
            is_durable = False
            out = [self._without_record(one) for one in out]
            self._unrecorded += [one for one in out if one.decision.code is not UndecidedCode.REPLAYED]
            del self._unrecorded[UNRECORDED:]
        for one in out:
            self._publish(one)
        return is_durable

    def retry(self) -> None:
        """Publish again what could not be published, and record what an outage of the journal left unrecorded."""
        if not self._journal.healthy and self._journal.recover():
            late, self._unrecorded = self._unrecorded, []
            for one in late:
                self._record(one, now_ms=self._clock.wall_ms())
            log.warning("journal.recovered", late=len(late))
        again, self._unpublished = self._unpublished[:UNSENT], self._unpublished[UNSENT:]
        now = self._clock.monotonic()
        for one in again:
            if now > one.arrival.deadline + UNCONSUMED_S:
                self._give_up(one)
            else:
                self._publish(one)
        for key in list(self._unrepeated)[:UNSENT]:
            self.repeat(*self._unrepeated.pop(key))

    def sweep_unread(self) -> None:
        """Remove answers that their requesters did not read in time: an unused approval must not stay around."""
        now = self._clock.monotonic()
        for inbox in self._transport.sessions():
            for unread in self._transport.responses(inbox):
                key = (inbox, unread.stem)
                over = self._unread.setdefault(key, now + max(0.0, UNCONSUMED_S - unread.age_s))
                if now >= over and self._transport.remove_response(inbox, unread.stem):
                    log.info("response.removed_unread", inbox=inbox, request=unread.stem)
        for key in [key for key, over in self._unread.items() if now > over + UNCONSUMED_S]:
            del self._unread[key]

    # -- one decision ------------------------------------------------------------------------------------------

    def _record(self, one: Outgoing, *, now_ms: int) -> None:
        made = decided_record(
            one.arrival.request,
            one.decision,
            response=one.answer,
            requested_at=one.arrival.at_ms,
            duration_ms=max(0, now_ms - one.arrival.at_ms),
            guard=one.decision.by if one.decision.stage is Stage.GUARD else "",
        )
        self._journal.append(made)

    def _without_record(self, one: Outgoing) -> Outgoing:
        """Turn an approval whose record is not durable into a denial. Fails closed, and says so."""
        if one.decision.outcome is Outcome.DENIED:
            return one
        request = one.arrival.request
        decision = Decision(outcome=Outcome.DENIED, stage=Stage.NOBODY, reason=OUTAGE, code=UndecidedCode.UNAVAILABLE)
        answer = response_to(request, decision, at_ms=self._clock.wall_ms())
        self._ledger.decide(request.key, request.digest, answer, by=_by(decision))
        return replace(one, decision=decision, answer=answer)

    def _publish(self, one: Outgoing) -> None:
        inbox, request_id = key = one.arrival.request.key
        if not one.to_child:
            self._delivered(one.arrival.letter)
            return
        # A replay is not settled by the ledger: the answer recorded under its id is for another file.
        is_replay = one.decision.code is UndecidedCode.REPLAYED
        payload = encode_response(one.answer)
        outcome = self._transport.respond(*key, payload) if is_replay else self._respond(key, payload)
        match outcome:
            case Published() | AlreadyThere():
                self._unread[key] = one.arrival.deadline + UNCONSUMED_S
                self._delivered(one.arrival.letter)
                said = {"outcome": str(one.decision.outcome), "stage": str(one.decision.stage)}
                log.info("request.decided", inbox=inbox, request=request_id, **said)
            case Failed():
                log.error("response.failed", inbox=inbox, request=request_id, reason=outcome.reason)
                self._unpublished.append(one)
            case _:
                assert_never(outcome)

    def _give_up(self, one: Outgoing) -> None:
        """Drop an answer that nobody waits for by now: an inbox that cannot be written must not fill the memory."""
        log.error("response.given_up", inbox=one.arrival.request.inbox, request=one.arrival.request.id)
        self._delivered(one.arrival.letter)

    def _respond(self, key: RequestKey, payload: bytes) -> Publication:
        """Publish an answer; where another daemon decided first, publish and record that daemon's answer instead."""
        try:
            counts = self._ledger.settle(key, payload)
        except EnvironmentFailure as failure:
            return Failed(str(failure))
        if counts != payload:
            is_approved = json.loads(counts).get("approved") is True
            log.error("decision.overruled", inbox=key[0], request=key[1], approved=is_approved)
            outcome = Outcome.APPROVED if is_approved else Outcome.DENIED
            self._journal.append(OverruledRecord(inbox=key[0], id=key[1], outcome=outcome, answer=counts.decode()))
        return self._transport.respond(*key, counts)

    def _delivered(self, letter: Letter) -> None:
        key = (letter.inbox, letter.stem)
        self._transport.remove_request(letter)
        self._ledger.deliver(key)
        self._journal.append(DeliveredRecord(inbox=key[0], id=key[1]))


def _by(decision: Decision) -> Closed:
    return Closed(
        how=f"{decision.outcome} at stage {decision.stage}",
        by=str(decision.rule or decision.by or decision.code or decision.stage),
    )

"""The commit order that every answer keeps: record, make the record durable, publish, remove the request.

Lives here: `Outbox`, and what a decision on its way out is. Never here: a decision being made, waiting, file paths.

Nothing is published whose record is not durable, except denials during an outage of the journal, which say so.
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
    from fwdperm.clock import Clock
    from fwdperm.inbox import LastWord, Letter, Transport
    from fwdperm.inbox import PublishOutcome as Publication
    from fwdperm.journal import Journal
    from fwdperm.serve.ledger import Ledger, Undelivered
    from fwdperm.wire import Request

log = structlog.get_logger("fwdperm.serve")

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
        """Bytes of its file: about what it takes while it waits."""
        token = self.letter.token
        return token.size if token is not None else 0


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A decision on its way out."""

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
    """Takes decisions, gives answers. One owner, one thread.

    Args:
        transport: Where answers go out.
        journal: Where everything is recorded first.
        ledger: What was ever decided.
        last_word: Whose answer counts where two daemons believed that they own the root.
        clock: Both clocks.
    """

    def __init__(
        self, *, transport: Transport, journal: Journal, ledger: Ledger, last_word: LastWord, clock: Clock
    ) -> None:
        self.counts = Counts()
        self._transport = transport
        self._journal = journal
        self._ledger = ledger
        self._last_word = last_word
        self._clock = clock
        self._waiting: list[Outgoing] = []
        self._unrecorded: list[Outgoing] = []
        self._unpublished: list[Outgoing] = []
        self._unread: dict[RequestKey, float] = {}
        self._unrepeated: dict[RequestKey, tuple[Letter, Undelivered]] = {}

    def put(self, arrival: Arrival, decision: Decision, *, to_child: bool = True) -> None:
        """Take a decision; it is recorded and published by the next `send`.

        Args:
            arrival: The request.
            decision: The final word on it.
            to_child: False when nobody is there to be told.
        """
        request = arrival.request
        answer = response_to(request, decision, at_ms=self._clock.wall_ms())
        one = Outgoing(arrival, decision, answer, to_child)
        if decision.code is not UndecidedCode.REPLAYED:
            self._record(one)
            self._ledger.decide(request.key, request.digest, answer, by=_by(decision))
        self.counts.add(decision)
        self._waiting.append(one)

    def repeat(self, letter: Letter, recorded: Undelivered) -> None:
        """Publish a recorded answer again: a crash left its request lying."""
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
                self._record(one)
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
        """Remove answers nobody consumed: no allow lies around unused."""
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

    def _record(self, one: Outgoing) -> None:
        made = decided_record(
            one.arrival.request,
            one.decision,
            response=one.answer,
            requested_at=one.arrival.at_ms,
            duration_ms=max(0, self._clock.wall_ms() - one.arrival.at_ms),
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
        is_replay = (
            one.decision.code is UndecidedCode.REPLAYED
        )  # the answer on record under its id is not for these bytes
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
        """Keep an answer no longer that nobody waits for: an inbox that takes none must not fill the memory."""
        log.error("response.given_up", inbox=one.arrival.request.inbox, request=one.arrival.request.id)
        self._delivered(one.arrival.letter)

    def _respond(self, key: RequestKey, payload: bytes) -> Publication:
        """Publish an answer, or the one that another daemon decided before; the journal says so then."""
        try:
            counts = self._last_word.decide(*key, payload)
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

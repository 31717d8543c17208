"""One request's way, from mail to published answer, without an event loop.

Lives here: what happens to each letter, reply, verdict and deadline. Never here: waiting, threads, file paths, the
order itself (`decision/order.py`), the commit order of an answer (`outbox.py`).

One owner, one thread. Nothing becomes visible before `flush`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, assert_never

import structlog

from fwdperm.decision import AskHuman, AskJudge, Decided, after_human, after_judge, begin, nobody, spare_judge
from fwdperm.errors import ChildError
from fwdperm.inbox import Mail, UnreadableEntry
from fwdperm.journal import SessionSeenRecord, SetAsideRecord, VerdictRecord, asked_record
from fwdperm.judge import Rejections, Verdict
from fwdperm.seat import Accepted, AlreadyDecided, Closed, RefusedReply, UnknownQuestion, WaitingQuestion, reply_refusal
from fwdperm.serve.deadline import remaining_s
from fwdperm.serve.fair_queue import FairQueue
from fwdperm.serve.outbox import Arrival, Counts, Outbox
from fwdperm.serve.prompting import prompt_for
from fwdperm.session_rules import Objection, Proposal
from fwdperm.settings import HALF_WRITTEN_S, PUT_OFF_BYTES, SHARE_S, TURN_S, WAITING, WAITING_INBOX, WAITING_INBOX_BYTES
from fwdperm.wire import Fate, ReplyOutcome, Request, RequestKey, Stage, UndecidedCode, is_request_id, read_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fwdperm.clock import Clock
    from fwdperm.decision import DecisionContext
    from fwdperm.inbox import LastWord, Letter, Transport
    from fwdperm.journal import Journal
    from fwdperm.judge import Opinion
    from fwdperm.policy import Teaching
    from fwdperm.seat import Answered, SeatQueue
    from fwdperm.serve.ledger import Ledger
    from fwdperm.sessions import SessionTree
    from fwdperm.wire import Prompt, Reply, RuleCommand

log = structlog.get_logger("fwdperm.serve")

CROWDED: Final = "too many questions wait already, so nobody was asked and nobody refused it; try again later"
UNATTENDED: Final = "a person must answer this and none is attached; nobody refused it"
CONSULTATIONS: Final = 2
"""How often the judge is asked about one request whose rules change meanwhile; then a person is."""


class ContextSource(Protocol):
    """Where the lifecycle gets the snapshot to decide against."""

    def context(self, request: Request) -> DecisionContext:
        """Give the rulesets along the request's parent chain, and everything else the order reads."""
        ...

    def suggestions(self, request: Request) -> Sequence[tuple[str, str]]:
        """Give (surface, pattern) pairs that an *always* would record."""
        ...

    def epoch(self, request: Request) -> str:
        """Name the rules a judge would be shown for a request now: a verdict holds only while they stay the same."""
        ...


class PromptDisplay(Protocol):
    """Where open prompts lie for other interfaces to read."""

    def put(self, prompt: Prompt) -> None:
        """Lay a prompt out. Must not raise: a prompt that cannot be laid out is still asked at the terminal."""
        ...

    def take(self, key: RequestKey) -> None:
        """Take a prompt away. Must not raise."""
        ...


@dataclass(slots=True)
class Waiting:
    """A request that waits for a judge or a person.

    Attributes:
        arrival: The request.
        step: Whom it waits for.
        epoch: The rules the judge was shown; empty until it is asked.
        consultations: How often the judge was asked.
    """

    arrival: Arrival
    step: AskHuman | AskJudge
    epoch: str = ""
    consultations: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How requests wait.

    Attributes:
        wait_s: Seconds a request waits at most.
        refuses_unattended: True to deny at once what would need a person while no interface is attached.
    """

    wait_s: float
    refuses_unattended: bool = False


class RequestLifecycle:
    """Takes letters, replies, verdicts and deadlines; gives answers.

    Args:
        transport: Where requests come in and answers go out.
        journal: Where everything is recorded first.
        ledger: What was ever decided.
        last_word: Whose answer counts where two daemons believed that they own the root.
        rules: Where decision contexts come from.
        sessions: The tree of sessions.
        teaching: What becomes of rules when people answer.
        queue: The seat's queue.
        prompt_files: Where open prompts lie.
        clock: Both clocks.
        limits: Says how long requests wait now, and what happens without an interface: settings change.
        consult: Called with what the judge should be asked; answers come back through `judged`. It must return at
            once.
        is_attended: Says whether any interface is attached now.
    """

    def __init__(  # noqa: PLR0913 - the one place where the rooms meet
        self,
        *,
        transport: Transport,
        journal: Journal,
        ledger: Ledger,
        last_word: LastWord,
        rules: ContextSource,
        sessions: SessionTree,
        teaching: Teaching,
        queue: SeatQueue,
        prompt_files: PromptDisplay,
        clock: Clock,
        limits: Callable[[], Limits],
        consult: Callable[[AskJudge, RequestKey], None],
        is_attended: Callable[[], bool],
    ) -> None:
        self.waiting: dict[RequestKey, Waiting] = {}
        self._transport = transport
        self._journal = journal
        self._ledger = ledger
        self._rules = rules
        self._sessions = sessions
        self._teaching = teaching
        self._queue = queue
        self._prompt_files = prompt_files
        self._clock = clock
        self._limits_now = limits
        self._consult = consult
        self._is_attended = is_attended
        self._unfinished: dict[RequestKey, tuple[Mail, float, str]] = {}
        self._outbox = Outbox(transport=transport, journal=journal, ledger=ledger, last_word=last_word, clock=clock)
        self._fresh: list[RequestKey] = []
        self._consulting: list[RequestKey] = []
        self._rejections = Rejections()
        self._put_off = FairQueue()

    @property
    def limits(self) -> Limits:
        """How long requests wait now, and what happens without an interface."""
        return self._limits_now()

    @property
    def counts(self) -> Counts:
        """What happened since the daemon started."""
        return self._outbox.counts

    # -- what comes in -----------------------------------------------------------------------------------------

    def receive(self, letters: Iterable[Letter]) -> None:
        """Take what the transport handed out. One bad letter never stops the others."""
        began, spent = self._clock.monotonic(), dict[str, float]()
        for letter in (*self._put_off.begin(), *letters, *self._put_off.rest()):
            start = self._clock.monotonic()
            is_first = not spent
            if not is_first and (start - began > TURN_S or spent.get(letter.inbox, 0.0) > SHARE_S):
                self._put_off.put_off(letter)
                continue
            self._receive_safely(letter)
            spent[letter.inbox] = spent.get(letter.inbox, 0.0) + self._clock.monotonic() - start

    def _receive_safely(self, letter: Letter) -> None:
        """Take one letter; whatever it does to us, it is refused and the others come next."""
        try:
            self._receive(letter)
        except Exception:  # the seam: one request
            log.exception("request.failed", inbox=letter.inbox, request=letter.stem)
            try:
                reason = "the permission service failed on this request; try again later"
                self._refuse(letter, UndecidedCode.INTERNAL, reason)
            except Exception:  # the seam's own: nothing is answered, and so nothing is allowed
                log.exception("request.unanswered", inbox=letter.inbox, request=letter.stem)

    def put_off(self) -> frozenset[str]:
        """Name the inboxes with letters that were taken and not looked at yet: the next `receive` goes on with them."""
        return self._put_off.inboxes()

    def is_swamped(self) -> bool:
        """Say whether so much was put off that nothing more should be read before some of it is dealt with."""
        return self._put_off.size > PUT_OFF_BYTES

    def reply(self, key: RequestKey, digest: str | None, reply: Reply, *, via: str, user: str = "") -> Answered:
        """Take a person's answer. The first one wins; it is bound to the digest that was shown.

        Returns:
            What became of it. Only `Accepted` changes anything, and that is published by the next `flush`.
        """
        if reply.look:
            return RefusedReply("a look answers nothing")
        self._notice_withdrawal(key)
        by = f"{user} ({via})" if user else via
        proposal = self._proposal(key, digest, reply)
        if isinstance(proposal, Objection):
            return RefusedReply(proposal.words)
        answered = self._queue.answer(key, digest, reply, now=self._clock.monotonic(), by=by)
        if isinstance(answered, UnknownQuestion):
            past = self._ledger.who(key)
            return AlreadyDecided(closed=past) if past is not None else answered
        if not isinstance(answered, Accepted):
            return answered
        waiting = self.waiting.pop(key)
        self._prompt_files.take(key)
        if not isinstance(waiting.step, AskHuman):
            raise TypeError("a question for the judge stood in the human's queue")
        self._teaching.record(waiting.arrival.request, reply, proposal, via=via, user=user)
        self._outbox.put(waiting.arrival, after_human(waiting.step, reply.reply, note=reply.note, via=by).decision)
        self.reconsider()
        return answered

    def _proposal(self, key: RequestKey, digest: str | None, reply: Reply) -> Proposal | Objection:
        """Say what an answer would teach, before it is taken: one that cannot be recorded answers nothing."""
        question, waiting = self._queue.get(key), self.waiting.get(key)
        if question is None or waiting is None or not isinstance(waiting.step, AskHuman):
            return Proposal()  # the queue knows why it is not taken
        if (digest is not None and digest != question.digest) or reply_refusal(question.prompt, reply):
            return Proposal()  # as above
        request = waiting.arrival.request
        return self._teaching.proposal(
            waiting.step,
            reply,
            context=self._rules.context(request),
            suggestions=[(one.surface, one.pattern) for one in question.prompt.suggestions],
        )

    def judged(self, key: RequestKey, digest: str, opinion: Opinion) -> None:
        """Take what the judge said, if its question still stands: same digest, unanswered, and the same rules.

        Where rules changed meanwhile, the order begins anew; what is still open to the judge is put to it once more,
        and then to a person.
        """
        waiting = self.waiting.get(key)
        if waiting is None or waiting.arrival.request.digest != digest or not isinstance(waiting.step, AskJudge):
            return
        request = waiting.arrival.request
        context = self._rules.context(request)
        step = begin(request, context)
        unused = ""
        if not isinstance(step, AskJudge):
            unused = "the rules decide this by now"
        elif self._rules.epoch(request) != waiting.epoch:
            unused = "the rules changed while it was considered"
        self._journal.append(replace(_verdict_record(request, opinion), unused=unused))
        if isinstance(step, AskJudge):
            if unused and waiting.consultations < CONSULTATIONS:
                self._consulting.append(key)
                return
            step = spare_judge(step, unused, opinion=opinion) if unused else after_judge(step, opinion, context)
        is_rejected = isinstance(step, Decided) and step.decision.stage is Stage.JUDGE and not step.is_approved
        self._rejections.add((request.inbox, request.session), rejected=is_rejected)
        self._follow(waiting.arrival, step)

    def reconsider(self) -> None:
        """Run the first two steps again on everything that waits: a rule or a reply may have settled it."""
        for key, waiting in tuple(self.waiting.items()):
            step = begin(waiting.arrival.request, self._rules.context(waiting.arrival.request))
            if isinstance(step, Decided):
                self._close(key, Closed(how="settled by a rule", by=str(step.decision.rule or step.decision.by)))
                self._outbox.put(waiting.arrival, step.decision)

    def watch_over(self) -> None:
        """Close what was withdrawn, expire what is late, give half-written files up. Called on every wake-up."""
        now = self._clock.monotonic()
        self._notice_withdrawal(*self.waiting)
        if self._turns_away():
            self._close_unattended()
        for key in [key for key, waiting in self.waiting.items() if now >= waiting.arrival.deadline]:
            waiting = self._close(key, Closed(how="expired"))
            if waiting is not None:
                self._outbox.put(
                    waiting.arrival,
                    nobody(waiting.step.evaluation, UndecidedCode.EXPIRED, self._expired(waiting.arrival)),
                )
        for letter, since, reason in tuple(self._unfinished.values()):
            if now - since >= HALF_WRITTEN_S:
                self._refuse(letter, UndecidedCode.MALFORMED, f"the request file {reason}")

    def _notice_withdrawal(self, *keys: RequestKey) -> None:
        """Close those of these whose file is gone: an approval of one would lie around unused."""
        held = [(*key, waiting.arrival.letter.token) for key in keys if (waiting := self.waiting.get(key)) is not None]
        for key in self._transport.gone((inbox, stem, token) for inbox, stem, token in held if token is not None):
            waiting = self._close(key, Closed(how="withdrawn by its requester"))
            if waiting is not None:
                told = nobody(waiting.step.evaluation, UndecidedCode.WITHDRAWN, "the requester withdrew its request")
                self._outbox.put(waiting.arrival, told, to_child=False)

    def _turns_away(self) -> bool:
        """Say whether a question for a person is denied instead of waiting: nobody is there, and nobody may come."""
        return self.limits.refuses_unattended and not self._is_attended()

    def _close_unattended(self) -> None:
        """Deny what waits for a person: the last interface left, or the setting changed."""
        for key in [key for key, waiting in self.waiting.items() if isinstance(waiting.step, AskHuman)]:
            waiting = self._close(key, Closed(how="nobody is attached"))
            if waiting is not None:
                told = nobody(waiting.step.evaluation, UndecidedCode.UNAVAILABLE, UNATTENDED)
                self._outbox.put(waiting.arrival, told)

    def look(self, key: RequestKey, digest: str | None, reply: Reply) -> ReplyOutcome:
        """Tell what an *always* would record for a question that waits. Answers nothing and records nothing."""
        proposal = self._proposal(key, digest, reply)
        question = self._queue.get(key)
        if isinstance(proposal, Objection):
            return ReplyOutcome(outcome=Fate.REFUSED, words=proposal.words)
        if question is None:
            past = self._ledger.who(key)
            fate = Fate.UNKNOWN if past is None else Fate.ALREADY_DECIDED
            return ReplyOutcome(outcome=fate, words=past.words if past is not None else "no such request waits")
        if digest is not None and digest != question.digest:
            return ReplyOutcome(outcome=Fate.STALE, words="the request is not the one that was shown")
        words = reply_refusal(question.prompt, reply)
        if words:
            return ReplyOutcome(outcome=Fate.REFUSED, words=words)
        lines = self._teaching.taught_rules.preview(proposal)
        return ReplyOutcome(outcome=Fate.SHOWN, words="nothing was answered or recorded", lines=lines)

    def command(self, command: RuleCommand) -> ReplyOutcome:
        """Take a person's command about rules. It counts with the next `flush`, for what waits too."""
        return self._teaching.command(command)

    # -- what goes out -----------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Make every record durable, then publish, then remove the requests, then tell the seat and the judge.

        What the records taught is known only then: everything that waits is decided anew, and goes out the same way.
        """
        self._flush()
        if self._teaching.committed():
            self.reconsider()
            self._flush()

    def _flush(self) -> None:
        """Record and publish once."""
        if not self._outbox.send():
            self._teaching.dropped()
        fresh, self._fresh = self._fresh, []
        for key in fresh:
            question = self._queue.get(key)
            if question is not None:
                self._prompt_files.put(question.prompt)
                log.info("human.asked", inbox=key[0], request=key[1], surface=question.prompt.surface)
        consulting, self._consulting = self._consulting, []
        for key in consulting:
            waiting = self.waiting.get(key)
            if waiting is not None and isinstance(waiting.step, AskJudge):
                waiting.epoch = self._rules.epoch(waiting.arrival.request)
                waiting.consultations += 1
                self._consult(waiting.step, key)

    def retry(self) -> None:
        """Try again what a full disk or an outage of the journal held up."""
        self._outbox.retry()

    def sweep_unread(self) -> None:
        """Remove answers nobody consumed: no allow lies around unused."""
        self._outbox.sweep_unread()

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
                _, since, _ = self._unfinished.get(key, (letter, self._clock.monotonic(), ""))
                self._unfinished[key] = (replace(letter, data=b""), since, error.reason)
            else:
                self._refuse(letter, UndecidedCode.MALFORMED, f"the request file cannot be used: {error.reason}")
            return
        self._unfinished.pop(key, None)
        if self._sessions.see(request):
            edge = SessionSeenRecord(session=request.session, parent=request.inbox, agent=request.agent)
            self._journal.append(edge)
        arrival, left = self._arrival(letter, request)
        if left <= 0:
            reason = "the request is older than it may be; nobody was asked and nobody refused it"
            self._outbox.put(arrival, nobody(None, UndecidedCode.EXPIRED, reason))
            return
        self._follow(arrival, begin(request, self._rules.context(request)))

    def _arrival(self, letter: Letter, request: Request) -> tuple[Arrival, float]:
        """Give when a request came, and the seconds it has left."""
        now_ms = self._clock.wall_ms()
        at_ms = letter.ctime_ns // 1_000_000 or now_ms
        left = remaining_s(request, arrived_ms=at_ms, now_ms=now_ms, wait_s=self.limits.wait_s)
        deadline = self._clock.monotonic() + left
        return Arrival(letter, request, at_ms, deadline, now_ms + int(left * 1000)), left

    def _repeats(self, letter: Letter, key: RequestKey) -> bool:
        """Deal with a key that was seen before: at most one decision for it, for ever.

        A crash between the record and the removal of the request leaves the request lying: its recorded answer is
        published again. Anything else under a decided id is a replay, and gets a denial.
        """
        digest = letter.digest if isinstance(letter, Mail) else ""
        undelivered = self._ledger.undelivered(key)
        if undelivered is not None and undelivered.digest == digest:
            self._outbox.repeat(letter, undelivered)
            return True
        if undelivered is not None or self._ledger.is_decided(key):
            reason = "this request id was already decided once; a new request needs a new id"
            self._outbox.put(self._stub(letter), nobody(None, UndecidedCode.REPLAYED, reason))
            return True
        waiting = self.waiting.get(key)
        if waiting is None:
            return False
        if waiting.arrival.request.digest == digest:
            waiting.arrival = replace(waiting.arrival, letter=letter)
            return True
        self._close(key, Closed(how="replaced by its requester"))
        reason = "the request's file was replaced while it waited; a new request needs a new id"
        told = nobody(waiting.step.evaluation, UndecidedCode.MALFORMED, reason)
        self._outbox.put(replace(waiting.arrival, letter=letter), told)
        return True

    def _refuse(self, letter: Letter, code: UndecidedCode, reason: str) -> None:
        """Deny what cannot be read where an id is readable; set it aside and count it where not."""
        self.waiting.pop((letter.inbox, letter.stem), None)
        self._unfinished.pop((letter.inbox, letter.stem), None)
        if is_request_id(letter.stem):
            self._outbox.put(self._stub(letter), nobody(None, code, reason))
            return
        self._outbox.counts.set_aside += 1
        log.warning("file.set_aside", inbox=letter.inbox, file=letter.stem, reason=reason)
        self._journal.append(SetAsideRecord(inbox=letter.inbox, file=letter.stem, reason=reason))

    def _stub(self, letter: Letter) -> Arrival:
        """Give the little that is known of a request that cannot be read: where it lay and its file's name."""
        digest = letter.digest if isinstance(letter, Mail) else ""
        unread = Request(letter.stem, digest, letter.inbox, session="", agent="", facts=None, floor="unreadable")
        now_ms = self._clock.wall_ms()
        return Arrival(letter, unread, letter.ctime_ns // 1_000_000 or now_ms, self._clock.monotonic(), now_ms)

    # -- who is asked next -------------------------------------------------------------------------------------

    def _follow(self, arrival: Arrival, step: Decided | AskJudge | AskHuman) -> None:
        key = arrival.request.key
        match step:
            case Decided():
                self.waiting.pop(key, None)
                self._outbox.put(arrival, step.decision)
            case AskJudge() | AskHuman() if key not in self.waiting and not self._make_room(arrival):
                self._outbox.put(arrival, nobody(step.evaluation, UndecidedCode.UNAVAILABLE, CROWDED))
            case AskJudge() if self._rejections.is_over((arrival.request.inbox, arrival.request.session)):
                self._rejections.add((arrival.request.inbox, arrival.request.session), rejected=False)
                self._follow(arrival, spare_judge(step, "the judge rejected much of this requester lately"))
            case AskJudge():
                self.waiting[key] = Waiting(arrival, step)
                self._consulting.append(key)
            case AskHuman() if self._turns_away():
                self.waiting.pop(key, None)
                self._outbox.put(arrival, nobody(step.evaluation, UndecidedCode.UNAVAILABLE, UNATTENDED))
            case AskHuman():
                self._ask_human(arrival, step)
            case _:
                assert_never(step)

    def _make_room(self, arrival: Arrival) -> bool:
        """Say whether one more may wait. Where all places are taken, the fullest inbox gives up its newest."""
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
        closed = self._close(newest, Closed(how="too many questions wait"))
        if closed is not None:
            self._outbox.put(closed.arrival, nobody(closed.step.evaluation, UndecidedCode.UNAVAILABLE, CROWDED))
        return True

    def _ask_human(self, arrival: Arrival, asked: AskHuman) -> None:
        request = arrival.request
        self.waiting[request.key] = Waiting(arrival, asked)
        prompt = prompt_for(
            asked,
            chain=[place.session for place in self._sessions.chain(request)],
            suggestions=self._rules.suggestions(request),
            created_at=arrival.at_ms,
            deadline_at=arrival.deadline_ms,
        )
        self._journal.append(
            asked_record(request, why=asked.why, requested_at=arrival.at_ms, deadline_at=arrival.deadline_ms)
        )
        now = self._clock.monotonic()
        self._queue.add(WaitingQuestion(request.key, request.digest, prompt, asked_at=now, deadline=arrival.deadline))
        self._fresh.append(request.key)

    def _close(self, key: RequestKey, closed: Closed) -> Waiting | None:
        """Take a request out of everything that waits."""
        self._queue.close(key, closed)
        self._prompt_files.take(key)
        return self.waiting.pop(key, None)

    def _expired(self, arrival: Arrival) -> str:
        waited = (self._clock.wall_ms() - arrival.at_ms) // 1000
        return f"nobody answered within {max(waited, 0)} s; nobody refused it"


def _verdict_record(request: Request, opinion: Opinion) -> VerdictRecord:
    call = opinion.call
    base = VerdictRecord(
        inbox=request.inbox,
        id=request.id,
        digest=request.digest,
        latency_ms=call.latency_ms,
        attempts=call.attempts,
        input_tokens=call.input_tokens + call.cache_write_tokens,
        cached_tokens=call.cache_read_tokens,
        output_tokens=call.output_tokens,
        microdollars=call.microdollars,
        prefixes=call.prefixes,
    )
    if isinstance(opinion, Verdict):
        return replace(
            base,
            model=opinion.model,
            verdict=str(opinion.choice),
            risk=str(opinion.risk),
            cited=opinion.rule,
            reason=opinion.reason,
            effects=tuple(str(effect) for effect in opinion.effects),
            manipulation=opinion.manipulation,
        )
    return replace(base, failure=opinion.code, reason=opinion.words)

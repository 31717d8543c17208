"""Who is asked next about a request, and what becomes of what they say.

Lives here: `Referrals`: to the judge, to a person, and back again. Never here: the order itself (`decision/order.py`),
how a model or a person is asked, what waits (`waiting_room.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, assert_never

import structlog

from fwdperm.decision import AskHuman, AskJudge, Decided, after_human, after_judge, begin, nobody, spare_judge
from fwdperm.journal import VerdictRecord, asked_record
from fwdperm.judge import Rejections, Verdict
from fwdperm.seat import Accepted, AlreadyDecided, RefusedReply, UnknownQuestion, WaitingQuestion, reply_refusal
from fwdperm.serve.prompting import prompt_for
from fwdperm.serve.waiting_room import CROWDED, UNATTENDED
from fwdperm.session_rules import Objection, Proposal
from fwdperm.wire import Fate, ReplyOutcome, Stage, UndecidedCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.judge import Opinion
    from fwdperm.seat import Answered
    from fwdperm.serve.outbox import Arrival, Outbox
    from fwdperm.serve.services import Services
    from fwdperm.serve.waiting_room import WaitingRoom
    from fwdperm.wire import Reply, Request, RequestKey

log = structlog.get_logger("fwdperm.serve")

CONSULTATIONS: Final = 2
"""How often the judge is asked about one request, when each time the rules changed before it answered; then a person is
asked."""


class Referrals:
    """Puts requests to the judge or a person, and takes their answers. Not thread-safe: for the daemon's loop only.

    Args:
        services: The other rooms.
        outbox: Takes decisions.
        room: Where a request waits meanwhile.
    """

    def __init__(self, services: Services, outbox: Outbox, *, room: WaitingRoom) -> None:
        self._services = services
        self._outbox = outbox
        self._room = room
        # Questions that are shown to people, or put to the judge, once everything up to them is recorded.
        self._fresh: list[RequestKey] = []
        self._consulting: list[RequestKey] = []
        self._rejections = Rejections()

    def follow(self, arrival: Arrival, step: Decided | AskJudge | AskHuman, *, line: Sequence[str]) -> None:
        """Do what the order says comes next: let the decision out, or ask the judge or a person.

        Args:
            arrival: The request.
            step: What comes next.
            line: The sessions of its parent chain, the requester first, as the order saw it.
        """
        key = arrival.request.key
        match step:
            case Decided():
                self._room.leave(key)
                self._outbox.put(arrival, step.decision)
            case AskJudge() | AskHuman() if key not in self._room.waiting and not self._room.has_place(arrival):
                self._outbox.put(arrival, nobody(step.evaluation, UndecidedCode.UNAVAILABLE, CROWDED))
            case AskJudge() if self._rejections.is_over((arrival.request.inbox, arrival.request.session)):
                self._rejections.add((arrival.request.inbox, arrival.request.session), rejected=False)
                spared = spare_judge(step, "the judge rejected much of this requester lately")
                self.follow(arrival, spared, line=line)
            case AskJudge():
                self._room.enter(arrival, step)
                self._consulting.append(key)
            case AskHuman() if self._room.turns_away():
                self._room.leave(key)
                self._outbox.put(arrival, nobody(step.evaluation, UndecidedCode.UNAVAILABLE, UNATTENDED))
            case AskHuman():
                self._ask_human(arrival, step, line=line)
            case _:
                assert_never(step)

    def _ask_human(self, arrival: Arrival, asked: AskHuman, *, line: Sequence[str]) -> None:
        request = arrival.request
        self._room.enter(arrival, asked)
        prompt = prompt_for(
            asked,
            chain=line,
            suggestions=self._services.rules.suggestions(request),
            created_at=arrival.at_ms,
            deadline_at=arrival.deadline_ms,
        )
        self._services.journal.append(
            asked_record(request, why=asked.why, requested_at=arrival.at_ms, deadline_at=arrival.deadline_ms)
        )
        self._services.queue.add(WaitingQuestion(request.key, request.digest, prompt, deadline=arrival.deadline))
        self._fresh.append(request.key)

    def reply(self, key: RequestKey, digest: str | None, reply: Reply, *, via: str, user: str = "") -> Answered:
        """Take a person's answer. The first answer wins.

        Args:
            key: The request that is answered.
            digest: Digest of the request that the person was shown: the answer counts for no other file. None where
                the interface did not say.
            reply: The answer.
            via: The interface, for the record.
            user: Who answered, as the interface knows them.

        Returns:
            What became of it. Only `Accepted` changes anything, and that is published by the next `flush`.
        """
        if reply.look:
            return RefusedReply("a look answers nothing")
        self._room.notice_withdrawal(key)  # or an approval of a request that is gone would be published
        by = f"{user} ({via})" if user else via
        proposal = self._proposal(key, digest, reply)
        if isinstance(proposal, Objection):
            return RefusedReply(proposal.words)
        answered = self._services.queue.answer(key, digest, reply, now=self._services.clock.monotonic(), by=by)
        if isinstance(answered, UnknownQuestion):
            past = self._services.ledger.who(key)
            return AlreadyDecided(closed=past) if past is not None else answered
        if not isinstance(answered, Accepted):
            return answered
        waiting = self._room.waiting.pop(key)
        self._services.prompt_files.take(key)
        if not isinstance(waiting.step, AskHuman):
            raise TypeError("a question for the judge stood in the human's queue")
        self._services.teaching.record(waiting.arrival.request, reply, proposal, via=via, user=user)
        self._outbox.put(waiting.arrival, after_human(waiting.step, reply.reply, note=reply.note, via=by).decision)
        self._room.reconsider()
        return answered

    def look(self, key: RequestKey, digest: str | None, reply: Reply) -> ReplyOutcome:
        """Tell what an *always* would record for a question that waits. Answers nothing and records nothing."""
        proposal = self._proposal(key, digest, reply)
        question = self._services.queue.get(key)
        if isinstance(proposal, Objection):
            return ReplyOutcome(outcome=Fate.REFUSED, words=proposal.words)
        if question is None:
            past = self._services.ledger.who(key)
            fate = Fate.UNKNOWN if past is None else Fate.ALREADY_DECIDED
            return ReplyOutcome(outcome=fate, words=past.words if past is not None else "no such request waits")
        if digest is not None and digest != question.digest:
            return ReplyOutcome(outcome=Fate.STALE, words="the request is not the one that was shown")
        words = reply_refusal(question.prompt, reply)
        if words:
            return ReplyOutcome(outcome=Fate.REFUSED, words=words)
        lines = self._services.teaching.taught_rules.preview(proposal)
        return ReplyOutcome(outcome=Fate.SHOWN, words="nothing was answered or recorded", lines=lines)

    def judged(self, key: RequestKey, digest: str, opinion: Opinion) -> None:
        """Take what the judge said, if its question still stands: the same file, and nobody answered meanwhile.

        A verdict counts only under the rules that the judge was shown. If they changed meanwhile, the request is
        decided by the new ones; what is then open to the judge again is put to it once more, and after that to a
        person.
        """
        waiting = self._room.waiting.get(key)
        if waiting is None or waiting.arrival.request.digest != digest or not isinstance(waiting.step, AskJudge):
            return
        request = waiting.arrival.request
        context = self._services.rules.context(request)
        step = begin(request, context)
        unused = ""
        if not isinstance(step, AskJudge):
            unused = "the rules decide this by now"
        elif self._services.rules.epoch(request, context) != waiting.epoch:
            unused = "the rules changed while it was considered"
        self._services.journal.append(replace(_verdict_record(request, opinion), unused=unused))
        if isinstance(step, AskJudge):
            if unused and waiting.consultations < CONSULTATIONS:
                self._consulting.append(key)
                return
            step = spare_judge(step, unused, opinion=opinion) if unused else after_judge(step, opinion, context)
        is_rejected = isinstance(step, Decided) and step.decision.stage is Stage.JUDGE and not step.is_approved
        self._rejections.add((request.inbox, request.session), rejected=is_rejected)
        self.follow(waiting.arrival, step, line=context.line)

    def put_questions(self) -> None:
        """Show new questions to people and put them to the judge. To be called after everything is recorded."""
        fresh, self._fresh = self._fresh, []
        for key in fresh:
            question = self._services.queue.get(key)
            if question is not None:
                self._services.prompt_files.put(question.prompt)
                log.info("human.asked", inbox=key[0], request=key[1], surface=question.prompt.surface)
        consulting, self._consulting = self._consulting, []
        for key in consulting:
            waiting = self._room.waiting.get(key)
            if waiting is not None and isinstance(waiting.step, AskJudge):
                request = waiting.arrival.request
                waiting.epoch = self._services.rules.epoch(request, self._services.rules.context(request))
                waiting.consultations += 1
                self._services.consult(waiting.step, key)

    def _proposal(self, key: RequestKey, digest: str | None, reply: Reply) -> Proposal | Objection:
        """Say what an answer would teach, or why it cannot: then the answer is not taken at all."""
        question, waiting = self._services.queue.get(key), self._room.waiting.get(key)
        if question is None or waiting is None or not isinstance(waiting.step, AskHuman):
            return Proposal()  # teaches nothing: the queue refuses this answer, and says why
        if (digest is not None and digest != question.digest) or reply_refusal(question.prompt, reply):
            return Proposal()  # as above
        request = waiting.arrival.request
        return self._services.teaching.proposal(
            waiting.step,
            reply,
            context=self._services.rules.context(request),
            suggestions=[(one.surface, one.pattern) for one in question.prompt.suggestions],
        )


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

"""The queue of waiting questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fwdperm.seat.queue import (
    Accepted,
    Admission,
    AlreadyDecided,
    Answered,
    Closed,
    RefusedReply,
    SeatQueue,
    Stale,
    UnknownQuestion,
    WaitingQuestion,
)
from fwdperm.wire.prompt import Prompt, PromptSuggestion, Reply, ReplyKind

if TYPE_CHECKING:
    from fwdperm.wire.request import RequestKey

ONCE = Reply(reply=ReplyKind.ONCE)
ALWAYS = Reply(reply=ReplyKind.ALWAYS)
REJECT = Reply(reply=ReplyKind.REJECT)


def question(  # noqa: PLR0913 - a question has this many sides
    name: str = "r1",
    *,
    digest: str = "d",
    deadline: float = 100.0,
    value: str = "ls",
    danger: str = "ruled",
    chain: tuple[str, ...] = ("root", "build"),
    only_human: bool = False,
    suggested: bool = True,
) -> WaitingQuestion:
    prompt = Prompt(
        id=name,
        inbox="root",
        digest=digest,
        chain=chain,
        surface="bash",
        values=(value,),
        danger=danger,
        why="no rule",
        suggestions=(PromptSuggestion(surface="bash", pattern=value),) if suggested else (),
        only_human=only_human,
        created_at=0,
        deadline_at=1,
    )
    return WaitingQuestion(key=prompt.key, digest=digest, prompt=prompt, asked_at=0.0, deadline=deadline)


def queue_of(*questions: WaitingQuestion) -> SeatQueue:
    queue = SeatQueue()
    for each in questions:
        queue.add(each)
    return queue


def test_a_newer_question_never_replaces_the_one_on_screen() -> None:
    queue = queue_of(question("a"), question("b"))
    assert queue.front() == question("a")
    queue.close(("root", "b"), Closed(how="withdrawn by its requester"))
    queue.add(question("c"))
    assert queue.front() == question("a")


def test_two_answers_at_once_one_wins_and_the_other_hears_who() -> None:
    queue = queue_of(question())
    first = queue.answer(("root", "r1"), "d", REJECT, now=1.0, by="ann on tty3")
    second = queue.answer(("root", "r1"), "d", ONCE, now=1.005, by="bob")
    assert first == Accepted(question=question(), reply=REJECT)
    assert second == AlreadyDecided(closed=Closed(how="rejected", by="ann on tty3"))
    assert second.closed.words == "already decided by ann on tty3: rejected"


def test_an_answer_to_other_content_than_was_on_screen_is_stale() -> None:
    queue = queue_of(question(digest="new"))
    assert queue.answer(("root", "r1"), "old", ONCE, now=1.0, by="ann") == Stale()
    assert queue.front() is not None


def test_an_answer_after_the_deadline_changes_nothing_even_before_the_sweep() -> None:
    queue = queue_of(question(deadline=10.0))
    late = queue.answer(("root", "r1"), "d", ONCE, now=10.0, by="ann")
    assert late == AlreadyDecided(closed=Closed(how="expired"))
    assert late.closed.words == "closed: expired"
    assert queue.front() is None


def test_a_withdrawn_question_cannot_be_answered() -> None:
    queue = queue_of(question())
    assert queue.close(("root", "r1"), Closed(how="withdrawn by its requester")) == question()
    assert queue.answer(("root", "r1"), "d", ONCE, now=1.0, by="ann") == AlreadyDecided(
        closed=Closed(how="withdrawn by its requester")
    )


def test_a_late_snapshot_does_not_bring_an_answered_question_back() -> None:
    queue = queue_of(question())
    queue.answer(("root", "r1"), "d", ONCE, now=1.0, by="ann")
    assert queue.add(question()) is Admission.CLOSED
    assert queue.front() is None


def test_a_question_offered_twice_waits_once() -> None:
    queue = queue_of(question())
    assert queue.add(question()) is Admission.WAITING
    assert queue.add(question(digest="other")) is Admission.CHANGED
    assert queue.waiting() == (question(),)


def test_a_rejection_leaves_the_others_waiting() -> None:
    queue = queue_of(question("a"), question("b"))
    queue.answer(("root", "a"), "d", REJECT, now=1.0, by="ann")
    assert queue.front() == question("b")


@pytest.mark.parametrize(
    ("asked", "reply", "words"),
    [
        (question(only_human=True), ALWAYS, 'a rule says only = "human" here: answer `once` or `reject`'),
        (
            question(danger="dangerous"),
            ALWAYS,
            "a dangerous request is never allowed for later ones: answer `once` or `reject`",
        ),
        (
            question(suggested=False),
            ALWAYS,
            "nothing is suggested for `always` here: name a pattern, or answer `once` or `reject`",
        ),
        (
            question(),
            Reply(reply=ReplyKind.ONCE, id="r2"),
            "the answer names another request; nothing was answered",
        ),
        (
            question(),
            Reply(reply=ReplyKind.ONCE, inbox="other"),
            "the answer names another request; nothing was answered",
        ),
    ],
)
def test_an_answer_the_question_does_not_take_leaves_it_waiting(
    asked: WaitingQuestion, reply: Reply, words: str
) -> None:
    queue = queue_of(asked)
    assert queue.answer(asked.key, "d", reply, now=1.0, by="ann") == RefusedReply(words=words)
    assert queue.front() == asked


def test_own_patterns_are_taken_where_nothing_is_suggested() -> None:
    queue = queue_of(question(suggested=False))
    own = Reply(reply=ReplyKind.ALWAYS, patterns=("ls *",))
    assert isinstance(queue.answer(("root", "r1"), "d", own, now=1.0, by="ann"), Accepted)


def test_equal_questions_are_shown_once_and_each_answered_on_its_own() -> None:
    queue = queue_of(question("a"), question("b", value="rm x"), question("c"), question("d", chain=("root", "x", "y")))
    assert [[member.prompt.id for member in group.questions] for group in queue.groups()] == [["a", "c"], ["b"], ["d"]]
    assert queue.groups()[0].oldest == question("a")
    queue.answer(("root", "a"), "d", ONCE, now=1.0, by="ann")
    assert [[member.prompt.id for member in group.questions] for group in queue.groups()] == [["b"], ["c"], ["d"]]


def test_a_view_follows_closings_but_not_the_order_under_the_reader() -> None:
    queue = queue_of(question("a"), question("b"))
    view = queue.view()
    queue.answer(("root", "a"), "d", ONCE, now=1.0, by="ann")
    assert view.front == question("a")
    assert view.closed[("root", "a")] == Closed(how="approved once", by="ann")


def test_a_long_life_does_not_grow_without_end() -> None:
    queue = SeatQueue(closed_kept=3)
    for number in range(10):
        queue.close(("root", f"r{number}"), Closed(how="expired"))
    assert len(queue.view().closed) == 3
    assert queue.answer(("root", "r0"), "d", ONCE, now=1.0, by="ann") == UnknownQuestion()


@dataclass
class Record:
    """What the oracle knows of one key: a list scan decides everything."""

    key: RequestKey
    digest: str
    deadline: float
    grave: bool
    ended: Closed | None = None


@dataclass
class Oracle:
    records: list[Record] = field(default_factory=list)

    def find(self, key: RequestKey) -> Record | None:
        return next((record for record in self.records if record.key == key), None)

    def waiting(self) -> list[RequestKey]:
        return [record.key for record in self.records if record.ended is None]


class QueueMachine(RuleBasedStateMachine):
    """Any order of events: the queue agrees with a list that is scanned from the start each time."""

    names = st.sampled_from(["a", "b", "c", "d", "e"])
    digests = st.sampled_from(["d1", "d2"])

    def __init__(self) -> None:
        super().__init__()
        self.queue = SeatQueue()
        self.oracle = Oracle()
        self.now = 0.0
        self.front: RequestKey | None = None
        self.won: dict[RequestKey, int] = {}

    @rule(name=names, digest=digests, wait=st.integers(1, 9), grave=st.booleans())
    def add(self, name: str, digest: str, wait: int, grave: bool) -> None:
        asked = question(name, digest=digest, deadline=self.now + wait, danger="dangerous" if grave else "routine")
        record = self.oracle.find(asked.key)
        if record is None:
            expected = Admission.ADDED
            self.oracle.records.append(Record(asked.key, digest, asked.deadline, grave))
        elif record.ended is not None:
            expected = Admission.CLOSED
        else:
            expected = Admission.WAITING if record.digest == digest else Admission.CHANGED
        assert self.queue.add(asked) is expected

    @rule(name=names, digest=st.none() | digests, kind=st.sampled_from(ReplyKind), by=st.sampled_from(["ann", "bob"]))
    def answer(self, name: str, digest: str | None, kind: ReplyKind, by: str) -> None:
        key = ("root", name)
        outcome: Answered = self.queue.answer(key, digest, Reply(reply=kind), now=self.now, by=by)
        record = self.oracle.find(key)
        if record is None:
            assert outcome == UnknownQuestion()
        elif record.ended is not None:
            assert outcome == AlreadyDecided(closed=record.ended)
        elif self.now >= record.deadline:
            record.ended = Closed(how="expired")
            assert outcome == AlreadyDecided(closed=record.ended)
        elif digest not in (None, record.digest):
            assert outcome == Stale()
        elif record.grave and kind is ReplyKind.ALWAYS:
            assert isinstance(outcome, RefusedReply)
        else:
            words = {"once": "approved once", "always": "approved always", "reject": "rejected"}[kind]
            record.ended = Closed(how=words, by=by)
            assert isinstance(outcome, Accepted)
            self.won[key] = self.won.get(key, 0) + 1

    @rule(name=names)
    def withdraw(self, name: str) -> None:
        key = ("root", name)
        record = self.oracle.find(key)
        closed = self.queue.close(key, Closed(how="withdrawn"))
        if record is None:
            self.oracle.records.append(Record(key, "", 0.0, grave=False, ended=Closed(how="withdrawn")))
        elif record.ended is None:
            record.ended = Closed(how="withdrawn")
            assert closed is not None
            return
        assert closed is None

    @rule(seconds=st.integers(1, 4))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @precondition(lambda self: self.oracle.waiting())
    @rule()
    def sweep(self) -> None:
        """Close what is late, as the owner does."""
        for record in self.oracle.records:
            if record.ended is None and self.now >= record.deadline:
                record.ended = Closed(how="expired")
                assert self.queue.close(record.key, record.ended) is not None

    @invariant()
    def agrees(self) -> None:
        waiting = self.oracle.waiting()
        assert [each.key for each in self.queue.waiting()] == waiting
        assert sorted(member.key for group in self.queue.groups() for member in group.questions) == sorted(waiting)
        assert dict(self.queue.view().closed) == {r.key: r.ended for r in self.oracle.records if r.ended is not None}

    @invariant()
    def front_stays_until_it_is_closed(self) -> None:
        front = self.queue.front()
        if self.front is not None and self.front in self.queue:
            assert front is not None
            assert front.key == self.front
        self.front = front.key if front else None

    @invariant()
    def at_most_one_answer_wins(self) -> None:
        assert all(count == 1 for count in self.won.values())


QueueMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQueueAgainstAList = QueueMachine.TestCase

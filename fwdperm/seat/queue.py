"""The waiting questions, first in, first out.

Lives here: `SeatQueue` and its values. Pure: time comes in as an argument, and nobody is notified; the owner asks for a
`view` after each change. Never here: what an answer causes, how a question looks.

At every moment: the question at the front stays there until it is answered, withdrawn or expired; the first answer
wins, and later ones are told who won; a closed question is never asked again. A doubtful answer is refused, and its
question goes on waiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from fwdperm.wire import Reply, ReplyKind, RequestKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fwdperm.wire import Prompt, PromptUnit


CLOSED_KEPT: Final = 10_000
"""Closed questions that are remembered, for telling people who answer too late. The journal has all of them."""


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """One waiting question.

    Attributes:
        key: (inbox, request id).
        digest: SHA-256 of the request's bytes; an answer that names another digest is stale.
        prompt: What interfaces show.
        deadline: When it expires, in seconds of the owner's monotonic clock: the smaller of the requester's deadline
            and ours.
    """

    key: RequestKey
    digest: str
    prompt: Prompt
    deadline: float


@dataclass(frozen=True, slots=True)
class Closed:
    """How a question ended.

    Attributes:
        how: In words: `answered once`, `withdrawn by its requester`, `expired`, `covered by a new session rule`.
        by: Who decided: a user, an interface, a rule; empty when nobody did.
    """

    how: str
    by: str = ""

    @property
    def words(self) -> str:
        """One line for a person who comes too late."""
        return f"already decided by {self.by}: {self.how}" if self.by else f"closed: {self.how}"


class Admission(StrEnum):
    """What became of a question that was offered to the queue."""

    ADDED = "added"
    WAITING = "already waiting"
    CHANGED = "already waiting with other content"
    CLOSED = "already closed"


@dataclass(frozen=True, slots=True)
class Accepted:
    """This answer won."""

    question: WaitingQuestion
    reply: Reply


@dataclass(frozen=True, slots=True)
class AlreadyDecided:
    """The question was closed before this answer came."""

    closed: Closed


@dataclass(frozen=True, slots=True)
class UnknownQuestion:
    """No such question, as far as the queue remembers."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The answer was given to a request with other content than the one that waits under this key."""


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """The answer is not one this question takes; it goes on waiting.

    Attributes:
        words: Why, and what to do instead.
    """

    words: str


Answered: TypeAlias = Accepted | AlreadyDecided | UnknownQuestion | Stale | RefusedReply


@dataclass(frozen=True, slots=True)
class Group:
    """Waiting questions that ask the same thing, oldest first. Shown once, each answered on its own."""

    questions: tuple[WaitingQuestion, ...]

    @property
    def oldest(self) -> WaitingQuestion:
        """The one that is shown."""
        return self.questions[0]


@dataclass(frozen=True, slots=True)
class QueueView:
    """A snapshot for interfaces.

    Attributes:
        waiting: Oldest first.
        closed: How recently closed questions ended. Read-only, and not a copy: later changes of the queue show in it.
    """

    waiting: tuple[WaitingQuestion, ...]
    closed: Mapping[RequestKey, Closed]

    @property
    def front(self) -> WaitingQuestion | None:
        """The one question that is asked now."""
        return self.waiting[0] if self.waiting else None


class SeatQueue:
    """The queue. Not thread-safe: only the daemon's loop calls it.

    Args:
        closed_kept: How many closed keys to remember.
    """

    def __init__(self, *, closed_kept: int = CLOSED_KEPT) -> None:
        self._waiting: dict[RequestKey, WaitingQuestion] = {}
        self._closed: dict[RequestKey, Closed] = {}
        self._closed_kept = closed_kept

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: RequestKey) -> bool:
        return key in self._waiting

    def add(self, question: WaitingQuestion) -> Admission:
        """Put a question at the end, unless its key waits or was closed already.

        Returns:
            `ADDED`, or why not. On `CHANGED` another request lies under a waiting id: the question on screen stays as
            it is, and the caller should close it, because nobody was asked about the new content.
        """
        if question.key in self._closed:
            return Admission.CLOSED
        waiting = self._waiting.get(question.key)
        if waiting is not None:
            return Admission.WAITING if waiting.digest == question.digest else Admission.CHANGED
        self._waiting[question.key] = question
        return Admission.ADDED

    def get(self, key: RequestKey) -> WaitingQuestion | None:
        """Give the waiting question of that key."""
        return self._waiting.get(key)

    def front(self) -> WaitingQuestion | None:
        """Give the one question that is asked now: the oldest that waits."""
        return next(iter(self._waiting.values()), None)

    def waiting(self) -> tuple[WaitingQuestion, ...]:
        """Give everything that waits, oldest first."""
        return tuple(self._waiting.values())

    def view(self) -> QueueView:
        """Give a snapshot for interfaces."""
        return QueueView(waiting=self.waiting(), closed=MappingProxyType(self._closed))

    def groups(self) -> tuple[Group, ...]:
        """Group what waits by what is asked: for display only; every question keeps its own answer."""
        return grouped(self._waiting.values())

    def answer(self, key: RequestKey, digest: str | None, reply: Reply, *, now: float, by: str) -> Answered:
        """Take an answer. The first one wins.

        Args:
            key: Which question.
            digest: Digest of the request that was on screen; None when the interface did not say. Then the key has to
                do, which it can, because a second content under the same key is never asked.
            reply: The answer.
            now: Seconds of the clock that deadlines are in. From its deadline on a question takes no answer.
            by: Who answers; later answers are told.

        Returns:
            `Accepted` closes the question. Everything else changes nothing, except that a question found expired is
            closed as such.
        """
        question = self._waiting.get(key)
        if question is None:
            closed = self._closed.get(key)
            return AlreadyDecided(closed=closed) if closed is not None else UnknownQuestion()
        if now >= question.deadline:
            closed = Closed(how="expired")
            self._close(key, closed)
            return AlreadyDecided(closed=closed)
        if digest is not None and digest != question.digest:
            return Stale()
        words = reply_refusal(question.prompt, reply)
        if words:
            return RefusedReply(words=words)
        self._close(key, Closed(how=_how(reply), by=by))
        return Accepted(question=question, reply=reply)

    def close(self, key: RequestKey, closed: Closed) -> WaitingQuestion | None:
        """Close a question that nobody at the seat answered: withdrawn, expired, covered by a new rule.

        Returns:
            The question; None when it was not waiting. A key that never waited is remembered as closed all the same, so
            that it cannot be added later. How a closed question ended never changes.
        """
        return self._close(key, closed)

    def _close(self, key: RequestKey, closed: Closed) -> WaitingQuestion | None:
        question = self._waiting.pop(key, None)
        self._closed.setdefault(key, closed)
        while len(self._closed) > self._closed_kept:
            del self._closed[next(iter(self._closed))]
        return question


def grouped(questions: Iterable[WaitingQuestion]) -> tuple[Group, ...]:
    """Group questions that ask the same; the groups are in the order of their first questions."""
    groups: dict[object, list[WaitingQuestion]] = {}
    for question in questions:
        groups.setdefault(likeness(question.prompt), []).append(question)
    return tuple(Group(questions=tuple(members)) for members in groups.values())


def reply_refusal(prompt: Prompt, reply: Reply) -> str:
    """Say why a question does not take an answer, and what to do instead; empty when it does.

    Not checked here: whether patterns of the reply match the request, and whether a rule can have its scope
    (`session_rules/proposal.py`).
    """
    named = (reply.inbox if reply.inbox is not None else prompt.inbox, reply.id if reply.id is not None else prompt.id)
    if named != prompt.key:
        return "the answer names another request; nothing was answered"
    if reply.reply is not ReplyKind.ALWAYS:
        return ""
    if prompt.only_human:
        return 'a rule says only = "human" here: answer `once` or `reject`'
    if prompt.is_grave:
        return f"a {prompt.danger} request is never allowed for later ones: answer `once` or `reject`"
    if not prompt.suggestions and not reply.patterns:
        return "nothing is suggested for `always` here: name a pattern, or answer `once` or `reject`"
    return ""


def _how(reply: Reply) -> str:
    match reply.reply:
        case ReplyKind.ONCE:
            return "approved once"
        case ReplyKind.ALWAYS:
            return "approved always"
        case ReplyKind.REJECT:
            return "rejected"


def likeness(prompt: Prompt) -> tuple[str, tuple[str, ...], str, str, str, tuple[PromptUnit, ...]]:
    """Give what must be equal for two questions to be shown as one: facts, the requester's parent, and the findings."""
    parent = prompt.chain[-2] if len(prompt.chain) > 1 else prompt.inbox
    return (prompt.surface, prompt.values, prompt.cwd, parent, prompt.danger, prompt.units)

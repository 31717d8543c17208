"""Prompts and replies as files: the daemon's side.

Lives here: `PromptFiles` (open questions laid out for any interface to read) and `ReplyBox` (answers left by any
interface). Never here: which answer wins (`queue.py`), the other side (`counter.py`).

A reply counts once this process has removed its file. Until then its sender can remove the file instead; only one of
the two succeeds, so the sender knows whether the reply counts. Direction of every failure: the question goes on
waiting.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from fwdperm.errors import ChildError, OperatorError
from fwdperm.inbox import (
    PRIVATE_MODES,
    AbsentFile,
    BadFile,
    UnreadableCode,
    WholeFile,
    held_directory,
    os_error_words,
    read_regular,
    remove_file,
    replace_file,
)
from fwdperm.seat.names import OUTCOMES, PROMPTS, REPLIES, SUFFIX, is_command, key_in, stem_of, stems_in
from fwdperm.seat.queue import Accepted, AlreadyDecided, RefusedReply, Stale, UnknownQuestion
from fwdperm.settings import HALF_WRITTEN_S, REPLY_BYTES, UNCONSUMED_S
from fwdperm.wire import Fate, ReplyKind, ReplyOutcome, encode_form, parse_reply, parse_rule_command

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.inbox import Identity
    from fwdperm.seat.queue import Answered
    from fwdperm.wire import Prompt, Reply, RequestKey, RuleCommand

_AT_ONCE: Final = 256
"""Replies read in one call, so that very many files do not hold up the loop; the rest is read in the next one."""


class PromptFiles:
    """The open questions, one file each, readable by their owner alone.

    Args:
        state: The state directory.

    Attributes:
        trouble: Why the last change did not reach the disk; empty when it did. Such a question is still asked at the
            terminal.
    """

    def __init__(self, state: Path) -> None:
        self._state = str(state)
        self.trouble = ""

    def clear(self) -> None:
        """Remove all prompts of an earlier daemon. Requests that still wait are decided again, and get new ones."""
        self.trouble = _empty(self._state, PROMPTS)

    def put(self, prompt: Prompt) -> None:
        """Write a prompt's file, whole at once. Never raises OSError: see `trouble`."""
        try:
            name = stem_of(prompt.key) + SUFFIX
            with held_directory(self._state, (PROMPTS,), create=PRIVATE_MODES) as at:
                replace_file(name, encode_form(prompt), at=at)
            self.trouble = ""
        except (OSError, ChildError, ValueError) as error:
            self.trouble = f"cannot lay out the prompt `{prompt.id}`: {_said(error)}"

    def take(self, key: RequestKey) -> None:
        """Remove a prompt's file. Never raises OSError; whoever answers one that stayed is told who decided."""
        try:
            name = stem_of(key) + SUFFIX
            with held_directory(self._state, (PROMPTS,)) as at:
                gone = remove_file(name, at=at)
            self.trouble = "" if gone else f"cannot remove the prompt `{key[1]}`"
        except FileNotFoundError:
            self.trouble = ""
        except (OSError, ChildError) as error:
            self.trouble = f"cannot remove the prompt `{key[1]}`: {_said(error)}"


@dataclass(frozen=True, slots=True)
class ReceivedReply:
    """A reply that can be read.

    Attributes:
        name: Its file's name, for `publish_outcome`.
        key: The question it is for.
        reply: What it says.
    """

    name: str
    key: RequestKey
    reply: Reply


@dataclass(frozen=True, slots=True)
class Unusable:
    """A file in the reply box that answers nothing; its sender has been told why.

    Attributes:
        name: Its file's name.
        words: Why, for the log.
    """

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class ReceivedCommand:
    """A command about session rules that can be read.

    Attributes:
        name: Its file's name, for `publish_word`.
        command: What it says.
    """

    name: str
    command: RuleCommand


Received: TypeAlias = ReceivedReply | ReceivedCommand | Unusable


class ReplyBox:
    """The answers people leave as files.

    Args:
        state: The state directory. Only files of its owner are read.

    Attributes:
        trouble: Why the box could not be read or emptied; empty when it could.
    """

    def __init__(self, state: Path) -> None:
        self._state = str(state)
        self._unripe: dict[str, tuple[Identity | None, float]] = {}
        self._told: dict[str, float] = {}
        self.trouble = ""

    def prepare(self) -> None:
        """Make the box, so that it can be watched, and remove what an earlier daemon said of replies.

        Raises:
            OSError: When it cannot be made.
        """
        with held_directory(self._state, (REPLIES,), create=PRIVATE_MODES):
            pass
        self.trouble = _empty(self._state, OUTCOMES)

    def collect(self, *, now: float) -> list[Received]:
        """Take every reply out of the box.

        Args:
            now: Seconds of a monotonic clock.

        Returns:
            What came, in order of arrival. A file that does not parse is left alone for `settings.HALF_WRITTEN_S`, for
            it may still be written (`echo ... > replies/...` is not atomic), and then refused. A file that its sender
            takes back meanwhile is not among them. Never raises OSError: see `trouble`.
        """
        self._forget_told(now)
        try:
            with held_directory(self._state, (REPLIES,)) as at:
                names = sorted(name for name in os.listdir(at) if name.endswith(SUFFIX) and name[0] != ".")  # noqa: PTH208 - a descriptor
                self._unripe = {name: self._unripe[name] for name in names if name in self._unripe}
                self.trouble = ""
                found = [each for name in names[:_AT_ONCE] if (each := self._take(name, at=at, now=now)) is not None]
        except FileNotFoundError:
            return []
        except OSError as error:
            self.trouble = f"cannot read the replies: {_said(error)}"
            return []
        for _, received in found:
            if isinstance(received, Unusable):
                self.publish_outcome(received.name, RefusedReply(words=received.words), now=now)
        return [received for _, received in sorted(found, key=lambda each: each[0])]

    def publish_outcome(self, name: str, outcome: Answered, *, now: float) -> None:
        """Tell the sender of a reply what became of it. Never raises OSError: the answer counts all the same.

        Args:
            name: The reply's file name, as `collect` gave it.
            outcome: What became of it.
            now: Seconds of a monotonic clock; a file that nobody fetches is removed after `settings.UNCONSUMED_S`.
        """
        self.publish_word(name, told(outcome), now=now)

    def publish_word(self, name: str, word: ReplyOutcome, *, now: float) -> None:
        """Tell the sender of any file in the box what became of it; as `publish_outcome`."""
        try:
            with held_directory(self._state, (OUTCOMES,), create=PRIVATE_MODES) as at:
                replace_file(name, encode_form(word), at=at)
            self._told[name] = now
        except OSError as error:
            self.trouble = f"cannot tell what became of the reply `{name}`: {_said(error)}"

    def _take(self, name: str, *, at: int, now: float) -> tuple[int, Received] | None:
        """Read one file and remove it; None when it is not whole yet, or its sender took it back."""
        found = read_regular(name, at=at, cap=REPLY_BYTES, owner=os.geteuid())
        match found:
            case AbsentFile():
                return None
            case BadFile(reason=reason, identity=identity, code=code):
                received: Received = Unusable(name=name, words=reason.replace("the request", "the reply"))
                # A sender that publishes by a hard link has not removed the other name yet.
                if code is UnreadableCode.HARD_LINK and identity and not self._is_ripe(name, identity, now=now):
                    return None
            case WholeFile(data=data, identity=identity):
                received = _read(name, data)
                if isinstance(received, Unusable) and not self._is_ripe(name, identity, now=now):
                    return None
            case _:
                assert_never(found)
        try:
            os.unlink(name, dir_fd=at)
        except FileNotFoundError:
            return None  # its sender took it back: the reply never counted
        except OSError as error:
            self.trouble = f"cannot take the reply `{name}`: {_said(error)}"
            return None
        self._unripe.pop(name, None)
        return (identity.ctime_ns if identity is not None else 0, received)

    def _is_ripe(self, name: str, identity: Identity, *, now: float) -> bool:
        """Say whether a file that does not parse has stayed the same for `settings.HALF_WRITTEN_S`."""
        seen, since = self._unripe.get(name, (None, now))
        if seen != identity:
            self._unripe[name] = (identity, now)
            return False
        return now - since >= HALF_WRITTEN_S

    def _forget_told(self, now: float) -> None:
        old = [name for name, since in self._told.items() if now - since >= UNCONSUMED_S]
        if not old:
            return
        try:
            with held_directory(self._state, (OUTCOMES,)) as at:
                for name in old:
                    remove_file(name, at=at)
        except OSError as error:
            self.trouble = f"cannot remove outcomes: {_said(error)}"
        for name in old:
            del self._told[name]


_DONE: Final = {
    ReplyKind.ONCE: "approved once",
    ReplyKind.ALWAYS: "approved, and recorded for later",
    ReplyKind.REJECT: "rejected",
}


def told(outcome: Answered) -> ReplyOutcome:
    """Put what the queue says into words for the sender of a reply."""
    match outcome:
        case Accepted(reply=reply):
            return ReplyOutcome(outcome=Fate.ACCEPTED, words=_DONE[reply.reply])
        case AlreadyDecided(closed=closed):
            return ReplyOutcome(outcome=Fate.ALREADY_DECIDED, words=closed.words)
        case UnknownQuestion():
            return ReplyOutcome(outcome=Fate.UNKNOWN, words="no such request waits")
        case Stale():
            return ReplyOutcome(outcome=Fate.STALE, words="the request is not the one that was shown; look at it again")
        case RefusedReply(words=words):
            return ReplyOutcome(outcome=Fate.REFUSED, words=words)
        case _:
            assert_never(outcome)


def _read(name: str, data: bytes) -> Received:
    """Read a reply and find the question it is for: by its own id and inbox when it has them, else by its name."""
    try:
        if is_command(name):
            return ReceivedCommand(name=name, command=parse_rule_command(data))
        reply = parse_reply(data)
    except OperatorError as error:
        return Unusable(name=name, words=str(error))
    if reply.id is None or reply.inbox is None:
        key = key_in(name.removesuffix(SUFFIX))
        if key is None:
            return Unusable(name=name, words="reply: its name stands for no request; give `id` and `inbox`")
        return ReceivedReply(name=name, key=key, reply=reply)
    try:
        stem = stem_of((reply.inbox, reply.id))
    except ChildError as error:
        return Unusable(name=name, words=f"reply: {error.reason}")
    if stem not in stems_in(name):
        return Unusable(name=name, words="reply: its name stands for another request than its `id` and `inbox`")
    return ReceivedReply(name=name, key=(reply.inbox, reply.id), reply=reply)


def _empty(state: str, part: str) -> str:
    """Remove every file of a directory; give in words what could not be removed, empty when all was."""
    try:
        with held_directory(state, (part,), create=PRIVATE_MODES) as at:
            kept = [name for name in os.listdir(at) if not remove_file(name, at=at)]  # noqa: PTH208 - a descriptor
    except OSError as error:
        return f"cannot empty `{part}`: {_said(error)}"
    return f"cannot remove {len(kept)} files of `{part}`" if kept else ""


def _said(error: Exception) -> str:
    return os_error_words(error) if isinstance(error, OSError) else str(error)

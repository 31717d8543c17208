"""What the other rooms need of a transport, and the values that it gives and takes.

Lives here: the protocol, the letters, the outcomes. Never here: a file system. Something else, such as a message
broker, can take the place of the inbox tree by keeping these promises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


class UnreadableCode(StrEnum):
    """Why an entry in an inbox could not be read."""

    SYMLINK = "symlink"
    HARD_LINK = "hard-link"
    NOT_REGULAR = "not-regular"
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    FOREIGN_OWNER = "foreign-owner"
    BAD_NAME = "bad-name"


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file was read, to notice that it was replaced or rewritten. Other rooms only hand it back.

    Attributes:
        device: st_dev.
        inode: st_ino.
        ctime_ns: When the kernel last changed it, epoch nanoseconds: unlike mtime, nobody can forge it.
        size: Bytes.
    """

    device: int
    inode: int
    ctime_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class Mail:
    """One request as it was read, once.

    Attributes:
        inbox: The session whose inbox it lay in.
        stem: A request id: the file's own name, never text inside it.
        data: The bytes. Nothing reads the file again.
        digest: sha-256 of `data`, hex.
        ctime_ns: Arrival, epoch nanoseconds on the clock of the machine that keeps the file system.
        token: Hand it back to `gone` and `remove_request`.
    """

    inbox: str
    stem: str
    data: bytes = field(repr=False)
    digest: str
    ctime_ns: int
    token: Identity


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """One entry that could not be read; reported once for as long as it stays the same.

    Attributes:
        inbox: The session whose inbox it lay in.
        stem: The file's stem; a request id unless `code` is BAD_NAME (answer it then), empty when the directory
            itself could not be read.
        code: What was wrong, for the record.
        reason: What was wrong, in words for whoever waits.
        ctime_ns: As in Mail; 0 when it could not be learned.
        token: As in Mail; None when there is nothing that could be removed.
    """

    inbox: str
    stem: str
    code: UnreadableCode
    reason: str
    ctime_ns: int = 0
    token: Identity | None = None


Letter: TypeAlias = Mail | UnreadableEntry


@dataclass(frozen=True, slots=True)
class Published:
    """The answer can be seen, whole."""


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """An answer of that name exists; it was not touched."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing was published; the requester goes on waiting. Try again later.

    Attributes:
        reason: What the machine said.
    """

    reason: str


PublishOutcome: TypeAlias = Published | AlreadyThere | Failed


@dataclass(frozen=True, slots=True)
class Unread:
    """An answer nobody has consumed yet.

    Attributes:
        stem: The request's id.
        age_s: Seconds since it was published, by the local clock; never negative.
    """

    stem: str
    age_s: float


class Transport(Protocol):
    """How requests come in and answers go out. One caller, one thread, except `beat` and `unbeat`."""

    def ensure(self, session: str) -> None:
        """Make the session's inbox ready for its children.

        Raises:
            ChildError: For an id that cannot name an inbox.
            EnvironmentFailure: When it could not be made. Nobody is served there; nothing is allowed.
        """
        ...

    def sessions(self) -> tuple[str, ...]:
        """List every session that has an inbox, served or not."""
        ...

    def pending(self, only: set[str] | None = None) -> list[Letter]:
        """Hand out what is new, in order of arrival, each thing once.

        Args:
            only: Look into these inboxes only; None looks into all of them.

        Returns:
            Requests, and entries that could not be read. The work of a call is bounded; `behind` names the inboxes in
            which something was left for the next call. Never raises: an inbox that cannot be read is an
            UnreadableEntry.
        """
        ...

    def behind(self) -> frozenset[str]:
        """Name the inboxes where the last `pending` left something unread: call it again soon."""
        ...

    def respond(self, inbox: str, stem: str, payload: bytes) -> PublishOutcome:
        """Publish an answer, whole or not at all, never over another one."""
        ...

    def gone(self, keys: Iterable[tuple[str, str, Identity]]) -> set[tuple[str, str]]:
        """Say which of these (inbox, stem, token) were withdrawn: no longer there, or another file now.

        Where that cannot be seen (an unreadable directory), the request counts as still there.
        """
        ...

    def remove_request(self, letter: Letter) -> bool:
        """Remove a request that was answered, if it is still the one that was read.

        Returns:
            False when it is another file now (a new request), or cannot be removed.
        """
        ...

    def responses(self, inbox: str) -> tuple[Unread, ...]:
        """List the answers nobody has consumed."""
        ...

    def remove_response(self, inbox: str, stem: str) -> bool:
        """Remove an answer that was not read in time: an unused approval must not stay. True when it is gone."""
        ...

    def beat(self, session: str, payload: bytes) -> None:
        """Publish a heartbeat, whole, over the last one. Any thread.

        Raises:
            EnvironmentFailure: When it could not be written. Children then see it age and give up: fails closed.
        """
        ...

    def unbeat(self, session: str) -> None:
        """Withdraw a heartbeat; one that is not there is fine. Any thread. Raises as `beat` does."""
        ...

    def forget(self, session: str) -> None:
        """Forget which requests were handed out of an inbox whose session has ended. Those still in it count as new."""
        ...

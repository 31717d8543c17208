"""What is known of one inbox: what was handed out, what is left to read, and how much one call may do.

Lives here: telling new files from known ones, the budget. Never here: which inboxes there are, what a request means.

What is remembered stays as small as the directory: at the end of each listing, names that were not in it are forgotten.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from fwdperm.inbox import safe_reading
from fwdperm.inbox.layout import mail_stem
from fwdperm.inbox.protocol import Identity, Letter, Mail, UnreadableCode, UnreadableEntry
from fwdperm.settings import HALF_WRITTEN_S, REQUEST_BYTES
from fwdperm.wire import is_request_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INBOX_FILES: Final = 128
"""Files read from one inbox in one call. Reading them takes 3 ms; deciding, recording and answering them takes 50 ms,
and all other inboxes wait that long."""
_INBOX_BYTES: Final = 8 << 20
"""Bytes read from one inbox in one call; at least one file is always read."""
_INBOX_NAMES: Final = 32_768
"""Names listed in one inbox in one call: about 10 ms. A longer listing goes on in the next call."""
_INBOX_LOOKS: Final = 4_096
"""Names looked at more closely (one system call each) in one call."""
_CALL_FILES: Final = 512
"""Files read in one call over all inboxes: 0.2 s until the last of them is answered."""
_CALL_BYTES: Final = 32 << 20
_SETTLED_NS: Final = 2_000_000_000
"""Nanoseconds. A file system's clock may be that coarse: two changes within this time can leave the same ctime."""
_LINK_LOOKS: Final = 8
"""Looks at a file with two names before it is left for later: its writer has given it the second name, and has not
removed the temp name yet."""


class DirectoryStamp(NamedTuple):
    """A directory and when it last changed."""

    device: int
    inode: int
    ctime_ns: int


def stamp_of(status: os.stat_result) -> DirectoryStamp:
    """Take a directory's stamp. Take it before listing: a change meanwhile then shows."""
    return DirectoryStamp(status.st_dev, status.st_ino, status.st_ctime_ns)


def is_settled(stamp: DirectoryStamp, *, now_ns: int) -> bool:
    """Say whether any later change of the directory is sure to show in its stamp: the last one is long enough ago."""
    return now_ns - stamp.ctime_ns > _SETTLED_NS


class ReadBudget:
    """What one call may still read, over all inboxes."""

    def __init__(self) -> None:
        self.files = _CALL_FILES
        self.bytes = _CALL_BYTES

    @property
    def is_spent(self) -> bool:
        """True when the next inbox has to wait for the next call."""
        return self.files <= 0 or self.bytes <= 0

    def spend(self, size: int) -> None:
        """Take one file of `size` bytes off."""
        self.files -= 1
        self.bytes -= size


class InboxScanner:
    """Looks through one inbox's `requests/`, and remembers what it saw.

    Args:
        session: Whose inbox.
        place: Where it lies below `sessions/`.
        owner: The uid its files must have; None allows any.
        clock: A clock that only goes forward, seconds.
    """

    def __init__(self, session: str, *, place: str, owner: int | None, clock: Callable[[], float]) -> None:
        self.place = place
        self._session = session
        self._owner = owner
        self._clock = clock
        self._seen: dict[str, Identity] = {}  # files that were handed out, by name
        self._present: set[str] = set()  # names seen by the listing that is under way
        self._left: list[tuple[int, str]] = []  # new files that no budget was left for: (ctime, name)
        self._two_names: dict[str, float] = {}  # files with two names, and when each was first seen so
        self._listing: Iterator[os.DirEntry[str]] | None = None  # a listing that goes on in the next call
        self._settled: DirectoryStamp | None = None  # set when nothing was there and a change would show in the stamp
        self._trouble: int | None = None  # the errno that was last reported for the directory

    @property
    def is_behind(self) -> bool:
        """True when the last call left names unlisted or files unread."""
        return self._listing is not None or bool(self._left)

    @property
    def is_settled(self) -> bool:
        """True when the last listing found nothing, and `is_unchanged` can tell whether that is still so."""
        return self._settled is not None

    @property
    def settled_at(self) -> tuple[int, int] | None:
        """Device and inode of the directory, if it was quiet when it was last looked at."""
        return (self._settled.device, self._settled.inode) if self._settled is not None else None

    def is_unchanged(self, status: os.stat_result) -> bool:
        """Say whether the directory is empty of mail and stood still since its last full listing."""
        settled = self._settled
        return (
            settled is not None
            and status.st_ctime_ns == settled.ctime_ns
            and status.st_ino == settled.inode
            and status.st_dev == settled.device
        )

    def take(self, at: int, *, budget: ReadBudget, now_ns: int) -> list[Letter]:
        """Read what is new.

        Args:
            at: Descriptor of `requests/`.
            budget: What the whole call may still read.
            now_ns: Wall clock, epoch nanoseconds.
        """
        self._trouble = None
        self._settled = None
        before = stamp_of(os.fstat(at))
        fresh = self._left or self._list(at)
        fresh.sort()
        letters: list[Letter] = []
        own = ReadBudget()
        own.files, own.bytes = _INBOX_FILES, _INBOX_BYTES
        done = 0
        for _, name in fresh:
            if own.is_spent or budget.is_spent:
                break
            done += 1
            letter = self._open(name, at=at)
            size = len(letter.data) if isinstance(letter, Mail) else 0
            own.spend(size)
            budget.spend(size)
            if letter is not None:
                letters.append(letter)
        self._left = fresh[done:]
        idle = not (self._seen or self._two_names or self.is_behind)
        if idle and is_settled(before, now_ns=now_ns):
            self._settled = before
        return letters

    def _list(self, at: int) -> list[tuple[int, str]]:
        """Go on listing, or begin anew; return (ctime, name) of what is not known."""
        if self._listing is None:
            self._listing = os.scandir(at)
            self._present = set()
        fresh: list[tuple[int, str]] = []
        looks = _INBOX_LOOKS
        many = len(self._seen) > _INBOX_LOOKS
        for _ in range(_INBOX_NAMES):
            entry = next(self._listing, None)
            if entry is None:
                self._finish_pass()
                return fresh
            name = entry.name
            if mail_stem(name) is None:
                continue
            self._present.add(name)
            known = self._seen.get(name)
            if many and known is not None and known.inode == entry.inode():
                continue  # with so many files, one that was rewritten in place (same inode) is not noticed
            looks -= 1
            status = safe_reading.status_of(name, at=at)
            if status is not None and (known is None or safe_reading.identify(status) != known):
                fresh.append((status.st_ctime_ns, name))
            if looks <= 0:
                break
        return fresh

    def _finish_pass(self) -> None:
        self._close_listing()
        present = self._present
        if len(present) < len(self._seen) or not present.issuperset(self._seen):
            self._seen = {name: known for name, known in self._seen.items() if name in present}
        if self._two_names:
            self._two_names = {name: since for name, since in self._two_names.items() if name in present}
        self._present = set()

    def _open(self, name: str, *, at: int) -> Letter | None:
        stem = mail_stem(name) or ""
        if not is_request_id(stem):
            return self._misnamed(name, stem, at=at)
        found = safe_reading.read_regular(name, at=at, cap=REQUEST_BYTES, owner=self._owner)
        match found:
            case safe_reading.WholeFile():
                self._two_names.pop(name, None)
                self._seen[name] = found.identity
                ctime_ns = found.identity.ctime_ns
                return Mail(self._session, stem, found.data, found.digest, ctime_ns, found.identity)
            case safe_reading.BadFile(code=UnreadableCode.HARD_LINK) if self._is_young(name):
                return self._second_look(name, at=at)
            case safe_reading.BadFile():
                return self._refuse(name, stem, found, at=at)
            case safe_reading.AbsentFile():
                return None
            case _:
                assert_never(found)

    def _is_young(self, name: str) -> bool:
        """Say whether the writer of a file with two names may still be about to remove one of them."""
        since = self._two_names.setdefault(name, self._clock())
        return self._clock() - since < HALF_WRITTEN_S

    def _second_look(self, name: str, *, at: int) -> Letter | None:
        """Wait some microseconds for the writer to remove the other name; else leave the file to a later call."""
        for _ in range(_LINK_LOOKS):
            os.sched_yield()
            status = safe_reading.status_of(name, at=at)
            if status is None or status.st_nlink == 1:
                self._two_names.pop(name, None)
                return None if status is None else self._open(name, at=at)
        return None

    def _refuse(self, name: str, stem: str, bad: safe_reading.BadFile, *, at: int) -> UnreadableEntry | None:
        identity = bad.identity
        if identity is None:
            status = safe_reading.status_of(name, at=at)
            if status is None:
                return None
            identity = safe_reading.identify(status)
        self._seen[name] = identity
        return UnreadableEntry(self._session, stem, bad.code, bad.reason, identity.ctime_ns, identity)

    def _misnamed(self, name: str, stem: str, *, at: int) -> UnreadableEntry | None:
        reason = "the file's name is not a request id, expected letters, digits, `.`, `_`, `-`, at most 128"
        return self._refuse(name, stem, safe_reading.BadFile(UnreadableCode.BAD_NAME, reason), at=at)

    # -- what is not a listing ---------------------------------------------------------------------------------
    def drop(self, name: str) -> None:
        """Forget one name: its file was removed."""
        self._seen.pop(name, None)

    def empty(self) -> None:
        """Forget everything: the directory is not there."""
        self.close()
        self._seen.clear()
        self._left.clear()
        self._two_names.clear()
        self._settled = None
        self._trouble = None

    def trouble(self, error: OSError) -> UnreadableEntry | None:
        """Report a directory that cannot be read, once for as long as it stays that way."""
        self.close()
        self._left.clear()
        self._settled = None
        if self._trouble == error.errno:
            return None
        self._trouble = error.errno
        return UnreadableEntry(
            self._session,
            "",
            UnreadableCode.UNREADABLE,
            f"the inbox's requests directory cannot be read: {safe_reading.os_error_words(error)}",
        )

    def close(self) -> None:
        """Let go of a listing that is under way."""
        self._close_listing()

    def _close_listing(self) -> None:
        if self._listing is not None:
            close = getattr(self._listing, "close", None)
            if close is not None:
                close()
            self._listing = None

"""The inbox tree as a transport: which requests are new, which are gone, and where answers go.

Lives here: listing inboxes, remembering what was handed out, limiting the work of one call. Never here: what a request
means, when to look (the doorbell and the loop decide that), system calls on single files (`files.py`,
`safe_reading.py`).

A hostile file, very many files or an unreadable directory delay the inbox they are in by a bounded time, and no other.
"""

from __future__ import annotations

import errno
import os
import time
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.inbox import files, safe_reading
from fwdperm.inbox.beats import BeatFiles
from fwdperm.inbox.layout import REQUESTS, RESPONSES, SERVING, SESSIONS, TEMP_PREFIX, Layout, file_name, mail_stem
from fwdperm.inbox.mounts import file_system_type, is_shared
from fwdperm.inbox.open_directories import OpenDirectories
from fwdperm.inbox.protocol import Identity, Letter, PublishOutcome, Unread
from fwdperm.inbox.scanner import DirectoryStamp, InboxScanner, ReadBudget, is_settled, stamp_of
from fwdperm.settings import SESSION_ID_BYTES
from fwdperm.wire import decode_session, encode_session, is_request_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_TEMP_KEPT_S: Final = 60.0
"""Seconds after which a temp file in `responses/` must be left over from a crash: writing one takes milliseconds."""
_NAMES: Final = 32_768
_ANSWERS: Final = 4_096
"""Unread answers looked at in one inbox at a time: about 10 ms."""
_REMOVALS_KEPT: Final = 4096
"""Removals of our own that are remembered until the doorbell hears of them. More pile up only where no events come, and
there nobody asks for them."""
_encode = lru_cache(maxsize=4096)(encode_session)


class InboxTree:
    """The inboxes under one root, on a file system.

    Args:
        root: The inbox root. Links in this path are the operator's; below it none is followed.
        several_uids: Children run as other users of the root's group: foreign owners are read, directories are
            2770 and files 0640. Otherwise everything is private, and another user's file is refused.
        believes_times: Whether an unchanged directory time proves that nothing changed in it. Not so where other
            machines write, because times are cached there. None asks the mount table.
        now_ns: The wall clock, epoch nanoseconds.
        clock: A clock that only goes forward, seconds.
    """

    def __init__(
        self,
        root: Path,
        *,
        several_uids: bool = False,
        believes_times: bool | None = None,
        now_ns: Callable[[], int] = time.time_ns,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.layout = Layout(root)
        self.modes = files.GROUP_MODES if several_uids else files.PRIVATE_MODES
        self._root = os.fspath(root)
        self._doors = OpenDirectories(self._root)
        self._beats = BeatFiles(self._root, modes=self.modes, now_ns=now_ns)
        self._owner = None if several_uids else os.geteuid()
        self._now_ns = now_ns
        self._clock = clock
        self._times_are_live = not is_shared(file_system_type(root)) if believes_times is None else believes_times
        self._scanners: dict[str, InboxScanner] = {}
        self._behind: dict[str, None] = {}  # inboxes where something was left unread, longest waiting first
        self._sessions: dict[str, str | None] = {}  # session by directory name; None for a name that is no session's
        self._names: tuple[str, ...] = ()
        self._listed: DirectoryStamp | None = None  # of `sessions/`, while that stamp proves the listing to be current
        self._removed: set[tuple[str, str]] = set()  # our own removals: (directory name, file name)
        self._elsewhere: frozenset[str] = frozenset()  # sessions whose inboxes somebody else serves
        self._empty: dict[str, DirectoryStamp] = {}  # inboxes without answers, by the stamp that proves it
        self.looks = 0
        """How often an inbox was listed. While it stands still, no directory became another one."""

    @property
    def root(self) -> Path:
        """The inbox root."""
        return self.layout.root

    # -- inboxes -----------------------------------------------------------------------------------------------
    def ensure(self, session: str) -> None:
        """Make the session's directories and their sentinels. See Transport."""
        name = _encode(session)
        try:
            for parts in ((SESSIONS, name), (SESSIONS, name, REQUESTS), (SESSIONS, name, RESPONSES)):
                with files.held_directory(self._root, parts, create=self.modes) as at:
                    files.plant_sentinel(at=at, modes=self.modes)
            with files.held_directory(self._root, (SERVING,), create=self.modes):
                pass
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot make the inbox of `{session}`: {safe_reading.os_error_words(error)}"
            ) from error

    def sessions(self) -> tuple[str, ...]:
        """List every session that has a directory under `sessions/`. Names that encode no session are left alone."""
        try:
            at = self._doors.open(SESSIONS)
            stamp = stamp_of(os.fstat(at))
            if stamp == self._listed:
                return self._names
            with os.scandir(at) as entries:
                names = [entry.name for entry in entries if _is_directory(entry)]
        except OSError:
            self._listed, self._names, self._sessions = None, (), {}
            return ()
        known = self._sessions
        self._sessions = {name: known[name] if name in known else _decode(name) for name in names}
        self._names = tuple(session for session in self._sessions.values() if session is not None)
        # The time of a directory is coarse: a second change shortly after the first may leave the same time. So only a
        # time that is long enough ago proves, for as long as it stays the same, that the listing is complete.
        self._listed = stamp if self._times_are_live and is_settled(stamp, now_ns=self._now_ns()) else None
        return self._names

    def directories(self) -> dict[str, str]:
        """List the same inboxes as `sessions`, as encoded directory name -> session id."""
        self.sessions()
        return {name: session for name, session in self._sessions.items() if session is not None}

    def settled_at(self, session: str) -> tuple[int, int] | None:
        """Give device and inode of an inbox's `requests/`, if the last listing of it found it empty; else None."""
        scanner = self._scanners.get(session)
        return scanner.settled_at if scanner is not None else None

    def forget(self, session: str) -> None:
        """Forget what was handed out of an inbox. See Transport."""
        if (scanner := self._scanners.pop(session, None)) is not None:
            scanner.close()
        self._behind.pop(session, None)
        self._empty.pop(session, None)

    def close(self) -> None:
        """Let go of every listing that is under way, and of every open directory and heartbeat."""
        self._doors.close()
        self._beats.close()
        for session in tuple(self._scanners):
            self.forget(session)

    # -- requests ----------------------------------------------------------------------------------------------
    def pending(self, only: set[str] | None = None) -> list[Letter]:
        """Hand out what is new, in order of arrival (ctime, then name). See Transport."""
        wanted = self.sessions() if only is None else tuple(sorted(only))
        if only is None:
            for session in self._scanners.keys() - set(wanted):
                self.forget(session)
        # Inboxes that had to wait in the last call go first, the longest waiting one before the others.
        asked = set(wanted)
        order = [session for session in self._behind if session in asked]
        order += [session for session in wanted if session not in self._behind]
        budget = ReadBudget()
        found: list[Letter] = []
        try:
            at = self._doors.open(SESSIONS)
        except OSError as error:
            return self._rootless(error)
        order = [session for session in order if not self._is_quiet(session, at=at)]
        for session in order:
            self._behind.pop(session, None)
            if budget.is_spent:
                self._behind[session] = None
            else:
                self._look(session, budget=budget, found=found)
        found.sort(key=lambda letter: (letter.ctime_ns, letter.inbox, letter.stem))
        return found

    def behind(self) -> frozenset[str]:
        """Name the inboxes where something was left unread. See Transport."""
        return frozenset(self._behind)

    def _is_quiet(self, session: str, *, at: int) -> bool:
        """Say, with one `stat`, whether an inbox has nothing new: mostly that is so for nearly all of a thousand."""
        scanner = self._scanners.get(session)
        if scanner is None or not scanner.is_settled or not self._times_are_live:
            return False
        try:
            is_quiet = scanner.is_unchanged(os.stat(scanner.place, dir_fd=at, follow_symlinks=False))
        except OSError:
            return False
        if is_quiet:
            self._behind.pop(session, None)
        return is_quiet

    def _look(self, session: str, *, budget: ReadBudget, found: list[Letter]) -> None:
        try:
            name = _encode(session)
        except ChildError:
            return
        self.looks += 1
        scanner = self._scanners.get(session)
        if scanner is None:
            if session in self._elsewhere or self._beats.is_elsewhere(session):
                return  # a live parent answers its own children
            place = f"{name}/{REQUESTS}"
            scanner = self._scanners[session] = InboxScanner(session, place=place, owner=self._owner, clock=self._clock)
        try:
            found += scanner.take(self._doors.open(SESSIONS, name, REQUESTS), budget=budget, now_ns=self._now_ns())
        except FileNotFoundError:
            scanner.empty()
        except OSError as error:
            if (refused := scanner.trouble(error)) is not None:
                found.append(refused)
        if scanner.is_behind:
            self._behind[session] = None

    def _rootless(self, error: OSError) -> list[Letter]:
        """Give the letters where the root cannot be opened: none if it is missing, else one entry that says why, once.

        That entry names no inbox, so it is only counted and logged.
        """
        self._behind.clear()
        if error.errno == errno.ENOENT:
            return []
        scanner = self._scanners.setdefault("", InboxScanner("", place="", owner=self._owner, clock=self._clock))
        refused = scanner.trouble(error)
        return [] if refused is None else [refused]

    def gone(self, keys: Iterable[tuple[str, str, Identity]]) -> set[tuple[str, str]]:
        """Say which requests were withdrawn. See Transport.

        A file rewritten in place is still there; `pending` hands it out again.
        """
        by_inbox: dict[str, list[tuple[str, Identity]]] = {}
        for inbox, stem, token in keys:
            by_inbox.setdefault(inbox, []).append((stem, token))
        missing: set[tuple[str, str]] = set()
        for inbox, held in by_inbox.items():
            try:
                at = self._doors.open(SESSIONS, _encode(inbox), REQUESTS)
                for stem, token in held:
                    status = safe_reading.status_of(file_name(stem), at=at)
                    if status is None or (status.st_dev, status.st_ino) != (token.device, token.inode):
                        missing.add((inbox, stem))
            except FileNotFoundError:
                missing.update((inbox, stem) for stem, _ in held)
            except (OSError, ValueError, ChildError):
                continue  # not known to be gone: the question stays open until its deadline
        return missing

    def remove_request(self, letter: Letter) -> bool:
        """Remove an answered request if it is still the one that was read. See Transport."""
        if letter.token is None or not is_request_id(letter.stem):
            return False
        name = file_name(letter.stem)
        directory = _encode(letter.inbox)
        try:
            at = self._doors.open(SESSIONS, directory, REQUESTS)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        # Noted before the removal, not after: the doorbell may hear of it at once.
        self._expect_removal(directory, name)
        removed = files.remove_same_file(name, letter.token, at=at)
        if not removed:
            self._removed.discard((directory, name))
        if removed and (scanner := self._scanners.get(letter.inbox)) is not None:
            scanner.drop(name)
        return removed

    def _expect_removal(self, directory: str, name: str) -> None:
        if len(self._removed) >= _REMOVALS_KEPT:
            self._removed.clear()
        self._removed.add((directory, name))

    def was_own_removal(self, directory: str, name: str) -> bool:
        """Say whether a removal that the doorbell heard of was ours, which needs no turn. Only the first call says yes.

        Args:
            directory: The inbox's encoded name.
            name: The file's name.
        """
        try:
            self._removed.remove((directory, name))
        except KeyError:
            return False
        return True

    # -- responses ---------------------------------------------------------------------------------------------
    def respond(self, inbox: str, stem: str, payload: bytes) -> PublishOutcome:
        """Publish an answer. Makes missing directories again; never overwrites. See Transport."""
        name = file_name(stem)
        try:
            at = self._doors.open(SESSIONS, _encode(inbox), RESPONSES, create=self.modes)
        except OSError as error:
            return files.failed(error)
        return files.publish_file(name, payload, at=at, modes=self.modes)

    def responses(self, inbox: str) -> tuple[Unread, ...]:
        """List unconsumed answers; clears away temp files a crash left there. See Transport."""
        unread: list[Unread] = []
        try:
            place = (SESSIONS, _encode(inbox), RESPONSES)
            # A directory that was empty, and whose time has not changed, costs one `stat`: there may be a thousand.
            if inbox in self._empty:
                now = stamp_of(os.stat("/".join((self._root, *place)), follow_symlinks=False))  # noqa: PTH116
                if now == self._empty[inbox]:
                    return ()
                del self._empty[inbox]
            with files.held_directory(self._root, place) as at:
                stamp = stamp_of(os.fstat(at))
                names = _some_names(at)
                is_empty = not any(name.startswith(TEMP_PREFIX) or mail_stem(name) for name in names)
                if is_empty and self._times_are_live and is_settled(stamp, now_ns=self._now_ns()):
                    self._empty[inbox] = stamp
                for name in names:
                    stem = mail_stem(name)
                    if (stem is None or not is_request_id(stem)) and not name.startswith(TEMP_PREFIX):
                        continue
                    if (status := safe_reading.status_of(name, at=at)) is None:
                        continue
                    age_s = max(0.0, (self._now_ns() - status.st_ctime_ns) / 1e9)
                    if stem is not None:
                        unread.append(Unread(stem, age_s))
                    elif age_s > _TEMP_KEPT_S:  # a younger one may be an answer that is being written
                        files.remove_file(name, at=at)
        except OSError:
            return ()
        return tuple(unread)

    def remove_response(self, inbox: str, stem: str) -> bool:
        """Remove an unconsumed answer. See Transport."""
        try:
            with files.held_directory(self._root, (SESSIONS, _encode(inbox), RESPONSES)) as at:
                return files.remove_file(file_name(stem), at=at)
        except FileNotFoundError:
            return True
        except OSError:
            return False

    # -- served by others --------------------------------------------------------------------------------------
    def served_elsewhere(self, sessions: Iterable[str]) -> frozenset[str]:
        """Look where somebody else serves. `pending` leaves those inboxes alone until the next look.

        Args:
            sessions: Those we do not beat for. All others count as ours.
        """
        self._elsewhere = frozenset(session for session in sessions if self._beats.is_elsewhere(session))
        for session in self._elsewhere:
            self.forget(session)
        return self._elsewhere

    # -- heartbeat ---------------------------------------------------------------------------------------------
    def beat(self, session: str, payload: bytes) -> None:
        """Publish a heartbeat over the last one. See Transport."""
        self._beats.beat(session, payload)

    def unbeat(self, session: str) -> None:
        """Withdraw a heartbeat. See Transport."""
        self._beats.unbeat(session)


def _some_names(at: int) -> list[str]:
    """List the files in a directory, up to a limit; the rest is listed once the first ones are gone."""
    with os.scandir(at) as entries:
        files_only = (entry.name for entry in islice(entries, _NAMES) if not _is_directory(entry))
        return list(islice(files_only, _ANSWERS))


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _decode(name: str) -> str | None:
    return decode_session(name) if len(name) <= SESSION_ID_BYTES else None

"""A doorbell without a thread: one inotify instance that the event loop itself reads.

Lives here: which directories are watched, and after which event which inbox has to be listed (is `dirty`). Never here:
a request being read.

Each new watch rings for its inbox: what was written there before the watch existed caused no event, so the inbox has to
be listed after the watch is made.

The kernel watches an inode, not a name: a watch ends with a removed directory, and stays on one that was renamed away.
There is an event for both. In case it was lost, every `check` compares the inode that is watched with the one that now
has the name.
"""

from __future__ import annotations

import errno
import os
import secrets
import select
import time
from dataclasses import dataclass
from enum import IntEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.inbox import files, inotify, safe_reading
from fwdperm.inbox.health import WATCH_LIMIT, Health, Ring, WatchMode
from fwdperm.inbox.layout import REQUESTS, SESSIONS, TEMP_PREFIX, mail_stem
from fwdperm.wire import decode_session

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Collection, Iterable

    from fwdperm.inbox.inotify import InotifyEvent
    from fwdperm.inbox.tree import InboxTree

_SELF: Final = inotify.DELETE_SELF | inotify.MOVE_SELF
_ENTRIES: Final = inotify.CREATE | inotify.DELETE | inotify.MOVED_TO | inotify.MOVED_FROM
_FEW_WATCHES: Final = 200
_MANY_CHECKS: Final = 10
"""With more than `_FEW_WATCHES`, the kernel is asked only in every tenth check which of them still exist, because that
takes milliseconds. The other checks compare the watches with what the last listing, a second ago, found."""
_LOST: Final = _SELF | inotify.IGNORED | inotify.UNMOUNT


"""Events after which a watch no longer stands for the directory of that name."""


class _Kind(IntEnum):
    """Which level of the inbox tree a directory is on; OTHER for one that `watch_directory` was told."""

    __hash__ = int.__hash__  # that of `Enum` is slow, and places are looked up for every event
    ROOT = auto()
    SESSIONS = auto()
    INBOX = auto()
    REQUESTS = auto()
    OTHER = auto()


_MASK: Final = {
    _Kind.ROOT: _ENTRIES | _SELF,
    _Kind.SESSIONS: _ENTRIES | _SELF,
    _Kind.INBOX: _ENTRIES | _SELF,
    _Kind.REQUESTS: _ENTRIES | _SELF | inotify.CLOSE_WRITE,
    _Kind.OTHER: _ENTRIES | _SELF | inotify.CLOSE_WRITE,
}


class _Place(NamedTuple):
    """A directory we want to watch; `name` is the inbox's encoded name, or the name of an other directory."""

    kind: _Kind
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Watch:
    place: _Place
    watch: int
    device: int
    inode: int


class DescriptorBell:
    """See Doorbell.

    Args:
        tree: Whose inboxes.
        loop: The running loop; `on_ring` is called in its thread.
        on_ring: See Ring.

    Raises:
        OSError: When there is no instance to be had (EMFILE), or the root cannot be opened.
    """

    mode = WatchMode.DESCRIPTOR

    def __init__(self, tree: InboxTree, loop: asyncio.AbstractEventLoop, on_ring: Ring) -> None:
        self._tree = tree
        self._loop = loop
        self._on_ring = on_ring
        self._root = os.fspath(tree.root)
        self._by_place: dict[_Place, _Watch] = {}
        self._by_watch: dict[int, _Watch] = {}
        self._sessions: dict[str, str | None] = {}  # session by encoded name; None for a name that is no session's
        self._others: dict[str, Path] = {}  # what `watch_directory` was told
        self._unwatched: dict[
            _Place, int
        ] = {}  # places that could not be watched, with the errno: `check` rings for them
        self._said: set[str] = set()  # messages that were told and are still true
        self._news: list[str] = []  # messages for the next check to tell
        self._rearmed = 0
        self._checks = 0
        # The inboxes and the tree's count of looks when all watches were last compared; None forces a comparison.
        self._compared: tuple[tuple[str, ...], int] | None = None
        self._closed = False
        with files.held_directory(self._root, (SESSIONS,), create=tree.modes):
            pass
        self._inotify = inotify.Inotify()
        try:
            self._arm_everything()
            loop.add_reader(self._inotify.descriptor, self._on_readable)
        except BaseException:
            self._inotify.close()
            raise

    # -- the interface -----------------------------------------------------------------------------------------
    def watch_directory(self, path: Path, name: str) -> None:
        """Ring `name` on every change in `path`. See Doorbell."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._others[name] = path
        self._arm(_Place(_Kind.OTHER, name))

    def check(self) -> Health:
        """Compare every watch with what is there now. See Doorbell."""
        if self._closed:
            return Health(self.mode, is_alive=False)
        dirty: set[str | None] = set()
        try:
            self._revive(dirty)
        except OSError as error:
            return Health(
                self.mode,
                is_alive=False,
                messages=(f"the watch descriptor is lost: {safe_reading.os_error_words(error)}",),
            )
        self._checks += 1
        if len(self._by_watch) <= _FEW_WATCHES or self._checks % _MANY_CHECKS == 0:
            self._drop_dead()
        self._compare(dirty, believing=True)
        if not self._unwatched:
            self._said.clear()
        names = {self._ring_name(place) for place in self._unwatched}
        dirty |= names
        polled = frozenset(name for name in names if name is not None)
        messages, self._news = tuple(self._news), []
        rearmed, self._rearmed = self._rearmed, 0
        self._ring(dirty)
        return Health(self.mode, is_alive=True, polled=polled, rearmed=rearmed, messages=messages)

    def close(self) -> None:
        """Stop reading and drop every watch. See Doorbell."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._inotify.descriptor)
            self._inotify.close()

    def proves_itself(self, timeout_s: float) -> bool:
        """Write a file and wait for its event: True when events really come from this file system."""
        name = f"{TEMP_PREFIX}probe-{secrets.token_hex(8)}"
        deadline = time.monotonic() + timeout_s
        dirty: set[str | None] = set()
        try:
            with files.held_directory(self._root, (SESSIONS,)) as at:
                files.publish_file(name, b"", at=at)
                try:
                    while (rest := deadline - time.monotonic()) > 0:
                        select.select([self._inotify.descriptor], [], [], rest)
                        events = self._inotify.read()
                        self._take(events, dirty)
                        if any(event.name == name for event in events):
                            return True
                finally:
                    files.remove_file(name, at=at)
        except OSError:
            return False
        finally:
            self._loop.call_soon(self._ring, dirty)
        return False

    # -- events ------------------------------------------------------------------------------------------------
    def _on_readable(self) -> None:
        dirty: set[str | None] = set()
        self._take(self._inotify.read(), dirty)
        self._ring(dirty)

    def _ring(self, dirty: set[str | None]) -> None:
        if self._closed:
            return
        for name in (None,) if None in dirty else tuple(dirty):
            self._on_ring(name)

    def _take(self, events: list[InotifyEvent], dirty: set[str | None]) -> None:
        for event in events:
            if event.mask & inotify.OVERFLOW:
                self._drop_dead()
                self._compare(dirty)
                dirty.add(None)
                continue
            watched = self._by_watch.get(event.watch)
            if watched is None:
                continue
            if event.mask & _LOST:
                self._drop(watched)
                self._arm_below(watched.place, dirty)
                continue
            self._note(watched.place, event, dirty)

    def _note(self, place: _Place, event: InotifyEvent, dirty: set[str | None]) -> None:
        """Add to `dirty` what one event calls for listing, and watch a directory that has appeared."""
        match place.kind:
            case _Kind.REQUESTS:
                if event.mask & inotify.DELETE:
                    # Also for temp files: a writer that links its temp file to the request's name removes it last, and
                    # before that the request has two names and is not read.
                    if not self._tree.was_own_removal(place.name, event.name):
                        dirty.add(self._ring_name(place))
                elif mail_stem(event.name) is not None:
                    dirty.add(self._ring_name(place))
            case _Kind.OTHER:
                dirty.add(place.name)
            case _Kind.INBOX if event.name == REQUESTS:
                self._arm_below(_Place(_Kind.REQUESTS, place.name), dirty)
            case _Kind.SESSIONS if event.mask & inotify.IS_DIRECTORY:
                self._arm_below(_Place(_Kind.INBOX, event.name), dirty)
            case _Kind.ROOT if event.name == SESSIONS:
                self._arm_below(_Place(_Kind.SESSIONS), dirty)
            case _:
                pass

    # -- watches -----------------------------------------------------------------------------------------------
    def _arm_everything(self) -> None:
        self._compare(set())

    def _arm_below(self, place: _Place, dirty: set[str | None]) -> None:
        """Watch a place and all below it, the outermost first: what appears inside is then heard of in any case."""
        match place.kind:
            case _Kind.ROOT | _Kind.SESSIONS:
                self._compare(dirty)
            case _Kind.INBOX | _Kind.REQUESTS:
                if (name := self._ring_name(place)) is None:
                    return
                self._arm(_Place(_Kind.INBOX, place.name))
                self._arm(_Place(_Kind.REQUESTS, place.name))
                dirty.add(name)
            case _Kind.OTHER:
                self._arm(place)
                dirty.add(place.name)

    def _compare(self, dirty: set[str | None], *, believing: bool = False) -> None:
        """Watch every directory that is not watched, or that is not the one that is watched under its name.

        Args:
            dirty: What to ring for; added to.
            believing: When there are very many inboxes, do not look at those that the last listing found unchanged.
        """
        self._arm(_Place(_Kind.ROOT))
        if self._arm(_Place(_Kind.SESSIONS)):
            dirty.add(None)
        sessions = self._tree.directories()
        self._sessions.update(sessions)
        found = (self._tree.sessions(), self._tree.looks)
        believing = believing and len(sessions) > _FEW_WATCHES
        if not believing or found != self._compared:
            self._compared = found
            doubtful: Collection[str] = sessions
            if believing:
                doubtful = [name for name, one in sessions.items() if not self._is_settled(name, one)]
            for place in self._not_watched(doubtful):
                self._arm_below(place, dirty)
            for place in self._ended(sessions):
                dirty.add(self._ring_name(place))
                self._forget(place)
            self._sessions = dict(sessions)
        for name in self._others:
            if self._arm(_Place(_Kind.OTHER, name)):
                dirty.add(name)

    def _ended(self, sessions: Collection[str]) -> list[_Place]:
        """List the places of inboxes that are no longer there."""
        known = {place.name for places in (self._by_place, self._unwatched) for place in places}
        ended = known - self._others.keys() - set(sessions) - {""}
        return [_Place(kind, name) for name in ended for kind in (_Kind.INBOX, _Kind.REQUESTS)]

    def _is_settled(self, name: str, session: str) -> bool:
        """Say whether the last listing found nothing new in the directory, and it is the one that is watched."""
        watched = self._by_place.get(_Place(_Kind.REQUESTS, name))
        return watched is not None and self._tree.settled_at(session) == (watched.device, watched.inode)

    def _not_watched(self, sessions: Iterable[str]) -> list[_Place]:
        places = [_Place(_Kind.REQUESTS, name) for name in sessions]
        try:
            with files.held_directory(self._root, (SESSIONS,)) as at:
                return [place for place in places if not self._is_watched(place, at=at)]
        except OSError:
            return places

    def _is_watched(self, place: _Place, *, at: int) -> bool:
        watched = self._by_place.get(place)
        if watched is None:
            return False
        try:
            status = os.stat(f"{place.name}/{REQUESTS}", dir_fd=at, follow_symlinks=False)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == (watched.device, watched.inode)

    def _arm(self, place: _Place) -> bool:
        """Watch a place if the directory there is not the one that is watched. True when a watch was made."""
        try:
            at = self._open(place)
        except FileNotFoundError:
            self._forget(place)
            return False
        except OSError as error:
            self._cannot(place, error)
            return False
        try:
            status = os.fstat(at)
            old = self._by_place.get(place)
            if old is not None:
                if (old.device, old.inode) == (status.st_dev, status.st_ino):
                    return False
                self._drop(old)
            watch = self._inotify.add(at, _MASK[place.kind])
        except OSError as error:
            self._cannot(place, error)
            return False
        finally:
            os.close(at)
        made = _Watch(place, watch, status.st_dev, status.st_ino)
        self._by_place[place] = made
        self._by_watch[watch] = made
        self._unwatched.pop(place, None)
        self._rearmed += 1
        return True

    def _open(self, place: _Place) -> int:
        match place.kind:
            case _Kind.ROOT:
                return files.open_directory(self._root)
            case _Kind.SESSIONS:
                return files.open_directory(self._root, (SESSIONS,))
            case _Kind.INBOX:
                return files.open_directory(self._root, (SESSIONS, place.name))
            case _Kind.REQUESTS:
                return files.open_directory(self._root, (SESSIONS, place.name, REQUESTS))
            case _Kind.OTHER:
                return files.open_directory(os.fspath(self._others[place.name]))

    def _cannot(self, place: _Place, error: OSError) -> None:
        """Remember a place that cannot be watched, and tell the operator once."""
        self._forget(place)
        self._compared = None
        code = error.errno or errno.EIO
        if self._unwatched.get(place) != code:
            limit = code == errno.ENOSPC
            shown = place.name or place.kind.name.lower()
            message = (
                WATCH_LIMIT
                if limit
                else f"cannot watch `{shown}`: {safe_reading.os_error_words(error)}; it is listed on time"
            )
            if message not in self._said:
                self._said.add(message)
                self._news.append(message)
        self._unwatched[place] = code

    def _forget(self, place: _Place) -> None:
        if (watched := self._by_place.get(place)) is not None:
            self._drop(watched)
        self._unwatched.pop(place, None)

    def _drop(self, watched: _Watch) -> None:
        self._compared = None
        if self._by_place.get(watched.place) is watched:
            del self._by_place[watched.place]
        # A directory that was renamed within the tree is one watch under two places. Only the later place may end it.
        if self._by_watch.get(watched.watch) is watched:
            del self._by_watch[watched.watch]
            self._inotify.remove(watched.watch)

    def _drop_dead(self) -> None:
        """Drop the watches that the kernel no longer has.

        Comparing inodes does not find these: the kernel may have given the inode of a removed directory to a new one.
        """
        alive = self._inotify.alive()
        if alive is None:
            return
        for watched in [watched for watch, watched in self._by_watch.items() if watch not in alive]:
            self._drop(watched)

    def _ring_name(self, place: _Place) -> str | None:
        """Say what to ring for a place; None for a directory that is no inbox, and for those above all inboxes."""
        if place.kind is _Kind.OTHER:
            return place.name
        if place.kind in {_Kind.ROOT, _Kind.SESSIONS}:
            return None
        if place.name not in self._sessions:
            self._sessions[place.name] = decode_session(place.name)
        return self._sessions[place.name]

    # -- repair ------------------------------------------------------------------------------------------------
    def _revive(self, dirty: set[str | None]) -> None:
        """Make sure that the loop reads our inotify descriptor; open a new one if some code closed it.

        The reader is removed and added again, because a loop that has a reader for that number does nothing when told
        to add it, also when the kernel forgot about it meanwhile.
        """
        try:
            points_to = Path(f"/proc/self/fd/{self._inotify.descriptor}").readlink()
            is_ours = points_to.name == "anon_inode:inotify"
        except OSError:
            is_ours = False
        self._loop.remove_reader(self._inotify.descriptor)
        if not is_ours:
            self._inotify = inotify.Inotify()
            self._by_place.clear()
            self._by_watch.clear()
            dirty.add(None)
            self._news.append("the watch descriptor was closed under us; a new one was opened")
        self._loop.add_reader(self._inotify.descriptor, self._on_readable)

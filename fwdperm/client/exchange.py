"""One question's way through an inbox: publishing it, looking for the answer, removing both.

Lives here: `put` and `put_async`, `Exchange`, and the file operations of the asking side. Never here: what a question
says (`question.py`), what an answer means (`answer.py`). Standard library only, and nothing that is slow to import
(json, re, pathlib, typing, asyncio), because a process starts for every question.

Fails closed: an answer file that cannot be read safely is a denial.
"""

from __future__ import annotations

import os
import stat
import time

from fwdperm import settings
from fwdperm.client.answer import Answer, read_answer
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.wire import encode_session, is_request_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Self

    from fwdperm.client.answer import AnswerOutcome
    from fwdperm.client.question import Question

_RESPONSE_BYTES: Final = 1 << 18
"""Bytes of a response that are read: notes are short, and a forwarded decision nests at most four deep."""
_REMOVALS: Final = 8
"""How often publishing is tried again because another child has just removed the directories as empty, as pi does."""
_BEAT_LOOK_S: Final = 0.25
"""Seconds between looks at the heartbeat."""
_OPEN: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


def put(question: Question) -> Answer:
    """Publish a question and wait for its answer. The pauses between two looks grow."""
    with Exchange(question) as one:
        while (answer := one.look()) is None:
            time.sleep(one.pause_s())
        return answer


async def put_async(question: Question) -> Answer:
    """Do as `put` does, without blocking the event loop while waiting."""
    from asyncio import sleep  # noqa: PLC0415 - it costs four times the interpreter's start

    with Exchange(question) as one:
        while (answer := one.look()) is None:  # noqa: ASYNC110 - another process answers, by a file
            await sleep(one.pause_s())
        return answer


class Exchange:
    """One question's way through an inbox: published on entry, withdrawn on exit unless answered.

    Args:
        question: What to ask.
    """

    __slots__ = ("_beat", "_beat_look", "_ends", "_pause", "_pulse", "_question", "_request", "_response", "_tree")

    def __init__(self, question: Question) -> None:
        if not is_request_id(question.id):
            raise ChildError(f"request id {question.id[:80]!r} cannot name a file")
        asker = question.requester
        root, inbox = asker.root, encode_session(asker.inbox)
        self._question = question
        self._request = f"{root}/sessions/{inbox}/requests/{question.id}.json"
        self._response = f"{root}/sessions/{inbox}/responses/{question.id}.json"
        self._beat = f"{root}/serving/{inbox}.json"
        self._tree = _open_tree(root, trusted=asker.is_root_named)
        self._pause = settings.FIRST_LOOK_S
        self._ends = 0.0
        self._beat_look = 0.0
        self._pulse: _Pulse | None = None

    def __enter__(self) -> Self:
        """Publish the request.

        Raises:
            ChildError: The id was asked before.
            EnvironmentFailure: The inbox cannot be written to.
        """
        try:
            written = self._leave()
            now = time.monotonic()
            self._ends = now + self._question.wait_s
            self._beat_look = now + _BEAT_LOOK_S
            self._pulse = _Pulse(self._beat, started=now, file_clock=written)
        except FileExistsError:
            raise ChildError(f"request `{self._question.id}` was asked before; an id can be asked once") from None
        except OSError as error:
            raise EnvironmentFailure(f"cannot leave a request at `{self._request}`: {error.strerror}") from None
        except BaseException:
            # Interrupted, perhaps after the request was published; `__exit__` is not called when `__enter__` raises.
            self._withdraw_own()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the request, and an answer that nobody will read."""
        try:
            _remove(self._request)
        finally:
            _remove(self._response)

    def look(self) -> Answer | None:
        """Look once; return the answer, or None while there is none."""
        try:
            descriptor = os.open(self._response, _OPEN)
        except FileNotFoundError:
            return self._look_at_clock()
        except OSError as error:
            return self._over("denied", f"the answer cannot be opened: {error.strerror}")
        try:
            content = self._read(descriptor)
        except OSError as error:
            return self._over("denied", f"the answer cannot be read: {error.strerror}")
        finally:
            os.close(descriptor)
        if content is None:
            return self._over("denied", "what lies in the answer's place is no answer of the serving side")
        return read_answer(content, question=self._question)

    def pause_s(self) -> float:
        """Return the seconds to let pass before the next look: first one thousandth, backing off to a tenth."""
        pause = min(self._pause, max(self._ends - time.monotonic(), settings.FIRST_LOOK_S))
        self._pause = min(self._pause * 1.5, settings.LONGEST_LOOK_S)
        return pause

    def _withdraw_own(self) -> None:
        """Remove the request if its content is this question's: another process may have used the same id."""
        try:
            descriptor = os.open(self._request, _OPEN)
        except OSError:
            return
        try:
            is_ours = os.read(descriptor, len(self._question.content) + 1) == self._question.content
        finally:
            os.close(descriptor)
        if is_ours:
            _remove(self._request)

    def _leave(self) -> float:
        """Publish the request, making the directories again whenever another child has removed them as empty."""
        for _ in range(_REMOVALS):
            self._make_directories()
            try:
                return _publish(self._request, self._question.content, mode=self._tree.file_mode)
            except FileNotFoundError:
                continue
        self._make_directories()
        return _publish(self._request, self._question.content, mode=self._tree.file_mode)

    def _make_directories(self) -> None:
        requests = self._request.rpartition("/")[0]
        responses = self._response.rpartition("/")[0]
        inbox = requests.rpartition("/")[0]
        if not (os.path.isdir(requests) and os.path.isdir(responses)):
            for directory in (inbox.rpartition("/")[0], inbox, requests, responses):
                _make_directory(directory, mode=self._tree.directory_mode)

    def _look_at_clock(self) -> Answer | None:
        now = time.monotonic()
        if now >= self._ends:
            return self._over("expired", f"nobody answered within {self._question.wait_s:g} seconds")
        if now >= self._beat_look and self._pulse is not None:
            self._beat_look = now + _BEAT_LOOK_S
            if not self._pulse.beats(now):
                return self._over("unserved", f"nobody serves the inbox of session `{self._question.requester.inbox}`")
        return None

    def _read(self, descriptor: int) -> bytes | None:
        """Read a regular file that belongs to us or to the root's owner, and is not too long; None for anything else.

        It may have two names: one that was just published by a hard link keeps its temporary name for a moment.
        """
        is_ = os.fstat(descriptor)
        if not stat.S_ISREG(is_.st_mode) or is_.st_size > _RESPONSE_BYTES or is_.st_uid not in self._tree.uids:
            return None
        content = b""
        while len(content) <= _RESPONSE_BYTES and (more := os.read(descriptor, _RESPONSE_BYTES + 1 - len(content))):
            content += more
        return content if len(content) <= _RESPONSE_BYTES else None

    def _over(self, outcome: AnswerOutcome, reason: str) -> Answer:
        return Answer(outcome, request_id=self._question.id, reason=reason)


class _Pulse:
    """Says whether somebody serves: whether the heartbeat's file keeps changing.

    At first its age is the difference between two times of the same file system, the request's and the heartbeat's.
    After that it is the time, on our monotonic clock, since we last saw it change. So the clocks of two machines are
    never compared.
    """

    __slots__ = ("_changed", "_file_clock", "_mark", "_missed_since", "_path", "_started")

    def __init__(self, path: str, *, started: float, file_clock: float) -> None:
        self._path = path
        self._started = started
        self._file_clock = file_clock
        self._mark: tuple[int, int] | None = None
        self._changed = started
        self._missed_since: float | None = started

    def beats(self, now: float) -> bool:
        """Say whether somebody serves, or stopped less than `settings.NOBODY_GRACE_S` ago and may go on."""
        if self._is_fresh(now):
            self._missed_since = None
            return True
        if self._missed_since is None:
            self._missed_since = now
        return now - self._missed_since < settings.NOBODY_GRACE_S

    def _is_fresh(self, now: float) -> bool:
        try:
            is_ = os.lstat(self._path)
        except OSError:
            return False
        mark = (is_.st_ino, is_.st_mtime_ns)
        if self._mark is None:
            age = self._file_clock + (now - self._started) - is_.st_mtime_ns / 1e9
            self._changed = now - max(age, 0.0)
        elif mark != self._mark:
            self._changed = now
        self._mark = mark
        return now - self._changed <= settings.BEAT_STALE_S


class _Tree:
    """What the root's owner and mode say: whose answers count, and the modes of files and directories made in it."""

    __slots__ = ("directory_mode", "file_mode", "uids")

    def __init__(self, root: os.stat_result) -> None:
        self.uids = frozenset({os.geteuid(), root.st_uid})
        is_shared = root.st_mode & stat.S_IRWXG == stat.S_IRWXG
        self.directory_mode = 0o2770 if is_shared else 0o700
        self.file_mode = 0o640 if is_shared else 0o600


def _open_tree(root: str, *, trusted: bool) -> _Tree:
    """Make the root for this user alone, if it is missing; give what its owner and mode mean.

    Raises EnvironmentFailure for a default root that another user owns: that user could answer.
    """
    try:
        try:
            found = os.stat(root)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(root), 0o700, exist_ok=True)
            _make_directory(root, mode=0o700)
            found = os.stat(root)
    except OSError as error:
        raise EnvironmentFailure(f"cannot make the inbox tree `{root}`: {error.strerror}") from None
    if not trusted and found.st_uid != os.geteuid():
        raise EnvironmentFailure(f"`{root}` belongs to another user; name the inbox tree with `--root`")
    return _Tree(found)


def _make_directory(path: str, *, mode: int) -> None:
    """Make one directory, or find that another child was first."""
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        return
    if mode & stat.S_IWGRP:
        os.chmod(path, mode)  # the umask may have taken away the group's bits


def _publish(path: str, content: bytes, *, mode: int) -> float:
    """Publish a file whole, never replacing one; return its modification time by the file system's clock.

    A file without a name is tried first, because it has exactly one name once it can be seen. With a temporary file
    there is a moment with two, and a reader that refuses hard links may come just then.

    Raises:
        FileExistsError: The name is taken.
        OSError: The disk is full, the directory is gone, ...
    """
    if os.path.lexists("/proc/self/fd"):
        try:
            return _publish_nameless(path, content, mode=mode)
        except (FileExistsError, FileNotFoundError):
            raise
        except OSError:
            pass  # this file system has no nameless files, or it is full; then the next way fails, too
    return _publish_temporary(path, content, mode=mode)


def _publish_nameless(path: str, content: bytes, *, mode: int) -> float:
    directory, _, name = path.rpartition("/")
    holder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = os.open(".", os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, mode, dir_fd=holder)
        try:
            written = _write(descriptor, content)
            # `dst_dir_fd` makes Python call `linkat` with the flag that follows the link in `/proc` to the file.
            os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=holder)
        finally:
            os.close(descriptor)
    finally:
        os.close(holder)
    return written


def _publish_temporary(path: str, content: bytes, *, mode: int) -> float:
    temporary = f"{path.removesuffix('.json')}.{os.urandom(6).hex()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        try:
            written = _write(descriptor, content)
        finally:
            os.close(descriptor)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # no hard links here; a rename could replace another request, but ids are random or used once
            os.rename(temporary, path)
    finally:
        _remove(temporary)
    return written


def _write(descriptor: int, content: bytes) -> float:
    """Write everything, for one call may write only a part; return the file's modification time, epoch seconds."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return os.fstat(descriptor).st_mtime_ns / 1e9


def _remove(path: str) -> None:
    """Remove a file that may be gone already. What cannot be removed is left to the daemon."""
    try:
        os.unlink(path)
    except OSError:
        return

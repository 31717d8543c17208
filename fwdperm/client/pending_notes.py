"""Notes on approvals, kept for an agent that can only be told after its tool ran.

Lives here: leaving a note for one tool call and taking it, once. Never here: what a note says, an agent's words.
Standard library only, and little of it: agents look for a note after every tool call. Finding none takes one `stat`.

Layout: `<root>/notes/<digest of session, agent and call>.txt`. A call is known by its tool-use id or, where the agent
names none when it asks, by a digest of its input. Children can reach and change the notes; they are only words for the
agent, and permit nothing.

Fails without harm: a note that cannot be written or read does not reach the agent. Nobody waits for it, and it allows
nothing.
"""

from __future__ import annotations

import os
import stat
import time

from fwdperm import settings
from fwdperm.wire import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

KEPT_S: Final = 24 * 3600.0
"""Seconds that a note is kept for its tool to end. Later it could only reach another call with the same input."""
_BYTES: Final = 8 * settings.NOTE_CHARS
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def leave_note(root: str, *, session: str, agent: str, call: str, note: str) -> bool:
    """Leave a note for one call, replacing an earlier one for the same call; remove notes that were never taken.

    Args:
        root: The inbox tree.
        session: The session that asked.
        agent: Its agent name or id; empty for none.
        call: The call's id, or a digest of its input.
        note: The words.

    Returns:
        Whether it lies there now.
    """
    content = note[: settings.NOTE_CHARS * 2].encode(errors="replace")[:_BYTES]
    if not content.strip():
        return False
    name = _name(session, agent, call)
    try:
        holder = _open_directory(root)
    except OSError:
        return False
    temporary = f".{name}.{os.urandom(6).hex()}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600, dir_fd=holder)
        try:
            written = os.write(descriptor, content)
        finally:
            os.close(descriptor)
        if written != len(content):
            os.unlink(temporary, dir_fd=holder)
            return False
        os.rename(temporary, name, src_dir_fd=holder, dst_dir_fd=holder)
    except OSError:
        return False
    else:
        return True
    finally:
        _sweep(holder)
        os.close(holder)


def take_note(root: str, *, session: str, agent: str, call: str) -> str:
    """Take the note for one call: give it and remove it.

    Args:
        root: The inbox tree.
        session: The session that asked.
        agent: As it was left.
        call: As it was left.

    Returns:
        The words, once; empty when there are none, when they are too old, or when what lies there is no note.
    """
    path = f"{root}/notes/{_name(session, agent, call)}"
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ""
    try:
        mine = f"{path}.{os.urandom(6).hex()}.taken"
        os.rename(path, mine)  # of several processes one succeeds, so that no note is told twice
        try:
            return _read(mine) if time.time() - found.st_mtime < KEPT_S else ""
        finally:
            os.unlink(mine)
    except OSError:
        return ""


def _name(session: str, agent: str, call: str) -> str:
    parts = [part.encode(errors="surrogatepass") for part in (session, agent, call)]
    return digest_of(b"".join(b"%d:%s" % (len(part), part) for part in parts)) + ".txt"


def _open_directory(root: str) -> int:
    """Open the directory of notes, making it where it is missing; a link in its place is refused."""
    path = f"{root}/notes"
    try:
        return os.open(path, _DIRECTORY)
    except FileNotFoundError:
        if not os.path.lexists(path):
            _make_directory(path)
        return os.open(path, _DIRECTORY)


def _make_directory(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return  # another process was first


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        is_plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not is_plain or found.st_uid != os.geteuid() or found.st_size > _BYTES:
            return ""
        return os.read(descriptor, _BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)


def _sweep(holder: int) -> None:
    """Remove notes that were not taken in time."""
    before = time.time() - KEPT_S
    for name in os.listdir(holder):
        try:
            if os.stat(name, dir_fd=holder, follow_symlinks=False).st_mtime < before:
                os.unlink(name, dir_fd=holder)
        except OSError:
            continue

"""The journal's files: their names, their modes, and reading lines from them.

Lives here: `journal-000001.jsonl`, `head.json`, and what opening, truncating and syncing them takes.
Never here: what a line says.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from fwdperm.errors import EnvironmentFailure, OperatorError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE_BYTES: Final = 4 << 20
"""Bytes of one line, newline included. `sanitize.py` keeps records far shorter, so we wrote no longer line."""
HEAD: Final = "head.json"
_HEAD_BYTES: Final = 512
_PREFIX: Final = "journal-"
_SUFFIX: Final = ".jsonl"
_OPEN: Final = os.O_CLOEXEC | os.O_NOFOLLOW


class JournalFailed(EnvironmentFailure):
    """The disk would not take a line. What was appended is not recorded: no answer may be shown for it."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place between two lines.

    Attributes:
        seq: Number of the line before it; 0 at the very beginning.
        hash: That line's hash.
        file: Name of the segment.
        offset: Bytes from the segment's start.
    """

    seq: int
    hash: str
    file: str
    offset: int


def name_of(number: int) -> str:
    """Give the name of the segment with this number, from 1."""
    return f"{_PREFIX}{number:06d}{_SUFFIX}"


def number_of(name: str) -> int:
    """Give a segment's number; 0 for a name that is none."""
    digits = name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    number = int(digits) if digits.isascii() and digits.isdigit() else 0
    return number if name == name_of(number) else 0


def listing(directory: Path) -> list[Path]:
    """List the segments in order."""
    return sorted((path for path in directory.iterdir() if number_of(path.name)), key=lambda path: number_of(path.name))


def open_to_read(path: Path) -> BinaryIO:
    """Open a segment for reading, following no link."""
    return open(os.open(path, os.O_RDONLY | _OPEN), "rb", buffering=1 << 18)  # noqa: PTH123 - of a descriptor


def open_to_write(path: Path, *, is_new: bool) -> int:
    """Open a segment for writing and give its descriptor.

    A new segment must not exist yet; its name is durable when this returns.
    """
    if not is_new:
        return os.open(path, os.O_RDWR | _OPEN)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
    try:
        sync_directory(path.parent)
    except OSError:
        os.close(descriptor)
        path.unlink(missing_ok=True)
        raise
    return descriptor


def sync_directory(directory: Path) -> None:
    """Make names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes, offset: int) -> None:
    """Write at an offset; a short write is a full disk, whether or not the system calls it an error."""
    written = os.pwrite(descriptor, data, offset)
    if written != len(data):
        raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes were written")


def raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Give the lines from a stream's present position on, each with its newline; the last one may have none."""
    while raw := stream.readline(LINE_BYTES):
        yield raw


def line_before(path: Path, offset: int, length: int) -> bytes:
    """Give the `length` bytes of the line (newline included) that ends at `offset`."""
    with open_to_read(path) as stream:
        stream.seek(max(0, offset - length))
        return stream.read(length)


def last_line(path: Path) -> bytes:
    """Give a segment's last whole line without its newline; empty when there is none."""
    with open_to_read(path) as stream:
        end = stream.seek(0, os.SEEK_END)
        step = 1 << 16
        while True:
            start = max(0, end - step)
            stream.seek(start)
            lines = stream.read(end - start).split(b"\n")
            if len(lines) > 2 or start == 0:  # noqa: PLR2004 - a newline before it and one after it
                return lines[-2] if len(lines) > 1 else b""
            step *= 4


def publish(path: Path, data: bytes) -> None:
    """Replace a small file beside the log, so that readers see the old or the new one whole.

    Not synced: such a file can be made again from the log.
    """
    temporary = path.with_name(f".{path.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _OPEN, 0o600)
    try:
        write_all(descriptor, data, 0)
    finally:
        os.close(descriptor)
    temporary.replace(path)


def read_head(directory: Path) -> Point | None:
    """Give the place that the head names: all lines before it were acknowledged. None when it cannot be read."""
    try:
        descriptor = os.open(directory / HEAD, os.O_RDONLY | _OPEN)
    except OSError:
        return None
    try:
        return _point(os.pread(descriptor, _HEAD_BYTES, 0))
    finally:
        os.close(descriptor)


def _point(raw: bytes) -> Point | None:
    try:
        data = json.loads(raw)
        point = Point(data["seq"], data["hash"], data["file"], data["offset"])
    except (ValueError, KeyError, TypeError):
        return None
    shaped = type(point.seq) is int and type(point.offset) is int and type(point.hash) is str
    return point if shaped and type(point.file) is str and number_of(point.file) else None


class HeadFile:
    """`head.json`: the last acknowledged line, overwritten in place after every sync.

    The chain of hashes cannot show that whole lines were cut off at the end; this file does. It is not synced, because
    that would double the cost of a commit: after a power cut it may be older than the log, never newer. The lock on it
    keeps other writers of this machine out.
    """

    def __init__(self, directory: Path, *, locks: bool = True) -> None:
        """Open it, and lock it unless something else keeps other writers out.

        Raises:
            OperatorError: When another process writes this journal.
            OSError: When it cannot be opened.
        """
        self._descriptor = os.open(directory / HEAD, os.O_RDWR | os.O_CREAT | _OPEN, 0o600)
        if not locks:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise OperatorError(
                "another process writes this journal", file=str(directory), remedy="stop it, or use another root"
            ) from None

    def write(self, point: Point) -> bool:
        """Name a new last line; False when the disk refused, which loses evidence but no record."""
        # Written at every commit, and of our own names and numbers: formatting is quicker than a JSON encoder.
        text = f'{{"file":"{point.file}","hash":"{point.hash}","offset":{point.offset},"seq":{point.seq},"v":1}}'
        try:
            write_all(self._descriptor, text.ljust(_HEAD_BYTES - 1).encode() + b"\n", 0)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of the lock."""
        os.close(self._descriptor)

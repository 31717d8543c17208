"""Getting the journal into a state in which a line can be appended.

Lives here: what opening does about a torn tail and about damage. Never here: appending (`log.py`).

The journal is evidence. A damaged one must not stop the daemon from serving, and what was done to it must stay visible:

- Bytes at the end that were never acknowledged are cut off and kept in `torn-<seq>.bin`, and a record says so.
- Acknowledged lines that are missing or changed are left exactly as they are found. A new segment is begun, its first
  record says what was found where, every later `fwdperm audit verify` reports it, and `state.damage` is not 0.
- With a newer format, another writer, or a directory that cannot be read, the daemon does not start.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwdperm.journal.line import hash_of
from fwdperm.journal.record import RepairedRecord
from fwdperm.journal.segments import Point, last_line, listing, name_of, number_of, open_to_write, sync_directory

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.journal.replay import Replayed


@dataclass(frozen=True, slots=True)
class RecoveryPoint:
    """Where to write on.

    Attributes:
        point: After the last line; at the start of a new segment when the old one must not be written any more.
        is_new: Whether that segment has to be made.
        note: What must be recorded first; None when all was well.
    """

    point: Point
    is_new: bool
    note: RepairedRecord | None = None

    @property
    def was_cut(self) -> bool:
        """Say whether bytes were removed, so that the log has to be read again."""
        return self.note is not None and self.note.fault == "torn"


def make_appendable(directory: Path, replayed: Replayed, head: Point | None) -> RecoveryPoint:
    """Make the log appendable.

    Args:
        directory: The journal's.
        replayed: What reading it back found.
        head: What the head names; None without one.

    Returns:
        Where to write on, and what to record.

    Raises:
        OSError: When a torn tail cannot be kept or cut. Fails closed: nothing is served without a journal.
    """
    segments = listing(directory)
    if not segments:
        if head is not None and head.seq > 0:
            return _anew(directory, replayed, head, "cut", f"all {head.seq} lines are missing")
        return RecoveryPoint(Point(0, replayed.end.hash, name_of(1), 0), is_new=True)
    fault = replayed.faults[0] if replayed.faults else None
    if head is not None and head.seq > replayed.end.seq:
        what = f"the head names line {head.seq}, the log ends at {replayed.end.seq}"
        return _anew(directory, replayed, head, "cut", what)
    if fault is None:
        return RecoveryPoint(replayed.end, is_new=False)
    is_last_file = fault.file == segments[-1].name
    if is_last_file and _was_never_acknowledged(replayed, head):
        return _cut(directory, replayed)
    what = f"at byte {fault.offset} of {fault.file}: {fault.what}"
    return _anew(directory, replayed, head, "broken", what)


def _was_never_acknowledged(replayed: Replayed, head: Point | None) -> bool:
    """Say whether the first fault lies behind the last line that the head names as acknowledged.

    Without a head that is only assumed of the very last line: whole lines after the fault show that it is no torn
    write.
    """
    fault = replayed.faults[0]
    if head is None:
        return replayed.end == replayed.sound
    if number_of(head.file) != number_of(fault.file):
        return number_of(head.file) < number_of(fault.file)
    return fault.offset >= head.offset


def _cut(directory: Path, replayed: Replayed) -> RecoveryPoint:
    """Cut everything after the last sound line, keep it beside the log, and say so."""
    point = replayed.sound
    kept = f"torn-{point.seq + 1}.bin"
    descriptor = open_to_write(directory / point.file, is_new=False)
    try:
        size = os.fstat(descriptor).st_size
        torn = os.pread(descriptor, size - point.offset, point.offset)
        _keep(directory / kept, torn)
        os.ftruncate(descriptor, point.offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    detail = replayed.faults[0].what
    return RecoveryPoint(
        point,
        is_new=False,
        note=RepairedRecord(fault="torn", file=point.file, kept=kept, bytes=len(torn), detail=detail),
    )


def _keep(path: Path, torn: bytes) -> None:
    """Write the torn bytes to a file, durably.

    It may exist already, from a start that crashed before the cut: it then holds the same bytes, or fewer of them.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(torn)
        stream.flush()
        os.fsync(descriptor)
    sync_directory(path.parent)


def _anew(directory: Path, replayed: Replayed, head: Point | None, fault: str, what: str) -> RecoveryPoint:
    """Begin a new segment after damage.

    Its first line follows the last line that is there, and takes a number that no acknowledged line ever had.
    """
    segments = listing(directory)
    last = last_line(segments[-1]) if segments else b""
    seq = max(replayed.end.seq, head.seq if head else 0)
    number = max([number_of(segments[-1].name) if segments else 0, number_of(head.file) if head else 0]) + 1
    before = hash_of(last) if last else replayed.end.hash
    if head is not None and head.seq == replayed.end.seq:
        # If the last line was changed, the new line must not hold the hash of the changed one, as if it were right.
        before = head.hash
    point = Point(seq, before, name_of(number), 0)
    where = segments[-1].name if segments else ""
    return RecoveryPoint(point, is_new=True, note=RepairedRecord(fault=fault, file=where, detail=what))

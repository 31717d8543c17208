"""Appending to the journal: nothing is acknowledged before it is durable.

Lives here: `Journal`, the one writer. Never here: what a record means, recovery at start (`recovery.py`), reading back.

One commit is one write of all that was appended, and one fdatasync. When the disk refuses, the file is cut back to the
last acknowledged line, and nothing more is written until `recover` succeeds. After a failed sync the segment is never
written again, and writing goes on in a new one: the kernel may have dropped the data and report success the next time.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.journal import checkpoint
from fwdperm.journal.line import encode, hash_of, line_of
from fwdperm.journal.record import DeliveredRecord, RepairedRecord
from fwdperm.journal.recovery import RecoveryPoint, make_appendable
from fwdperm.journal.replay import Replayed, replay_journal
from fwdperm.journal.sanitize import EXACT_CHARS, Redact, sanitized, stands, unredacted
from fwdperm.journal.segments import (
    HeadFile,
    JournalFailed,
    Point,
    name_of,
    number_of,
    open_to_write,
    read_head,
    write_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fwdperm.journal.line import JournalLine
    from fwdperm.journal.record import Record
    from fwdperm.journal.state import Fold, JournalState

__all__ = ["Journal", "JournalFailed"]

SEGMENT_BYTES: Final = 64 << 20
"""Bytes of a segment before the next one is begun: small enough to be opened in an editor."""
CHECKPOINT_LINES: Final = 25_000
"""Lines between checkpoints: what start-up reads at most, in a few tenths of a second."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A line that was appended and is not acknowledged yet."""

    line: JournalLine
    record: Record
    raw: bytes
    hash: str

    @property
    def is_lazy(self) -> bool:
        """Say whether it need not be synced: losing it only publishes the same answer once more."""
        return isinstance(self.record, DeliveredRecord)


class Journal:
    """The one writer of a journal.

    Attributes:
        healthy: False after the disk refused, until `recover` gave True. Nobody may be served meanwhile.
        problem: Why, in words; empty when healthy.
        replayed: What opening found: the state, the further folds, the faults.
    """

    def __init__(  # noqa: PLR0913 - callers use `open`
        self,
        directory: Path,
        replayed: Replayed,
        head: HeadFile,
        *,
        clock: Callable[[], int],
        redact: Redact,
        segment_bytes: int,
        checkpoint_lines: int,
        may_write: Callable[[], bool] | None = None,
    ) -> None:
        """Take what `open` prepared."""
        self.directory = directory
        self.replayed = replayed
        self.healthy = True
        self.problem = ""
        self._head = head
        self._clock = clock
        self._redact = redact
        self._may_write = may_write
        self._segment_bytes = segment_bytes
        self._checkpoint_lines = checkpoint_lines
        self._saver = checkpoint.Saver(directory, kept=replayed.kept)
        self._since_checkpoint = replayed.lines
        self._durable = replayed.end
        self._last = replayed.last
        self._next = (replayed.end.seq, replayed.end.hash)  # number and hash of the last line, appended ones included
        self._waiting: list[_Pending] = []  # appended, not written
        self._written: list[_Pending] = []  # written, not synced
        self._end = 0  # where the segment ends, as far as we wrote it
        self._descriptor = -1
        self._is_distrusted = False  # the segment must not be written any more
        self._fault = "disk"  # what `RepairedRecord.fault` will say

    @classmethod
    def open(  # noqa: PLR0913 - everything it works with is named
        cls,
        directory: Path,
        *,
        clock: Callable[[], int],
        redact: Redact = unredacted,
        folds: Sequence[Fold] = (),
        segment_bytes: int = SEGMENT_BYTES,
        checkpoint_lines: int = CHECKPOINT_LINES,
        may_write: Callable[[], bool] | None = None,
    ) -> Journal:
        """Read the journal back, recover its tail, and make it ready to append.

        Args:
            directory: Where it lies; made with mode 0700 when it is missing.
            clock: Gives epoch milliseconds.
            redact: Takes a record's texts, gives each without secrets; asked once for a record.
            folds: Further folds, empty. They hold what the lines add up to, and get each line that is committed.
            segment_bytes: Size at which the next segment is begun.
            checkpoint_lines: Lines between checkpoints.
            may_write: Asked before and after every write whether we still own the journal, where a lease keeps other
                writers out; after a False nothing is acknowledged. Such a journal goes on in a new segment at every
                opening, so that an earlier owner that was asleep cannot write over its successor's lines. With None
                the kernel locks the journal for as long as it is open.

        Raises:
            OperatorError: For a newer format, or when another process writes this journal.
            JournalFailed: When the disk refuses. Fails closed: nobody is served without a journal.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            head = HeadFile(directory, locks=may_write is None)
        except OSError as error:
            raise JournalFailed(f"cannot open the journal in `{directory}`: {error}") from error
        try:
            replayed = replay_journal(directory, folds=folds)
            recovered = make_appendable(directory, replayed, read_head(directory))
            if recovered.was_cut:
                for fold in folds:
                    fold.load(None)
                replayed = replay_journal(directory, folds=folds)
            journal = cls(
                directory,
                replayed,
                head,
                clock=clock,
                redact=redact,
                segment_bytes=segment_bytes,
                checkpoint_lines=checkpoint_lines,
                may_write=may_write,
            )
            journal._begin(recovered)
        except OSError as error:
            head.close()
            raise JournalFailed(f"cannot open the journal in `{directory}`: {error}") from error
        except BaseException:
            head.close()
            raise
        return journal

    @property
    def state(self) -> JournalState:
        """What all acknowledged lines add up to."""
        return self.replayed.folding.state

    @property
    def durable(self) -> Point:
        """The place after the last acknowledged line."""
        return self._durable

    @property
    def pending(self) -> int:
        """How many appended lines are not acknowledged yet."""
        return len(self._waiting) + len(self._written)

    def may_stand(self, text: str) -> bool:
        """Say whether a text would be recorded in full: nothing in it looks like a secret, and it is not too long."""
        return stands(text, EXACT_CHARS, self._redact)

    def append(self, record: Record) -> int:
        """Add a record to those that the next commit writes.

        Returns:
            Its number. It is not recorded before `commit` returned: until then nobody may see anything of it.
        """
        seq, before = self._next
        tidy = sanitized(record, redact=self._redact)
        line = line_of(tidy, seq=seq + 1, at=self._clock(), prev=before)
        raw = encode(line)
        self._waiting.append(_Pending(line, tidy.record, raw, hash_of(raw)))
        self._next = (seq + 1, self._waiting[-1].hash)
        return seq + 1

    def commit(self) -> int:
        """Make everything that was appended durable: one write, one fdatasync.

        When nothing but `DeliveredRecord` waits, it is written and not synced; the sync of a later commit covers it.

        Returns:
            The number of the last acknowledged line.

        Raises:
            JournalFailed: When the disk refuses, or has not recovered since. Nothing of what waited is recorded;
                it still waits, and is committed after `recover`, or dropped by `discard`.
        """
        if not self._waiting:
            return self._durable.seq
        if not self.healthy:
            raise JournalFailed(self.problem)
        try:
            self._write()
            if not all(pending.is_lazy for pending in self._written):
                self._sync()
        except OSError as error:
            self._fail(error)
            raise JournalFailed(self.problem) from error
        return self._durable.seq

    def flush(self) -> int:
        """Commit, and sync what `commit` would only have written; returns and raises as `commit` does."""
        self.commit()
        if self._written:
            try:
                self._sync()
            except OSError as error:
                self._fail(error)
                raise JournalFailed(self.problem) from error
        return self._durable.seq

    def discard(self) -> int:
        """Drop everything that was appended since the last commit; the numbers of its lines will be used again.

        Returns:
            How many lines were dropped.
        """
        dropped = len(self._waiting)
        self._waiting.clear()
        if self._written:
            self._next = (self._written[-1].line.seq, self._written[-1].hash)
        else:
            self._next = (self._durable.seq, self._durable.hash)
        return dropped

    def recover(self) -> bool:
        """Try whether the disk takes lines again, by committing what waits and a record of the failure.

        Returns:
            True when the journal is healthy. May be called any number of times; a failure changes nothing.
        """
        if self.healthy:
            return True
        before = self._next
        try:
            self._cut_back()
            if self._is_distrusted:
                self._open_segment(number_of(self._durable.file) + 1)
            self.append(RepairedRecord(fault=self._fault, file=self._durable.file, detail=self.problem))
            self.healthy = True
            self.commit()
        except (OSError, JournalFailed) as error:
            self.healthy = False
            self.problem = str(error)
            if self._next != before:
                self._waiting.pop()
                self._next = before
            return False
        self.problem = ""
        self._fault = "disk"
        return True

    def save_checkpoint(self) -> bool:
        """Save what all acknowledged lines add up to: the next start reads only what follows. False if that fails."""
        is_read = 0 < len(self._last) < self._durable.offset
        saved = is_read and self._saver.save(self.replayed.folding, self._durable, self._last)
        self._since_checkpoint = 0
        return saved

    def close(self) -> None:
        """Make what waits durable, save a checkpoint and let go. Raises JournalFailed as `commit` does."""
        try:
            self.flush()
            self.save_checkpoint()
        finally:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
            self._head.close()

    def abandon(self) -> None:
        """Close without writing: another daemon owns the journal now. What waits is lost, and nobody was told of it."""
        self._waiting.clear()
        self._written.clear()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._head.close()

    def _begin(self, recovered: RecoveryPoint) -> None:
        """Open the segment to write to, and record what recovery found."""
        self._durable = recovered.point
        self._next = (recovered.point.seq, recovered.point.hash)
        self._end = recovered.point.offset
        if recovered.is_new:
            self._open_segment(number_of(recovered.point.file))
        else:
            self._descriptor = open_to_write(self.directory / recovered.point.file, is_new=False)
        try:
            # The lines we have read may not be durable yet: a writer that was killed may not have come to its sync.
            os.fdatasync(self._descriptor)
            if self._may_write is not None and self._end:
                self._open_segment(number_of(self._durable.file) + 1)
            if recovered.note is not None:
                self.append(recovered.note)
                self.commit()
            else:
                self._head.write(self._durable)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _write(self) -> None:
        data = b"".join(pending.raw + b"\n" for pending in self._waiting)
        if self._end and self._end + len(data) > self._segment_bytes:
            self._rotate()
        self._look()
        write_all(self._descriptor, data, self._end)
        self._end += len(data)
        self._written += self._waiting
        self._waiting = []

    def _look(self) -> None:
        """Raise OSError before writing when somebody else removed, cut or wrote to the segment.

        The segment then stays as it is, as evidence, and writing goes on in a new one.
        """
        self._check_owner()
        found = os.fstat(self._descriptor)
        if found.st_nlink == 0 or found.st_size != self._end:
            self._is_distrusted = True
            self._fault = "cut" if found.st_size < self._end or found.st_nlink == 0 else "broken"
            raise OSError(errno.ESTALE, "the segment was changed or removed by somebody else")

    def _check_owner(self) -> None:
        if self._may_write is not None and not self._may_write():
            raise OSError(errno.ESTALE, "the lease on this journal was lost")

    def _sync(self) -> None:
        """Sync what was written, and then acknowledge it: apply it to the state, and let the head name it."""
        try:
            os.fdatasync(self._descriptor)
            self._check_owner()
        except OSError:
            self._is_distrusted = True
            raise
        written, self._written = self._written, []
        for pending in written:
            self.replayed.folding.apply(pending.line, pending.record)
        last = written[-1]
        self._last = last.raw
        self._durable = Point(last.line.seq, last.hash, self._durable.file, self._end)
        self._head.write(self._durable)
        self._since_checkpoint += len(written)
        if self._since_checkpoint >= self._checkpoint_lines:
            self.save_checkpoint()

    def _rotate(self) -> None:
        """Begin the next segment at a line boundary."""
        if self._written:
            self._sync()
        self.save_checkpoint()
        self._open_segment(number_of(self._durable.file) + 1)

    def _open_segment(self, number: int) -> None:
        """Write on in a new, empty segment; the old one stays as it is."""
        descriptor = open_to_write(self.directory / name_of(number), is_new=True)
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = descriptor
        self._durable = Point(self._durable.seq, self._durable.hash, name_of(number), 0)
        self._end = 0
        self._is_distrusted = False

    def _fail(self, error: OSError) -> None:
        """Stop taking lines after an error, and cut off unacknowledged bytes: a reader would take them for recorded."""
        self.healthy = False
        self.problem = f"cannot write the journal `{self._durable.file}`: {error.strerror or error}"
        self._waiting = self._written + self._waiting
        self._written = []
        try:
            self._cut_back()
        except OSError:
            self._is_distrusted = True

    def _cut_back(self) -> None:
        """Cut the segment back to the last acknowledged line, durably when it is not to be written any more.

        Raises OSError without cutting when the lease was lost: our successor has read the lines, and its own first line
        follows them in the chain.
        """
        self._check_owner()
        self._end = self._durable.offset
        if self._fault == "disk" and os.fstat(self._descriptor).st_size > self._end:
            os.ftruncate(self._descriptor, self._end)
        if self._is_distrusted:
            os.fsync(self._descriptor)

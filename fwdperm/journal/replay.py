"""Reading the journal back: what was decided, what is open, where to write on.

Lives here: one pass from the checkpoint, or from the beginning, to the end. Opens nothing for writing. Never here:
recovery (`recovery.py`), judging the whole log (`verify.py`).

A line counts when the line after it holds its hash. Of one for which that is not so, nothing is believed, except that a
request which it says is decided will not be decided again. Reading goes on after it: the other lines are still of use.
Such lines are in `faults`, and once they were noted in the log they count in `state.damage`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fwdperm.journal import checkpoint
from fwdperm.journal.line import GENESIS, NotALine, OtherVersion, hash_of, take_apart
from fwdperm.journal.segments import Point, listing, name_of, number_of, open_to_read, raw_lines, read_head
from fwdperm.journal.state import Folding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fwdperm.journal.line import JournalLine
    from fwdperm.journal.state import Fold, JournalState

BEGINNING: Final = Point(0, GENESIS, name_of(1), 0)


@dataclass(frozen=True, slots=True)
class Fault:
    """A place where the log is not what was written.

    Attributes:
        file: The segment.
        offset: Where the line begins, bytes from the segment's start.
        seq: The number that was expected there.
        what: What is wrong, in words.
    """

    file: str
    offset: int
    seq: int
    what: str


@dataclass(slots=True)
class _Anchor:
    """The newest prune that was met, and whether damage was noted after it."""

    line: JournalLine
    file: str
    offset: int
    is_noted: bool = False


@dataclass(slots=True)
class Replayed:
    """What the journal adds up to.

    Attributes:
        folding: The state and the further folds.
        end: After the last line that could be read.
        last: That line's bytes, without its newline; empty when it was not read in this pass.
        sound: After the last line before the first fault; the same as `end` when there is no fault.
        faults: What is wrong and not noted in the log so far.
        noted: What is wrong and was noted in the log by an earlier start.
        lines: How many lines this pass read.
        kept: The checkpoint's keys; empty when the whole log was read.
        from_checkpoint: Whether a checkpoint was used.
        anchor: The newest prune in what was read.
        foreign: A line of another version that no line of ours follows.
    """

    folding: Folding
    end: Point = BEGINNING
    last: bytes = b""
    sound: Point = BEGINNING
    faults: list[Fault] = field(default_factory=list)
    noted: list[Fault] = field(default_factory=list)
    lines: int = 0
    kept: bytes = b""
    from_checkpoint: bool = False
    anchor: _Anchor | None = None
    foreign: tuple[OtherVersion, Point] | None = None

    @property
    def state(self) -> JournalState:
        """What recovery needs."""
        return self.folding.state


def replay_journal(directory: Path, *, folds: Sequence[Fold] = (), use_checkpoint: bool = True) -> Replayed:
    """Read the journal back.

    Args:
        directory: Where its segments lie; may be empty or missing.
        folds: Further folds, empty; afterwards they hold what the lines add up to.
        use_checkpoint: False reads the whole log.

    Returns:
        The state, and where the log ends. Faults are in it, not raised.

    Raises:
        OtherVersion: For a log that ends in another major version. A single line of one among ours is a fault.
        OSError: When a segment cannot be read.
    """
    replayed = Replayed(Folding(folds=folds))
    if not directory.is_dir():
        return replayed
    head = read_head(directory)
    start: Point | None = None
    if use_checkpoint and (loaded := checkpoint.load(directory, replayed.folding)):
        start, replayed.kept = loaded
        replayed.from_checkpoint = True
        replayed.end = replayed.sound = start
    segments = listing(directory)
    if start is None and segments:
        replayed.end = replayed.sound = Point(0, GENESIS, segments[0].name, 0)
    held: JournalLine | None = None
    for path in segments:
        if start is None or number_of(path.name) >= number_of(start.file):
            held = _read_segment(path, replayed, held)
    _refuse_foreign(replayed, head)
    _recall(directory, replayed)
    is_changed = head is not None and head.seq == replayed.end.seq and head.hash != replayed.end.hash
    if is_changed:
        at = replayed.end.offset - len(replayed.last) - 1
        what = f"line {replayed.end.seq} is not the one the head names"
        _note(replayed, Fault(replayed.end.file, at, replayed.end.seq, what), replayed.sound)
    if held is not None:
        (replayed.state.distrust if is_changed else replayed.folding.apply)(held)
    return replayed


def _read_segment(path: Path, replayed: Replayed, held: JournalLine | None) -> JournalLine | None:
    """Read one segment.

    A line is applied to the state when the line after it holds its hash. `held` is the line that was read last and
    waits for that; the result is the one that waits at this segment's end.
    """
    file, seq, before, body = path.name, replayed.end.seq, replayed.end.hash, replayed.last
    end = offset = replayed.end.offset if file == replayed.end.file else 0
    with open_to_read(path) as stream:
        stream.seek(offset)
        for raw in raw_lines(stream):
            at, offset, text = offset, offset + len(raw), raw[:-1]
            replayed.lines += 1
            try:
                line = take_apart(text if raw[-1:] == b"\n" else b"")
            except (NotALine, OtherVersion) as fault:
                _note(replayed, Fault(file, at, seq + 1, f"line is unusable: {fault}"), Point(seq, before, file, end))
                if isinstance(fault, OtherVersion):
                    replayed.foreign = fault, Point(seq + 1, hash_of(text), file, offset)
                continue
            replayed.foreign = None
            if (line.prev != before or line.seq != seq + 1) and not _is_accounted(line, seq):
                _note(replayed, Fault(file, at, seq + 1, _misfit(line, seq + 1)), Point(seq, before, file, end))
            if held is not None:
                (replayed.folding.apply if line.prev == before else replayed.state.distrust)(held)
            body, held, seq, before, end = text, line, line.seq, hash_of(text), offset
            if line.kind in {"pruned", "repaired"}:
                _mark(replayed, line, file, at)
    replayed.end, replayed.last = Point(seq, before, file, end), body
    if not replayed.faults:
        replayed.sound = replayed.end
    return held


def _refuse_foreign(replayed: Replayed, head: Point | None) -> None:
    """Raise for a journal that a newer program writes.

    When somebody edited the version in our own last line, the head has another hash for it: that is damage, and no
    reason to stop.
    """
    if replayed.foreign is None:
        return
    error, found = replayed.foreign
    is_named = head is not None and (head.file, head.offset) == (found.file, found.offset)
    if not (is_named and head is not None and head.hash != found.hash):
        raise error


def _mark(replayed: Replayed, line: JournalLine, file: str, at: int) -> None:
    """Keep the newest anchor; where a line notes earlier damage, take what was found before it as noted."""
    if line.kind == "pruned":
        replayed.anchor = _Anchor(line, file, at)
    elif _is_damage(line):
        replayed.noted += replayed.faults
        replayed.faults.clear()
        if replayed.anchor is not None:
            replayed.anchor.is_noted = True


def _is_damage(line: JournalLine) -> bool:
    """Say whether a line notes damage that an earlier start found."""
    return line.kind == "repaired" and line.data.get("fault") in {"cut", "broken"}


def _is_accounted(line: JournalLine, seq: int) -> bool:
    """Say whether a line may follow a line that it does not name: the first one after a prune, or one noting damage."""
    return (seq == 0 and line.seq > 1) or _is_damage(line)


def _note(replayed: Replayed, fault: Fault, sound: Point) -> None:
    """Keep the first few faults: a log of a million foreign lines must not fill the memory."""
    if not replayed.faults:
        replayed.sound = sound
    if len(replayed.faults) < 100:  # noqa: PLR2004 - enough for any person
        replayed.faults.append(fault)


def _misfit(line: JournalLine, expected: int) -> str:
    if line.seq != expected:
        return f"line has number {line.seq}, expected {expected}"
    return f"line {line.seq} does not follow the line before it: that was changed, or this was put here"


def _recall(directory: Path, replayed: Replayed) -> None:
    """Remember the requests decided in segments that were removed: the newest anchor names a file of them all."""
    anchor = replayed.anchor
    if anchor is None:
        return
    name = str(anchor.line.data.get("keys", ""))
    try:
        keys = (directory / name).read_bytes() if name and "/" not in name else b""
    except OSError:
        keys = b""
    if hashlib.sha256(keys).hexdigest() != anchor.line.data.get("keysDigest"):
        what = f"the keys of pruned decisions in `{name}` are not what was kept"
        fault = Fault(anchor.file, anchor.offset, anchor.line.seq, what)
        (replayed.noted if anchor.is_noted else replayed.faults).append(fault)
    replayed.state.add_spent(checkpoint.split(keys))

"""Judging a whole journal: is it what was written, all of it, in order?

Lives here: one pass in constant memory that trusts no checkpoint. Opens nothing for writing. Never here: repairing,
applying lines to a state.

The chain of hashes shows every edit, insertion, deletion and reordering before the last line; the head shows them at
the end. Neither stops somebody who can write these files from computing the whole chain again: to notice that, keep a
copy of the head elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fwdperm.errors import OperatorError
from fwdperm.journal.line import GENESIS, NotALine, OtherVersion, hash_of, take_apart
from fwdperm.journal.segments import HEAD, Point, listing, number_of, open_to_read, raw_lines, read_head

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.journal.line import JournalLine

FINDINGS: Final = 100
"""Findings kept in full; more are counted."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that is not as it was written.

    Attributes:
        file: Name of the file; of the directory for what concerns all of it.
        line: Line in that file, from 1; 0 for what concerns all of it.
        what: What is wrong, in words.
    """

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass(slots=True)
class Verification:
    """What the pass found.

    Attributes:
        lines: How many lines were read.
        segments: How many segments.
        first: Number of the first line; 0 for an empty journal.
        last: Number of the last line.
        hash: The last line's hash: what to note elsewhere.
        findings: What is wrong, the first hundred.
        found: How many findings there were.
        notes: What is worth knowing and not wrong: repaired tails, prunes, lines after the head.
    """

    lines: int = 0
    segments: int = 0
    first: int = 0
    last: int = 0
    hash: str = GENESIS
    findings: list[Discrepancy] = field(default_factory=list)
    found: int = 0
    notes: list[Discrepancy] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Say whether nothing is wrong."""
        return self.found == 0

    def find(self, file: str, line: int, what: str) -> None:
        """Add something that is wrong; past FINDINGS only counted."""
        self.found += 1
        if len(self.findings) < FINDINGS:
            self.findings.append(Discrepancy(file, line, what))

    def note(self, file: str, line: int, what: str) -> None:
        """Add something that is worth knowing and not wrong; past FINDINGS dropped."""
        if len(self.notes) < FINDINGS:
            self.notes.append(Discrepancy(file, line, what))


@dataclass(slots=True)
class _Front:
    """What is known of removed segments, while the rest is read.

    Attributes:
        expected: Number and hash of the line that the first one still there follows; None when nothing is missing.
        is_anchored: Whether a prune's anchor names that line.
        keys: Name and digest of the keys file that the newest anchor names.
    """

    expected: tuple[int, str] | None = None
    is_anchored: bool = False
    keys: tuple[str, str] = ("", "")


def verify_journal(directory: Path) -> Verification:
    """Read every line and judge it.

    Args:
        directory: The journal's. A daemon may be writing to it meanwhile.

    Returns:
        What was found. A file that cannot be read is a finding, and so is a line of another major version.

    Raises:
        OperatorError: When there is no journal there.
    """
    if not directory.is_dir():
        raise OperatorError("there is no journal here", file=str(directory), remedy="name the state directory")
    head = read_head(directory)
    made = Verification()
    front = _Front()
    _modes(directory, made)
    segments = listing(directory)
    made.segments = len(segments)
    for path in segments:
        try:
            _segment(path, made, head, front, is_last=path == segments[-1])
        except OSError as error:
            made.find(path.name, 0, f"cannot be read: {error.strerror or error}")
    _end(directory, made, head, has_lines=bool(segments))
    if front.expected is not None and not front.is_anchored:
        missing = front.expected[0]
        made.find(segments[0].name, 1, f"lines 1 to {missing} are missing and no prune accounts for them")
    _keys(directory, made, front)
    return made


def _modes(directory: Path, made: Verification) -> None:
    """Find what others than the owner may read or write."""
    if stat.S_IMODE(directory.stat().st_mode) & _OTHERS:
        made.find(directory.name, 0, "is open to others, expected mode 0700")
    for path in sorted(directory.iterdir()):
        if path.is_symlink() or (path.name == HEAD or number_of(path.name) > 0 or path.suffix in {".bin", ".keys"}):
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode):
                made.find(path.name, 0, "is not a regular file")
            elif found.st_nlink != 1:
                made.find(path.name, 0, f"has {found.st_nlink} names, expected one")
            elif stat.S_IMODE(found.st_mode) & _OTHERS:
                made.find(path.name, 0, "is open to others, expected mode 0600")


def _segment(path: Path, made: Verification, head: Point | None, front: _Front, *, is_last: bool) -> None:
    offset = 0
    with open_to_read(path) as stream:
        for number, raw in enumerate(raw_lines(stream), start=1):
            at, offset, body = offset, offset + len(raw), raw[:-1]
            if raw[-1:] != b"\n":
                is_open = is_last and (head is None or head.file != path.name or at >= head.offset)
                tell = made.note if is_open else made.find
                tell(path.name, number, "ends without a newline: being written, or torn and not acknowledged")
                continue
            try:
                line = take_apart(body)
            except (NotALine, OtherVersion) as fault:
                made.find(path.name, number, str(fault))
                continue
            _judge(path.name, number, line, made, front)
            made.lines += 1
            made.first = made.first or line.seq
            made.last, made.hash = line.seq, hash_of(body)
            if head is not None and line.seq == head.seq and made.hash != head.hash:
                made.find(path.name, number, f"line {line.seq} is not the one the head names: it was changed")


def _judge(file: str, number: int, line: JournalLine, made: Verification, front: _Front) -> None:
    if made.first == 0 and line.seq > 1:
        front.expected = (line.seq - 1, line.prev)
    elif line.seq != made.last + 1:
        made.find(file, number, f"has number {line.seq}, expected {made.last + 1}")
    elif line.prev != made.hash:
        what = "does not follow the line before it: that one was changed, or lines were removed or put in between"
        made.find(file, number, what)
    if line.kind == "pruned":
        _anchor(file, number, line, made, front)
    elif line.kind == "repaired":
        fault = str(line.data.get("fault", ""))
        detail = f"recorded repair ({fault}): {line.data.get('detail', '')}"
        (made.find if fault in {"cut", "broken"} else made.note)(file, number, detail)


def _anchor(file: str, number: int, line: JournalLine, made: Verification, front: _Front) -> None:
    """Note what the anchor of a prune says: it explains the missing beginning if it names the line expected there."""
    removed = line.data.get("removed")
    names = [str(each).split(" ") for each in removed] if isinstance(removed, list) else []
    if front.expected is not None:
        front.is_anchored |= any(each[1:] == [str(front.expected[0]), front.expected[1]] for each in names)
    front.keys = (str(line.data.get("keys", "")), str(line.data.get("keysDigest", "")))
    made.note(file, number, f"{len(names)} segments were pruned before this line")
    damage = line.data.get("damage", 0)
    if damage:
        made.find(file, number, f"the journal had been damaged before segments were pruned: {damage} times")


def _end(directory: Path, made: Verification, head: Point | None, *, has_lines: bool) -> None:
    """Compare the log's end with what the head names."""
    if head is None:
        if has_lines:
            made.find(HEAD, 0, "is missing or unreadable: lines may have been cut off the end")
    elif head.seq > made.last:
        made.find(HEAD, 0, f"names line {head.seq}, but the log ends at {made.last}: lines were cut off")
    elif head.seq < made.last:
        what = f"names line {head.seq}, and {made.last - head.seq} more follow: being written, or the writer was killed"
        made.note(HEAD, 0, what)
    elif head.hash != made.hash and made.lines == 0:
        made.find(directory.name, 0, "holds no line, and its head names another beginning")


def _keys(directory: Path, made: Verification, front: _Front) -> None:
    """Check the file that remembers what was decided in pruned segments."""
    name, expected = front.keys
    if not name:
        return
    digest = hashlib.sha256()
    try:
        with open_to_read(directory / os.path.basename(name)) as stream:  # noqa: PTH119 - text, not a path
            while piece := stream.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        made.find(name, 0, f"cannot be read: {error.strerror or error}")
        return
    if digest.hexdigest() != expected:
        made.find(name, 0, "is not what the prune wrote")

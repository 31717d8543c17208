"""Removing old segments without losing what is in force.

Lives here: which segments the operator no longer wants kept, and removing them in such an order that a crash between
any two steps loses nothing. Never here: when to prune (`serve/pruning.py`).

First the keys of everything ever decided are written to a file of their own. Then one commit appends a snapshot of what
each fold holds, and the anchor: a record that names the segments to be removed. Only once that is durable are they
removed, the oldest first. So before the anchor nothing is missing, and after it what is left is the log's end without a
gap.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fwdperm.journal.line import NotALine, OtherVersion, hash_of, take_apart
from fwdperm.journal.record import PrunedRecord, SnapshotRecord
from fwdperm.journal.segments import JournalFailed, last_line, listing, number_of, sync_directory

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.journal.log import Journal

SNAPSHOT_CHARS: Final = 32 * 1024
"""Characters of a state in one line; a longer one goes over several."""

DAY_MS: Final = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Retention:
    """How much of the journal the operator wants kept.

    Attributes:
        days: A segment may go when its newest line is older; None keeps it whatever its age.
        size: The oldest segments may go while all of them have more bytes than this; None keeps them whatever their
            size. Who may send requests decides how soon that is.
    """

    days: float | None = None
    size: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Say whether nothing is ever removed."""
        return self.days is None and self.size is None


def surplus(directory: Path, retention: Retention, *, now_ms: int) -> list[Path]:
    """Give the segments that need not be kept any more, oldest first. The one that is written to is never among them.

    Args:
        directory: The journal's.
        retention: What the operator wants kept.
        now_ms: Wall clock, epoch milliseconds.

    Returns:
        Always an unbroken run from the oldest on. It ends before a segment whose last line is damaged: what shows
        that something happened to the journal stays.

    Raises:
        OSError: When a segment cannot be read.
    """
    if retention.is_unlimited:
        return []
    segments = listing(directory)
    left = sum(path.stat().st_size for path in segments)
    found: list[Path] = []
    for path in segments[:-1]:
        newest = _newest_ms(path)
        is_too_much = retention.size is not None and left > retention.size
        is_too_old = retention.days is not None and newest is not None and now_ms - newest > retention.days * DAY_MS
        if newest is None or not (is_too_much or is_too_old):
            break
        left -= path.stat().st_size
        found.append(path)
    return found


def _newest_ms(path: Path) -> int | None:
    """Give when a segment's last line was written; 0 for one without lines, None when the line says no time."""
    raw = last_line(path)
    try:
        return take_apart(raw).at if raw else 0
    except (NotALine, OtherVersion):
        return None


def prune_journal(journal: Journal, *, count: int) -> int:
    """Remove the oldest segments.

    Args:
        journal: Open and healthy, with every fold whose state is to be kept when the lines that made it are removed.
        count: How many. The one that is written to always stays.

    Returns:
        How many were removed.

    Raises:
        JournalFailed: When the disk refuses. What is left is a journal that replays to the same state, and nothing of
            the prune waits to be written.
    """
    gone = listing(journal.directory)[:-1][: max(0, count)]
    if not gone:
        return 0
    journal.flush()
    try:
        removed = tuple(name for path in gone if (name := _named(path)))
        keys = f"pruned-{number_of(gone[-1].name):06d}.keys"
        digest, count = _keep_keys(journal, keys)
        for name, state in journal.replayed.folding.dump().items():
            _snapshot(journal, name, state)
        damage = journal.state.damage
        journal.append(PrunedRecord(removed=removed, keys=keys, keys_count=count, keys_digest=digest, damage=damage))
        journal.commit()
        journal.save_checkpoint()
        for path in gone:
            path.unlink()
        for path in journal.directory.glob("pruned-*.keys"):
            if path.name != keys:
                path.unlink()
        sync_directory(journal.directory)
    except JournalFailed:
        journal.discard()  # or the anchor would be committed later, for segments that this call did not remove
        raise
    except (OSError, NotALine, OtherVersion) as error:
        journal.discard()
        raise JournalFailed(f"cannot prune the journal: {error}") from error
    return len(gone)


def _named(path: Path) -> str:
    """Give what the anchor says of a segment: name, last number and last hash; empty for a segment without lines."""
    raw = last_line(path)
    return f"{path.name} {take_apart(raw).seq} {hash_of(raw)}" if raw else ""


def _keep_keys(journal: Journal, name: str) -> tuple[str, int]:
    """Write the hashes of everything ever decided, durably; give the file's digest and how many there are."""
    spent = sorted(journal.state.spent)
    data = b"".join(spent)
    temporary = journal.directory / f".{name}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(descriptor)
    temporary.replace(journal.directory / name)
    sync_directory(journal.directory)
    return hashlib.sha256(data).hexdigest(), len(spent)


def _snapshot(journal: Journal, name: str, state: Any) -> None:
    text = json.dumps(state, separators=(",", ":"))
    pieces = [text[at : at + SNAPSHOT_CHARS] for at in range(0, len(text), SNAPSHOT_CHARS)]
    for part, piece in enumerate(pieces, start=1):
        journal.append(SnapshotRecord(name=name, part=part, parts=len(pieces), data=piece))

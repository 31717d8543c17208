"""Removing old segments without losing what is in force.

Lives here: the order in which a prune may be interrupted anywhere. Never here: when to prune (the operator says).

Keys of everything ever decided, then a snapshot of every fold and the anchor in one commit, then the segments, oldest
first. Until the anchor is durable nothing is removed; after it, whatever is still there is a whole tail of the log.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Final

from fwdperm.journal.line import hash_of, take_apart
from fwdperm.journal.record import PrunedRecord, SnapshotRecord
from fwdperm.journal.segments import JournalFailed, last_line, listing, number_of, sync_directory

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.journal.log import Journal

SNAPSHOT_CHARS: Final = 32 * 1024
"""Characters of a state in one line; a longer one goes over several."""


def prune(journal: Journal, *, keep: int) -> int:
    """Remove all but the newest segments.

    Args:
        journal: Open and healthy.
        keep: How many segments stay, at least 1: the one that is written to.

    Returns:
        How many were removed. 0 when there were no more than `keep`.

    Raises:
        JournalFailed: When the disk refuses. What is left is a journal that replays to the same state.
    """
    gone = listing(journal.directory)[: -max(1, keep)]
    if not gone:
        return 0
    journal.flush()
    try:
        removed = tuple(name for path in gone if (name := _named(path)))
        keys = f"pruned-{number_of(gone[-1].name):06d}.keys"
        digest, count = _keep_keys(journal, keys)
        for name, state in journal.replayed.folding.dump().items():
            _snapshot(journal, name, state)
        journal.append(PrunedRecord(removed=removed, keys=keys, keys_count=count, keys_digest=digest))
        journal.commit()
        journal.save_checkpoint()
        for path in gone:
            path.unlink()
        for path in journal.directory.glob("pruned-*.keys"):
            if path.name != keys:
                path.unlink()
        sync_directory(journal.directory)
    except OSError as error:
        raise JournalFailed(f"cannot prune the journal: {error}") from error
    return len(gone)


def _named(path: Path) -> str:
    """Give what the anchor says of a segment; empty for one without lines."""
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

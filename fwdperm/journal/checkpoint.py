"""What the journal added up to at some line, saved, so that a start reads only the lines after it.

Lives here: `checkpoint.json`, and `checkpoint.keys` with the hashes of all decided requests. Never here: anything that
could not be made again from the log.

A checkpoint that does not fit the log (the line it ends with is not there, a digest differs, a fold is missing) is
ignored, and the whole log is read: slower, but right.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Final

from fwdperm.journal.line import hash_of
from fwdperm.journal.segments import LINE_BYTES, Point, line_before, number_of, publish, write_all
from fwdperm.journal.state import KEY_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.journal.state import Folding

CHECKPOINT: Final = "checkpoint.json"
KEYS: Final = "checkpoint.keys"


class Saver:
    """Writes checkpoints. Of the keys, which only grow, it writes those that are new since the last one."""

    def __init__(self, directory: Path, *, kept: bytes) -> None:
        """Take over what is there.

        Args:
            directory: The journal's.
            kept: The keys of the checkpoint that was loaded; empty without one.
        """
        self._directory = directory
        self._length = len(kept)
        self._digest = hashlib.sha256(kept)

    def save(self, folding: Folding, point: Point, last: bytes) -> bool:
        """Save what the lines up to a point add up to; False when the disk refused.

        Args:
            folding: The state and the further folds at that point.
            point: After the last line that is in them.
            last: That line, without its newline: `load` looks for it to see whether the checkpoint still fits.
        """
        fresh = b"".join(folding.state.fresh)
        digest = self._digest.copy()
        digest.update(fresh)
        body = {
            "file": point.file,
            "offset": point.offset,
            "seq": point.seq,
            "hash": point.hash,
            "length": len(last) + 1,
            "keys": self._length + len(fresh),
            "keysDigest": digest.hexdigest(),
            "folds": folding.dump(),
        }
        text = json.dumps(body, separators=(",", ":"))
        whole = json.dumps({"v": 1, "sum": hashlib.sha256(text.encode()).hexdigest(), "body": text})
        try:
            # Keys first: a crash in between leaves more keys than the old checkpoint counts, and those are not read.
            self._append(fresh)
            publish(self._directory / CHECKPOINT, whole.encode())
        except OSError:
            return False
        self._length += len(fresh)
        self._digest = digest
        folding.state.fresh.clear()
        return True

    def _append(self, fresh: bytes) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._directory / KEYS, flags, 0o600)
        try:
            os.ftruncate(descriptor, self._length)
            if fresh:
                write_all(descriptor, fresh, self._length)
        finally:
            os.close(descriptor)


def load(directory: Path, folding: Folding) -> tuple[Point, bytes] | None:
    """Load the checkpoint into an empty fold.

    Returns:
        Where to read on, and the keys that were loaded; None when there is no checkpoint that fits, and then the
        fold is as empty as before.
    """
    try:
        whole = json.loads((directory / CHECKPOINT).read_bytes())
        text = whole["body"]
        if whole["v"] != 1 or hashlib.sha256(text.encode()).hexdigest() != whole["sum"]:
            return None
        body = json.loads(text)
        point = Point(body["seq"], body["hash"], body["file"], body["offset"])
        keys = _keys(directory, body)
        if keys is None or set(body["folds"]) != set(folding.dump()) or not _fits(directory, point, body["length"]):
            return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    try:
        folding.load(body["folds"])
    except (ValueError, KeyError, TypeError, AttributeError):
        _empty(folding)
        return None
    folding.state.spent.update(split(keys))
    return point, keys


def split(keys: bytes) -> list[bytes]:
    """Split the content of a keys file into its keys."""
    return [keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)]


def _keys(directory: Path, body: dict[str, Any]) -> bytes | None:
    length = int(body["keys"])
    if length == 0:
        return b""
    with (directory / KEYS).open("rb") as stream:
        keys = stream.read(length)
    fits = len(keys) == length and hashlib.sha256(keys).hexdigest() == body["keysDigest"]
    return keys if fits else None


def _fits(directory: Path, point: Point, length: int) -> bool:
    """Say whether the line that the checkpoint ends with is still at its place in the log."""
    if not number_of(point.file) or not 0 < length <= LINE_BYTES:
        return False
    raw = line_before(directory / point.file, point.offset, length)
    return raw.endswith(b"\n") and hash_of(raw[:-1]) == point.hash


def _empty(folding: Folding) -> None:
    """Undo a load that failed half-way."""
    folding.state.load({"undelivered": [], "waiting": [], "sessions": [], "damage": 0})
    for fold in folding.folds:
        fold.load(None)

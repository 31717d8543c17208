"""The floor that round trips are measured against: a bare inotify descriptor, as little Python around it as can be.

Lives here: `Watch`, the answer's bytes, percentiles, and the floor's own server and client. Never here: a measurement.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_HEAD = struct.Struct("iIII")
_CREATED, _MOVED_IN = 0x100, 0x80


class Watch:
    """One directory's new names, blocking."""

    def __init__(self, directory: Path) -> None:
        self.descriptor = _LIBC.inotify_init1(os.O_CLOEXEC)
        if _LIBC.inotify_add_watch(self.descriptor, os.fsencode(directory), _CREATED | _MOVED_IN) < 0:
            raise OSError(ctypes.get_errno(), f"cannot watch {directory}")

    def wait(self) -> list[str]:
        """Wait for events; return the names that appeared and end in `.json`."""
        content = os.read(self.descriptor, 65536)
        names, at = [], 0
        while at < len(content):
            _, _, _, length = _HEAD.unpack_from(content, at)
            at += _HEAD.size
            name = content[at : at + length].rstrip(b"\0")
            if name.endswith(b".json"):
                names.append(name.decode())
            at += length
        return names

    def close(self) -> None:
        """Stop watching."""
        os.close(self.descriptor)


def answer_bytes(request_id: str, content: bytes) -> bytes:
    """Return an approval of exactly these request bytes."""
    answer = {
        "approved": True,
        "state": "approved",
        "requestId": request_id,
        "requestDigest": hashlib.sha256(content).hexdigest(),
        "responderSessionId": "root",
        "respondedAt": 1,
    }
    return json.dumps(answer).encode()


def publish(directory: str, name: str, content: bytes) -> None:
    """Publish a file by a temporary name and a rename."""
    temporary = f"{directory}/.{name}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, content)
    os.close(descriptor)
    os.rename(temporary, f"{directory}/{name}")  # noqa: PTH104 - the floor has no pathlib in it


def serve_floor(requests: Path, responses: Path) -> None:
    """Answer every request file with a fixed approval, for ever: no reading of its content, no record."""
    watch = Watch(requests)
    seen, out = str(requests), str(responses)
    names = [name for name in os.listdir(seen) if name.endswith(".json")]  # noqa: PTH208 - as above
    while True:
        for name in names:
            try:
                with open(f"{seen}/{name}", "rb") as file:  # noqa: PTH123 - as above
                    content = file.read()
            except FileNotFoundError:
                continue
            json.loads(content)
            publish(out, name, b'{"approved":true,"state":"approved"}')
        names = watch.wait()


def percentile(times: Iterable[float], share: float) -> float:
    """Return the value below which `share` of the times lie."""
    ordered: Sequence[float] = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

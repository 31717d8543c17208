"""What kind of file system a path lies on, and so whether its events and times can be believed.

Lives here: reading the mount table. Never here: a watch, a lock.
What is unknown counts as local: the doorbell tries anyway whether events come.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

MOUNT_TABLE: Final = Path("/proc/self/mountinfo")
_POINT: Final = 4
"""Which field of a line of that table is the mount point."""
_REMOTE: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "afs", "ceph", "glusterfs", "lustre", "gfs2", "ocfs2"},
)


def file_system_type(path: Path, *, table: str | None = None) -> str:
    """Name the type of the file system that holds `path` (or its nearest existing parent).

    Args:
        path: Any path.
        table: The text of a mount table; None reads the kernel's.

    Returns:
        `ext4`, `nfs4`, `fuse.sshfs`, ...; empty when it cannot be learned (no /proc).
    """
    if table is None:
        try:
            with MOUNT_TABLE.open(encoding="utf-8", errors="surrogateescape") as file:
                table = file.read()
        except OSError:
            return ""
    real = os.path.realpath(path)
    best, kind = "", ""
    for line in table.splitlines():
        front, _, back = line.partition(" - ")
        fields, rest = front.split(" "), back.split(" ")
        if len(fields) <= _POINT:
            continue
        point = _unescape(fields[_POINT])
        # `>=`: of two mounts on the same directory the later one hides the earlier one.
        if _is_inside(real, point) and len(point) >= len(best):
            best, kind = point, rest[0]
    return kind


def is_shared(kind: str) -> bool:
    """Say whether other kernels may write to a file system of that type: no events, cached times, no flock."""
    return kind in _REMOTE or kind == "fuse" or kind.startswith(("fuse.", "nfs"))


def _is_inside(path: str, point: str) -> bool:
    return point in {"/", path} or path.startswith(point + "/")


def _unescape(text: str) -> str:
    """Undo the mount table's octal escapes (blank, tab, newline, backslash)."""
    for code, char in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, char)
    return text

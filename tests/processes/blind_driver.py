"""A daemon whose ears can be stopped: by a limit of watches of its own, or, on SIGUSR1, without anybody being told."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any

CLONE_NEWUSER = 0x10000000


def limit_watches(count: int) -> None:
    """Move into a user namespace: the kernel counts its watches separately, so that nobody else runs out of them."""
    uid, gid = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    Path("/proc/sys/user/max_inotify_watches").write_text(str(count), encoding="ascii")


def deafen(*_: Any) -> None:
    """Put an instance without any watch in the place of the one the daemon reads."""
    deaf = ctypes.CDLL(None).inotify_init()
    os.set_blocking(deaf, False)
    for entry in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            if int(entry.name) != deaf and entry.readlink().name == "anon_inode:inotify":
                os.dup2(deaf, int(entry.name))
    os.close(deaf)


def main() -> None:
    from fwdperm.__main__ import main as run  # noqa: PLC0415 - after the move into the namespace

    signal.signal(signal.SIGUSR1, deafen)
    sys.exit(run())


if __name__ == "__main__":
    if limit := os.environ.get("WATCHES"):
        limit_watches(int(limit))
    main()

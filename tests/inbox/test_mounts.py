"""Which file systems are believed to bring events."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwdperm.inbox.mounts import file_system_type, is_shared

TABLE = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:40 / /net rw,relatime shared:3 master:1 - nfs4 host:/x rw
41 40 0:41 / /net/with\040blank rw,relatime - fuse.sshfs host: rw
42 27 0:42 / /twice rw - tmpfs none rw
43 27 0:43 / /twice rw - virtiofs tag rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/home/x", "ext4"),
        ("/net", "nfs4"),
        ("/net/a/b", "nfs4"),
        ("/network", "ext4"),
        ("/net/with blank/a", "fuse.sshfs"),
        ("/twice/x", "virtiofs"),
    ],
)
def test_the_deepest_and_latest_mount_counts(path: str, kind: str) -> None:
    assert file_system_type(Path(path), table=TABLE) == kind


def test_this_machines_own_table_is_read() -> None:
    assert file_system_type(Path("/proc/self")) == "proc"


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "fuse.sshfs"])
def test_file_systems_others_write_to_are_shared(kind: str) -> None:
    assert is_shared(kind)


@pytest.mark.parametrize("kind", ["ext4", "tmpfs", "xfs", "btrfs", "overlay", "fuseblk", ""])
def test_file_systems_of_this_kernel_are_not(kind: str) -> None:
    assert not is_shared(kind)

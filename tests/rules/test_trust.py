from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from fwdperm.errors import EnvironmentFailure
from fwdperm.rules.trust import TrustStore

if TYPE_CHECKING:
    from pathlib import Path

DIGEST, OTHER = "a" * 64, "b" * 64


def test_trust_is_given_to_a_path_with_its_content(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "state" / "trust.json")
    file = tmp_path / "p.toml"
    assert not store.is_trusted(file, digest=DIGEST)
    store.trust(file, digest=DIGEST)
    assert store.is_trusted(file, digest=DIGEST)
    assert not store.is_trusted(file, digest=OTHER)
    assert not store.is_trusted(tmp_path / "q.toml", digest=DIGEST)
    assert stat.S_IMODE((tmp_path / "state" / "trust.json").stat().st_mode) == 0o600
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["trust.json"]


def test_another_process_sees_trust_come_and_go(tmp_path: Path) -> None:
    mine, theirs = TrustStore(tmp_path / "t"), TrustStore(tmp_path / "t")
    file = tmp_path / "p.toml"
    mine.trust(file, digest=DIGEST)
    assert theirs.is_trusted(file, digest=DIGEST)
    assert theirs.revoke(file)
    assert not theirs.revoke(file)
    assert not mine.is_trusted(file, digest=DIGEST)


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\xff", b'{"v": 2, "files": {}}', b'{"v": 1, "files": {"x": true}}', b"[" * 100_000, b""],
)
def test_a_trust_file_that_cannot_be_read_trusts_nothing_and_is_not_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    store = TrustStore(path)
    assert not store.is_trusted(tmp_path / "p", digest=DIGEST)
    assert store.problem
    with pytest.raises(EnvironmentFailure, match="mend it or take it away"):
        store.trust(tmp_path / "p", digest=DIGEST)
    assert path.read_bytes() == content


def test_a_link_in_the_place_of_the_trust_file_is_not_followed(tmp_path: Path) -> None:
    real = TrustStore(tmp_path / "real")
    real.trust(tmp_path / "p", digest=DIGEST)
    (tmp_path / "t").symlink_to(tmp_path / "real")
    assert not TrustStore(tmp_path / "t").is_trusted(tmp_path / "p", digest=DIGEST)

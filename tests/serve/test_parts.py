"""What the parts of a daemon tell about themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwdperm.errors import EnvironmentFailure
from fwdperm.serve.parts import DaemonOptions, build_parts
from fwdperm.serve.status import read_status

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_heartbeat_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon serves, and children give up: `status` says why, as long as it lasts."""
    work = tmp_path / "work"
    work.mkdir()
    options = DaemonOptions(
        tmp_path / "root", tmp_path / "state", tmp_path / "config.toml", workspace=str(work), asks_here=False
    )
    parts = build_parts(options)

    def refuse(*_: object) -> None:
        raise EnvironmentFailure("no space left on device")

    def problems() -> tuple[str, ...]:
        parts.heart.tick()
        parts.heart.round()
        parts.tell_status()
        told = read_status(options.state)
        assert told is not None
        return told.problems

    try:
        parts.doorbell_is_alive = True
        parts.serve_sessions()
        assert problems() == ()
        with monkeypatch.context() as patched:
            patched.setattr(type(parts.transport), "beat", refuse)
            assert problems() == ("children may think that nobody serves: no space left on device",)
        assert problems() == ()
    finally:
        parts.close()

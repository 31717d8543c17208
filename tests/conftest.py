"""What holds for every test: no network, no thread left behind, and the same examples for everybody in the build."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")  # noqa: S104 - compared with, never bound to

hypothesis.settings.register_profile("build", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.load_profile("build" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that would leave this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test reached for the network: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    """Fail when a test leaves a thread that was not there before."""
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + 5
    while (
        left := [one for one in threading.enumerate() if one not in before and one.is_alive()]
    ) and time.monotonic() < end:
        time.sleep(0.01)
    assert left == [], f"threads left behind: {left}"

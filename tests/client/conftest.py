"""What the asking side's tests share: a responder that serves a tree the way the daemon does, and a private root."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Content = dict[str, Any] | bytes | None


def approve(_request: dict[str, Any]) -> dict[str, Any]:
    return {"approved": True, "state": "approved", "decidedBy": {"kind": "rule", "pattern": "git *"}}


class Responder(threading.Thread):
    """Answers every request in a tree with what `decide` makes of it; beats for every inbox it has seen.

    Attributes:
        seen: Every request that came, parsed, in order.
        came: Set whenever one came.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.decide: Callable[[dict[str, Any]], Content] = approve
        self.seen: list[dict[str, Any]] = []
        self.came = threading.Event()
        self._served: set[Path] = set()
        self.beats = True
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(0.001):
            for path in self.root.glob("sessions/*/requests/*.json"):
                self._serve(path)

    def _serve(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        request = json.loads(content)
        inbox = path.parent.parent
        if self.beats:
            beat(self.root, inbox.name)
        if path in self._served:
            return
        self._served.add(path)
        answer = self.decide(request)
        self.seen.append(request)
        self.came.set()
        if answer is None:
            return
        if isinstance(answer, dict):
            answer = json.dumps(complete(answer, content)).encode()
        target = inbox / "responses" / path.name
        temporary = target.with_suffix(".tmp")
        temporary.write_bytes(answer)
        temporary.rename(target)

    def stop(self) -> None:
        self._stopping.set()
        self.join()


def beat(root: Path, inbox: str, *, age_s: float = 0.0) -> None:
    """Write a heartbeat that is `age_s` seconds old."""
    serving = root / "serving"
    serving.mkdir(parents=True, exist_ok=True)
    path = serving / f"{inbox}.json"
    path.write_text(json.dumps({"sessionId": inbox, "pid": os.getpid(), "updatedAt": int(time.time() * 1000)}))
    os.utime(path, (time.time() - age_s,) * 2)


def complete(answer: dict[str, Any], content: bytes) -> dict[str, Any]:
    """Add what every answer of the daemon carries."""
    return {
        "requestId": json.loads(content)["id"],
        "requestDigest": hashlib.sha256(content).hexdigest(),
        "responderSessionId": "root",
        "respondedAt": 1,
        **answer,
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def responder(root: Path) -> Iterator[Responder]:
    thread = Responder(root)
    thread.start()
    yield thread
    thread.stop()


@pytest.fixture
def heartbeat(root: Path) -> Callable[..., None]:
    def make(inbox: str = "root", *, age_s: float = 0.0) -> None:
        beat(root, inbox, age_s=age_s)

    return make

"""A request file that changes, comes again, or cannot be answered at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import structlog

from fwdperm.inbox.protocol import Identity, UnreadableCode, UnreadableEntry
from fwdperm.journal.query import query_journal
from fwdperm.serve.logs import configure_logs
from fwdperm.sessions.registry import RecordedSession
from fwdperm.settings import HALF_WRITTEN_S
from fwdperm.testing import FakeClock, MemoryTransport, Simulation
from fwdperm.wire.proof import prove
from fwdperm.wire.request_file import read_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fwdperm.journal.log import Journal

GIT = '[rules.bash]\n"git *" = "allow"\n'


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


def _decided(journal: Journal, stem: str) -> int:
    return sum(line.kind == "decided" and line.data.get("id") == stem for line in query_journal(journal.directory))


@pytest.mark.parametrize("then", ["a link", "other words"])
def test_a_half_written_file_that_becomes_something_bad_is_decided_once(tmp_path: Path, then: str) -> None:
    """The look at half-written files came back to it, and the journal got a second decision for one id."""
    sim = Simulation(tmp_path / "journal", GIT)
    sim.transport.drop("root", "x1", b'{"id": "x1",')
    sim.turn()
    if then == "a link":
        sim.lifecycle.intake.receive(
            [UnreadableEntry("root", "x1", UnreadableCode.SYMLINK, "is a symbolic link", 0, Identity(1, 99, 0, 1))]
        )
        sim.lifecycle.flush()
    else:
        sim.transport.drop("root", "x1", b'{"id": nonsense}')
        sim.turn()
    sim.clock.advance(HALF_WRITTEN_S + 1)
    sim.turn()
    assert _decided(sim.journal, "x1") == 1
    sim.close()


def test_a_recorded_answer_is_repeated_when_there_is_room_again(tmp_path: Path) -> None:
    """A crash left the request lying and the next daemon found no room for its answer: it must not be forgotten."""
    clock = FakeClock()
    transport = MemoryTransport(clock)
    first = Simulation(tmp_path / "journal", GIT, clock=clock, transport=transport)
    stem = first.ask("bash", "git status")
    transport.failing = "no space left"
    first.turn()
    first.close()
    transport._handed.clear()
    second = Simulation(tmp_path / "journal", GIT, clock=clock, transport=transport)
    second.turn()
    assert second.outcome(stem) is None
    transport.failing = ""
    second.lifecycle.outbox.retry()
    answer = second.outcome(stem)
    assert answer is not None
    assert answer["approved"] is True
    assert _decided(second.journal, stem) == 1
    second.close()


def test_a_proven_request_proves_nothing_under_another_id_inbox_name_or_content(tmp_path: Path) -> None:
    """The proof covers id, time, session, agent, surface, values and directory; the inbox is checked beside it."""
    sim = Simulation(tmp_path / "journal", GIT)
    sim.sessions.record([_KNOWN], running=["fix"])
    body = _proven()
    sim.transport.drop("build", "x1", json.dumps(body).encode())
    sim.turn()
    assert _is_proven(sim, body)
    intent = body["accessIntent"]
    assert isinstance(intent, dict)
    for change in (
        {"id": "x2"},
        {"createdAt": 5},
        {"requesterSessionId": "fix "},
        {"requesterAgentName": "boss"},
        {"accessIntent": intent | {"matchValues": ["git push"]}},
        {"accessIntent": intent | {"matchValues": ["git status", "git push"]}},
        {"accessIntent": intent | {"surface": "read"}},
        {"accessIntent": intent | {"requesterCwd": "/elsewhere"}},
        {"proof": ""},
        {"proof": "\u00e9" * 64},
    ):
        assert not _is_proven(sim, body | change), change
    assert not _is_proven(sim, body | {"targetSessionId": "root"}, inbox="root")
    sim.sessions.record([_KNOWN], running=[])
    assert not _is_proven(sim, body)
    sim.close()


_KNOWN = RecordedSession("fix", "build", agent="fixer", token="t" * 64)


def _proven() -> dict[str, object]:
    proof = prove(
        "t" * 64,
        request_id="x1",
        created_ms=1,
        session="fix",
        agent="fixer",
        surface="bash",
        values=["git status"],
        cwd="/w",
    )
    return {
        "id": "x1",
        "createdAt": 1,
        "requesterSessionId": "fix",
        "targetSessionId": "build",
        "requesterAgentName": "fixer",
        "accessIntent": {"surface": "bash", "matchValues": ["git status"], "requesterCwd": "/w"},
        "proof": proof,
    }


def _is_proven(sim: Simulation, body: dict[str, object], *, inbox: str = "build") -> bool:
    request = read_request(json.dumps(body).encode(), stem=str(body["id"]), inbox=inbox)
    return sim.sessions.is_proven(request)

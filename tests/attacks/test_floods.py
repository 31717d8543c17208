"""Somebody who sends more than anybody needs: of one thing, of many things, or of what is costly to look at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from fwdperm.decision.evaluation import _look_up
from fwdperm.inbox import tree as tree_module
from fwdperm.inbox.tree import InboxTree
from fwdperm.journal.log import Journal
from fwdperm.journal.segments import JournalFailed
from fwdperm.serve import outbox as outbox_module
from fwdperm.serve import waiting_room
from fwdperm.serve.logs import configure_logs
from fwdperm.settings import PATTERNS, UNCONSUMED_S, WAIT_S
from fwdperm.testing import FakeClock, Simulation
from fwdperm.units.breakdown import break_down
from fwdperm.units.suggest import suggest_patterns
from fwdperm.wire.request import Facts
from fwdperm.wire.request_file import read_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    made = Simulation(tmp_path / "journal", '[rules.bash]\n"git *" = "allow"\n')
    yield made
    made.close()


def _seconds(sim: Simulation, commands: int) -> float:
    sim.ask("bash", "ls a; " * commands)
    began = time.process_time()
    sim.turn()
    return time.process_time() - began


def test_a_line_of_ten_times_the_commands_takes_about_ten_times_as_long(sim: Simulation) -> None:
    """A line of 64,000 characters held everybody up for a minute when each command looked at all the others."""
    _seconds(sim, 50)
    few = min(_seconds(sim, 400 + more) for more in range(3))
    assert _seconds(sim, 4_000) < 40 * few


def test_a_request_that_shows_more_commands_than_anybody_reads_is_denied_unread(sim: Simulation) -> None:
    """Each text is analysed as a command line is; a megabyte of different ones took half a minute."""
    texts = [{"label": "command", "text": f"echo {number}; {'x' * 60_000}"} for number in range(3)]
    stem = sim.ask("bash", "git status", payload={"evidence": texts})
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert "characters of commands" in answer["denialReason"]
    twice = [{"label": "command", "text": texts[0]["text"]}] * 9
    stem = sim.ask("bash", "git status", payload={"evidence": twice})
    sim.turn()
    assert sim.outcome(stem) is None  # the same text again costs nothing: a person is asked, as it shows more


def test_a_small_value_with_large_facts_beside_it_is_not_remembered(sim: Simulation) -> None:
    """512 remembered findings of a megabyte each would stay for ever."""
    before = _look_up.cache_info().currsize
    for number in range(4):
        many = {f"o{each}-{number}": "/w/" + "x" * 1000 for each in range(60)}
        intent = {"surface": "bash", "matchValues": [f"git log {number}"], "requesterCwd": "/w", "operands": many}
        sim.ask("bash", f"git log {number}", accessIntent=intent)
    sim.turn()
    assert _look_up.cache_info().currsize == before


def test_a_number_no_clock_shows_is_no_failure_of_ours(sim: Simulation) -> None:
    stem = sim.ask("bash", "git status", createdAt=1.5 + sim.clock.wall_ms(), deadlineMs=10**400)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is True


class _Busy(FakeClock):
    """A clock by which looking at a request takes a second."""

    def __init__(self) -> None:
        super().__init__()
        self.cost = 0.0

    def wall_ms(self) -> int:
        self.advance(self.cost)
        return super().wall_ms()


def test_an_inbox_of_costly_requests_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """The first wake-up answers somebody from every inbox it comes to, and what is put off is answered later."""
    clock = _Busy()
    sim = Simulation(tmp_path / "journal", '[rules.bash]\n"git *" = "allow"\n', clock=clock)
    hostile = [sim.ask("bash", "git status", inbox="flood", session="x") for _ in range(20)]
    honest = sim.ask("bash", "git status")
    clock.cost = 0.05
    wakes = 0
    while sim.outcome(honest) is None:
        sim.turn()
        wakes += 1
    assert wakes <= 2
    assert sim.lifecycle.intake.put_off() == {"flood"}
    while sim.lifecycle.intake.put_off():
        sim.turn()
        wakes += 1
    assert all(sim.outcome(stem, inbox="flood") for stem in hostile)
    assert 2 < wakes <= len(hostile) + 2
    clock.cost = 0.0
    sim.close()


def test_a_letter_that_cannot_even_be_refused_stops_no_other(sim: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile, honest = sim.ask("bash", "git status"), sim.ask("bash", "git log")
    put = sim.lifecycle.outbox.put

    def failing(arrival: Any, decision: Any, **more: Any) -> None:
        if arrival.request.id == hostile:
            raise RuntimeError("planted")
        put(arrival, decision, **more)

    monkeypatch.setattr(sim.lifecycle.outbox, "put", failing)
    sim.turn()
    assert sim.outcome(hostile) is None
    assert sim.outcome(honest) is not None


def test_questions_without_number_leave_the_other_inboxes_their_places(
    sim: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_room, "WAITING_INBOX", 5)
    monkeypatch.setattr(waiting_room, "WAITING", 8)
    flood = [sim.ask("bash", f"make {each}", inbox="one", session="x") for each in range(7)]
    more = [sim.ask("bash", f"make {each}", inbox="two", session="x") for each in range(3)]
    sim.turn()
    told = [sim.outcome(stem, inbox="one") for stem in flood]
    assert [answer is None for answer in told] == [True] * 5 + [False] * 2
    assert told[-1] is not None
    assert told[-1]["decidedBy"]["code"] == "unavailable"
    assert "nobody refused it" in told[-1]["denialReason"]
    honest = sim.ask("bash", "make mine")
    sim.turn()
    assert sim.outcome(honest) is None
    assert sim.outcome(flood[4], inbox="one") is not None
    assert all(sim.outcome(stem, inbox="two") is None for stem in more)
    assert len(sim.lifecycle.room.waiting) == len(sim.queue) == 8


def test_questions_of_many_bytes_are_bounded_by_those(sim: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_room, "WAITING_INBOX_BYTES", 250_000)
    for each in range(9):
        sim.ask("bash", f"make {each}", message="x" * 60_000)
    sim.turn()
    assert len(sim.queue) == 4


def test_answers_that_an_inbox_does_not_take_are_given_up_when_nobody_waits_for_them(sim: Simulation) -> None:
    """A file in the place of `responses/` made every answer fail, and each was tried again every second for ever."""
    sim.transport.failing = "not a directory"
    for _ in range(5):
        sim.ask("bash", "git status")
    sim.turn()
    outbox = sim.lifecycle.outbox
    sim.lifecycle.outbox.retry()
    assert len(outbox._unpublished) == 5
    sim.clock.advance(WAIT_S + UNCONSUMED_S + 1)
    sim.lifecycle.outbox.retry()
    assert outbox._unpublished == []
    sim.transport.failing = ""
    sim.lifecycle.outbox.retry()
    assert sim.transport.answers == {}


def test_only_so_many_unpublished_answers_are_tried_in_one_second(
    sim: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "UNSENT", 2)
    sim.transport.failing = "not a directory"
    for _ in range(5):
        sim.ask("bash", "git status")
    sim.turn()
    sim.transport.failing = ""
    seen = []
    for _ in range(3):
        sim.lifecycle.outbox.retry()
        seen.append(len(sim.transport.answers))
    assert seen == [2, 4, 5]


def test_an_outage_of_the_journal_does_not_fill_the_memory(sim: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "UNRECORDED", 3)
    monkeypatch.setattr(Journal, "commit", _no_disk)
    for _ in range(5):
        sim.ask("bash", "git status")
        sim.turn()
    assert len(sim.lifecycle.outbox._unrecorded) == 3
    monkeypatch.undo()
    configure_logs(-1)


def _no_disk(_: Journal) -> int:
    raise JournalFailed("no space left on device")


def test_answers_planted_without_number_are_looked_at_a_part_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "_ANSWERS", 10)
    tree = InboxTree(tmp_path)
    tree.ensure("root")
    place = tree.layout.responses("root")
    for each in range(25):
        (place / f"x{each}.json").write_bytes(b"{}")
        (place / f"d{each}.json").mkdir()
    seen = []
    while unread := tree.responses("root"):
        seen.append(len(unread))
        for one in unread:
            assert tree.remove_response("root", one.stem)
    assert sum(seen) == 25
    assert max(seen) <= 10
    tree.close()


def test_suggestions_take_about_ten_times_as_long_for_ten_times_the_commands() -> None:
    """They were worked out for each command by looking at all the others: four seconds for a line of ten thousand."""
    took = []
    for commands in (50, 500):  # a line of more is not read to its end, and nothing is suggested for it
        facts = Facts("bash", ("ls a; " * commands,), cwd="/w")
        made = break_down(facts)
        began = time.process_time()
        assert len(suggest_patterns(facts, made)) == 1
        took.append(time.process_time() - began)
    assert took[1] < 30 * took[0]


def test_more_patterns_than_one_answer_records_are_not_suggested(sim: Simulation) -> None:
    text = "; ".join(f"c{each} x" for each in range(PATTERNS + 1))
    stem = sim.ask("bash", text)
    facts = read_request(sim.transport.requests["root", stem][0], stem=stem, inbox="root").facts
    assert facts is not None
    assert suggest_patterns(facts, break_down(facts)) == ()

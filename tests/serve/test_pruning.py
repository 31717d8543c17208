"""When the daemon gives up the journal's oldest lines: at quiet moments, one segment at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fwdperm.journal import Journal, Retention, StoppedRecord
from fwdperm.journal.segments import listing
from fwdperm.serve.pruning import Pruner
from fwdperm.settings import PRUNE_EVERY_S, PRUNE_LATEST_S, PRUNE_QUIET_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVERYTHING = Retention(size=1)


class Clock:
    """Both clocks; the test moves them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wall_ms(self) -> int:
        return 1_767_225_600_000 + int(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds


class Served:
    """A journal of many segments, and what prunes it."""

    def __init__(self, place: Path) -> None:
        self.clock = Clock()
        self.retention = EVERYTHING
        self.journal = Journal.open(place, clock=self.clock.wall_ms, segment_bytes=300)
        for _ in range(12):
            self.write()
        self.pruner = Pruner(self.journal, retention=lambda: self.retention, clock=self.clock)

    def write(self) -> None:
        self.journal.append(StoppedRecord(reason="a line"))
        self.journal.commit()

    def tick(self, seconds: float) -> int:
        """Let time pass, tick, and say how many segments went."""
        before = {path.name for path in listing(self.journal.directory)}
        self.clock.seconds += seconds
        self.pruner.tick()
        return len(before - {path.name for path in listing(self.journal.directory)})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.journal.close()


def test_one_segment_goes_when_nothing_was_written_for_a_moment(served: Served) -> None:
    """However many are not wanted: a clock that is wrong for a moment costs one."""
    assert served.tick(0) == 0
    assert served.tick(PRUNE_QUIET_S - 0.1) == 0
    assert served.tick(0.1) == 1
    assert served.tick(PRUNE_EVERY_S - 1) == 0
    assert served.tick(1) == 1


def test_nothing_goes_while_lines_are_written(served: Served) -> None:
    for _ in range(20):
        served.write()
        assert served.tick(PRUNE_QUIET_S) == 0


def test_where_writing_never_stops_a_segment_goes_all_the_same(served: Served) -> None:
    """Or the disk would fill."""
    gone = 0
    for _ in range(int(PRUNE_LATEST_S) // 100 + 1):
        served.write()
        gone += served.tick(100)
    assert gone == 1


def test_a_setting_that_changes_counts_from_the_next_look_on(served: Served) -> None:
    served.retention = Retention()
    served.tick(0)
    assert served.tick(PRUNE_QUIET_S) == 0
    served.retention = EVERYTHING
    assert served.tick(PRUNE_EVERY_S) == 1


def test_a_journal_that_the_disk_refuses_is_left_alone(served: Served) -> None:
    served.journal.healthy = False
    served.tick(0)
    assert served.tick(2 * PRUNE_LATEST_S) == 0
    served.journal.healthy = True


def test_a_prune_that_fails_stops_nothing_and_is_tried_again(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    served.tick(0)
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.unlink", refuse)
        assert served.tick(PRUNE_QUIET_S) == 0
    assert served.tick(PRUNE_EVERY_S) == 1

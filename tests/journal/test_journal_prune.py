"""Which segments may go, and what stays known of them. Real segments on a real disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fwdperm.journal.line import take_apart
from fwdperm.journal.log import Journal
from fwdperm.journal.prune import DAY_MS, Retention, prune_journal, surplus
from fwdperm.journal.record import DecidedRecord
from fwdperm.journal.replay import replay_journal
from fwdperm.journal.segments import JournalFailed, last_line, listing
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    from pathlib import Path

START = 1_767_225_600_000


class Days:
    """A clock in days; the test sets it."""

    def __init__(self) -> None:
        self.day = 0.0

    def __call__(self) -> int:
        return START + int(self.day * DAY_MS)


def opened(place: Path, clock: Days) -> Journal:
    return Journal.open(place, clock=clock, segment_bytes=500)


def filled(place: Path, clock: Days, days: int = 10) -> Journal:
    """Write one line a day, a few days to a segment."""
    journal = opened(place, clock)
    for day in range(days):
        clock.day = day
        journal.append(DecidedRecord(inbox="root", id=f"r{day}", response={"approved": True}))
        journal.commit()
    return journal


def newest_days(place: Path) -> list[float]:
    return [(take_apart(last_line(path)).at - START) / DAY_MS for path in listing(place)]


def test_segments_whose_newest_line_is_too_old_may_go(tmp_path: Path) -> None:
    """One line that is young enough keeps its whole segment."""
    clock = Days()
    filled(tmp_path, clock).close()
    clock.day = 10
    segments, newest = listing(tmp_path), newest_days(tmp_path)
    assert len(segments) > 3
    for days in (0.5, newest[-1] - newest[1], 9.5, 1_000):
        old = [path for path, day in zip(segments, newest, strict=True) if 10 - day > days]
        assert surplus(tmp_path, Retention(days=days), now_ms=clock()) == [path for path in old if path != segments[-1]]


def test_the_oldest_segments_may_go_until_the_rest_is_small_enough(tmp_path: Path) -> None:
    filled(tmp_path, Days()).close()
    segments = listing(tmp_path)
    sizes = [path.stat().st_size for path in segments]
    assert surplus(tmp_path, Retention(size=sum(sizes)), now_ms=START) == []
    assert surplus(tmp_path, Retention(size=sum(sizes) - 1), now_ms=START) == segments[:1]
    assert surplus(tmp_path, Retention(size=sum(sizes[2:])), now_ms=START) == segments[:2]


def test_the_segment_that_is_written_to_never_goes(tmp_path: Path) -> None:
    filled(tmp_path, Days()).close()
    everything = Retention(days=0.1, size=1)
    assert surplus(tmp_path, everything, now_ms=START + 1_000 * DAY_MS) == listing(tmp_path)[:-1]


def test_nothing_goes_that_nobody_gave_up(tmp_path: Path) -> None:
    """Without a setting the journal is kept for ever."""
    filled(tmp_path, Days()).close()
    assert surplus(tmp_path, Retention(), now_ms=START + 100_000 * DAY_MS) == []


@pytest.mark.parametrize("retention", [Retention(days=1), Retention(size=1)])
def test_a_segment_with_a_damaged_last_line_stays_and_so_do_all_after_it(tmp_path: Path, retention: Retention) -> None:
    filled(tmp_path, Days()).close()
    segments = listing(tmp_path)
    segments[1].write_bytes(segments[1].read_bytes()[:-2] + b"?\n")
    assert surplus(tmp_path, retention, now_ms=START + 100 * DAY_MS) == segments[:1]


def test_a_pruned_journal_is_sound_and_says_where_it_begins(tmp_path: Path) -> None:
    """The chain's new beginning is on record; a decision of a removed line is still spent, after a restart too."""
    clock = Days()
    journal = filled(tmp_path, clock)
    gone = listing(tmp_path)[:2]
    last = take_apart(last_line(gone[-1])).seq
    assert prune_journal(journal, count=2) == 2
    journal.close()
    found = verify_journal(tmp_path)
    assert found.findings == []
    assert found.first == last + 1
    assert ["2 segments were pruned before this line" in str(note) for note in found.notes] == [True]
    for path in tmp_path.glob("checkpoint*"):
        path.unlink()
    known = replay_journal(tmp_path).state
    assert all(known.is_decided("root", f"r{day}") for day in range(10))


def test_damage_that_was_pruned_away_is_still_found(tmp_path: Path) -> None:
    """Waiting until the evidence is old enough to go does not make a journal sound."""
    clock = Days()
    filled(tmp_path, clock, days=4).close()
    first = listing(tmp_path)[0]
    first.write_bytes(first.read_bytes().replace(b'"r0"', b'"x0"'))
    for path in tmp_path.glob("checkpoint*"):
        path.unlink()
    journal = filled(tmp_path, clock)
    assert journal.state.damage == 1
    prune_journal(journal, count=100)
    journal.close()
    (finding,) = verify_journal(tmp_path).findings
    assert finding.what == "the journal had been damaged before segments were pruned: 1 times"


def test_a_prune_that_the_disk_refuses_leaves_nothing_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every segment is still there, and the next line is not preceded by an anchor for what never happened."""
    journal = filled(tmp_path, Days())
    before = listing(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.pwrite", refuse)
        with pytest.raises(JournalFailed):
            prune_journal(journal, count=2)
    assert listing(tmp_path)[: len(before)] == before
    assert journal.pending == 0
    assert journal.recover()
    journal.close()
    assert verify_journal(tmp_path).findings == []
    assert b'"kind":"pruned"' not in b"".join(path.read_bytes() for path in before)

"""Reading for people."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.journal.filters import COLUMNS, Filter
from fwdperm.journal.line import GENESIS, encode, line_of
from fwdperm.journal.log import Journal
from fwdperm.journal.query import export_journal, follow_journal, query_journal, tail_journal
from fwdperm.journal.record import DecidedRecord, DeliveredRecord, RepliedRecord, SessionSeenRecord
from fwdperm.journal.sanitize import Sanitized
from fwdperm.journal.segments import listing
from fwdperm.wire.decision import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    ticks = iter(range(1_000, 9_000))
    journal = Journal.open(tmp_path / "j", clock=lambda: next(ticks), segment_bytes=2_000)
    for number in range(40):
        journal.append(
            DecidedRecord(
                inbox="root",
                id=f"r{number}",
                session=f"s{number % 3}",
                agent="builder" if number % 2 else "ревьюер",
                surface="bash",
                values=(f"git push {number}",),
                outcome=Outcome.APPROVED if number % 4 == 0 else Outcome.DENIED,
                stage=Stage.HUMAN if number % 4 == 0 else Stage.NOBODY,
                note="Fine by ME" if number == 8 else "",
            )
        )
        journal.commit()
    journal.close()
    return tmp_path / "j"


def ids(lines: Iterator[object] | list[object]) -> list[int]:
    return [int(line.data["id"][1:]) for line in lines]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), list(range(40))),
        (Filter(since_ms=1_010, until_ms=1_012), [10, 11]),
        (Filter(session="s1"), list(range(1, 40, 3))),
        (Filter(agent="ревьюер"), list(range(0, 40, 2))),
        (Filter(outcome="approved"), list(range(0, 40, 4))),
        (Filter(outcome="denied", session="s0"), [n for n in range(40) if n % 4 and n % 3 == 0]),
        (Filter(stage="human", agent="builder"), []),
        (Filter(stage="nobody", id="r5"), [5]),
        (Filter(surface="read"), []),
        (Filter(text="fine by me"), [8]),
        (Filter(text="PUSH 17"), [17]),
        (Filter(kind="decided", inbox="root", id="r3"), [3]),
    ],
)
def test_a_filter_gives_the_lines_that_match(place: Path, wanted: Filter, expected: list[int]) -> None:
    assert ids(query_journal(place, wanted)) == expected
    assert ids(tail_journal(place, 100, wanted=wanted)) == expected


@given(st.text(max_size=8), st.text(max_size=8), st.sampled_from(["session", "agent", "surface", "inbox", "id"]))
def test_the_look_at_the_bytes_never_loses_a_line(written: str, wanted: str, name: str) -> None:
    line = line_of(Sanitized(DecidedRecord(**{name: written})), seq=1, at=1, prev=GENESIS)
    chosen = Filter(**{name: wanted})
    assert not chosen.matches(line) or chosen.may_match(encode(line))


@pytest.mark.parametrize("n", [0, 1, 3, 39, 40, 41])
def test_the_tail_is_the_last_lines_of_all_segments(place: Path, n: int) -> None:
    assert len(listing(place)) > 3
    assert ids(tail_journal(place, n)) == list(range(40))[max(0, 40 - n) :]


def test_a_tail_longer_than_a_block_and_a_line_that_is_being_written(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j", clock=lambda: 1)
    for number in range(3):
        journal.append(DecidedRecord(id=f"r{number}", values=tuple("é" * 900 for _ in range(8)), reason="é" * 1900))
    journal.commit()
    journal.close()
    assert listing(tmp_path / "j")[0].stat().st_size > 3 * 65_536 // 2
    with listing(tmp_path / "j")[0].open("ab") as stream:
        stream.write(b'{"at":')  # not a whole line yet, though it may be whole JSON
        stream.write(b'1,"id":"r9","kind":"decided","prev":"","seq":4,"v":1}')
    assert ids(tail_journal(tmp_path / "j", 2)) == [1, 2]
    assert ids(query_journal(tmp_path / "j")) == [0, 1, 2]


def test_an_unreadable_line_is_skipped(place: Path) -> None:
    file = listing(place)[0]
    file.write_bytes(b"\0rubbish\n" + file.read_bytes())
    assert ids(query_journal(place)) == list(range(40))
    assert ids(tail_journal(place, 100)) == list(range(40))


def test_following_sees_lines_as_they_come_over_rotations(tmp_path: Path) -> None:
    """Each time nothing new is there the writer writes one line more."""
    journal = Journal.open(tmp_path / "j", clock=lambda: 1, segment_bytes=600)
    todo = iter(range(20))
    over = False

    def write() -> None:
        nonlocal over
        number = next(todo, None)
        if number is None:
            over = True
            return
        journal.append(DecidedRecord(id=f"r{number}"))
        journal.commit()

    seen = ids(follow_journal(tmp_path / "j", after=2, pause=write, stop=lambda: over))
    journal.close()
    assert len(listing(tmp_path / "j")) > 3
    assert seen == list(range(2, 20))


def test_a_table_has_one_row_a_line_and_no_formula(place: Path) -> None:
    journal = Journal.open(place, clock=lambda: 1)
    journal.append(RepliedRecord(id="r99", reply="once", feedback="=HYPERLINK(1)\nsecond"))
    journal.commit()
    journal.close()
    out = io.StringIO()
    assert export_journal(query_journal(place), out, form="csv") == 41
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert tuple(rows[0]) == COLUMNS
    assert (rows[0]["outcome"], rows[1]["outcome"], rows[1]["stage"]) == ("approved", "denied", "nobody")
    assert rows[-1]["feedback"] == "'=HYPERLINK(1)\nsecond"


def test_json_lines_hold_everything(place: Path) -> None:
    out = io.StringIO()
    export_journal(query_journal(place, Filter(id="r8")), out, form="jsonl")
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["note"] == "Fine by ME"


def test_an_empty_or_missing_journal_has_no_lines(tmp_path: Path) -> None:
    assert list(query_journal(tmp_path / "nothing")) == []
    assert tail_journal(tmp_path / "nothing", 3) == []
    Journal.open(tmp_path / "j", clock=lambda: 1).close()
    assert tail_journal(tmp_path / "j", 3) == []


def test_records_of_other_kinds_take_part(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "j", clock=lambda: 1)
    journal.append(SessionSeenRecord(session="s1"))
    journal.append(DeliveredRecord(inbox="root", id="r1"))
    journal.close()
    assert [line.kind for line in query_journal(tmp_path / "j", Filter(session="s1"))] == ["session_seen"]
    assert [line.kind for line in query_journal(tmp_path / "j", Filter(outcome="denied"))] == []

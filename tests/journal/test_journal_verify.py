"""Whatever is done to a journal without computing its chain again is found."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.errors import OperatorError
from fwdperm.journal.log import Journal
from fwdperm.journal.prune import prune_journal
from fwdperm.journal.record import DecidedRecord, SessionSeenRecord, StoppedRecord
from fwdperm.journal.segments import listing
from fwdperm.journal.verify import verify_journal


def written(place: Path, lines: int, *, segment_bytes: int = 1_200) -> None:
    journal = Journal.open(place, clock=lambda: 1_767_225_600_000, segment_bytes=segment_bytes)
    for number in range(lines):
        record: Any = SessionSeenRecord(session=f"s{number}", parent="root")
        if number % 2:
            record = DecidedRecord(inbox="root", id=f"r{number}", reason="é", response={"approved": True})
        journal.append(record)
        journal.commit()
    journal.close()


def harmed(place: Path, data: st.DataObject, how: str) -> None:
    """Do one kind of harm at a random place, the ends included."""
    file = data.draw(st.sampled_from(listing(place)))
    raw = file.read_bytes()
    lines = raw.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    match how:
        case "byte":
            spot = data.draw(st.integers(0, len(raw) - 1))
            changed = raw[:spot] + bytes([raw[spot] ^ data.draw(st.integers(1, 255))]) + raw[spot + 1 :]
        case "swap":
            other = data.draw(st.integers(0, len(lines) - 1).filter(lambda number: number != at))
            lines[at], lines[other] = lines[other], lines[at]
            changed = b"".join(lines)
        case "delete line":
            del lines[at]
            changed = b"".join(lines)
        case "insert line":
            lines.insert(data.draw(st.integers(0, len(lines))), lines[at])
            changed = b"".join(lines)
        case "insert byte":
            spot = data.draw(st.integers(0, len(raw)))
            changed = raw[:spot] + bytes([data.draw(st.integers(0, 255))]) + raw[spot:]
        case "delete byte":
            spot = data.draw(st.integers(0, len(raw) - 1))
            changed = raw[:spot] + raw[spot + 1 :]
        case _:
            changed = raw[: data.draw(st.integers(0, len(raw) - 1))]
    file.write_bytes(changed)


@pytest.mark.parametrize("how", ["byte", "swap", "delete line", "insert line", "insert byte", "delete byte", "cut"])
def test_any_harm_anywhere_is_found(how: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as root:
            place = Path(root) / "journal"
            written(place, 12)
            assert verify_journal(place).is_sound
            harmed(place, data, how)
            found = verify_journal(place)
            assert not found.is_sound or (how == "insert byte" and found.notes)

    check()


def test_a_clean_journal_has_nothing_to_say(tmp_path: Path) -> None:
    written(tmp_path / "j", 20)
    found = verify_journal(tmp_path / "j")
    assert (found.findings, found.notes, found.lines, found.first, found.last) == ([], [], 20, 1, 20)


def test_a_finding_names_file_and_line(tmp_path: Path) -> None:
    place = tmp_path / "j"
    written(place, 6, segment_bytes=1 << 20)
    file = listing(place)[0]
    file.write_bytes(file.read_bytes().replace(b'"r3"', b'"r4"'))
    (finding,) = verify_journal(place).findings
    assert str(finding).startswith("journal-000001.jsonl:5: does not follow the line before it")


@pytest.mark.parametrize(("which", "what"), [(0, "no prune accounts"), (2, "has number"), (-1, "were cut off")])
def test_a_whole_segment_missing_is_found(tmp_path: Path, which: int, what: str) -> None:
    written(tmp_path / "j", 20)
    listing(tmp_path / "j")[which].unlink()
    assert what in str(verify_journal(tmp_path / "j").findings)


def test_a_missing_head_is_found(tmp_path: Path) -> None:
    written(tmp_path / "j", 3)
    (tmp_path / "j" / "head.json").unlink()
    assert "is missing or unreadable" in str(verify_journal(tmp_path / "j").findings)


@pytest.mark.parametrize("name", [".", "journal-000001.jsonl", "head.json"])
def test_what_others_may_read_is_found(tmp_path: Path, name: str) -> None:
    written(tmp_path / "j", 3)
    (tmp_path / "j" / name).chmod(0o755)
    assert "is open to others" in str(verify_journal(tmp_path / "j").findings)


def test_a_link_or_a_second_name_is_found(tmp_path: Path) -> None:
    place = tmp_path / "j"
    written(place, 3)
    (tmp_path / "second").hardlink_to(place / "journal-000001.jsonl")
    (place / "journal-000002.jsonl").symlink_to(tmp_path / "second")
    text = str(verify_journal(place).findings)
    assert "has 2 names" in text
    assert "is not a regular file" in text


def test_an_interrupted_prune_is_sound_at_every_step(tmp_path: Path) -> None:
    """The anchor accounts for every segment it names, however many of them are gone."""
    place = tmp_path / "j"
    journal = Journal.open(place, clock=lambda: 1, segment_bytes=1_000)
    for number in range(20):
        journal.append(DecidedRecord(inbox="root", id=f"r{number}", response={"approved": True}))
        journal.commit()
    old = {path.name: path.read_bytes() for path in listing(place)[:-1]}
    prune_journal(journal, count=1_000)
    journal.append(StoppedRecord())
    journal.close()
    assert verify_journal(place).findings == []
    for name in reversed(list(old)):
        (place / name).write_bytes(old[name])
        (place / name).chmod(0o600)
        assert verify_journal(place).findings == []
    (place / list(old)[1]).unlink()
    assert not verify_journal(place).is_sound


def test_there_is_no_journal_where_none_is(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="there is no journal here"):
        verify_journal(tmp_path / "nothing")

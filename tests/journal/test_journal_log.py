"""Appending: nothing is acknowledged before it is durable, and a refusing disk never leaves half a record."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.errors import EnvironmentFailure, OperatorError
from fwdperm.journal.line import hash_of, take_apart
from fwdperm.journal.log import Journal
from fwdperm.journal.record import DecidedRecord, DeliveredRecord, RepairedRecord, SessionSeenRecord, StartedRecord
from fwdperm.journal.replay import replay_journal
from fwdperm.journal.segments import JournalFailed, listing, read_head
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANSWER = {"approved": True}


def opened(directory: Path, **more: Any) -> Journal:
    return Journal.open(directory, clock=lambda: 1_000, **more)


def decision(number: int) -> DecidedRecord:
    return DecidedRecord(inbox="root", id=f"r{number}", digest="d", response=ANSWER)


def content(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in listing(directory))


def numbers(directory: Path) -> list[int]:
    return [take_apart(raw).seq for raw in content(directory).splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def journal(place: Path) -> Iterator[Journal]:
    made = opened(place)
    yield made
    made.close()


def test_an_appended_line_is_nowhere_to_be_seen_before_its_commit(journal: Journal, place: Path) -> None:
    assert journal.append(decision(1)) == 1
    assert content(place) == b""
    assert not journal.state.is_decided("root", "r1")
    assert journal.commit() == 1
    assert numbers(place) == [1]
    assert journal.state.is_decided("root", "r1")


def test_many_lines_go_out_in_one_write_and_one_sync(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    write, sync = os.pwrite, os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (calls.append("sync"), sync(fd))[1])
    for number in range(128):
        journal.append(decision(number))
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: (calls.append("write"), write(fd, data, at))[1])
    journal.commit()
    assert calls == ["write", "sync", "write"]  # the last one is the head
    assert numbers(place) == list(range(1, 129))


def test_a_delivery_is_written_at_once_and_synced_with_the_next_commit(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed daemon must not forget what was delivered; a power cut may."""
    syncs: list[int] = []
    sync = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (syncs.append(fd), sync(fd))[1])
    journal.append(decision(1))
    journal.commit()
    journal.append(DeliveredRecord(inbox="root", id="r1"))
    assert (journal.commit(), len(syncs)) == (1, 1)
    assert numbers(place) == [1, 2]
    journal.append(decision(2))
    assert (journal.commit(), len(syncs)) == (3, 2)
    assert set(journal.state.undelivered) == {("root", "r2")}


def test_what_is_discarded_was_never_there(journal: Journal, place: Path) -> None:
    journal.append(decision(1))
    journal.commit()
    journal.append(DeliveredRecord(inbox="root", id="r1"))
    journal.commit()
    journal.append(decision(2))
    assert journal.discard() == 1
    assert journal.append(decision(3)) == 3
    journal.commit()
    assert numbers(place) == [1, 2, 3]
    assert not journal.state.is_decided("root", "r2")
    assert verify_journal(place).findings == []


def test_files_are_the_owners_alone_whatever_the_umask(place: Path) -> None:
    before = os.umask(0)
    try:
        journal = opened(place, segment_bytes=300)
        for number in range(4):
            journal.append(decision(number))
            journal.commit()
        journal.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}


def test_segments_follow_each_other_without_a_gap(place: Path) -> None:
    journal = opened(place, segment_bytes=1_000)
    for number in range(50):
        journal.append(decision(number))
        journal.commit()
    journal.close()
    assert len(listing(place)) > 5
    assert all(path.stat().st_size <= 1_000 for path in listing(place))
    assert numbers(place) == list(range(1, 51))
    assert verify_journal(place).findings == []


def test_what_a_killed_writer_left_is_made_durable_before_it_is_believed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lines can be read from memory and still be lost with the power: no answer is published from them."""
    opened(place).close()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", refuse(errno.EIO))
        with pytest.raises(JournalFailed, match="cannot open the journal"):
            opened(place)
    opened(place).close()


def test_a_second_writer_is_kept_out(journal: Journal, place: Path) -> None:
    assert journal.healthy
    with pytest.raises(OperatorError, match="another process writes this journal"):
        opened(place)


def test_a_writer_that_lost_its_lease_acknowledges_nothing_and_leaves_its_successor_alone(place: Path) -> None:
    """Two writers, as on two machines: the first was asleep when the second took over."""
    leases = {"first": True, "second": True}
    first = opened(place, may_write=lambda: leases["first"])
    first.append(decision(1))
    first.commit()
    leases["first"] = False
    second = opened(place, may_write=lambda: leases["second"])
    second.append(decision(2))
    second.commit()
    before = content(place)
    first.append(decision(3))
    with pytest.raises(JournalFailed, match="lease"):
        first.commit()
    assert not first.recover()
    first.abandon()
    assert content(place) == before
    assert numbers(place) == [1, 2]
    second.append(decision(4))
    second.close()
    assert len(listing(place)) == 2
    assert verify_journal(place).is_sound
    assert not first.state.is_decided("root", "r3")


def test_a_lease_lost_while_a_line_is_synced_leaves_the_line_to_the_successor_that_read_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worst moment: written and durable, not acknowledged, and already part of the successor's chain."""
    leases = {"first": True}
    first = opened(place, may_write=lambda: leases["first"])
    sync = os.fdatasync
    others: list[Journal] = []

    def asleep(descriptor: int) -> None:
        monkeypatch.setattr(os, "fdatasync", sync)
        sync(descriptor)
        leases["first"] = False
        others.append(opened(place, may_write=lambda: True))

    first.append(decision(1))
    monkeypatch.setattr(os, "fdatasync", asleep)
    with pytest.raises(JournalFailed, match="lease"):
        first.commit()
    first.abandon()
    assert others[0].state.is_decided("root", "r1")
    others[0].append(decision(2))
    others[0].close()
    assert numbers(place) == [1, 2]
    assert verify_journal(place).is_sound


def test_a_writer_that_has_its_lease_again_goes_on(place: Path) -> None:
    leases = {"first": True}
    journal = opened(place, may_write=lambda: leases["first"])
    leases["first"] = False
    journal.append(decision(1))
    with pytest.raises(JournalFailed):
        journal.commit()
    journal.discard()
    leases["first"] = True
    assert journal.recover()
    journal.append(decision(2))
    journal.close()
    assert verify_journal(place).is_sound


def test_closing_and_opening_reads_nothing_again(place: Path) -> None:
    journal = opened(place)
    journal.append(decision(1))
    journal.append(SessionSeenRecord(session="child", parent="root"))
    journal.close()
    again = opened(place)
    assert (again.replayed.from_checkpoint, again.replayed.lines) == (True, 0)
    assert again.state.is_decided("root", "r1")
    assert again.state.sessions["child"].parent == "root"
    assert again.append(StartedRecord()) == 3
    again.close()
    assert verify_journal(place).findings == []


# -- torn and damaged ------------------------------------------------------------------------------------------


def filled(place: Path, lines: int = 3) -> Path:
    journal = opened(place)
    for number in range(lines):
        journal.append(decision(number))
        journal.commit()
    journal.close()
    return listing(place)[-1]


@pytest.mark.parametrize("torn", [b"{", b'{"v":1}\n', b"\0" * 100, b"garbage\nmore garbage\n", b"\n"])
def test_a_torn_tail_is_cut_kept_and_noted(place: Path, torn: bytes) -> None:
    file = filled(place)
    with file.open("ab") as stream:
        stream.write(torn)
    journal = opened(place)
    assert (place / "torn-4.bin").read_bytes() == torn
    assert journal.state.damage == 0
    journal.append(decision(9))
    assert journal.commit() == 5
    journal.close()
    found = verify_journal(place)
    assert found.findings == []
    assert any("recorded repair (torn)" in note.what for note in found.notes)
    assert verify_journal(place).last == 5


def test_a_whole_line_behind_a_torn_one_is_not_believed(place: Path) -> None:
    """Blocks of one unacknowledged write may reach the disk in any order."""
    file = filled(place)
    whole = file.read_bytes().splitlines()[-1]
    with file.open("ab") as stream:
        stream.write(b"\0\0\0\n" + whole.replace(b'"r2"', b'"r7"').replace(b'"seq":3', b'"seq":5') + b"\n")
    journal = opened(place)
    assert not journal.state.is_decided("root", "r7")
    assert journal.commit() == 4
    journal.close()
    assert verify_journal(place).findings == []


def test_lines_cut_off_the_end_are_noticed_and_stay_a_finding(place: Path) -> None:
    file = filled(place)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:2]))
    before = file.read_bytes()
    journal = opened(place)
    assert journal.state.damage == 1
    assert journal.state.is_decided("root", "r0")
    assert journal.append(decision(9)) == 5
    journal.commit()
    journal.close()
    assert file.read_bytes() == before
    assert "the head names line 3, the log ends at 2" in str(verify_journal(place).findings)
    again = opened(place)
    assert (again.state.damage, again.append(StartedRecord())) == (1, 6)
    again.close()


def test_an_edited_line_is_noticed_and_teaches_nothing_but_stays_decided(place: Path) -> None:
    file = filled(place)
    for side in ("checkpoint.json", "checkpoint.keys"):
        (place / side).unlink()
    file.write_bytes(file.read_bytes().replace(b'"id":"r1"', b'"id":"rX"'))
    before = file.read_bytes()
    journal = opened(place)
    assert journal.state.damage == 1
    assert journal.state.is_decided("root", "rX")
    assert set(journal.state.undelivered) == {("root", "r0"), ("root", "r2")}
    journal.close()
    assert file.read_bytes() == before
    assert not verify_journal(place).is_sound


def test_the_last_line_edited_is_noticed_by_the_head(place: Path) -> None:
    file = filled(place)
    (place / "checkpoint.json").unlink()
    file.write_bytes(file.read_bytes().replace(b'"id":"r2"', b'"id":"rX"'))
    journal = opened(place)
    assert journal.state.damage == 1
    assert ("root", "rX") not in journal.state.undelivered
    journal.close()
    again = replay_journal(place, use_checkpoint=False)
    assert (again.faults, again.state.damage) == ([], 1)
    assert ("root", "rX") not in again.state.undelivered


@pytest.mark.parametrize("line", [0, 1, 2])
def test_one_line_with_an_edited_version_is_damage_and_does_not_stop_the_start(place: Path, line: int) -> None:
    file = filled(place)
    (place / "checkpoint.json").unlink()
    lines = file.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b'"v":1', b'"v":2')
    file.write_bytes(b"".join(lines))
    journal = opened(place)
    assert journal.state.damage == 1
    journal.close()
    assert not verify_journal(place).is_sound


def test_every_segment_gone_is_damage_not_a_new_beginning(place: Path) -> None:
    filled(place).unlink()
    journal = opened(place)
    assert (journal.state.damage, journal.append(StartedRecord())) == (1, 5)
    journal.close()
    assert "all 3 lines are missing" in str(verify_journal(place).findings)


def test_a_newer_format_stops_the_start(place: Path) -> None:
    """Its lines and its head fit each other."""
    file = filled(place)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b'"v":1', b'"v":2')
    file.write_bytes(b"".join(lines))
    head = json.loads((place / "head.json").read_bytes()) | {"hash": hash_of(lines[-1][:-1])}
    (place / "head.json").write_text(json.dumps(head))
    (place / "checkpoint.json").unlink()
    with pytest.raises(OperatorError, match="version 2"):
        opened(place)


def test_a_link_planted_as_a_segment_is_not_followed(place: Path, tmp_path: Path) -> None:
    place.mkdir(mode=0o700)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (place / "journal-000001.jsonl").symlink_to(victim)
    with pytest.raises(JournalFailed):
        opened(place)
    assert victim.read_text() == "mine"


# -- a disk that refuses ---------------------------------------------------------------------------------------


def refuse(code: int) -> Callable[..., int]:
    def refused(*_: Any) -> int:
        raise OSError(code, os.strerror(code))

    return refused


def short(_: int, data: bytes, __: int) -> int:
    return len(data) // 2


@pytest.mark.parametrize("name", ["pwrite", "fdatasync"])
def test_a_refused_commit_records_nothing_and_recovers(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    journal.append(decision(1))
    journal.commit()
    before = content(place)
    journal.append(decision(2))
    with monkeypatch.context() as patch:
        patch.setattr(os, name, refuse(errno.EIO))
        with pytest.raises(JournalFailed, match="cannot write the journal") as failure:
            journal.commit()
        assert isinstance(failure.value, EnvironmentFailure)
        assert not journal.healthy
        assert content(place) == before
        assert not journal.recover()
        with pytest.raises(JournalFailed):
            journal.commit()
        assert content(place) == before
    assert not journal.state.is_decided("root", "r2")
    assert journal.discard() == 1
    assert journal.recover()
    assert (journal.healthy, journal.problem) == (True, "")
    journal.append(decision(3))
    assert journal.commit() == 3
    assert numbers(place) == [1, 2, 3]
    assert not journal.state.is_decided("root", "r2")
    assert verify_journal(place).findings == []


def test_what_waits_is_recorded_by_the_recovery_when_it_is_not_discarded(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(DeliveredRecord(inbox="root", id="r0"))
    journal.commit()
    journal.append(decision(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", refuse(errno.EIO))
        with pytest.raises(JournalFailed):
            journal.commit()
        assert not journal.recover()
    assert journal.recover()
    assert journal.state.is_decided("root", "r1")
    assert [take_apart(raw).kind for raw in content(place).splitlines()] == ["delivered", "decided", "repaired"]


def test_after_a_failed_sync_the_segment_is_not_written_again(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel reports a lost write once and then forgets it."""
    journal.append(decision(1))
    journal.commit()
    journal.append(decision(2))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", refuse(errno.EIO))
        with pytest.raises(JournalFailed):
            journal.commit()
    assert journal.recover()
    assert [len(path.read_bytes().splitlines()) for path in listing(place)] == [1, 2]
    assert verify_journal(place).findings == []


def test_a_short_write_is_a_full_disk_though_no_error_came(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(decision(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", short)
        with pytest.raises(JournalFailed, match="bytes were written"):
            journal.commit()
    assert journal.recover()
    assert numbers(place) == [1, 2]


def test_a_disk_that_will_not_be_cut_back_keeps_the_journal_closed(
    journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unacknowledged bytes that stay could be read as a record."""
    journal.append(decision(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", refuse(errno.EIO))
        patch.setattr(os, "ftruncate", refuse(errno.EROFS))
        with pytest.raises(JournalFailed):
            journal.commit()
        patch.undo()
        patch.setattr(os, "ftruncate", refuse(errno.EROFS))
        assert not journal.recover()
    journal.discard()
    assert journal.recover()
    assert [take_apart(raw).kind for raw in content(place).splitlines()] == ["repaired"]
    assert verify_journal(place).findings == []


@pytest.mark.parametrize("how", ["removed", "cut", "appended to"])
def test_a_segment_changed_by_somebody_else_is_left_as_evidence(journal: Journal, place: Path, how: str) -> None:
    for number in range(3):
        journal.append(decision(number))
        journal.commit()
    file = listing(place)[-1]
    match how:
        case "removed":
            file.unlink()
        case "cut":
            os.truncate(file, file.stat().st_size // 2)
        case _:
            file.write_bytes(file.read_bytes() + b"x\n")
    journal.append(decision(9))
    with pytest.raises(JournalFailed, match="changed or removed by somebody else"):
        journal.commit()
    assert journal.recover()
    assert journal.state.damage == 1
    assert journal.commit() == 5
    assert not verify_journal(place).is_sound


def test_a_rotation_that_cannot_happen_is_a_refused_commit(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = opened(place, segment_bytes=400)
    journal.append(decision(1))
    journal.commit()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse(errno.ENOSPC))
        journal.append(decision(2))
        journal.append(decision(3))
        with pytest.raises(JournalFailed):
            journal.commit()
        assert numbers(place) == [1]
    assert journal.recover()
    journal.close()
    assert numbers(place) == [1, 2, 3, 4]
    assert verify_journal(place).findings == []


def test_a_checkpoint_that_cannot_be_saved_costs_time_not_records(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = opened(place, checkpoint_lines=1)
    monkeypatch.setattr(Path, "replace", refuse(errno.ENOSPC))
    journal.append(decision(1))
    assert journal.commit() == 1
    journal.close()
    assert not (place / "checkpoint.json").exists()
    assert replay_journal(place).state.is_decided("root", "r1")


FILLER = textwrap.dedent("""
    import resource, sys
    from pathlib import Path
    from fwdperm.journal.log import Journal
    from fwdperm.journal.segments import JournalFailed
    from fwdperm.journal.record import DecidedRecord

    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
    journal = Journal.open(Path(sys.argv[1]), clock=lambda: 1)
    number = 0
    def put():
        global number
        number += 1
        journal.append(DecidedRecord(inbox="root", id=f"r{number}", response={"approved": True}, reason="x" * 700))
        journal.commit()
        print(number, flush=True)
    try:
        while True:
            put()
    except JournalFailed:
        print("refused", flush=True)
    journal.discard()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert journal.recover()
    put()
    journal.close()
""")


def test_a_really_full_file_acknowledges_nothing_torn_and_recovers_without_a_restart(place: Path) -> None:
    """The kernel itself cuts the write short, at a limit that falls inside a line."""
    done = subprocess.run([sys.executable, "-c", FILLER, str(place)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    words = done.stdout.split()
    acknowledged = {f"r{word}" for word in words if word != "refused"}
    assert "refused" in words
    assert len(acknowledged) > 10
    found = {take_apart(raw).data.get("id") for raw in content(place).splitlines()} - {None}
    assert found == acknowledged
    assert verify_journal(place).findings == []


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    mount = tmp_path / "tiny"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(mount)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"mounting a tmpfs needs root: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


def test_a_full_file_system_recovers_when_room_is_made(tiny: Path) -> None:
    ballast = tiny / "ballast"
    ballast.write_bytes(b"x" * 20_000)
    place = tiny / "journal"
    journal = opened(place)
    number = 0
    with pytest.raises(JournalFailed):  # noqa: PT012 - it is not known which one fails
        while True:
            number += 1
            journal.append(decision(number))
            journal.commit()
    journal.discard()
    for _ in range(3):
        journal.recover()
    ballast.unlink()
    assert journal.recover()
    journal.append(decision(number + 1))
    journal.commit()
    assert not journal.state.is_decided("root", f"r{number}")
    journal.close()
    assert verify_journal(place).findings == []
    assert replay_journal(place, use_checkpoint=False).state.is_decided("root", f"r{number - 1}")


def test_the_head_names_the_last_acknowledged_line(journal: Journal, place: Path) -> None:
    journal.append(decision(1))
    journal.commit()
    assert read_head(place) == journal.durable
    assert verify_journal(place).last == 1


def test_a_repair_is_a_record_like_any_other(journal: Journal) -> None:
    assert journal.append(RepairedRecord(fault="disk")) == 1

"""Who may serve, and whose answer counts, when two daemons believed the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import structlog

from fwdperm.inbox import mounts
from fwdperm.inbox.decision_record import DecisionRecord
from fwdperm.journal.query import query_journal
from fwdperm.serve.logs import configure_logs
from fwdperm.serve.ownership import lies_shared, sharing_remark, take_ownership
from fwdperm.testing import FakeClock, MemoryTransport, Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


def daemons(tmp_path: Path, *, owner: list[bool]) -> tuple[Simulation, Simulation]:
    """Two that serve one root, each with a journal as it was when it took over: neither knows of the other."""
    clock = FakeClock()
    mail = MemoryTransport(clock)
    record = DecisionRecord(tmp_path / "state")
    stale = DecisionRecord(tmp_path / "state", is_owner=lambda: owner[0])
    one = Simulation(tmp_path / "one", '[rules.bash]\n"*" = "allow"\n', clock=clock, transport=mail, last_word=stale)
    two = Simulation(tmp_path / "two", '[rules.bash]\n"*" = "deny"\n', clock=clock, transport=mail, last_word=record)
    return one, two


def test_the_answer_that_was_recorded_first_is_the_one_that_is_published(tmp_path: Path) -> None:
    one, two = daemons(tmp_path, owner=[True])
    stem = two.ask("bash", "make")
    letters = two.transport.pending()
    two.lifecycle.intake.receive(letters)
    one.lifecycle.intake.receive(letters)
    two.lifecycle.flush()
    two.transport.answers.clear()  # its requester has read it
    one.lifecycle.flush()
    answer = one.outcome(stem)
    assert answer is not None
    assert answer["approved"] is False
    one.close()
    two.close()
    told = [line for line in query_journal(tmp_path / "one") if line.kind == "overruled"]
    assert [(line.data["id"], line.data.get("outcome", "denied")) for line in told] == [(stem, "denied")]
    assert "overruled" not in {line.kind for line in query_journal(tmp_path / "two")}


def test_an_owner_that_lost_its_lease_publishes_nothing_until_it_has_it_again(tmp_path: Path) -> None:
    owner = [False]
    one, two = daemons(tmp_path, owner=owner)
    stem = one.ask("bash", "make")
    one.turn()
    assert one.outcome(stem) is None
    owner[0] = True
    one.lifecycle.outbox.retry()
    answer = one.outcome(stem)
    assert answer is not None
    assert answer["approved"] is True
    one.close()
    two.close()


def test_a_replayed_id_never_gets_the_recorded_answer(tmp_path: Path) -> None:
    one, two = daemons(tmp_path, owner=[True])
    stem = one.ask("bash", "make")
    one.turn()
    assert one.outcome(stem) is not None
    one.transport.answers.clear()
    one.ask("bash", "rm -rf /srv", request_id=stem)
    one.turn()
    answer = one.outcome(stem)
    assert answer is not None
    assert (answer["approved"], answer["decidedBy"]["code"]) == (False, "replayed")
    one.close()
    two.close()


@pytest.fixture
def nfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of which the mount table says that other machines share it."""
    place = tmp_path / "nfs"
    place.mkdir()
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:50 / {place} rw - nfs4 server:/ rw\n")
    monkeypatch.setattr(mounts, "MOUNT_TABLE", table)
    return place


def test_where_the_root_is_shared_and_the_state_is_not_the_operator_is_told(nfs: Path, tmp_path: Path) -> None:
    said = sharing_remark(nfs / "root", tmp_path / "state")
    assert "a daemon on another host would not be seen" in said
    assert "XDG_STATE_HOME" in said
    assert sharing_remark(nfs / "root", nfs / "state") == ""
    assert sharing_remark(tmp_path / "root", tmp_path / "state") == ""
    assert sharing_remark(nfs / "root", tmp_path / "state", is_said=True) == ""


def test_a_state_on_a_shared_file_system_is_held_by_a_lease_and_another_by_a_lock(nfs: Path, tmp_path: Path) -> None:
    for state, is_shared, held_by in ((nfs / "state", True, "lease.1"), (tmp_path / "state", False, "lock")):
        assert lies_shared(state) is is_shared
        ownership = take_ownership(state, is_shared=is_shared, standby=False)
        assert ownership.lease.is_held()
        assert ownership.lease.renew()
        assert [path.name for path in state.iterdir()] == [held_by]
        assert (ownership.may_write is not None) is is_shared
        ownership.lease.close()

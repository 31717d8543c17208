"""One daemon per root: who gets in, who is told what, and what death leaves behind. Real processes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from fwdperm.errors import AlreadyServed, EnvironmentFailure, OperatorError
from fwdperm.inbox.decision_record import RECORD_KEPT_S, DecisionRecord
from fwdperm.inbox.lease import LOCK, FlockLease, Holder, take_lease, this_process
from fwdperm.inbox.shared_lease import FENCE_S, STALE_S, LinkLease, take_shared_lease

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWNER = """
import sys, pathlib
from fwdperm.inbox.lease import take_lease
said = []
def waiting():
    if not said:
        said.append(print("waiting", flush=True))
    return False
lease = take_lease(pathlib.Path(sys.argv[1]), standby=len(sys.argv) > 2, is_stopped=waiting)
print("owner", flush=True)
sys.stdin.read()
"""
FORKER = """
import os, sys, pathlib, signal
from fwdperm.inbox.lease import take_lease
lease = take_lease(pathlib.Path(sys.argv[1]))
child = os.fork()
if child == 0:
    print("child", os.getpid(), flush=True)
    signal.pause()
sys.stdin.read()
"""


@contextlib.contextmanager
def running(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# -- one machine -----------------------------------------------------------------------------------------------
def test_a_second_daemon_is_told_who_serves(tmp_path: Path) -> None:
    with running(OWNER, str(tmp_path)) as owner:
        assert line(owner) == "owner"
        with pytest.raises(OperatorError) as refused:
            take_lease(tmp_path)
        assert f"process {owner.pid} on" in str(refused.value)
        assert "--standby" in str(refused.value)
    take_lease(tmp_path).close()


def test_within_one_process_the_lock_counts_too(tmp_path: Path) -> None:
    lease = take_lease(tmp_path)
    assert lease.is_held()
    with pytest.raises(OperatorError, match=f"process {os.getpid()} on"):
        take_lease(tmp_path)
    lease.close()
    lease.close()
    assert not lease.is_held()
    take_lease(tmp_path).close()


def test_kill_9_of_the_owner_lets_the_standby_in_within_a_second(tmp_path: Path) -> None:
    with running(OWNER, str(tmp_path)) as owner:
        assert line(owner) == "owner"
        with running(OWNER, str(tmp_path), "standby") as standby:
            assert line(standby) == "waiting"
            owner.send_signal(signal.SIGKILL)
            killed = time.monotonic()
            assert line(standby) == "owner"
            assert time.monotonic() - killed < 1.0
            with pytest.raises(OperatorError, match=f"process {standby.pid} on"):
                take_lease(tmp_path)


def test_a_forked_child_does_not_keep_a_dead_daemons_lock(tmp_path: Path) -> None:
    with running(FORKER, str(tmp_path)) as owner:
        child = int(line(owner).split()[1])
        try:
            owner.kill()
            owner.wait()
            os.kill(child, 0)
            take_lease(tmp_path).close()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_standby_that_is_told_to_stop_gives_up(tmp_path: Path) -> None:
    lease = take_lease(tmp_path)
    looks = iter([False, True])
    with pytest.raises(OperatorError):
        take_lease(tmp_path, standby=True, is_stopped=lambda: next(looks))
    lease.close()


def test_a_lock_file_that_was_removed_is_no_longer_held(tmp_path: Path) -> None:
    lease = take_lease(tmp_path)
    (tmp_path / LOCK).unlink()
    assert not lease.is_held()
    other = take_lease(tmp_path)
    assert other.is_held()
    assert not lease.is_held()
    lease.close()
    assert other.is_held()
    other.close()


def test_a_removed_lock_file_is_locked_anew_unless_another_was_quicker(tmp_path: Path) -> None:
    lease = take_lease(tmp_path)
    (tmp_path / LOCK).unlink()
    assert lease.renew()
    assert lease.is_held()
    (tmp_path / LOCK).unlink()
    other = take_lease(tmp_path)
    assert not lease.renew()
    assert other.is_held()
    lease.close()
    assert not lease.renew()
    other.close()


def test_a_lock_file_replaced_between_open_and_lock_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race, forced: somebody removes the file, and another daemon locks the new one."""
    flock = fcntl.flock
    others: list[FlockLease] = []

    def race(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        (tmp_path / LOCK).unlink()
        others.append(take_lease(tmp_path))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", race)
    with pytest.raises(OperatorError):
        take_lease(tmp_path)
    assert others[0].is_held()
    others[0].close()


def test_a_planted_link_is_not_locked_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    state = tmp_path / "state"
    state.mkdir()
    (state / LOCK).symlink_to(outside)
    with pytest.raises(EnvironmentFailure):
        take_lease(state)
    assert outside.read_bytes() == b"mine"


def test_an_unreadable_holder_is_another_process(tmp_path: Path) -> None:
    lease = take_lease(tmp_path)
    (tmp_path / LOCK).write_bytes(b"\xff{")
    with pytest.raises(OperatorError, match="another process"):
        take_lease(tmp_path)
    lease.close()


def test_the_lock_file_names_pid_start_and_host(tmp_path: Path) -> None:
    lease = take_lease(tmp_path)
    found = json.loads((tmp_path / LOCK).read_bytes())
    assert Holder(**found) == this_process()
    assert found["started"] > 0
    assert (tmp_path / LOCK).stat().st_mode & 0o777 == 0o600
    lease.close()


# -- several machines ------------------------------------------------------------------------------------------
class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_first_gets_the_lease_and_the_second_waits_for_it_to_stand_still(tmp_path: Path) -> None:
    mine, theirs = Clock(), Clock()
    theirs.now = 5.0  # clocks of two machines have nothing to do with each other
    a, b = LinkLease(tmp_path, clock=mine), LinkLease(tmp_path, clock=theirs)
    assert a.attempt()
    assert (a.epoch, a.is_held()) == (1, True)
    assert not b.attempt()
    theirs.now += STALE_S - 0.1
    assert not b.attempt()
    assert a.renew()
    theirs.now += 0.2
    assert not b.attempt()
    theirs.now += STALE_S + 0.1
    assert b.attempt()
    assert (b.epoch, b.is_held()) == (2, True)
    assert not a.renew()
    assert not a.is_held()
    assert b.renew()


def test_a_lease_that_was_let_go_is_taken_at_once(tmp_path: Path) -> None:
    a, b = LinkLease(tmp_path), LinkLease(tmp_path)
    assert a.attempt()
    a.close()
    a.close()
    assert not a.is_held()
    assert b.attempt()
    found = b.holder()
    assert found is not None
    assert found.pid == os.getpid()


def test_an_owner_that_could_not_renew_stops_long_before_another_may_start(tmp_path: Path) -> None:
    clock = Clock()
    a = LinkLease(tmp_path, clock=clock)
    assert a.attempt()
    clock.now += FENCE_S
    assert not a.is_held()
    assert FENCE_S < STALE_S
    assert a.renew(), "nobody else had it meanwhile"
    assert (a.epoch, a.is_held()) == (2, True)


def test_an_owner_that_slept_while_another_had_the_lease_never_gets_it_back_by_renewing(tmp_path: Path) -> None:
    clock = Clock()
    a, b = LinkLease(tmp_path, clock=clock), LinkLease(tmp_path, clock=clock)
    assert a.attempt()
    assert not b.attempt()
    clock.now += STALE_S
    assert b.attempt()
    b.close()  # it served, and let go again: what it did, the first does not know
    assert not a.renew()
    assert not a.renew()
    assert not a.is_held()


def test_a_lease_that_cannot_be_renewed_is_kept_for_a_while_and_then_not_held(tmp_path: Path) -> None:
    clock = Clock()
    lease = LinkLease(tmp_path / "state", clock=clock)
    assert lease.attempt()
    (tmp_path / "state").rename(tmp_path / "away")
    (tmp_path / "state").write_text("")
    assert lease.renew()
    assert lease.is_held()
    clock.now += FENCE_S
    assert not lease.is_held()
    (tmp_path / "state").unlink()
    (tmp_path / "away").rename(tmp_path / "state")
    assert lease.renew()
    assert (lease.epoch, lease.is_held()) == (2, True)


SHARED_OWNER = """
import sys, pathlib
from fwdperm.inbox import shared_lease
if len(sys.argv) > 2:
    shared_lease.this_machine = lambda: sys.argv[2]
lease = shared_lease.take_shared_lease(pathlib.Path(sys.argv[1]))
print("owner", flush=True)
sys.stdin.read()
"""


def test_a_killed_owner_on_this_machine_need_not_be_waited_for(tmp_path: Path) -> None:
    with running(SHARED_OWNER, str(tmp_path)) as owner:
        assert line(owner) == "owner"
        with pytest.raises(AlreadyServed, match=f"process {owner.pid} on .*--standby"):
            take_shared_lease(tmp_path)
        owner.send_signal(signal.SIGKILL)
        lease = wait_for_lease(tmp_path)  # nobody has waited for it yet: a dead process all the same
        assert lease.epoch == 2


def wait_for_lease(state: Path) -> LinkLease:
    begun = time.monotonic()
    lease = take_shared_lease(state, standby=True, is_stopped=lambda: time.monotonic() - begun > 5)
    assert time.monotonic() - begun < 1.0
    return lease


def test_a_killed_owner_on_another_machine_is_waited_for(tmp_path: Path) -> None:
    with running(SHARED_OWNER, str(tmp_path), "another machine") as owner:
        assert line(owner) == "owner"
    clock = Clock()
    lease = LinkLease(tmp_path, clock=clock)
    assert not lease.attempt()
    clock.now += STALE_S - 1
    assert not lease.attempt()
    clock.now += 1
    assert lease.attempt()


def test_decisions_are_kept_for_a_day(tmp_path: Path) -> None:
    record = DecisionRecord(tmp_path)
    record.decide("a", "old", b"1")
    record.decide("a", "new", b"1")
    old = tmp_path / "decisions" / "a" / "old.json"
    os.utime(old, (time.time() - RECORD_KEPT_S - 60,) * 2)
    assert record.sweep() == 1
    assert [path.name for path in old.parent.iterdir()] == ["new.json"]


def test_of_many_who_see_a_dead_lease_one_takes_it(tmp_path: Path) -> None:
    clock = Clock()
    dead = LinkLease(tmp_path, clock=clock)
    assert dead.attempt()
    others = [LinkLease(tmp_path, clock=clock) for _ in range(8)]
    assert [other.attempt() for other in others] == [False] * 8
    clock.now += STALE_S
    assert [other.attempt() for other in others].count(True) == 1
    assert sum(other.is_held() for other in others) == 1


def test_old_epochs_are_swept(tmp_path: Path) -> None:
    for _ in range(6):
        lease = LinkLease(tmp_path)
        assert lease.attempt()
        lease.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lease.5", "lease.6"]


def test_a_lease_directory_that_cannot_be_used_is_an_environment_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFailure):
        LinkLease(tmp_path / "file").attempt()


DECIDER = """
import sys, pathlib
from fwdperm.inbox.decision_record import DecisionRecord
record = DecisionRecord(pathlib.Path(sys.argv[1]))
sys.stdin.readline()
for number in range(100):
    print(record.decide("a", f"r{number}", sys.argv[2].encode()).decode())
"""


def test_of_two_daemons_that_both_decide_the_first_record_counts_for_both(tmp_path: Path) -> None:
    with running(DECIDER, str(tmp_path), "one") as one, running(DECIDER, str(tmp_path), "two") as two:
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said = []
        for process in (one, two):
            assert process.stdout is not None
            said.append([process.stdout.readline().strip() for _ in range(100)])
    assert said[0] == said[1]
    assert set(said[0]) <= {"one", "two"}
    names = sorted(path.name for path in (tmp_path / "decisions" / "a").iterdir())
    assert names == sorted(f"r{number}.json" for number in range(100))


def test_a_decision_that_cannot_be_recorded_is_not_published(tmp_path: Path) -> None:
    (tmp_path / "decisions").write_text("")
    with pytest.raises(EnvironmentFailure):
        DecisionRecord(tmp_path).decide("a", "r1", b"allow")
    with pytest.raises(ValueError, match="not a request id"):
        DecisionRecord(tmp_path).decide("a", "../r1", b"allow")

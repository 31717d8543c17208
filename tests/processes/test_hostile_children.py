"""Children that send what is costly, and a state directory that others could reach, with real daemons."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from house import wait_for

from fwdperm.sessions.registry import RecordedSession, record_session

if TYPE_CHECKING:
    from house import House


def test_costly_requests_of_one_inbox_neither_hold_up_another_nor_stop_the_heartbeat(house: House) -> None:
    """Each of them takes a second to look at; before they took turns, the last in line waited for them all."""
    house.serve()
    house.drop("git status", inbox="flood", stem="first")
    house.wait_answer("first", inbox="flood")
    for number in range(40):
        house.drop(f"true {number}; " + "ls a; " * 10_000, inbox="flood", stem=f"x{number}")
    honest = [house.drop("git status") for _ in range(3)]
    for stem in honest:
        assert house.wait_answer(stem, seconds=15)["approved"] is True
    left = len(list((house.root / "sessions" / "flood" / "requests").glob("*.json")))
    assert left > 20, "the flood was over before it could hold anybody up"
    beat = house.root / "serving" / "root.json"
    before = beat.stat().st_mtime_ns
    wait_for(lambda: beat.stat().st_mtime_ns != before, what="the next heartbeat", seconds=10)


def test_a_state_directory_that_others_may_enter_is_closed(house: House) -> None:
    house.state.mkdir(parents=True)
    house.state.chmod(0o777)
    house.serve()
    assert house.state.stat().st_mode & 0o777 == 0o700


def test_a_session_recorded_before_any_daemon_leaves_the_state_closed(house: House) -> None:
    before = os.umask(0)
    try:
        record_session(house.state, RecordedSession("build", "root"), ruleset=None)
    finally:
        os.umask(before)
    assert [house.state.stat().st_mode & 0o777, (house.state / "sessions").stat().st_mode & 0o777] == [0o700, 0o700]

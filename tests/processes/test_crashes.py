"""kill -9 between every two durable steps: nothing lost, nothing decided twice, nobody asked twice."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.journal.query import query_journal
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    from house import House

DRIVER = Path(__file__).with_name("crash_driver.py")
POINTS = [
    "before the record",
    "after the record",
    "before publishing",
    "after publishing",
    "before removing",
    "after removing",
]


def decisions(house: House, stem: str) -> list[str]:
    lines = query_journal(house.state / "journal")
    return [
        str(one.data.get("outcome", "denied")) for one in lines if one.kind == "decided" and one.data.get("id") == stem
    ]


@pytest.mark.parametrize("point", POINTS)
def test_a_rule_decided_request_survives_a_crash(house: House, point: str) -> None:
    house.env["CRASH_POINT"] = point
    first = house.serve(driver=DRIVER)
    stem = house.drop("git status")
    first.wait(20)
    assert first.returncode == -signal.SIGKILL
    begun = time.monotonic()
    house.serve()
    answer = house.wait_answer(stem, seconds=5)
    assert time.monotonic() - begun < 5
    assert answer["approved"] is True
    assert decisions(house, stem) == ["approved"]
    assert verify_journal(house.state / "journal").is_sound


@pytest.mark.parametrize("point", POINTS)
def test_a_person_is_asked_again_only_when_the_crash_fell_before_the_record(house: House, point: str) -> None:
    house.env["CRASH_POINT"] = point
    first = house.serve(driver=DRIVER)
    stem = house.drop("git push")
    house.wait_prompt()
    house.run("allow", stem, "--note", "go")
    first.wait(20)
    assert first.returncode == -signal.SIGKILL
    house.serve()
    if point == "before the record":
        assert house.wait_prompt()["id"] == stem
        assert house.answer(stem) is None
        house.run("allow", stem, "--note", "go")
    answer = house.wait_answer(stem, seconds=5)
    assert (answer["approved"], answer["note"]) == (True, "go")
    assert decisions(house, stem) == ["approved"]
    assert house.prompts() == []


def test_killed_again_and_again_under_load_every_request_is_answered_once(house: House) -> None:
    """Ten daemons die while fifty requests come; each request ends with one decision and one answer."""
    stems: list[str] = []
    for round_number in range(10):
        daemon = house.serve()
        stems += [house.drop("git status", stem=f"r{round_number}-{number}") for number in range(5)]
        if round_number % 2:
            house.wait_answer(stems[-1])
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
    house.serve()
    for stem in stems:
        assert house.wait_answer(stem)["approved"] is True
        assert decisions(house, stem) == ["approved"]
    assert verify_journal(house.state / "journal").is_sound

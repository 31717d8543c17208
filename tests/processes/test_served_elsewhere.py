"""A live parent that serves its own inbox, beside a daemon: nobody's children are answered by two."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from house import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from house import House


def beat(house: House, session: str, *, age_s: float = 0.0) -> Path:
    """Write the heartbeat of a parent that is not ours, as one does: whole, by rename."""
    serving = house.root / "serving"
    serving.mkdir(parents=True, exist_ok=True)
    path = serving / f"{session}.json"
    facts = {"sessionId": session, "pid": 1, "updatedAt": int((time.time() - age_s) * 1000)}
    temp = serving / f".{session}.tmp"
    temp.write_text(json.dumps(facts))
    temp.rename(path)
    return path


def is_ours(path: Path) -> bool:
    try:
        return json.loads(path.read_bytes()).get("by") == "fwdperm"
    except FileNotFoundError:
        return False


def test_a_live_parents_inbox_is_left_alone_until_its_heartbeat_is_stale(house: House) -> None:
    path = beat(house, "theirs")
    house.drop("git status", inbox="theirs", stem="r1")
    house.serve()
    house.wait_answer(house.drop("git status"))
    assert house.answer("r1", inbox="theirs") is None
    tree = house.run("tree")
    assert [line.split("  ") for line in tree.stdout.splitlines() if "theirs" in line] == [
        ["theirs", "served elsewhere"]
    ]
    second = house.drop("git log", inbox="theirs")
    house.wait_answer(house.drop("git status"))
    assert house.answer(second, inbox="theirs") is None
    assert not is_ours(path)
    beat(house, "theirs", age_s=6.0)
    assert house.wait_answer("r1", inbox="theirs")["approved"] is True
    assert house.wait_answer(second, inbox="theirs")["approved"] is True
    wait_for(lambda: is_ours(path), what="our own heartbeat")


def test_a_parent_that_begins_to_serve_takes_its_inbox_over(house: House) -> None:
    house.serve()
    house.wait_answer(house.drop("git status", inbox="theirs"), inbox="theirs")
    path = house.root / "serving" / "theirs.json"
    wait_for(lambda: is_ours(path), what="our heartbeat")

    def is_yielded() -> bool:
        beat(house, "theirs")
        status = json.loads((house.state / "status.json").read_bytes())
        return {one["session"]: one["state"] for one in status["sessions"]}["theirs"] == "served elsewhere"

    wait_for(is_yielded, what="the daemon to yield")
    stem = house.drop("git status", inbox="theirs")
    house.wait_answer(house.drop("git status"))
    assert house.answer(stem, inbox="theirs") is None
    house.daemons[0].terminate()
    house.daemons[0].wait(10)
    assert path.exists(), "another's heartbeat is not ours to remove"

"""Several hosts, one file system: two daemons that know of each other only what lies in the state directory."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from house import wait_for

from fwdperm.inbox.shared_lease import LinkLease
from fwdperm.journal.query import query_journal
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    import subprocess

    from house import House

OTHER_HOST = Path(__file__).with_name("other_host.py")
CRASH = Path(__file__).with_name("crash_driver.py")


def serve_on(house: House, host: str, *words: str, wait: bool = True) -> subprocess.Popen[bytes]:
    house.env["HOST_NAME"] = host
    return house.serve("--shared", *words, driver=OTHER_HOST, wait=wait)


def decisions(house: House) -> dict[str, list[str]]:
    """Give every outcome recorded for each request."""
    found: dict[str, list[str]] = {}
    for one in query_journal(house.state / "journal"):
        if one.kind == "decided":
            found.setdefault(str(one.data["id"]), []).append(str(one.data.get("outcome", "denied")))
    return found


def beats(house: House) -> bool:
    try:
        said = json.loads((house.root / "serving" / "root.json").read_bytes())
    except FileNotFoundError:
        return False
    return time.time() * 1000 - said["updatedAt"] < 2_000


def test_a_second_daemon_is_told_who_serves(house: House) -> None:
    first = serve_on(house, "one")
    second = house.run("serve", "--shared", "--no-prompt")
    assert second.returncode == 2
    assert f"already served by process {first.pid}" in second.stderr
    assert "--standby" in second.stderr


def test_a_daemon_killed_on_this_host_is_replaced_within_a_second(house: House) -> None:
    first = house.serve("--shared")
    house.wait_answer(house.drop("git log"))
    house.serve("--shared", "--standby", wait=False)
    first.send_signal(signal.SIGKILL)
    begun = time.monotonic()
    assert house.wait_answer(house.drop("git status"))["approved"] is True
    assert time.monotonic() - begun < 3
    assert verify_journal(house.state / "journal").is_sound


def test_a_daemon_killed_on_another_host_is_replaced_when_it_has_been_silent(house: House) -> None:
    """Requests keep coming while nobody serves; each is decided once and answered once."""
    first = serve_on(house, "one")
    stems = [house.drop("git status") for _ in range(20)]
    house.wait_answer(stems[0])
    second = serve_on(house, "two", "--standby", wait=False)
    first.send_signal(signal.SIGKILL)
    first.wait()
    stems += [house.drop("git log") for _ in range(20)]
    for stem in stems:
        assert house.wait_answer(stem)["approved"] is True
    assert second.poll() is None
    assert decisions(house) == {stem: ["approved"] for stem in stems}
    assert verify_journal(house.state / "journal").is_sound
    assert beats(house)


def test_a_daemon_that_was_asleep_publishes_nothing_and_ends(house: House) -> None:
    """The worst owner: it wakes up after another took over, with the same questions open."""
    first = serve_on(house, "one")
    asked = house.drop("git push")
    house.wait_prompt()
    second = serve_on(house, "two", "--standby", wait=False)
    first.send_signal(signal.SIGSTOP)
    stem = house.drop("git status")
    assert house.wait_answer(stem)["approved"] is True
    wait_for(lambda: house.is_served_by(second), what="the second daemon")
    first.send_signal(signal.SIGCONT)
    assert first.wait(20) == 1
    assert "another daemon took this root over" in house.log()
    assert house.run("allow", asked, "--note", "go").returncode == 0
    assert house.wait_answer(asked)["approved"] is True
    assert decisions(house) == {stem: ["approved"], asked: ["approved"]}
    assert verify_journal(house.state / "journal").is_sound
    assert house.is_served_by(second)
    wait_for(lambda: beats(house), what="the heartbeat of the one that serves", seconds=3)


def test_a_lease_taken_from_a_live_daemon_stops_it_before_it_publishes(house: House) -> None:
    first = house.serve("--shared")
    lease = LinkLease(house.state)
    (house.state / "lease.1").rename(house.state / "lease.7")
    thief = json.loads((house.state / "lease.7").read_bytes()) | {"nonce": "another", "letGo": True}
    (house.state / "lease.7").write_text(json.dumps(thief))
    assert lease.attempt()
    assert lease.epoch == 8
    assert first.wait(20) == 1
    stem = house.drop("git status")
    assert house.answer(stem) is None
    lease.close()
    house.serve("--shared")
    assert house.wait_answer(stem)["approved"] is True
    assert verify_journal(house.state / "journal").is_sound


@pytest.mark.parametrize("point", ["after the record", "after the last word", "after publishing"])
def test_a_crash_on_a_shared_state_loses_nothing_and_decides_nothing_twice(house: House, point: str) -> None:
    house.env["CRASH_POINT"] = point
    first = house.serve("--shared", driver=CRASH)
    stem = house.drop("git status")
    assert first.wait(20) == -signal.SIGKILL
    house.serve("--shared")
    assert house.wait_answer(stem, seconds=5)["approved"] is True
    assert decisions(house) == {stem: ["approved"]}
    assert verify_journal(house.state / "journal").is_sound

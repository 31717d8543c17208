"""A daemon that starts again over recorded sessions serves under the settings that the configuration holds."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest
from house import wait_for

if TYPE_CHECKING:
    import subprocess

    from house import House

SETTINGS = """\
unattended = "reject"
workspaces = ["{more}"]

[guard]
sensitive_read = ["*/customers/*"]
"""


def stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(20) == 0


def leave(house: House, kind: str) -> subprocess.Popen[str] | None:
    """Have `fwdperm run` record a session: one that goes on, one that is over, or none."""
    if kind == "none":
        return None
    if kind == "ended":
        assert house.run("run", "--session", "build", "--", "true", cwd=house.work).returncode == 0
        return None
    child = house.start("run", "--session", "build", "--", "sleep", "600", cwd=house.work)
    wait_for(lambda: list((house.state / "sessions").glob("build.json")), what="the session's record")
    return child


@pytest.mark.parametrize("kind", ["running", "ended", "none"])
def test_settings_hold_from_the_first_request_after_a_restart(house: House, kind: str) -> None:
    """What the settings protect stays protected, and what they vouch for is still vouched for."""
    more = house.directory / "more"
    for place in (more, house.work / "customers"):
        place.mkdir()
        (place / "a.txt").write_text("a", encoding="utf-8")
    house.config.write_text(SETTINGS.format(more=more), encoding="utf-8")
    first = house.serve()
    child = leave(house, kind)
    stop(first)
    house.serve()
    try:
        vouched = house.wait_answer(house.drop(str(more / "a.txt"), surface="read", requesterSessionId="c1"))
        marked = house.wait_answer(house.drop(str(house.work / "customers/a.txt"), surface="read"))
        unasked = house.wait_answer(house.drop("make"))
    finally:
        if child is not None:
            child.terminate()
            child.communicate(timeout=20)
    assert [one["approved"] for one in (vouched, marked, unasked)] == [True, False, False]
    assert all("none is attached" in json.dumps(one) for one in (marked, unasked))


@pytest.mark.parametrize("kind", ["running", "ended", "none"])
def test_a_broken_configuration_is_refused_after_a_restart_too(house: House, kind: str) -> None:
    first = house.serve()
    child = leave(house, kind)
    stop(first)
    house.config.write_text('unattended = "sometimes"\n', encoding="utf-8")
    try:
        again = house.serve(wait=False)
        assert again.wait(20) == 3
    finally:
        if child is not None:
            child.terminate()
            child.communicate(timeout=20)
    assert "unattended" in house.log()
    assert not (house.state / "status.json").exists()

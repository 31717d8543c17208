"""A disk that is full, or read-only, under a daemon that serves: denials only, loudly, and back without a restart."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from house import wait_for

from fwdperm.journal.query import query_journal
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from house import House


def mount_command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def small(house: House) -> Iterator[Callable[[Path], Path]]:
    """Put a file system of 2 MiB somewhere, as a small disk."""
    mounted: list[Path] = []

    def mount(place: Path) -> Path:
        place.mkdir(parents=True, exist_ok=True)
        done = mount_command("mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", str(place))
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    house.close()
    for place in mounted:
        mount_command("umount", "-l", str(place))


def fill(place: Path) -> Path:
    """Leave not one byte."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    with pytest.raises(OSError, match="space") as full:
        (place / "more").write_bytes(b"1")
    assert full.value.errno == errno.ENOSPC
    (place / "more").unlink()
    return filler


def first_denied(house: House) -> tuple[str, dict[str, Any]]:
    """Ask until the last page of the journal is full too; give the first request that is denied."""
    for _ in range(20):
        stem = house.drop("git log")
        answer = house.wait_answer(stem)
        if not answer["approved"]:
            return stem, answer
    raise AssertionError("a full disk took twenty records")


def beats(house: House) -> bool:
    try:
        said = json.loads((house.root / "serving" / "root.json").read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    return time.time() * 1000 - said["updatedAt"] < 2_500


def test_a_full_state_denies_everything_and_says_so_and_recovers_without_a_restart(
    house: House, small: Callable[[Path], Path]
) -> None:
    state = small(house.directory / "state")
    daemon = house.serve()
    assert house.wait_answer(house.drop("git status"))["approved"] is True
    asked = house.drop("git push")
    house.wait_prompt()
    filler = fill(state)
    _, told = first_denied(house)
    assert (told["approved"], told["decidedBy"]["kind"], told["decidedBy"]["code"]) == (
        False,
        "unavailable",
        "unavailable",
    )
    assert "could not be recorded" in told["denialReason"]
    assert house.wait_answer(house.drop("npm i"))["approved"] is False
    wait_for(lambda: not beats(house), what="the heartbeat to be withdrawn", seconds=4)
    assert "journal.failed" in house.log()
    asker = house.run("ask", "--surface", "bash", "--value", "git log")
    assert asker.returncode == 10
    assert "could not be recorded" in asker.stderr
    filler.unlink()
    wait_for(lambda: beats(house), what="the heartbeat to come back", seconds=4)
    assert house.wait_answer(house.drop("git status"))["approved"] is True
    assert len(house.prompts()) == 1, "the question that waited still does"
    assert house.run("allow", asked).returncode == 0
    assert house.wait_answer(asked)["approved"] is True
    assert daemon.poll() is None
    found = verify_journal(house.state / "journal")
    assert found.is_sound
    decided = [str(line.data["id"]) for line in query_journal(house.state / "journal") if line.kind == "decided"]
    assert len(decided) == len(set(decided)), "one decision for each request"


def test_what_was_denied_for_want_of_a_record_stays_denied_after_a_restart(
    house: House, small: Callable[[Path], Path]
) -> None:
    state = small(house.directory / "state")
    house.serve()
    filler = fill(state)
    stem, _ = first_denied(house)
    filler.unlink()
    wait_for(lambda: "journal.recovered" in house.log(), what="the journal to recover")
    house.wait_answer(house.drop("git status"))
    house.daemons[0].terminate()
    house.daemons[0].wait(10)
    (house.root / "sessions" / "root" / "responses" / f"{stem}.json").unlink()
    house.serve()
    assert house.wait_answer(house.drop("git log", stem=stem))["decidedBy"]["code"] == "replayed"


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_root_that_takes_no_answer_gets_it_later_and_nobody_is_asked_twice(
    house: House, small: Callable[[Path], Path], how: str
) -> None:
    root = small(house.root)
    daemon = house.serve()
    asked, ruled = house.drop("git push"), "ruled"
    house.wait_prompt()
    if how == "full":
        filler = fill(root)
    else:
        mount_command("mount", "-o", "remount,ro", str(root)).check_returncode()
    assert house.run("allow", asked, "--note", "go").returncode == 0
    wait_for(lambda: "response.failed" in house.log(), what="the refusal of the disk to be told")
    assert house.answer(asked) is None
    assert house.prompts() == []
    if how == "full":
        filler.unlink()
    else:
        mount_command("mount", "-o", "remount,rw", str(root)).check_returncode()
    answer = house.wait_answer(asked, seconds=4)
    assert (answer["approved"], answer["note"]) == (True, "go")
    house.drop("git status", stem=ruled)
    assert house.wait_answer(ruled)["approved"] is True
    wait_for(lambda: beats(house), what="the heartbeat", seconds=4)
    assert daemon.poll() is None
    assert house.prompts() == []
    replies = [line for line in query_journal(house.state / "journal") if line.kind == "replied"]
    assert len(replies) == 1
    assert verify_journal(house.state / "journal").is_sound


def test_a_daemon_started_on_a_full_disk_says_why_and_exits_1(house: House, small: Callable[[Path], Path]) -> None:
    state = small(house.directory / "state")
    filler = fill(state)
    done = house.run("serve", "--no-prompt")
    assert done.returncode == 1, done.stderr
    assert os.strerror(errno.ENOSPC).lower() in done.stderr.lower()
    assert done.stderr.count("\n") == 1, done.stderr
    filler.unlink()
    house.serve()
    assert house.wait_answer(house.drop("git status"))["approved"] is True
    assert verify_journal(house.state / "journal").is_sound


def test_a_daemon_started_on_a_read_only_state_says_why_and_exits_1(
    house: House, small: Callable[[Path], Path]
) -> None:
    state = small(house.directory / "state")
    mount_command("mount", "-o", "remount,ro", str(state)).check_returncode()
    done = house.run("serve", "--no-prompt")
    assert done.returncode == 1, done.stderr
    assert os.strerror(errno.EROFS).lower() in done.stderr.lower()

"""`fwdperm audit prune` and the daemon that prunes by itself, with real processes and real segments."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from fwdperm.clock import SystemClock
from fwdperm.journal import Journal, RuleAddedRecord
from fwdperm.journal.segments import listing
from fwdperm.policy import TaughtRules
from fwdperm.sessions import SessionTree

if TYPE_CHECKING:
    from pathlib import Path

    from house import House

KEEP = """\
[journal]
keep_bytes = 2_000

"""


def write_segments(house: House, lines: int = 30) -> Path:
    """Write a journal of small segments as a daemon would, with a rule that a person taught in the very first one."""
    place = house.state / "journal"
    taught = TaughtRules(SessionTree(), clock=SystemClock())
    journal = Journal.open(place, clock=SystemClock().wall_ms, folds=taught.folds, segment_bytes=1_000)
    for number in range(lines):
        journal.append(
            RuleAddedRecord(what="grant", surface="bash", pattern=f"make {number}", scope="subtree", session="root")
        )
        journal.commit()
    journal.close()
    assert len(listing(place)) > 5
    return place


def test_a_person_prunes_while_nobody_serves(house: House) -> None:
    """What is not wanted is named first; afterwards the journal is sound, small, and every rule still in force."""
    place = write_segments(house)
    house.config.write_text(KEEP + house.rules, encoding="utf-8")
    rules = house.run("rules", "list").stdout
    before = listing(place)

    dry = house.run("audit", "prune", "--dry-run")
    assert (dry.returncode, listing(place)) == (0, before)
    assert dry.stdout.startswith("would remove journal-000001.jsonl\n")

    done = house.run("audit", "prune", "--json")
    told = json.loads(done.stdout)
    assert told["removed"] is True
    assert told["segments"] == [path.name for path in before if not path.exists()]
    assert len(told["segments"]) > 3

    again = house.run("audit", "verify")
    assert (again.returncode, "segments were pruned before this line" in again.stderr) == (0, True)
    assert "make 0" in rules
    assert house.run("rules", "list").stdout == rules


def test_without_a_setting_everything_is_kept(house: House) -> None:
    place = write_segments(house)
    before = listing(place)
    done = house.run("audit", "prune")
    assert (done.returncode, listing(place)) == (0, before)
    assert "everything is kept" in done.stderr


def test_a_setting_that_cannot_be_read_removes_nothing(house: House) -> None:
    place = write_segments(house)
    before = listing(place)
    house.config.write_text('[journal]\nkeep_bytes = 1\nkeep_days = "7"\n', encoding="utf-8")
    done = house.run("audit", "prune")
    assert (done.returncode, listing(place)) == (3, before)
    assert "`journal.keep_days` is `7`, expected a number of days above 0; nothing was removed" in done.stderr


def test_a_daemon_that_serves_prunes_by_itself(house: House) -> None:
    """The command leaves the journal to its owner, who removes one segment as soon as it is quiet."""
    place = write_segments(house)
    house.config.write_text(KEEP + house.rules, encoding="utf-8")
    first = listing(place)[0]
    house.serve()
    assert house.wait_answer(house.drop("git status"))["approved"] is True
    told = house.run("audit", "prune")
    assert told.returncode == 0
    assert "already served by" in told.stderr
    assert "by itself, one at a time" in told.stderr

    end = time.monotonic() + 30
    while first.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not first.exists(), house.log()
    assert listing(place)[0].name == "journal-000002.jsonl"
    assert house.wait_answer(house.drop("git log"))["approved"] is True
    assert house.run("audit", "verify").returncode == 0

"""What the journal costs: run `python tests/benchmarks/bench_journal.py [DIRECTORY] [--quick]`, prints a table.

Believe the ratios: both sides of each are measured in one run. The disk is the one DIRECTORY lies on.

A start reads what follows the newest checkpoint, at most 25,000 lines. Only when the checkpoint is lost, or a program
folds something it did not fold before, the whole log is read once: about 10 us a line, most of it parsing JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fwdperm.journal.line import GENESIS, encode, hash_of, line_of
from fwdperm.journal.log import Journal
from fwdperm.journal.record import DecidedRecord, DeliveredRecord
from fwdperm.journal.replay import replay_journal
from fwdperm.journal.sanitize import sanitized
from fwdperm.journal.segments import name_of
from fwdperm.journal.verify import verify_journal
from fwdperm.wire.decision import Outcome, RuleRef, Stage, UnitEvidence

if TYPE_CHECKING:
    from collections.abc import Callable

RULE = RuleRef("bash", "git *", "allow", "/home/me/.config/fwdperm/rules.toml:14", "user")


def decision(number: int) -> DecidedRecord:
    """Make a record as a real decision makes one."""
    return DecidedRecord(
        inbox="root",
        id=f"perm-{number:08d}-6f1c-4b6e-9d55-0a1b2c3d4e5f",
        digest="0123456789abcdef" * 4,
        session=f"session-{number % 200}",
        agent="builder",
        surface="bash",
        values=("git status --short",),
        cwd="/home/me/app",
        outcome=Outcome.APPROVED,
        stage=Stage.RULE,
        rule=RULE,
        units=(UnitEvidence("bash", "git status --short", "allow", RULE, "routine", "routine.git-status"),),
        unit_count=1,
        reason='allowed by rule bash "git *"',
        response={"v": 1, "approved": True, "state": "approved", "requestId": f"perm-{number}", "respondedAt": 1},
    )


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def latencies(place: Path, rounds: int, *, per_commit: int = 1) -> list[float]:
    """Give microseconds of each append + commit."""
    journal = Journal.open(place, clock=now_ms)
    took = []
    for number in range(rounds):
        begun = time.perf_counter_ns()
        for each in range(per_commit):
            journal.append(decision(number * per_commit + each))
        journal.commit()
        took.append((time.perf_counter_ns() - begun) / 1000)
    journal.close()
    return took


def unsynced(work: Callable[[], list[float]]) -> list[float]:
    """Run with a sync that does nothing: what the disk's part is, by difference."""
    real = os.fdatasync
    os.fdatasync = lambda _: None  # type: ignore[assignment]
    try:
        return work()
    finally:
        os.fdatasync = real


def bare(place: Path, rounds: int) -> list[float]:
    """The floor: write the same bytes and sync them, nothing else."""
    line = encode(line_of(sanitized(decision(1)), seq=1, at=1, prev=GENESIS)) + b"\n"
    place.mkdir()
    descriptor = os.open(place / "bare", os.O_WRONLY | os.O_CREAT, 0o600)
    took = []
    for _ in range(rounds):
        begun = time.perf_counter_ns()
        os.write(descriptor, line)
        os.fdatasync(descriptor)
        took.append((time.perf_counter_ns() - begun) / 1000)
    os.close(descriptor)
    return took


def build(place: Path, lines: int) -> None:
    """Write a long journal by the quick way: the bytes a `Journal` would write, without its syncs."""
    place.mkdir(mode=0o700)
    before, number, size = GENESIS, 1, 0
    stream = (place / name_of(number)).open("wb")
    for seq in range(1, lines + 1):
        made = decision(seq // 2) if seq % 2 else DeliveredRecord(inbox="root", id=decision(seq // 2 - 1).id)
        raw = encode(line_of(sanitized(made), seq=seq, at=1_767_225_600_000 + seq, prev=before))
        before = hash_of(raw)
        if size + len(raw) + 1 > 64 << 20:
            stream.close()
            number, size = number + 1, 0
            stream = (place / name_of(number)).open("wb")
        stream.write(raw + b"\n")
        size += len(raw) + 1
    offset = stream.tell()
    stream.close()
    head = {"v": 1, "seq": lines, "hash": before, "file": name_of(number), "offset": offset}
    (place / "head.json").write_text(json.dumps(head))
    for path in place.iterdir():
        path.chmod(0o600)


def left(journal: Journal) -> None:
    """Let go of the lock and nothing else, as kill -9 would."""
    journal._head.close()


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def show(name: str, value: str, ratio: str = "", aim: str = "") -> None:
    print(f"{name:58} {value:>22} {ratio:>18} {aim:>16}")  # noqa: T201 - its output


def percentile(took: list[float], share: float) -> float:
    return statistics.quantiles(took, n=1000)[int(share * 1000) - 1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?", help="where to write (default: the temporary directory)")
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="a twentieth of it")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.lines = given.rounds // 10, given.lines // 20
    with tempfile.TemporaryDirectory(dir=given.directory) as root:
        place = Path(root)
        show("what", "measured", "ratio", "aim")
        floor = bare(place / "floor", given.rounds)
        synced = latencies(place / "synced", given.rounds)
        free = unsynced(lambda: latencies(place / "free", given.rounds))
        for name, took, against in (("bare write + fdatasync", floor, floor), ("append + commit", synced, floor)):
            p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
            show(name + ", p50 / p99", f"{p50:,.0f} / {p99:,.0f} us", f"{p50 / percentile(against, 0.5):.2f} of bare")
        show("append + commit without the sync, p50", f"{percentile(free, 0.5):,.0f} us")
        grouped = latencies(place / "grouped", given.rounds // 20, per_commit=128)
        free_group = unsynced(lambda: latencies(place / "free-group", given.rounds // 20, per_commit=128))
        with_sync, without = (128e6 / statistics.median(took) for took in (grouped, free_group))
        show(
            "128 lines a commit, durable",
            f"{with_sync:,.0f} lines/s",
            f"{with_sync / without:.2f} of unsynced",
            ">= 0.6",
        )
        show("128 lines a commit against one", "", f"{with_sync * statistics.median(synced) / 1e6:.1f} times")
        long = place / "long"
        build(long, given.lines)
        size = sum(path.stat().st_size for path in long.iterdir()) / given.lines
        whole = seconds(lambda: replay_journal(long, use_checkpoint=False))
        show(
            f"replay of {given.lines:,} lines of {size:.0f} bytes, all",
            f"{whole:.2f} s",
            f"{given.lines / whole:,.0f} lines/s",
        )
        Journal.open(long, clock=now_ms).close()
        start = seconds(lambda: left(Journal.open(long, clock=now_ms)))
        show("start with a checkpoint at the end", f"{start:.2f} s", f"{start / whole:.2f} of all", "< 2 s")
        journal = Journal.open(long, clock=now_ms, checkpoint_lines=1 << 40)
        for number in range(49_999):
            journal.append(decision(given.lines + number))
            if number % 500 == 0:
                journal.commit()
        journal.flush()
        left(journal)
        start = seconds(lambda: left(Journal.open(long, clock=now_ms)))
        show("start with the oldest checkpoint there can be", f"{start:.2f} s", f"{start / whole:.2f} of all", "< 2 s")
        check = seconds(lambda: verify_journal(long))
        show("verify, all", f"{check:.2f} s", f"{given.lines / check:,.0f} lines/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

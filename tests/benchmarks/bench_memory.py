"""What ten thousand session rules and a million journal lines cost: a decision, and a start.

Run: python tests/benchmarks/bench_memory.py [--lines 1000000] [--rules 10000]
A row per question, with the ratio that is aimed at: decisions stay flat, a start after kill -9 stays under 2 s.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from fwdperm.journal import record
from fwdperm.journal.line import GENESIS, encode, hash_of, line_of
from fwdperm.journal.log import Journal
from fwdperm.journal.sanitize import sanitized
from fwdperm.journal.segments import name_of
from fwdperm.rules.unit import Unit
from fwdperm.session_rules.fold import RulesFold
from fwdperm.session_rules.history import HistoryFold
from fwdperm.session_rules.view import ChainStep, SessionRulesView
from fwdperm.wire.decision import Outcome, RuleRef, Stage, UnitEvidence
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AIM_S = 2.0
START_MS = 1_700_000_000_000
CHAIN = (ChainStep("leaf", "mid"), ChainStep("mid", "root", 1, is_fact=True), ChainStep("root", "", 0, is_fact=True))
REQUEST = Request("r", "", "mid", "leaf", "", Facts("bash", ("tool-7 sub --flag",), "/w"))


def granted(number: int) -> record.RuleAddedRecord:
    """Give one grant, of one of three forms, all on the root of the tree."""
    pattern = (f"tool-{number} *", f"tool-{number} exact", f"*--only-{number}*")[number % 3]
    return record.RuleAddedRecord(
        what="grant", surface="bash", pattern=pattern, scope="tree", session="root", user="ann"
    )


def decided(number: int) -> record.DecidedRecord:
    """Give a decision as the daemon records it."""
    rule = RuleRef("bash", "git *", "allow", "config.toml:3", "user")
    value = f"git log -n {number % 5_000}"
    return record.DecidedRecord(
        inbox="root",
        id=f"r{number}",
        digest="d" * 64,
        session=f"s{number % 50}",
        agent="worker",
        surface="bash",
        values=(value,),
        cwd="/home/me/project",
        outcome=Outcome.APPROVED,
        stage=Stage.RULE if number % 10 else Stage.HUMAN,
        rule=rule,
        units=(UnitEvidence("bash", value, "ask" if number % 10 == 0 else "allow", rule, "routine", "routine.git"),),
        unit_count=1,
        reason="Allowed by rule.",
        requested_at=START_MS + number,
        response={"approved": True, "state": "approved", "requestId": f"r{number}", "respondedAt": START_MS},
    )


def records(*, rules: int, lines: int) -> Iterator[record.Record]:
    """Give a journal's records: the rules first, then decisions and deliveries."""
    yield from map(granted, range(rules))
    for number in range((lines - rules) // 2):
        yield decided(number)
        yield record.DeliveredRecord(inbox="root", id=f"r{number}")


def write(directory: Path, *, rules: int, lines: int) -> None:
    """Write a journal as the daemon would, in one segment after another, without its syncs."""
    directory.mkdir(parents=True)
    before, part, size = GENESIS, 1, 0
    stream = (directory / name_of(part)).open("wb")
    for seq, each in enumerate(records(rules=rules, lines=lines), start=1):
        raw = encode(line_of(sanitized(each), seq=seq, at=START_MS + seq, prev=before))
        if size + len(raw) > (64 << 20):
            stream.close()
            part, size = part + 1, 0
            stream = (directory / name_of(part)).open("wb")
        stream.write(raw + b"\n")
        size += len(raw) + 1
        before = hash_of(raw)
    stream.close()


def start(directory: Path) -> tuple[float, RulesFold]:
    """Open a journal as a starting daemon does; give the seconds, and the rules."""
    rules, history = RulesFold(), HistoryFold()
    begin = time.perf_counter()
    journal = Journal.open(directory, clock=lambda: START_MS, folds=(rules, history))
    took = time.perf_counter() - begin
    journal.close()
    return took, rules


def microseconds(act: Callable[[], object], *, times: int = 300) -> float:
    """Give the median time of one call."""
    act()
    samples = []
    for _ in range(times):
        begin = time.perf_counter()
        act()
        samples.append(time.perf_counter() - begin)
    return median(samples) * 1e6


def decision_costs(rules: int) -> dict[str, float]:
    """Give what each question of the order costs with so many rules."""
    fold = RulesFold()
    for number in range(rules):
        fold.apply(record.JournalEntry(number + 1, START_MS, granted(number)))
    view = SessionRulesView(fold, CHAIN, START_MS, fold.epoch)
    hit, miss = Unit("bash", ("tool-6 sub --flag",)), Unit("bash", ("unknown-tool with words",))
    return {
        "grant that covers": microseconds(lambda: view.grant(REQUEST, hit)),
        "no grant covers": microseconds(lambda: view.grant(REQUEST, miss)),
        "refusal": microseconds(lambda: view.refusal(REQUEST)),
        "rules section": microseconds(lambda: view.newest(50)),
    }


def main() -> int:
    """Measure, and print a table; exit 1 when an aim is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="a tenth of both")
    wanted = parser.parse_args()
    if wanted.quick:
        wanted.lines, wanted.rules = wanted.lines // 10, wanted.rules // 10
    few, many = decision_costs(100), decision_costs(wanted.rules)
    out = sys.stdout.write
    out(f"{'':<44}{'100 rules':>12}{f'{wanted.rules:,} rules':>16}{'ratio':>8}   aim\n")
    is_good = True
    for name, cost in few.items():
        ratio = many[name] / cost
        is_good &= ratio <= 3
        out(f"{name + ', us':<44}{cost:>12.1f}{many[name]:>16.1f}{ratio:>8.2f}   at most 3\n")
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "journal"
        write(directory, rules=wanted.rules, lines=wanted.lines)
        first, rules = start(directory)
        again, _ = start(directory)
        out(f"start, whole log of {wanted.lines:,} lines read, s{first:>20.2f}   once, after an upgrade\n")
        out(f"start after a clean stop, s{again:>20.2f}   aim {AIM_S}\n")
        killed = after_kill(directory)
        out(f"start after kill -9, 24,999 lines behind, s{killed:>20.2f}   aim {AIM_S}\n")
        out(f"rules in force {len(rules.rules):,}\n")
        is_good &= max(again, killed) < AIM_S
    return 0 if is_good else 1


def after_kill(directory: Path) -> float:
    """Append as much as goes between two checkpoints, copy what a killed daemon leaves, and start from that."""
    copy = directory.with_name("killed")
    journal = Journal.open(directory, clock=lambda: START_MS, folds=(RulesFold(), HistoryFold()), segment_bytes=1 << 40)
    for number in range(24_990 // 2):
        journal.append(decided(10_000_000 + number))
        journal.append(record.DeliveredRecord(inbox="root", id=f"r{10_000_000 + number}"))
        if number % 1_000 == 0:
            journal.commit()
    journal.flush()
    shutil.copytree(directory, copy)
    journal.close()
    return start(copy)[0]


if __name__ == "__main__":
    sys.exit(main())

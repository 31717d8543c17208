"""What a configured judge costs those who do not need one, in one run. Believe the ratios.

    python tests/benchmarks/bench_judge.py [--starts 7] [--trips 2000]

Two daemons side by side, one without and one with `[judge]`: the time from the start of the process to its first
answer, and trips that a rule settles, in alternating blocks. Then the same trips while the second daemon's judge hangs
on requests of its own, and in the seconds in which it imports the model's SDK.
Aims: start and trips at most 1.1 times; with a hanging judge too.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from bench_roundtrip import Inbox, warm_up
from floor import percentile, publish

from fwdperm.client.question import Question, Requester
from fwdperm.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 100
AIM = 1.1
HANGING = 4
"""Requests in the judge's hands at once: as many as it takes."""


@contextlib.contextmanager
def daemon(directory: Path, judge: str) -> Iterator[tuple[Inbox, float]]:
    """Run the real daemon; give its inbox and the seconds from its start to its first answer."""
    directory.mkdir(parents=True)
    inbox = Inbox(directory / "tree")
    config = directory / "config.toml"
    config.write_text(f'workspaces = ["{directory}"]\n{judge}[rules.bash]\n"git *" = "allow"\n', encoding="utf-8")
    words = [sys.executable, "-m", "fwdperm", "serve", "--root", str(directory / "tree"), "--config", str(config), "-q"]
    env = {**os.environ, "XDG_STATE_HOME": str(directory / "state")}
    start = time.perf_counter()
    server = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, cwd=directory)
    try:
        inbox.trip()
        ready = time.perf_counter() - start
        yield inbox, ready
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)


def leave_for_the_judge(inbox: Inbox, directory: Path, count: int) -> None:
    """Leave requests that only a judge or a person can settle."""
    for number in range(count):
        asker = Requester(cwd=str(directory), parent="root", session="slow", agent="bench")
        question = Question("bash", [f"pytest -q tests/unit{number}"], requester=asker, wait_s=600.0)
        publish(str(inbox.requests), f"{question.id}.json", question.content)


def print_starts(directory: Path, judge: str, starts: int) -> None:
    """Print both starts."""
    took: dict[str, list[float]] = {"without": [], "with": []}
    for number in range(starts):
        for name, text in (("without", ""), ("with", judge)):
            with daemon(directory / f"{name}{number}", text) as (_, ready):
                took[name].append(ready)
    print_line("start to first answer, ms", took, unit=1e3)


def print_trips(title: str, without: Inbox, judged: Inbox, trips: int) -> None:
    """Print trips of both, block by block."""
    took: dict[str, list[float]] = {"without": [], "with": []}
    for _ in range(max(trips // BLOCK, 1)):
        for name, inbox in (("without", without), ("with", judged)):
            took[name] += [inbox.trip() for _ in range(BLOCK)]
    print_line(f"{title}, us", took, unit=1e6)


def print_line(title: str, took: dict[str, list[float]], *, unit: float) -> None:
    """Print medians, their ratio, and the longest."""
    half = {name: percentile(times, 0.5) for name, times in took.items()}
    longest = {name: max(times) * 1e3 for name, times in took.items()}
    print(
        f"{title:44}{half['without'] * unit:10.0f}{half['with'] * unit:10.0f}{half['with'] / half['without']:8.2f}"
        f"{AIM:6}{longest['without']:12.1f}{longest['with']:12.1f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--trips", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="fewer of both")
    options = parser.parse_args()
    if options.quick:
        options.starts, options.trips = 3, options.trips // 10
    print(f"{'':44}{'without':>10}{'with':>10}{'ratio':>8}{'aim':>6}{'longest ms':>12}{'longest ms':>12}")
    with tempfile.TemporaryDirectory(prefix="bench-") as made, ModelServer() as server:
        here = Path(made)
        judge = f'[judge]\nbase_url = "{server.url}"\ndeadline_s = 300\n'
        server.hold()
        print_starts(here, judge, options.starts)
        with daemon(here / "a", "") as (without, _), daemon(here / "b", judge) as (judged, _):
            for inbox in (without, judged):
                warm_up(inbox)
            print_trips("a rule settles it", without, judged, options.trips)
            leave_for_the_judge(judged, here / "b", HANGING)
            importing: list[float] = []
            while not server.requests:
                importing.append(judged.trip())
            title, p99 = "while the SDK is imported: trips, p99 ms", percentile(importing, 0.99) * 1e3
            print(f"{title:44}{len(importing):10}{p99:10.1f}{'':26}{max(importing) * 1e3:12.1f}")
            server.wait_until_asked(HANGING)
            print_trips(f"a rule settles it, {HANGING} hang at the judge", without, judged, options.trips)


if __name__ == "__main__":
    main()

"""From request file to response file: the real daemon beside a bare inotify loop, in one run. Believe the ratios.

    python tests/benchmarks/bench_roundtrip.py [--trips 5000] [--decisions 3000] [--quick]

One client: every block of 100 trips goes first to the floor (`floor.py`: a bare inotify loop on both sides that neither
checks nor records anything), then to the daemon, which settles the request by the last of 1,000 rules, writes its
journal line durably and answers. Aims: p50 at most 1.6 times the floor, p99 at most 2.0 times, no trip of 200 ms.

Many clients: a number of requests always outstanding, against the same daemon whose journal is not synced.
Aim: at 128 clients at least 0.6 of the unsynced decisions a second (one fdatasync per wake-up, not per decision).
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from floor import Watch, percentile, publish, serve_floor

from fwdperm.client.question import Question, Requester

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 100
AIM_P50, AIM_P99, AIM_SYNCED = 1.6, 2.0, 0.6
SLOW_S = 0.2
"""Seconds of a trip that nobody should wait."""
UNSYNCED = "import os; os.fdatasync = os.fsync = lambda descriptor: None; from fwdperm.__main__ import main; main()"


class Inbox:
    """The client's end of one inbox: publishes by hand, waits on a bare inotify descriptor."""

    def __init__(self, root: Path) -> None:
        inbox = root / "sessions" / "root"
        self.requests, self.responses = inbox / "requests", inbox / "responses"
        for directory in (self.requests, self.responses):
            directory.mkdir(parents=True, exist_ok=True)
        self.watch = Watch(self.responses)

    def ask(self) -> str:
        """Leave one request; return its file's name."""
        name, content = compose()
        publish(str(self.requests), name, content)
        return name

    def take(self, name: str) -> None:
        """Read and remove an answer, as a child does."""
        response = self.responses / name
        if b'"approved":true' not in response.read_bytes().replace(b" ", b""):
            raise SystemExit(f"not approved: {response.read_text()}")
        response.unlink()
        with contextlib.suppress(FileNotFoundError):
            (self.requests / name).unlink()

    def trip(self) -> float:
        """Make one trip; return its seconds from before the publication to the answer being read."""
        name, content = compose()
        start = time.perf_counter()
        publish(str(self.requests), name, content)
        while name not in self.watch.wait():
            pass
        (self.responses / name).read_bytes()
        took = time.perf_counter() - start
        self.take(name)
        return took


def compose() -> tuple[str, bytes]:
    """Compose one request as our client does."""
    asker = Requester(cwd="/", parent="root", session="bench", agent="bench")
    question = Question("bash", ["git status --short"], requester=asker, wait_s=60.0)
    return f"{question.id}.json", question.content


@contextlib.contextmanager
def floor(directory: Path) -> Iterator[Inbox]:
    """Run the floor's server beside its inbox."""
    inbox = Inbox(directory)
    server = multiprocessing.get_context("spawn").Process(
        target=serve_floor, args=(inbox.requests, inbox.responses), daemon=True
    )
    server.start()
    try:
        warm_up(inbox)
        yield inbox
    finally:
        server.kill()
        server.join()


@contextlib.contextmanager
def daemon(directory: Path, *, synced: bool = True) -> Iterator[Inbox]:
    """Run the real daemon beside its inbox, with 1,000 rules of which the last settles everything."""
    root = directory / "tree"
    inbox = Inbox(root)
    config = directory / "config.toml"
    rules = [f'"tool-{number} *" = "ask"' for number in range(999)] + ['"git *" = "allow"']
    config.write_text("[rules.bash]\n" + "\n".join(rules) + "\n")
    program = ["-m", "fwdperm"] if synced else ["-c", UNSYNCED]
    words = [sys.executable, *program, "serve", "--root", str(root), "--config", str(config), "-q"]
    env = {**os.environ, "XDG_STATE_HOME": str(directory / "state"), "HOME": str(directory)}
    with (directory / "log").open("w") as log:
        server = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            warm_up(inbox)
            yield inbox
        except SystemExit:
            sys.stderr.write((directory / "log").read_text())
            raise
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(10)


def warm_up(inbox: Inbox) -> None:
    """Wait until the server answers, and let it get warm. A server that never answers ends the benchmark."""

    def give_up(_number: int, _frame: object) -> None:
        raise SystemExit("the server does not answer")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    for _ in range(50):
        inbox.trip()
    signal.alarm(0)


def measure_trips(place: str, directory: Path, trips: int) -> None:
    """Print one client's trips in one place."""
    took: dict[str, list[float]] = {"floor": [], "daemon": []}
    with floor(directory / "floor") as bare, daemon(directory / "daemon") as real:
        for _ in range(max(trips // BLOCK, 1)):
            for name, inbox in (("floor", bare), ("daemon", real)):
                took[name] += [inbox.trip() for _ in range(BLOCK)]
    numbers = {name: (percentile(times, 0.5), percentile(times, 0.99), max(times)) for name, times in took.items()}
    slow = sum(one >= SLOW_S for one in took["daemon"])
    for name, (p50, p99, longest) in numbers.items():
        print(f"{place:8}{name:10}{p50 * 1e6:10.0f}{p99 * 1e6:10.0f}{longest * 1e3:12.1f}", end="")
        if name == "floor":
            print()
            continue
        base = numbers["floor"]
        print(f"{p50 / base[0]:10.2f}{AIM_P50:6}{p99 / base[1]:10.2f}{AIM_P99:6}{slow:10}{0:6}")


def measure_throughput(place: str, directory: Path, clients: int, decisions: int) -> None:
    """Print decisions a second with a number of requests always outstanding."""
    rates = []
    for synced in (True, False):
        with daemon(directory / f"{clients}-{synced}", synced=synced) as inbox:
            rates.append(rate(inbox, clients=clients, decisions=decisions))
    print(f"{place:8}{clients:8}{rates[0]:14.0f}{rates[1]:16.0f}{rates[0] / rates[1]:10.2f}{AIM_SYNCED:6}")


def rate(inbox: Inbox, *, clients: int, decisions: int) -> float:
    """Return decisions a second."""
    start = time.perf_counter()
    waiting = {inbox.ask() for _ in range(clients)}
    asked, done = clients, 0
    while done < decisions:
        for name in inbox.watch.wait():
            if name not in waiting:
                continue
            inbox.take(name)
            waiting.remove(name)
            done += 1
            if asked < decisions:
                waiting.add(inbox.ask())
                asked += 1
    return done / (time.perf_counter() - start)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trips", type=int, default=5000)
    parser.add_argument("--decisions", type=int, default=3000)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    options = parser.parse_args()
    if options.quick:
        options.trips, options.decisions = options.trips // 10, options.decisions // 10
    places = {"memory": "/dev/shm", "disk": str(Path(__file__).parent)}  # noqa: S108 - the memory file system
    heads = (("p50 us", 10), ("p99 us", 10), ("longest ms", 12), ("p50 x", 10), ("aim", 6), ("p99 x", 10), ("aim", 6))
    heads += (("of 200 ms", 10), ("aim", 6))
    print(f"{'place':8}{'':10}" + "".join(f"{head:>{width}}" for head, width in heads))
    for place, directory in places.items():
        with tempfile.TemporaryDirectory(dir=directory, prefix=".bench-") as made:
            for name in ("floor", "daemon"):
                (Path(made) / name).mkdir()
            measure_trips(place, Path(made), options.trips)
    print(f"\n{'place':8}{'clients':>8}{'decisions/s':>14}{'unsynced':>16}{'share':>10}{'aim':>6}")
    with tempfile.TemporaryDirectory(dir=places["disk"], prefix=".bench-") as made:
        for clients in (1, 16, 128):
            for synced in (True, False):
                (Path(made) / f"{clients}-{synced}").mkdir()
            measure_throughput("disk", Path(made), clients, options.decisions)


if __name__ == "__main__":
    main()

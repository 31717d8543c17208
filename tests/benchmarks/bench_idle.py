"""What a daemon costs while nobody asks: threads, and processor time at many inboxes. Aims: 8 threads, 1 %.

    python tests/benchmarks/bench_idle.py [--inboxes 1000] [--seconds 10] [--quick]

The daemon runs on a memory file system with its real heartbeats, one a second for each inbox. Its processor time is
what the kernel charges to the process, its threads included. Beside it the floor: a loop that once a second looks at
every inbox with one system call and renews every heartbeat with another. A busy machine makes both dearer.
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

if TYPE_CHECKING:
    from collections.abc import Iterator

AIM_THREADS, AIM_SHARE = 8, 0.01
SETTLED_S = 5.0
"""Seconds from the last heartbeat to the measurement: inboxes made just now are listed anew for a while."""
READY_S = 60.0


@contextlib.contextmanager
def daemon(directory: Path, inboxes: int) -> Iterator[int]:
    """Run a daemon over many inboxes and give its process id once it beats for all of them."""
    root = directory / "tree"
    for number in range(inboxes):
        for name in ("requests", "responses"):
            (root / "sessions" / f"session-{number:05}" / name).mkdir(parents=True)
    config = directory / "config.toml"
    config.write_text('[rules.bash]\n"git *" = "allow"\n')
    words = [sys.executable, "-m", "fwdperm", "serve", "--root", str(root), "--config", str(config), "-q"]
    env = {**os.environ, "XDG_STATE_HOME": str(directory / "state"), "HOME": str(directory)}
    server = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + READY_S
        while not (root / "serving").exists() or len(os.listdir(root / "serving")) < inboxes:  # noqa: PTH208 - quicker
            if time.monotonic() > end or server.poll() is not None:
                raise SystemExit("the daemon does not serve them all")
            time.sleep(0.05)
        time.sleep(SETTLED_S)
        yield server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


FLOOR = """
import os, sys, time
names = [f"{sys.argv[1]}/{number}" for number in range(int(sys.argv[2]))]
for name in names:
    os.makedirs(name + "/requests")
held = [os.open(name + "/beat", os.O_CREAT | os.O_WRONLY, 0o600) for name in names]
print("ready", flush=True)
while True:
    for name in names:
        os.stat(name + "/requests", follow_symlinks=False)
    for beat in held:
        os.pwrite(beat, b"x" * 80, 0)
    time.sleep(1)
"""


@contextlib.contextmanager
def floor(directory: Path, inboxes: int) -> Iterator[int]:
    """Run the floor's loop."""
    words = [sys.executable, "-c", FLOOR, str(directory / "floor"), str(inboxes)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is not None:
                process.stdout.readline()
            yield process.pid
        finally:
            process.kill()


def processor_s(pid: int) -> float:
    """Give the processor time a process has used, all threads, seconds, as exactly as the kernel counts it."""
    ran = [path.read_text().split()[0] for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(map(int, ran)) / 1e9


def threads(pid: int) -> int:
    """Count the threads of a process."""
    return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - of the kernel's


def measure(pids: dict[str, int], seconds: float) -> dict[str, tuple[int, float]]:
    """Give for each process the most threads seen, and the share of one processor used, over the same time."""
    start = time.monotonic()
    before = {name: processor_s(pid) for name, pid in pids.items()}
    most = dict.fromkeys(pids, 0)
    while time.monotonic() - start < seconds:
        time.sleep(0.25)
        most = {name: max(most[name], threads(pid)) for name, pid in pids.items()}
    took = time.monotonic() - start
    return {name: (most[name], (processor_s(pid) - before[name]) / took) for name, pid in pids.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inboxes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="measure for 3 seconds")
    options = parser.parse_args()
    seconds = 3.0 if options.quick else options.seconds
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112, S108 - the memory file system
    print(f"{'while nobody asks':28}{'threads':>9}{'processor':>12}{'ratio':>8}{'aim':>18}")
    for inboxes in (1, options.inboxes):
        with (
            tempfile.TemporaryDirectory(dir=memory, prefix=".bench-") as made,
            floor(Path(made), inboxes) as bare,
            daemon(Path(made), inboxes) as real,
        ):
            found = measure({"the floor": bare, "the daemon": real}, seconds)
        for name, (count, share) in found.items():
            print(f"{f'{name}, {inboxes:,} inboxes':28}{count:9}{share:12.3%}", end="")
            if name == "the daemon":
                print(f"{share / found['the floor'][1]:8.1f}{AIM_THREADS:>14}, {AIM_SHARE:.0%}", end="")
            print()


if __name__ == "__main__":
    main()

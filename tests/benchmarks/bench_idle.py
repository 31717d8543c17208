"""What a daemon costs while nobody asks: threads, and processor time at many inboxes. Aims: 8 threads, 1 %.

    python tests/benchmarks/bench_idle.py [--inboxes 1000] [--seconds 10] [--quick]

The daemon runs on a memory file system with its real heartbeats, one a second for each inbox. Its processor time is
what the kernel charges to the process, its threads included; an interpreter that sleeps is measured beside it.
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


@contextlib.contextmanager
def sleeper() -> Iterator[int]:
    """Run an interpreter that waits."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    try:
        time.sleep(0.5)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def processor_s(pid: int) -> float:
    """Give the processor time a process has used, all threads, seconds, as exactly as the kernel counts it."""
    ran = [path.read_text().split()[0] for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(map(int, ran)) / 1e9


def threads(pid: int) -> int:
    """Count the threads of a process."""
    return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - of the kernel's


def measure(pid: int, seconds: float) -> tuple[int, float]:
    """Give the most threads seen, and the share of one processor used."""
    before, start = processor_s(pid), time.monotonic()
    most = threads(pid)
    while time.monotonic() - start < seconds:
        time.sleep(0.25)
        most = max(most, threads(pid))
    return most, (processor_s(pid) - before) / (time.monotonic() - start)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inboxes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="measure for 3 seconds")
    options = parser.parse_args()
    seconds = 3.0 if options.quick else options.seconds
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112, S108 - the memory file system
    print(f"{'while nobody asks':28}{'threads':>9}{'aim':>5}{'processor':>12}{'aim':>7}")
    with sleeper() as pid:
        count, share = measure(pid, min(seconds, 2.0))
        print(f"{'an interpreter that sleeps':28}{count:9}{'':5}{share:12.3%}")
    for inboxes in (1, options.inboxes):
        with tempfile.TemporaryDirectory(dir=memory, prefix=".bench-") as made, daemon(Path(made), inboxes) as pid:
            count, share = measure(pid, seconds)
            print(f"{f'the daemon, {inboxes:,} inboxes':28}{count:9}{AIM_THREADS:5}{share:12.3%}{AIM_SHARE:7.0%}")


if __name__ == "__main__":
    main()

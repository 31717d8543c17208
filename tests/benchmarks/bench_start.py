"""How long a daemon takes until it serves, beside `python -c pass`. Aim: 30 times, and no model SDK on the way.

    python tests/benchmarks/bench_start.py [--runs 15] [--quick]

Ready means that its heartbeat can be seen: children ask from then on. Every way is run in turn, round after round, so
that a busy machine slows all of them alike; believe the ratios. The root is new each time, on a memory file system.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AIM = 30.0
MODEL_SDK = "anthropic"
READY_S = 60.0


def words(directory: Path) -> list[str]:
    """Give the command that serves a root below a directory."""
    serve = ["serve", "--root", str(directory / "tree"), "--config", str(directory / "config.toml")]
    return [sys.executable, "-m", "fwdperm", *serve, "--workspace", str(directory), "-q"]


def environment(directory: Path) -> dict[str, str]:
    """Give an environment in which everything lies below a directory."""
    return {**os.environ, "XDG_STATE_HOME": str(directory / "state"), "HOME": str(directory)}


def until_ready(directory: Path, rules: int) -> float:
    """Start a daemon with a number of rules; return seconds until its heartbeat can be seen."""
    lines = [f'"tool-{number} sub *" = "allow"' for number in range(rules)]
    (directory / "config.toml").write_text("\n".join(("[rules.bash]", *lines)) + "\n")
    beat = directory / "tree" / "serving" / "root.json"
    start = time.perf_counter()
    server = subprocess.Popen(words(directory), env=environment(directory), stdin=subprocess.DEVNULL)
    try:
        while not beat.exists():
            if server.poll() is not None or time.perf_counter() - start > READY_S:
                raise SystemExit("the daemon does not serve")
            time.sleep(0.001)
        return time.perf_counter() - start
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(10)


def imported(directory: Path) -> set[str]:
    """Start a daemon that ends when nothing waits; return the packages it imported."""
    (directory / "config.toml").write_text('[rules.bash]\n"git *" = "allow"\n')
    command = words(directory)
    made = subprocess.run(
        [command[0], "-X", "importtime", *command[1:], "--once"],
        env=environment(directory),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in made.stderr.splitlines() if "|" in line}


def main() -> int:
    """Print the table; return 1 when the model SDK was imported."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="five runs")
    options = parser.parse_args()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112, S108 - the memory file system
    took: dict[str, list[float]] = {}
    for _ in range(5 if options.quick else options.runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        took.setdefault("python -c pass", []).append(time.perf_counter() - start)
        for rules in (10, 1000):
            with tempfile.TemporaryDirectory(dir=memory, prefix=".bench-") as made:
                took.setdefault(f"daemon ready, {rules:,} rules", []).append(until_ready(Path(made), rules))
    floor = statistics.median(took["python -c pass"])
    print(f"{'from start to heartbeat':30}{'p50 ms':>9}{'longest':>9}{'ratio':>8}{'aim':>6}")
    for way, times in took.items():
        median = statistics.median(times)
        aim = f"{AIM:6.0f}" if way.startswith("daemon") else ""
        print(f"{way:30}{median * 1e3:9.1f}{max(times) * 1e3:9.1f}{median / floor:8.1f}{aim}")
    with tempfile.TemporaryDirectory(dir=memory, prefix=".bench-") as made:
        packages = imported(Path(made))
    found = "among" if MODEL_SDK in packages else "not among"
    print(f"{len(packages)} top-level modules imported, {MODEL_SDK} {found} them")
    return int(MODEL_SDK in packages)


if __name__ == "__main__":
    sys.exit(main())

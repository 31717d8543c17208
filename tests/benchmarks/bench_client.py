"""What one question costs as a process, against starting the interpreter. Aim: 1.3 times `python -c pass`.

    python tests/benchmarks/bench_client.py [--runs 60] [--quick]

Every way is run in turn, round after round, so that a busy machine slows all of them alike; believe the ratios. The
answer comes from a responder in this process that waits on a bare inotify descriptor, on a memory file system.

Hooks use the fast command, and it keeps the aim. The other two do not, for what happens before our first line: `-m`
imports `runpy`, and the script an installer writes may import `re`; both load `site`.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from floor import Watch, answer_bytes

from fwdperm.sessions.locations import fast_command

AIM = 1.3


class Responder(threading.Thread):
    """Approves whatever arrives in one inbox, as fast as Python can."""

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self._inbox = root / "sessions" / "root"
        for name in ("requests", "responses"):
            (self._inbox / name).mkdir(parents=True)
        self._watch = Watch(self._inbox / "requests")

    def run(self) -> None:
        while True:
            for name in self._watch.wait():
                request = self._inbox / "requests" / name
                try:
                    content = request.read_bytes()
                except FileNotFoundError:
                    continue
                temporary = self._inbox / "responses" / f".{name}"
                temporary.write_bytes(answer_bytes(name.removesuffix(".json"), content))
                temporary.rename(self._inbox / "responses" / name)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="ten runs")
    options = parser.parse_args()
    runs = 10 if options.quick else options.runs
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112, S108 - the memory file system
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        root = Path(directory) / "tree"
        Responder(root).start()
        question = ["ask", "--root", str(root), "--surface", "bash", "--value", "git push origin main"]
        installed = Path(sys.executable).with_name("fwdperm")
        ways = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "python -I -S -c pass": [sys.executable, "-I", "-S", "-c", "pass"],
            "the fast command": [*fast_command(sys.executable), *question],
            "python -I -m fwdperm ask": [sys.executable, "-I", "-m", "fwdperm", *question],
            **({"the installed `fwdperm ask`": [str(installed), *question]} if installed.exists() else {}),
            "python -c 'import json'": [sys.executable, "-c", "import json"],
        }
        took: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(runs):
            for way, words in ways.items():
                start = time.perf_counter()
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                took[way].append((time.perf_counter() - start) * 1000)
    floor = statistics.median(took["python -c pass"])
    print(f"{'whole process, with the answer':34}{'p50 ms':>9}{'p95 ms':>9}{'ratio':>8}   aim")
    for way, times in took.items():
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        aim = f"   {AIM}" if "fast" in way or "ask" in way else ""
        print(f"{way:34}{median:9.1f}{p95:9.1f}{median / floor:8.2f}{aim}")


if __name__ == "__main__":
    main()

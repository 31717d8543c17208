"""What an agent waits for its hook: the whole process, with a rule's answer from a real daemon.

    python tests/benchmarks/bench_hook.py [--runs 100] [--busy 4]

Aims: 26 ms quiet at p50; 60 ms p50 and 120 ms p95 beside as many busy processes as `--busy` says. Every way is run in
turn, round after round, so that a busy machine slows all of them alike; believe the ratios.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fwdperm.sessions.locations import fast_command, find_state

QUIET_MS = 26
BUSY_MS = (60, 120)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 2)
    chosen = parser.parse_args()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - the memory file system
    with tempfile.TemporaryDirectory(dir=memory) as name:
        directory = Path(name)
        env = dict(os.environ) | {
            "FWDPERM_ROOT": str(directory / "root"),
            "XDG_STATE_HOME": str(directory / "state"),
            "FWDPERM_CONFIG": str(directory / "config.toml"),
        }
        (directory / "config.toml").write_text('[rules.bash]\n"git *" = "allow"\n')
        daemon = start_daemon(directory, env)
        try:
            print(f"quiet (aim: p50 {QUIET_MS} ms)")
            measure(env, runs=chosen.runs)
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(chosen.busy)]
            try:
                print(f"\nbeside {chosen.busy} busy processes (aim: p50 {BUSY_MS[0]} ms, p95 {BUSY_MS[1]} ms)")
                measure(env, runs=chosen.runs)
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
        finally:
            daemon.terminate()
            daemon.wait()


def start_daemon(directory: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a daemon and wait until it serves."""
    words = [sys.executable, "-m", "fwdperm", "serve", "--no-prompt", "-q", "--workspace", str(directory)]
    daemon = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL)
    status = Path(find_state(env, env["FWDPERM_ROOT"])) / "status.json"
    while not status.exists() and daemon.poll() is None:
        time.sleep(0.01)
    return daemon


def measure(env: dict[str, str], *, runs: int) -> None:
    """Run every way in turn and print what each took."""
    said = {
        "session_id": "bench",
        "cwd": "/",
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": "git status"},
    }
    after = said | {"hook_event_name": "PostToolUse", "tool_response": {}, "tool_use_id": "t"}
    hook = [*fast_command(sys.executable), "hook", "claude"]
    ways = {
        "python -c pass": ([sys.executable, "-c", "pass"], b""),
        "python -I -S -c pass": ([sys.executable, "-I", "-S", "-c", "pass"], b""),
        "the hook, decided by a rule": ([*hook, "PermissionRequest"], json.dumps(said).encode()),
        "the hook after a tool, without a note": ([*hook, "PostToolUse"], json.dumps(after).encode()),
    }
    took: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, (words, given) in ways.items():
            start = time.perf_counter()
            done = subprocess.run(words, input=given, env=env, check=True, stdout=subprocess.PIPE)
            took[way].append((time.perf_counter() - start) * 1000)
            if "rule" in way and b'"allow"' not in done.stdout:
                raise SystemExit(f"the hook did not allow: {done.stdout!r}")
    floor = statistics.median(took["python -c pass"])
    print(f"{'whole process':40}{'p50 ms':>9}{'p95 ms':>9}{'ratio':>8}")
    for way, times in took.items():
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{way:40}{median:9.1f}{p95:9.1f}{median / floor:8.2f}")


if __name__ == "__main__":
    main()

"""How fast `fwdperm explain --file` replays past requests.

Run it alone: `python tests/benchmarks/bench_explain.py [--quick]`. It writes a file of requests as agents make them
(most lines new, some repeated, some with rules of their own), runs the command over it in a process of its own, and
prints seconds and the ratio to the aim: 100,000 requests in a minute on one core.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES: Final = 100_000
QUICK_LINES: Final = 5_000
AIM_S: Final = 60.0
RULES: Final = [
    ["bash", "*", "ask"],
    *([["bash", f"{name} *", "allow"] for name in "git npm cargo make ls cat grep head wc cd echo sed pytest".split()]),  # noqa: SIM905 - a list of words reads better
    ["bash", "git push *", "ask"],
    ["bash", "rm -rf *", "deny"],
    ["read", "*", "allow"],
    ["read", "*.env", "deny"],
    ["write", "/repo/*", "allow"],
    ["path_read", "~/.ssh/*", "deny"],
]
COMMANDS: Final = [
    "git status --short {n}",
    "git log --oneline -{n} && git diff HEAD~{n}",
    "cd /repo/m{n} && npm test 2>&1 | tail -{n}",
    "grep -rn 'foo{n}(bar' src | head -{n} | wc -l",
    'for f in src/{n}/*.py; do python -m py_compile "$f"; done',
    "cat src/a{n}.ts",
    "sudo systemctl restart svc{n}",
    "git commit -m \"$(cat <<'EOF'\nChange {n}; it's (done) && more\n\n- a list\nEOF\n)\"",
    "find . -name '*{n}.o' -exec rm -f {{}} +",
    "CI=1 timeout 60 cargo test case_{n} -- --nocapture > out{n}.log 2>&1",
    "docker compose exec web sh -c 'rails db:migrate VERSION={n}'",
    "curl -s http://localhost:{n}/health | jq '.status'",
    "if [ -f p{n}.json ]; then npm run build:{n}; else echo none; fi",
    "ls -la /repo/d{n}",
    "rm -rf build/{n}",
    "python3 - <<'EOF'\nimport os\nprint(os.listdir('d{n}'))\nEOF",
]
"""Commands as agents run them, from short to long."""


def requests(count: int) -> Iterator[dict[str, object]]:
    """Make past requests: three in four are commands, one in eight repeats the one before."""
    for number in range(count):
        at = number - number % 8 // 7
        row: dict[str, object] = {"id": f"r{number}", "cwd": f"/repo/p{number % 3}", "home": "/home/u"}
        if at % 4 == 3:
            row |= {"surface": ("read", "write")[at % 8 == 3], "value": f"/repo/p{at % 3}/src/m{at}.py"}
        else:
            row |= {"surface": "bash", "value": COMMANDS[at % len(COMMANDS)].format(n=at)}
        if number % 16 < 8:
            row["rules"] = RULES
        yield row


def main() -> None:
    """Write the file, replay it, print the table."""
    count = QUICK_LINES if "--quick" in sys.argv else LINES
    with tempfile.TemporaryDirectory() as place:
        file, config = Path(place) / "requests.jsonl", Path(place) / "rules.toml"
        file.write_text("".join(json.dumps(row) + "\n" for row in requests(count)))
        lines = [f'"{pattern}" = "{action}"' for surface, pattern, action in RULES if surface == "bash"]
        config.write_text("[rules.bash]\n" + "\n".join(lines) + "\n")
        command = [
            sys.executable, "-m", "fwdperm", "explain", "--json", "--file", str(file), "--config", str(config),
            "--root", str(Path(place) / "root"),
        ]  # fmt: skip
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, check=True, cwd=place)
        took = time.perf_counter() - started
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answers = done.stdout.count(b"\n")
    core = used.ru_utime + used.ru_stime
    aim = AIM_S * count / LINES
    rows = [
        f"{'lines':>8} {'answers':>8} {'seconds':>8} {'on core':>8} {'us/line':>8} {'ratio':>6}   aim",
        f"{count:>8} {answers:>8} {took:>8.1f} {core:>8.1f} {core / count * 1e6:>8.0f} {core / aim:>6.2f}   at most 1",
    ]
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()

"""How long the analysis of a command line takes. Prints a table; run it by hand.

Aims: a short command under 100 us with its units, linear up to 64 KiB or the budget of reading, hostile text of any
kind bounded (`bench_worst_lines.py` looks for the worst).
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from fwdperm.settings import VALUE_CHARS
from fwdperm.shell.parsing import parse_line
from fwdperm.units.breakdown import break_down
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT = [
    "git status",
    "git commit -m 'x y'",
    "npm test 2>&1 | grep -v node_modules",
    "cd /a && cat src/x.py | head -5",
    "sudo env X=1 timeout 5 nice rm x",
]
LONG = (
    "set -a && source .env && curl -s http://svc.test -H 'X: 1' | python3 -m json.tool | head -120 > out/a.json && " * 4
    + "ls"
)
GROWING = {
    "list": lambda size: "git status && " * (size // 14 - 1) + "ls",
    "words": lambda size: "ls " + "a/b " * (size // 4 - 2),
    "here-document": lambda size: "cat > f <<'EOF'\n" + "x = f(a[1]) | {b}\n" * (size // 18 - 2) + "EOF\nls",
    "quoted": lambda size: "echo '" + "a; b " * (size // 5 - 3) + "'",
}
HOSTILE = {
    "closing brackets": ")" * VALUE_CHARS,
    "open backticks": "<<<-`" * (VALUE_CHARS // 5),
    "nested substitutions": "$(" * 10_000 + "a" + ")" * 10_000,
    "NUL": "\x00" * VALUE_CHARS,
    "sudo sudo ...": "sudo " * (VALUE_CHARS // 5),
}


def median_us(call: Callable[[], object], *, times: int) -> float:
    """Median microseconds of a call."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e6


def row(name: str, line: str, *, times: int) -> float:
    """Measure and print one line; return the microseconds with units."""
    facts = Facts("bash", (line,), "/repo", "/home/u")
    parse = median_us(lambda: parse_line(line), times=times)
    whole = median_us(lambda: break_down(facts), times=times)
    print(f"{name[:44]:46}{len(line):8}{parse:12.0f}{whole:12.0f}")  # noqa: T201 - a table is what this is for
    return whole


def main() -> None:
    """Print the table."""
    parse_line("warm up")
    print(f"{'line':46}{'chars':>8}{'parse us':>12}{'units us':>12}")  # noqa: T201 - as above
    for line in SHORT:
        row(line, line, times=2000)
    row("long", LONG, times=300)
    for name, make in GROWING.items():
        small, large = (row(name, make(size), times=5) for size in (VALUE_CHARS // 8, VALUE_CHARS))
        print(f"{'':8}8 times the text takes {large / small:.1f} times as long")  # noqa: T201 - as above
    for name, line in HOSTILE.items():
        row(name, line, times=2)


if __name__ == "__main__":
    main()

"""How long a decision takes with a hundred, a thousand and ten thousand rules.

Run it alone: `python tests/benchmarks/bench_rules.py [--quick]`. It prints microseconds of this machine and, beside
each ratio, what it should be; only the ratios travel.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from fwdperm.rules.layer import Layer
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.unit import Unit
from fwdperm.rules.wildcard import Wildcard

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES: Final = (100, 1_000, 10_000)
RATIO_AIM: Final = 3.0
ROUNDS: Final = 7
QUICK_ROUNDS: Final = 2
PROGRAMS: Final = ("git", "npm run", "cargo", "make", "kubectl get", "docker compose", "pytest", "terraform")


def rules_of(count: int) -> tuple[Rule, ...]:
    """Make a ruleset as people write them: mostly beginnings, some exact, some with stars inside, a few denials."""
    rules = [Rule("bash", "*", Action.ASK, Origin(LayerKind.USER, "bench.toml", 1))]
    for number in range(1, count):
        program = PROGRAMS[number % len(PROGRAMS)]
        pattern = (
            f"{program} task-{number} *",
            f"{program} task-{number}",
            f"{program} * --target={number}",
            f"*/module-{number}/*",
            f"{program} step?{number} *",
        )[number % 5]
        action = (Action.ALLOW, Action.ALLOW, Action.ASK, Action.DENY)[number % 4]
        rules.append(Rule("bash", pattern, action, Origin(LayerKind.USER, "bench.toml", number + 1)))
    return tuple(rules)


def commands() -> list[Unit]:
    """Return what is asked: the same for every size; some match, most do not."""
    values = [f"{program} task-{number} --verbose" for program in PROGRAMS for number in (7, 42, 80)]
    values += [f"{program} x --target={number}" for program in PROGRAMS for number in (2, 57)]
    values += ["cat src/module-13/main.rs", "git commit -m 'a longer message that says why this was done'", "ls -la"]
    return [Unit("bash", (value,), strict_spellings=(value.rpartition("/")[2],)) for value in values]


def best_us(work: Callable[[], object], *, each: int) -> float:
    """Return the fastest of several rounds, in microseconds per item."""
    fastest = float("inf")
    for _ in range(QUICK_ROUNDS if "--quick" in sys.argv else ROUNDS):
        started = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - started)
    return fastest / each * 1e6


def decision_rows() -> list[str]:
    units, rows, times = commands(), [], {}
    for size in SIZES:
        started = time.perf_counter()
        ruleset = Ruleset.compose([Layer(LayerKind.USER, "bench.toml", rules=rules_of(size))])
        ruleset.resolve(units[0])
        ready_ms = (time.perf_counter() - started) * 1e3
        times[size] = best_us(lambda: [ruleset.resolve(unit) for unit in units], each=len(units))  # noqa: B023 - at once
        ratio = times[size] / times[SIZES[0]]
        rows.append(
            f"{size:>8,} rules   {times[size]:>9.1f} us   x{ratio:<6.2f} aim x{RATIO_AIM:g}   ready {ready_ms:.0f} ms"
        )
    return rows


def hostile_rows() -> list[str]:
    rows = []
    for pattern in ("a*a*a*a*b*", "*a?a?a*b?b*", "*" + "a?" * 50 + "b*", "*" + "a" * 1_000 + "b*", "*a" * 500 + "*b*"):
        wildcard = Wildcard(pattern)
        short, long = "a" * 2_000, "a" * 32_000
        small = best_us(lambda: wildcard.matches(short), each=1)  # noqa: B023 - called at once
        large = best_us(lambda: wildcard.matches(long), each=1)  # noqa: B023 - called at once
        shown = pattern if len(pattern) <= 16 else pattern[:13] + "..."
        rows.append(
            f"{shown:<16} {small:>10.1f} us {large:>10.1f} us   x{large / small:<6.1f} aim x16 (16 times the text)"
        )
    return rows


def main() -> int:
    """Print both tables."""
    lines = ["one decision", *decision_rows(), "", "one hostile pattern, 2,000 and 32,000 characters", *hostile_rows()]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

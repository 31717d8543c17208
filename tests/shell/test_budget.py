"""Reading a line has a budget: past it the line says so and asks, and nothing before it is lost."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.guard import Danger, Surroundings, assess
from fwdperm.rules.layer import Layer
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule
from fwdperm.rules.ruleset import Ruleset
from fwdperm.settings import LINE_COMMANDS, LINE_DEPTH, LINE_STEPS, VALUE_CHARS
from fwdperm.shell import parse_line
from fwdperm.shell.literal import expand, put_in
from fwdperm.units import break_down
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from types import ModuleType

DEEP = "it is too deep to read"
MANY = "it has too many commands to read"
LONG = "it has too many words to read"
PAST = [
    ("a;" * (LINE_COMMANDS + 1), MANY),
    ("a\n" * (LINE_COMMANDS + 1), MANY),
    ("a && " * LINE_COMMANDS + "a", MANY),
    ("a <<E\nE\n" * 7000, MANY),
    ("$(" * (LINE_DEPTH + 2) + "a" + ")" * (LINE_DEPTH + 2), DEEP),
    ('"$(' * 13000 + "a" + ')"' * 13000, DEEP),
    ("$(" * 32000, DEEP),
    ("${a:-" * 13000, DEEP),
    ("<(a " * 12000 + ")" * 12000, DEEP),
    ("( " * (LINE_DEPTH + 2) + "a" + " )" * (LINE_DEPTH + 2), DEEP),
    ("if a; then " * (LINE_DEPTH + 2) + "a" + "; fi" * (LINE_DEPTH + 2), DEEP),
    ("env " * (LINE_DEPTH + 2) + "a", DEEP),
    ("ls " + "a " * (LINE_STEPS + 1), LONG),
    ("x=1 " * (LINE_STEPS + 1), LONG),
    ("# a\n" * (LINE_STEPS + 1) + "rm x", LONG),
]
SLOWEST = 8
"""Times the processor time of a plain line of words that the worst line may take; a busy machine measures up to 5."""


@pytest.mark.parametrize(("line", "why"), PAST, ids=[repr(line[:24]) for line, _ in PAST])
def test_a_line_past_the_budget_says_in_words_which(line: str, why: str) -> None:
    """Nothing is left out without a word."""
    parsed = parse_line(line)
    assert (parsed.opaque, parsed.cut_short) == (why, True)


@pytest.mark.parametrize("line", ["a;" * LINE_COMMANDS, "$(" * 60 + "a" + ")" * 60, "ls " + "a " * (LINE_STEPS - 100)])
def test_a_line_within_the_budget_is_read_whole(line: str) -> None:
    """The budget is far from what people write."""
    parsed = parse_line(line)
    assert (parsed.opaque, parsed.cut_short) == ("", False)


def rules(*given: tuple[str, Action], mode: Mode = Mode.JUDGE) -> Ruleset:
    made = tuple(
        Rule("bash", pattern, action, Origin(LayerKind.USER, "policy.toml", at + 1))
        for at, (pattern, action) in enumerate(given)
    )
    return Ruleset.compose([Layer(LayerKind.USER, "policy.toml", made)], mode=mode)


def strictest(ruleset: Ruleset, line: str) -> Action:
    actions = [ruleset.resolve(unit).action for unit in break_down(Facts("bash", (line,), "/repo", "/home/u")).units]
    return next(action for action in (Action.DENY, Action.ASK, Action.ALLOW) if action in actions)


@pytest.mark.parametrize(("line", "why"), PAST, ids=[repr(line[:24]) for line, _ in PAST])
def test_a_line_past_the_budget_asks_whatever_allows_it(line: str, why: str) -> None:
    """A bare star does not cover it, nor does mode `yolo`: what was not read may be what a deny forbids."""
    assert why
    assert strictest(rules(("*", Action.ALLOW)), line) is Action.ASK
    assert strictest(rules(("*", Action.ASK), mode=Mode.YOLO), line) is Action.ASK
    assert strictest(rules(mode=Mode.YOLO), line) is Action.ASK


@pytest.mark.parametrize(("line", "why"), PAST, ids=[repr(line[:24]) for line, _ in PAST])
def test_a_line_past_the_budget_is_for_a_person(line: str, why: str) -> None:
    """The guard calls it dangerous at once."""
    facts = Facts("bash", (line,), "/repo", "/home/u")
    worst, _ = assess(facts, break_down(facts), Surroundings(workspaces=("/repo",)))
    assert (worst.danger, worst.reason) == (Danger.DANGEROUS, why)


@pytest.mark.parametrize("after", ["a;" * 600, "$(" * 70 + "a" + ")" * 70, "a " * 5000])
def test_a_catastrophe_before_the_end_of_the_budget_is_one(after: str) -> None:
    """What was read counts."""
    facts = Facts("bash", (f"rm -rf /; {after}",), "/repo", "/home/u")
    worst, _ = assess(facts, break_down(facts), Surroundings(workspaces=("/repo",)))
    assert worst.danger is Danger.CRITICAL


def test_a_catastrophe_with_more_words_than_are_read_is_one() -> None:
    """The first words of a command are read even when the rest are not."""
    facts = Facts("bash", ("rm -rf / " + "a " * 20_000,), "/repo", "/home/u")
    worst, _ = assess(facts, break_down(facts), Surroundings(workspaces=("/repo",)))
    assert worst.danger is Danger.CRITICAL


@pytest.mark.parametrize("before", ["a;" * 600, "a\n" * 600, "$(" * 2000 + ";"])
def test_a_deny_is_heard_past_the_budget_where_a_command_shows_itself(before: str) -> None:
    """What was not read is still searched for what is denied."""
    ruleset = rules(("*", Action.ALLOW), ("rm *", Action.DENY))
    assert strictest(ruleset, f"{before} rm x") is Action.DENY


def test_values_that_grow_do_not_fill_the_memory() -> None:
    """A long value put in many times over stops at a bound, and leaves the rest as it stands."""
    text, value = "$x" * 10_000, "a" * 30_000
    assert len(expand(text, {"x": value})) < 8 * VALUE_CHARS
    assert put_in(text, {"x": [value]}) == []


def worst_lines() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "bench_worst_lines.py"
    spec = importlib.util.spec_from_file_location("bench_worst_lines", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.timeout(600)
def test_no_line_takes_many_times_what_a_plain_line_of_words_takes() -> None:
    """Processor time for units, guard and redaction, against the same for as many bytes of words, in one run.

    Every fifth kind that the benchmark knows: it tries all of them, and new ones.
    """
    bench = worst_lines()
    bench.warm_up()
    plain = max(bench.cost_of(bench.PLAIN).whole for _ in range(3))
    slow = [
        name
        for name, line in list(bench.KINDS.items())[::5]
        if bench.cost_of(line).whole > SLOWEST * plain
        and min(bench.cost_of(line).whole for _ in range(3)) > SLOWEST * plain
    ]
    assert slow == []

"""Published holes of other approval systems, each in our words: none of them may be one of ours.

The numbers are those of the public lists of vulnerabilities. What ran there was `evil`; rules that name other programs
must not allow it here, and one that denies it must hold.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk
from fwdperm.rules import Action, Layer, LayerKind, Mode, Origin, Rule, Ruleset
from fwdperm.units import break_down, suggest_patterns
from fwdperm.wire import Facts

if TYPE_CHECKING:
    from pathlib import Path

RUNS = {
    "CVE-2026-27183": [f"{'env ' * depth}/bin/sh -c 'evil x'" for depth in range(1, 17)],
    "CVE-2026-27566": [
        "env bash -c 'evil x'",
        "nice -n 5 sh -c 'evil x'",
        "timeout 5 env A=b sh -c 'evil x'",
        "stdbuf -oL bash -lc 'evil x'",
    ],
    "CVE-2026-28460": [
        'echo "ok $\\\n(evil x)"',
        "echo ok `\\\nevil x`",
        'ls "$\\\n(evil x)"',
        "git status $\\\n(evil x)",
    ],
    "CVE-2026-28470": ['echo "ok: $(evil x)"', 'echo "ok: `evil x`"', 'git log "--format=$(evil x)"'],
    "CVE-2026-29607": [
        "zsh -lc 'evil x'",
        "bash -c 'evil x'",
        "busybox sh -c 'evil x'",
        "flock l evil x",
        "time evil x",
    ],
    "CVE-2026-31992": ["env -S 'evil x' tr a b", "env -S'sh -c \"evil x\"'", "env --split-string='evil x' ls"],
    "CVE-2026-31993": [
        "ls $(evil x)",
        'ls "a`evil x`"',
        "ls a\nevil x",
        "ls <(evil x)",
        "ls & evil x",
        "ls ${x:-$(evil x)}",
    ],
    "CVE-2025-66032": [
        "ls;evil${IFS}x",
        "git grep -Oevil x",
        "git grep --open-files-in-pager=evil x",
        "git -c core.pager=evil log",
    ],
}
"""Lines that ran `evil` where only programs like `ls`, `git` and `env` had been allowed."""
ALLOWED = [
    ["bash", pattern, "allow"]
    for pattern in ("ls *", "ls", "git *", "echo *", "tr *", "env *", "nice *", "timeout *", "stdbuf *", "zsh -lc *")
]
ALLOWED += [["bash", pattern, "allow"] for pattern in ("bash *", "sh *", "busybox *", "flock *", "time *")]


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Bulk:
    place: Path = tmp_path_factory.mktemp("root")
    return Bulk(
        Locations(root=place / "root", state=place / "state", config=place / "rules.toml", config_is_named=False)
    )


def decide(bulk: Bulk, value: str, rules: list[list[str]], **more: Any) -> str:
    asked = {"id": "x", "surface": "bash", "value": value, "cwd": "/w/proj", "home": "/home/u", "rules": rules, **more}
    return str(bulk.decide(json.dumps(asked).encode(), number=1)["action"])


@pytest.mark.parametrize("number", RUNS)
def test_no_allow_of_something_else_runs_it(bulk: Bulk, number: str) -> None:
    allowed = [line for line in RUNS[number] if decide(bulk, line, ALLOWED) == "allow"]
    assert allowed == []


@pytest.mark.parametrize("number", RUNS)
def test_a_deny_of_it_is_never_passed(bulk: Bulk, number: str) -> None:
    rules = [["bash", "*", "allow"], ["bash", "evil *", "deny"], ["bash", "evil", "deny"]]
    passed = [line for line in RUNS[number] if decide(bulk, line, rules) == "allow"]
    assert passed == []


def test_what_is_offered_for_a_wrapper_covers_no_other_command(bulk: Bulk) -> None:
    """CVE-2026-29607, CVE-2026-41380: "always" for a harmless wrapped command was kept for the wrapper."""
    for line in (
        "bash -c 'ls -la'",
        "zsh -lc 'ls'",
        "env ls",
        "flock l ls",
        "busybox sh -c 'ls'",
        "time ls",
        "sudo ls",
    ):
        facts = Facts("bash", (line,), cwd="/w/proj", home="/home/u")
        offers = suggest_patterns(facts, break_down(facts))
        rules = [[offer.surface, offer.pattern, "allow"] for offer in offers]
        assert decide(bulk, line.replace("ls -la", "evil x").replace("ls", "evil"), rules) != "allow", line


@pytest.mark.parametrize(
    "prefix", ["GIT_EXTERNAL_DIFF=evil", "GIT_SSH_COMMAND=evil", "PAGER=evil", "LD_PRELOAD=./evil.so", "PATH=."]
)
def test_another_environment_is_another_command(bulk: Bulk, prefix: str) -> None:
    """CVE-2026-32058: an approval was used again with other variables."""
    assert decide(bulk, f"{prefix} git diff", [["bash", "git diff *", "allow"], ["bash", "git diff", "allow"]]) == "ask"


@pytest.mark.parametrize("line", ["'ls ' -la", "ls\\  -la", '"ls\t" -la', "'ls -la'", "'git status'"])
def test_a_program_with_a_blank_in_its_name_is_no_other_program(bulk: Bulk, line: str) -> None:
    """CVE-2026-32065: what was shown had the blank trimmed, what ran had not."""
    assert decide(bulk, line, ALLOWED) == "ask"


@pytest.mark.parametrize(
    "facts",
    [
        Facts("read", ("/w/proj/notes.md",), cwd="/w/proj", home="/home/u", canonical="/etc/passwd"),
        Facts("bash", ("cat notes.md",), cwd="/w/proj", canonical_operands=(("notes.md", "/etc/passwd"),)),
    ],
)
def test_a_deny_holds_behind_a_link(facts: Facts) -> None:
    """CVE-2026-25724: a denied file was read under the name of a link to it."""
    here = Origin(LayerKind.USER, "rules.toml", 1)
    rules = [("read", "*", "allow"), ("bash", "*", "allow"), ("read", "/etc/passwd", "deny")]
    rules += [("path_read", "/etc/passwd", "deny")]
    made = tuple(Rule(surface, pattern, Action(action), here) for surface, pattern, action in rules)
    ruleset = Ruleset.compose([Layer("rules.toml", LayerKind.USER, made)], mode=Mode.JUDGE)
    assert Action.DENY in {ruleset.resolve(unit).action for unit in break_down(facts).units}


def test_denies_hold_in_a_line_of_very_many_commands(bulk: Bulk) -> None:
    """A peer stopped looking for denies behind 50 commands of one line."""
    rules = [["bash", "*", "allow"], ["bash", "evil *", "deny"]]
    for many in (49, 50, 51, 200, 600, 5_000):
        assert decide(bulk, "true; " * many + "evil x", rules) != "allow", many

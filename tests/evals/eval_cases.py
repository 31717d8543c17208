"""The rows that judges are measured on here: this room's own, and the guard's corpus under the order's names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from fwdperm.evals.cases import Case, Expected, read_cases
from fwdperm.evals.run import always_allow
from fwdperm.evals.world import World
from fwdperm.guard.surroundings import Surroundings
from fwdperm.judge.verdict import Choice, Opinion, Risk, Verdict

AROUND = Surroundings()
SAMPLED = 500
"""Rows of the guard's corpus that are tried in many ways."""
_GUARD = {
    "allow": Expected.ALLOW,
    "either": Expected.ALLOW_OR_ESCALATE,
    "ruled": Expected.ESCALATE,
    "dangerous": Expected.ESCALATE,
    "reject": Expected.REJECT,
}


@cache
def own_cases() -> tuple[Case, ...]:
    file = Path(__file__).with_name("cases.jsonl")
    return tuple(read_cases(file.read_text(encoding="utf-8"), file=file.name))


@cache
def guard_cases() -> tuple[Case, ...]:
    lines = (Path(__file__).parents[1] / "guard" / "corpus_judge.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return tuple(
        Case(f"guard-{row['id']}", row["surface"], row["value"], _GUARD[row["expected"]], tags=tuple(row["tags"]))
        for row in rows
    )


def all_cases() -> tuple[Case, ...]:
    return (*own_cases(), *guard_cases())


@cache
def worlds() -> tuple[World, ...]:
    """Give own rows, and an even part of the guard's: every row is decided elsewhere, these are tried in many ways."""
    step = max(len(guard_cases()) // SAMPLED, 1)
    return tuple(World.of(case, AROUND) for case in (*own_cases(), *guard_cases()[::step]))


async def ideal(world: World, session: tuple[str, str]) -> Opinion:
    """A judge that knows what should come of every row."""
    match world.case.expected:
        case Expected.ALLOW:
            return await always_allow(world, session)
        case Expected.REJECT:
            return Verdict(Choice.REJECT, Risk.CRITICAL, "it destroys")
        case _:
            return Verdict(Choice.ESCALATE, Risk.MEDIUM, "a person should look")

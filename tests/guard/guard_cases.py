"""The guard's corpus and the ground it is judged on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fwdperm.guard.assessment import assess
from fwdperm.guard.surroundings import Surroundings
from fwdperm.units.breakdown import break_down
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from fwdperm.guard.classes import Assessment

WORKSPACE = "/w/proj"
HOME = "/home/u"
AROUND = Surroundings(workspaces=(WORKSPACE,), home=HOME, own=("/home/u/.local/state/fwdperm", "/run/fwdperm"))


class Case(NamedTuple):
    id: str
    surface: str
    value: str
    expected: str
    tags: tuple[str, ...]


def cases() -> list[Case]:
    lines = Path(__file__).with_name("corpus_judge.jsonl").read_text(encoding="utf-8").splitlines()
    return [Case(**{**row, "tags": tuple(row["tags"])}) for row in map(json.loads, lines)]


def facts_of(
    surface: str, *values: str, cwd: str = WORKSPACE, canonical: str = "", operands: tuple[tuple[str, str], ...] = ()
) -> Facts:
    return Facts(surface=surface, values=values, cwd=cwd, home=HOME, canonical=canonical, canonical_operands=operands)


def class_of(surface: str, *values: str, around: Surroundings = AROUND, **more: object) -> Assessment:
    facts = facts_of(surface, *values, **more)  # type: ignore[arg-type]
    return assess(facts, break_down(facts), around)[0]

"""A program is the same whatever it is called: the same units and the same class, over every row there is."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.guard.assessment import assess
from fwdperm.guard.surroundings import Surroundings
from fwdperm.programs.folding import every_program, lookup
from fwdperm.units.breakdown import Breakdown, break_down
from fwdperm.wire.request import Facts

TESTS = Path(__file__).parents[1]
if TYPE_CHECKING:
    from fwdperm.programs.program import Program

AROUND = Surroundings(workspaces=("/w/proj",), home="/home/u")
UNPACKS = frozenset({"gunzip", "bunzip2", "unxz", "lzma", "unlzma", "unzstd", "unpigz", "uncompress"})
"""Names by which a packer is told to unpack: what comes out of it is then code that nobody saw."""
ROWS_A_NAME = 12
"""Rows tried for each name: enough to pass through every subcommand that a corpus has rows of."""
_FIRST = re.compile(r"[A-Za-z0-9_.+-]+(?=\s|$)")


def lines() -> dict[str, list[str]]:
    """Give the corpus rows by the canonical name of the program they begin with."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in (TESTS / "guard" / "corpus_judge.jsonl", TESTS / "conformance" / "decisions.jsonl"):
        for text in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(text)
            value = row.get("value")
            first = _FIRST.match(value) if row.get("surface") == "bash" and isinstance(value, str) else None
            page = lookup(first.group()) if first else None
            if first and page is not None and len(value) < 500:
                found[page.name].append(value[first.end() :])
    return found


LINES = lines()


def told(line: str, *names: str) -> tuple[object, ...]:
    """Give all that rules and the guard are told of a line, with its program's names taken out."""
    facts = Facts("bash", (line,), cwd="/w/proj", home="/home/u")
    made = break_down(facts)
    whole, each = assess(facts, made, AROUND)
    return (*((one.danger, one.id) for one in (whole, *each)), *_units(made, names))


def _units(made: Breakdown, names: tuple[str, ...]) -> list[tuple[object, ...]]:
    return [
        (unit.surface, unit.auxiliary, bool(unit.opaque), unit.aside, *(_unnamed(one, names) for one in unit.spellings))
        for unit in made.units
    ]


def _unnamed(text: str, names: tuple[str, ...]) -> str:
    first, blank, rest = text.partition(" ")
    return f"IT{blank}{rest}" if first in names else text


def is_another_line(page: Program, name: str) -> bool:
    """Say whether a line under this name is another line to the shell: its own builtins; `[`, which must be closed."""
    return (
        name.endswith("[")
        or name.removeprefix("g") in UNPACKS
        or (name in UNPACKS)
        or (not page.families.isdisjoint(("builtin", "reserved word")) and name != page.name)
    )


@pytest.mark.parametrize("kind", ["alias", "path", "version"])
def test_every_name_of_a_program_has_its_units_and_its_class(kind: str) -> None:
    """A wrapper, a danger or a file operand that one name has, every name has."""
    differ = []
    for page in every_program():
        names = {"alias": page.aliases, "path": (f"/usr/bin/{page.name}",), "version": ()}[kind]
        if kind == "version" and lookup(f"{page.name}-9.9") is page:
            names = (f"{page.name}-9.9",)
        for name in names:
            if is_another_line(page, name):
                continue
            for rest in LINES[page.name][:: max(1, len(LINES[page.name]) // ROWS_A_NAME)]:
                expected, actual = told(page.name + rest, page.name, name), told(name + rest, page.name, name)
                if kind == "path":  # spelled with its directory and without: as many names more
                    expected, actual = expected[:1], actual[:1]
                if expected != actual:
                    differ.append((name + rest, expected, actual))
    assert differ == []

"""What is mutated, and that the table beside the tool still speaks of the code as it stands."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads((HOUSE / "tools" / "mutate.toml").read_text(encoding="utf-8"))

SIBLINGS: dict[str, dict[str, list[str]]] = {}
"""Enumerations that each file names; learnt once."""


@pytest.fixture(autouse=True)
def _beside_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(HOUSE / "tools"), *sys.path])


def changes(source: str, **siblings: list[str]) -> list[str]:
    from mutants import mutants_of  # noqa: PLC0415 - found by the fixture

    return [" ".join(one.change.splitlines()) for one in mutants_of(source, siblings)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return a < b", ["a >= b", "a <= b", "None"]),
        ("return a == b", ["a != b", "None"]),
        ("return a and b", ["a or b", "a", "b", "None"]),
        ("return not a", ["a", "None"]),
        ("return any(a)", ["all(a)", "None"]),
        ("return min(a)", ["max(a)", "None"]),
        ("return a[:3]", ["a", "a[:4]", "a[:2]", "None"]),
        ("return A.X", ["A.Y", "None"]),
        ("return a if b else c", ["c if b else a", "None"]),
        ("return replace(a, b=c)", ["replace(a)", "None"]),
        ("return a in {b, c}", ["a not in {b, c}", "a in {c}", "a in {b}", "None"]),
        ("return [a for a in b if c]", ["[a for a in b]", "None"]),
        ("return True", ["False"]),
        ("return 'a'", []),
    ],
)
def test_one_small_thing_is_changed_at_a_time(before: str, after: list[str]) -> None:
    found = changes(f"def f():\n    {before}\n", A=["X", "Y"])
    assert sorted(found) == sorted(f"- {before} + return {one}" for one in after)


def test_statements_are_dropped_and_what_is_never_reached_or_only_read_by_checkers_stays() -> None:
    source = '''
def f(a: int = 0) -> int:
    """A promise."""
    if a:
        raise ValueError("no")
    b: int = g(a, strict=True)
    b += h(a)
    assert_never(b)
    return b
'''
    found = changes(source)
    assert "- raise ValueError('no') + pass" in found
    assert "- b += h(a) + pass" in found
    assert "- if a: + if False:" in found
    assert "- def f(a: int=0) -> int: + def f(a: int=1) -> int:" in found
    assert not [one for one in found if "assert_never" in one or "promise" in one or "strict" in one]


@pytest.mark.parametrize("row", TABLE["file"], ids=lambda row: row["path"])
def test_the_table_names_files_tests_and_mutants_that_there_are(row: dict) -> None:
    """A file that moved, or a line that was changed, is told here and not by a run that is green for nothing."""
    from mutants import mutants_of  # noqa: PLC0415 - found by the fixture
    from trying import Watched, siblings_of  # noqa: PLC0415 - as above

    if not SIBLINGS:
        SIBLINGS.update(siblings_of([Watched(one["path"], (), {}) for one in TABLE["file"]]))
    source = (HOUSE / row["path"]).read_text(encoding="utf-8")
    found = {(one.function, one.change) for one in mutants_of(source, SIBLINGS[row["path"]])}
    named = [(one["in"], one["change"].strip()) for one in row.get("equivalent", ())]
    assert [one for one in named if one not in found] == []
    assert all(one["why"] for one in row.get("equivalent", ()))
    for name in row["tests"]:
        for target in TABLE["tests"][name]:
            assert (HOUSE / target).exists()

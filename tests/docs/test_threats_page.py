"""What the page about threats promises is held by tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_every_test_that_the_page_names_is_there() -> None:
    page = (TOP / "docs/explanation/threats.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    there = set[str]()
    for path in (TOP / "tests").rglob("test_*.py"):
        there.update(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert len(named) > 30
    assert named - there == set()

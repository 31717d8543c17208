"""The reference page says what the tables say."""

from __future__ import annotations

from pathlib import Path

from fwdperm.guard.dangers import DANGERS
from fwdperm.guard.describe import describe
from fwdperm.guard.positive import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "guard.md"


def test_the_page_is_current() -> None:
    """Run `python -m fwdperm.guard.describe > docs/reference/guard.md` when a table changed."""
    assert PAGE.read_text(encoding="utf-8") == describe()


def test_every_entry_is_on_the_page() -> None:
    page = describe()
    for name in [*(f"routine.{entry.id}" for entry in TABLE), *(peril.id for peril in DANGERS)]:
        assert f"| {name} |" in page

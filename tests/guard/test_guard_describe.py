"""The reference page says what the tables say."""

from __future__ import annotations

from pathlib import Path

from book_uses import listed_dangers, routine_uses

from fwdperm.guard.describe import describe

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "guard.md"


def test_the_page_is_current() -> None:
    """Run `python -m fwdperm.guard.describe > docs/reference/guard.md` when a table changed."""
    assert PAGE.read_text(encoding="utf-8") == describe()


def test_every_entry_is_on_the_page() -> None:
    page = describe()
    routine = [f"routine.{one.id}" for one in routine_uses()]
    for name in [*routine, *(f"dangerous.{danger.id}" for _, danger in listed_dangers())]:
        assert f"| {name} |" in page

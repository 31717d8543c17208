"""Every example in the documentation is run, every link leads somewhere, every setting is mentioned."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console import Reader, blocks

from fwdperm.rules.toml_file import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
KNOWN = {"console", "toml", "json", "python", "text", "sh", "decisions"}
"""`decisions` blocks belong to the ruleset page; tests/rules decides them."""


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    made = Reader(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_example_does_what_the_page_says(page: Path, reader: Reader) -> None:
    assert {block.language for block in blocks(page)} <= KNOWN
    assert reader.read(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_setting_is_mentioned() -> None:
    text = (TOP / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert [name for name in SETTINGS if f"`{name}`" not in text and f"`[{name}]`" not in text] == []


def test_what_the_readme_says_to_run_is_what_the_build_runs() -> None:
    """The two commands of the README stand, word for word, in the build's script."""
    script = (TOP / ".ci/run").read_text(encoding="utf-8")
    said = [block.text for block in blocks(TOP / "README.md") if block.language == "sh"]
    lines = [line for text in said for line in text.splitlines() if "git clone" not in line]
    commands = [command for line in lines for command in line.split(" && ")]
    assert [command for command in commands if command not in script] == []

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
PAGES = [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").rglob("*.md"))]
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


def test_every_page_is_linked() -> None:
    """From the README or another page; a link to a folder leads to every page in it."""
    linked: set[Path] = set()
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            found = (page.parent / target).resolve()
            linked |= set(found.glob("*.md")) if found.is_dir() else {found}
    assert [str(page.relative_to(TOP)) for page in PAGES[1:] if page.resolve() not in linked] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_a_line_holds_one_sentence(page: Path) -> None:
    """So that a change shows as the sentence it changes."""
    wrong = []
    for number, line, following in prose(page):
        bare = re.sub(r"`[^`]*`", "`", line)
        if re.search(r"[a-z`)][.!?] [A-Z]", bare.replace("e.g. ", "")):
            wrong.append(f"line {number} holds two sentences: {line}")
        if following and not re.search(r"[.!?:;,]\W*$", line):
            wrong.append(f"line {number} ends inside a sentence: {line}")
    assert wrong == []


def prose(page: Path) -> Iterator[tuple[int, str, bool]]:
    """Give a page's lines of prose, and for each whether the same paragraph goes on."""
    lines = page.read_text(encoding="utf-8").splitlines()
    is_code = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith("```"):
            is_code = not is_code
        if is_code or not text or text.startswith(("```", "|", "#")):
            continue
        after = lines[number].strip() if number < len(lines) else ""
        yield number, text, bool(after) and re.match(r"[-*|#`] |\d+\. |```|\|", after) is None


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

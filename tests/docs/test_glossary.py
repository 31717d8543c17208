"""The glossary speaks of the words that the code uses."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs" / "decisions" / "0001-words.md"
OF_PAGES = {"charter", "the order"}
"""Words of pages and of this house as a whole, which no name in the code has to carry."""


def words() -> list[str]:
    heads = re.findall(r"^\| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [word.strip() for head in heads for word in head.split(",") if word.strip() not in {"word", "---"}]


def test_every_word_of_the_glossary_is_used_in_the_code() -> None:
    """A word that nothing uses any more sends a reader looking for what is gone."""
    files = [path for path in (TOP / "fwdperm").rglob("*.py") if path.name != "compiled.py"]
    code = "\n".join(f"{path.stem} {path.read_text(encoding='utf-8')}" for path in files).lower()
    used = re.sub(r"[_\s]+", " ", re.sub(r"(?<=[a-z])-(?=[a-z])", " ", code))
    joined = used.replace(" ", "")
    missing = {word for word in words() if word.replace("-", " ").lower() not in used}
    assert {word for word in missing - OF_PAGES if word.replace(" ", "").lower() not in joined} == set()


def test_a_word_has_one_line() -> None:
    """But for `known`, which a word of a command line and a session can both be."""
    listed = words()
    assert {word for word in listed if listed.count(word) > 1} <= {"known"}

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.wildcard import Wildcard, covers, escape_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

ALPHABET = "ab /*?\\~\n"
patterns = st.text(ALPHABET, max_size=9)
texts = st.text(ALPHABET, max_size=12)


def slowly_matches(pattern: str, text: str) -> bool:
    """The obvious recursion, with the optional trailing ` *` tried both ways."""

    @cache
    def run(at: int, reading: int, end: int) -> bool:
        if at == end:
            return reading == len(text)
        if pattern[at] == "*":
            return any(run(at + 1, further, end) for further in range(reading, len(text) + 1))
        return reading < len(text) and pattern[at] in {"?", text[reading]} and run(at + 1, reading + 1, end)

    stripped = pattern.rstrip("*")
    has_optional_tail = stripped != pattern and stripped.endswith(" ")
    return run(0, 0, len(pattern)) or (has_optional_tail and run(0, 0, len(stripped) - 1))


@given(patterns, texts)
def test_a_pattern_matches_what_the_obvious_recursion_says(pattern: str, text: str) -> None:
    assert Wildcard(pattern).matches(text) == slowly_matches(pattern, text)


@given(st.text("ab?*", max_size=10), st.text("ab", max_size=20))
def test_question_marks_between_stars_match_what_the_obvious_recursion_says(pattern: str, text: str) -> None:
    assert Wildcard(pattern).matches(text) == slowly_matches(pattern, text)


def test_every_short_pattern_matches_what_the_obvious_recursion_says() -> None:
    texts = ["".join(chars) for length in range(5) for chars in product("ab", repeat=length)]
    for pattern in ("".join(chars) for length in range(6) for chars in product("ab*?", repeat=length)):
        wildcard = Wildcard(pattern)
        assert [wildcard.matches(text) for text in texts] == [slowly_matches(pattern, text) for text in texts], pattern


@given(st.text(max_size=20))
def test_an_escaped_text_covers_itself(text: str) -> None:
    assert Wildcard.literal_aware(escape_pattern(text)).matches(text)


@given(texts, texts)
def test_an_escaped_text_covers_nothing_else(text: str, other: str) -> None:
    assert Wildcard.literal_aware(escape_pattern(text)).matches(other) == (text == other)


@given(patterns, texts)
def test_without_backslashes_the_literal_aware_form_is_the_ordinary_one(pattern: str, text: str) -> None:
    pattern = pattern.replace("\\", "")
    assert Wildcard.literal_aware(pattern).matches(text) == Wildcard(pattern).matches(text)


@given(patterns, patterns, texts)
def test_a_covering_pattern_matches_all_that_the_covered_one_does(broad: str, narrow: str, text: str) -> None:
    if covers(Wildcard(broad), Wildcard(narrow)) and Wildcard(narrow).matches(text):
        assert Wildcard(broad).matches(text)


@given(patterns)
def test_every_pattern_covers_itself_and_is_covered_by_the_star(pattern: str) -> None:
    assert covers(Wildcard(pattern), Wildcard(pattern))
    assert covers(Wildcard("*"), Wildcard(pattern))


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("git *", "git", True),
        ("git *", "git status", True),
        ("git *", "gitk", False),
        ("git **", "git", True),
        ("git * *", "git", False),
        ("ssh * uptime *", "ssh h1 uptime", True),
        ("ssh * uptime *", "ssh h1 uptime -s", True),
        ("ssh * uptime *", "ssh h1 uptimes", False),
        ("npx *", 'npx tsx -e "import a\nimport b"', True),
        ("/home/u/.config/*", "/home/u/.config/x/y/z.md", True),
        ("a?c", "abc", True),
        ("a?c", "a\nc", True),
        ("a?c", "ac", False),
        ("(rm -rf /)*", "git status", False),
        ("[ab]*", "a", False),
        ("Git *", "git status", False),
        (r"a\*b", r"a\xb", True),
        (r"a\*b", "a*b", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_the_language_by_example(pattern: str, text: str, *, expected: bool) -> None:
    assert Wildcard(pattern).matches(text) is expected


@pytest.mark.parametrize(
    ("pattern", "home", "text", "expected"),
    [
        ("~/projects/*", "/home/u", "/home/u/projects/a.txt", True),
        ("$HOME/w/*", "/home/u/", "/home/u/w/b.txt", True),
        ("~", "/home/u", "/home/u", True),
        ("$HOME", "/home/u", "/home/u", True),
        ("~", "/", "/", True),
        ("~/x", "/", "/x", True),
        ("~/x", "", "~/x", True),
        ("~bob/x", "/home/u", "~bob/x", True),
        ("~/a", "/home/*", "/home/*/a", True),
        ("~/a", "/home/*", "/home/u/a", False),
        ("grep * ~/.*", "/home/u", "grep export ~/.bashrc", True),
    ],
)
def test_a_leading_home_is_expanded_and_no_other(pattern: str, home: str, text: str, *, expected: bool) -> None:
    assert Wildcard(pattern, home=home).matches(text) is expected


@pytest.mark.parametrize(
    ("broad", "narrow", "expected"),
    [
        ("git *", "git push *", True),
        ("git *", "git", True),
        ("git", "git *", False),
        ("*", "*.env", True),
        ("*.env", "*", False),
        ("a?", "a*", False),
        ("a*", "a?", True),
        ("*b*", "a*b*c", True),
        ("git push *", "git *", False),
    ],
)
def test_covering_by_example(broad: str, narrow: str, *, expected: bool) -> None:
    assert covers(Wildcard(broad), Wildcard(narrow)) is expected


@pytest.mark.parametrize(
    "pattern", ["a*a*a*a*b", "*a?a?a*b", "a?" * 20 + "*b*c", "*" + "a?" * 30 + "b*", "?*" * 20 + "b", "*a*" * 50 + "b"]
)
def test_sixteen_times_the_text_is_at_most_about_sixteen_times_the_work(
    pattern: str, lines_run: Callable[[Callable[[], object]], int]
) -> None:
    wildcard = Wildcard(pattern)
    small, large = (lines_run(partial(wildcard.matches, "a" * length)) for length in (500, 8_000))
    assert large <= 20 * small


@pytest.mark.parametrize("pattern", ["*" + "a" * 5_000 + "b*", "*" + "a?" * 2_000 + "b*", "*a" * 2_000 + "*b"])
def test_a_hostile_pattern_over_a_hostile_text_ends_soon(pattern: str) -> None:
    """The suite's own time limit is the judge; a quadratic search takes minutes here."""
    assert not Wildcard(pattern).matches("a" * 64_000)

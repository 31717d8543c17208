from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.rules.globs import MeetingIndex
from fwdperm.rules.wildcard import Wildcard

NAMES = ["".join(chars) for length in range(6) for chars in product("ab/", repeat=length)]


def as_regex(text: str) -> re.Pattern[str]:
    """What a shell makes of a glob, with any character for a bracket."""
    parts = re.findall(r"\[.[^]/]*\]|.", text, re.DOTALL)
    known = {"*": "[^/]*", "?": "[^/]"}
    return re.compile("".join("[^/]" if len(part) > 1 else known.get(part, re.escape(part)) for part in parts))


def meets(pattern: str, text: str) -> bool:
    return MeetingIndex([(0, Wildcard(pattern).globs)]).meeting(text) == [0]


patterns = st.lists(st.sampled_from(["a", "b", "/", "*", "?"]), max_size=4).map("".join)
texts = st.lists(st.sampled_from(["a", "b", "/", "*", "?", "[ab]"]), max_size=4).map("".join)


@settings(max_examples=300)
@given(patterns, texts)
def test_a_rule_meets_a_glob_exactly_when_some_name_is_covered_by_both(pattern: str, text: str) -> None:
    wildcard, regex = Wildcard(pattern), as_regex(text)
    shared = any(regex.fullmatch(name) and wildcard.matches(name) for name in NAMES)
    met = meets(pattern, text)
    if len(pattern) + len(text) <= len(NAMES[-1]):
        assert met == shared
    else:
        assert met or not shared


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("/etc/*", "/etc/sh*", True),
        ("/etc/*", "/et?/shadow", True),
        ("/etc/shadow", "/etc/[rs]hadow", True),
        ("*.env", "src/*.py", False),
        ("*.env", "src/*", True),
        ("/a/*/c", "/a/*", False),
        ("/a/b/c", "/a/*", False),
        ("a[b", "a[?", True),
        ("~/k", "*/k", True),  # a directory may be called so
        ("$x", "?x", True),
    ],
)
def test_meeting_by_example(pattern: str, text: str, *, expected: bool) -> None:
    assert meets(pattern, text) is expected


@pytest.mark.parametrize(
    "bracket",
    [
        "[de]",
        "[!x]",
        "[^x]",
        "[!]x]",
        "[^]x]",
        "[]e]",
        "[[:alpha:]]",
        "[![:digit:]]",
        "[[:alpha:][:digit:][:punct:][:blank:]]",
        "[[.e.]]",
        "[[=e=]-]",
        "[[e]",
        "[[:e]",
        "[*e]",
        "[**e]",
        "[?e]",
        "[e]]",  # as of `[e"]"]`: which of the two closes cannot be told
    ],
)
@pytest.mark.parametrize("deep", [False, True])
def test_a_bracket_stands_for_one_character_however_it_is_written(bracket: str, *, deep: bool) -> None:
    """A shell takes each of these for the `e` of `.env`; so must a rule that denies it."""
    index = MeetingIndex((place, Wildcard(said).globs) for place, said in enumerate(("*.env", ".e*", "x.env", "*nv")))
    assert index.meeting(f".{bracket}nv", deep=deep) == [3, 1, 0]
    assert index.meeting(f".{bracket}mv", deep=deep) == [1]


@pytest.mark.parametrize("text", ["[ab", "[]", "[!]", "[^]", "[a/b]", "[]a", "[[:b"])
def test_a_bracket_that_does_not_close_in_its_part_of_the_path_is_a_letter(text: str) -> None:
    assert meets(text, text)
    assert meets(text + "c", text + "?")
    assert not meets("a" + text[1:], text)


def test_a_glob_too_long_to_follow_meets_what_begins_like_it() -> None:
    long = "/etc/" + "*a" * 1_000
    assert meets("/etc/x", long)
    assert not meets("/usr/*", long)
    index = MeetingIndex((place, Wildcard(said).globs) for place, said in enumerate(("/etc/x", "/etc/y", "/usr/z")))
    assert index.meeting(long) == [1, 0]


def test_a_glob_of_256_characters_is_followed_exactly() -> None:
    assert not meets("/etc/x", "/etc/*".ljust(256, "a"))
    assert meets("/etc/x", "/etc/*".ljust(257, "a"))


@given(st.lists(patterns, max_size=8), texts)
def test_many_rules_meet_as_each_alone_does(said: list[str], text: str) -> None:
    index = MeetingIndex((place, Wildcard(pattern).globs) for place, pattern in enumerate(said))
    assert index.meeting(text) == [place for place in reversed(range(len(said))) if meets(said[place], text)]


# -- a search tool's globs -----------------------------------------------------------------------------------------


def as_search(text: str) -> re.Pattern[str]:
    """What a search tool makes of a glob: `**` crosses directories, and `**/` may be none."""
    parts = re.findall(r"\*\*+/?|\[.[^]/]*\]|.", text, re.DOTALL)
    known = {"*": "[^/]*", "?": "[^/]"}

    def one(part: str) -> str:
        if part.startswith("**"):
            return "(?:.*/)?" if part.endswith("/") else ".*"
        return "[^/]" if part[0] == "[" and len(part) > 1 else known.get(part, re.escape(part))

    return re.compile("".join(map(one, parts)))


search_texts = st.lists(st.sampled_from(["a", "b", "/", "*", "?", "[ab]", "**", "**/"]), max_size=4).map("".join)


@settings(max_examples=300)
@given(patterns.filter(lambda pattern: pattern[:1] != "/"), search_texts.filter(lambda text: text[:1] != "/"))
def test_a_rule_meets_a_searchs_glob_whenever_some_name_is_covered_by_both(pattern: str, text: str) -> None:
    wildcard, regex = Wildcard(pattern), as_search(text)
    shared = any(regex.fullmatch(name) and wildcard.matches(name) for name in NAMES)
    met = MeetingIndex([(0, Wildcard(pattern).globs)]).meeting(text, deep=True) == [0]
    assert met or not shared
    if len(pattern) + len(text) <= len(NAMES[-1]):
        assert met == shared


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("src/private/*", "**/*.py", True),
        ("src/private/*", "*.py", False),
        ("*.env", "**/.e*", True),
        ("*.env", "**/*.py", False),
        ("config/.env", "**/.env", True),
        ("config/.env", "a/**/.env", False),
        ("/etc/*", "**/*.conf", False),  # a relative name is below nobody's root
        ("/etc/*", "/**/*.conf", True),
        ("~/.ssh/*", "**/id_rsa", False),
    ],
)
def test_a_searchs_glob_meets_by_example(pattern: str, text: str, *, expected: bool) -> None:
    assert (MeetingIndex([(0, Wildcard(pattern).globs)]).meeting(text, deep=True) == [0]) == expected


def test_a_relative_search_meets_what_is_no_root_whatever_roots_other_rules_begin_at() -> None:
    said = ("$HOME/.env", "/etc/.env", "src/.env", "~/.env")
    index = MeetingIndex((place, Wildcard(one).globs) for place, one in enumerate(said))
    assert index.meeting("**/.env", deep=True) == [2]
    assert index.meeting("*/.env") == [3, 2, 0]

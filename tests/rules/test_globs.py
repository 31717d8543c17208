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
    ],
)
def test_meeting_by_example(pattern: str, text: str, *, expected: bool) -> None:
    assert meets(pattern, text) is expected


def test_a_glob_too_long_to_follow_meets_what_begins_like_it() -> None:
    long = "/etc/" + "*a" * 1_000
    assert meets("/etc/x", long)
    assert not meets("/usr/*", long)


@given(st.lists(patterns, max_size=8), texts)
def test_many_rules_meet_as_each_alone_does(said: list[str], text: str) -> None:
    index = MeetingIndex((place, Wildcard(pattern).globs) for place, pattern in enumerate(said))
    assert index.meeting(text) == [place for place in reversed(range(len(said))) if meets(said[place], text)]

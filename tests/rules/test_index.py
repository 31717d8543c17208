from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.index import Index
from fwdperm.rules.wildcard import Wildcard

words = st.sampled_from(["git", "push", "npm", "a", "b", "origin", "*", "?", " ", "/", "x" * 45])
patterns = st.lists(words, max_size=6).map("".join)
texts = st.lists(words, max_size=8).map("".join)


@given(st.lists(patterns, max_size=60), texts)
def test_the_index_finds_what_a_linear_scan_finds(rules: list[str], text: str) -> None:
    compiled = [Wildcard(rule) for rule in rules]
    scanned = [place for place in reversed(range(len(rules))) if compiled[place].matches(text)]
    index = Index((place, one.globs) for place, one in enumerate(compiled))
    assert list(index.matches(text)) == scanned
    assert index.last(text) == (scanned[0] if scanned else -1)


def test_many_odd_patterns_are_told_apart_by_what_is_rare_in_them() -> None:
    rules = [f"npm run task-{number} *--flag" for number in range(2_000)]
    index = Index((place, Wildcard(rule).globs) for place, rule in enumerate(rules))
    assert index.last("npm run task-1234 x --flag") == 1234
    assert len(index._candidates("npm run task-1234 x --flag")) < 20


def test_an_empty_index_matches_nothing() -> None:
    assert Index(()).last("") == -1

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.index import Index
from fwdperm.rules.wildcard import Wildcard

LinesRun: TypeAlias = Callable[[Callable[[], object]], int]

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


@given(st.lists(st.text("abc", min_size=5, max_size=6), min_size=20, max_size=60), st.data())
def test_many_patterns_with_a_run_each_are_found_wherever_it_stands_in_the_text(
    runs: list[str], data: st.DataObject
) -> None:
    """Past a few runs the text's own are looked up: the first and the last of them too."""
    compiled = [Wildcard(f"*{run}*") for run in runs]
    index = Index((place, one.globs) for place, one in enumerate(compiled))
    around = st.text("abc-", max_size=6)
    text = data.draw(around) + data.draw(st.sampled_from(runs)) + data.draw(around)
    assert list(index.matches(text)) == [place for place in reversed(range(len(runs))) if runs[place] in text]


def test_a_position_whose_globs_all_cover_the_text_is_given_once() -> None:
    globs = (*Wildcard("a*").globs, *Wildcard("*a").globs, *Wildcard("?").globs)
    assert list(Index([(0, globs), (1, globs)]).matches("a")) == [1, 0]


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("npm run task-{:04} *--flag", "npm run task-1234 x --flag"),
        ("*{:04}*", "1234"),
        ("a *{:04}-x* b", "a 1234-x b"),
        ("*run {:04} *x*", "run 1234 x"),
    ],
)
def test_many_odd_patterns_are_told_apart_by_what_is_rare_in_them(shape: str, text: str) -> None:
    index = Index((number, Wildcard(shape.format(number)).globs) for number in range(2_000))
    assert index.last(text) == 1234
    assert len(index._candidates(text)) < 20


def test_a_pattern_is_not_tried_on_a_text_without_the_run_that_it_demands() -> None:
    index = Index((place, Wildcard(rule).globs) for place, rule in enumerate(("*push*", "*pull*", "*a?c*")))
    assert [place for place, _ in index._candidates("git push")] == [0]


@pytest.mark.parametrize(("shape", "text"), [("{}*", "npm run build" + " y" * 1_000), ("*{}*", "npm run build")])
def test_patterns_of_a_thousand_lengths_cost_no_more_than_those_of_a_few(
    shape: str, text: str, lines_run: LinesRun
) -> None:
    """Few cuts of a text are looked up, and few sizes of a run."""

    def work(most: int) -> int:
        said = (shape.format(f"{number}-".ljust(number % most, "x")) for number in range(2_000))
        index = Index((place, Wildcard(rule).globs) for place, rule in enumerate(said))
        return lines_run(lambda: index.last(text))

    assert work(1_000) <= 2 * work(50)


def test_few_patterns_cost_the_same_on_a_long_text_as_on_a_short_one(lines_run: LinesRun) -> None:
    index = Index([(0, Wildcard("*push*").globs)])
    assert lines_run(lambda: index.last("x" * 5_000)) == lines_run(lambda: index.last("x"))


def test_many_patterns_cost_what_the_text_is_long_and_not_what_they_are_many(lines_run: LinesRun) -> None:
    def work(many: int) -> int:
        index = Index((number, Wildcard(f"*{number:05}*").globs) for number in range(many))
        return lines_run(lambda: index.last("npm run build"))

    assert work(5_000) <= 2 * work(100)


def test_an_empty_index_matches_nothing() -> None:
    assert Index(()).last("") == -1

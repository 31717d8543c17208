"""JSON without `json`: the same texts and values as the standard library's, minus what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.wire.json_text import JsonError, read_json, write_json

plain = st.text(st.characters(codec="utf-8"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain, inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_written_reads_back_here_and_anywhere(value: Any) -> None:
    text = write_json(value)
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == value
    assert read_json(text) == value


@given(values, st.sampled_from([{}, {"indent": 2}, {"ensure_ascii": False}]), st.sampled_from(["", " ", "\n\t\r "]))
def test_what_others_write_is_read_as_they_meant_it(value: Any, style: dict[str, Any], blank: str) -> None:
    assert read_json(blank + json.dumps(value, **style) + blank) == value


@given(st.text(alphabet='{}[]",:0123456789eE+-.truefalsnN \n\\u', max_size=30))
def test_texts_that_are_no_json_are_refused_as_the_standard_library_refuses_them(text: str) -> None:
    """The oracle: the standard library, asked to refuse duplicate keys and constants too."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(found)) != len(found):
            raise ValueError
        return dict(found)

    def constant(_: str) -> Any:
        raise ValueError

    try:
        expected = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except ValueError:
        with pytest.raises(JsonError):
            read_json(text)
    else:
        assert repr(expected) == repr(read_json(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "-Infinity",
        '{"a":1,"a":1}',
        "[1,]",
        "{} {}",
        '"\n"',
        "[" * 100_000,
        "1" * 5000,
        "\ufeff{}",
        "'a'",
    ],
)
def test_each_of_these_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        read_json(text)


def test_what_json_has_no_word_for_is_not_written() -> None:
    itself: list[Any] = []
    itself.append(itself)
    for value in (math.nan, math.inf, -math.inf, "\ud800", {1: 2}, {"a": {1, 2}}, b"x", itself, {"\udfff": 1}):
        with pytest.raises(JsonError):
            write_json(value)

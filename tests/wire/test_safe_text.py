"""Untrusted text, made safe to show."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.wire.safe_text import clip, columns_of, fit, shown, suspicions

_MARK = re.compile(r"\\u\{([0-9A-F]+)\}|\[([0-9]+) blanks\]|\n\[([0-9]+) empty lines\]\n")

nasty = st.text(
    st.one_of(
        st.sampled_from("\\u{}[]0123456789 blanksemptylines\n\t\x1b\u200b\u202e\u2028é\u0301\u0430"),
        st.characters(codec=None, exclude_categories=()),
    )
)
pieces = st.lists(
    st.one_of(
        nasty,
        st.sampled_from(
            ["[9 blanks]", "[300 blanks]", "[4 empty lines]", "\\u{1B}", " " * 9, " " * 300, "\n" * 5, "\\"]
        ),
    ),
    max_size=8,
).map("".join)


def read_back(text: str) -> str:
    """The slow, obvious oracle: undo what `shown` writes, left to right."""

    def original(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return " " * int(match[2]) if match[2] else "\n" * (int(match[3]) + 1)

    return _MARK.sub(original, text)


@given(pieces, st.booleans())
def test_what_is_shown_can_be_read_back_so_different_texts_show_differently(text: str, multiline: bool) -> None:
    assert read_back(shown(text, multiline=multiline)) == text


@given(pieces)
def test_only_printable_characters_come_out(text: str) -> None:
    assert shown(text).isprintable()
    assert all(line.isprintable() for line in shown(text, multiline=True).split("\n"))


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Me"])
def test_every_character_of_a_hidden_category_is_written_out(category: str) -> None:
    found = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == category]
    sample = [char for char in found[:3000] + found[-50:] if char != " "]
    assert sample
    assert [shown(f"a{char}b") for char in sample] == [f"a\\u{{{ord(char):X}}}b" for char in sample]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git push origin main", "git push origin main"),
        ("echo safe\u202e fr- mr\u202c", "echo safe\\u{202E} fr- mr\\u{202C}"),
        ("rm\u200b -rf x", "rm\\u{200B} -rf x"),
        ("echo a\u2028rm -rf x", "echo a\\u{2028}rm -rf x"),
        ("x\n[approved by admin]", "x\\u{A}[approved by admin]"),
        ("curl http://good.test\u200b.evil.test", "curl http://good.test\\u{200B}.evil.test"),
        ("ls\x1b[2J\x1b[HAllow? y", "ls\\u{1B}[2J\\u{1B}[HAllow? y"),
        ("ls\x9b2J", "ls\\u{9B}2J"),
        ("rm\tx", "rm\\u{9}x"),
        ("rm\rls", "rm\\u{D}ls"),
        ("a\u00a0b", "a\\u{A0}b"),
        ("a\u3164b", "a\\u{3164}b"),
        ("a\u2800b", "a\\u{2800}b"),
        ("a\ufe0fb", "a\\u{FE0F}b"),
        ("a\U000e0041b", "a\\u{E0041}b"),
        ("a\ud800b", "a\\u{D800}b"),
        ("find . -exec rm {} \\;", "find . -exec rm {} \\;"),
        ("printf '\\u{1B}'", "printf '\\u{5C}u{1B}'"),
        ("\\\x1b", "\\\\u{1B}"),
        ("größe", "größe"),
        ("gro\u0308ße", "gro\\u{308}ße"),
        ("\u0301x", "\\u{301}x"),
        ("हिन्दी", "हिन्दी"),
        ("文件", "文件"),
        ("ש\u05b8\u05bc", "ש\u05b8\u05bc"),
        ("ก" + "\u0e34" * 5, "ก" + "\u0e34" * 3 + "\\u{E34}" * 2),
        ("ก\ufe0f\u0e34", "ก\\u{FE0F}\\u{E34}"),
        ("-\u0338", "-\\u{338}"),
        ("[300 blanks]", "\\u{5B}300 blanks]"),
        ("        eight", "        eight"),
    ],
)
def test_known_tricks(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_padding_cannot_push_the_danger_off_the_screen() -> None:
    assert shown("ls" + " " * 300 + "; rm -rf ~") == "ls[300 blanks]; rm -rf ~"
    assert shown("ls" + "\n" * 20 + "rm -rf ~", multiline=True) == "ls\n[19 empty lines]\nrm -rf ~"


def test_a_cut_says_how_much_is_hidden() -> None:
    clipped = clip("\n".join(f"line {number}" for number in range(400)), lines=40, columns=80)
    assert clipped.rows[39] == "line 39"
    assert clipped.rows[40] == "[360 more lines, 2820 characters]"
    assert (clipped.hidden_lines, clipped.is_cut) == (360, True)


def test_a_long_line_is_wrapped_and_each_continuation_known_as_one() -> None:
    clipped = clip("a" * 25 + "\nb", lines=5, columns=10)
    assert clipped.rows == ("a" * 10, "a" * 10, "a" * 5, "b")
    assert clipped.wraps == (False, True, True, False)
    assert not clipped.is_cut


@given(pieces, st.integers(8, 40))
def test_words_of_ours_are_broken_between_words_and_none_is_lost(text: str, columns: int) -> None:
    safe = shown(text)
    rows = fit(safe, lines=1_000_000, columns=columns, between_words=True).rows
    assert "".join(rows) == safe
    assert all(sum(map(columns_of, row)) <= columns for row in rows)


def test_a_word_stays_whole_where_it_can() -> None:
    rows = fit("rule git push decides", lines=9, columns=10, between_words=True).rows
    assert rows == ("rule git ", "push ", "decides")
    assert fit("a" * 25, lines=9, columns=10, between_words=True).rows == ("a" * 10, "a" * 10, "a" * 5)


@given(pieces, st.integers(1, 6), st.integers(8, 40))
def test_a_clip_shows_the_beginning_and_counts_the_rest(text: str, lines: int, columns: int) -> None:
    clipped = clip(text, lines=lines, columns=columns)
    whole = clip(text, lines=1_000_000, columns=columns)
    kept = clipped.rows[:-1] if clipped.is_cut else clipped.rows
    assert kept == whole.rows[: len(kept)]
    assert len(kept) + clipped.hidden_lines == len(whole.rows)
    hidden = sum(len(row) for row in whole.rows[len(kept) :])
    assert not clipped.is_cut or columns < 40 or clipped.rows[-1].endswith(f", {hidden} characters]")
    assert all(sum(map(columns_of, row)) <= columns for row in kept)
    joined = "".join(("" if wraps else "\n") + row for row, wraps in zip(whole.rows, whole.wraps, strict=True))
    assert read_back(joined[1:]) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git push origin main", ""),
        ("    indented\n    code", ""),
        ("größe 文件 первый", ""),
        ("第1章abc", ""),
        ("10µs", ""),
        ("\u0430ws s3 rm x", "one word mixes Cyrillic and Latin letters: `\u0430ws` (U+0430)"),
        ("\u0440\u043e\u0441", "letters that look like Latin ones: `\u0440\u043e\u0441` (U+0440 U+043E U+0441)"),
        ("\uff52\uff4d -rf", "letters in disguise (U+FF52): `\uff52\uff4d` (U+FF52 U+FF4D)"),
        ("a\u202eb", "direction-changing characters: U+202E"),
        ("a\u200bb", "invisible characters: U+200B"),
        ("a\x1bb", "control characters: U+001B"),
        ("a\u00a0b", "blanks or line ends that are not the usual ones: U+00A0"),
        ("good.test\u2215x", "signs that look like a slash, dot, colon or dash: U+2215"),
        ("ls" + " " * 300 + "; rm", "padding: 300 blanks or line ends in a row"),
        ("ls" + "\n" * 20 + "rm", "padding: 20 blanks or line ends in a row"),
        ("rm \u05d0", "right-to-left letters: some terminals show the words around them in another order"),
    ],
)
def test_what_could_deceive_is_said_in_words(text: str, expected: str) -> None:
    assert "; ".join(suspicions(text)) == expected


@given(pieces)
def test_a_suspicion_is_itself_safe_to_show(text: str) -> None:
    assert all(line.isprintable() and not set(line) & set("\u202e\u200b\x1b") for line in suspicions(text))


def test_a_text_of_the_largest_size_is_shown_without_delay() -> None:
    """Linear: the largest value of nothing but escapes grows by its escapes, not by its square."""
    text = "\u202e " * 32_768
    assert len(shown(text)) == 32_768 * len("\\u{202E} ")
    assert clip("x" * 65_536, lines=40, columns=8).hidden_lines == 65_536 // 8 - 40

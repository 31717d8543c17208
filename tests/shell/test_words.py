"""Quote removal against what a real shell does."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.shell.substitution import embedded_code
from fwdperm.shell.words import read_word, split_words

PIECES = [
    "a",
    "b c",
    "-",
    "\\ ",
    "\\'",
    '\\"',
    "\\\\",
    "'x y'",
    "'\\n'",
    '"p q"',
    '"\\$"',
    '"\\x"',
    "''",
    '""',
    "$'\\t'",
    "$'\\x41\\101\\u00e9'",
    "$'it\\'s'",
    "é",
    "\\$",
    "=",
    "%",
    "$'\\cA'",
]
WORDS = st.lists(st.sampled_from([p for p in PIECES if " " not in p or p[0] in "\\'\""]), min_size=1, max_size=6).map(
    "".join
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@given(st.lists(WORDS, min_size=1, max_size=25))
@settings(max_examples=60, deadline=None)
def test_quotes_are_removed_as_bash_removes_them(raws: list[str]) -> None:
    script = "printf '%s\\0' " + " ".join(raws)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert [read_word(raw).text for raw in raws] == done.stdout.decode().split("\x00")[:-1]


@given(st.lists(st.sampled_from(["a", "'b c'", '"d"', "\\e", "f'g'h", " ", "  "]), max_size=12).map("".join))
def test_splitting_agrees_with_shlex(text: str) -> None:
    assert [word.text for word in split_words(text)] == shlex.split(text)


@pytest.mark.parametrize(
    "raw",
    [
        "$X",
        "${X}",
        "$(a)",
        "`a`",
        "a$X",
        '"$X"',
        "$1",
        "$@",
        "$?",
        "<(a)",
        ">(a)",
        "$((1+1))",
        "{a,b}",
        "{1..3}",
        "x{a,b}y",
        "'a'{b,c}",
        "${x:-'y'}",
        '"a${b}c"',
    ],
)
def test_expansions_are_not_known_and_stand_as_typed(raw: str) -> None:
    word = read_word(raw)
    assert not word.known
    assert word.text == raw.replace('"', "") if raw[0] == '"' else True


@pytest.mark.parametrize(
    "raw",
    [
        "a",
        "$",
        "a$",
        "'$X'",
        "\\$X",
        "'`a`'",
        "{}",
        "{a}",
        "a{",
        "'{a,b}'",
        "~",
        "~/x",
        "a=b",
        "$'\\x24X'",
        "@{u}",
        "HEAD^{tree}",
        '"$"',
        "\\{a,b}",
    ],
)
def test_literal_words_are_known(raw: str) -> None:
    assert read_word(raw).known


@pytest.mark.parametrize(
    ("raw", "glob"),
    [
        ("*", True),
        ("a?", True),
        ("[ab]", True),
        ("'*'", False),
        ("\\*", False),
        ('"a*"', False),
        ("a", False),
        ("'a'*", True),
    ],
)
def test_only_unquoted_globs_count(raw: str, *, glob: bool) -> None:
    assert read_word(raw).glob is glob


def test_code_is_found_in_text_a_shell_would_expand() -> None:
    assert embedded_code("a $(b $(c)) `d` \\`e\\` \\$(f) $((1)) $(g ')' h)") == ["b $(c)", "d", "(1)", "g ')' h"]
    assert embedded_code("`a \\`b\\``") == ["a `b`"]


@given(st.text(alphabet=st.sampled_from(list("a'\"\\$`(){}<>*,. \n")), max_size=40))
@settings(max_examples=500)
def test_no_word_raises(raw: str) -> None:
    read_word(raw)
    split_words(raw)
    embedded_code(raw)

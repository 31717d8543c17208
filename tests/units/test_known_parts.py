"""What is known of a word whose value is not."""

from __future__ import annotations

import pytest

from fwdperm.shell import parse_line
from fwdperm.units.known_parts import ANYTHING, known_parts, possible_path, possible_texts, variables_in


def words(line: str) -> list[tuple[str, ...]]:
    return [known_parts(word) for word in parse_line(line).commands[0].words[1:]]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("plain", ("plain",)),
        ("a$x", ("a", "")),
        ("${x}b", ("", "b")),
        ('"$a/$b.py"', ("", "/", ".py")),
        ("a$(date)b", ("a", "b")),
        ("a`date`b", ("a", "b")),
        ("a$((1+1))b", ("a", "b")),
        ("*.py", ("", ".py")),
        ("src/[a-z]?.py", ("src/", "", ".py")),
        ("~$USER/.ssh", ("", "", "/.ssh")),
        ("{a,b}.py", ("", ".py")),
    ],
)
def test_the_pieces_between_expansions_are_known(word: str, pieces: tuple[str, ...]) -> None:
    assert words(f"cat {word}") == [pieces]


@pytest.mark.parametrize("word", ["a${x:-'}'}b", 'a$(echo ")")b', "a${x#\\}}b"])
def test_where_an_expansion_ends_is_not_guessed_behind_quotes(word: str) -> None:
    """A bracket in quotes closes nothing: what seems to stand behind it may be inside."""
    assert words(f"cat {word}") == [("a", "")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git status", ()),
        ("git $x", (("git ", ""),)),
        ("git a$x *.c 'b c'", (("git a", " *.c b c"),)),
        ("/bin/git $x", (("/bin/git ", ""), ("git ", ""))),
        ("r? x", (ANYTHING,)),
        ("$x rm y", (ANYTHING,)),
    ],
)
def test_a_command_is_known_as_far_as_its_words_are(line: str, expected: tuple[tuple[str, ...], ...]) -> None:
    found = possible_texts(parse_line(line).commands[0])
    assert set(found) == set(expected)


def test_of_a_path_only_the_end_is_known() -> None:
    """`src/$x` may lead out of `src` by `..`, and `$x/a` may begin anywhere."""
    for word, end in [('"$D/.env"', "/.env"), ("src/$x", ""), ('"$D/../x"', "")]:
        parsed = parse_line(f"cat {word}").commands[0].words[1]
        assert possible_path(parsed, parsed.text) == ("", end)


def test_variables_are_told_only_where_nothing_else_is_expanded() -> None:
    assert variables_in("$a/${b}.py") == ("a", "b")
    assert variables_in("$a/$(date)") == ()
    assert variables_in("${a:-x}") == ()

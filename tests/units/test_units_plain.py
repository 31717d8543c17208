"""Units of file tools, MCP tools, web addresses and the rest."""

from __future__ import annotations

from posixpath import normpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.units.breakdown import break_down
from fwdperm.units.paths import name_path
from fwdperm.wire.request import Facts


@pytest.mark.parametrize("surface", ["read", "write", "edit", "path", "path_read", "glob", "external_directory"])
def test_a_path_is_known_by_every_normal_form(surface: str) -> None:
    first = break_down(Facts(surface, ("./secrets/../secrets/key.txt",), "/home/u/repo", "/home/u")).units[0]
    assert first.spellings == ("secrets/key.txt", "/home/u/repo/secrets/key.txt", "~/repo/secrets/key.txt")
    assert "./secrets/../secrets/key.txt" in first.strict_spellings
    assert not first.auxiliary


@pytest.mark.parametrize(
    ("typed", "absolute"),
    [
        ("/etc/passwd", "/etc/passwd"),
        ("file:///etc/passwd", "/etc/passwd"),
        ("FILE://localhost/etc/pass%77d", "/etc/passwd"),
        ("//etc//passwd/", "/etc/passwd"),
        ("/repo/../etc/passwd", "/etc/passwd"),
        ("../etc/passwd", "/etc/passwd"),
        ("~/x", "/home/u/x"),
        ("~", "/home/u"),
        ("$HOME/x", "/home/u/x"),
        ("${HOME}/x", "/home/u/x"),
        (".", "/repo"),
        ("a/./b//c/", "/repo/a/b/c"),
        ("/", "/"),
        ("/..", "/"),
    ],
)
def test_a_path_is_made_absolute(typed: str, absolute: str) -> None:
    names = name_path(typed, cwd="/repo", home="/home/u")
    assert names.absolute == absolute
    assert absolute in names.names


def test_a_form_with_detours_is_never_one_that_an_allow_may_match() -> None:
    for typed in ("/repo/../etc/x", "a/../../etc/x", "a//b", "./a", "a/", "file:///a"):
        assert typed not in name_path(typed, cwd="/repo", home="/home/u").names


def test_without_a_directory_a_relative_path_stays_relative() -> None:
    names = name_path("a/../../b", cwd="", home="")
    assert names == (("../b",), ("a/../../b",), "", True, False)


def test_a_real_path_that_differs_is_a_second_unit() -> None:
    units = break_down(Facts("write", ("/ws/link/f",), "/ws", "", "/outside/f")).units
    assert [(u.surface, u.spellings[0], u.stands, u.auxiliary) for u in units] == [
        ("write", "link/f", "request", False),
        ("write", "/outside/f", "canonical", False),
        ("path_write", "link/f", "operand", True),
        ("path_write", "/outside/f", "operand", True),
        ("external_directory", "/outside/f", "canonical", True),
    ]


def test_a_real_path_that_is_the_same_adds_nothing() -> None:
    units = break_down(Facts("write", ("f",), "/ws", "", "/ws/f")).units
    assert [one.surface for one in units] == ["write", "path_write"]


@pytest.mark.parametrize(
    ("surface", "opened"),
    [
        ("read", ["path_read"]),
        ("edit", ["path_write"]),
        ("glob", ["path_read"]),
        ("grep", ["path_read", "read"]),
        ("path_read", []),
        ("external_directory", []),
    ],
)
def test_what_a_tool_opens_is_known_to_the_rules_for_paths(surface: str, opened: list[str]) -> None:
    """`path_read` and `path_write` hold for tools as for commands, and speak only when a rule names them."""
    first, *others = break_down(Facts(surface, ("a",), "/ws", "")).units
    assert [one.surface for one in others] == opened
    assert all(one.auxiliary and one.spellings == first.spellings for one in others)


def test_a_glob_of_a_search_is_marked() -> None:
    found = break_down(Facts("grep", ("**/*.py",), "/ws", "")).units
    assert all(one.searched for one in found)
    assert not break_down(Facts("read", ("a*",), "/ws", "")).units[0].searched  # a read expands nothing
    assert [one.searched for one in break_down(Facts("glob", ("**/*",), "/ws", "")).units] == [True, False]
    assert break_down(Facts("glob", ("a/**/../../x",), "/ws", "")).units[0].opaque


def test_another_spelling_that_is_another_path_is_a_second_unit() -> None:
    units = break_down(Facts("read", ("a", "/ws/a", "./a/", "/etc/b"), "/ws", "")).units
    assert [(u.spellings, u.stands) for u in units if u.surface == "read"] == [
        (("a", "/ws/a"), "request"),
        (("/etc/b",), "canonical"),
    ]


def test_letter_case_is_marked() -> None:
    assert break_down(Facts("read", ("a",), "/ws", folds_case=True)).units[0].folds_case


@pytest.mark.parametrize(
    ("surface", "value", "expected"),
    [
        ("mcp", 'gh__create {"a":1}', {'gh__create {"a":1}', "gh__create", "gh:create"}),
        ("mcp", "gh:create", {"gh:create", "gh__create"}),
        ("mcp", "mcp__gh__create", {"mcp__gh__create", "gh:create"}),
        ("skill", "deploy", {"deploy"}),
        ("agent", "reviewer", {"reviewer"}),
        ("some_tool", "a * b", {"a * b"}),
    ],
)
def test_other_surfaces_are_one_unit(surface: str, value: str, expected: set[str]) -> None:
    (unit,) = break_down(Facts(surface, (value,))).units
    assert expected <= set(unit.spellings)


def test_an_address_has_a_plain_form_that_a_deny_sees() -> None:
    (unit,) = break_down(Facts("web", ("HTTPS://user@Ex.Test.:443/a?b",))).units
    assert unit.spellings == ("HTTPS://user@Ex.Test.:443/a?b",)
    assert unit.strict_spellings == ("https://ex.test/a?b",)


@pytest.mark.parametrize(
    ("surface", "values"), [("", ("a",)), ("read", ("",)), ("read", ()), ("bash", ()), ("mcp", (" ",)), (" ", ("x",))]
)
def test_nothing_is_opaque(surface: str, values: tuple[str, ...]) -> None:
    units = break_down(Facts(surface, values)).units
    assert len(units) == 1
    assert units[0].opaque
    assert not units[0].auxiliary
    assert units[0].spellings


SEGMENTS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "c d"]), max_size=7).map("/".join)


@given(SEGMENTS, st.sampled_from(["/repo", "/repo/x", "/"]), st.booleans())
def test_names_agree_with_the_standard_library(path: str, cwd: str, absolute: bool) -> None:
    typed = f"/{path}" if absolute else path.lstrip("/")
    expected = normpath(typed if absolute else f"{cwd}/{typed}")
    expected = "/" + expected.lstrip("/")
    assert name_path(typed, cwd=cwd, home="").absolute == expected


@given(
    st.sampled_from(["read", "mcp", "web", "x", "write", "external"]),
    st.lists(st.text(max_size=20), max_size=3),
    st.text(max_size=5),
)
def test_no_value_raises(surface: str, values: list[str], cwd: str) -> None:
    assert break_down(Facts(surface, tuple(values), cwd)).units

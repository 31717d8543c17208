"""Denies that cannot be checked, and denies that a text only names: both ask a person."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.rules import Action, Layer, LayerKind, MeetingIndex, Mode, Origin, Rule, Ruleset, Unit, Wildcard

HERE = Origin(LayerKind.USER, "rules.toml", 1)


def ruleset(*rules: tuple[str, str, str], mode: Mode = Mode.JUDGE) -> Ruleset:
    made = [Rule(surface, pattern, Action(action), HERE) for surface, pattern, action in rules]
    return Ruleset.compose([Layer("rules.toml", LayerKind.USER, tuple(made))], mode=mode)


def unknown(text: str, *pieces: str, surface: str = "bash") -> Unit:
    return Unit(surface, (text,), possible=(pieces,), auxiliary=surface != "bash")


def test_no_allow_counts_while_a_deny_may_be_about_what_is_not_known() -> None:
    rules = ruleset(("bash", "*", "allow"), ("bash", "rm *", "deny"))
    found = rules.resolve(unknown("r$x y", "r", " y"))
    assert found.action is Action.ASK
    assert found.may_forbid
    assert rules.resolve(unknown("c$x y", "c", " y")).action is Action.ALLOW


def test_an_ask_is_heard_like_a_deny_and_others_than_a_person_may_answer_it() -> None:
    found = ruleset(("bash", "*", "allow"), ("bash", "rm *", "ask")).resolve(unknown("$x", "", ""))
    assert found.action is Action.ASK
    assert not found.is_for_the_human


def test_a_later_allow_of_the_whole_goes_before() -> None:
    """As everywhere the last rule that matches wins."""
    rules = ruleset(("bash", "git push *", "deny"), ("bash", "git *", "allow"))
    assert rules.resolve(unknown("git $x", "git ", "")).action is Action.ALLOW


def test_a_path_that_no_rule_speaks_of_stays_silent_and_one_a_deny_may_be_about_asks() -> None:
    rules = ruleset(("path_read", "/srv/*.env", "deny"))
    assert rules.resolve(unknown("$d/x.py", "", "/x.py", surface="path_read")).speaks is False
    found = rules.resolve(unknown("$d/.env", "", "/.env", surface="path_read"))
    assert found.action is Action.ASK
    assert found.may_forbid


def test_mode_yolo_answers_the_asks_and_never_what_a_deny_may_be_about() -> None:
    rules = ruleset(("bash", "mv *", "ask"), ("bash", "rm *", "deny"), mode=Mode.YOLO)
    assert rules.resolve(unknown("m$x", "m", "")).action is Action.ALLOW
    assert rules.resolve(unknown("r$x", "r", "")).action is Action.ASK


LETTERS = st.text("ab/ ", max_size=5)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text("ab/ *?", min_size=1, max_size=6), min_size=1, max_size=4),
    st.lists(LETTERS, min_size=2, max_size=3),
    st.lists(LETTERS, min_size=3, max_size=3),
)
def test_whatever_text_has_the_pieces_each_rule_that_covers_it_is_found(
    patterns: list[str], pieces: list[str], between: list[str]
) -> None:
    """One side of an oracle: a rule that matches some text made of the pieces is always among those found."""
    index = MeetingIndex([(place, Wildcard(pattern).globs) for place, pattern in enumerate(patterns)])
    found = set(index.meeting_pieces(pieces))
    text = pieces[0] + "".join(filler + piece for filler, piece in zip(between, pieces[1:], strict=False))
    assert {place for place, pattern in enumerate(patterns) if Wildcard(pattern).matches(text)} <= found


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text("ab?", min_size=1, max_size=4), min_size=1, max_size=4),
    st.lists(st.text("ab", max_size=3), min_size=2, max_size=3),
)
def test_a_rule_without_stars_is_found_only_where_it_has_the_pieces(patterns: list[str], pieces: list[str]) -> None:
    """The other side: a pattern of a fixed length is found when the pieces fit into one of its texts, and only then."""
    index = MeetingIndex([(place, Wildcard(pattern).globs) for place, pattern in enumerate(patterns)])
    form = re.compile(".*".join(map(re.escape, pieces)), re.DOTALL)

    def texts(pattern: str) -> list[str]:
        made = [""]
        for sign in pattern:
            made = [one + letter for one in made for letter in ("abc" if sign == "?" else sign)]
        return made

    expected = {place for place, one in enumerate(patterns) if any(form.fullmatch(text) for text in texts(one))}
    assert set(index.meeting_pieces(pieces)) == expected


@pytest.mark.parametrize(
    ("denied", "text", "is_named"),
    [
        (("path_read", "/etc/shadow"), "open('/etc/shadow')", True),
        (("path_read", "/etc/shadow"), "open('/etc/shadows')", False),
        (("path_write", "/etc/*"), "w /etc/cron.d/x", True),
        (("path_read", "*.env"), "require('dotenv').config({path: '.env'})", True),
        (("path_read", "*.env"), "x.environment", False),
        (("read", "~/.ssh/*"), "/root/.ssh/id_rsa", True),
        (("path", "secrets/*"), "cat secrets/a", True),
        (("bash", "rm *"), "os.system('rm y')", True),
        (("bash", "rm *"), "/bin/rm", True),
        (("bash", "rm *"), "a farm is no program, nor is rm-rf or xrm", False),
        (("bash", "/bin/sh *"), "exec /bin/sh", True),
        (("bash", "/bin/sh *"), "exec /opt/sh", False),
        (("bash", "git push *"), "['git', '-C', 'x', 'push']", True),
        (("bash", "git push *"), "push to git", False),
        (("bash", "*"), "anything", False),
        (("path_read", "*"), "/anything", False),
    ],
)
def test_a_deny_is_found_by_what_it_names(denied: tuple[str, str], text: str, *, is_named: bool) -> None:
    rules = ruleset(("bash", "*", "allow"), (*denied, "deny"))
    if denied == ("bash", "*"):
        rules = ruleset((*denied, "deny"), ("bash", "*", "allow"))
    found = rules.resolve(Unit("bash", ("x",), mentions=(text,)))
    assert (found.action is Action.ASK) is is_named
    assert found.may_forbid is is_named


def test_a_deny_that_a_later_allow_takes_back_is_not_looked_for() -> None:
    rules = ruleset(("bash", "rm *", "deny"), ("bash", "rm *", "allow"), ("bash", "python3 *", "allow"))
    assert rules.resolve(Unit("bash", ("python3 -c x",), mentions=("rm y",))).action is Action.ALLOW


def test_files_that_are_run_or_copied_are_looked_at_for_programs_alone() -> None:
    rules = ruleset(("bash", "*", "allow"), ("bash", "evil *", "deny"), ("path_read", "/x/*", "deny"))
    assert rules.resolve(Unit("bash", ("ln -s /x/evil ls",), named=("/x/evil\nls",))).action is Action.ASK
    assert rules.resolve(Unit("bash", ("ln -s /x/tame ls",), named=("/x/tame\nls",))).action is Action.ALLOW

"""What rules say of many files at once: of a search tool's glob, and of a shell's."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fwdperm.rules.layer import Layer, untrusted
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding
from fwdperm.rules.ruleset import MEETING_NOTE, Ruleset
from fwdperm.rules.unit import Unit

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
HERE = Origin(LayerKind.USER, "p", 1)


def rule(pattern: str, action: Action, *, only_human: bool = False) -> Rule:
    return Rule("grep", pattern, action, HERE, only_human=only_human)


def layer_of(*rules: Rule, default: Action | None = None) -> Layer:
    return Layer(LayerKind.USER, "p", rules, (Default("grep", default, HERE),) if default else ())


def searched(text: str, *layers: Layer, mode: Mode = Mode.JUDGE, **more: Any) -> RuleFinding:
    return Ruleset.compose(layers, mode=mode).resolve(Unit("grep", (text,), searched=True, **more))


def test_a_deny_that_covers_a_part_of_a_search_makes_a_person_decide() -> None:
    every, denied = rule("*", ALLOW), rule("*.env", DENY)
    found = searched("src/**", layer_of(every, denied))
    assert found == RuleFinding(ASK, denied, "src/**", note=MEETING_NOTE)
    assert found.is_for_the_human
    assert searched("src/**/*.py", layer_of(every, denied)).action is ALLOW


def test_an_ask_that_covers_a_part_of_a_search_asks_and_is_named() -> None:
    asked = rule("*.env", ASK)
    for beside in (layer_of(rule("*", ALLOW), asked), layer_of(asked, default=ALLOW), layer_of(asked, default=ASK)):
        found = searched("src/*", beside)
        assert (found.action, found.rule, found.is_for_the_human) == (ASK, asked, False)


def test_a_rule_that_covers_the_whole_search_speaks_as_it_stands() -> None:
    assert searched("src/*.env", layer_of(rule("*", ALLOW), rule("*.env", DENY))).action is DENY
    assert searched("src/*.env", layer_of(rule("*", ALLOW), rule("*.env", ASK))).note == ""
    assert searched("src/*", layer_of(rule("*.env", DENY), rule("src/*", ALLOW))).action is ALLOW
    assert searched("src/*", layer_of(rule("src/*", ALLOW), rule("*.env", DENY))).action is ASK


def test_what_says_more_already_is_not_replaced() -> None:
    kept = rule("*", ASK, only_human=True)
    assert searched("src/*", layer_of(kept, rule("*.env", ASK))).rule == kept
    assert searched("src/*", layer_of(kept, rule("*.env", DENY))).rule == kept
    assert searched("src/*", layer_of(rule("src/*", DENY), rule("*.env", ASK))).action is DENY
    latest = rule("*b.env", ASK)
    assert searched("src/*", layer_of(rule("*.env", ASK), latest)).rule == latest


def test_an_allow_answers_only_for_its_own_layer() -> None:
    allows, denies = layer_of(rule("*", ALLOW)), untrusted(layer_of(rule("*.env", DENY)))
    for layers in ((allows, denies), (denies, allows)):
        assert searched("src/*", *layers).is_for_the_human
    assert searched("src/*", layer_of(rule("*.env", DENY)), allows).action is ALLOW


def test_what_a_mode_made_an_allow_does_not_ask_of_a_part() -> None:
    asked = layer_of(rule("*", ALLOW), rule("*.env", ASK))
    assert searched("src/*", asked).action is ASK
    assert searched("src/*", asked, mode=Mode.YOLO).action is ALLOW
    assert searched("src/*", layer_of(rule("*.env", DENY)), mode=Mode.YOLO).action is ASK
    assert searched("src/*", layer_of(rule("*.env", DENY), rule("*", ASK)), mode=Mode.YOLO).action is ASK


def test_every_name_of_a_search_counts_and_its_case_where_the_file_system_ignores_it() -> None:
    said = layer_of(rule("*", ALLOW), rule("/w/Keys/*", DENY))
    assert searched("k/*", said, strict_spellings=("/w/Keys/*",)).action is DENY
    assert searched("k/*", said, strict_spellings=("/w/Key?/*",)).action is ASK
    assert searched("/w/keys/**/*.pem", said).action is ALLOW
    assert searched("/w/key?/*.pem", said, folds_case=True).action is ASK
    assert searched("/W/KEY?/*.pem", said, folds_case=True).action is ASK


def test_one_name_alone_is_no_search() -> None:
    ruleset = Ruleset.compose([layer_of(rule("*", ALLOW), rule("*.env", DENY))])
    assert ruleset.resolve(Unit("grep", ("src/*",))).action is ALLOW


@pytest.mark.parametrize("kind", ["searched", "glob"])
@pytest.mark.parametrize(
    ("pattern", "text", "inside"),
    [
        ("a?", "a*", "a.env"),
        ("?", "*", "a.env"),
        ("[ab]", "[ab]", "a"),
        ("[ab]*", "[ab]*", "a"),
        ("src/[id]/*", "src/[id]/*", "src/i/x"),
        ("src/??", "src/**", "src/ab"),
    ],
)
def test_an_allow_of_the_letters_of_a_glob_is_none_of_the_files_it_stands_for(
    kind: str, pattern: str, text: str, inside: str
) -> None:
    """`?` is one character and `*` many; a bracket is a letter in a rule, and one of several to a shell."""
    ruleset = Ruleset.compose([layer_of(rule(inside, DENY), rule(pattern, ALLOW))])
    glob = Unit("grep", (text,), searched=kind == "searched", glob=kind == "glob")
    assert ruleset.resolve(glob).action is ASK
    assert ruleset.resolve(Unit("grep", (text,))).action is ALLOW, "as the name of one file it is allowed"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("a?", "a?"), ("a?*", "a[bc]"), ("~/?/*", "/home/u/?/*"), ("*?", "*[ab]")],
)
def test_an_allow_that_covers_all_a_shells_glob_may_become_allows(pattern: str, text: str) -> None:
    ruleset = Ruleset.compose([layer_of(rule("*", DENY), rule(pattern, ALLOW))], home="/home/u")
    assert ruleset.resolve(Unit("grep", ("elsewhere", text), glob=True)).action is ALLOW


PIECES = {"a": "a", "b": "b", "/": "/", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "**": ".*", "**/": "(?:.*/)?"}
NAMES = ["".join(chars) for length in range(5) for chars in product("ab/", repeat=length) if chars[:1] != ("/",)]
patterns = st.lists(st.sampled_from(["a", "b", "/", "*", "?", "[ab]"]), min_size=1, max_size=3).map("".join)
rules = st.lists(st.builds(rule, patterns, st.sampled_from(Action)), min_size=1, max_size=4)


@settings(max_examples=300)
@given(rules, st.lists(st.sampled_from(list(PIECES)), min_size=1, max_size=3), st.sampled_from(["searched", "glob"]))
def test_no_glob_is_allowed_that_may_open_a_file_that_is_not(said: list[Rule], pieces: list[str], kind: str) -> None:
    """Whatever the rules and their order: an allowed glob stands for no file that is asked about or denied."""
    assume("***" not in (text := "".join(pieces)) and not text.startswith("/"))
    assume(kind == "searched" or "**" not in text)
    ruleset = Ruleset.compose([layer_of(*said, default=ALLOW)])
    if ruleset.resolve(Unit("grep", (text,), searched=kind == "searched", glob=kind == "glob")).action is ALLOW:
        glob = re.compile("".join(PIECES[piece] for piece in pieces))
        opened = [name for name in NAMES if glob.fullmatch(name)]
        assert [name for name in opened if ruleset.resolve(Unit("grep", (name,))).action is not ALLOW] == []

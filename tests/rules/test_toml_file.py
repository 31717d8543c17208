from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.layer import Layer, Severity
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, LayerKind
from fwdperm.rules.toml_file import RULESET_BYTES, read_config, read_layer
from fwdperm.rules.toml_lines import KeyPath, locate_keys


def read(text: str | bytes, *, agent: str | None = None) -> Layer:
    return read_layer(text, file="ci.toml", kind=LayerKind.USER, agent=agent)


def told(layer: Layer) -> list[tuple[str, str, str, int]]:
    return [(rule.surface, rule.pattern, str(rule.action), rule.origin.line) for rule in layer.rules]


def test_every_form_of_writing_a_rule_keeps_its_line() -> None:
    layer = read(
        """# a comment with [rules]
[rules]
"*" = "ask"
bash."git *" = "allow"
read = { "*.env" = "deny", '*.md' = "allow" }
bash."x = \\"y\\"" = "ask"

[rules.web]
"https://a/*" = { action = "deny", reason = \"""
two
lines\""" }
[ rules . 'mcp' ]
"srv:danger" = { action = "ask", only = "human" }
"""
    )
    assert not layer.problems
    assert told(layer) == [
        ("bash", "git *", "allow", 4),
        ("read", "*.env", "deny", 5),
        ("read", "*.md", "allow", 5),
        ("bash", 'x = "y"', "ask", 6),
        ("web", "https://a/*", "deny", 9),
        ("mcp", "srv:danger", "ask", 13),
    ]
    assert layer.rules[4].reason == "two\nlines"
    assert layer.rules[5].only_human
    assert [(d.surface, d.action, d.origin.line) for d in layer.defaults] == [("*", Action.ASK, 3)]


def test_rules_written_one_by_one_keep_their_order_across_surfaces() -> None:
    layer = read(
        """[[rules]]
surface = "bash"
pattern = "git *"
action = "allow"

[[rules]]
surface = "*"
pattern = "*"
action = "ask"
only = "human"

[[rules]]
surface = "web"
action = "deny"
"""
    )
    assert not layer.problems
    assert told(layer) == [("bash", "git *", "allow", 1), ("*", "*", "ask", 6)]
    assert [(d.surface, d.action, d.origin.line) for d in layer.defaults] == [("web", Action.DENY, 12)]


def test_an_agents_section_comes_after_the_rules_for_everybody() -> None:
    text = """[agents.reviewer.rules.write]
"*" = "deny"
[rules.write]
"*" = "allow"
"""
    assert told(read(text, agent="reviewer")) == [("write", "*", "allow", 4), ("write", "*", "deny", 2)]
    assert told(read(text, agent="other")) == [("write", "*", "allow", 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[rules.bash]\n"a" = "allow"\n"b" = "permit"\n',
            "cannot load ruleset `ci.toml`: line 3: unknown action `permit`, expected allow, ask or deny",
        ),
        (
            "[rules]\nbash = 3\n",
            "cannot load ruleset `ci.toml`: line 2: unknown action `3`, expected allow, ask or deny",
        ),
        (
            '[rules.bash]\n"a" = "ask"\n"a" = "deny"\n',
            "cannot load ruleset `ci.toml`: line 3: not valid TOML: cannot overwrite a value; a name stands once",
        ),
        (
            '[rules.bash]\n"a" = { action = "ask", onyl = "human" }\n',
            "cannot load ruleset `ci.toml`: line 2: unknown key `onyl` in rule `a`; did you mean `only`",
        ),
        (
            '[rules.bash]\n"a" = { action = "allow", only = "human" }\n',
            'cannot load ruleset `ci.toml`: line 2: `only = "human"` goes with ask alone; write action = "ask"',
        ),
        (
            '[rules.bash]\n"a" = { reason = "x" }\n',
            "cannot load ruleset `ci.toml`: line 2: rule `a` has no action, expected allow, ask or deny",
        ),
        ("rules = 1\n", "cannot load ruleset `ci.toml`: line 1: `rules` is not a table; write `[rules.bash]`"),
        ('x = "\n', "cannot load ruleset `ci.toml`: line 1: not valid TOML: "),
        (b'\n"\xff" = 1', "cannot load ruleset `ci.toml`: line 2: not UTF-8; mend it, or take the file away"),
        ("a = 1\nb = \0", "cannot load ruleset `ci.toml`: line 2: not valid TOML: "),
        ("{ 'permission': { 'bash': 1 } }", "cannot load ruleset `ci.toml`: line 1: not valid TOML: "),
        ("a = " + "[" * 100_000, "cannot load ruleset `ci.toml`: nested too deeply"),
        ("#" * (RULESET_BYTES + 1), "cannot load ruleset `ci.toml`: larger than 4 MiB"),
        (
            "[permission.bash]\n'git *'='allow'\n",
            "cannot load ruleset `ci.toml`: line 1: unknown key `permission`; did you mean `rules`",
        ),
        (
            "\n[bash]\nx = 'deny'\n",
            "cannot load ruleset `ci.toml`: line 2: unknown key `bash`; did you mean `rules.bash`",
        ),
        ("ruels = 1\n", "ruleset `ci.toml`: line 1: unknown key `ruels`; did you mean `rules`"),
    ],
)
def test_a_problem_names_file_line_and_what_to_do(text: str | bytes, message: str) -> None:
    problems = read_config(text, file="ci.toml", kind=LayerKind.USER).problems
    assert [str(problem)[: len(message)] for problem in problems] == [message]


def test_an_unknown_action_becomes_an_ask_that_no_mode_and_no_judge_answers() -> None:
    layer = read('[rules]\nweb = "denny"\n[rules.bash]\n"rm *" = "denny"\n"ls" = "allow"\n')
    assert [(rule.action, rule.only_human) for rule in layer.rules] == [(Action.ASK, True), (Action.ALLOW, False)]
    assert [(default.action, default.only_human) for default in layer.defaults] == [(Action.ASK, True)]
    assert layer.has_errors
    assert not layer.broken


def test_a_denial_with_an_unknown_part_still_denies() -> None:
    layer = read('[rules.bash]\n"rm *" = { action = "deny", because = "no" }\n')
    assert [rule.action for rule in layer.rules] == [Action.DENY]
    assert layer.has_errors


def test_configuration_keys_come_with_their_lines() -> None:
    config = read_config(
        'mode = "judge"\nworkspaces = ["/w"]\n\n[judge]\nmodel = "m"\n\n[agents.fast]\nmode = "yolo"\n',
        file="config.toml",
        kind=LayerKind.USER,
    )
    assert not config.problems
    assert config.mode is Mode.JUDGE
    assert (config.settings["workspaces"].value, config.settings["workspaces"].line) == (["/w"], 2)
    assert config.settings["judge"].lines == {"model": 5}
    assert config.agents["fast"].mode is Mode.YOLO


def test_an_unknown_mode_is_the_careful_one() -> None:
    config = read_config('mode = "yollo"\n', file="c.toml", kind=LayerKind.USER)
    assert config.mode is Mode.ASK
    assert [problem.severity for problem in config.problems] == [Severity.ERROR]


def test_configuration_in_a_projects_file_is_a_warning_and_its_rules_count() -> None:
    layer = read('unattended = "hold"\n[rules.bash]\n"ls" = "allow"\n')
    assert told(layer) == [("bash", "ls", "allow", 3)]
    assert not layer.has_errors


def test_a_byte_order_mark_is_not_part_of_the_first_key() -> None:
    assert told(read(b'\xef\xbb\xbf[rules.bash]\n"ls" = "allow"\n')) == [("bash", "ls", "allow", 2)]


bare = st.text("ab1-_", min_size=1, max_size=4)
quoted = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=4)


def as_basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


keys = st.one_of(bare, quoted.map(as_basic))
scalars = st.one_of(
    st.sampled_from(["1", "true", "'a # b'", '"""x\n\n"y""""', "'''\nq = 1\n''''", '"[a]"', "1979-05-27T07:32:00Z"]),
    quoted.map(as_basic),
)


def inline(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tables = st.lists(
        st.tuples(keys, children), max_size=3, unique_by=lambda pair: tomllib.loads(pair[0] + "=1").popitem()
    )
    return st.one_of(
        tables.map(lambda pairs: "{ " + ", ".join(f"{key} = {value}" for key, value in pairs) + " }"),
        st.lists(children, max_size=3).map(lambda items: "[ # note\n" + "".join(item + " ,\n" for item in items) + "]"),
    )


values = st.recursive(scalars, inline, max_leaves=6)
statements = st.one_of(
    st.tuples(st.lists(keys, min_size=1, max_size=3), values).map(lambda pair: " . ".join(pair[0]) + " = " + pair[1]),
    st.lists(keys, min_size=1, max_size=3).map(lambda path: "[" + ".".join(path) + "] # head"),
    st.lists(keys, min_size=1, max_size=2).map(lambda path: "[[ " + ".".join(path) + " ]]"),
    st.sampled_from(["", "# x = 1", "  "]),
)


def paths_of(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    found = {path} if path else set()
    match value:
        case dict():
            return found.union(*(paths_of(inner, (*path, key)) for key, inner in value.items()))
        case list():
            return found.union(*(paths_of(inner, (*path, place)) for place, inner in enumerate(value)))
        case _:
            return found


@given(st.lists(statements, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_every_key_is_found_on_the_line_that_first_brings_it(parts: list[str], end: str) -> None:
    """The oracle: the standard parser, on ever longer beginnings of the text; what it refuses is left out."""
    text, line = "", 1
    expected: dict[KeyPath, range] = {}
    for part in parts:
        longer = text + part.replace("\n", end) + end
        try:
            document = tomllib.loads(longer)
        except tomllib.TOMLDecodeError:
            continue
        text = longer
        height = part.count("\n") + 1
        for path in paths_of(document):
            expected.setdefault(path, range(line, line + height))
        line += height
    found = locate_keys(text)
    assert found.keys() == expected.keys()
    assert all(found[path] in expected[path] for path in found)


@given(st.text("a\"'[]{}=.,#\n\\ ", max_size=60))
def test_text_that_is_no_toml_does_not_hang_or_break_the_reading(text: str) -> None:
    layer = read(text)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert layer.broken
        assert layer.problems[0].line > 0
    else:
        assert not layer.broken

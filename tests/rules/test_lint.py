from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.layer import Layer, untrusted
from fwdperm.rules.lint import lint_rules
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.shadow import find_shadows
from fwdperm.rules.toml_file import read_layer
from fwdperm.rules.unit import Unit
from fwdperm.rules.wildcard import Wildcard, covers

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY


def told(text: str) -> list[str]:
    layer = read_layer(text, file="p.toml", kind=LayerKind.USER)
    assert not layer.problems
    return [str(problem) for problem in lint_rules([layer])]


def test_a_rule_that_a_later_one_covers_is_named_with_the_other() -> None:
    assert told('[rules.edit]\n"changes/**/*.md" = "allow"\n"*" = "deny"\n') == [
        (
            "ruleset `p.toml`: line 2: allow `changes/**/*.md` never decides: deny `*` (p.toml:3) covers it; "
            "write the broader rule first"
        )
    ]
    assert told('[rules.read]\n"*.env" = "deny"\n"*" = "allow"\n') == [
        (
            "ruleset `p.toml`: line 2: deny `*.env` never decides: allow `*` (p.toml:3) covers it; "
            "write the broader rule first"
        )
    ]
    assert "take it away" in told('[rules.bash]\n"git push" = "allow"\n"git *" = "allow"\n')[0]


@pytest.mark.parametrize(
    "text",
    [
        '[rules.bash]\n"git *" = "allow"\n"git push *" = "ask"\n',
        '[rules.read]\n"*.env" = "deny"\n[rules.write]\n"*" = "allow"\n',
        '[rules.path_read]\n"*.env" = "deny"\n[rules."*"]\n"*" = "ask"\n',
        '[rules.bash]\n"npm run test:*" = "allow"\n"sudo systemctl status *" = "allow"\n"* --version" = "allow"\n',
        '[rules.my_tool]\n"x" = "allow"\n',
    ],
)
def test_rules_that_are_as_they_should_be_give_no_warning(text: str) -> None:
    assert told(text) == []


def test_an_ask_kept_for_a_person_under_a_plain_ask_is_lost_and_not_only_said_twice() -> None:
    lost = told('[rules.bash]\n"git push" = { action = "ask", only = "human" }\n"git *" = "ask"\n')
    assert ["write the broader rule first" in line for line in lost] == [True]


def test_a_rule_that_several_later_ones_cover_is_named_once_with_the_last() -> None:
    said = [Rule("bash", pattern, ASK, Origin(LayerKind.USER)) for pattern in ("git push", "git *", "g*", "ls")]
    assert [(one.rule, one.by) for one in find_shadows(said)] == [(said[0], said[2]), (said[1], said[2])]


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("bash", "*", True),
        ("my_tool", "*", True),
        ("*", "*", True),
        ("*", "bash", False),
        ("*", "b*", False),
        ("path_write", "*", False),
        ("path_*", "*", False),
        ("path", "*", False),
        ("external", "*", False),
        ("path_write", "path_*", True),
    ],
)
def test_a_rule_is_covered_only_where_the_later_ones_surface_speaks_of_all_of_its_own(
    earlier: str, later: str, *, expected: bool
) -> None:
    """A star says nothing of what speaks only when it is named."""
    said = [Rule(surface, "x", ASK, Origin(LayerKind.USER)) for surface in (earlier, later)]
    assert bool(find_shadows(said)) is expected


def test_short_names_of_surfaces_cover_what_they_stand_for() -> None:
    assert "never decides" in told('[rules.read]\n"*.env" = "deny"\n[rules.path]\n"*" = "allow"\n')[0]
    assert "never decides" in told('[rules.external_directory]\n"/a" = "deny"\n[rules.external]\n"*" = "ask"\n')[0]
    assert told('[rules.path]\n"*.env" = "deny"\n[rules.read]\n"*" = "allow"\n') == []


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "sudo *",
        "bash *",
        "bash -c *",
        "python *",
        "python3 -c *",
        "env *",
        "xargs *",
        "*sh *",
        "npx *",
        "node -e *",
    ],
)
def test_an_allow_of_arbitrary_code_is_named(pattern: str) -> None:
    assert [line for line in told(f'[rules.bash]\n"{pattern}" = "allow"\n') if "grants arbitrary code" in line]
    assert not [line for line in told(f'[rules.bash]\n"{pattern}" = "ask"\n') if "grants" in line]
    assert not [line for line in told(f'[rules.read]\n"{pattern}" = "allow"\n') if "grants" in line]


def test_allows_of_arbitrary_code_are_named_in_their_order_with_what_they_let_run() -> None:
    lines = told('[rules.bash]\n"sudo *" = "allow"\n"*" = "allow"\n"bash *" = "allow"\n"ls" = "ask"\n')
    assert [line.partition("grants arbitrary code: ")[2] for line in lines if "grants" in line] == [
        "whatever `sudo` is told to run; name what may run",
        "everything; name what may run",
        "whatever `bash` is told to run; name what may run",
    ]


def test_a_default_that_allows_every_command_is_named() -> None:
    assert "grants arbitrary code" in told('[rules]\n"*" = "allow"\n')[0]
    for harmless in ('read = "allow"', '"*" = "ask"', 'bash = "deny"'):
        assert told(f"[rules]\n{harmless}\n") == []
    allowed = (Default("bash", ALLOW, Origin(LayerKind.USER, "p", 1)),)
    assert lint_rules([Layer(LayerKind.USER, "p", defaults=allowed)])
    assert lint_rules([Layer(LayerKind.USER, "p", defaults=allowed, narrows=True)]) == (), "it may allow nothing"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('[rules.bash]\n"git:* push" = "ask"\n', "is a literal colon: `git ...` does not match; write `git * push`"),
        ('[rules.bash]\n"git push:*" = "ask"\n', "write `git push *`"),
        ('[rules.bash]\n"Bash(git *)" = "ask"\n', "brackets in `Bash(git *)` are literal"),
        ('[rules.bash]\n"(rm -rf /)*" = "deny"\n', "is not a regular expression"),
        ('[rules.bash]\n"git.*" = "deny"\n', "is not a regular expression"),
        ('[rules.bash]\n"git " = "deny"\n', "matches nothing"),
        ('[rules.bahs]\n"git" = "deny"\n', "did you mean `bash`"),
        ('[rules.Bash]\n"git" = "deny"\n', "did you mean `bash`"),
    ],
)
def test_a_rule_that_does_not_do_what_it_seems_to_is_named(rule: str, words: str) -> None:
    found = told(rule)
    assert len(found) == 1
    assert words in found[0]
    assert "line 2" in found[0]


def test_a_rule_for_no_value_at_all_is_named() -> None:
    nothing = Rule("bash", "", DENY, Origin(LayerKind.USER, "p", 1))
    found = lint_rules([Layer(LayerKind.USER, "p", rules=(nothing,))])
    assert ["matches nothing" in problem.message for problem in found] == [True]


@pytest.mark.parametrize("pattern", ["server:*", "(draft) *", "^top/*", "img.*"])
def test_what_is_odd_in_a_command_is_a_name_like_others_elsewhere(pattern: str) -> None:
    assert told(f'[rules.mcp]\n"{pattern}" = "ask"\n') == []
    assert told(f'[rules.bash]\n"{pattern}" = "ask"\n')


def test_layers_that_only_narrow_do_not_cover_others() -> None:
    here = Origin(LayerKind.USER, "p", 1)
    deny = Layer(LayerKind.USER, "p", rules=(Rule("bash", "rm *", DENY, here),))
    ask = Layer(LayerKind.PROJECT, "q", rules=(Rule("bash", "*", ASK, here),))
    assert lint_rules([deny, ask])
    assert lint_rules([deny, untrusted(ask)]) == ()


patterns = st.lists(st.sampled_from(["a", "b", "*", " ", "?"]), min_size=1, max_size=4).map("".join)
surfaces = st.sampled_from(["bash", "*", "path", "read", "path_read", "re*"])
actions = st.sampled_from(Action)
rules = st.builds(Rule, surfaces, patterns, actions, st.just(Origin(LayerKind.USER)))
values = st.text("ab ", min_size=1, max_size=4)


@given(st.lists(rules, max_size=8), values, st.sampled_from(["bash", "read", "path_read", "other"]))
def test_a_rule_that_is_reported_as_covered_never_decides(said: list[Rule], value: str, surface: str) -> None:
    found = Ruleset.compose([Layer(LayerKind.USER, "p", rules=tuple(said))]).resolve(
        Unit(surface, (value,), auxiliary=surface == "path_read")
    )
    assert all(shadow.rule is not found.rule for shadow in find_shadows(said))


@given(st.lists(patterns, max_size=8))
def test_every_pair_in_which_one_pattern_covers_the_other_is_found(said: list[str]) -> None:
    listed = [Rule("bash", pattern, ALLOW, Origin(LayerKind.USER, "p", line)) for line, pattern in enumerate(said)]
    wildcards = [Wildcard(pattern) for pattern in said]
    slowly = {
        line for line in range(len(said)) if any(covers(later, wildcards[line]) for later in wildcards[line + 1 :])
    }
    assert {shadow.rule.origin.line for shadow in find_shadows(listed)} == slowly


def test_ten_thousand_rules_are_looked_over_in_bounded_pairs() -> None:
    """The suite's own time limit is the judge: all pairs of these take minutes."""
    here = Origin(LayerKind.USER, "p", 1)
    said = [Rule("bash", f"*run {number} *x*", ALLOW, here) for number in range(5_000)]
    said += [Rule("bash", f"npm run task-{number} *", ALLOW, here) for number in range(5_000)]
    assert find_shadows(said) == ()

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.layer import Layer, Problem, broken_layer, untrusted
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding
from fwdperm.rules.ruleset import YOLO_NOTE, MatchStatus, Ruleset
from fwdperm.rules.surface import AUXILIARY_SURFACES, PATH_SURFACES
from fwdperm.rules.toml_file import read_layer
from fwdperm.rules.unit import Unit
from fwdperm.rules.wildcard import Wildcard

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
OPAQUE = "what `$X` is cannot be known"


def layer_of(*rules: tuple[str, str, Action], defaults: dict[str, Action] | None = None) -> Layer:
    return Layer(
        LayerKind.USER,
        "policy.toml",
        rules=tuple(
            Rule(surface, pattern, action, Origin(LayerKind.USER, "policy.toml", line))
            for line, (surface, pattern, action) in enumerate(rules, start=1)
        ),
        defaults=tuple(
            Default(surface, action, Origin(LayerKind.USER, "policy.toml", 99))
            for surface, action in (defaults or {}).items()
        ),
    )


def ruleset_of(
    *rules: tuple[str, str, Action], defaults: dict[str, Action] | None = None, home: str = "", mode: Mode = Mode.JUDGE
) -> Ruleset:
    return Ruleset.compose([layer_of(*rules, defaults=defaults)], home=home, mode=mode)


def unit(surface: str, *spellings: str, **more: Any) -> Unit:
    return Unit(surface, spellings, **more)


@pytest.mark.parametrize(
    ("rules", "asked", "expected"),
    [
        ([("bash", "git *", ALLOW), ("bash", "git push *", ASK)], ("bash", "git push"), ASK),
        ([("bash", "git push *", ASK), ("bash", "git *", ALLOW)], ("bash", "git push"), ALLOW),
        ([("edit", "changes/**/*.md", ALLOW), ("edit", "*", DENY)], ("edit", "changes/a/spec.md"), DENY),
        ([("read", "*.env", DENY), ("read", "*", ALLOW)], ("read", "src/.env"), ALLOW),
        ([("bash", "tofu *", ASK), ("bash", "tofu fmt *", ALLOW)], ("bash", "tofu fmt -check"), ALLOW),
        ([("bash", "*", ALLOW), ("bash", "(rm -rf /)*", DENY)], ("bash", "git pull --rebase"), ALLOW),
        ([("bash", "grep *", ALLOW), ("bash", "grep * /etc/*", DENY)], ("bash", "grep root /etc/passwd"), DENY),
        ([("bash", "git *", ALLOW)], ("web", "git status"), ASK),
        ([("*", "*", ALLOW)], ("web", "https://x"), ALLOW),
        ([("mcp*", "srv:*", ALLOW)], ("mcp_tool", "srv:x"), ALLOW),
        ([("path", "/p/*", ALLOW)], ("notebook_edit", "/p/x.ipynb"), ALLOW),
        ([("path", "/p/*", ALLOW)], ("bash", "/p/x"), ASK),
        ([], ("bash", "ls"), ASK),
    ],
)
def test_the_last_matching_rule_of_the_surface_decides(
    rules: list[tuple[str, str, Action]], asked: tuple[str, str], expected: Action
) -> None:
    assert ruleset_of(*rules).resolve(unit(*asked)).action is expected


@pytest.mark.parametrize("surface", PATH_SURFACES)
def test_path_names_every_surface_of_paths(surface: str) -> None:
    found = ruleset_of(("path", "/s/*", DENY)).resolve(unit(surface, "/s/k", auxiliary=surface in AUXILIARY_SURFACES))
    assert (found.action, found.speaks) == (DENY, True)


def test_external_names_the_directories_outside() -> None:
    found = ruleset_of(("external", "*", ASK)).resolve(unit("external_directory", "/etc", auxiliary=True))
    assert (found.action, found.speaks) == (ASK, True)


def test_where_no_rule_matches_the_surfaces_own_default_goes_before_the_common_one() -> None:
    ruleset = ruleset_of(("bash", "ls", ASK), defaults={"bash": ALLOW, "*": DENY, "web*": ASK})
    assert ruleset.resolve(unit("bash", "pwd")).action is ALLOW
    assert ruleset.resolve(unit("bash", "ls")).action is ASK
    assert ruleset.resolve(unit("webfetch", "x")).action is ASK
    found = ruleset.resolve(unit("mcp", "x"))
    assert found.action is DENY
    assert found.default == ruleset.defaults[1]


def test_the_nearest_layers_default_wins() -> None:
    layers = [layer_of(defaults={"bash": DENY}), layer_of(defaults={"bash": ALLOW})]
    assert Ruleset.compose(layers).resolve(unit("bash", "x")).action is ALLOW


def test_an_auxiliary_unit_is_silent_unless_a_rule_or_default_names_its_surface() -> None:
    aux = unit("path_read", "/x", auxiliary=True)
    every = ruleset_of(("*", "*", DENY), defaults={"*": DENY})
    assert every.resolve(aux) == RuleFinding(ALLOW, speaks=False)
    assert ruleset_of(("path_read", "/y", DENY)).resolve(aux).speaks is False
    assert ruleset_of(("path_*", "/x", DENY)).resolve(aux).action is DENY
    assert ruleset_of(defaults={"path_read": DENY}).resolve(aux).action is DENY
    assert ruleset_of(defaults={"external": ASK}).resolve(aux).speaks is False


def test_strict_spellings_are_seen_by_ask_and_deny_alone() -> None:
    seen = unit("bash", "/usr/bin/rm x", strict_spellings=("rm x",))
    assert ruleset_of(("bash", "rm *", ALLOW)).resolve(seen).rule is None
    assert ruleset_of(("bash", "*", ALLOW), ("bash", "rm *", DENY)).resolve(seen).action is DENY
    assert ruleset_of(("bash", "*", ALLOW), ("bash", "rm *", DENY)).resolve(seen).spelling == "rm x"
    assert ruleset_of(("bash", "rm *", DENY), ("bash", "*", ALLOW)).resolve(seen).action is ALLOW


def test_what_cannot_be_known_is_allowed_by_a_bare_star_alone() -> None:
    hidden = unit("bash", "git $X", opaque=OPAQUE)
    narrow = ruleset_of(("bash", "git *", ALLOW)).resolve(hidden)
    assert (narrow.action, narrow.note) == (ASK, OPAQUE)
    assert ruleset_of(("bash", "*", ALLOW)).resolve(hidden).action is ALLOW
    assert ruleset_of(("bash", "*", ALLOW), ("bash", "git *", ALLOW)).resolve(hidden).action is ALLOW
    assert ruleset_of(("bash", "*", ASK), ("bash", "git *", ALLOW)).resolve(hidden).action is ASK
    assert ruleset_of(("bash", "git *", DENY)).resolve(hidden).action is DENY
    assert ruleset_of(defaults={"bash": ALLOW}).resolve(hidden) == RuleFinding(
        ASK, note=OPAQUE, default=Default("bash", ALLOW, Origin(LayerKind.USER, "policy.toml", 99))
    )
    aux = ruleset_of().resolve(unit("path_read", "$X", opaque=OPAQUE, auxiliary=True))
    assert (aux.action, aux.speaks, aux.note) == (ASK, True, OPAQUE)


def test_what_cannot_be_known_asks_in_the_name_of_the_allow_that_would_have_covered_it() -> None:
    """The latest such allow; no earlier rule and no default speaks in its place."""
    hidden = unit("bash", "git $X", opaque=OPAQUE)
    for earlier in (("bash", "*", DENY), ("bash", "*", ASK), ("bash", "g*", ALLOW), ("web", "*", ALLOW)):
        ruleset = ruleset_of(earlier, ("bash", "git *", ALLOW), defaults={"bash": DENY})
        assert ruleset.resolve(hidden) == RuleFinding(ASK, ruleset.rules[1], "git $X", note=OPAQUE)


def test_a_rule_that_a_mode_or_a_broken_layer_turned_is_seen_with_the_spellings_of_neither() -> None:
    """Names that only ask and deny may match are for rules that were written so and count so."""
    hidden = unit("bash", "/bin/rm x", strict_spellings=("rm x",), folds_case=True, glob=True)
    denied = ("bash", "/bin/*", DENY)
    for asked in ("rm *", "RM *"):
        yolo = ruleset_of(denied, ("bash", asked, ASK), mode=Mode.YOLO)
        assert yolo.resolve(hidden).action is DENY
    lost = broken_layer(LayerKind.PROJECT, "q", problems=[Problem("q", 1, "gone")])
    broken = Ruleset.compose([layer_of(denied, ("bash", "rm *", ALLOW)), lost])
    assert broken.resolve(hidden).action is DENY


def test_a_default_kept_for_a_person_asks_in_every_mode() -> None:
    """It stands in for an action that could not be read."""
    kept = Default("bash", ASK, Origin(LayerKind.USER), only_human=True)
    for mode in Mode:
        layer = Layer(LayerKind.USER, "p", defaults=(kept, Default("web", ALLOW, Origin(LayerKind.USER))))
        found = Ruleset.compose([layer], mode=mode).resolve(unit("bash", "x"))
        assert (found.action, found.is_for_the_human, found.note) == (ASK, True, "")
        allowed = Ruleset.compose([layer], mode=mode).resolve(unit("web", "x"))
        assert (allowed.action, allowed.note) == (ALLOW, "")


def test_a_catch_all_ask_kept_for_a_person_speaks_of_other_machines_too() -> None:
    kept = Rule("bash", "*", ASK, Origin(LayerKind.USER), only_human=True)
    found = Ruleset.compose([Layer(LayerKind.USER, "p", rules=(kept,))]).resolve(
        unit("bash", "uptime", remote=True, carrier=0)
    )
    assert (found.speaks, found.is_for_the_human) == (True, True)


def test_an_ask_of_a_layer_nobody_vouched_for_is_a_rule_where_only_a_default_asks() -> None:
    """So that what is free where no rule asks is not free there; where a trusted rule asks, that one is named."""
    strange = untrusted(layer_of(("read", "*", ASK)))
    for trusted in (layer_of(), layer_of(defaults={"read": ASK}), layer_of(defaults={"*": ASK})):
        assert Ruleset.compose([trusted, strange]).resolve(unit("read", "x")).rule == strange.rules[0]
    trusted = layer_of(("read", "x", ASK))
    assert Ruleset.compose([trusted, strange]).resolve(unit("read", "x")).rule == trusted.rules[0]


def test_a_request_of_an_auxiliary_surface_by_itself_is_spoken_of_by_every_rule() -> None:
    every = ruleset_of(("*", "*", DENY))
    assert every.resolve(unit("path_read", "/x")).action is DENY
    assert every.resolve(unit("path_read", "/x", auxiliary=True)).speaks is False


def test_a_star_in_a_name_that_no_shell_expands_is_a_letter() -> None:
    ruleset = ruleset_of(("read", "*", ALLOW), ("read", "/Etc/x", DENY))
    assert ruleset.resolve(unit("read", "/etc/*", folds_case=True)).action is ALLOW
    assert ruleset.resolve(unit("read", "/etc/*", folds_case=True, glob=True)).action is DENY


def test_a_rule_that_several_names_match_is_one_step_of_the_walk() -> None:
    ruleset = ruleset_of(("bash", "*", ASK), ("bash", "r*", DENY))
    steps = ruleset.walk(unit("bash", "rm x", "rm  x", strict_spellings=("r x",), folds_case=True))
    assert [step.rule.pattern for step in steps] == ["r*", "*"]


def test_a_ruleset_gives_its_rules_as_written_and_a_short_name() -> None:
    ruleset = ruleset_of(("bash", "a", ASK), ("web", "b", DENY), mode=Mode.YOLO)
    assert [(rule.surface, rule.action) for rule in ruleset.rules] == [("bash", ASK), ("web", DENY)]
    assert len(ruleset.version) == 12


def test_a_catch_all_ask_does_not_speak_of_a_command_on_another_machine() -> None:
    remote = unit("bash", "uptime", remote=True, carrier=0)
    assert ruleset_of(("bash", "*", ASK)).resolve(remote).speaks is False
    assert ruleset_of(defaults={"*": ASK}).resolve(remote).speaks is False
    assert ruleset_of(defaults={"*": DENY}).resolve(remote).action is DENY
    assert ruleset_of(("bash", "*", DENY)).resolve(remote).action is DENY
    assert ruleset_of(("bash", "upt*", ASK), ("bash", "*", ASK)).resolve(remote).action is ASK
    hidden = unit("bash", "$X", remote=True, carrier=0, opaque=OPAQUE)
    assert ruleset_of(("bash", "*", ASK)).resolve(hidden).action is ASK


def test_home_in_a_pattern_is_the_requesters() -> None:
    ruleset = ruleset_of(
        ("path", "~/projects/*", ALLOW), ("bash", "~/bin/x *", ALLOW), ("read", "~/k", DENY), home="/home/u"
    )
    assert ruleset.resolve(unit("read", "/home/u/projects/a")).action is ALLOW
    assert ruleset.resolve(unit("read", "~/projects/a")).action is ASK, "a tool may not expand it"
    assert ruleset.resolve(unit("bash", "~/bin/x 1")).action is ALLOW, "the shell expands it"
    assert ruleset.resolve(unit("bash", "/home/u/bin/x 1")).action is ALLOW
    assert ruleset.resolve(unit("read", "~/k")).action is DENY


@pytest.mark.parametrize("mark", ["~", "$HOME"])
def test_either_mark_for_home_is_matched_as_typed_where_a_shell_expands_it_and_by_any_denial(mark: str) -> None:
    ruleset = ruleset_of(("read", f"{mark}/k", DENY), ("bash", f"{mark}/x *", ALLOW), home="/home/u")
    assert ruleset.resolve(unit("read", f"{mark}/k")).action is DENY
    assert ruleset.resolve(unit("read", "/home/u/k")).action is DENY
    assert ruleset.resolve(unit("bash", f"{mark}/x 1")).action is ALLOW
    assert ruleset.resolve(unit("bash", "/home/u/x 1")).action is ALLOW


def test_without_a_word_about_it_a_ruleset_lets_a_judge_speak() -> None:
    assert Ruleset.compose(()).mode is Mode.JUDGE


def test_yolo_turns_ask_into_allow_and_leaves_deny_and_the_humans_own() -> None:
    human = Rule("bash", "deploy *", ASK, Origin(LayerKind.USER), only_human=True)
    layer = layer_of(("bash", "git *", ASK), ("bash", "rm *", DENY))
    ruleset = Ruleset.compose([Layer(LayerKind.USER, "p", rules=(*layer.rules, human))], mode=Mode.YOLO)
    found = ruleset.resolve(unit("bash", "git x"))
    assert (found.action, found.note) == (ALLOW, YOLO_NOTE)
    assert ruleset.resolve(unit("bash", "ls")) == RuleFinding(ALLOW, note=YOLO_NOTE)
    assert ruleset.resolve(unit("bash", "rm x")).action is DENY
    assert ruleset.resolve(unit("bash", "deploy x")).action is ASK
    assert ruleset.resolve(unit("bash", "$X", opaque=OPAQUE)).action is ALLOW
    assert (
        ruleset_of(("bash", "git *", ALLOW), mode=Mode.YOLO).resolve(unit("bash", "git $X", opaque=OPAQUE)).action
        is ALLOW
    )


def test_an_unreadable_layer_turns_every_allow_into_an_ask_and_keeps_its_last_denials() -> None:
    problem = Problem("project.toml", 3, "not valid TOML: x", "mend it")
    last_good = layer_of(("bash", "rm *", DENY), ("bash", "ls", ALLOW))
    lost = broken_layer(LayerKind.PROJECT, "project.toml", problems=[problem], last_good=last_good)
    for mode in Mode:
        ruleset = Ruleset.compose([layer_of(("bash", "*", ALLOW), defaults={"web": ALLOW}), lost], mode=mode)
        found = ruleset.resolve(unit("bash", "ls"))
        assert found.action is ASK
        assert "`project.toml`: line 3" in found.note
        assert "mend it" in found.note
        assert ruleset.resolve(unit("web", "x")).action is ASK
        assert ruleset.resolve(unit("mcp", "x")).action is ASK
        assert ruleset.resolve(unit("bash", "rm x")).action is DENY


def test_what_stands_in_for_an_unreadable_layer_is_called_by_the_layers_own_name() -> None:
    """Its last good rules may have been read under another."""
    lost = broken_layer(LayerKind.PROJECT, "q", problems=[Problem("q", 1, "gone")], last_good=layer_of())
    assert (lost.kind, lost.name) == (LayerKind.PROJECT, "q")


def test_a_layer_with_an_unknown_action_loses_its_allows_and_no_other_layer_does() -> None:
    user = layer_of(("bash", "*", ALLOW))
    project = read_layer(
        '[rules]\nweb = "allow"\n[rules.bash]\n"rm *" = "denny"\n"mv *" = "ask"\n"mv x" = "allow"\n',
        file="p.toml",
        kind=LayerKind.PROJECT,
    )
    ruleset = Ruleset.compose([user, project], mode=Mode.YOLO)
    assert ruleset.resolve(unit("bash", "rm -rf build")).action is ASK
    assert ruleset.resolve(unit("bash", "ls")).action is ALLOW
    assert ruleset_of().resolve(unit("web", "x")).action is ASK
    careful = Ruleset.compose([user, project])
    assert careful.resolve(unit("bash", "mv x")).action is ASK
    assert careful.resolve(unit("web", "x")).action is ASK
    assert [problem.line for problem in careful.problems] == [4]


def test_a_layer_nobody_vouched_for_only_denies_and_asks() -> None:
    layer = layer_of(
        ("bash", "*", ALLOW), ("bash", "rm *", DENY), ("bash", "mv *", ASK), defaults={"web": ALLOW, "x": DENY}
    )
    kept = untrusted(layer)
    assert [rule.action for rule in kept.rules] == [DENY, ASK]
    assert [default.action for default in kept.defaults] == [DENY]


def test_where_the_file_system_ignores_case_so_do_ask_and_deny() -> None:
    ruleset = ruleset_of(("read", "*", ALLOW), ("read", "/repo/Secrets/*", DENY), ("write", "/Repo/*", ALLOW))
    assert ruleset.resolve(unit("read", "/repo/secrets/k")).action is ALLOW
    assert ruleset.resolve(unit("read", "/repo/secrets/k", folds_case=True)).action is DENY
    assert ruleset.resolve(unit("write", "/repo/x", folds_case=True)).action is ASK


def test_ask_and_deny_speak_of_whatever_a_shell_glob_may_become() -> None:
    ruleset = ruleset_of(("path_read", "*", ALLOW), ("path_read", "*.env", DENY), ("path_read", "/Etc/x", ASK))

    def glob(text: str, *, folds_case: bool = False) -> Action:
        return ruleset.resolve(unit("path_read", text, auxiliary=True, glob=True, folds_case=folds_case)).action

    assert glob("src/*") is DENY
    assert glob("src/*.py") is ALLOW
    assert glob("/etc/?") is ALLOW
    assert glob("/etc/?", folds_case=True) is ASK
    assert ruleset.resolve(unit("path_read", "src/*", auxiliary=True)).action is ALLOW


def test_a_harmless_wrapper_is_spoken_of_by_rules_that_name_it_alone() -> None:
    aside = unit("bash", "time ls", auxiliary=True, aside=True)
    assert ruleset_of(("bash", "*", DENY), defaults={"bash": DENY}).resolve(aside).speaks is False
    assert ruleset_of(("bash", "time *", DENY), ("bash", "*", ASK)).resolve(aside).action is DENY
    assert ruleset_of(("*", "time *", DENY)).resolve(aside).action is DENY


def test_a_repeated_denial_in_a_nearer_layer_is_kept_where_it_stands() -> None:
    layers = [
        layer_of(("bash", "*", ASK)),
        layer_of(("bash", "*", DENY), ("bash", "echo *", ALLOW)),
        layer_of(("bash", "*", DENY)),
    ]
    for value in ("curl http://x.test", "echo hi"):
        assert Ruleset.compose(layers).resolve(unit("bash", value)).action is DENY
    assert Ruleset.compose(layers[:2]).resolve(unit("bash", "echo hi")).action is ALLOW


def test_the_walk_names_every_matching_rule_latest_first() -> None:
    ruleset = ruleset_of(
        ("bash", "git *", ALLOW), ("bash", "git push *", ASK), ("bash", "npm *", DENY), ("bash", "*", ASK)
    )
    steps = ruleset.walk(unit("bash", "git push", remote=True, carrier=0))
    assert [(step.rule.pattern, step.status) for step in steps] == [
        ("*", MatchStatus.SILENT),
        ("git push *", MatchStatus.DECIDES),
        ("git *", MatchStatus.OVERRIDDEN),
    ]
    assert str(steps[1].rule.origin) == "policy.toml:2"


def test_the_version_changes_with_every_rule_and_mode() -> None:
    versions = {
        ruleset_of(("bash", "a", ALLOW)).version,
        ruleset_of(("bash", "a", ASK)).version,
        ruleset_of(("bash", "a", ALLOW), mode=Mode.YOLO).version,
        ruleset_of(defaults={"bash": ALLOW}).version,
    }
    assert len(versions) == 4
    assert ruleset_of(("bash", "a", ALLOW)).version == ruleset_of(("bash", "a", ALLOW)).version


def test_a_unit_of_which_only_the_value_is_known_stands_alone() -> None:
    """It is carried by none and of no parsed line: what speaks of carried commands is silent."""
    alone = unit("bash", "uptime", remote=True)
    assert (alone.carrier, alone.command) == (-1, -1)
    assert ruleset_of().resolve(alone).speaks


def test_names_of_surfaces_that_children_invent_are_not_kept() -> None:
    ruleset = ruleset_of(("bash", "a", ALLOW), ("*", "b", ASK))
    for number in range(1_000):
        ruleset.resolve(unit(f"tool{number}", "b"))
    assert len(ruleset._views) == 1


surfaces = st.sampled_from(["bash", "read", "path_read", "path", "external", "external_directory", "*", "re?d", "mcp"])
words = st.sampled_from(["a", "b", "*", " ", "?", "ab"])
patterns = st.lists(words, min_size=1, max_size=4).map("".join)
actions = st.sampled_from(Action)
rules = st.builds(
    lambda surface, pattern, action, human: Rule(surface, pattern, action, Origin(LayerKind.USER), only_human=human),
    surfaces,
    patterns,
    actions,
    st.booleans(),
).map(
    lambda rule: Rule(
        rule.surface, rule.pattern, rule.action, rule.origin, only_human=rule.only_human and rule.action is ASK
    )
)
defaults = st.builds(lambda surface, action: Default(surface, action, Origin(LayerKind.USER)), surfaces, actions)
values = st.lists(st.sampled_from(["a", "b", " ", "ab"]), min_size=1, max_size=4).map("".join)


@st.composite
def units(draw: st.DrawFn) -> Unit:
    surface = draw(st.sampled_from(["bash", "read", "path_read", "external_directory", "mcp"]))
    return Unit(
        surface,
        tuple(draw(st.lists(values, min_size=1, max_size=2))),
        strict_spellings=tuple(draw(st.lists(values, max_size=2))),
        auxiliary=surface in AUXILIARY_SURFACES,
        opaque=draw(st.sampled_from(["", OPAQUE])),
        remote=draw(st.booleans()),
        aside=draw(st.sampled_from([False, False, True])),
        carrier=draw(st.sampled_from([-1, 0])),
    )


def covers_surface(written: str, surface: str) -> bool:
    short = {"path": PATH_SURFACES, "external": ("external", "external_directory")}
    return any(Wildcard(name).matches(surface) for name in short.get(written, (written,)))


def slowly(rules: list[Rule], defaults: list[Default], asked: Unit, mode: Mode) -> tuple[Action, bool]:
    """The language read off its description, one rule after the other."""
    yolo = mode is Mode.YOLO
    opaque = bool(asked.opaque) and not yolo
    heard: list[tuple[Rule, Action]] = []
    for rule in rules:
        named = covers_surface(rule.surface, asked.surface) and not (asked.auxiliary and rule.surface == "*")
        action = ALLOW if yolo and rule.action is ASK and not rule.only_human else rule.action
        seen = asked.spellings + (asked.strict_spellings if action is not ALLOW else ())
        star = set(rule.pattern) == {"*"}
        silent = asked.remote and star and rule.action is ASK and not rule.only_human
        silent = silent or (asked.aside and star and rule.action is not ALLOW)
        if named and not silent and any(Wildcard(rule.pattern).matches(text) for text in seen):
            heard.append((rule, action))
    if opaque and heard and heard[-1][1] is ALLOW:
        known = [(rule, action) for rule, action in heard if action is not ALLOW or set(rule.pattern) == {"*"}]
        return (ALLOW if known and known[-1][1] is ALLOW else ASK), True
    if heard:
        return heard[-1][1], True
    named_ones = [d for d in defaults if d.surface != "*" and covers_surface(d.surface, asked.surface)]
    common = [d for d in defaults if d.surface == "*"]
    said = named_ones[-1].action if named_ones else None
    if said is None and not asked.auxiliary:
        said = common[-1].action if common else ASK
    if said is DENY and not asked.aside:
        return DENY, True
    if opaque:
        return ASK, True
    if said is None or asked.aside or (asked.remote and asked.carrier >= 0):
        return ALLOW, False
    return (ALLOW if yolo else said), True


@given(st.lists(rules, max_size=8), st.lists(defaults, max_size=4), units(), st.sampled_from([Mode.JUDGE, Mode.YOLO]))
def test_a_ruleset_says_what_reading_it_rule_by_rule_says(
    rules: list[Rule], defaults: list[Default], asked: Unit, mode: Mode
) -> None:
    layer = Layer(LayerKind.USER, "p", rules=tuple(rules), defaults=tuple(defaults))
    found = Ruleset.compose([layer], mode=mode).resolve(asked)
    assert (found.action, found.speaks) == slowly(rules, defaults, asked, mode)


@given(st.lists(rules, max_size=8), st.lists(defaults, max_size=4), units(), st.sampled_from(Mode))
def test_a_broken_layer_beside_any_rules_leaves_no_spoken_allow(
    rules: list[Rule], defaults: list[Default], asked: Unit, mode: Mode
) -> None:
    layer = Layer(LayerKind.USER, "p", rules=tuple(rules), defaults=tuple(defaults))
    lost = broken_layer(LayerKind.PROJECT, "q", problems=[Problem("q", 1, "gone")])
    found = Ruleset.compose([layer, lost], mode=mode).resolve(asked)
    assert not (found.speaks and found.action is ALLOW)


@given(
    st.lists(st.tuples(st.lists(rules, max_size=4), st.lists(defaults, max_size=3)), min_size=1, max_size=3),
    st.integers(0, 3),
    st.lists(rules, max_size=4),
    st.lists(defaults, max_size=3),
    units(),
    st.sampled_from(Mode),
)
def test_a_layer_that_nobody_vouched_for_never_loosens(  # noqa: PLR0913, PLR0917
    parts: list[tuple[list[Rule], list[Default]]],
    place: int,
    strange_rules: list[Rule],
    strange_defaults: list[Default],
    asked: Unit,
    mode: Mode,
) -> None:
    layers = [Layer(LayerKind.USER, "p", rules=tuple(said), defaults=tuple(default)) for said, default in parts]
    strange = untrusted(Layer(LayerKind.PROJECT, "q", rules=tuple(strange_rules), defaults=tuple(strange_defaults)))
    before = Ruleset.compose(layers, mode=mode).resolve(asked)
    after = Ruleset.compose([*layers[:place], strange, *layers[place:]], mode=mode).resolve(asked)
    assert after.strictness >= before.strictness


def test_an_ask_of_a_layer_nobody_vouched_for_does_not_stand_against_a_denial() -> None:
    strange = untrusted(layer_of(("bash", "*", ASK), ("bash", "curl *", DENY), defaults={"web": ASK}))
    ruleset = Ruleset.compose(
        [layer_of(("bash", "rm *", DENY), ("bash", "ls", ALLOW), defaults={"web": DENY}), strange]
    )
    assert ruleset.resolve(unit("bash", "rm x")).action is DENY
    assert ruleset.resolve(unit("bash", "ls")).action is ASK
    assert ruleset.resolve(unit("bash", "curl x")).action is DENY
    assert ruleset.resolve(unit("web", "x")).action is DENY


def test_a_rule_of_a_layer_nobody_vouched_for_that_asks_does_not_replace_a_default_denial() -> None:
    """Where no trusted rule speaks the default does, and only a stricter word is heard beside it."""
    strange = untrusted(layer_of(("web", "*", ASK), ("mcp", "*", ASK), ("skill", "*", DENY)))
    trusted = layer_of(defaults={"web": DENY, "mcp": ALLOW, "skill": ASK})
    for layers in ([trusted, strange], [strange, trusted]):
        ruleset = Ruleset.compose(layers)
        assert ruleset.resolve(unit("web", "x")).default == trusted.defaults[0]
        assert [ruleset.resolve(unit(name, "x")).action for name in ("web", "mcp", "skill")] == [DENY, ASK, DENY]

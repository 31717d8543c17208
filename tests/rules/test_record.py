from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import OperatorError
from fwdperm.rules.layer import Layer
from fwdperm.rules.record import record_ruleset, recorded_ruleset
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule
from fwdperm.rules.toml_file import read_layer

NOWHERE = Origin(LayerKind.SESSION)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
rules = st.builds(
    lambda surface, pattern, action, reason, human: Rule(
        surface, pattern, action, NOWHERE, reason, only_human=human and action is Action.ASK
    ),
    text,
    text,
    st.sampled_from(Action),
    text,
    st.booleans(),
)
defaults = st.builds(lambda surface, action: Default(surface, action, NOWHERE), text, st.sampled_from(Action))


@given(st.lists(rules, max_size=6), st.lists(defaults, max_size=3))
def test_a_recorded_ruleset_reads_back_equal(said: list[Rule], otherwise: list[Default]) -> None:
    layer = Layer(LayerKind.SESSION, "x", rules=tuple(said), defaults=tuple(otherwise))
    with TemporaryDirectory() as directory:
        path = Path(directory, "ruleset.toml")
        record_ruleset(path, layer)
        read = recorded_ruleset(path)
    assert not read.problems
    assert [replace(rule, origin=NOWHERE) for rule in read.rules] == said
    assert [replace(default, origin=NOWHERE) for default in read.defaults] == otherwise
    assert all(rule.origin.line for rule in read.rules)


@pytest.mark.parametrize("content", ['[rules]\nbash = "denny"\n', "["])
def test_a_ruleset_with_something_unknown_in_it_is_not_recorded(tmp_path: Path, content: str) -> None:
    layer = read_layer(content, file="ci.toml", kind=LayerKind.SESSION)
    with pytest.raises(OperatorError, match=r"^cannot record ruleset: cannot load ruleset `ci\.toml`"):
        record_ruleset(tmp_path / "r.toml", layer)
    assert not list(tmp_path.iterdir())


def test_a_pattern_that_is_no_text_is_not_recorded(tmp_path: Path) -> None:
    layer = Layer(LayerKind.SESSION, "x", rules=(Rule("bash", "\ud800", Action.ALLOW, NOWHERE),))
    with pytest.raises(OperatorError, match="not text"):
        record_ruleset(tmp_path / "r.toml", layer)


def test_a_recorded_ruleset_that_is_gone_or_replaced_is_broken(tmp_path: Path) -> None:
    assert recorded_ruleset(tmp_path / "gone.toml").broken
    (tmp_path / "directory.toml").mkdir()
    assert recorded_ruleset(tmp_path / "directory.toml").broken

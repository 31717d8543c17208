from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from fwdperm.rules.layer import Layer
from fwdperm.rules.rule import Action, LayerKind
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.surface import AUXILIARY_SURFACES
from fwdperm.rules.toml_file import ConfigFile, read_config
from fwdperm.rules.unit import Unit
from fwdperm.units import break_down
from fwdperm.wire import Facts

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "ruleset.md"
BLOCKS = re.findall(r"^```(toml|decisions)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
RULESETS = [text for kind, text in BLOCKS if kind == "toml"]
DECISIONS = [
    (before, line)
    for (_, before), (kind, text) in pairwise(BLOCKS)
    if kind == "decisions"
    for line in text.splitlines()
]


def load(text: str) -> ConfigFile:
    return read_config(text, file="page.toml", kind=LayerKind.USER)


@pytest.mark.parametrize("text", RULESETS)
def test_every_ruleset_on_the_page_loads_without_a_word(text: str) -> None:
    config = load(text)
    assert not config.problems
    assert config.layer != Layer(LayerKind.USER, "page.toml")


@pytest.mark.parametrize(("text", "line"), DECISIONS)
def test_every_decision_on_the_page_is_what_the_ruleset_before_it_says(text: str, line: str) -> None:
    action, surface, value = line.split(maxsplit=2)
    ruleset = Ruleset.compose([load(text).layer])
    if surface in AUXILIARY_SURFACES:
        units: tuple[Unit, ...] = (Unit(surface, (value,), auxiliary=True),)
    else:
        units = break_down(Facts(surface, (value,), cwd="/home/me/work", home="/home/me")).units
    findings = [ruleset.resolve(unit) for unit in units]
    spoken = [finding.action for finding in findings if finding.speaks]
    assert max(spoken, key=lambda one: one.strictness) is Action(action)


def test_the_page_has_examples() -> None:
    assert len(RULESETS) >= 8
    assert len(DECISIONS) >= 20

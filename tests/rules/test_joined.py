"""A tool's name and the input that an agent makes up for it: an allow of the name says nothing of the input."""

from __future__ import annotations

import pytest

from fwdperm.rules import Action, Layer, LayerKind, Origin, Rule, Ruleset, lint_rules
from fwdperm.units import break_down
from fwdperm.wire import Facts


def layer(*rules: tuple[str, str, str]) -> Layer:
    made = [
        Rule(surface, pattern, Action(action), Origin(LayerKind.USER, "x", 1)) for surface, pattern, action in rules
    ]
    return Layer("x", LayerKind.USER, tuple(made))


def decide(value: str, *rules: tuple[str, str, str], surface: str = "mcp") -> Action:
    (unit,) = break_down(Facts(surface, (value,), cwd="/w")).units
    return Ruleset.compose([layer(*rules)]).resolve(unit).action


@pytest.mark.parametrize(
    ("pattern", "allowed", "not_allowed"),
    [
        ("*__read_*", 'db__read_row {"a": 1}', 'fs__write {"p": "x__read_y"}'),
        ("*__read_*", "db__read_row", 'fs__write {"p": "x__read_y z"}'),
        ("*__read_* *", 'db__read_row {"a": 1}', 'fs__write {"p": "x__read_y z"}'),
        ("db__*", 'db__drop {"t": "x"}', 'fs__write {"p": "db__x"}'),
        ('db__query {"a":*', 'db__query {"a":1}', 'db__query {"b":1}'),
        ("*query*", "db__query", 'fs__write {"q": "query"}'),
        ("mcp__db__*", 'db__query {"a":1}', 'fs__query {"a":1}'),
        ("mcp__db__query", 'mcp__db__query {"a":1}', "mcp__db__drop"),
        ("db:query", 'mcp__db__query {"a":1}', "db__drop"),
        ("*", 'fs__write {"p": "x"}', ""),
    ],
)
def test_a_pattern_of_a_name_speaks_of_the_name_alone(pattern: str, allowed: str, not_allowed: str) -> None:
    assert decide(allowed, ("mcp", pattern, "allow")) is Action.ALLOW
    if not_allowed:
        assert decide(not_allowed, ("mcp", pattern, "allow")) is Action.ASK


def test_a_deny_sees_the_input_too() -> None:
    rules = (("mcp", "*", "allow"), ("mcp", "*secret*", "deny"), ("mcp", "mcp__db__drop*", "deny"))
    assert decide('fs__read {"p": "secret.txt"}', *rules) is Action.DENY
    assert decide('db__drop_table {"t": "x"}', *rules) is Action.DENY
    assert decide('fs__read {"p": "a.txt"}', *rules) is Action.ALLOW


def test_other_tools_with_input_are_read_alike() -> None:
    assert decide('deploy {"to": "x read y"}', ("my_tool", "*read*", "allow"), surface="my_tool") is Action.ASK
    assert decide("read it", ("my_tool", "read *", "allow"), surface="my_tool") is Action.ALLOW


def test_a_surface_by_the_name_of_a_server_is_reported_with_what_to_write() -> None:
    (problem,) = lint_rules([layer(("mcp__git", "*", "allow"))])
    assert "mcp__git__*" in str(problem)

"""The recorded ruleset: what an operator wrote down beforehand, and what it says of a unit.

Lives here: rules, patterns, layers, the ruleset they compose, the chain of rulesets along a session tree; and, at the
edge, reading them from TOML. Never here: how a request becomes units, session rules, the judge.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.rules.chain import resolve_chain
    from fwdperm.rules.disk import read_file, write_private
    from fwdperm.rules.globs import MeetingIndex
    from fwdperm.rules.index import Index
    from fwdperm.rules.layer import Layer, Problem, Severity, broken_layer, untrusted
    from fwdperm.rules.lint import lint_rules
    from fwdperm.rules.mode import Mode
    from fwdperm.rules.rule import Action, LayerKind, Origin, Rule, RuleFinding
    from fwdperm.rules.ruleset import Ruleset
    from fwdperm.rules.store import RulesetFiles
    from fwdperm.rules.surface import is_every
    from fwdperm.rules.toml_file import PROJECT_SETTINGS, RULESET_BYTES, ConfigFile, Setting, read_config, read_layer
    from fwdperm.rules.trust import TrustStore
    from fwdperm.rules.unit import Unit
    from fwdperm.rules.wildcard import Glob, Wildcard, escape_pattern
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "chain": ("resolve_chain",),
            "disk": ("read_file", "write_private"),
            "globs": ("MeetingIndex",),
            "index": ("Index",),
            "layer": ("Layer", "Problem", "Severity", "broken_layer", "untrusted"),
            "lint": ("lint_rules",),
            "mode": ("Mode",),
            "rule": ("Action", "LayerKind", "Origin", "Rule", "RuleFinding"),
            "ruleset": ("Ruleset",),
            "store": ("RulesetFiles",),
            "surface": ("is_every",),
            "toml_file": ("ConfigFile", "PROJECT_SETTINGS", "RULESET_BYTES", "Setting", "read_config", "read_layer"),
            "trust": ("TrustStore",),
            "unit": ("Unit",),
            "wildcard": ("Glob", "Wildcard", "escape_pattern"),
        },
    )

__all__ = [
    "PROJECT_SETTINGS",
    "RULESET_BYTES",
    "Action",
    "ConfigFile",
    "Glob",
    "Index",
    "Layer",
    "LayerKind",
    "MeetingIndex",
    "Mode",
    "Origin",
    "Problem",
    "Rule",
    "RuleFinding",
    "Ruleset",
    "RulesetFiles",
    "Setting",
    "Severity",
    "TrustStore",
    "Unit",
    "Wildcard",
    "broken_layer",
    "escape_pattern",
    "is_every",
    "lint_rules",
    "read_config",
    "read_file",
    "read_layer",
    "resolve_chain",
    "untrusted",
    "write_private",
]

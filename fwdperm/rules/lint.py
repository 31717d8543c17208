"""What may be wrong with rules that can all be read.

Lives here: `lint_rules`. Pure. Never here: what cannot be read (`toml_file.py`), covered rules (`shadow.py`),
decisions: a warning changes none.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from fwdperm.programs import is_in_family, names_of_family
from fwdperm.rules.index import Index
from fwdperm.rules.layer import Problem, Severity
from fwdperm.rules.rule import Action
from fwdperm.rules.shadow import find_shadows
from fwdperm.rules.surface import PATH_SURFACES, expand, is_every
from fwdperm.rules.wildcard import Wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.rules.layer import Layer
    from fwdperm.rules.rule import Origin, Rule

KNOWN_SURFACES: Final = (
    *PATH_SURFACES,
    "external",
    "external_directory",
    "bash",
    "web",
    "mcp",
    "skill",
    "agent",
)
"""Surfaces that have a meaning of their own; any other is a tool's name."""

_PROBE: Final = "fwdperm-probe"
_SHAPES: Final = ("{} " + _PROBE, "{} -c " + _PROBE, "{} -e " + _PROBE, "{} run " + _PROBE, "{} exec " + _PROBE)


def lint_rules(layers: Sequence[Layer]) -> tuple[Problem, ...]:
    """Return warnings about the rules of all layers, in the order in which the layers compose.

    Takes time about linear in the number of rules. Never raises.
    """
    rules = [rule for layer in layers if not layer.narrows for rule in layer.rules]
    problems = [*_shadows(rules), *_grants(rules), *_default_grants(layers)]
    for rule in rules:
        problems.extend(_oddities(rule))
    return tuple(problems)


def _warn(origin: Origin, message: str, remedy: str) -> Problem:
    return Problem(origin.file, origin.line, message, remedy, Severity.WARNING)


def _shadows(rules: Sequence[Rule]) -> Iterator[Problem]:
    for shadow in find_shadows(rules):
        rule, by = shadow.rule, shadow.by
        message = f"{rule.action} `{rule.pattern}` never decides: {by.action} `{by.pattern}` ({by.origin}) covers it"
        remedy = "write the broader rule first" if shadow.is_harmful else "take it away"
        yield _warn(rule.origin, message, remedy)


def _grants(rules: Sequence[Rule]) -> Iterator[Problem]:
    """Find allows of arbitrary code by asking what they would say of an argument nobody ever wrote."""
    allows = [rule for rule in rules if rule.action is Action.ALLOW and _is_of_bash(rule.surface)]
    index = Index((place, Wildcard(rule.pattern).globs) for place, rule in enumerate(allows))
    granted: dict[int, str] = {}
    for runner in names_of_family("argument runner"):
        for shape in _SHAPES:
            for place in index.matches(shape.format(runner)):
                granted.setdefault(place, runner)
    for place in sorted(granted):
        rule = allows[place]
        what = "everything" if rule.is_bare_star else f"whatever `{granted[place]}` is told to run"
        yield _warn(rule.origin, f"allow `{rule.pattern}` grants arbitrary code: {what}", "name what may run")


def _default_grants(layers: Sequence[Layer]) -> Iterator[Problem]:
    for layer in layers:
        for default in layer.defaults:
            if default.action is Action.ALLOW and not layer.narrows and _is_of_bash(default.surface):
                message = f"default allow for `{default.surface}` grants arbitrary code: everything that no rule names"
                yield _warn(default.origin, message, "write ask, and allow what may run")


def _oddities(rule: Rule) -> Iterator[Problem]:
    pattern, surface = rule.pattern, rule.surface
    if surface not in KNOWN_SURFACES and (near := get_close_matches(surface.lower(), KNOWN_SURFACES, n=1, cutoff=0.75)):
        yield _warn(rule.origin, f"surface `{surface}` is no known one", f"did you mean `{near[0]}`")
    server = surface.removeprefix("mcp__")
    if server != surface and server and "*" not in server:
        message = f"surface `{surface}` speaks only of requests that name their surface so: agents name it `mcp`"
        yield _warn(rule.origin, message, f'write `[rules.mcp]` and `"mcp__{server}__*"`')
    if pattern != pattern.strip() or not pattern:
        message = f"`{pattern}` matches nothing: values have no blanks at their ends"
        yield _warn(rule.origin, message, "take the blanks away")
    if "bash" not in expand(surface):
        return
    first = pattern.partition(" ")[0]
    if ":*" in first or (pattern.endswith(":*") and not is_in_family(first, "script runner")):
        message = f"`:*` in `{pattern}` is a literal colon: `{first.partition(':')[0]} ...` does not match"
        yield _warn(rule.origin, message, f"write `{pattern.replace(':*', ' *')}`")
    if pattern.startswith(("Bash(", "bash(")):
        yield _warn(rule.origin, f"brackets in `{pattern}` are literal", "write the command alone")
    elif pattern.startswith(("(", "^")) or ".*" in first:
        message = f"`{pattern}` is not a regular expression: it matches its literal text, `*` and `?` apart"
        yield _warn(rule.origin, message, "write the command with `*` for what may vary")


def _is_of_bash(surface: str) -> bool:
    return is_every(surface) or any(Wildcard(name).matches("bash") for name in expand(surface))

"""Units of everything that is not a command line: paths of file tools, MCP tools, web addresses, the rest.

Lives here: `path_units`, `plain_units`. Never here: command lines (`bash.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from fwdperm.rules.unit import Unit
from fwdperm.units.paths import PathNames, inside, name_path

if TYPE_CHECKING:
    from fwdperm.wire.request import Facts

PATH_SURFACES: Final = frozenset(
    [
        "read",
        "write",
        "edit",
        "multiedit",
        "notebook_edit",
        "notebookedit",
        "path",
        "path_read",
        "path_write",
        "external",
        "external_directory",
        "glob",
        "grep",
        "find",
        "ls",
        "list",
    ]
)
"""Surfaces whose value is a path."""
_EXTERNAL: Final = frozenset({"external", "external_directory"})
_WEB: Final = frozenset({"web", "webfetch", "web_fetch", "fetch"})
_MCP_NAME: Final = re.compile(r"(?:mcp__)?([^\s:]+?)(?:__|:)(\S+)")
_EMPTY: Final = "it is empty"
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://", re.ASCII)


def path_units(facts: Facts) -> tuple[Unit, ...]:
    """Break the path of a file tool down: the path, its real path, and whether it lies outside."""
    names = name_path(facts.value, cwd=facts.cwd, home=facts.home)
    strict = [*names.strict, *_other_spellings(facts, names)]
    units = [
        Unit(
            facts.surface,
            names.names,
            tuple(dict.fromkeys(text for text in strict if text not in names.names)),
            stands="request",
            folds_case=facts.folds_case,
        )
    ]
    if facts.canonical and facts.canonical != names.absolute:
        real = name_path(facts.canonical, cwd=facts.cwd, home=facts.home)
        units.append(
            Unit(facts.surface, real.names, real.strict, stands="canonical", carrier=0, folds_case=facts.folds_case)
        )
    else:
        real = names
    if facts.surface not in _EXTERNAL:
        units.extend(_outside(facts, names, real))
    return tuple(units)


def plain_units(facts: Facts) -> tuple[Unit, ...]:
    """Make the one unit of a surface whose values are no paths."""
    values = tuple(dict.fromkeys(value for value in facts.values if value.strip()))
    if not values or not facts.surface.strip():
        shown = values or (facts.surface,)
        return (Unit(facts.surface, shown, opaque=_EMPTY if not values else "its surface is empty"),)
    strict: list[str] = []
    if facts.surface == "mcp" or facts.surface.startswith("mcp__"):
        values = tuple(dict.fromkeys(name for value in values for name in _mcp_names(value)))
    elif facts.surface in _WEB or any(_ADDRESS.match(value) for value in values):
        strict = [plain for value in values if (plain := _plain_address(value)) and plain not in values]
    return (Unit(facts.surface, values, tuple(dict.fromkeys(strict))),)


def _other_spellings(facts: Facts, names: PathNames) -> list[str]:
    """Give the requester's other spellings: claims, so for `ask` and `deny` only."""
    others: list[str] = []
    for value in facts.values[1:]:
        other = name_path(value, cwd=facts.cwd, home=facts.home)
        if other.absolute != names.absolute or not other.absolute:
            others.extend(other.names)
        others.append(value)
    return others


def _outside(facts: Facts, names: PathNames, real: PathNames) -> list[Unit]:
    found: list[Unit] = []
    for one in dict.fromkeys((names, real)):
        if one.absolute and facts.cwd and inside(one.absolute, facts.cwd) is None:
            found.append(
                Unit(
                    "external_directory",
                    one.names,
                    one.strict,
                    auxiliary=True,
                    stands="canonical" if one is real and real is not names else "operand",
                    carrier=0,
                    folds_case=facts.folds_case,
                )
            )
    return found


def _mcp_names(value: str) -> list[str]:
    """Spell `server__tool {json}` in every way a rule may: with and without the input, with `:` and `__`."""
    name, _, rest = value.partition(" ")
    names = [value]
    if rest:
        names.append(name)
    found = _MCP_NAME.fullmatch(name)
    if found:
        server, tool = found[1], found[2]
        for spelled in (f"{server}:{tool}", f"{server}__{tool}"):
            names.append(spelled)
            if rest:
                names.append(f"{spelled} {rest}")
    return names


def _plain_address(value: str) -> str:
    """Write an address with its scheme and host in lower case, without user, password and default port."""
    try:
        parts = urlsplit(value.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not parts.scheme or not host:
        return ""
    shown = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}.get(parts.scheme.lower())
    place = shown if port in (None, default) else f"{shown}:{port}"
    return urlunsplit((parts.scheme.lower(), place, parts.path or "/", parts.query, parts.fragment))

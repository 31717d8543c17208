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
    """Break the path of a file tool down: the path, every other path it stands for, and whether they lie outside.

    A real path, or a spelling of the requester's that does not come to the same path, is a unit of its own: an allow
    needs all of them, a deny only one.
    """
    first = name_path(facts.value, cwd=facts.cwd, home=facts.home)
    same = [first]
    others: dict[str, PathNames] = {}
    for value in (*facts.values[1:], facts.canonical):
        if not value.strip():
            continue
        names = name_path(value, cwd=facts.cwd, home=facts.home)
        if names.names == first.names:
            same.append(names)
        else:
            others.setdefault(names.names[-1] if not names.absolute else names.absolute, names)
    strict = tuple(dict.fromkeys(text for names in same for text in names.strict))
    units = [Unit(facts.surface, first.names, strict, folds_case=facts.folds_case)]
    units.extend(
        Unit(facts.surface, names.names, names.strict, stands="canonical", carrier=0, folds_case=facts.folds_case)
        for names in others.values()
    )
    if facts.surface not in _EXTERNAL:
        units.extend(_outside(facts, first, *others.values()))
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


def _outside(facts: Facts, *every: PathNames) -> list[Unit]:
    return [
        Unit(
            "external_directory",
            names.names,
            names.strict,
            auxiliary=True,
            stands="operand" if at == 0 else "canonical",
            carrier=0,
            folds_case=facts.folds_case,
        )
        for at, names in enumerate(every)
        if names.absolute and facts.cwd and inside(names.absolute, facts.cwd) is None
    ]


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

"""Units of everything that is not a command line: paths of file tools, MCP tools, web addresses, the rest.

Lives here: `is_path`, `path_units`, `plain_units`. Never here: command lines (`bash.py`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from fwdperm.rules import Unit
from fwdperm.units.paths import PathNames, climbs_past_glob, has_glob, inside, name_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.wire import Facts

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
_FILE_TOOLS: Final = frozenset(
    [
        "view",
        "read_file",
        "notebook_read",
        "search",
        "create",
        "patch",
        "apply_patch",
        "write_file",
        "str_replace",
        "insert",
        "append",
        "delete",
        "remove",
        "rm",
        "unlink",
        "delete_file",
    ]
)
"""Further ones, of tools that some requesters do not map: a path there unless it is a tool's whole input."""
_LISTS: Final = frozenset({"glob", "find", "ls", "list"})
"""Surfaces that show names of files."""
_SEARCHES: Final = _LISTS | {"grep"}
"""Surfaces whose value may be a glob."""
_READS: Final = _SEARCHES | {"read", "view", "read_file", "notebook_read", "search"}
_WRITES: Final = (PATH_SURFACES | _FILE_TOOLS) - _READS
_UNKNOWN_GLOB: Final = "which directory its glob means is not known"
_EXTERNAL: Final = frozenset({"external", "external_directory"})
_WEB: Final = frozenset({"web", "webfetch", "web_fetch", "fetch"})
_MCP_NAME: Final = re.compile(r"(?:mcp__)?([^\s:]+?)(?:__|:)(\S+)")
"""A tool with its server, as different agents write it: `mcp__github__list`, `github:list`."""
_EMPTY: Final = "it is empty"
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://", re.ASCII)
"""The head of an address: `https://h/x`."""


def is_path(facts: Facts) -> bool:
    """Say whether the values of a request are paths."""
    return facts.surface in PATH_SURFACES or (facts.surface in _FILE_TOOLS and not facts.value.startswith('{"'))


def path_units(facts: Facts) -> tuple[Unit, ...]:
    """Break the path of a file tool down: the path, every other path it stands for, and whether they lie outside.

    A real path, or a spelling of the requester's that does not come to the same path, is a unit of its own: an allow
    needs all of them, a deny only one. What a tool opens is a `path_read` or `path_write` too, and what a search reads
    a `read`, for the rules written for those.
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
    climbs = facts.surface in _SEARCHES and any(map(climbs_past_glob, facts.values))
    unknown = _UNKNOWN_GLOB if climbs else ""
    every = [first._replace(strict=strict), *others.values()]
    units = [
        Unit(
            facts.surface,
            names.names,
            names.strict,
            opaque=unknown,
            stands="canonical" if at else "request",
            carrier=0 if at else -1,
            searched=_is_searched(facts, names),
            folds_case=facts.folds_case,
        )
        for at, names in enumerate(every)
    ]
    if facts.surface not in _EXTERNAL:
        units.extend(_opened(facts, every))
        units.extend(_outside(facts, first, *others.values()))
    return tuple(units)


def _is_searched(facts: Facts, names: PathNames) -> bool:
    return facts.surface in _SEARCHES and has_glob(names.names[0])


def _opened(facts: Facts, every: list[PathNames]) -> Iterator[Unit]:
    """Give what the tool opens, for rules on paths of any tool; a catch-all of `read` was not meant for a search."""
    surface = "path_read" if facts.surface in _READS else "path_write" if facts.surface in _WRITES else ""
    if not surface or facts.surface.startswith("path"):
        return
    for names in every:
        lists_all = facts.surface in _LISTS and not names.names[0].rpartition("/")[2].strip("*.")
        made = Unit(
            surface,
            names.names,
            names.strict,
            auxiliary=True,
            stands="operand",
            carrier=0,
            searched=_is_searched(facts, names) and not lists_all,
            folds_case=facts.folds_case,
        )
        yield made
        if facts.surface == "grep":
            yield replace(made, surface="read", aside=True)


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
    return (Unit(facts.surface, values, tuple(dict.fromkeys(strict)), is_joined=facts.surface not in _WEB),)


def _outside(facts: Facts, *every: PathNames) -> list[Unit]:
    return [
        Unit(
            "external_directory",
            names.names,
            names.strict,
            auxiliary=True,
            stands="operand" if at == 0 else "canonical",
            carrier=0,
            searched=_is_searched(facts, names),
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
        for spelled in (f"{server}:{tool}", f"{server}__{tool}", f"mcp__{server}__{tool}"):
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

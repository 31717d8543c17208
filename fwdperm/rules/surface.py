"""Names of surfaces in rules.

Lives here: the two short names (`path`, `external`) and what they stand for; finding the patterns that cover a surface.
Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.rules.index import Index
from fwdperm.rules.wildcard import Wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH_SURFACES: Final = (
    "read",
    "write",
    "edit",
    "multiedit",
    "notebook_edit",
    "path_read",
    "path_write",
    "path",
)
"""Every surface whose values are paths: what `path` in a rule stands for."""

EXTERNAL_SURFACES: Final = ("external_directory", "external")
"""What `external` in a rule stands for."""

AUXILIARY_SURFACES: Final = ("path_read", "path_write", "external_directory")
"""Surfaces of units that speak only when a rule names them."""

_SHORT: Final = {"path": PATH_SURFACES, "external": EXTERNAL_SURFACES}


def expand(surface: str) -> tuple[str, ...]:
    """Return the surface patterns that a surface as written stands for."""
    return _SHORT.get(surface, (surface,))


def is_every(surface: str) -> bool:
    """Say whether it names no surface in particular: a bare `*`."""
    return bool(surface) and not surface.strip("*")


def covers(surface: str, name: str) -> bool:
    """Say whether a surface as a rule writes it covers a surface."""
    return any(Wildcard(pattern).matches(name) for pattern in expand(surface))


def surface_index(names: Sequence[str]) -> Index:
    """Return an index of surface patterns as written, by their place in `names`."""
    return Index(
        (place, [glob for pattern in expand(name) for glob in Wildcard(pattern).globs])
        for place, name in enumerate(names)
    )

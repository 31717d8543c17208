"""Grants that a project's file keeps: the form they have there.

Lives here: reading `[[grants]]` of a project's file, and the index over them. Pure. Never here: a file, trust.

A grant that cannot be read grants nothing. Project grants stand where session grants stand in the order: never over a
recorded deny, never for a dangerous unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fwdperm.session_rules.grants import GrantIndex
from fwdperm.session_rules.values import Anchor, Grant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fwdperm.rules import Unit

PROJECT = "project"


@dataclass(frozen=True, slots=True)
class ProjectGrants:
    """The grants of the project files that concern one directory.

    Attributes:
        grants: In file order.
        index: The same grants, for finding those that cover a unit.
        files: Paths of the files that hold them, without doubles, in the order of `grants`.
    """

    grants: tuple[Grant, ...]
    index: GrantIndex
    files: tuple[str, ...]

    @classmethod
    def of(cls, grants: Iterable[Grant]) -> ProjectGrants:
        """Make it from grants in file order; the anchor of each names its file."""
        kept = tuple(grants)
        index = GrantIndex()
        for grant in kept:
            index.add(grant)
        return cls(kept, index, tuple(dict.fromkeys(grant.anchor.session for grant in kept)))

    def covering(self, unit: Unit, *, now_ms: int) -> Grant | None:
        """Give the newest grant that covers a unit and has not expired."""
        for file in reversed(self.files):
            for grant in self.index.matches(("", file), surface=unit.surface, spellings=unit.spellings):
                if not grant.has_expired(now_ms):
                    return grant
        return None


NO_PROJECT = ProjectGrants.of(())
"""For a directory without project grants."""


def read_grants(value: Any, *, file: str) -> Iterator[Grant]:
    """Read the `grants` of a project's file.

    Args:
        value: What TOML gave for the key.
        file: Its path.

    Yields:
        Each grant that can be read; others are left out, and so grant nothing.
    """
    for number, row in enumerate(value if isinstance(value, list) else (), start=1):
        if not isinstance(row, dict):
            continue
        surface, pattern, expires = row.get("surface"), row.get("pattern"), row.get("expires_at_ms", 0)
        if not (isinstance(surface, str) and surface and isinstance(pattern, str) and pattern):
            continue
        if not isinstance(expires, int) or isinstance(expires, bool):
            continue
        yield Grant(
            id=f"p{number}",
            seq=number,
            at=0,
            user=str(row.get("by", "")),
            via=file,
            inbox="",
            request="",
            anchor=Anchor(PROJECT, file),
            note=str(row.get("note", "")),
            expires_at=expires,
            surface=surface,
            pattern=pattern,
        )

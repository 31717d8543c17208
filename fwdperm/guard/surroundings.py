"""What the guard is told about the machine it judges for.

Lives here: `Surroundings` (the operator's side) and `Location` (that, seen from one request). Never here: a look at the
real file system; every path is compared as text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from fwdperm.guard.places import LONGEST_PATH, normalised, resolve
from fwdperm.guard.sensitive_paths import sensitive_to_read

if TYPE_CHECKING:
    from fwdperm.guard.markers import Marker
    from fwdperm.wire import Facts

DEEPEST: Final = 512
"""Characters of a directory that a line goes to: every command behind it is looked at there."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the operator vouches for.

    Attributes:
        workspaces: Absolute directories that count as the workspace. Without any nothing is routine.
        home: The home directory of the person whose machine it is; empty when unknown.
        sensitive_read: Further wildcard patterns of paths that must not be read unasked; matched on the absolute, the
            `~` and the workspace-relative form.
        sensitive_write: The same for writing.
        own: Absolute paths of this program's own files: root, state, configuration.
        exec_judgeable: True when test runners and build tools of the allow list count as routine.
    """

    workspaces: tuple[str, ...] = ()
    home: str = ""
    sensitive_read: tuple[str, ...] = ()
    sensitive_write: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    exec_judgeable: bool = True


@dataclass(frozen=True, slots=True)
class Location:
    """Where one request runs, in its surroundings: what a relative path or a `~` in it means.

    Attributes:
        cwd: Where it runs, absolute; empty when that is not known, and then nothing relative is inside anything.
        home: The requester's home, else the operator's.
        surroundings: As given.
        canonical: Operand as typed -> real path, where the requester supplied it.
    """

    cwd: str
    home: str
    surroundings: Surroundings
    canonical: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, facts: Facts, surroundings: Surroundings) -> Location:
        """Give the location in which a request runs."""
        return _location(facts.cwd, facts.home or surroundings.home, surroundings, facts.canonical_operands)

    def at(self, cwd: str) -> Location:
        """Give the location of a command behind a literal `cd`; an unknown one for `?` and for a directory too long."""
        if not cwd:
            return self
        if cwd == "?" or len(cwd) > DEEPEST:
            return replace(self, cwd="")
        return replace(self, cwd=resolve(cwd, cwd=self.cwd, home=self.home))

    def resolve(self, text: str) -> str:
        """Make a typed path absolute and lexically normal; empty when that cannot be known."""
        return "" if len(text) > LONGEST_PATH else resolve(text, cwd=self.cwd, home=self.home)

    def is_inside(self, path: str) -> bool:
        """Say whether an absolute path lies in a workspace, or is one."""
        return is_under(path, self.surroundings.workspaces)

    def read_marker(self, path: str) -> Marker | None:
        """Find what makes an absolute path sensitive to read. A workspace's own directory name proves nothing."""
        marker = sensitive_to_read(path)
        if marker is not None and marker.by_name:
            for root in self.surroundings.workspaces:
                base = root.rstrip("/")
                if path.startswith(base + "/"):
                    return sensitive_to_read(path[len(base) :])
        return marker

    @property
    def is_in_workspace(self) -> bool:
        """Say whether it runs in a workspace."""
        return is_under(self.cwd, self.surroundings.workspaces)


@lru_cache(maxsize=512)
def _location(cwd: str, home: str, surroundings: Surroundings, canonical: tuple[tuple[str, str], ...]) -> Location:
    return Location(
        cwd=normalised(cwd) if cwd.startswith("/") and len(cwd) <= LONGEST_PATH else "",
        home=home,
        surroundings=surroundings,
        canonical=canonical,
    )


@lru_cache(maxsize=4096)
def is_under(path: str, roots: tuple[str, ...]) -> bool:
    """Say whether an absolute, normal path is one of `roots` or lies below one. An empty path is nowhere."""
    if not path.startswith("/"):
        return False
    for root in roots:
        if not root.startswith("/"):
            continue
        base = normalised(root)
        if path == base or path.startswith(base.rstrip("/") + "/"):
            return True
    return False

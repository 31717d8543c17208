"""The door of this room: facts in, units out.

Lives here: `Breakdown` and `breakdown`. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fwdperm.rules.unit import Unit
    from fwdperm.shell.command import Line


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What one request breaks down into.

    Attributes:
        units: At least one. The strictest over all of them decides.
        line: The parsed command line, for the guard; None when the surface is not `bash`.
    """

    units: tuple[Unit, ...]
    line: Line | None = None

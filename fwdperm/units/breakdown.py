"""Where other rooms come in: facts in, units out.

Lives here: `Breakdown` and `break_down`. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwdperm.units.bash import bash_units
from fwdperm.units.plain import is_path, path_units, plain_units

if TYPE_CHECKING:
    from fwdperm.rules import Unit
    from fwdperm.shell import CommandLine
    from fwdperm.wire import Facts


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What one request breaks down into.

    Attributes:
        units: At least one. The strictest over all of them decides.
        line: The parsed command line, for the guard; None when the surface is not `bash`.
    """

    units: tuple[Unit, ...]
    line: CommandLine | None = None


def break_down(facts: Facts) -> Breakdown:
    """Break a request down into what must be permitted for it to be permitted.

    Args:
        facts: What the requester says is accessed.

    Returns:
        The units. Never raises; what cannot be understood is an opaque unit, and opaque units ask.
    """
    if not facts.value.strip() or not facts.surface.strip():
        return Breakdown(plain_units(facts))
    if facts.surface == "bash":
        units, line = bash_units(facts)
        return Breakdown(units, line)
    if is_path(facts):
        return Breakdown(path_units(facts))
    return Breakdown(plain_units(facts))

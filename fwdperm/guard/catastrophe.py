"""What is certain catastrophe, and what is only dangerous enough that a person must look.

Lives here: the one list, and `measured`. Never here: how a thing is recognised (`critical.py`, `flows.py`,
`outflow.py`, `markers.py`).

Critical means that nobody is asked. So it is kept for what no person in their right mind approves when asked: losing
the system or a home, a device, every process, a hand-over of the machine or of a secret, and this program's own
decisions. Code from the network, a dropped table or a deleted repository can be exactly what somebody wants; they are
asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Danger

if TYPE_CHECKING:
    from fwdperm.guard.classes import Assessment

FOR_A_PERSON: Final = frozenset({"teardown", "remote-delete", "drop-data", "remote-code", "bulk-upload"})
"""Recognised beside the catastrophes, and for a person to decide."""


def measured(found: Assessment) -> Assessment:
    """Give an assessment with the class that its entry has: dangerous for what a person may want."""
    name = found.id.removeprefix("critical.")
    if found.danger is Danger.CRITICAL and name in FOR_A_PERSON:
        return replace(found, danger=Danger.DANGEROUS, id=f"dangerous.{name}")
    return found

"""What happens when nobody could be asked.

Lives here: `hold` and `reject`, and when each takes hold. Pure. Never here: how interfaces are counted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never


class Unattended(StrEnum):
    """The operator's choice for a seat without any interface.

    `HOLD` waits until the request's deadline: a person may still come with `fwdperm allow`. `REJECT` denies at once,
    outcome unavailable: for runs that nobody will look at.
    """

    HOLD = "hold"
    REJECT = "reject"


def is_turned_away(unattended: Unattended, *, interfaces: int) -> bool:
    """Say whether a question has to be closed at once instead of put into the queue.

    Args:
        unattended: The operator's choice.
        interfaces: Interfaces attached now. Files that anyone may answer are not one: nobody is known to read them.

    Returns:
        True only under `REJECT` with no interface. The decision is then nobody's (unavailable), never a user's. The
        same goes for everything that waits when the last interface leaves.
    """
    match unattended:
        case Unattended.HOLD:
            return False
        case Unattended.REJECT:
            return interfaces <= 0
        case _:
            assert_never(unattended)

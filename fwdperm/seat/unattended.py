"""What happens when nobody could be asked.

Lives here: `hold` and `reject`. Pure. Never here: how interfaces are counted, closing a question (`serve/`).
"""

from __future__ import annotations

from enum import StrEnum


class Unattended(StrEnum):
    """The operator's choice for a seat without any interface.

    `HOLD` waits until the request's deadline: a person may still come with `fwdperm allow`. `REJECT` denies at once,
    outcome unavailable, never a user's: for runs that nobody will look at. What waits already when the last interface
    leaves, or when this becomes `REJECT`, is denied the same way. Files that anyone may answer are no interface: nobody
    is known to read them.
    """

    HOLD = "hold"
    REJECT = "reject"

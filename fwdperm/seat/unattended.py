"""What happens to questions while no interface is attached on which somebody could be asked.

Lives here: the two choices. Pure. Never here: how interfaces are counted, closing a question (`serve/`).
"""

from __future__ import annotations

from enum import StrEnum


class Unattended(StrEnum):
    """The operator's choice for a seat without any interface.

    With `HOLD` a question waits until the request's deadline: a person may still come with `fwdperm allow`. With
    `REJECT` it is denied at once, as unavailable and not as rejected by a user: for runs that nobody watches. Questions
    that wait already when the last interface leaves, or when this becomes `REJECT`, are denied in the same way. The
    prompt files do not count as an interface, because nobody is known to read them.
    """

    HOLD = "hold"
    REJECT = "reject"

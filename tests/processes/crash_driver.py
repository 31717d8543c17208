"""A daemon that kills itself with SIGKILL at one named point of the commit order."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

POINT = os.environ["CRASH_POINT"]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def around(owner: Any, name: str, *, before: str, after: str, when: Any = lambda *_: True) -> None:
    real = getattr(owner, name)

    def wrapped(self: Any, *args: Any, **more: Any) -> Any:
        hit = when(self, *args)
        if hit and before == POINT:
            die()
        result = real(self, *args, **more)
        if hit and after == POINT:
            die()
        return result

    setattr(owner, name, wrapped)


def main() -> None:
    from fwdperm.inbox.decision_record import DecisionRecord  # noqa: PLC0415 - as the others
    from fwdperm.inbox.tree import InboxTree  # noqa: PLC0415 - after the point is read
    from fwdperm.journal.log import Journal  # noqa: PLC0415 - as above

    def decides(journal: Any, *_: Any) -> bool:
        return any(b'"kind":"decided"' in pending.raw for pending in journal._waiting)

    around(Journal, "commit", before="before the record", after="after the record", when=decides)
    around(DecisionRecord, "decide", before="before the last word", after="after the last word")
    around(InboxTree, "respond", before="before publishing", after="after publishing")
    around(InboxTree, "remove_request", before="before removing", after="after removing")
    from fwdperm.__main__ import main as run  # noqa: PLC0415 - after the wrapping

    sys.exit(run())


if __name__ == "__main__":
    main()

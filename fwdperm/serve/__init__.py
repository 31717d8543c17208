"""The daemon: the one place that wires the rooms together.

`daemon.py`       the loop: it turns when the doorbell rings, and at least once a second
`parts.py`        what the daemon is made of, built in order and closed in reverse
`ownership.py`    who may serve a root
`lifecycle.py`    one request's way from its file to its published answer, without an event loop
`outbox.py`       the commit order that every answer keeps
`ledger.py`       what was ever decided
`fair_queue.py`   requests that wait for the next turn, so that no inbox holds up the others
`deadline.py`     how long a request still waits
`prompting.py`    a request that waits for a person -> the prompt they see
`pruning.py`      when the journal gives up its oldest lines
`interfaces.py`   the interfaces that people answer through
`judge_tasks.py`  questions to the judge, as tasks
`status.py`, `logs.py`  what the daemon tells about itself

Lives here: who is called when. Never here: matching, analysis, the wording of decisions.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.serve.daemon import serve
    from fwdperm.serve.in_force import Kind, differences, read_copy, set_by_hand
    from fwdperm.serve.ledger import Ledger
    from fwdperm.serve.lifecycle import Limits, RequestLifecycle
    from fwdperm.serve.logs import configure_logs
    from fwdperm.serve.ownership import sharing_remark
    from fwdperm.serve.parts import DaemonOptions, build_parts
    from fwdperm.serve.pruning import prune_unserved
    from fwdperm.serve.status import Status, read_status
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "daemon": ("serve",),
            "in_force": ("Kind", "differences", "read_copy", "set_by_hand"),
            "ledger": ("Ledger",),
            "lifecycle": ("Limits", "RequestLifecycle"),
            "logs": ("configure_logs",),
            "ownership": ("sharing_remark",),
            "parts": ("DaemonOptions", "build_parts"),
            "pruning": ("prune_unserved",),
            "status": ("Status", "read_status"),
        },
    )

__all__ = [
    "DaemonOptions",
    "Kind",
    "Ledger",
    "Limits",
    "RequestLifecycle",
    "Status",
    "build_parts",
    "configure_logs",
    "differences",
    "prune_unserved",
    "read_copy",
    "read_status",
    "serve",
    "set_by_hand",
    "sharing_remark",
]

"""The asking side: what a process runs that needs a permission.

`asking.py`         `ask` and its asynchronous twin
`question.py`       who asks, and what: two values that are made once
`request_bytes.py`  what the requester states about its own request, as the bytes of its file
`exchange.py`       one question's way through an inbox: publishing it, looking for the answer, removing both
`answer.py`         what the asker learns
`ask_command.py`    `fwdperm ask`
`pending_notes.py`  notes an agent can only be told after its tool ran

Lives here: what a process needs that starts anew for every question, so that its start must be quick: it imports only a
few modules of the standard library. Never here: deciding, an import of what only the daemon needs.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.client.answer import Answer
    from fwdperm.client.ask_command import run_ask
    from fwdperm.client.asking import ask, ask_async
    from fwdperm.client.exchange import put, put_async
    from fwdperm.client.pending_notes import leave_note, take_note
    from fwdperm.client.question import Question, Requester, new_request_id, working_directory
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "answer": ("Answer",),
            "ask_command": ("run_ask",),
            "asking": ("ask", "ask_async"),
            "exchange": ("put", "put_async"),
            "pending_notes": ("leave_note", "take_note"),
            "question": ("Question", "Requester", "new_request_id", "working_directory"),
        },
    )

__all__ = [
    "Answer",
    "Question",
    "Requester",
    "ask",
    "ask_async",
    "leave_note",
    "new_request_id",
    "put",
    "put_async",
    "run_ask",
    "take_note",
    "working_directory",
]

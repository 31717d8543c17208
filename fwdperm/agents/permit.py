"""Asking about one tool call from Python: the function that callbacks of agent frameworks can be built on.

Lives here: `permit`, `Permit`. Never here: a framework's own types (`claude_sdk.py`, `examples/`).

Fails closed: whatever goes wrong is a `Permit` that does not permit, with a short reason and never an exception's text.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fwdperm import settings
from fwdperm.agents.event import BadEvent
from fwdperm.agents.summary import shortened
from fwdperm.agents.tool_calls import accesses
from fwdperm.client import Question, Requester, new_request_id, put_async, working_directory
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.sessions import PARENT_VARIABLE, ROOT_SESSION, SESSION_VARIABLE, TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.client import Answer


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a tool call may run.

    Attributes:
        approved: True when everything that it accesses was approved. Nothing else permits it.
        reason: What to tell the model when it was not.
        note: What a person who approved wants the model to know; empty for none.
        request_id: For `fwdperm why`.
    """

    approved: bool
    reason: str
    note: str
    request_id: str


async def permit(  # noqa: PLR0913 - who asks, and where
    tool: str,
    tool_input: Mapping[str, Any],
    *,
    session: str,
    agent: str = "agent",
    parent: str | None = None,
    above: tuple[tuple[str, str], ...] = (),
    cwd: str | None = None,
    turn: str = "",
    wait_s: float = settings.WAIT_S,
    root: str | None = None,
) -> Permit:
    """Ask whether a tool call may run, and wait.

    Args:
        tool: The tool's name. Names that agents commonly use (`bash`, `read_file`, `web_fetch`, ...) are known for
            what they access; any other is a surface of its own with its whole input as value.
        tool_input: Its input.
        session: Who asks: one agent run.
        agent: What the agent is called.
        parent: The session whose inbox is asked; `$FWDPERM_SESSION` by default, else `$FWDPERM_PARENT`, else `root`.
        above: (session, agent name) between `session` and `parent`, the nearest first, for a subagent.
        cwd: Its working directory; this process's own by default.
        turn: Its turn.
        wait_s: Seconds to wait for everything together.
        root: The inbox tree; see `fwdperm.sessions.locations.find_root` for the default.

    Raises:
        CancelledError: As it came; the question is withdrawn first.
    """
    request_id = new_request_id()
    env = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
    top = parent or env.get(SESSION_VARIABLE) or env.get(PARENT_VARIABLE) or ROOT_SESSION
    chain = (*above, (top, ""))
    ends = time.monotonic() + wait_s
    notes: list[str] = []
    try:
        wanted = accesses(tool, tool_input, cwd=working_directory(cwd))
        requester = Requester(
            cwd=cwd, parent=chain[0][0], session=session, agent=agent, ancestors=chain, turn=turn, root=root, env=env
        )
        for number, access in enumerate(wanted):
            question = Question(
                access.surface,
                access.values,
                requester=requester,
                request_id=request_id if number == 0 else f"{request_id}.{number}",
                wait_s=max(ends - time.monotonic(), 0.001),
                message=access.message,
                floor=access.floor,
                tool=tool,
                tool_input=shortened(dict(tool_input)),
            )
            answer = await put_async(question)
            if not answer.approved:
                return Permit(approved=False, reason=_reason(answer), note="", request_id=answer.request_id)
            if answer.note:
                notes.append(answer.note)
    except (BadEvent, ChildError) as error:
        return _refused(f"fwdperm cannot ask about this call: {error}", request_id)
    except EnvironmentFailure:
        return _refused("fwdperm's inbox cannot be written to", request_id)
    except Exception as error:  # noqa: BLE001 - the seam: frameworks show an exception's text to the model
        return _refused(f"fwdperm failed on this call ({type(error).__name__})", request_id)
    return Permit(approved=True, reason="", note="\n".join(dict.fromkeys(notes)), request_id=request_id)


def _refused(reason: str, request_id: str) -> Permit:
    return Permit(approved=False, reason=f"{reason} (request {request_id})", note="", request_id=request_id)


def _reason(answer: Answer) -> str:
    match answer.outcome:
        case "denied":
            return answer.reason
        case "unserved":
            return f"nobody serves fwdperm's inbox, so nobody could permit this (request {answer.request_id})"
        case _:
            return f"nobody answered in time, so this was not permitted (request {answer.request_id})"

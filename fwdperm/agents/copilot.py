"""Copilot CLI's dialect: flat answers, fields in camel case.

Lives here: its events, their fields, the shapes of the answers. Pure. Never here: asking, files.
Standard library only.

When no answer comes in time, `permissionRequest` ends in a refusal if nobody is at the terminal; after `preToolUse` the
tool runs.
"""

from __future__ import annotations

from fwdperm.agents.event import AgentEvent, BadEvent, needed_text, text_of
from fwdperm.agents.summary import digest_of_input
from fwdperm.wire import JsonError, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

NAME: Final = "copilot"
ASKS: Final = frozenset({"permissionRequest", "preToolUse"})
NOTES: Final = frozenset({"postToolUse"})


def read(event: str, raw: Mapping[str, Any]) -> AgentEvent:
    """Read an event.

    Args:
        event: Its name, from the command line.
        raw: What the agent wrote.

    Raises:
        BadEvent: It lacks what every version had.
    """
    said = text_of(raw, "hookName") or text_of(raw, "hookEventName")
    if said and said != event:
        raise BadEvent(f"the event says it is `{said[:40]}`, the command line `{event[:40]}`")
    tool, tool_input = needed_text(raw, "toolName"), _input(raw)
    session, agent_id = needed_text(raw, "sessionId"), text_of(raw, "agentId")
    if agent_id and session == agent_id:  # in all events but the one that asks, `sessionId` is the subagent's id
        session = text_of(raw, "parentAgentId") or session
    return AgentEvent(
        session=session,
        agent_id=agent_id,
        agent=text_of(raw, "agentType") or text_of(raw, "agentName"),
        parent_id=text_of(raw, "parentAgentId"),
        cwd=text_of(raw, "cwd"),
        turn=text_of(raw, "turnId"),
        tool=tool,
        tool_input=tool_input,
        call=_call(tool, tool_input),
    )


def _input(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the tool's input, an object; in some events it is the JSON text of one."""
    found = raw.get("toolInput", raw.get("toolArgs"))
    if isinstance(found, str):
        try:
            found = read_json(found)
        except JsonError:
            raise BadEvent("the event's `toolArgs` are no JSON") from None
    if not isinstance(found, dict):
        raise BadEvent("the event has no `toolInput`")
    return found


def _call(tool: str, tool_input: Mapping[str, Any]) -> str:
    """Give what a call is recognised by in the event after its tool: a digest of its command, path or address.

    Tool name and the rest of the input differ between the two events.
    """
    for names in (("command",), ("path", "file_path"), ("url",)):
        for name in names:
            subject = text_of(tool_input, name)
            if subject:
                return digest_of_input(names[0], {names[0]: subject})
    return digest_of_input(tool, tool_input)


def allowed(event: str, *, note: str) -> dict[str, Any]:
    """Give the answer that permits the call; it has no field for the note."""
    del note
    return {"permissionDecision": "allow"} if event == "preToolUse" else {"behavior": "allow"}


def carries_note(event: str) -> bool:
    """Say whether the answer of `allowed` holds the note: never, for any event."""
    return not event


def denied(event: str, reason: str) -> dict[str, Any]:
    """Give the answer that denies the call; the model is told the reason. For an unknown event, in both forms."""
    before = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    flat = {"behavior": "deny", "message": reason}
    return {"permissionRequest": flat, "preToolUse": before}.get(event, flat | before)


def noted(event: str, note: str) -> dict[str, Any]:
    """Give the answer that tells the model a note."""
    del event
    return {"additionalContext": note}

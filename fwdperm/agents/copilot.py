"""Copilot CLI's dialect: flat answers, fields in camel case.

Lives here: its events, their fields, the shapes of the answers. Pure. Never here: asking, files.
Standard library only.

An unanswered `permissionRequest` is refused when nobody is at the terminal; a late `preToolUse` runs the tool.
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
    if agent_id and session == agent_id:  # all events but the asking one call a subagent's id its session
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
    """Give the tool's input: an object, in some events written down as text."""
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
    """Give what an asking event and the one after the tool have in common: not the tool's name, nor all its input."""
    for names in (("command",), ("path", "file_path"), ("url",)):
        for name in names:
            subject = text_of(tool_input, name)
            if subject:
                return digest_of_input(names[0], {names[0]: subject})
    return digest_of_input(tool, tool_input)


def allowed(event: str, *, note: str) -> dict[str, Any]:
    """Say yes; a note goes along in no event that asks."""
    del note
    return {"permissionDecision": "allow"} if event == "preToolUse" else {"behavior": "allow"}


def carries_note(event: str) -> bool:
    """Say whether `allowed` hands a note over itself."""
    return not event


def denied(event: str, reason: str) -> dict[str, Any]:
    """Say no; the reason reaches the model. An event that is not known is told no in both ways there are."""
    before = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    flat = {"behavior": "deny", "message": reason}
    return {"permissionRequest": flat, "preToolUse": before}.get(event, flat | before)


def noted(event: str, note: str) -> dict[str, Any]:
    """Hand a note over to the model."""
    del event
    return {"additionalContext": note}

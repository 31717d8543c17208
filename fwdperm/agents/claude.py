"""Claude Code's dialect, and that of programs with the same hooks: its events and the answers it expects.

Lives here: which events ask and in which a note is handed over, their fields, the form of the answers. Pure. Never
here: asking, files. Standard library only.

`PermissionRequest` holds no tool-use id, so a call is recognised in `PostToolUse` by a digest of its input.
"""

from __future__ import annotations

from fwdperm.agents.event import AgentEvent, BadEvent, needed_object, needed_text, text_of
from fwdperm.agents.summary import digest_of_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

NAME: Final = "claude"
ASKS: Final = frozenset({"PermissionRequest", "PreToolUse"})
"""Events that are answered with a decision."""
NOTES: Final = frozenset({"PostToolUse"})
"""Events in which a note on an approval is handed over."""


def read(event: str, raw: Mapping[str, Any]) -> AgentEvent:
    """Read an event.

    Args:
        event: Its name, from the command line.
        raw: What the agent wrote.

    Raises:
        BadEvent: It is of another kind, or lacks what every version had.
    """
    said = text_of(raw, "hook_event_name")
    if said and said != event:
        raise BadEvent(f"the event says it is `{said[:40]}`, the command line `{event[:40]}`")
    tool, tool_input = needed_text(raw, "tool_name"), needed_object(raw, "tool_input")
    return AgentEvent(
        session=needed_text(raw, "session_id"),
        agent_id=text_of(raw, "agent_id"),
        agent=text_of(raw, "agent_type"),
        transcript=text_of(raw, "transcript_path"),
        cwd=text_of(raw, "cwd"),
        turn=text_of(raw, "prompt_id") or text_of(raw, "turn_id"),
        tool=tool,
        tool_input=tool_input,
        call=digest_of_input(tool, tool_input),
    )


def allowed(event: str, *, note: str) -> dict[str, Any]:
    """Give the answer that permits the call; with the note, if this event's answer has a field for one."""
    if event == "PreToolUse":
        body = {"hookEventName": event, "permissionDecision": "allow"}
        return {"hookSpecificOutput": body | ({"additionalContext": note} if note else {})}
    return {"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": "allow"}}}


def carries_note(event: str) -> bool:
    """Say whether the answer of `allowed` holds the note, so that it need not be kept for later."""
    return event == "PreToolUse"


def denied(event: str, reason: str) -> dict[str, Any]:
    """Give the answer that denies the call; the model is told the reason.

    For an unknown event, it holds the denial in every form that some event expects.
    """
    if event == "PreToolUse":
        said = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": said}
    refusal = {"hookSpecificOutput": {"hookEventName": event, "decision": {"behavior": "deny", "message": reason}}}
    return refusal if event in ASKS else {"decision": "block", "reason": reason, **refusal}


def noted(event: str, note: str) -> dict[str, Any]:
    """Give the answer that tells the model a note."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": note}}

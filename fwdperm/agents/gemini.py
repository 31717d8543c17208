"""Gemini CLI's dialect: one event before each tool, answered with a decision.

Lives here: its events, their fields, the shapes of the answers. Pure. Never here: asking, files.
Standard library only.

It runs the tool when its hook fails or is late, and its events do not tell subagents apart.
"""

from __future__ import annotations

from fwdperm.agents import claude

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from fwdperm.agents.event import AgentEvent

NAME: Final = "gemini"
ASKS: Final = frozenset({"BeforeTool"})
NOTES: Final = frozenset({"AfterTool"})


def read(event: str, raw: Mapping[str, Any]) -> AgentEvent:
    """Read an event; see `claude.read`."""
    return claude.read(event, raw)


def allowed(event: str, *, note: str) -> dict[str, Any]:
    """Give the answer that permits the call; it has no field for the note."""
    del event, note
    return {"decision": "allow"}


def carries_note(event: str) -> bool:
    """Say whether the answer of `allowed` holds the note: never, for any event."""
    return not event


def denied(event: str, reason: str) -> dict[str, Any]:
    """Give the answer that denies the call; the model is told the reason."""
    del event
    return {"decision": "deny", "reason": reason}


def noted(event: str, note: str) -> dict[str, Any]:
    """Give the answer that tells the model a note."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": note}}

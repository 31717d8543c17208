"""What an agent's event says, once it is read: the values that a dialect gives the hook process.

Lives here: `Access`, `AgentEvent`, `BadEvent`. Pure. Never here: an agent's own field names. Standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class BadEvent(Exception):  # noqa: N818 - named for what it says of the event
    """An event cannot be used; the message is a short reason the agent may be told. Fails closed: a denial."""


class Access:
    """One thing a tool call accesses.

    Attributes:
        surface: What kind of thing.
        values: Spellings of it, the first as typed.
        message: What else a person should see: the size and beginning of what is written, a command's description.
        floor: Why this can be no more than asked about, in words; empty when everything about it is known.
    """

    __slots__ = ("floor", "message", "surface", "values")

    def __init__(self, surface: str, values: Sequence[str], *, message: str = "", floor: str = "") -> None:
        self.surface = surface
        self.values = tuple(values)
        self.message = message
        self.floor = floor

    def __repr__(self) -> str:
        return f"Access({self.surface!r}, {self.values!r})"


class AgentEvent:
    """One event of an agent.

    Attributes:
        session: The agent's own session id; the root agent's for a whole tree, where the agent says so.
        agent_id: The subagent's id; empty for the root agent.
        agent: The agent's name or type; empty when it did not say.
        parent_id: The id of the subagent that started this one; empty when it did not say.
        transcript: Where the agent keeps its records; empty when it did not say.
        cwd: Its working directory.
        turn: Its turn.
        tool: The tool's name.
        tool_input: The tool's input.
        call: What this call is recognised by in later events: its id, or a digest of its input.
    """

    __slots__ = ("agent", "agent_id", "call", "cwd", "parent_id", "session", "tool", "tool_input", "transcript", "turn")

    def __init__(  # noqa: PLR0913 - a value's fields
        self,
        *,
        session: str,
        tool: str,
        tool_input: Mapping[str, Any],
        call: str,
        agent_id: str = "",
        agent: str = "",
        parent_id: str = "",
        transcript: str = "",
        cwd: str = "",
        turn: str = "",
    ) -> None:
        self.session = session
        self.tool = tool
        self.tool_input = tool_input
        self.call = call
        self.agent_id = agent_id
        self.agent = agent
        self.parent_id = parent_id
        self.transcript = transcript
        self.cwd = cwd
        self.turn = turn


def text_of(raw: Mapping[str, Any], name: str) -> str:
    """Give a field's text, or nothing when it is missing or no text."""
    found = raw.get(name)
    return found if isinstance(found, str) else ""


def needed_text(raw: Mapping[str, Any], name: str) -> str:
    """Give a field's text.

    Raises:
        BadEvent: It is missing, empty or no text.
    """
    found = raw.get(name)
    if not isinstance(found, str) or not found.strip():
        raise BadEvent(f"the event has no `{name}`")
    return found


def needed_object(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Give a field that is an object.

    Raises:
        BadEvent: It is missing or no object.
    """
    found = raw.get(name)
    if not isinstance(found, dict):
        raise BadEvent(f"the event has no `{name}`")
    return found

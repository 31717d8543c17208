"""Codex's dialect: that of Claude Code, with a few differences.

Lives here: what differs. Pure. Never here: asking, files, the trust entry (`cli/agents.py`). Standard library only.
"""

from __future__ import annotations

from fwdperm.agents import claude
from fwdperm.agents.claude import allowed, carries_note, denied, noted
from fwdperm.agents.summary import digest_of_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from fwdperm.agents.event import AgentEvent

__all__ = ["ASKS", "NAME", "NOTES", "allowed", "carries_note", "denied", "noted", "read"]

NAME: Final = "codex"
ASKS: Final = frozenset({"PermissionRequest"})
NOTES: Final = frozenset({"PreToolUse", "PostToolUse"})


def read(event: str, raw: Mapping[str, Any]) -> AgentEvent:
    """Read an event; see `claude.read`.

    The event that asks also holds the model's justification, as `description`. Later events of the call do not, so it
    is no part of what the call is recognised by.
    """
    found = claude.read(event, raw)
    lasting = {name: value for name, value in found.tool_input.items() if name != "description"}
    found.call = digest_of_input(found.tool, lasting)
    return found

"""Codex's dialect: the shapes of Claude Code's hooks, with differences of its own.

Lives here: what differs. Pure. Never here: asking, files, the trust entry (`cli/agents.py`). Standard library only.
"""

from __future__ import annotations

from fwdperm.agents import claude
from fwdperm.agents.claude import allowed, carries_note, denied, noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from fwdperm.agents.event import Event

__all__ = ["ASKS", "NAME", "NOTES", "allowed", "carries_note", "denied", "noted", "read"]

NAME: Final = "codex"
ASKS: Final = frozenset({"PermissionRequest"})
NOTES: Final = frozenset({"PreToolUse", "PostToolUse"})


def read(event: str, raw: Mapping[str, Any]) -> Event:
    """Read an event; see `claude.read`."""
    return claude.read(event, raw)

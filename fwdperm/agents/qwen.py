"""Qwen Code's dialect: the shapes of Claude Code's hooks, before each tool.

Lives here: what differs. Pure. Never here: asking, files. Standard library only.

Its hooks run under `--yolo` only, where nothing else asks.
"""

from __future__ import annotations

from fwdperm.agents.claude import allowed, carries_note, denied, noted, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

__all__ = ["ASKS", "NAME", "NOTES", "allowed", "carries_note", "denied", "noted", "read"]

NAME: Final = "qwen"
ASKS: Final = frozenset({"PreToolUse", "PermissionRequest"})
NOTES: Final = frozenset({"PostToolUse"})

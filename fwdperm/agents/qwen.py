"""Qwen Code's dialect: that of Claude Code, and it asks before each tool.

Lives here: what differs. Pure. Never here: asking, files. Standard library only.

It runs hooks only under `--yolo`, and then it asks nobody itself.
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

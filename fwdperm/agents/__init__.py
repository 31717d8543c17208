"""One small mapping per agent, and the process that agents start for every question.

Lives here: `tool_calls.py` (an agent's tool call as what it accesses), one dialect per agent (`claude.py`, `codex.py`,
`copilot.py`, ...: its event in, its words out), `hook.py` (the process), `opencode*.py` (the bridge to a running
server), `claude_sdk.py` (a callback for Python), `importing/` (other permission settings as our rules).
Never here: a decision. What cannot be understood is denied, in the form that the agent expects.

`hook.py` and what it loads import little of the standard library and nothing else: a process starts for each tool call.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.agents.hook import AGENT_TIMEOUT_S, LAST_S, run_hook
    from fwdperm.agents.importing import import_settings
    from fwdperm.agents.installing import (
        HOOK_EVENTS,
        find_hooks,
        hook_command_line,
        is_our_hook,
        is_written,
        named_root,
        put_hooks,
        take_hooks,
        trust_hooks,
    )
    from fwdperm.agents.opencode_bridge import bridge_opencode
    from fwdperm.agents.probing import codex_hooks, is_trusted, try_hook, version_of
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "hook": ("AGENT_TIMEOUT_S", "LAST_S", "run_hook"),
            "importing": ("import_settings",),
            "installing": (
                "HOOK_EVENTS",
                "find_hooks",
                "hook_command_line",
                "is_our_hook",
                "is_written",
                "named_root",
                "put_hooks",
                "take_hooks",
                "trust_hooks",
            ),
            "opencode_bridge": ("bridge_opencode",),
            "probing": ("codex_hooks", "is_trusted", "try_hook", "version_of"),
        },
    )

__all__ = [
    "AGENT_TIMEOUT_S",
    "HOOK_EVENTS",
    "LAST_S",
    "bridge_opencode",
    "codex_hooks",
    "find_hooks",
    "hook_command_line",
    "import_settings",
    "is_our_hook",
    "is_trusted",
    "is_written",
    "named_root",
    "put_hooks",
    "run_hook",
    "take_hooks",
    "trust_hooks",
    "try_hook",
    "version_of",
]

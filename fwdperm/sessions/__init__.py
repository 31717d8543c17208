"""Sessions, the nodes of the tree: where their things are, who is whose parent, and how a child is started.

`locations.py`        the root, the state, the configuration, and the variables that tell a child
`registry.py`         what is on record of sessions that `fwdperm run` started
`session_ruleset.py`  a session's own ruleset
`session_tree.py`     who is whose parent, and what of it is known rather than claimed
`launch.py`           `fwdperm run`

Lives here: what is known of a session, whoever asks. Never here: what a session may do.

`locations.py` is loaded by a process that agents start for every tool call, so it imports the standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.sessions.launch import run_child
    from fwdperm.sessions.locations import (
        AGENT_VARIABLE,
        NO_AGENT,
        PARENT_VARIABLE,
        ROOT_SESSION,
        SESSION_VARIABLE,
        TOKEN_VARIABLE,
        fast_command,
        find_config,
        find_root,
        find_state,
        is_own_choice,
    )
    from fwdperm.sessions.registry import RecordedSession, read_sessions
    from fwdperm.sessions.session_ruleset import read_session_ruleset
    from fwdperm.sessions.session_tree import ChainMember, SessionTree
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "launch": ("run_child",),
            "locations": (
                "AGENT_VARIABLE",
                "NO_AGENT",
                "PARENT_VARIABLE",
                "ROOT_SESSION",
                "SESSION_VARIABLE",
                "TOKEN_VARIABLE",
                "fast_command",
                "find_config",
                "find_root",
                "find_state",
                "is_own_choice",
            ),
            "registry": ("RecordedSession", "read_sessions"),
            "session_ruleset": ("read_session_ruleset",),
            "session_tree": ("ChainMember", "SessionTree"),
        },
    )

__all__ = [
    "AGENT_VARIABLE",
    "NO_AGENT",
    "PARENT_VARIABLE",
    "ROOT_SESSION",
    "SESSION_VARIABLE",
    "TOKEN_VARIABLE",
    "ChainMember",
    "RecordedSession",
    "SessionTree",
    "fast_command",
    "find_config",
    "find_root",
    "find_state",
    "is_own_choice",
    "read_session_ruleset",
    "read_sessions",
    "run_child",
]

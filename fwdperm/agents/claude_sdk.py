"""For the Claude Agent SDK: a `can_use_tool` that asks fwdperm, and the hook that hands notes over.

Lives here: `permission_callback`. Never here: asking itself (`permit.py`). The SDK is imported when a callback is made.

    asked = permission_callback(session="build-7", agent="builder", cwd=here)
    options = ClaudeAgentOptions(can_use_tool=asked, hooks=asked.hooks(), cwd=here)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from fwdperm import settings
from fwdperm.agents.permit import permit
from fwdperm.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEPT: Final = 1_000
"""Notes that wait for their tool to end; the oldest is forgotten."""


class PermissionCallback:
    """A `can_use_tool` for one agent run and its subagents. Without `hooks()`, too, notes on approvals are lost."""

    def __init__(  # noqa: PLR0913 - `permission_callback`'s arguments
        self,
        sdk: Any,
        *,
        session: str,
        agent: str,
        parent: str | None,
        cwd: str | None,
        root: str | None,
        wait_s: float,
    ) -> None:
        self._sdk = sdk
        self._session = session
        self._agent = agent
        self._parent = parent
        self._cwd = cwd
        self._root = root
        self._wait_s = wait_s
        self._notes: dict[str, str] = {}

    async def __call__(self, tool: str, tool_input: Mapping[str, Any], context: Any) -> Any:
        """Decide one call.

        Returns:
            `PermissionResultAllow` or `PermissionResultDeny`. Raises nothing but CancelledError.
        """
        agent_id = getattr(context, "agent_id", None)
        is_sub = isinstance(agent_id, str) and bool(agent_id)
        decided = await permit(
            tool,
            tool_input,
            session=f"{self._session}/{agent_id}" if is_sub else self._session,
            agent="subagent" if is_sub else self._agent,
            parent=self._parent,
            above=((self._session, self._agent),) if is_sub else (),
            cwd=self._cwd,
            root=self._root,
            wait_s=self._wait_s,
        )
        if not decided.approved:
            return self._sdk.PermissionResultDeny(message=decided.reason)
        call = getattr(context, "tool_use_id", None)
        if decided.note and isinstance(call, str):
            while len(self._notes) >= _KEPT:
                del self._notes[next(iter(self._notes))]
            self._notes[call] = decided.note
        return self._sdk.PermissionResultAllow()

    async def after_tool(self, said: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Tell the model the note on an approval, after the tool ran; a hook for `PostToolUse`."""
        del said, context
        note = self._notes.pop(tool_use_id or "", "")
        if not note:
            return {}
        told = f"User approved this tool call with feedback: {note}"
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": told}}

    def hooks(self) -> dict[str, list[Any]]:
        """Give the hooks to pass to the SDK's options."""
        return {"PostToolUse": [self._sdk.HookMatcher(hooks=[self.after_tool])]}


def permission_callback(  # noqa: PLR0913 - who asks, and where
    *,
    session: str,
    agent: str = "claude",
    parent: str | None = None,
    cwd: str | None = None,
    root: str | None = None,
    wait_s: float = settings.WAIT_S,
) -> PermissionCallback:
    """Make a `can_use_tool`.

    Args:
        session: The agent run's id in the tree; a subagent is `session/its id`, below it.
        agent: What the root agent is called.
        parent: The session whose inbox the root agent asks; see `permit`.
        cwd: The agent's working directory, the one its options name.
        root: The inbox tree.
        wait_s: Seconds a call waits for its answer.

    Raises:
        OperatorError: `claude-agent-sdk` is not installed.
    """
    try:
        sdk = import_module("claude_agent_sdk")
    except ImportError:
        raise OperatorError("the Claude Agent SDK is not installed", remedy="pip install claude-agent-sdk") from None
    return PermissionCallback(sdk, session=session, agent=agent, parent=parent, cwd=cwd, root=root, wait_s=wait_s)

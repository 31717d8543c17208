"""Whose child an agent is that asks: its ancestors in the tree, as far as the agent's side can see them.

Lives here: `position_of`. It reads files: the agent's own records of nested subagents and, where an agent was started
by another agent's shell tool, the environment of that other agent's process. Never here: what this is worth (to the
daemon it is a claim). Standard library only.


A subagent is a session of its own: `<session of its root agent>/<its id>`. It asks in the inbox of the agent that
started it. Fails closed: what cannot be read shortens the chain that is shown, and permits nothing.
"""

from __future__ import annotations

import os

from fwdperm.agents.event import text_of
from fwdperm.sessions import AGENT_VARIABLE, PARENT_VARIABLE, ROOT_SESSION, SESSION_VARIABLE
from fwdperm.wire import JsonError, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    from fwdperm.agents.event import AgentEvent

DEPTH: Final = 16
"""Levels of nested subagents, and of nested programs, that are followed."""
_BYTES: Final = 1 << 18
_ID: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_STARTED_WITH: Final = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", SESSION_VARIABLE)

_CLAUDE: Final = "claude"
"""The agent in whose hooks `CLAUDE_PID` and `CLAUDE_CODE_SESSION_ID` name the agent itself. Other agents do not set
them: in their hooks they name the Claude Code whose shell tool started the agent."""


class TreePosition:
    """Where an agent stands in the tree.

    Attributes:
        session: Its session.
        agent: Its name.
        inbox: The session whose inbox it asks.
        ancestors: (session, agent name) from the inbox's session upwards.
        is_launched: True when it is the very session that `fwdperm run` started, and so may use its token.
    """

    __slots__ = ("agent", "ancestors", "inbox", "is_launched", "session")

    def __init__(
        self, session: str, *, agent: str, inbox: str, ancestors: tuple[tuple[str, str], ...], is_launched: bool
    ) -> None:
        self.session = session
        self.agent = agent
        self.inbox = inbox
        self.ancestors = ancestors
        self.is_launched = is_launched


def position_of(
    event: AgentEvent,
    env: Mapping[str, str],
    *,
    name: str,
    started_with: Callable[[str], Mapping[str, str]] | None = None,
) -> TreePosition:
    """Say where the agent of an event stands.

    Args:
        event: What the agent said.
        env: The environment of the process it started for the event.
        name: What the agent's program is called, for its root agent.
        started_with: Gives the variables a process was started with, by its id; read from `/proc` by default.
    """
    launched = env.get(SESSION_VARIABLE, "")
    top = (env.get(PARENT_VARIABLE) or ROOT_SESSION, "")
    look = started_with or _started_with
    around = _programs_around(look(env.get("CLAUDE_PID", "")) if name == _CLAUDE else env, look)
    above: tuple[tuple[str, str], ...] = (top,)
    if around:
        outermost = launched or around[-1]
        above = (*((session, _CLAUDE) for session in around[:-1]), (outermost, _CLAUDE), top)
    main = event.session if around else launched or event.session
    agent = (env.get(AGENT_VARIABLE) if main == launched else "") or name
    if not event.agent_id:
        return TreePosition(main, agent=agent, inbox=above[0][0], ancestors=above, is_launched=main == launched)
    line = tuple((f"{main}/{one}", kind) for one, kind in _agents_around(event))
    above = (*line, (main, agent), *above)
    own = f"{main}/{event.agent_id}"
    return TreePosition(own, agent=event.agent or agent, inbox=above[0][0], ancestors=above, is_launched=False)


def _agents_around(event: AgentEvent) -> list[tuple[str, str]]:
    """Give (id, type) of the subagents between this one and the root agent, the nearest first."""
    if event.parent_id:  # the event names the parent: a subagent, or the root agent, whose id is the session's
        return [] if event.parent_id == event.session else [(event.parent_id, "")]
    folder = _records(event)
    found: list[tuple[str, str]] = []
    one = event.agent_id
    while folder and len(found) < DEPTH:
        parent = text_of(_read_record(folder, one), "parentAgentId")
        if not parent or not _ID.issuperset(parent) or parent in (event.agent_id, *(each for each, _ in found)):
            break
        found.append((parent, text_of(_read_record(folder, parent), "agentType")))
        one = parent
    return found


def _records(event: AgentEvent) -> str:
    """Give the directory of the agent's own records of its subagents; nothing when it did not say where."""
    directory = event.transcript.rpartition("/")[0]
    if not directory.startswith("/") or not _ID.issuperset(event.session) or not _ID.issuperset(event.agent_id):
        return ""
    return f"{directory}/{event.session}/subagents"


def _read_record(folder: str, agent_id: str) -> Mapping[str, Any]:
    try:
        found = read_json(_read(f"{folder}/agent-{agent_id}.meta.json").decode())
    except (OSError, JsonError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _programs_around(start: Mapping[str, str], started_with: Callable[[str], Mapping[str, str]]) -> tuple[str, ...]:
    """Give the sessions of the Claude Code processes around an agent: each started the next by its shell tool.

    The nearest comes first. Claude Code gives its children its session and process id in variables. The search ends at
    a program that `fwdperm run` started, which got its parent from there.

    Args:
        start: The environment that the agent's program was started with.
        started_with: Gives the environment that a process was started with, by its id.
    """
    found: list[str] = []
    while len(found) < DEPTH:
        session, outer = start.get("CLAUDE_CODE_SESSION_ID", ""), start.get("CLAUDE_PID", "")
        if not session or session in found:
            break
        if start.get(SESSION_VARIABLE, "") != started_with(outer).get(SESSION_VARIABLE, ""):
            break
        found.append(session)
        start = started_with(outer)
    return tuple(found)


def _started_with(process: str) -> Mapping[str, str]:
    """Give those of `_STARTED_WITH` that a process was started with; none where that cannot be read."""
    if not process.isdecimal():
        return {}
    try:
        content = _read(f"/proc/{process}/environ")
    except OSError:
        return {}
    pairs = (part.partition(b"=") for part in content.split(b"\0"))
    said = {name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs}
    return {name: said[name] for name in _STARTED_WITH if name in said}


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = b""
        while len(content) < _BYTES and (more := os.read(descriptor, _BYTES)):
            content += more
        return content
    finally:
        os.close(descriptor)

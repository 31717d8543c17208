"""The asking side: leave a request in the parent's inbox, wait for its answer, take it away.

Lives here: `ask` and `ask_async` (and `Answer`, from `answer.py`). Never here: anything outside the standard library,
nor much of it (no json, re, pathlib, typing, asyncio at import): a process starts for every question.

Requests go into the PARENT's inbox: a process of session C, child of P, writes to `sessions/P/requests/`. Without a
parent it is the inbox `root`.

Fails closed everywhere: an answer that is late, unreadable, not ours or not plainly an approval is no approval.
"""

from __future__ import annotations

import os
import time

from fwdperm import settings
from fwdperm.client.answer import Answer
from fwdperm.client.exchange import Exchange
from fwdperm.client.question import state_question, working_directory
from fwdperm.sessions import (
    AGENT_VARIABLE,
    NO_AGENT,
    PARENT_VARIABLE,
    ROOT_SESSION,
    SESSION_VARIABLE,
    TOKEN_VARIABLE,
    find_root,
    is_own_choice,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict, Unpack

    class AskOptions(TypedDict, total=False):
        """What may be said beside surface and value; `ask` explains each."""

        values: Sequence[str]
        cwd: str | None
        parent: str | None
        session: str | None
        agent: str | None
        wait_s: float | None
        root: str | None
        turn: str
        tool: str
        tool_input: Mapping[str, Any] | None
        message: str
        suggest: Sequence[str]
        request_id: str | None
        ancestors: Sequence[tuple[str, str]]
        floor: str
        env: Mapping[str, str] | None


__all__ = ["Answer", "ask", "ask_async", "new_request_id"]

_STARTED_NS = time.time_ns()


def ask(surface: str, value: str, **options: Unpack[AskOptions]) -> Answer:
    """Ask for one permission and wait for the answer.

    Args:
        surface: What kind of thing is accessed: `bash`, `read`, `write`, a tool's name, ...
        value: The thing itself as typed: a command line, a path, ...
        options: The keywords below, each optional.
        values: Further spellings of the same thing.
        cwd: The working directory it is meant in; this process's own by default.
        parent: The session whose inbox is asked; `$FWDPERM_PARENT` by default, else `root`.
        session: This requester's own session; `$FWDPERM_SESSION` by default, else one made for
            this process alone.
        agent: Its agent name; `$FWDPERM_AGENT` by default, else `agent`.
        wait_s: Seconds to wait; 600 by default, a day at most.
        root: The inbox tree; see `fwdperm.sessions.locations.find_root` for the default.
        turn: The requester's turn, for session rules that live for one.
        tool: The tool's name, for people and the judge.
        tool_input: The tool's input, for people and the judge.
        message: The requester's own words; made from surface and value by default.
        suggest: Patterns to suggest for an *always*.
        request_id: An id to use instead of a random one. An id can be asked once.
        ancestors: (session, agent name) from the parent upwards, for the chain that people are shown.
        floor: Why a person must look, in words; empty when the facts show everything.
        env: The environment to read instead of this process's.

    Returns:
        The answer. Only its `approved` permits; `expired` and `unserved` are answers too.

    Raises:
        ChildError: The question cannot be asked (too long, no UTF-8, an impossible session id).
        EnvironmentFailure: The inbox cannot be written to.
        KeyboardInterrupt: As it came; the request is withdrawn first, as on any other exception.

    Fails closed: nothing but a readable response to exactly this request, saying approved, is an approval.
    """
    with _exchange(surface, value, **options) as exchange:
        while (answer := exchange.look()) is None:
            time.sleep(exchange.pause_s())
        return answer


async def ask_async(surface: str, value: str, **options: Unpack[AskOptions]) -> Answer:
    """Ask as `ask` does, without holding up the event loop while waiting.

    Args:
        surface: As in `ask`.
        value: As in `ask`.
        options: As in `ask`.

    Raises:
        CancelledError: As it came; the request is withdrawn first.
        ChildError: As in `ask`.
        EnvironmentFailure: As in `ask`.
    """
    from asyncio import sleep  # noqa: PLC0415 - it costs four times the interpreter's start

    with _exchange(surface, value, **options) as exchange:
        while (answer := exchange.look()) is None:  # noqa: ASYNC110 - another process answers, by a file
            await sleep(exchange.pause_s())
        return answer


def _own_name() -> str:
    """Name a requester that has no session: process ids come round again, and grants hang on a requester's name."""
    return f"process-{os.getpid()}-{_STARTED_NS // 1_000_000:x}"


def new_request_id() -> str:
    """Return an id nobody else has: `fp-<epoch milliseconds>-<64 random bits>`."""
    return f"fp-{time.time_ns() // 1_000_000}-{os.urandom(8).hex()}"


def _exchange(  # noqa: PLR0913 - `ask`'s arguments
    surface: str,
    value: str,
    *,
    values: Sequence[str] = (),
    cwd: str | None = None,
    parent: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    wait_s: float | None = None,
    root: str | None = None,
    turn: str = "",
    tool: str = "",
    tool_input: Mapping[str, Any] | None = None,
    message: str = "",
    suggest: Sequence[str] = (),
    request_id: str | None = None,
    ancestors: Sequence[tuple[str, str]] = (),
    floor: str = "",
    env: Mapping[str, str] | None = None,
) -> Exchange:
    env = os.environ if env is None else env
    question = state_question(
        surface,
        (value, *values),
        request_id=request_id or new_request_id(),
        now_ms=time.time_ns() // 1_000_000,
        cwd=working_directory(cwd),
        inbox=parent or env.get(PARENT_VARIABLE) or ROOT_SESSION,
        session=session or env.get(SESSION_VARIABLE) or _own_name(),
        agent=agent or env.get(AGENT_VARIABLE) or NO_AGENT,
        wait_s=settings.WAIT_S if wait_s is None else wait_s,
        home=env.get("HOME", ""),
        token=env.get(TOKEN_VARIABLE, ""),
        turn=turn,
        tool=tool,
        tool_input=tool_input,
        message=message,
        suggest=suggest,
        ancestors=ancestors,
        floor=floor,
    )
    return Exchange(question, root=find_root(env, explicit=root), trusted=is_own_choice(env, explicit=root))

"""Asking from Python: leave a request in the parent's inbox, wait for its answer, remove both.

Lives here: `ask` and `ask_async`, which take everything about a question as keywords. Never here: the exchange itself
(`exchange.py`), anything outside the standard library.

Requests go into the PARENT's inbox: a process of session C, child of P, writes to `sessions/P/requests/`. Without a
parent it is the inbox `root`.

Fails closed everywhere: an answer that is late, unreadable, not ours or not plainly an approval is no approval.
"""

from __future__ import annotations

from fwdperm.client.exchange import put, put_async
from fwdperm.client.question import Question, Requester

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict, Unpack

    from fwdperm.client.answer import Answer

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
    return put(_question(surface, value, **options))


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
    return await put_async(_question(surface, value, **options))


def _question(  # noqa: PLR0913 - the keywords of `ask`, sorted into who asks and what is asked
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
) -> Question:
    return Question(
        surface,
        (value, *values),
        requester=Requester(
            cwd=cwd, parent=parent, session=session, agent=agent, ancestors=ancestors, turn=turn, root=root, env=env
        ),
        request_id=request_id,
        wait_s=wait_s,
        message=message,
        floor=floor,
        tool=tool,
        tool_input=tool_input,
        suggest=suggest,
    )

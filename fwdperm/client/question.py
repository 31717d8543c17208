"""What is asked, and by whom: two values that are made once and never changed.

Lives here: `Requester`, `Question`, and the defaults of what the caller leaves out. Never here: the request file's
fields (`request_bytes.py`), publishing, waiting. Standard library only.
"""

from __future__ import annotations

import os
import time
from os.path import abspath

from fwdperm import settings
from fwdperm.client.request_bytes import encode_request
from fwdperm.errors import ChildError
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
    from typing import Any

_STARTED_NS = time.time_ns()


class _Fixed:
    """A value that cannot be changed. Not a frozen dataclass, because `dataclasses` is slow to import."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a question is fixed once asked: `{name}`")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a question is fixed once asked: `{name}`")


class Requester(_Fixed):
    """Who asks, where it stands in the tree, and which tree that is; immutable.

    Attributes:
        cwd: Its working directory, absolute.
        inbox: The session whose inbox it asks.
        session: Its own session.
        agent: Its agent name.
        ancestors: (session, agent name) from its inbox's session upwards, as far as it knows.
        turn: Its turn; empty for none.
        home: Its home directory; empty when unknown.
        token: Its session's secret; empty for none, and then there is no proof.
        root: The inbox tree, absolute.
        is_root_named: Whether a person named the tree; a default one that another user owns is refused.
    """

    __slots__ = ("agent", "ancestors", "cwd", "home", "inbox", "is_root_named", "root", "session", "token", "turn")

    cwd: str
    inbox: str
    session: str
    agent: str
    ancestors: Sequence[tuple[str, str]]
    turn: str
    home: str
    token: str
    root: str
    is_root_named: bool

    def __init__(  # noqa: PLR0913 - a value's fields
        self,
        *,
        cwd: str | None = None,
        parent: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        ancestors: Sequence[tuple[str, str]] = (),
        turn: str = "",
        root: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Take what the caller knows; the rest comes from the environment, as `ask` says.

        Raises:
            ChildError: No working directory is named, and the process's own is gone.
            EnvironmentFailure: No inbox tree is named, and no directory of the user is known.
        """
        env = os.environ if env is None else env
        fix = object.__setattr__
        fix(self, "cwd", working_directory(cwd))
        fix(self, "inbox", parent or env.get(PARENT_VARIABLE) or ROOT_SESSION)
        fix(self, "session", session or env.get(SESSION_VARIABLE) or _own_name())
        fix(self, "agent", agent or env.get(AGENT_VARIABLE) or NO_AGENT)
        fix(self, "ancestors", ancestors)
        fix(self, "turn", turn)
        fix(self, "home", env.get("HOME", ""))
        fix(self, "token", env.get(TOKEN_VARIABLE, ""))
        fix(self, "root", find_root(env, explicit=root))
        fix(self, "is_root_named", is_own_choice(env, explicit=root))


class Question(_Fixed):
    """One request as its asker states it; immutable.

    Attributes:
        id: The request's id, and its file's stem.
        requester: Who asks, and in whose inbox.
        surface: What kind of thing is accessed.
        values: Spellings of the one thing, the first as typed; at least one.
        created_ms: When it was stated, epoch milliseconds.
        wait_s: Seconds the asker waits from then.
        message: The asker's own words about it; made from surface and value when empty.
        floor: Why a person must look, in words; empty when the facts show everything.
        tool: The tool's name; empty for none.
        tool_input: The tool's input; None for none.
        suggest: Patterns to suggest for an *always*.
        content: The request file's bytes.
    """

    __slots__ = (
        "content",
        "created_ms",
        "floor",
        "id",
        "message",
        "requester",
        "suggest",
        "surface",
        "tool",
        "tool_input",
        "values",
        "wait_s",
    )

    id: str
    requester: Requester
    surface: str
    values: tuple[str, ...]
    created_ms: int
    wait_s: float
    message: str
    floor: str
    tool: str
    tool_input: Mapping[str, Any] | None
    suggest: Sequence[str]
    content: bytes

    def __init__(  # noqa: PLR0913 - a value's fields
        self,
        surface: str,
        values: Sequence[str],
        *,
        requester: Requester,
        request_id: str | None = None,
        created_ms: int | None = None,
        wait_s: float | None = None,
        message: str = "",
        floor: str = "",
        tool: str = "",
        tool_input: Mapping[str, Any] | None = None,
        suggest: Sequence[str] = (),
    ) -> None:
        """Take what is asked, and write its file's content, for which a few paths are looked at.

        Raises:
            ChildError: It cannot be asked. Fails closed: there is no question then, and nothing is published.
        """
        fix = object.__setattr__
        fix(self, "id", request_id or new_request_id())
        fix(self, "requester", requester)
        fix(self, "surface", surface)
        fix(self, "values", tuple(values))
        fix(self, "created_ms", time.time_ns() // 1_000_000 if created_ms is None else created_ms)
        fix(self, "wait_s", settings.WAIT_S if wait_s is None else wait_s)
        fix(self, "message", message)
        fix(self, "floor", floor)
        fix(self, "tool", tool)
        fix(self, "tool_input", tool_input)
        fix(self, "suggest", suggest)
        fix(self, "content", encode_request(self))


def new_request_id() -> str:
    """Return an id nobody else has: `fp-<epoch milliseconds>-<64 random bits>`."""
    return f"fp-{time.time_ns() // 1_000_000}-{os.urandom(8).hex()}"


def working_directory(cwd: str | None) -> str:
    """Return `cwd` made absolute, else the process's own working directory.

    Raises:
        ChildError: The process's own directory is gone.
    """
    try:
        return abspath(cwd) if cwd is not None else os.getcwd()
    except OSError:
        raise ChildError("the working directory no longer exists; name one that does") from None


def _own_name() -> str:
    """Name a requester that has no session, by process id and start time.

    The id alone would not do: it is used again, and then grants for this requester would hold for another process.
    """
    return f"process-{os.getpid()}-{_STARTED_NS // 1_000_000:x}"

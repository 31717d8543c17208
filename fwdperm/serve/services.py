"""What the way of a request needs from the other rooms, as one value.

Lives here: `Services`, and the protocols of those of them that a simulation plays. Never here: anything that happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fwdperm.clock import Clock
    from fwdperm.decision import AskJudge, DecisionContext
    from fwdperm.inbox import Transport
    from fwdperm.journal import Journal
    from fwdperm.policy import Teaching
    from fwdperm.seat import SeatQueue
    from fwdperm.serve.ledger import Ledger
    from fwdperm.sessions import SessionTree
    from fwdperm.wire import Prompt, Request, RequestKey


class ContextSource(Protocol):
    """Where the lifecycle gets the snapshot to decide against."""

    def context(self, request: Request) -> DecisionContext:
        """Give the rulesets along the request's parent chain, and everything else the order reads."""
        ...

    def suggestions(self, request: Request) -> Sequence[tuple[str, str]]:
        """Give (surface, pattern) pairs that an *always* would record."""
        ...

    def epoch(self, request: Request, context: DecisionContext) -> str:
        """Name the rules a judge would be shown in this context: a verdict holds only while they stay the same."""
        ...


class PromptDisplay(Protocol):
    """Where open prompts lie for other interfaces to read."""

    def put(self, prompt: Prompt) -> None:
        """Lay a prompt out. Must not raise: a prompt that cannot be laid out is still asked at the terminal."""
        ...

    def take(self, key: RequestKey) -> None:
        """Take a prompt away. Must not raise."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How requests wait.

    Attributes:
        wait_s: Seconds a request waits at most.
        refuses_unattended: True to deny at once what would need a person while no interface is attached.
    """

    wait_s: float
    refuses_unattended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the way of a request needs from the other rooms.

    Attributes:
        transport: Where requests come in and answers go out.
        journal: Where everything is recorded first.
        ledger: What was ever decided.
        rules: Where decision contexts come from.
        sessions: The tree of sessions.
        teaching: What becomes of rules when people answer.
        queue: The seat's queue.
        prompt_files: Where open prompts lie.
        clock: Both clocks.
        limits: Says how long requests wait now, and what happens without an interface: settings change.
        consult: Called with what the judge should be asked; answers come back through `Referrals.judged`. It must
            return at once.
        is_attended: Says whether any interface is attached now.
    """

    transport: Transport
    journal: Journal
    ledger: Ledger
    rules: ContextSource
    sessions: SessionTree
    teaching: Teaching
    queue: SeatQueue
    prompt_files: PromptDisplay
    clock: Clock
    limits: Callable[[], Limits]
    consult: Callable[[AskJudge, RequestKey], None]
    is_attended: Callable[[], bool]

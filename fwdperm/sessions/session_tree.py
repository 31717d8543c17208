"""Who is whose parent, and what of it is known rather than claimed.

Lives here: the tree of sessions as the daemon sees it. Never here: a ruleset, a file.

A session is *known* when `fwdperm run` recorded it. Everything that a request says of itself is a *claim*. Claims are
shown to people, and the denials of claimed ancestors count; no allow ever counts because of a claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fwdperm.settings import ROUTE_HOPS
from fwdperm.wire import is_same_digest, prove

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fwdperm.sessions.registry import RecordedSession
    from fwdperm.wire import Request


CLAIMS_KEPT: Final = 10_000
"""Claimed edges that are remembered, the newest ones. Bounded, because each process that asks without a session id of
its own adds one. Without an edge, the ancestors that it led to are not shown, and their denials do not count; that only
concerns what lies above an inbox that nobody recorded."""


@dataclass(frozen=True, slots=True)
class ChainMember:
    """One session on a requester's parent chain.

    Attributes:
        session: Its id.
        agent: Its agent name; empty when nobody said.
        known: What was recorded of it; None when there is only the claim.
        trusted: True when this place on the chain is known, not claimed: its recorded allows then count.
    """

    session: str
    agent: str = ""
    known: RecordedSession | None = None
    trusted: bool = False


class SessionTree:
    """The tree of sessions: recorded ones, and edges that requests claimed.

    Attributes:
        changes: A number that is another one after every change of the tree.
    """

    def __init__(self) -> None:
        self.changes = 0
        self._known: dict[str, RecordedSession] = {}
        self._running: frozenset[str] = frozenset()
        self._claimed: dict[str, str] = {}
        self._agents: dict[str, str] = {}

    def record(self, known: Iterable[RecordedSession], *, running: Iterable[str]) -> None:
        """Replace what is recorded.

        Args:
            known: Every recorded session, ended ones included: what they denied still holds for children they left.
            running: Ids of those whose launcher lives. Only they can prove themselves.
        """
        self.changes += 1
        self._known = {one.session: one for one in known}
        self._running = frozenset(running)

    def see(self, request: Request) -> bool:
        """Remember the edges that a request claims: from its session to the inbox, and those above that it names.

        Of several claims for a session the first one counts.

        Returns:
            True when the edge is new, so that it is worth recording.
        """
        is_new = request.session not in self._known and request.session not in self._claimed
        if request.session != request.inbox:
            self.claim(request.session, request.inbox, agent=request.agent)
        above = request.ancestors
        if above and above[0][0] == request.inbox:
            for (child, agent), (parent, _) in pairwise(above):
                if child != parent:
                    self.claim(child, parent, agent=agent)
        return is_new and request.session != request.inbox

    def claim(self, session: str, parent: str, *, agent: str = "") -> None:
        """Remember one claimed edge, unless there is one for this session. Also for claims that the journal holds."""
        if session in self._claimed:
            return
        while len(self._claimed) >= CLAIMS_KEPT:
            oldest = next(iter(self._claimed))
            del self._claimed[oldest]
            self._agents.pop(oldest, None)
        self.changes += 1
        self._claimed[session] = parent
        if agent:
            self._agents[session] = agent

    def known(self, session: str) -> RecordedSession | None:
        """Give what was recorded of a session."""
        return self._known.get(session)

    def all(self) -> dict[str, str]:
        """Give every edge: session -> parent, recorded ones over claimed ones."""
        return self._claimed | {one.session: one.parent for one in self._known.values()}

    def recorded(self) -> tuple[str, ...]:
        """Give the ids of every recorded session."""
        return tuple(self._known)

    def agent(self, session: str) -> str:
        """Give a session's agent name: recorded, else claimed, else empty."""
        known = self._known.get(session)
        return known.agent if known is not None else self._agents.get(session, "")

    def state(self, session: str) -> str:
        """Say `running` or `ended` of a recorded session; empty for one that is not on record."""
        if session not in self._known:
            return ""
        return "running" if session in self._running else "ended"

    def is_proven(self, request: Request) -> bool:
        """Say whether a request carries the proof that its process was started by `fwdperm run` for this session.

        A missing or wrong proof, a session nobody recorded, one that ended, or another parent's inbox: no. Fails
        closed: the request is then served as a claim.
        """
        known = self._known.get(request.session)
        if known is None or request.session not in self._running or known.parent != request.inbox:
            return False
        facts = request.facts
        if not known.token or not request.proof or facts is None:
            return False
        expected = prove(
            known.token,
            request_id=request.id,
            created_ms=request.created_ms,
            session=request.session,
            agent=request.agent,
            surface=facts.surface,
            values=facts.values,
            cwd=facts.cwd,
        )
        return is_same_digest(expected, request.proof)

    def chain(self, request: Request) -> tuple[ChainMember, ...]:
        """Give the parent chain of a request, the requester first, the root last.

        The inbox is a fact, because the daemon found the file in it, and so is what is recorded above it. The requester
        itself is a fact only with its proof. Whatever is found by a claimed edge is a claim.
        """
        proven = self.is_proven(request)
        known = self._known.get(request.session)
        mine = known.agent if proven and known is not None else request.agent
        places = [ChainMember(request.session, mine, known, trusted=proven)]
        # A requester without proof is not put into `seen`: it may call itself by the name of one of its ancestors, and
        # must not thereby take that ancestor, and the denials from there on, off its chain.
        seen = {request.session} if proven else set()
        session, trusted = request.inbox, True
        while session and session not in seen and len(places) < ROUTE_HOPS:
            seen.add(session)
            known = self._known.get(session)
            places.append(ChainMember(session, self.agent(session), known, trusted=trusted))
            if known is not None:
                session = known.parent
            else:
                session, trusted = self._claimed.get(session, ""), False
        return tuple(places)

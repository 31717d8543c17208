"""One request, as all rooms behind `request_file.py` get it: facts and provenance.

Lives here: the frozen values. Never here: JSON (`request_file.py`), a path.

The requester states the facts, and they are passed on unchanged; nothing in them comes from the daemon's own working
directory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

RequestKey: TypeAlias = tuple[str, str]
"""(inbox, request id): there is at most one decision for it, for ever."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is accessed, in the words a rule can be matched on.

    Attributes:
        surface: What kind of thing, as rules are matched (a pi child may show people another name for it).
        values: Every spelling of the one thing, the first as typed. For `bash` the whole command line stands first.
        cwd: The requester's working directory, absolute; empty when it did not say.
        home: The requester's home directory; empty when it did not say.
        canonical: The real path with links resolved, where the requester supplied it.
        canonical_operands: For a command line: operand as typed -> its real path, where the requester supplied it.
        folds_case: True when the requester said its file system ignores letter case: ask and deny then do too.
    """

    surface: str
    values: tuple[str, ...]
    cwd: str = ""
    home: str = ""
    canonical: str = ""
    canonical_operands: tuple[tuple[str, str], ...] = ()
    folds_case: bool = False

    @property
    def value(self) -> str:
        """The first spelling: the one shown to people."""
        return self.values[0] if self.values else ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A pattern that the requester suggests for an *always*. A claim: the daemon makes its own suggestions."""

    surface: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read and checked.

    Attributes:
        id: Equals its file's stem.
        digest: sha-256 (hex) of the bytes that were read; names them in the prompt, the record and the answer.
        inbox: The session whose inbox it lay in. The only part of its provenance that is not a claim.
        session: The requester's session id (a claim).
        agent: The requester's agent name (a claim).
        facts: What to decide on; None when there are no usable facts: then it goes to the human.
        floor: Why no rule, session rule or judge may allow it, so that a person is asked; empty when its facts are
            complete. Never empty without facts.
        surface: What to display when there are no facts.
        value: As above.
        evidence: Other texts in the request that show what would run (pi's "full command"): `deny` looks at them too.
        message: The requester's own text about it (a claim).
        source: `tool_call`, `skill_input`, `skill_read`, ...
        created_ms: When the requester says it was made, epoch milliseconds.
        wait_ms: How long the requester says it will wait from then; 0 when it did not say.
        suggestions: What the requester suggests for an *always*.
        route: Sessions it already passed through, nearest requester first (claims).
        ancestors: (session, agent name) from the inbox's session upwards, as the requester knows them (claims).
        turn: The requester's turn, for session rules; empty when it did not say.
        tool: The tool's name.
        tool_input: The tool's input as the requester summarised it.
        proof: Keyed digest that shows the requester was started by `fwdperm run`; empty when there is none.

    Raises:
        ValueError: Without facts and without a floor.
    """

    id: str
    digest: str
    inbox: str
    session: str
    agent: str
    facts: Facts | None
    floor: str = ""
    surface: str = ""
    value: str = ""
    evidence: tuple[str, ...] = ()
    message: str = ""
    source: str = "tool_call"
    created_ms: int = 0
    wait_ms: int = 0
    suggestions: tuple[Suggestion, ...] = ()
    route: tuple[str, ...] = ()
    ancestors: tuple[tuple[str, str], ...] = ()
    turn: str = ""
    tool: str = ""
    tool_input: dict[str, Any] = field(default_factory=dict, hash=False)
    proof: str = ""

    def __post_init__(self) -> None:
        if self.facts is None and not self.floor:
            raise ValueError("a request without facts says why it has none")

    @property
    def key(self) -> RequestKey:
        """(inbox, id): at most one decision for it, for ever."""
        return (self.inbox, self.id)

"""What a request is decided against: one snapshot of rulesets, surroundings and what people taught.

Lives here: `DecisionContext`, and the protocol by which session rules are asked. Pure. Never here: composing rulesets,
a decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fwdperm.guard import Surroundings
    from fwdperm.rules import Ruleset, Unit
    from fwdperm.wire import Request, RuleRef


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """What a session rule says of a request or a unit.

    Attributes:
        rule: The session rule.
        note: The note that came with it; told to the agent.
        by: Who taught it.
    """

    rule: RuleRef
    note: str = ""
    by: str = ""


class SessionRules(Protocol):
    """What humans taught this requester's tree: stage two of the order."""

    def refusal(self, request: Request) -> RuleAnswer | None:
        """Give the noted rejection that covers the identical request, if there is one."""

    def grant(self, request: Request, unit: Unit) -> RuleAnswer | None:
        """Give the grant that covers this one unit, if there is one."""

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:
        """Say whether `rule` is a rule in force that may be cited for this unit."""

    def is_any_citable(self, request: Request, unit: Unit) -> bool:
        """Say whether any rule in force could be cited for this unit; if not, the judge is not asked about it."""


class NothingTaught:
    """Session rules where nobody taught anything."""

    def refusal(self, request: Request) -> RuleAnswer | None:  # noqa: ARG002 - the protocol's shape
        """Give nothing."""
        return None

    def grant(self, request: Request, unit: Unit) -> RuleAnswer | None:  # noqa: ARG002 - the protocol's shape
        """Give nothing."""
        return None

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:  # noqa: ARG002 - the protocol's shape
        """Say no."""
        return False

    def is_any_citable(self, request: Request, unit: Unit) -> bool:  # noqa: ARG002 - the protocol's shape
        """Say no."""
        return False


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """Everything the order reads beside the request: one snapshot.

    Attributes:
        chain: Composed rulesets along the parent chain, the requester's own first, the root's last. Never empty.
        surroundings: Which directories the guard counts as workspace, and which paths are sensitive.
        taught: The session rules that hold for this request: what people taught by their replies.
        has_judge: Whether a judge is configured and the mode lets it speak.
        judge_advises: True when the judge's opinion is only shown to the person, and decides nothing.
        line: Session ids of the parent chain, the requester first; only for showing to judge and people.
    """

    chain: tuple[Ruleset, ...]
    surroundings: Surroundings
    taught: SessionRules
    has_judge: bool = False
    judge_advises: bool = False
    line: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The versions of the rulesets along the chain, joined: a decision records which rules it was made by."""
        return ".".join(dict.fromkeys(ruleset.version for ruleset in self.chain))

"""What the judge says, and what its silence is called.

Lives here: `Verdict`, `Silence`, `Opinion`. Pure. Never here: a model call, a decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Choice(StrEnum):
    """What the judge would have happen."""

    ALLOW = "allow"
    REJECT = "reject"
    ESCALATE = "escalate"


class Risk(StrEnum):
    """How bad it thinks the request could be."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer of the judge, as parsed. Code only ever tightens it.

    Attributes:
        choice: What it would have happen.
        risk: How bad it could be.
        reason: One sentence for the human and the journal; never told to the agent.
        rule: Id of the session rule it cites; empty for none.
        manipulation: True when it saw the request trying to influence it.
        model: Which model spoke.
    """

    choice: Choice
    risk: Risk
    reason: str
    rule: str = ""
    manipulation: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """Why the judge said nothing. Always escalates; never called a denial.

    Attributes:
        code: `timeout`, `overloaded`, `no_key`, `disabled`, ...
        words: The same for a person.
    """

    code: str
    words: str


Opinion = Verdict | Silence

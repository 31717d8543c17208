"""How mild an answer is, as a number: the mildest lowest.

Lives here: the ranks, and the rank of a step of the order. Never here: the cases (`widening.py`, `taught.py`).
"""

from __future__ import annotations

from fwdperm.decision import order
from fwdperm.wire.decision import Outcome

ALLOWED, OPEN, PERSON, PERSON_ALONE, DENIED = range(5)


def rank(step: order.Decided | order.AskJudge | order.AskHuman) -> int:
    """Give the rank of what the order says of a request."""
    match step:
        case order.Decided(decision=decision):
            return ALLOWED if decision.outcome is Outcome.APPROVED else DENIED
        case order.AskJudge():
            return OPEN
        case _:
            return PERSON if step.may_teach else PERSON_ALONE

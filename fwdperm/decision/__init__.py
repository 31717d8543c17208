"""The decision on one request: what is found out about it, and the fixed order in which that counts.

`context.py`      what a request is decided against: rulesets, surroundings, session rules, at one moment
`settled.py`      what the rules say of a whole request, from what they say of each unit
`evaluation.py`   what rules and guard say of every unit, before anything is decided
`order.py`        THE ORDER: recorded ruleset, session rules, judge, and only then the one human
`explanation.py`  why a request is decided as it is

Lives here: pure functions from values to values. Never here: a clock, a file, waiting for anybody.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.decision.context import DecisionContext, NothingTaught, RuleAnswer, SessionRules
    from fwdperm.decision.evaluation import Evaluation, evaluate
    from fwdperm.decision.explanation import explain, explanation_as_json, explanation_as_lines
    from fwdperm.decision.order import AskHuman, AskJudge, Decided, after_human, after_judge, begin, nobody, spare_judge
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "context": ("DecisionContext", "NothingTaught", "RuleAnswer", "SessionRules"),
            "evaluation": ("Evaluation", "evaluate"),
            "explanation": ("explain", "explanation_as_json", "explanation_as_lines"),
            "order": (
                "AskHuman",
                "AskJudge",
                "Decided",
                "after_human",
                "after_judge",
                "begin",
                "nobody",
                "spare_judge",
            ),
        },
    )

__all__ = [
    "AskHuman",
    "AskJudge",
    "Decided",
    "DecisionContext",
    "Evaluation",
    "NothingTaught",
    "RuleAnswer",
    "SessionRules",
    "after_human",
    "after_judge",
    "begin",
    "evaluate",
    "explain",
    "explanation_as_json",
    "explanation_as_lines",
    "nobody",
    "spare_judge",
]

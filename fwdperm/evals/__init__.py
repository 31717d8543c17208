"""Measuring a judge on cases, through the same order of decision that the daemon uses.

`cases.py`    a row of a case file
`world.py`    a row -> a request, and what it is decided against
`score.py`    the results of all rows -> counts
`run.py`      deciding the rows, with a model or with a stand-in

Lives here: what measures. Never here: a decision of its own, writing anything.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.evals.cases import Case, read_cases
    from fwdperm.evals.run import Judge, always_allow, decide_rows, model_judge
    from fwdperm.evals.score import CaseResult, by_surface, by_tag, score_rows
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "cases": ("Case", "read_cases"),
            "run": ("Judge", "always_allow", "decide_rows", "model_judge"),
            "score": ("CaseResult", "by_surface", "by_tag", "score_rows"),
        },
    )

__all__ = [
    "Case",
    "CaseResult",
    "Judge",
    "always_allow",
    "by_surface",
    "by_tag",
    "decide_rows",
    "model_judge",
    "read_cases",
    "score_rows",
]

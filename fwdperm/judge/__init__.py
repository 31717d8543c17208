"""The AI judge: a model that may spare people questions, and can allow nothing dangerous.

`verdict.py`       what a judge can say, and what its silence is called
`instructions.py`  what it is told, always the same
`brief.py`         all it is shown, in five sections
`model_answer.py`  reading what it says, strictly
`limits.py`        breaker, budget, and how often it rejected lately
`setup.py`         how the operator set it up
`failures.py`      our code for each exception of the SDK
`key.py`           finding the key (edge)
`model.py`         asking (edge)
`retirement.py`    when the service stops offering a model (edge)

Lives here: asking for an opinion. Never here: what becomes of it (`decision/order.py`).
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.judge.brief import NOTHING_KNOWN, Background, BriefUnit, Citable, Matter
    from fwdperm.judge.limits import LASTING, BreakerState, JudgeBudget, Rejections
    from fwdperm.judge.model import AT_ONCE, Model
    from fwdperm.judge.retirement import retires_on
    from fwdperm.judge.setup import BASE_URL, DEADLINE_S, KEY_ENV, MODEL, JudgeSetup, Prices
    from fwdperm.judge.verdict import Call, Choice, Effect, Opinion, Risk, Silence, SilenceCode, Verdict
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "brief": ("Background", "BriefUnit", "Citable", "Matter", "NOTHING_KNOWN"),
            "limits": ("BreakerState", "JudgeBudget", "LASTING", "Rejections"),
            "model": ("AT_ONCE", "Model"),
            "retirement": ("retires_on",),
            "setup": ("BASE_URL", "DEADLINE_S", "JudgeSetup", "KEY_ENV", "MODEL", "Prices"),
            "verdict": ("Call", "Choice", "Effect", "Opinion", "Risk", "Silence", "SilenceCode", "Verdict"),
        },
    )

__all__ = [
    "AT_ONCE",
    "BASE_URL",
    "DEADLINE_S",
    "KEY_ENV",
    "LASTING",
    "MODEL",
    "NOTHING_KNOWN",
    "Background",
    "BreakerState",
    "BriefUnit",
    "Call",
    "Choice",
    "Citable",
    "Effect",
    "JudgeBudget",
    "JudgeSetup",
    "Matter",
    "Model",
    "Opinion",
    "Prices",
    "Rejections",
    "Risk",
    "Silence",
    "SilenceCode",
    "Verdict",
    "retires_on",
]

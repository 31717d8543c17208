"""The simulator: a tree, a scripted judge, a scripted human, a clock that moves when told. Shared by tests and users.

`simulation.py`     the real order, lifecycle, queue and journal over an in-memory transport; nothing sleeps
`demonstration.py`  a real daemon and real child processes, shown
`model_server.py`   a model's service on the loopback interface
`agent_model.py`    a model that plays a script for real coding agents

Lives here: stand-ins for people, models, agents and the machine. Never here: a decision of its own.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.testing.agent_model import AgentModel, call, play
    from fwdperm.testing.demonstration import demonstrate
    from fwdperm.testing.model_server import (
        ALLOW,
        ESCALATE,
        FAILURES,
        THINKING_FIRST,
        Act,
        ModelServer,
        answer,
        error,
        verdict,
    )
    from fwdperm.testing.simulation import FakeClock, MemoryTransport, ScriptedHuman, ScriptedJudge, Simulation
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "agent_model": ("AgentModel", "call", "play"),
            "demonstration": ("demonstrate",),
            "model_server": (
                "ALLOW",
                "Act",
                "ESCALATE",
                "FAILURES",
                "ModelServer",
                "THINKING_FIRST",
                "answer",
                "error",
                "verdict",
            ),
            "simulation": ("FakeClock", "MemoryTransport", "ScriptedHuman", "ScriptedJudge", "Simulation"),
        },
    )

__all__ = [
    "ALLOW",
    "ESCALATE",
    "FAILURES",
    "THINKING_FIRST",
    "Act",
    "AgentModel",
    "FakeClock",
    "MemoryTransport",
    "ModelServer",
    "ScriptedHuman",
    "ScriptedJudge",
    "Simulation",
    "answer",
    "call",
    "demonstrate",
    "error",
    "play",
    "verdict",
]

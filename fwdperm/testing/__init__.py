"""The simulator: a tree, a scripted judge, a scripted human, a clock its owner moves. Shared by tests and users.

`simulation.py` runs the real order, desk, queue and journal over an in-memory transport; nothing sleeps.
`processes.py` runs a real daemon and real child processes, for demonstrations and for tests that must not believe the
simulator.
"""

from __future__ import annotations

from fwdperm.testing.simulation import FakeClock, MemoryTransport, ScriptedHuman, ScriptedJudge, Simulation

__all__ = ["FakeClock", "MemoryTransport", "ScriptedHuman", "ScriptedJudge", "Simulation"]

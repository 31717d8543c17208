"""Test your own ruleset without a daemon: a tree, a scripted human, a clock that you move.

Run it: python examples/simulated_tree.py
"""

import tempfile
from pathlib import Path

from fwdperm.testing import ScriptedHuman, Simulation
from fwdperm.wire import Prompt, Reply, ReplyKind

RULES = """
[rules.bash]
"git *" = "allow"
"git push *" = "ask"
"""


def answer(prompt: Prompt) -> Reply | None:
    """Play the person: approve a push of a feature branch, reject any other, with a note."""
    if "feature/" in prompt.values[0]:
        return Reply(reply=ReplyKind.ONCE)
    return Reply(reply=ReplyKind.REJECT, feedback="only feature branches")


def main() -> None:
    """Ask for four things and print what the agent would hear."""
    with tempfile.TemporaryDirectory() as directory:
        sim = Simulation(Path(directory) / "journal", RULES, human=ScriptedHuman(answer))
        for value in ("git status", "git push origin feature/x", "git push origin main", "git status; rm -rf /"):
            request = sim.ask("bash", value, session="fix-7", agent="fixer")
            sim.turn()
            heard = sim.outcome(request) or {}
            print(f"{value:<28} {heard['state']:<20} {heard['decidedBy']['stage']}")
        sim.close()


if __name__ == "__main__":
    main()

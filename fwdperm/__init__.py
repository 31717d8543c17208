"""fwdperm: the daemon that headless subagents ask when they need a permission.

The map of the house, in the order a request walks through it:

    client         the asking side, standard library only
    wire           what crosses a process boundary: ids, request, response, prompt and reply, heartbeat
    inbox          the one way to the file system where children leave requests
    shell, units   what a request breaks down into: commands, operands, units
    rules          the recorded ruleset: first to be asked
    session_rules  what a person's replies taught: second
    guard, judge   deterministic classes of danger, and the model that may be asked: third
    seat           the one place where a person is asked: last
    decision       the fixed order of the four
    journal        the durable record that stands before every answer
    policy         which rulesets, session rules and settings hold for a request
    sessions       the tree of sessions: where things are, who is whose parent, how a child is started
    serve          the daemon: one loop, the way of every request through it, recovery
    redaction      taking secrets out of what is recorded, logged or sent to a model
    evals          measuring a judge on cases, through the order
    cli, agents, testing   the command line, one mapping per agent, the simulator

Each room's `__init__` is its door: the names other rooms may use. docs/decisions/0001-words.md explains the words.

Lives here: this map and the public names, which load when they are first used. Never here: code that runs on import,
because every asking process pays for it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` would cost every client a millisecond or two
if TYPE_CHECKING:
    from fwdperm.client import Answer, ask, ask_async
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(__name__, {"client": ("Answer", "ask", "ask_async")})

__all__ = ["Answer", "ask", "ask_async"]
__version__ = "0.1.0"

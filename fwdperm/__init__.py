"""fwdperm: the daemon that headless subagents ask when they need a permission.

The map of the house, in the order a request walks through it:

    wire      what crosses a process boundary: ids, request, response, prompt and reply, heartbeat
    inbox     the one door to the file system where children leave requests
    shell, units   what a request breaks down into: commands, operands, units
    rules     the recorded ruleset: first to be asked
    memory    session rules, what a person's replies taught: second
    guard, judge   deterministic classes of danger, and the model that may be asked: third
    seat      the one place where a person is asked: last
    decide    the fixed order of the four
    journal   the durable record that stands before every answer
    serve     the wiring of all of it, sessions, recovery
    redaction, evaluation   what no secret gets past; measuring a judge on cases
    client    the asking side, standard library only; `launch` starts a child that can ask
    cli, agents, testing   the command line, one mapping per agent, the simulator

Lives here: this map and the public names, which load when they are first used. Never here: code that runs on import,
because every asking process pays for it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` would cost every client a millisecond or two
if TYPE_CHECKING:
    from fwdperm.client import Answer, ask, ask_async

__all__ = ["Answer", "ask", "ask_async"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load a public name on first use.

    Raises:
        AttributeError: For any other name.
    """
    if name in __all__:
        from fwdperm import client  # noqa: PLC0415 - lazily, see the charter

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})

"""Words of the shell itself that stand before or around a command.

Lives here: reserved words, and which wrappers pass their standard input on. Never here: programs (the book of
programs), the reading of a wrapper's words (`unwrap.py`).
"""

from __future__ import annotations

from typing import Final

from fwdperm.programs import lookup

STDIN: Final = "it reads its program from its standard input"
"""Why a shell without a script is opaque."""
RESERVED: Final = frozenset(
    ["{", "}", "!", "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "esac", "time", "coproc"]
)
"""Reserved words that may stand before a command; the grammar takes some of them for programs."""
TEARING: Final = frozenset({"time", "coproc"})
"""Reserved words that the grammar takes for programs, so that it tears apart the block behind them."""
CLOSING: Final = frozenset({"}", "then", "else", "elif", "fi", "do", "done", "esac"})
"""Reserved words that begin no command: behind `time` a shell runs a program of that name."""
RESERVED_HEADS: Final = frozenset(["for", "case", "select", "function"])
"""Reserved words after which names follow, not a command."""


def passes_input_on(label: str) -> bool:
    """Say whether a wrapper surely gives its standard input to what it runs: it runs one command, and reads nothing."""
    program = lookup(label.partition(" ")[0])
    wrapping = program.use.wrapping if program is not None else None
    return wrapping is not None and wrapping.passes_input

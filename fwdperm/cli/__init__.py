"""The command line: one module per family of commands, and the options they share.

Lives here: reading arguments, and words for people. Never here: a decision.

Exit codes: 0 allow or ok, 1 internal, 2 usage, 3 config invalid, 4 nobody serving, 5 unknown id, 6 already decided,
7 tests differ, 8 audit broken, 10 rejected, 11 expired, 12 would ask, 130 interrupted.
"""

from __future__ import annotations

import signal
import sys
from typing import Final

_READERS: Final = frozenset({"list", "show", "explain", "check", "status", "tree", "why", "audit", "rules", "schema"})
"""Commands that only print. When the reader of their output ends (`| head`), they end silently, as other tools do."""


def main() -> int:
    """Run the command line and give its exit code."""
    import gc  # noqa: PLC0415 - as below

    asks_to_stop = signal.getsignal(signal.SIGINT)
    if asks_to_stop is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while modules load ends us without a traceback
    gc.disable()  # importing makes no garbage, and looking for some takes a tenth of the start
    from fwdperm.cli.app import load  # noqa: PLC0415 - typer loads when a command runs, not when a name is looked up

    app = load(sys.argv[1:])
    gc.enable()
    signal.signal(signal.SIGINT, asks_to_stop)
    if sys.argv[1:2] and sys.argv[1] in _READERS:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    app()
    return 0

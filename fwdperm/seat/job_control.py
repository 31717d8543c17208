"""Ctrl-Z and `fg` while a question stands on the terminal.

Lives here: `JobControl`, which gives the terminal back before the process stops. Never here: what is on screen
(`plain_prompter.py`), modes of a terminal (`terminal.py`).
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from fwdperm.seat.terminal import Terminal


class JobControl:
    """Stops and continues the process as for any program, and gives the terminal back while it is stopped.

    Args:
        terminal: The terminal to give back.
        loop: The daemon's loop; the signals are handled in its thread.
        on_return: Called when the process continues, in the foreground or not.
    """

    def __init__(self, terminal: Terminal, *, loop: asyncio.AbstractEventLoop, on_return: Callable[[], None]) -> None:
        self._terminal = terminal
        self._loop = loop
        self._on_return = on_return

    def heed(self) -> None:
        """Handle the signals from now on, unless this process was started with SIGTSTP ignored."""
        if signal.getsignal(signal.SIGTSTP) is signal.SIG_IGN:
            return
        # Outside the main thread signals cannot be handled; after `fg` the screen is then right with the next key.
        with contextlib.suppress(RuntimeError, ValueError):
            self._loop.add_signal_handler(signal.SIGTSTP, self._stop_for_now)
            self._loop.add_signal_handler(signal.SIGCONT, self._on_return)

    def let_be(self) -> None:
        """Handle the signals no longer."""
        for number in (signal.SIGTSTP, signal.SIGCONT):
            with contextlib.suppress(RuntimeError, ValueError):
                self._loop.remove_signal_handler(number)

    def _stop_for_now(self) -> None:
        """Handle Ctrl-Z: give the terminal back, then stop. The kernel stops nobody whom no shell could continue."""
        self._terminal.give_back()
        self.let_be()
        signal.raise_signal(signal.SIGTSTP)
        self.heed()
        self._on_return()

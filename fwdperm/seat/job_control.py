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
    """Stops and goes on as any program does, with the terminal as it was found in between.

    Args:
        terminal: What is given back.
        loop: The daemon's loop; the signals are heard in its thread.
        on_return: Called when the process goes on, in the foreground or not.
    """

    def __init__(self, terminal: Terminal, *, loop: asyncio.AbstractEventLoop, on_return: Callable[[], None]) -> None:
        self._terminal = terminal
        self._loop = loop
        self._on_return = on_return

    def heed(self) -> None:
        """Hear the signals from now on, unless whoever started this process had it ignore them."""
        if signal.getsignal(signal.SIGTSTP) is signal.SIG_IGN:
            return
        with contextlib.suppress(RuntimeError, ValueError):  # not the main thread: the screen then needs a key to mend
            self._loop.add_signal_handler(signal.SIGTSTP, self._stop_for_now)
            self._loop.add_signal_handler(signal.SIGCONT, self._on_return)

    def let_be(self) -> None:
        """Hear them no longer."""
        for number in (signal.SIGTSTP, signal.SIGCONT):
            with contextlib.suppress(RuntimeError, ValueError):
                self._loop.remove_signal_handler(number)

    def _stop_for_now(self) -> None:
        """Ctrl-Z: leave the terminal as it was found, and stop as any program does; where no shell waits, go on."""
        self._terminal.give_back()
        self.let_be()
        signal.raise_signal(signal.SIGTSTP)
        self.heed()
        self._on_return()

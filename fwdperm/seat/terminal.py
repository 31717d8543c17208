"""A terminal that can make nobody wait.

Lives here: `Terminal`: one descriptor of our own, never blocking in either direction, never stopped by job control.
Never here: what is asked.

The daemon's one loop serves everybody, so a terminal held with Ctrl-S, or one that belongs to another job for now,
must cost it nothing. Direction of every failure: nothing is read, so nothing is answered.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import termios
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator, Mapping

_RETRY_S: Final = 0.05
"""Seconds between attempts to write to a terminal that takes nothing (Ctrl-S)."""
_READ_BYTES: Final = 4096
"""Bytes of the longest line a terminal hands over."""
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def may_colour(environ: Mapping[str, str]) -> bool:
    """Say whether a terminal with this environment is to be coloured: not with NO_COLOR, not a dumb one."""
    return not environ.get("NO_COLOR") and environ.get("TERM", "dumb") not in {"", "dumb"}


class Terminal:
    """A terminal, opened anew so that its modes and flags are ours alone.

    Args:
        fd: Any descriptor of the terminal, such as standard input. Not used after this.
        loop: The daemon's loop.
        utf8: False when the terminal is not known to speak UTF-8: everything else than ASCII is then written out,
            because single bytes of it are control characters to older terminals.

    Raises:
        EnvironmentFailure: When it is no terminal, or cannot be opened a second time. Nobody is asked on it then.
    """

    def __init__(self, fd: int, *, loop: asyncio.AbstractEventLoop, utf8: bool) -> None:
        self.fd, self.name = _open_again(fd)
        self.on_drained: Callable[[], None] = _nothing
        self._loop = loop
        self._utf8 = utf8
        self._unwritten = bytearray()
        self._retry: asyncio.TimerHandle | None = None

    @property
    def pending(self) -> bool:
        """Say whether something written is not on screen yet."""
        return bool(self._unwritten)

    @property
    def is_closed(self) -> bool:
        """Say whether it was closed."""
        return self.fd < 0

    def size(self) -> tuple[int, int]:
        """Tell columns and rows now; 80 and 24 when the terminal does not know."""
        try:
            columns, rows = os.get_terminal_size(self.fd)
        except OSError:
            return 80, 24
        return columns or 80, rows or 24

    def is_ours(self) -> bool:
        """Say whether this process may read: its group is in the foreground, or no other could be.

        A terminal without job control for us, or one that is gone, is nobody else's: reading then says which it is.
        """
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:
            return True

    def write(self, text: str) -> None:
        """Write without ever waiting. `on_drained` is called when everything is out after it was not at once."""
        if self.is_closed:
            return
        self._unwritten += text.encode() if self._utf8 else _ascii(text)
        if self._retry is None:
            self._push()

    def read(self) -> bytes | None:
        """Read what was typed, up to the end of a line.

        Returns:
            Bytes; None when there is nothing now; empty when the terminal was left (Ctrl-D) or is gone.
        """
        try:
            with _unstoppable():
                return os.read(self.fd, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return None if not self.is_ours() else b""

    def forget_input(self) -> None:
        """Throw away what was typed and not read: it was meant for something else."""
        if not self.is_closed and self.is_ours():
            with contextlib.suppress(termios.error), _unstoppable():
                termios.tcflush(self.fd, termios.TCIFLUSH)

    def close(self) -> None:
        """Close it; what is not written yet is dropped."""
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._unwritten.clear()
        if not self.is_closed:
            os.close(self.fd)
            self.fd = -1

    def _push(self) -> None:
        self._retry = None
        while self._unwritten:
            try:
                with _unstoppable():
                    written = os.write(self.fd, self._unwritten)
            except (BlockingIOError, InterruptedError):
                self._retry = self._loop.call_later(_RETRY_S, self._resume)
                return
            except OSError:  # gone: the next read says so too
                self._unwritten.clear()
                return
            del self._unwritten[:written]

    def _resume(self) -> None:
        self._push()
        if not self.pending:
            self.on_drained()


def _nothing() -> None:
    """Do nothing: nobody asked to be told."""


def _open_again(fd: int) -> tuple[int, str]:
    """Open the terminal behind `fd` a second time: O_NONBLOCK on `fd` itself would reach every process sharing it."""
    if not os.isatty(fd):
        raise EnvironmentFailure("standard input is no terminal; answer with `fwdperm allow` and `fwdperm reject`")
    names = ["/dev/tty"]
    with contextlib.suppress(OSError):
        names.insert(0, os.ttyname(fd))
    flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    for name in names:
        with contextlib.suppress(OSError):
            return os.open(name, flags), name.removeprefix("/dev/")
    raise EnvironmentFailure(f"cannot open the terminal `{names[0]}` again; answer with `fwdperm allow`")


@contextlib.contextmanager
def _unstoppable() -> Iterator[None]:
    """Keep job control from stopping the whole daemon when the terminal changed hands a moment ago."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN, signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ascii(text: str) -> bytes:
    return _NOT_ASCII.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text).encode("ascii")

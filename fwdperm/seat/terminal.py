"""A terminal that never makes the daemon wait.

Lives here: `Terminal`: a descriptor of our own that never blocks, neither for reading nor for writing, and is read key
by key. Job control cannot stop the daemon through it. Never here: what is asked, what the keys mean.

The daemon has one loop for all requests, so it must not be held up by a terminal that was stopped with Ctrl-S or that
another job uses. Direction of every failure: nothing is read, so nothing is answered.

It is read key by key because in the usual mode a terminal gives a line only after Enter, and then nobody knows which
question was on screen when the line was begun.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import termios
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fwdperm.errors import EnvironmentFailure

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator, Mapping

_Modes: TypeAlias = list[Any]
"""As `termios.tcgetattr` gives them."""

_RETRY_S: Final = 0.05
"""Seconds between attempts to write to a terminal that takes nothing (Ctrl-S)."""
_READ_BYTES: Final = 4096
"""Bytes read at a time; a terminal buffers no more."""
_MOST_READS: Final = 64
"""Reads within which everything that a person typed is read. More comes from a program, and may be read later."""
_MARK_PASTES: Final = "\x1b[?2004h"
_MARK_NO_PASTES: Final = b"\x1b[?2004l"
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def may_colour(environ: Mapping[str, str]) -> bool:
    """Say whether a terminal with this environment is to be coloured: not with NO_COLOR, not a dumb one."""
    return not environ.get("NO_COLOR") and environ.get("TERM", "dumb") not in {"", "dumb"}


def may_mark_pastes(environ: Mapping[str, str]) -> bool:
    """Say whether a terminal with this environment can be asked to mark what is pasted: not a dumb one."""
    return environ.get("TERM", "dumb") not in {"", "dumb"}


class Terminal:
    """A terminal, opened a second time, so that making it non-blocking does not affect other programs.

    Args:
        fd: Any descriptor of the terminal, such as standard input. Not used after this.
        loop: The daemon's loop.
        utf8: False when the terminal is not known to understand UTF-8. Everything but ASCII is then written as escapes,
            because some of its bytes are control characters to such a terminal.
        marks_pastes: Whether to ask the terminal to mark what is pasted (`ESC [ 200 ~`).

    Raises:
        EnvironmentFailure: When it is no terminal, or cannot be opened a second time. Nobody is asked on it then.
    """

    def __init__(self, fd: int, *, loop: asyncio.AbstractEventLoop, utf8: bool, marks_pastes: bool = False) -> None:
        self.fd, self.name = _open_again(fd)
        self.on_drained: Callable[[], None] = _nothing
        self._loop = loop
        self._utf8 = utf8
        self._marks_pastes = marks_pastes
        self._before: _Modes | None = None
        self._unwritten = bytearray()
        self._retry: asyncio.TimerHandle | None = None

    @property
    def pending(self) -> bool:
        """Say whether the terminal has not yet taken everything that was written."""
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
        """Say whether this process may read: no other job is in the foreground.

        True also where the foreground group cannot be learned. Reading then shows whether the terminal is gone.
        """
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:
            return True

    def take(self) -> None:
        """Switch it to reading key by key, if it is ours; half a line that was typed before can then be read, too.

        To be called again whenever another program may have changed the mode. Raises nothing for a terminal that is
        gone: the next `read` shows that.
        """
        if self.is_closed or not self.is_ours():
            return
        with contextlib.suppress(termios.error), _unstoppable():
            now = termios.tcgetattr(self.fd)
            wanted = _key_by_key(now)
            if self._before is None:
                self._before = now
            if wanted != now:
                termios.tcsetattr(self.fd, termios.TCSANOW, wanted)
                if self._marks_pastes:
                    self.write(_MARK_PASTES)

    def give_back(self) -> None:
        """Restore the mode it had, if it is ours; if not, the job that has it now sets its own."""
        if self.is_closed or self._before is None or not self.is_ours():
            return
        with contextlib.suppress(termios.error, OSError), _unstoppable():
            termios.tcsetattr(self.fd, termios.TCSANOW, self._before)
            if self._marks_pastes:
                os.write(self.fd, _MARK_NO_PASTES)

    def write(self, text: str) -> None:
        """Write without waiting. If the terminal does not take all at once, `on_drained` is called when it has."""
        if self.is_closed:
            return
        self._unwritten += self.as_written(text).encode()
        if self._retry is None:
            self._push()

    def as_written(self, text: str) -> str:
        """Give the characters that appear on screen for a text."""
        return text if self._utf8 else _ascii(text)

    def read(self) -> bytes | None:
        """Read what was typed.

        Returns:
            Bytes; None when there is nothing now; empty when the terminal is gone.
        """
        try:
            with _unstoppable():
                return os.read(self.fd, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return None if not self.is_ours() else b""

    def forget_input(self) -> bytes:
        """Read and give everything that was typed up to now, half a line included: it is not for what is shown next."""
        if self.is_closed or not self.is_ours():
            return b""
        self.take()
        typed = bytearray()
        for _ in range(_MOST_READS):
            more = self.read()
            if not more:  # nothing more was typed; or the terminal is gone, which the next `read` shows
                break
            typed += more
        return bytes(typed)

    def close(self) -> None:
        """Restore its mode and close it; what it has not taken yet is dropped."""
        self.give_back()
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
            except OSError:  # the terminal is gone, which the next `read` shows
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
    """Open the terminal behind `fd` a second time: setting O_NONBLOCK on `fd` would set it for all who share it."""
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
    """Block the signals that would stop the daemon for using the terminal when another job has just got it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN, signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ascii(text: str) -> str:
    return _NOT_ASCII.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)


def _key_by_key(modes: _Modes) -> _Modes:
    """Give modes in which each key is read at once and not echoed; Ctrl-C, Ctrl-Z and Ctrl-S work as before."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, chars = modes
    iflag = (iflag | termios.ICRNL) & ~(termios.INLCR | termios.IGNCR | termios.ISTRIP)
    lflag &= ~(termios.ICANON | termios.ECHO | termios.ECHONL | termios.IEXTEN)
    chars = list(chars)
    chars[termios.VMIN], chars[termios.VTIME] = 1, 0
    return [iflag, oflag, cflag, lflag, ispeed, ospeed, chars]

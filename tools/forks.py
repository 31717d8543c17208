"""Forks that end by saying one thing, and may take only so much.

Lives here: `Fork`, `ready`, `in_fork`, `silence`. Never here: what is run in them (`trying.py`).

A fork that never ends, eats memory or dies is one that timed out: nothing it does reaches the process that waits.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEMORY_BYTES: Final = 4 << 30
"""Address space of a fork: a loop that no longer ends must not take the machine."""
WALL_FACTOR: Final = 12
"""Times its processor seconds that it may take by the clock, on a machine that is busy."""


@dataclass(slots=True)
class Fork:
    """A process that is running.

    Attributes:
        pid: Its process, which leads a group of its own.
        reader: Where its word is read.
        of: What it runs, for the caller.
        begun: When it began, on the clock of this machine.
        cpu_s: Seconds of processor that it may take.
    """

    pid: int
    reader: int
    of: Any
    begun: float
    cpu_s: int

    @classmethod
    def begin(cls, what: Callable[[], dict[str, Any]], *, cpu_s: int, of: Any = None) -> Fork:
        """Start one.

        Args:
            what: Run in it; what it gives is the fork's word.
            cpu_s: Seconds of processor that it may take.
            of: Kept for the caller.
        """
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            told: dict[str, Any] = {}
            try:
                _limit(cpu_s)
                told = what()
            except BaseException as error:  # noqa: BLE001 - nothing leaves a fork but its word
                told = {"error": repr(error)[:500]}
            finally:
                with contextlib.suppress(BaseException), open(writer, "w", encoding="utf-8") as out:
                    json.dump(told, out)
                os._exit(0)
        os.close(writer)
        return cls(pid, reader, of, time.monotonic(), cpu_s)

    @property
    def seconds(self) -> float:
        """How long it has been running, by the clock."""
        return time.monotonic() - self.begun

    @property
    def is_late(self) -> bool:
        """Say whether it takes longer than any busy machine excuses."""
        return self.seconds > WALL_FACTOR * self.cpu_s

    def end(self) -> dict[str, Any] | None:
        """Wait for its word, and stop whatever it started.

        Returns:
            What it gave, or `error` with what it raised; None when it was stopped or died.
        """
        if self.is_late:
            self._stop()
        with open(self.reader, encoding="utf-8") as told:
            text = told.read()
        self._stop()
        os.waitpid(self.pid, 0)
        said: dict[str, Any] | None = json.loads(text) if text.endswith("}") else None
        return said

    def _stop(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def ready(running: Mapping[int, Fork]) -> list[int]:
    """Wait until some of them have spoken, ended or taken too long; give their readers, perhaps none."""
    spoken, _, _ = select.select(list(running), [], [], 1.0)
    return [*spoken, *(reader for reader, fork in running.items() if fork.is_late and reader not in spoken)]


def in_fork(what: Callable[[], dict[str, Any]], *, cpu_s: int) -> dict[str, Any] | None:
    """Run one thing in a fork and wait for its word."""
    fork = Fork.begin(what, cpu_s=cpu_s)
    while not ready({fork.reader: fork}):
        pass
    return fork.end()


def silence() -> None:
    """Give this process's words to nobody."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def _limit(cpu_s: int) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    silence()

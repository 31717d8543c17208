"""What a doorbell is, and how it says that it is well.

Lives here: the interface and its values. Never here: a watch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Ring: TypeAlias = "Callable[[str | None], None]"
"""Called in the loop's thread with the session whose inbox is dirty, the name given to `watch_directory`, or None:
look everywhere."""


class WatchMode(StrEnum):
    """How news arrives."""

    DESCRIPTOR = "descriptor"
    """The kernel's events, read by the loop itself: no thread."""
    OBSERVER = "observer"
    """watchdog's public observer, in its threads."""
    POLLING = "polling"
    """No events come; the directories are listed on time."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found.

    Attributes:
        mode: How news arrives.
        is_alive: False when it no longer rings and cannot be repaired: the heartbeat has to be withdrawn.
        polled: Sessions, and names of watched directories, from which no events come; the check rang for each of them.
        rearmed: How many watches were made since the last check.
        messages: For the operator, each said once for as long as it stays true.
    """

    mode: WatchMode
    is_alive: bool = True
    polled: frozenset[str] = frozenset()
    rearmed: int = 0
    messages: tuple[str, ...] = ()


class Doorbell(Protocol):
    """Rings when something may have changed; at times for nothing. The loop lists every second anyway."""

    @property
    def mode(self) -> WatchMode:
        """How news arrives."""
        ...

    def watch_directory(self, path: Path, name: str) -> None:
        """Ring `name` on every change in one more directory (made when missing).

        Args:
            path: A directory that children cannot reach, such as the one for replies.
            name: What `on_ring` is called with; begin it with a dot, then it can be no session's id.
        """
        ...

    def check(self) -> Health:
        """Look after the watches; call it every second, in the loop's thread. Never raises OSError."""
        ...

    def close(self) -> None:
        """Stop ringing and let go of everything. A second call does nothing."""
        ...


WATCH_LIMIT = (
    "the kernel's limit of watches is reached, some inboxes are listed once a second instead of at once; "
    "raise it with `sysctl fs.inotify.max_user_watches=524288`"
)
INSTANCE_LIMIT = (
    "the kernel's limit of inotify instances is reached, inboxes are listed on time instead of at once; "
    "raise it with `sysctl fs.inotify.max_user_instances=512`, or end a program that holds many"
)
NO_EVENTS = "no events come from `{root}` ({kind}), its inboxes are listed on time instead of at once"

"""Choosing the doorbell: inotify read by the loop, watchdog's observer, or listing on time.

Lives here: the choice. Never here: a watch.

Fails towards polling: news arrives later then, but it arrives.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from fwdperm.inbox import inotify
from fwdperm.inbox.descriptor_bell import DescriptorBell
from fwdperm.inbox.health import INSTANCE_LIMIT, NO_EVENTS, WATCH_LIMIT, Doorbell, Health, Ring, WatchMode
from fwdperm.inbox.mounts import file_system_type, is_shared
from fwdperm.inbox.polling_bell import PollingBell

if TYPE_CHECKING:
    import asyncio

    from fwdperm.inbox.observer_bell import ObserverBell
    from fwdperm.inbox.tree import InboxTree

__all__ = ["Doorbell", "Health", "Ring", "WatchMode", "open_doorbell"]

_PROOF_S: Final = 1.0
"""Seconds to wait for the event of a file we wrote ourselves. It comes within 1 ms, or never."""


def open_doorbell(
    tree: InboxTree, loop: asyncio.AbstractEventLoop, on_ring: Ring, *, mode: WatchMode | None = None
) -> Doorbell:
    """Start hearing of changes. List everything once after this returns: for what was there before, nothing rings.

    Args:
        tree: Whose inboxes; its root and `sessions/` are made when missing.
        loop: The loop that will run; `on_ring` is called in its thread only, never before it runs.
        on_ring: See Ring.
        mode: The kind to take, without trying whether its events come; None takes the quickest whose events do.

    Returns:
        The doorbell. If it can only ring on time, its first check says why.
    """
    match mode:
        case WatchMode.DESCRIPTOR:
            return DescriptorBell(tree, loop, on_ring)
        case WatchMode.OBSERVER:
            return _observer(tree, loop, on_ring)
        case WatchMode.POLLING:
            return PollingBell(tree, loop, on_ring)
        case None:
            return _quickest(tree, loop, on_ring)


def _quickest(tree: InboxTree, loop: asyncio.AbstractEventLoop, on_ring: Ring) -> Doorbell:
    kind = file_system_type(tree.root)
    message = NO_EVENTS.format(root=tree.root, kind=kind or "unknown file system")
    if is_shared(kind):
        return PollingBell(tree, loop, on_ring, message=message)
    try:
        bell: DescriptorBell | ObserverBell = (
            DescriptorBell(tree, loop, on_ring) if inotify.is_available else _observer(tree, loop, on_ring)
        )
    except OSError as error:
        reason = {errno.EMFILE: INSTANCE_LIMIT, errno.ENOSPC: WATCH_LIMIT}.get(error.errno or 0, message)
        return PollingBell(tree, loop, on_ring, message=reason)
    if bell.proves_itself(_PROOF_S):
        return bell
    bell.close()
    return PollingBell(tree, loop, on_ring, message=message)


def _observer(tree: InboxTree, loop: asyncio.AbstractEventLoop, on_ring: Ring) -> ObserverBell:
    # Imported only when it is used: it takes half as long as everything else together.
    from fwdperm.inbox import observer_bell  # noqa: PLC0415

    return observer_bell.ObserverBell(tree, loop, on_ring)

"""Who may serve a root, and whose answer counts: on one machine, and where several machines share the file system.

Lives here: choosing between the two. Never here: a lock or a lease (`inbox/lease.py`, `inbox/shared_lease.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwdperm.inbox import DecisionRecord, OwnWord, file_system_type, is_shared, take_lease, take_shared_lease

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fwdperm.inbox import LastWord, Lease


@dataclass(frozen=True, slots=True)
class Ownership:
    """The right to serve a root.

    Attributes:
        lease: The right itself; it can be lost on a shared file system.
        last_word: Says which answer counts where two daemons believed that they own the root.
        may_write: Asked around each write of the journal whether we still own the root; None on one machine, where the
            journal's own lock is enough.
    """

    lease: Lease
    last_word: LastWord
    may_write: Callable[[], bool] | None


def take_ownership(state: Path, *, is_shared: bool, standby: bool) -> Ownership:
    """Become the one daemon of a root.

    Args:
        state: The root's state directory.
        is_shared: Whether other machines may use the directory too: a lock of our kernel does not stop those.
        standby: Wait until the present owner ends.

    Raises:
        AlreadyServed: Somebody else serves it.
        EnvironmentFailure: The directory cannot be used.
    """
    if not is_shared:
        return Ownership(take_lease(state, standby=standby), OwnWord(), may_write=None)
    lease = take_shared_lease(state, standby=standby)
    return Ownership(lease, DecisionRecord(state, is_owner=lease.is_held), may_write=lease.is_held)


def lies_shared(path: Path) -> bool:
    """Say whether other machines may use the file system that holds a path."""
    return is_shared(file_system_type(path))


def sharing_remark(root: Path, state: Path, *, is_said: bool = False) -> str:
    """Say what one daemon cannot see where the root is shared and the state is not; empty when all is well.

    Args:
        root: The inbox tree.
        state: What children must not reach.
        is_said: The operator says that both are shared.
    """
    if is_said or not lies_shared(root) or lies_shared(state):
        return ""
    return (
        f"`{root}` is on a shared file system and the state in `{state}` is not: a daemon on another host would not be "
        "seen and would answer the same requests; serve this root from this host only, or put the state on a shared "
        "file system too (`XDG_STATE_HOME`)"
    )

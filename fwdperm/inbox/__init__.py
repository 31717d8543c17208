"""The one way to the file system of the children: mail in, answers out, the doorbell, the heartbeat, the lease.

Lives here: everything that touches the inbox tree. Never here: what a request means, or what is decided about it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.inbox.decision_record import DecisionRecord, LastWord, OwnWord
    from fwdperm.inbox.doorbell import open_doorbell
    from fwdperm.inbox.files import (
        PRIVATE_MODES,
        held_directory,
        publish_file,
        publish_words,
        remove_file,
        replace_file,
    )
    from fwdperm.inbox.health import Doorbell, WatchMode
    from fwdperm.inbox.heartbeat import Heart, visible_pid
    from fwdperm.inbox.lease import Lease, take_lease
    from fwdperm.inbox.mounts import file_system_type, is_shared
    from fwdperm.inbox.protocol import (
        AlreadyThere,
        Failed,
        Identity,
        Letter,
        Mail,
        Published,
        PublishOutcome,
        Transport,
        Unread,
        UnreadableCode,
        UnreadableEntry,
    )
    from fwdperm.inbox.safe_reading import AbsentFile, BadFile, WholeFile, os_error_words, read_regular
    from fwdperm.inbox.shared_lease import take_shared_lease
    from fwdperm.inbox.tree import InboxTree
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "decision_record": ("DecisionRecord", "LastWord", "OwnWord"),
            "doorbell": ("open_doorbell",),
            "files": (
                "PRIVATE_MODES",
                "held_directory",
                "publish_file",
                "publish_words",
                "remove_file",
                "replace_file",
            ),
            "health": ("Doorbell", "WatchMode"),
            "heartbeat": ("Heart", "visible_pid"),
            "lease": ("Lease", "take_lease"),
            "mounts": ("file_system_type", "is_shared"),
            "protocol": (
                "AlreadyThere",
                "Failed",
                "Identity",
                "Letter",
                "Mail",
                "PublishOutcome",
                "Published",
                "Transport",
                "Unread",
                "UnreadableCode",
                "UnreadableEntry",
            ),
            "safe_reading": ("AbsentFile", "BadFile", "WholeFile", "os_error_words", "read_regular"),
            "shared_lease": ("take_shared_lease",),
            "tree": ("InboxTree",),
        },
    )

__all__ = [
    "PRIVATE_MODES",
    "AbsentFile",
    "AlreadyThere",
    "BadFile",
    "DecisionRecord",
    "Doorbell",
    "Failed",
    "Heart",
    "Identity",
    "InboxTree",
    "LastWord",
    "Lease",
    "Letter",
    "Mail",
    "OwnWord",
    "PublishOutcome",
    "Published",
    "Transport",
    "Unread",
    "UnreadableCode",
    "UnreadableEntry",
    "WatchMode",
    "WholeFile",
    "file_system_type",
    "held_directory",
    "is_shared",
    "open_doorbell",
    "os_error_words",
    "publish_file",
    "publish_words",
    "read_regular",
    "remove_file",
    "replace_file",
    "take_lease",
    "take_shared_lease",
    "visible_pid",
]

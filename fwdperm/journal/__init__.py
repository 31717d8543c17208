"""The append-only record of everything: the audit, and what recovery replays.

Lives here: records as values (`record.py`, `request_records.py`, `sanitize.py`, `line.py`, `state.py`: pure), the files
they are written to (`segments.py`, `log.py`, `recovery.py`, `checkpoint.py`, `prune.py`), and readers of these
(`replay.py`, `verify.py`, `query.py`).
Never here: what a record means for a decision, a session rule or a prompt.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.journal.filters import Filter
    from fwdperm.journal.line import JournalLine, read_record
    from fwdperm.journal.log import Journal
    from fwdperm.journal.prune import Retention, prune_journal, surplus
    from fwdperm.journal.query import export_journal, follow_journal, query_journal, tail_journal
    from fwdperm.journal.record import (
        RECORD_KINDS,
        AskedRecord,
        DecidedRecord,
        DeliveredRecord,
        JournalEntry,
        OverruledRecord,
        RepliedRecord,
        RuleAddedRecord,
        RuleRevokedRecord,
        SessionSeenRecord,
        SetAsideRecord,
        StartedRecord,
        StoppedRecord,
        VerdictRecord,
    )
    from fwdperm.journal.replay import replay_journal
    from fwdperm.journal.request_records import asked_record, decided_record, digest_of_values
    from fwdperm.journal.segments import JournalFailed
    from fwdperm.journal.state import Fold, JournalState, key_hash
    from fwdperm.journal.verify import verify_journal
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "filters": ("Filter",),
            "line": ("JournalLine", "read_record"),
            "log": ("Journal",),
            "prune": ("Retention", "prune_journal", "surplus"),
            "query": ("export_journal", "follow_journal", "query_journal", "tail_journal"),
            "record": (
                "AskedRecord",
                "DecidedRecord",
                "DeliveredRecord",
                "JournalEntry",
                "OverruledRecord",
                "RECORD_KINDS",
                "RepliedRecord",
                "RuleAddedRecord",
                "RuleRevokedRecord",
                "SessionSeenRecord",
                "SetAsideRecord",
                "StartedRecord",
                "StoppedRecord",
                "VerdictRecord",
            ),
            "replay": ("replay_journal",),
            "request_records": ("asked_record", "decided_record", "digest_of_values"),
            "segments": ("JournalFailed",),
            "state": ("Fold", "JournalState", "key_hash"),
            "verify": ("verify_journal",),
        },
    )

__all__ = [
    "RECORD_KINDS",
    "AskedRecord",
    "DecidedRecord",
    "DeliveredRecord",
    "Filter",
    "Fold",
    "Journal",
    "JournalEntry",
    "JournalFailed",
    "JournalLine",
    "JournalState",
    "OverruledRecord",
    "RepliedRecord",
    "Retention",
    "RuleAddedRecord",
    "RuleRevokedRecord",
    "SessionSeenRecord",
    "SetAsideRecord",
    "StartedRecord",
    "StoppedRecord",
    "VerdictRecord",
    "asked_record",
    "decided_record",
    "digest_of_values",
    "export_journal",
    "follow_journal",
    "key_hash",
    "prune_journal",
    "query_journal",
    "read_record",
    "replay_journal",
    "surplus",
    "tail_journal",
    "verify_journal",
]

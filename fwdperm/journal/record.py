"""What the journal can say: a closed union of frozen records.

Lives here: the records and their fields. Pure.
Never here: how one is made of a request and a decision (`request_records.py`), JSON (`line.py`), redaction and clipping
(`sanitize.py`), sequence numbers (the log gives them).

A field's metadata says how `sanitize.py` treats it: `text` is redacted and clipped; `exact` is left out where it would
have to be changed; a field without metadata is an identifier and is written as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from fwdperm.wire import Outcome, RuleRef, Stage, UnitEvidence

if TYPE_CHECKING:
    from collections.abc import Mapping


def _text(limit: int) -> Any:
    """Declare a field of free text: redacted, then clipped to `limit` characters."""
    return field(default="", metadata={"text": limit})


def _texts(limit: int, *, most: int) -> Any:
    """Declare a tuple of free texts, of which the first `most` are kept."""
    return field(default=(), metadata={"text": limit, "most": most})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSubject:
    """Which request a record is about; the records about a request are subclasses.

    Attributes:
        inbox: The session whose inbox it lay in.
        id: The request's id. (inbox, id) is decided at most once, for ever.
        digest: sha-256 (hex) of the request's bytes.
        session: The requester's session id (a claim).
        agent: The requester's agent name (a claim).
        chain: Sessions between the requester and the inbox, nearest requester first.
        surface: What kind of thing.
        values: Its values; long ones are clipped, and only the first eight kept.
        values_digest: sha-256 (hex) over all values in full, so that an identical request can be recognised.
        cwd: The requester's working directory.
        turn: The turn of the agent that the request names; empty when it names none.
    """

    inbox: str = ""
    id: str = ""
    digest: str = ""
    session: str = ""
    agent: str = _text(256)
    chain: tuple[str, ...] = ()
    surface: str = _text(256)
    values: tuple[str, ...] = _texts(1_000, most=8)
    values_digest: str = ""
    cwd: str = _text(1_000)
    turn: str = _text(256)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRecord:
    """The daemon opened the journal."""

    KIND: ClassVar[str] = "started"
    version: str = ""
    root: str = ""
    ruleset: str = ""
    pid: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedRecord:
    """The daemon closed the journal in good order."""

    KIND: ClassVar[str] = "stopped"
    reason: str = _text(500)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRecord(RequestSubject):
    """A request reached the human's queue."""

    KIND: ClassVar[str] = "asked"
    message: str = _text(1_000)
    tool: str = _text(256)
    why: str = _text(500)
    requested_at: int = 0
    deadline_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """What the judge said, or the code of its failure.

    Attributes:
        effects: What it thinks would happen.
        manipulation: True when it saw the request trying to influence it.
        attempts: Calls that were made for it; 0 when there was none, or it was shared with an equal request.
        prefixes: Hash of what it was shown up to and including each section of the brief.
        microdollars: Millionths of a dollar, by the operator's prices.
        unused: Why the verdict was not followed although it came in time; empty otherwise.
    """

    KIND: ClassVar[str] = "verdict"
    inbox: str = ""
    id: str = ""
    digest: str = ""
    model: str = ""
    verdict: str = ""
    risk: str = ""
    cited: str = ""
    reason: str = _text(1_000)
    effects: tuple[str, ...] = ()
    manipulation: bool = False
    latency_ms: int = 0
    attempts: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    microdollars: int = 0
    prefixes: tuple[str, ...] = ()
    failure: str = ""
    unused: str = _text(200)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepliedRecord:
    """A person answered. Session rules come from these records, and from `RuleAddedRecord`.

    Attributes:
        patterns: The patterns of an *always*. One in which redaction finds a secret, or that is too long, is left out:
            changed or clipped it would grant something else than the person gave.
        patterns_withheld: How many were left out.
        covers: The surface that each of the patterns is for, in the same order. If one is missing, none grants.
        scope: How far the grants reach, as the person chose.
        anchor: The session the grants hang on; empty when there are none, or when they went to the project's file.
        anchor_inbox: The inbox that session asks in, for a grant to the requester alone.
        anchor_run: When that session was started on record, epoch milliseconds; 0 for one that was not.
        requester_run: The same for the requester.
        surfaces: The surfaces of what was asked.
        expires_in_ms: How long a grant holds, milliseconds; 0 for the session's life.
        expires_at: When that ends, epoch milliseconds on the daemon's clock that is never set back.
    """

    KIND: ClassVar[str] = "replied"
    inbox: str = ""
    id: str = ""
    digest: str = ""
    reply: str = ""
    feedback: str = _text(2_000)
    patterns: tuple[str, ...] = field(default=(), metadata={"exact": 1_000, "withheld": "patterns_withheld"})
    patterns_withheld: int = 0
    covers: tuple[str, ...] = ()
    scope: str = ""
    anchor: str = ""
    anchor_inbox: str = ""
    anchor_run: int = 0
    requester_run: int = 0
    surfaces: tuple[str, ...] = ()
    expires_in_ms: int = 0
    expires_at: int = 0
    via: str = ""
    user: str = ""
    source: str = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedRecord(RequestSubject):
    """The final word on a request.

    Attributes:
        outcome: What the requester may do.
        stage: Who decided.
        code: Why nobody decided; empty otherwise.
        rule: The deciding rule, where one decided.
        by: Interface, model or guard entry that decided.
        guard: Id of the guard's finding, where the guard decided; empty otherwise.
        ruleset: Version of the rulesets it was decided by.
        units: What was found for each unit; the first 32 units.
        unit_count: How many units there were.
        requested_at: When the request arrived, epoch milliseconds.
        duration_ms: Milliseconds from arrival to decision.
        response: The answer file's content, so that the same answer can be published again after a crash.
    """

    KIND: ClassVar[str] = "decided"
    outcome: Outcome = Outcome.DENIED
    stage: Stage = Stage.NOBODY
    code: str = ""
    rule: RuleRef | None = None
    by: str = ""
    guard: str = ""
    ruleset: str = ""
    units: tuple[UnitEvidence, ...] = ()
    unit_count: int = 0
    reason: str = _text(2_000)
    note: str = _text(2_000)
    tool: str = _text(256)
    requested_at: int = 0
    duration_ms: int = 0
    response: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_approved(self) -> bool:
        """Say whether the requester may go ahead."""
        return self.outcome is Outcome.APPROVED


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredRecord:
    """The answer was published and the request removed.

    It is written without a sync of its own: a restart that misses it only publishes the same answer again.
    """

    KIND: ClassVar[str] = "delivered"
    inbox: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverruledRecord:
    """Another daemon had decided this request before: its requester was given that answer, not ours.

    Attributes:
        outcome: What that answer says.
        answer: The content of that answer's file.
    """

    KIND: ClassVar[str] = "overruled"
    inbox: str = ""
    id: str = ""
    outcome: Outcome = Outcome.DENIED
    answer: str = _text(2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAsideRecord:
    """A file in an inbox was not a readable request."""

    KIND: ClassVar[str] = "set_aside"
    inbox: str = ""
    file: str = _text(300)
    reason: str = _text(500)
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSeenRecord:
    """A session and its place in the tree. The newest one for a session counts."""

    KIND: ClassVar[str] = "session_seen"
    session: str = ""
    parent: str = ""
    agent: str = _text(256)
    cwd: str = _text(1_000)
    verified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadedRecord:
    """The ruleset was read again."""

    KIND: ClassVar[str] = "reloaded"
    ruleset: str = ""
    problems: tuple[str, ...] = _texts(500, most=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAddedRecord:
    """A session rule that came from no reply: added by hand, or kept over a prune.

    Attributes:
        what: `grant`, or `project_grant` for one that went to a project's file and so is no session rule.
        pattern: What it covers; empty when withheld.
        withheld: 1 when the pattern held a secret or was too long. Such a rule covers nothing.
        scope: How far it reaches.
        session: The session it hangs on.
        inbox: The inbox that session asks in, for a rule for one requester alone.
        run: When that session was started on record, epoch milliseconds; 0 for one that was not.
        expires_at: Epoch milliseconds; 0 for the session's life.
    """

    KIND: ClassVar[str] = "rule_added"
    rule: str = ""
    what: str = ""
    surface: str = ""
    pattern: str = field(default="", metadata={"exact": 1_000, "withheld": "withheld"})
    withheld: int = 0
    scope: str = ""
    session: str = ""
    inbox: str = ""
    run: int = 0
    note: str = _text(2_000)
    expires_at: int = 0
    via: str = ""
    user: str = ""
    source: str = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRevokedRecord:
    """A session rule no longer holds."""

    KIND: ClassVar[str] = "rule_revoked"
    rule: str = ""
    reason: str = _text(500)
    via: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedRecord:
    """The journal itself was repaired.

    Attributes:
        fault: `torn` (a tail that was never acknowledged), `disk` (the disk refused and recovered), `cut`
            (acknowledged lines are missing at the end), `broken` (acknowledged bytes are not what was written).
            The last two stay a finding of every later verification.
        file: Where.
        kept: File beside the journal that holds the bytes that were cut; empty when there is none.
        bytes: How many bytes were cut.
    """

    KIND: ClassVar[str] = "repaired"
    fault: str = ""
    file: str = ""
    kept: str = ""
    bytes: int = 0
    detail: str = _text(500)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRecord:
    """One part of what was in force when older segments were removed. Parts of one snapshot follow each other.

    Attributes:
        name: Whose state: `core`, or a further fold's name.
        part: From 1 to `parts`.
        data: A piece of the state's JSON text, already redacted because it was folded from records.
    """

    KIND: ClassVar[str] = "snapshot"
    name: str = ""
    part: int = 1
    parts: int = 1
    data: str = field(default="", metadata={"whole": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedRecord:
    """The anchor of a prune: says which older segments were removed on purpose, so that their lines are not missed.

    Attributes:
        removed: For every removed segment its name, last sequence number and last line's hash, blank-separated.
        keys: File that holds the hashes of every request decided in them.
        keys_count: How many.
        keys_digest: sha-256 (hex) of that file.
        damage: How often damage had been found in the journal by then: the lines that said so may have been removed.
    """

    KIND: ClassVar[str] = "pruned"
    removed: tuple[str, ...] = ()
    keys: str = ""
    keys_count: int = 0
    keys_digest: str = ""
    damage: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownRecord:
    """A record of a kind, or of a shape, that a later version writes. Kept, and skipped by readers."""

    KIND: ClassVar[str] = ""
    kind: str
    data: Mapping[str, Any] = field(hash=False)


Record: TypeAlias = (
    StartedRecord
    | StoppedRecord
    | AskedRecord
    | VerdictRecord
    | RepliedRecord
    | DecidedRecord
    | DeliveredRecord
    | OverruledRecord
    | SetAsideRecord
    | SessionSeenRecord
    | ReloadedRecord
    | RuleAddedRecord
    | RuleRevokedRecord
    | RepairedRecord
    | SnapshotRecord
    | PrunedRecord
    | UnknownRecord
)

RECORD_KINDS: Mapping[str, type[Any]] = {
    made.KIND: made
    for made in (
        StartedRecord,
        StoppedRecord,
        AskedRecord,
        VerdictRecord,
        RepliedRecord,
        DecidedRecord,
        DeliveredRecord,
        OverruledRecord,
        SetAsideRecord,
        SessionSeenRecord,
        ReloadedRecord,
        RuleAddedRecord,
        RuleRevokedRecord,
        RepairedRecord,
        SnapshotRecord,
        PrunedRecord,
    )
}


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A record with its place in the journal.

    Attributes:
        seq: Its number, from 1, without gaps.
        at: When it was appended, epoch milliseconds.
        record: What it says.
        extra: Keys of a later minor version, kept as they are.
    """

    seq: int
    at: int
    record: Record
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

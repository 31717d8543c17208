"""What the journal's lines add up to: which requests are decided, which answers are undelivered, who is whose child.

Lives here: the fold over lines that recovery needs, and the place for further folds. Pure.
Never here: files, session rules (they are a further fold of their own room).

Promises: a request that was once decided is never decided again; loading a dumped state and applying the lines after it
gives the same as applying all lines.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from fwdperm.journal.line import read_record
from fwdperm.journal.record import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fwdperm.journal.line import JournalLine
    from fwdperm.journal.record import Record
    from fwdperm.wire import RequestKey

KEY_BYTES: Final = 16
"""Bytes of the hash that is kept for ever of a decided request: a chance collision takes about 2**64 requests."""

SESSIONS_KEPT: Final = 10_000
"""Sessions whose place in the tree is kept, the newest ones. Bounded, because each process that asks without a session
id of its own makes a new one."""


class Fold(Protocol):
    """Something else that is computed from the journal's entries, such as session rules or history. Must not raise.

    Attributes:
        name: Under which its state is kept in checkpoints and snapshots.
        kinds: The kinds of record it wants to see.
    """

    name: str
    kinds: frozenset[str]

    def apply(self, entry: JournalEntry) -> None:
        """Take one more entry into account."""

    def dump(self) -> Any:
        """Give the whole state as a JSON value."""

    def load(self, data: Any) -> None:
        """Replace the whole state by a dumped one; None empties it."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A decision whose answer may not have reached its requester: publish this answer if the request is still there."""

    inbox: str
    id: str
    digest: str
    outcome: str
    seq: int
    at: int
    response: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Open:
    """A question that reached the human and was not decided.

    Attributes:
        reply: The body of the reply that was given but not yet made a decision (camelCase); None without one.
    """

    inbox: str
    id: str
    digest: str
    session: str
    seq: int
    at: int
    reply: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """The newest place of a session in the tree."""

    session: str
    parent: str
    agent: str
    cwd: str
    verified: bool


@lru_cache(maxsize=1_024)
def key_hash(inbox: str, request_id: str) -> bytes:
    """Give the few bytes by which a decided request is remembered."""
    return hashlib.blake2b(f"{request_id}/{inbox}".encode(errors="surrogatepass"), digest_size=KEY_BYTES).digest()


@dataclass(slots=True)
class JournalState:
    """What recovery needs.

    Attributes:
        spent: Hashes of every request ever decided.
        fresh: Those not yet in the keys file beside the checkpoint, in order.
        undelivered: Decided, and not known to be delivered.
        waiting: Asked of the human, and not decided.
        sessions: Session id -> its newest place.
        damage: How often acknowledged lines were found missing or changed. Not 0: be careful what is believed.
    """

    spent: set[bytes] = field(default_factory=set)
    fresh: list[bytes] = field(default_factory=list)
    undelivered: dict[RequestKey, RecordedAnswer] = field(default_factory=dict)
    waiting: dict[RequestKey, Open] = field(default_factory=dict)
    sessions: dict[str, Edge] = field(default_factory=dict)
    damage: int = 0

    def is_decided(self, inbox: str, request_id: str) -> bool:
        """Say whether this request was ever decided: then it never is again."""
        return key_hash(inbox, request_id) in self.spent

    def apply(self, line: JournalLine) -> None:
        """Take one more line into account. Kinds it does not know change nothing."""
        data = line.data
        match line.kind:
            case "decided":
                self._decide(line, (str(data.get("inbox", "")), str(data.get("id", ""))))
            case "delivered":
                self.undelivered.pop((str(data.get("inbox", "")), str(data.get("id", ""))), None)
            case "asked" | "replied":
                self._open(line, (str(data.get("inbox", "")), str(data.get("id", ""))))
            case "session_seen":
                session = str(data.get("session", ""))
                self.sessions.pop(session, None)
                while len(self.sessions) >= SESSIONS_KEPT:
                    del self.sessions[next(iter(self.sessions))]
                self.sessions[session] = Edge(
                    session,
                    str(data.get("parent", "")),
                    str(data.get("agent", "")),
                    str(data.get("cwd", "")),
                    data.get("verified") is True,
                )
            case "repaired" if data.get("fault") in {"cut", "broken"}:
                self.damage += 1
            case _:
                pass

    def add_spent(self, keys: Iterable[bytes]) -> None:
        """Remember requests that were decided in segments that are gone."""
        for key in keys:
            if key not in self.spent:
                self.spent.add(key)
                self.fresh.append(key)

    def distrust(self, line: JournalLine) -> None:
        """Take a line into account that may have been changed: a request that it decides counts as decided, no more."""
        if line.kind == "decided":
            self.add_spent((key_hash(str(line.data.get("inbox", "")), str(line.data.get("id", ""))),))

    def _decide(self, line: JournalLine, key: RequestKey) -> None:
        self.add_spent((key_hash(*key),))
        self.waiting.pop(key, None)
        data = line.data
        response = data.get("response")
        if isinstance(response, dict) and response:
            self.undelivered[key] = RecordedAnswer(
                *key, str(data.get("digest", "")), str(data.get("outcome", "denied")), line.seq, line.at, response
            )

    def _open(self, line: JournalLine, key: RequestKey) -> None:
        if key_hash(*key) in self.spent:
            return
        before = self.waiting.get(key)
        data = line.data
        if line.kind == "replied":
            reply = {name: data[name] for name in sorted(data) if name not in {"v", "seq", "at", "kind", "prev"}}
            session = before.session if before else ""
            digest = str(data.get("digest", "")) or (before.digest if before else "")
            self.waiting[key] = Open(*key, digest, session, line.seq, line.at, reply)
        else:
            reply_before = before.reply if before else None
            self.waiting[key] = Open(
                *key, str(data.get("digest", "")), str(data.get("session", "")), line.seq, line.at, reply_before
            )

    def dump(self) -> dict[str, Any]:
        """Give everything but `spent` as a JSON value."""
        return {
            "undelivered": [asdict(each) for each in self.undelivered.values()],
            "waiting": [asdict(each) for each in self.waiting.values()],
            "sessions": [asdict(each) for each in self.sessions.values()],
            "damage": self.damage,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Replace everything but `spent`; raises KeyError or TypeError for what `dump` did not write."""
        answers = [RecordedAnswer(**each) for each in data["undelivered"]]
        opens = [Open(**each) for each in data["waiting"]]
        edges = [Edge(**each) for each in data["sessions"]]
        self.damage = int(data["damage"])
        self.undelivered = {(each.inbox, each.id): each for each in answers}
        self.waiting = {(each.inbox, each.id): each for each in opens}
        self.sessions = {each.session: each for each in edges}


@dataclass(slots=True)
class Folding:
    """The state and the further folds: each line is applied to all of them."""

    state: JournalState = field(default_factory=JournalState)
    folds: Sequence[Fold] = ()
    _parts: dict[str, list[str]] = field(default_factory=dict)

    def apply(self, line: JournalLine, record: Record | None = None) -> None:
        """Take one more line into account.

        Args:
            line: The line.
            record: The record in it, when the caller has it at hand; None reads it from the line.
        """
        if line.kind == "snapshot":
            self._restore(line)
            return
        self.state.apply(line)
        entry: JournalEntry | None = None
        for fold in self.folds:
            if line.kind in fold.kinds:
                if entry is None:
                    entry = read_record(line) if record is None else JournalEntry(line.seq, line.at, record)
                fold.apply(entry)

    def dump(self) -> dict[str, Any]:
        """Give the state of every fold by name, `core` for ours."""
        return {"core": self.state.dump()} | {fold.name: fold.dump() for fold in self.folds}

    def load(self, data: Mapping[str, Any]) -> None:
        """Replace the state of every fold; raises KeyError when one is missing."""
        self.state.load(data["core"])
        for fold in self.folds:
            fold.load(data[fold.name])

    def _restore(self, line: JournalLine) -> None:
        """Collect the parts of a snapshot; the last one replaces the state of the fold that the snapshot names."""
        name = str(line.data.get("name", ""))
        part, parts = int(line.data.get("part", 1)), int(line.data.get("parts", 1))
        if part == 1:
            self._parts[name] = []
        gathered = self._parts.get(name)
        if gathered is None or part != len(gathered) + 1:
            return
        gathered.append(str(line.data.get("data", "")))
        if part < parts:
            return
        del self._parts[name]
        whole = json.loads("".join(gathered))
        if name == "core":
            self.state.load(whole)
        for fold in self.folds:
            if fold.name == name:
                fold.load(whole)

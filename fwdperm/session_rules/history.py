"""What was decided lately, and how often each thing was asked: for the judge to read, and for previews of a rule.

Lives here: `HistoryFold` and its rendering. Pure. Never here: which rules hold.

History is in the order of the journal's lines, also where several requests were decided in one turn of the daemon.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Final

from fwdperm.rules import Wildcard
from fwdperm.session_rules.judge_sections import quoted
from fwdperm.wire import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fwdperm.journal import DecidedRecord, JournalEntry

KEPT: Final = 20
"""Decisions kept for each requester."""
REQUESTERS: Final = 1_000
"""Requesters kept; the one that was quiet longest goes first."""
ASKS: Final = 5_000
"""Different requests counted; the one that was asked longest ago goes first."""
VALUE_CHARS: Final = 200
"""Characters of a request's value that are kept, and shown to the judge."""
NOTE_CHARS: Final = 500
"""Characters of a note."""


@dataclass(frozen=True, slots=True)
class Past:
    """One decision.

    Attributes:
        seq: Number of its journal line.
        id: The request's id.
        outcome: `approved` or `denied`.
        stage: Who decided.
        surface: What kind of thing.
        value: Its first spelling, clipped.
        note: What a person said with it; empty unless a person decided.
        turn: The turn that the request named; empty when it named none.
    """

    seq: int
    id: str
    outcome: str
    stage: str
    surface: str
    value: str
    note: str = ""
    turn: str = ""


@dataclass(slots=True)
class AskCount:
    """How often the same thing was asked.

    Attributes:
        asked: Times it was decided by anyone but a recorded rule.
        approved: Of these, how often a person approved.
        rejected: How often a person rejected.
        last_at: The latest time, epoch milliseconds.
    """

    asked: int = 0
    approved: int = 0
    rejected: int = 0
    last_at: int = 0


@dataclass(frozen=True, slots=True)
class Preview:
    """What a pattern would have matched so far.

    Attributes:
        matched: How many past requests.
        approved: Of these, how many a person approved.
        rejected: How many a person rejected.
        examples: Different requests it matches, newest first, the rejected ones before the others: (text, rejected).
        different: How many different ones there are.
        out_of: How many different requests are remembered.
    """

    matched: int
    approved: int
    rejected: int
    examples: tuple[tuple[str, bool], ...]
    different: int
    out_of: int


class HistoryFold:
    """The last decisions of each requester, and how often each thing was asked: folded from the journal."""

    name = "history"
    kinds = frozenset({"decided"})

    def __init__(self) -> None:
        self._past: dict[tuple[str, str], deque[Past]] = {}
        self._tallies: dict[str, AskCount] = {}

    def apply(self, entry: JournalEntry) -> None:
        """Take one more entry into account."""
        record: Any = entry.record
        if getattr(record, "KIND", "") == "decided":
            self._decided(entry, record)

    def _decided(self, entry: JournalEntry, record: DecidedRecord) -> None:
        if record.code == "replayed":  # an id that was decided before: nothing new was asked
            return
        is_human = record.stage == "human"
        past = Past(
            seq=entry.seq,
            id=record.id,
            outcome=str(record.outcome),
            stage=str(record.stage),
            surface=record.surface,
            value=record.values[0][:VALUE_CHARS] if record.values else "",
            note=record.note[:NOTE_CHARS] if is_human else "",
            turn=record.turn,
        )
        requester = (record.inbox, record.session)
        kept = self._past.pop(requester, None) or deque(maxlen=KEPT)
        kept.append(past)
        self._past[requester] = kept
        while len(self._past) > REQUESTERS:
            del self._past[next(iter(self._past))]
        self._count(record, at=entry.at)

    def _count(self, record: DecidedRecord, *, at: int) -> None:
        """Count a request under the set of its units that no recorded rule settled; one without such units is left."""
        parts = {
            (unit.surface, unit.text)
            for unit in record.units
            if unit.action == "ask" or (unit.rule is not None and unit.rule.layer == "session")
        }
        if not parts:
            return
        key = json.dumps(sorted(parts))
        tally = self._tallies.pop(key, None) or AskCount()
        tally.asked += 1
        if record.stage == "human":
            tally.approved += record.is_approved
            tally.rejected += not record.is_approved
        tally.last_at = max(tally.last_at, at)
        self._tallies[key] = tally
        while len(self._tallies) > ASKS:
            del self._tallies[next(iter(self._tallies))]

    def of(self, requester: tuple[str, str]) -> tuple[Past, ...]:
        """Give a requester's last decisions, oldest first.

        Args:
            requester: (inbox, session).
        """
        return tuple(self._past.get(requester, ()))

    def preview(self, pairs: Iterable[tuple[str, str]], *, most: int = 5) -> Preview:
        """Say what patterns would have matched: every past request with a part that one of them covers.

        Args:
            pairs: (surface, pattern), as grants write them.
            most: Examples to give.
        """
        compiled = [(surface, Wildcard.literal_aware(pattern)) for surface, pattern in pairs]
        found: list[tuple[AskCount, str]] = []
        for key, tally in reversed(self._tallies.items()):
            for surface, text in json.loads(key):
                if any(surface == one and wildcard.matches(text) for one, wildcard in compiled):
                    found.append((tally, text))
                    break
        ordered = sorted(found, key=lambda each: not each[0].rejected)
        return Preview(
            matched=sum(tally.asked for tally, _ in found),
            approved=sum(tally.approved for tally, _ in found),
            rejected=sum(tally.rejected for tally, _ in found),
            examples=tuple((text, tally.rejected > 0) for tally, text in ordered[:most]),
            different=len(found),
            out_of=len(self._tallies),
        )

    def dump(self) -> dict[str, Any]:
        """Give the whole state as a JSON value."""
        return {
            "v": 1,
            "past": [[*requester, [list(astuple(past)) for past in kept]] for requester, kept in self._past.items()],
            "tallies": [[key, *astuple(tally)] for key, tally in self._tallies.items()],
        }

    def load(self, data: Any) -> None:
        """Replace the whole state by a dumped one; None empties it.

        Raises:
            KeyError, TypeError, ValueError: For what `dump` did not write.
        """
        self._past, self._tallies = {}, {}
        if data is None:
            return
        if data["v"] != 1:
            raise ValueError("history of another version")
        for inbox, session, kept in data["past"]:
            self._past[inbox, session] = deque((Past(*each) for each in kept), maxlen=KEPT)
        self._tallies = {key: AskCount(*rest) for key, *rest in data["tallies"]}


def history_section(past: Iterable[Past], *, mark: Callable[[Past], str]) -> str:
    """Render a requester's last decisions, oldest first, as the judge reads them.

    Args:
        past: From `HistoryFold.of`.
        mark: Gives the id of the rule in force that the note of a decision taught; empty when there is none any more,
            and then the note is not shown either.

    Returns:
        The `<history>` section. New decisions are added at its end; no line before them changes.
    """
    lines = [_line(one, rule=mark(one) if one.note else "") for one in past]
    return "\n".join(("<history>", *(lines or ["(nothing yet)"]), "</history>"))


def _line(past: Past, *, rule: str) -> str:
    note = f" [{rule}] (user note: {quoted(past.note, chars=NOTE_CHARS)})" if rule else ""
    value = quoted(past.value, chars=VALUE_CHARS)
    return f"#{past.seq} {past.outcome} by {past.stage.replace('_', ' ')}: {shown(past.surface)} {value}{note}"

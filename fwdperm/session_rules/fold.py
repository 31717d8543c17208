"""Journal entries in, what people taught out.

Lives here: `RulesFold`. Pure. Never here: who may use a rule (`view.py`), the journal's files.

Promises: only a person's reply, or a rule a person added by hand, teaches anything: expiry, withdrawal, unavailability
and verdicts do not. Loading a dumped state and applying the entries after it gives the same as applying all entries. An
*always* of which one pattern was withheld from the journal grants nothing at all: the rest is not what the person saw.
It never raises for what a journal can hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final

from fwdperm.session_rules.grants import GrantIndex, SessionKey, place_of
from fwdperm.session_rules.values import (
    REQUESTER,
    TREE,
    Anchor,
    Grant,
    Guidance,
    Refusal,
    SessionRule,
    dump_rule,
    likeness_of,
    load_rule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fwdperm.journal import (
        AskedRecord,
        DecidedRecord,
        JournalEntry,
        RepliedRecord,
        RuleAddedRecord,
        RuleRevokedRecord,
    )
    from fwdperm.wire import RequestKey


SHOWN_CHARS: Final = 200
"""Characters of a request's value that a rule or a history entry keeps."""
QUESTIONS: Final = 10_000
"""Questions without an answer that are remembered: more than a seat ever holds; the oldest go first."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What a reply has to know of the request it answers."""

    session: str
    surface: str
    shown: str
    values_digest: str
    cwd: str


@dataclass(slots=True)
class RuleUse:
    """How often a rule decided.

    Attributes:
        count: How many requests.
        last_at: The latest of them, epoch milliseconds; 0 for never.
    """

    count: int = 0
    last_at: int = 0


class RulesFold:
    """What was taught and still stands.

    Attributes:
        rules: By id, oldest first. Expired ones stay until something is taught again: ask each with a time.
        uses: By rule id.
        epoch: Number of the journal line that last changed a rule; 0 before any did.
        clock: The largest time seen, epoch milliseconds.
        grants: The grants among the rules, indexed.
        refusals: The refusals, by likeness, oldest first.
    """

    name = "session_rules"
    kinds = frozenset({"asked", "replied", "decided", "rule_added", "rule_revoked"})

    def __init__(self) -> None:
        self._empty()

    def _empty(self) -> None:
        self.rules: dict[str, SessionRule] = {}
        self.uses: dict[str, RuleUse] = {}
        self.epoch = 0
        self.clock = 0
        self.grants = GrantIndex()
        self.refusals: dict[str, dict[str, Refusal]] = {}
        self._questions: dict[RequestKey, _Question] = {}
        # Indexes over `rules`; the inner keys are rule ids, oldest first.
        self._hanging: dict[SessionKey, dict[str, SessionRule]] = {}  # by the session a rule hangs on
        self._guidance: dict[tuple[SessionKey, str], dict[str, Guidance]] = {}  # by that session and a surface
        self._answers: dict[RequestKey, dict[str, SessionRule]] = {}  # by the request whose answer taught it
        self._ends: list[tuple[int, str]] = []  # a heap of (expires_at, rule id)

    # -- the fold ----------------------------------------------------------------------------------------------

    def apply(self, entry: JournalEntry) -> None:
        """Take one more entry into account."""
        self.clock = max(self.clock, entry.at)
        handle = _HANDLERS.get(getattr(entry.record, "KIND", ""))
        if handle is not None:
            handle(self, entry, entry.record)

    def _asked(self, _: JournalEntry, record: AskedRecord) -> None:
        shown = record.values[0][:SHOWN_CHARS] if record.values else ""
        self._questions[record.inbox, record.id] = _Question(
            record.session, record.surface, shown, record.values_digest, record.cwd
        )
        while len(self._questions) > QUESTIONS:
            del self._questions[next(iter(self._questions))]

    def _replied(self, entry: JournalEntry, record: RepliedRecord) -> None:
        question = self._questions.get((record.inbox, record.id))
        if question is None or record.source != "user":
            return
        if record.reply == "always":
            self._learn([*_grants(entry, record), *_note(entry, record, question)], entry)
        elif record.reply in {"once", "reject"}:
            self._learn(_note(entry, record, question), entry)

    def _decided(self, entry: JournalEntry, record: DecidedRecord) -> None:
        self._questions.pop((record.inbox, record.id), None)
        if record.stage != "session_rule":
            return
        named = {record.rule.id if record.rule else ""} | {unit.rule.id for unit in record.units if unit.rule}
        for rule in named & self.rules.keys():
            use = self.uses.setdefault(rule, RuleUse())
            use.count += 1
            use.last_at = max(use.last_at, entry.at)

    def _rule_added(self, entry: JournalEntry, record: RuleAddedRecord) -> None:
        """Take a grant that a person added by hand; notes and refusals come from answers alone."""
        if record.what != "grant" or record.source != "user" or record.withheld:
            return
        if not record.pattern or not record.surface or not record.session:
            return
        anchor = Anchor(record.scope or TREE, record.session, record.inbox, record.run)
        grant = Grant(
            id=record.rule or f"g{entry.seq}",
            seq=entry.seq,
            at=entry.at,
            user=record.user,
            via=record.via,
            inbox="",
            request="",
            anchor=anchor,
            note=record.note,
            expires_at=record.expires_at,
            surface=record.surface,
            pattern=record.pattern,
        )
        self._learn([grant], entry)

    def _rule_revoked(self, entry: JournalEntry, record: RuleRevokedRecord) -> None:
        rule = self.rules.get(record.rule)
        if rule is not None:
            self._forget(rule)
            self.epoch = entry.seq

    def _learn(self, taught: Sequence[SessionRule], entry: JournalEntry) -> None:
        if not taught:
            return
        # Expired rules go here and nowhere else, by the time of the journal: so a replay drops them at the same line.
        while self._ends and self._ends[0][0] <= self.clock:
            _, name = heappop(self._ends)
            over = self.rules.get(name)
            if over is not None and over.has_expired(self.clock):
                self._forget(over)
        for rule in taught:
            self._put(rule)
        self.epoch = entry.seq

    # -- the indexes -------------------------------------------------------------------------------------------

    def _put(self, rule: SessionRule) -> None:
        if rule.id in self.rules:
            self._forget(self.rules[rule.id])
        self.rules[rule.id] = rule
        if rule.expires_at:
            heappush(self._ends, (rule.expires_at, rule.id))
        place = place_of(rule.anchor)
        self._hanging.setdefault(place, {})[rule.id] = rule
        if rule.request:
            self._answers.setdefault((rule.inbox, rule.request), {})[rule.id] = rule
        match rule:
            case Grant():
                self.grants.add(rule)
            case Refusal():
                self.refusals.setdefault(rule.likeness, {})[rule.id] = rule
            case Guidance():
                for surface in rule.surfaces:
                    self._guidance.setdefault((place, surface), {})[rule.id] = rule

    def _forget(self, rule: SessionRule) -> None:
        del self.rules[rule.id]
        self.uses.pop(rule.id, None)
        place = place_of(rule.anchor)
        _drop(self._hanging, place, rule.id)
        _drop(self._answers, (rule.inbox, rule.request), rule.id)
        match rule:
            case Grant():
                self.grants.remove(rule)
            case Refusal():
                _drop(self.refusals, rule.likeness, rule.id)
            case Guidance():
                for surface in rule.surfaces:
                    _drop(self._guidance, (place, surface), rule.id)

    def hanging_on(self, place: SessionKey) -> list[SessionRule]:
        """Give the rules that hang on a place, newest first."""
        return list(reversed(self._hanging.get(place, {}).values()))

    def guidance_on(self, place: SessionKey, surface: str) -> list[Guidance]:
        """Give the notes on approvals that hang on a place and speak of a surface, newest first."""
        return list(reversed(self._guidance.get((place, surface), {}).values()))

    def taught_by(self, key: RequestKey) -> list[SessionRule]:
        """Give the rules in force that the answer to one request taught."""
        return list(self._answers.get(key, {}).values())

    # -- keeping -----------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """Give the whole state as a JSON value."""
        return {
            "v": 1,
            "epoch": self.epoch,
            "clock": self.clock,
            "rules": [dump_rule(rule) for rule in self.rules.values()],
            "uses": {rule: [use.count, use.last_at] for rule, use in self.uses.items()},
            "questions": [
                [*key, one.session, one.surface, one.shown, one.values_digest, one.cwd]
                for key, one in self._questions.items()
            ],
        }

    def load(self, data: Any) -> None:
        """Replace the whole state by a dumped one; None empties it.

        Raises:
            KeyError, TypeError, ValueError: For what `dump` did not write.
        """
        self._empty()
        if data is None:
            return
        if data["v"] != 1:
            raise ValueError("session rules of another version")
        self.epoch, self.clock = int(data["epoch"]), int(data["clock"])
        for each in data["rules"]:
            self._put(load_rule(each))
        self.uses = {rule: RuleUse(int(count), int(last)) for rule, (count, last) in data["uses"].items()}
        for inbox, name, *rest in data["questions"]:
            self._questions[inbox, name] = _Question(*rest)


def _origin(entry: JournalEntry, record: RepliedRecord) -> dict[str, Any]:
    """Give what every rule says of where it comes from."""
    return {
        "seq": entry.seq,
        "at": entry.at,
        "user": record.user,
        "via": record.via,
        "inbox": record.inbox,
        "request": record.id,
        "note": record.feedback,
        "expires_at": record.expires_at,
    }


def _grants(entry: JournalEntry, record: RepliedRecord) -> list[SessionRule]:
    """Give the grants of an *always*: all of them, or none when a pattern was withheld from the journal."""
    if not record.anchor or record.patterns_withheld or len(record.patterns) != len(record.covers):
        return []
    return [
        Grant(
            id=f"g{entry.seq}.{number}" if len(record.patterns) > 1 else f"g{entry.seq}",
            anchor=_anchor(record),
            surface=surface,
            pattern=pattern,
            **_origin(entry, record),
        )
        for number, (surface, pattern) in enumerate(zip(record.covers, record.patterns, strict=True), start=1)
    ]


def _note(entry: JournalEntry, record: RepliedRecord, question: _Question) -> list[SessionRule]:
    """Give what the note of a reply teaches; nothing without one."""
    if not record.feedback:
        return []
    own = Anchor(REQUESTER, question.session, record.inbox, record.requester_run)
    if record.reply == "reject":
        likeness = likeness_of(question.surface, question.values_digest, question.cwd)
        shown: dict[str, Any] = {"surface": question.surface, "shown": question.shown}
        return [Refusal(id=f"x{entry.seq}", anchor=own, likeness=likeness, **shown, **_origin(entry, record))]
    anchor = _anchor(record) if record.anchor else own
    surfaces = tuple(dict.fromkeys((*record.surfaces, question.surface)))
    shown = {"surfaces": surfaces, "shown": question.shown}
    return [Guidance(id=f"n{entry.seq}", anchor=anchor, **shown, **_origin(entry, record))]


def _anchor(record: RepliedRecord) -> Anchor:
    return Anchor(record.scope, record.anchor, record.anchor_inbox, record.anchor_run)


def _drop(index: dict[Any, dict[str, Any]], key: Any, rule: str) -> None:
    held = index.get(key)
    if held is not None:
        held.pop(rule, None)
        if not held:
            del index[key]


_HANDLERS: Final[Mapping[str, Callable[[RulesFold, Any, Any], None]]] = {
    "asked": RulesFold._asked,  # noqa: SLF001 - its own
    "replied": RulesFold._replied,  # noqa: SLF001 - as above
    "decided": RulesFold._decided,  # noqa: SLF001 - as above
    "rule_added": RulesFold._rule_added,  # noqa: SLF001 - as above
    "rule_revoked": RulesFold._rule_revoked,  # noqa: SLF001 - as above
}

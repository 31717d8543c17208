"""Taking secrets and excess length out of a record before it is written.

Lives here: what every record goes through on its way to the log: redacting, clipping, withholding. Pure. Never here:
what counts as a secret (the caller's function says).

Redaction comes before clipping: a secret that was clipped first might no longer be recognised. A text that would mean
something else when changed, such as a grant's pattern, is left out instead. Fails closed: such a grant grants nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fwdperm.journal.record import RECORD_KINDS, DecidedRecord, Record, RequestSubject, UnknownRecord
from fwdperm.journal.request_records import digest_of_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fwdperm.wire import RuleRef, UnitEvidence

Redact: TypeAlias = "Callable[[Sequence[str]], Sequence[str]]"
Told: TypeAlias = "Mapping[str, str]"
"""For each text of one record, the same text without its secrets, not yet clipped."""

IDENTIFIER_CHARS: Final = 1_024
"""Characters of a field that is an identifier: the longest real one is a path."""
EXACT_CHARS: Final = 1_000
"""Characters of a text that is recorded in full or not at all."""
UNITS: Final = 32
"""Units of evidence in one record; the rest are counted."""
UNIT_CHARS: Final = 300
"""Characters of one unit's text, and of one rule's pattern."""
ANSWER_CHARS: Final = 4_000
"""Characters of one text in an answer; our own texts there are shorter."""
ANSWER_DEPTH: Final = 8
"""Nesting of an answer; a forwarded decision nests four deep."""
_NAMES: Final = frozenset(
    {"state", "stage", "code", "kind", "id", "requestId", "requestDigest", "responderSessionId", "digest", "session"}
)
"""Keys of an answer whose values are identifiers: redacting them would break what recognises the request."""


def unredacted(texts: Sequence[str]) -> Sequence[str]:
    """Redact nothing: for a caller that has no redaction set."""
    return texts


@dataclass(frozen=True, slots=True)
class Sanitized:
    """A record that may be written. Only `sanitized` makes one, and `line_of` takes nothing else."""

    record: Record


def clip(text: str, limit: int) -> str:
    """Give `text`, or its beginning with its length and sha-256 when it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    tail = f"... [{len(text)} characters, sha-256 {digest}]"
    return text[: max(0, limit - len(tail))] + tail


def sanitized(record: Record, *, redact: Redact = unredacted) -> Sanitized:
    """Give the record as it will be written to the journal.

    Args:
        record: What is to be said.
        redact: Takes texts, gives each without secrets, in the same order. Must leave its own results as they are. It
            is asked once, with every text of the record; a text it was not asked about cannot be written.

    Returns:
        A record that sanitizing again does not change. Publish the answer of a sanitized record, not the one it was
        made of, so that the answer after a crash is the same.
    """
    if isinstance(record, UnknownRecord):
        return Sanitized(record)
    plan = _PLANS[type(record)]
    texts = list(dict.fromkeys(_texts(record, plan)))
    told = dict(zip(texts, redact(texts), strict=True)) if texts else {}
    changed = _fields(record, plan, told)
    if isinstance(record, RequestSubject) and record.values and not record.values_digest:
        changed["values_digest"] = digest_of_values(record.values)
    if isinstance(record, DecidedRecord):
        changed |= _evidence(record, told)
    return Sanitized(replace(record, **changed) if changed else record)


@dataclass(frozen=True, slots=True)
class _Step:
    """How one field of a record type is treated; see the metadata in `record.py`."""

    name: str
    limit: int
    most: int
    is_text: bool
    is_exact: bool
    withheld: str


def _plan(made: type[Any]) -> tuple[_Step, ...]:
    """List the fields of a record type that may have to be changed."""
    steps = []
    for each in fields(made):
        told = each.metadata
        if "whole" in told or each.type in {"int", "bool", "Outcome", "Stage"}:
            continue
        if each.name in {"rule", "units", "response"} and made is DecidedRecord:
            continue
        limit = told.get("text") or told.get("exact") or IDENTIFIER_CHARS
        steps.append(
            _Step(each.name, limit, told.get("most", 64), "text" in told, "exact" in told, told.get("withheld", ""))
        )
    return tuple(steps)


def _texts(record: Any, plan: tuple[_Step, ...]) -> list[str]:
    """Give every text of a record in which a secret could stand."""
    found: list[str] = []
    for step in plan:
        value = getattr(record, step.name)
        values = value if type(value) is tuple else (value,)
        if step.is_exact:
            found += [text for text in values if len(text) <= step.limit]
        elif step.is_text:
            found += values[: step.most]
    if isinstance(record, DecidedRecord):
        units = record.units[:UNITS]
        for unit in units:
            found += unit.text, unit.note
        found += [rule.pattern for rule in (record.rule, *(unit.rule for unit in units)) if rule is not None]
        _add_answer(found, record.response, ANSWER_DEPTH)
    return found


def _add_answer(found: list[str], part: Mapping[str, Any] | Sequence[Any], depth: int) -> None:
    """Add the texts of a part of an answer, as deep as it is kept."""
    for key, below in part.items() if isinstance(part, Mapping) else enumerate(part):
        if isinstance(below, str):
            if key not in _NAMES:
                found.append(below)
        elif depth > 1 and isinstance(below, Mapping | list | tuple):
            _add_answer(found, below, depth - 1)


def _fields(record: Any, plan: tuple[_Step, ...], told: Told) -> dict[str, Any]:
    """Give the new values of those plain fields that have to be changed; in most records none has."""
    changed: dict[str, Any] = {}
    for step in plan:
        value = getattr(record, step.name)
        if not value:
            continue
        if type(value) is tuple:
            made: Any = _tuple(step, value, told)
        elif step.is_exact:
            made = value if _stands(value, step.limit, told) else ""
        else:
            made = told[value] if step.is_text else value
            if len(made) > step.limit:
                made = clip(made, step.limit)
        if made == value:
            continue
        if step.withheld:
            lost = len(value) - len(made) if isinstance(value, tuple) else 1
            changed[step.withheld] = getattr(record, step.withheld) + lost
        changed[step.name] = made
    return changed


def _tuple(step: _Step, values: tuple[str, ...], told: Told) -> tuple[str, ...]:
    """Give one field's texts as they will stand."""
    if step.is_exact:
        return tuple([text for text in values if _stands(text, step.limit, told)][: step.most])
    if step.is_text:
        values = tuple([told[text] for text in values[: step.most]])
    return tuple([text if len(text) <= step.limit else clip(text, step.limit) for text in values])


def _stands(text: str, limit: int, told: Told) -> bool:
    return len(text) <= limit and told[text] == text


def stands(text: str, limit: int, redact: Redact) -> bool:
    """Say whether a text may be recorded in full: within `limit` characters, and without a secret."""
    return len(text) <= limit and redact([text])[0] == text


def _evidence(record: DecidedRecord, told: Told) -> dict[str, Any]:
    """Give the new values of a decision's rule, units and answer where they have to be changed."""
    made = {
        "rule": _rule(record.rule, told),
        "units": tuple(_unit(unit, told) for unit in record.units[:UNITS]),
        "response": _answer(dict(record.response), told, ANSWER_DEPTH),
    }
    return {name: value for name, value in made.items() if value != getattr(record, name)}


def _rule(rule: RuleRef | None, told: Told) -> RuleRef | None:
    if rule is None:
        return None
    pattern = told[rule.pattern]
    if pattern == rule.pattern and len(pattern) <= UNIT_CHARS and len(rule.origin) <= IDENTIFIER_CHARS:
        return rule
    return replace(rule, pattern=clip(pattern, UNIT_CHARS), origin=clip(rule.origin, IDENTIFIER_CHARS))


def _unit(unit: UnitEvidence, told: Told) -> UnitEvidence:
    text, note, rule = told[unit.text], told[unit.note], _rule(unit.rule, told)
    same = text == unit.text and note == unit.note and rule is unit.rule
    if same and len(text) <= UNIT_CHARS and len(note) <= UNIT_CHARS:
        return unit
    return replace(unit, text=clip(text, UNIT_CHARS), note=clip(note, UNIT_CHARS), rule=rule)


def _answer(part: Any, told: Told, depth: int) -> Any:
    """Give a part of an answer with its texts as they will stand; what nests deeper than any real answer is dropped."""
    made: list[tuple[Any, Any]] = []
    for key, below in part.items() if isinstance(part, dict) else enumerate(part):
        stands = below
        if isinstance(below, str):
            if key not in _NAMES:
                text = told[below]
                stands = text if len(text) <= ANSWER_CHARS else clip(text, ANSWER_CHARS)
        elif isinstance(below, dict | list | tuple):
            stands = _answer(below if depth > 1 else type(below)(), told, depth - 1)
        made.append((key, stands))
    return dict(made) if isinstance(part, dict) else [stands for _, stands in made]


_PLANS: Final[dict[type[Any], tuple[_Step, ...]]] = {made: _plan(made) for made in RECORD_KINDS.values()}

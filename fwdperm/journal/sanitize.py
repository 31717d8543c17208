"""What a record loses before it is written: secrets, and length.

Lives here: redaction's hook, clipping, withholding. Pure. Never here: what counts as a secret (the caller's function).

Redaction comes before clipping, so that no half of a secret escapes it. What would change its meaning by being
altered (a grant's pattern) is withheld instead. Fails closed: a withheld pattern grants nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fwdperm.journal.record import RECORD_KINDS, DecidedRecord, Record, UnknownRecord, _Subject, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.wire import RuleRef, UnitEvidence

Redact: TypeAlias = "Callable[[str], str]"

IDENTIFIER_CHARS: Final = 1_024
"""Characters of a field that is an identifier: the longest real one is a path."""
EXACT_CHARS: Final = 1_000
"""Characters of a text that is recorded in full or not at all."""
UNITS: Final = 32
"""Units of evidence in one record; the rest are counted."""
UNIT_CHARS: Final = 300
"""Characters of one unit's text, and of one rule's pattern."""
ANSWER_CHARS: Final = 4_000
"""Characters of one text in an answer; what the house writes there is shorter."""
ANSWER_DEPTH: Final = 8
"""Nesting of an answer; a forwarded decision nests four deep."""
_NAMES: Final = frozenset(
    {"state", "stage", "code", "kind", "id", "requestId", "requestDigest", "responderSessionId", "digest", "session"}
)
"""Keys of an answer whose values are identifiers: redacting them would break what recognises the request."""


def unredacted(text: str) -> str:
    """Redact nothing: for a caller that has no redaction set."""
    return text


def clip(text: str, limit: int) -> str:
    """Give `text`, or its beginning with its length and sha-256 when it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    tail = f"... [{len(text)} characters, sha-256 {digest}]"
    return text[: max(0, limit - len(tail))] + tail


def sanitized(record: Record, *, redact: Redact = unredacted) -> Record:
    """Give the record as it will stand in the journal.

    Args:
        record: What is to be said.
        redact: Takes a text, gives it without secrets. Must leave its own results as they are.

    Returns:
        A record that sanitizing again does not change. Publish the answer of a sanitized record, not the one it was
        made of, so that the answer after a crash is the same.
    """
    if isinstance(record, UnknownRecord):
        return record
    changed: dict[str, Any] = {}
    for step in _PLANS[type(record)]:
        value = getattr(record, step.name)
        if not value:
            continue
        # most fields are one text: this loop runs twice for every request
        is_plain = type(value) is str and not step.is_exact
        made = _told(step, value, redact) if is_plain else _treat(step, value, redact)
        if made is value:
            continue
        if step.withheld:
            lost = (len(value) - len(made)) if isinstance(value, tuple) else int(made != value)
            if lost:
                changed[step.withheld] = getattr(record, step.withheld) + lost
        if made != value:
            changed[step.name] = made
    if isinstance(record, _Subject) and record.values and not record.values_digest:
        changed["values_digest"] = digest_of(record.values)
    if isinstance(record, DecidedRecord):
        changed |= _evidence(record, redact)
    return replace(record, **changed) if changed else record


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    limit: int
    most: int
    is_text: bool
    is_exact: bool
    withheld: str


def _plan(made: type[Any]) -> tuple[_Step, ...]:
    """List the fields of a record type that tidying looks at."""
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


def _treat(step: _Step, value: Any, redact: Redact) -> Any:
    if isinstance(value, tuple):
        if step.is_exact:
            return tuple(text for text in value if stands(text, step.limit, redact))[: step.most]
        most = step.most if step.is_text else len(value)
        return tuple(_told(step, text, redact) for text in value[:most])
    return value if stands(value, step.limit, redact) else ""


def _told(step: _Step, text: str, redact: Redact) -> str:
    if step.is_text:
        text = redact(text)
    return text if len(text) <= step.limit else clip(text, step.limit)


def stands(text: str, limit: int, redact: Redact) -> bool:
    """Say whether a text may be recorded in full: within `limit` characters, and without a secret."""
    return len(text) <= limit and redact(text) == text


def _evidence(record: DecidedRecord, redact: Redact) -> dict[str, Any]:
    """Give what tidying changes of a decision's evidence: most have nothing that changes."""
    made = {
        "rule": _rule(record.rule, redact),
        "units": tuple(_unit(unit, redact) for unit in record.units[:UNITS]),
        "response": _answer(dict(record.response), redact, ANSWER_DEPTH),
    }
    return {name: value for name, value in made.items() if value != getattr(record, name)}


def _rule(rule: RuleRef | None, redact: Redact) -> RuleRef | None:
    if rule is None:
        return None
    pattern, origin = clip(redact(rule.pattern), UNIT_CHARS), clip(rule.origin, IDENTIFIER_CHARS)
    same = pattern == rule.pattern and origin == rule.origin
    return rule if same else replace(rule, pattern=pattern, origin=origin)


def _unit(unit: UnitEvidence, redact: Redact) -> UnitEvidence:
    text, note, rule = (
        clip(redact(unit.text), UNIT_CHARS),
        clip(redact(unit.note), UNIT_CHARS),
        _rule(unit.rule, redact),
    )
    same = text == unit.text and note == unit.note and rule is unit.rule
    return unit if same else replace(unit, text=text, note=note, rule=rule)


def _answer(value: Any, redact: Redact, depth: int) -> Any:
    """Redact an answer's texts; what nests deeper than any real answer is dropped."""
    if isinstance(value, str):
        return clip(redact(value), ANSWER_CHARS)
    if isinstance(value, dict):
        if depth == 0:
            return {}
        return {
            key: below if key in _NAMES and isinstance(below, str) else _answer(below, redact, depth - 1)
            for key, below in value.items()
        }
    if isinstance(value, list | tuple):
        return [_answer(below, redact, depth - 1) for below in value] if depth else []
    return value


_PLANS: Final[dict[type[Any], tuple[_Step, ...]]] = {made: _plan(made) for made in RECORD_KINDS.values()}

r"""The form of a record on disk: a line of JSON that holds the hash of the line before it.

Lives here: encoding, decoding, the hash that chains lines. Pure. Never here: a file.

    {"at":1767225600000,"inbox":"root","kind":"delivered","prev":"<sha-256 of the line before>","seq":7,"v":1, ...}

ASCII, sorted camelCase keys, no newline inside. The hash is over the line's bytes without its newline, so that
`head -n 6 FILE | tail -n 1 | tr -d '\n' | sha256sum` is what line 7 carries. Fields that hold their default are left
out. A reader skips kinds and keys it does not know, and stops at a major version it does not know.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fwdperm.errors import OperatorError
from fwdperm.journal.record import RECORD_KINDS, JournalEntry, UnknownRecord
from fwdperm.wire import Outcome, RuleRef, Stage, UnitEvidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.journal.sanitize import Sanitized

MAJOR: Final = 1
"""The `v` this version writes and reads."""
GENESIS: Final = "0" * 64
"""What the first line of all carries as its predecessor's hash."""
_FRAME: Final = frozenset({"seq", "at", "kind", "v", "prev"})
_SHAPES: Final = {
    "str": "str",
    "int": "int",
    "bool": "bool",
    "tuple[str, ...]": "strs",
    "Outcome": "outcome",
    "Stage": "stage",
    "RuleRef | None": "rule",
    "tuple[UnitEvidence, ...]": "units",
    "Mapping[str, Any]": "response",
}
"""For the annotation of a record's field: how its values are written and read (see `_body` and `_value`)."""
_dumps = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False
).encode
_scan = json.JSONDecoder().raw_decode


class NotALine(ValueError):  # noqa: N818 - a finding about bytes, told to people in these words
    """Bytes that no version of the journal wrote: torn, edited or foreign. Its text says what is wrong."""


class OtherVersion(OperatorError):  # noqa: N818 - as above
    """A line of another major version: an old program must not guess at a new journal."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"the journal was written by version {version} of its format, this program reads {MAJOR}",
            remedy="use the program that wrote it, or a newer one",
        )


class JournalLine(NamedTuple):
    """One line, taken apart but not yet read as a record.

    Attributes:
        seq: Its number.
        at: Epoch milliseconds.
        kind: Its record's kind.
        prev: Hash of the line before.
        data: All its keys.
    """

    seq: int
    at: int
    kind: str
    prev: str
    data: Mapping[str, Any]


def hash_of(line: bytes) -> str:
    """Give the hash by which the next line names this one (`line` without its newline)."""
    return hashlib.sha256(line).hexdigest()


def line_of(sanitized: Sanitized, *, seq: int, at: int, prev: str) -> JournalLine:
    """Give the line for a record.

    Args:
        sanitized: The record. The type makes sure that none is written that was not sanitized.
        seq: Its number.
        at: Epoch milliseconds.
        prev: Hash of the line before, or `GENESIS`.
    """
    record = sanitized.record
    kind = record.kind if isinstance(record, UnknownRecord) else record.KIND
    data = dict(record.data) if isinstance(record, UnknownRecord) else _body(record)
    data |= {"seq": seq, "at": at, "kind": kind, "v": MAJOR, "prev": prev}
    return JournalLine(seq, at, kind, prev, data)


def encode(line: JournalLine) -> bytes:
    """Give the line's bytes, without a newline."""
    return _dumps(line.data).encode()


def take_apart(line: bytes) -> JournalLine:
    """Parse a line (without its newline) as far as all kinds of lines have the same form.

    Raises:
        NotALine: For bytes that are no line of a journal.
        OtherVersion: For a line of another major version.
    """
    try:
        text = line.decode("ascii")
        data, end = _scan(text)
    except (ValueError, RecursionError) as error:
        raise NotALine(f"is not JSON: {error}"[:200]) from None
    if not isinstance(data, dict) or end != len(text):
        raise NotALine("is not one object")
    version = data.get("v")
    if type(version) is not int:
        raise NotALine("carries no version")
    if version != MAJOR:
        raise OtherVersion(version)
    try:
        seq, at, kind, prev = data["seq"], data["at"], data["kind"], data["prev"]
    except KeyError as missing:
        raise NotALine(f"carries no {missing}") from None
    if type(seq) is not int or type(at) is not int or type(kind) is not str or type(prev) is not str:
        raise NotALine("carries a frame of the wrong types")
    return JournalLine(seq, at, kind, prev, data)


def read_record(line: JournalLine) -> JournalEntry:
    """Read a line as an entry. An unknown kind becomes `UnknownRecord`; keys that are not known here, `extra`."""
    made = RECORD_KINDS.get(line.kind)
    body = {key: value for key, value in line.data.items() if key not in _FRAME}
    if made is None:
        return JournalEntry(line.seq, line.at, UnknownRecord(kind=line.kind, data=body))
    known: dict[str, Any] = {}
    try:
        for camel, name, shape, _ in _FIELDS[made]:
            if camel in body:
                known[name] = _value(shape, body.pop(camel))
        return JournalEntry(line.seq, line.at, made(**known), body)
    except (ValueError, TypeError):
        whole = {key: value for key, value in line.data.items() if key not in _FRAME}
        return JournalEntry(line.seq, line.at, UnknownRecord(kind=line.kind, data=whole))


def decode(line: bytes) -> JournalEntry:
    """Parse and read one line; raises as `take_apart` does."""
    return read_record(take_apart(line))


def _body(record: Any) -> dict[str, Any]:
    """Give a record's fields that differ from their default, in camelCase."""
    out: dict[str, Any] = {}
    for camel, name, shape, default in _FIELDS[type(record)]:
        value = getattr(record, name)
        if value == default:
            continue
        match shape:
            case "rule":
                out[camel] = _rule_body(value)
            case "units":
                out[camel] = [_unit_body(unit) for unit in value]
            case _:
                out[camel] = value
    return out


def _rule_body(rule: RuleRef) -> dict[str, str]:
    return {key: value for key in _RULE_KEYS if (value := getattr(rule, key))}


def _unit_body(unit: UnitEvidence) -> dict[str, Any]:
    body: dict[str, Any] = {camel: value for camel, key in _UNIT_KEYS if (value := getattr(unit, key))}
    if unit.rule is not None:
        body["rule"] = _rule_body(unit.rule)
    return body


def _value(shape: str, value: Any) -> Any:
    """Read one field; raises ValueError or TypeError for a shape that this version does not write."""
    match shape:
        case "str" if type(value) is str:
            return value
        case "int" if type(value) is int:
            return value
        case "bool" if type(value) is bool:
            return value
        case "strs" if isinstance(value, list | tuple) and all(type(each) is str for each in value):
            return tuple(value)
        case "outcome":
            return Outcome(value)
        case "stage":
            return Stage(value)
        case "rule":
            return _rule(value)
        case "units" if isinstance(value, list):
            return tuple(_unit(each) for each in value)
        case "response" if isinstance(value, dict):
            return value
        case _:
            raise TypeError(shape)


def _rule(value: Any) -> RuleRef | None:
    return None if value is None else RuleRef(**{key: _value("str", value.get(key, "")) for key in _RULE_KEYS})


def _unit(value: Any) -> UnitEvidence:
    texts = {key: _value("str", value.get(camel, "")) for camel, key in _UNIT_KEYS}
    return UnitEvidence(**texts, rule=_rule(value.get("rule")))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _default(each: Field[Any]) -> Any:
    """Give a field's default; a field that has it is left out of the line."""
    return each.default if each.default is not MISSING else {}


_FIELDS: Final[dict[type[Any], tuple[tuple[str, str, str, Any], ...]]] = {
    made: tuple((_camel(each.name), each.name, _SHAPES[str(each.type)], _default(each)) for each in fields(made))
    for made in RECORD_KINDS.values()
}
"""Record type -> its fields as (camelCase name, name, shape, default)."""
_RULE_KEYS: Final = tuple(each.name for each in fields(RuleRef))
_UNIT_KEYS: Final = tuple((_camel(each.name), each.name) for each in fields(UnitEvidence) if each.name != "rule")

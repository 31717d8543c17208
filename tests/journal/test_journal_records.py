"""Records, what tidying takes from them, and their one form on disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import OperatorError
from fwdperm.journal import record as records
from fwdperm.journal.line import GENESIS, NotALine, decode, encode, hash_of, line_of, read_record, take_apart
from fwdperm.journal.record import (
    RECORD_KINDS,
    DecidedRecord,
    DeliveredRecord,
    RepliedRecord,
    RuleAddedRecord,
    UnknownRecord,
)
from fwdperm.journal.request_records import asked_record, decided_record, digest_of_values
from fwdperm.journal.sanitize import Sanitized, clip, sanitized
from fwdperm.wire.decision import Decision, Outcome, RuleRef, Stage, UndecidedCode, UnitEvidence
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEXT = st.text(max_size=60)
RULES = st.builds(RuleRef, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT)
UNITS = st.builds(UnitEvidence, TEXT, TEXT, TEXT, st.none() | RULES, TEXT, TEXT, TEXT, TEXT)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXT, below, max_size=3),
    max_leaves=6,
)
SHAPES: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXT,
    "int": st.integers(min_value=0, max_value=2**53),
    "bool": st.booleans(),
    "tuple[str, ...]": st.lists(TEXT, max_size=4).map(tuple),
    "Outcome": st.sampled_from(Outcome),
    "Stage": st.sampled_from(Stage),
    "RuleRef | None": st.none() | RULES,
    "tuple[UnitEvidence, ...]": st.lists(UNITS, max_size=3).map(tuple),
    "Mapping[str, Any]": st.dictionaries(TEXT, JSON, max_size=4),
}


def whole(made: type[Any]) -> st.SearchStrategy[Any]:
    shapes: dict[str, str] = {}
    for each in reversed(made.__mro__):
        shapes |= getattr(each, "__annotations__", {})
    return st.builds(made, **{name: SHAPES[shape] for name, shape in shapes.items() if shape in SHAPES})


RECORDS = st.one_of(*(whole(made) for made in RECORD_KINDS.values()))


def replacing(secret: str, mark: str) -> Callable[[Sequence[str]], list[str]]:
    """Redact one word."""
    return lambda texts: [text.replace(secret, mark) for text in texts]


def written(record: Any, *, seq: int = 1, at: int = 2, prev: str = GENESIS) -> bytes:
    return encode(line_of(Sanitized(record), seq=seq, at=at, prev=prev))


@pytest.mark.parametrize("made", RECORD_KINDS.values(), ids=list(RECORD_KINDS))
def test_every_kind_comes_back_as_it_was_written(made: type[Any]) -> None:
    @given(whole(made))
    def check(record: Any) -> None:
        line = written(record)
        assert (record, {}) == (decode(line).record, decode(line).extra)
        assert line.isascii()
        assert b"\n" not in line
        assert line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")).encode()

    check()


@given(RECORDS)
def test_a_line_says_the_same_before_and_after_it_was_on_disk(record: Any) -> None:
    """The fold takes lines as they are appended, and the same lines read back: both must say one thing."""
    fresh = line_of(Sanitized(record), seq=3, at=4, prev=GENESIS)
    assert read_record(take_apart(encode(fresh))) == read_record(fresh)


@given(RECORDS, st.integers(min_value=0, max_value=5000))
def test_tidying_twice_changes_nothing_more(record: Any, longer: int) -> None:
    if isinstance(record, DecidedRecord):
        record = DecidedRecord(
            inbox="i", id="r", values=("x" * longer, "é" * longer), reason="y" * longer, units=record.units
        )
    redact = replacing("secret", "[redacted]")
    once = sanitized(record, redact=redact)
    assert once == sanitized(once.record, redact=redact)


def test_a_line_a_person_can_read_and_check_with_sha256sum() -> None:
    first = written(DeliveredRecord(inbox="root", id="r1"))
    assert first == b'{"at":2,"id":"r1","inbox":"root","kind":"delivered","prev":"' + b"0" * 64 + b'","seq":1,"v":1}'
    assert take_apart(written(DeliveredRecord(), seq=2, prev=hash_of(first))).prev == hash_of(first)


def test_a_secret_in_any_text_is_redacted_before_it_is_clipped() -> None:
    """Half a secret at the cut would be a secret in the journal."""
    secret = "sk-" + "a" * 40
    redact = replacing(secret, "[redacted]")
    unit = UnitEvidence("bash", f"curl {secret}", "ask", RuleRef("bash", secret, "ask", "f:1", "user"), "ruled", "g")
    record = DecidedRecord(
        inbox="root",
        id="r",
        agent=secret,
        values=("x" * 980 + secret, secret),
        cwd=secret,
        reason=secret,
        note=secret,
        units=(unit,),
        rule=unit.rule,
        response={"denialReason": f"no {secret}", "decidedBy": {"kind": "rule", "pattern": secret}, "many": [secret]},
    )
    line = written(sanitized(record, redact=redact).record)
    assert b"sk-a" not in line
    assert line.count(b"[redacted]") == 12


def test_identifiers_in_an_answer_are_left_alone() -> None:
    """A redaction set that takes long hexadecimal words for secrets must not break what recognises a request."""
    answer = {"requestDigest": "d" * 64, "requestId": "e" * 40, "responderSessionId": "f" * 40, "state": "denied"}
    record = DecidedRecord(inbox="f" * 40, id="e" * 40, digest="d" * 64, response=answer)
    assert record == sanitized(record, redact=lambda texts: ["[redacted]"] * len(texts)).record


def test_a_grant_whose_pattern_holds_a_secret_is_withheld_not_altered() -> None:
    """`curl [redacted]` would be a different grant."""
    redact = replacing("hunter2", "*")
    reply = RepliedRecord(reply="always", patterns=("git status", "login hunter2", "x" * 2000))
    assert sanitized(reply, redact=redact).record == RepliedRecord(
        reply="always", patterns=("git status",), patterns_withheld=2
    )
    rule = RuleAddedRecord(rule="g1", what="grant", pattern="login hunter2")
    assert sanitized(rule, redact=redact).record == RuleAddedRecord(rule="g1", what="grant", pattern="", withheld=1)


def test_a_long_value_keeps_its_beginning_its_length_and_its_digest() -> None:
    long = "rm " + "a" * 70_000
    short = clip(long, 1000)
    assert len(short) == 1000
    assert short.startswith("rm aaa")
    assert "70003 characters, sha-256 " in short
    record = sanitized(DecidedRecord(values=(long, "b"))).record
    assert isinstance(record, DecidedRecord)
    assert record.values == (short, "b")
    assert record.values_digest == digest_of_values((long, "b"))


def test_the_longest_request_makes_a_line_of_bounded_size() -> None:
    unit = UnitEvidence("bash", "\U0001f600" * 9000, "ask", None, "ruled", "g", "n" * 9000)
    record = DecidedRecord(
        values=("\U0001f600" * 64_000,) * 64,
        units=(unit,) * 500,
        unit_count=500,
        reason="é" * 64_000,
        response={"note": "é" * 64_000},
    )
    assert len(written(sanitized(record).record)) < 500_000


def test_a_kind_of_a_later_version_is_kept_and_skipped() -> None:
    line = b'{"at":1,"kind":"moon","phase":"full","prev":"","seq":1,"v":1}'
    assert decode(line).record == UnknownRecord(kind="moon", data={"phase": "full"})
    assert written(UnknownRecord(kind="moon", data={"phase": "full"}), at=1, prev="") == line


def test_a_key_of_a_later_version_is_kept_beside_the_record() -> None:
    entry = decode(b'{"at":1,"id":"r","inbox":"i","kind":"delivered","prev":"","seq":1,"shade":"blue","v":1}')
    assert (entry.record, entry.extra) == (DeliveredRecord(inbox="i", id="r"), {"shade": "blue"})


def test_a_value_of_a_later_version_makes_the_record_unknown_not_wrong() -> None:
    """A stage this version does not know must not be read as some other stage."""
    entry = decode(b'{"at":1,"kind":"decided","outcome":"approved","prev":"","seq":1,"stage":"oracle","v":1}')
    assert entry.record == UnknownRecord(kind="decided", data={"outcome": "approved", "stage": "oracle"})


def test_a_later_major_version_stops_the_reader() -> None:
    with pytest.raises(OperatorError, match="version 2 of its format, this program reads 1"):
        take_apart(b'{"at":1,"kind":"delivered","prev":"","seq":1,"v":2}')


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"{}", b"null", b"\xff", b'{"v":true}', b'{"v":1}', b"[" * 100_000, b'{"v":1,"seq":"1"}',
     b'{"at":1,"kind":"x","prev":"","seq":1.0,"v":1}'],
)  # fmt: skip
def test_bytes_that_are_no_line_are_said_to_be_none(line: bytes) -> None:
    with pytest.raises(NotALine):
        take_apart(line)


def test_a_decision_becomes_a_record_with_its_evidence() -> None:
    request = Request(
        id="r1",
        digest="d" * 64,
        inbox="root",
        session="child",
        agent="builder",
        facts=Facts("bash", ("git push",), cwd="/w"),
        route=("child", "mid"),
        turn="t1",
        tool="Bash",
    )
    decision = Decision(
        Outcome.DENIED, Stage.NOBODY, "nobody answered in time", code=UndecidedCode.EXPIRED, ruleset="v3"
    )
    made = decided_record(request, decision, response={"approved": False}, requested_at=5, duration_ms=7)
    assert (made.code, made.stage, made.chain, made.values) == (
        "expired",
        Stage.NOBODY,
        ("child", "mid"),
        ("git push",),
    )
    assert not made.is_approved
    waiting = asked_record(request, why="a rule says ask", requested_at=5, deadline_at=9)
    assert (waiting.surface, waiting.why, waiting.session) == ("bash", "a rule says ask", "child")


def test_a_request_without_facts_is_recorded_with_what_it_shows() -> None:
    request = Request("r", "", "i", session="s", agent="a", facts=None, floor="none", surface="bash", value="ls")
    made = asked_record(request, why="no facts", requested_at=0, deadline_at=0)
    assert (made.surface, made.values, made.cwd) == ("bash", ("ls",), "")


def test_the_union_and_the_table_of_kinds_name_the_same_records() -> None:
    assert {*RECORD_KINDS.values(), UnknownRecord} == set(records.Record.__args__)  # type: ignore[attr-defined]

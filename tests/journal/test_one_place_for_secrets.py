"""No record reaches the log but through the one place that takes secrets out of it (P21)."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import fwdperm
from fwdperm.journal.line import GENESIS, line_of
from fwdperm.journal.log import Journal
from fwdperm.journal.record import RECORD_KINDS, DecidedRecord, DeliveredRecord
from fwdperm.journal.sanitize import sanitized
from fwdperm.journal.segments import listing
from fwdperm.redaction import redacted_text, redacted_texts
from fwdperm.wire import RuleRef, UnitEvidence

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET = "ghp_" + "a1B2" * 9


class Asked:
    """The real redaction, with what it was asked."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, ...]] = []

    def __call__(self, texts: Sequence[str]) -> list[str]:
        self.texts.append(tuple(texts))
        return redacted_texts(texts)


def telling(kind: str) -> Any:
    """Give a record of a kind with the secret in everything that may be said freely."""
    made = RECORD_KINDS[kind]
    said: dict[str, Any] = {}
    for name, each in made.__dataclass_fields__.items():
        if "text" in each.metadata or "exact" in each.metadata:
            said[name] = (f"token {SECRET}",) if each.type == "tuple[str, ...]" else f"token {SECRET}"
    if kind == "snapshot":
        said |= {"part": 1, "parts": 2}  # of which the rest never comes
    if made is DecidedRecord:
        rule = RuleRef("bash", f"curl {SECRET}", "allow", "f:1", "user")
        unit = UnitEvidence("bash", f"curl {SECRET}", "allow", rule, "ruled", "g", f"see {SECRET}")
        answer = {"note": f"use {SECRET}", "decidedBy": {"pattern": SECRET, "many": [SECRET]}}
        said |= {"rule": rule, "units": (unit,), "response": answer}
    return made(**said)


def test_a_record_that_went_past_the_one_place_has_no_line() -> None:
    with pytest.raises(AttributeError):
        line_of(cast("Any", DeliveredRecord(inbox="root", id="r1")), seq=1, at=1, prev=GENESIS)


def test_only_the_one_place_says_that_a_record_went_through_it() -> None:
    """Whoever made a `Sanitized` or a line elsewhere would have a way to the log past redaction."""
    makers = defaultdict(set)
    house = Path(fwdperm.__file__).parent
    for path in house.rglob("*.py"):
        if path.name == "compiled.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in {"Sanitized", "line_of", "JournalLine"}:
                    makers[name].add(str(path.relative_to(house)))
    assert makers == {
        "Sanitized": {"journal/sanitize.py"},
        "line_of": {"journal/log.py"},
        "JournalLine": {"journal/line.py"},
    }


@pytest.mark.parametrize("kind", RECORD_KINDS)
def test_redaction_is_asked_once_for_a_record_and_nothing_gets_past_it(kind: str, tmp_path: Path) -> None:
    """Of every kind of record, every free text: the log holds none of the secret, and the answer is asked for once."""
    asked = Asked()
    journal = Journal.open(tmp_path / "journal", clock=lambda: 1, redact=asked)
    before = len(asked.texts)
    journal.append(telling(kind))
    journal.commit()
    journal.close()
    assert len(asked.texts) - before <= 1
    written = b"".join(path.read_bytes() for path in listing(tmp_path / "journal"))
    assert f'"kind":"{kind}"'.encode() in written
    assert SECRET.encode() not in written


def test_a_text_that_redaction_was_not_asked_about_cannot_be_written() -> None:
    """Fails closed: a redaction that loses a text stops the record, and so what the record would permit."""
    with pytest.raises(ValueError, match="zip"):
        sanitized(telling("decided"), redact=lambda texts: list(texts)[:-1])


@pytest.mark.parametrize(
    "text", ["", "ls", f"token {SECRET}", f"x={SECRET} " * 60, "-----BEGIN RSA PRIVATE KEY-----\nx"]
)
def test_many_texts_are_redacted_as_each_alone(text: str) -> None:
    assert redacted_texts([text, "ls", text]) == [redacted_text(text), "ls", redacted_text(text)]

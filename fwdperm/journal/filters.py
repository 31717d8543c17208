"""Which lines a person asks for.

Lives here: `Filter` and the flat row of an entry. Pure. Never here: a file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fwdperm.journal.line import JournalLine

COLUMNS: Final = (
    "seq",
    "at",
    "kind",
    "inbox",
    "id",
    "session",
    "agent",
    "surface",
    "value",
    "cwd",
    "outcome",
    "stage",
    "code",
    "reply",
    "reason",
    "note",
    "feedback",
    "via",
    "by",
    "digest",
)
"""Columns of the table form."""
_EXACT: Final = ("id", "session", "agent", "surface", "outcome", "stage", "kind", "inbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a line must be; empty fields ask for nothing, several must all hold.

    Attributes:
        since_ms: At or after, epoch milliseconds.
        until_ms: Before, epoch milliseconds; 0 for no end.
        session: The requester's session, exactly.
        agent: The requester's agent, exactly.
        surface: Exactly.
        outcome: `approved` or `denied`.
        stage: Who decided.
        kind: The record's kind.
        inbox: The inbox, exactly.
        id: The request's id, exactly.
        text: Stands in any text of the line, whatever the letter case.
    """

    since_ms: int = 0
    until_ms: int = 0
    session: str = ""
    agent: str = ""
    surface: str = ""
    outcome: str = ""
    stage: str = ""
    kind: str = ""
    inbox: str = ""
    id: str = ""
    text: str = ""

    def may_match(self, raw: bytes) -> bool:
        """Say whether a line could match, by looking at its bytes alone: quick, and False only when it cannot."""
        return all(needle in raw for needle in self._needles())

    def matches(self, line: JournalLine) -> bool:
        """Say whether a line is one that is asked for."""
        if line.at < self.since_ms or (self.until_ms and line.at >= self.until_ms):
            return False
        data = line.data
        for name in _EXACT:
            wanted = getattr(self, name)
            if wanted and data.get(name) != wanted and not _is_default(line, name, wanted):
                return False
        return not self.text or _holds(data, self.text.casefold())

    def _needles(self) -> list[bytes]:
        """Give texts that must occur in the bytes of a line that matches.

        Outcome and stage are not among them: a line leaves a field out that has its default value.
        """
        wanted = (self.id, self.session, self.agent, self.surface, self.kind, self.inbox)
        return [json.dumps(text)[1:-1].encode() for text in wanted if text]


def row(line: JournalLine) -> tuple[str, ...]:
    """Give a line's columns as texts. One that a spreadsheet would run as a formula gets an apostrophe in front."""
    return tuple(_cell(line, name) for name in COLUMNS)


def _is_default(line: JournalLine, name: str, wanted: str) -> bool:
    """Say whether a decision's line leaves the field out because it has this value: the default is not written."""
    default = {"outcome": "denied", "stage": "nobody"}.get(name)
    return line.kind == "decided" and name not in line.data and wanted == default


def _cell(line: JournalLine, name: str) -> str:
    if name == "value":
        values = line.data.get("values")
        found: Any = values[0] if isinstance(values, list | tuple) and values else ""
    else:
        found = line.data.get(name, "")
        if found == "" and name in {"outcome", "stage"} and line.kind == "decided":
            found = {"outcome": "denied", "stage": "nobody"}[name]
    text = str(found)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return text in value.casefold()
    if isinstance(value, dict):
        return any(_holds(below, text) for key, below in value.items() if key not in {"prev", "digest", "valuesDigest"})
    if isinstance(value, list | tuple):
        return any(_holds(below, text) for below in value)
    return False

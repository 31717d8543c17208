"""A row of a case file.

Lives here: `Case`, `read_cases`. Pure. Never here: opening a file, what is decided on a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import ChildError, OperatorError
from fwdperm.wire import strict_loads

if TYPE_CHECKING:
    from collections.abc import Iterator

CWD: Final = "/w/proj"
"""The directory of a row that names none."""
HOME: Final = "/home/u"
"""The home directory of a row that does not say."""
AGENT_SAYS: Final = "agent:"
USER_RULES: Final = "user-rule:"
USER_REJECTS: Final = "user-reject:"


class Expected(StrEnum):
    """What should come of a row."""

    ALLOW = "allow"
    ESCALATE = "escalate"
    REJECT = "reject"
    ALLOW_OR_ESCALATE = "allow_or_escalate"


@dataclass(frozen=True, slots=True)
class Case:
    """One row.

    Attributes:
        id: Names it.
        surface: What kind of thing is asked for.
        value: What is asked for.
        expected: What should come of it.
        note: Empty; `agent: ...` (the requester's own words, a claim), `user-rule: ...` (an approval with this note) or
            `user-reject: ...` (a rejection with this note).
        tags: For grouping.
        cwd: Where it runs; the workspace of the row.
        home: The home directory.
    """

    id: str
    surface: str
    value: str
    expected: Expected
    note: str = ""
    tags: tuple[str, ...] = ()
    cwd: str = CWD
    home: str = HOME

    @property
    def claim(self) -> str:
        """The requester's own words; empty for none."""
        return self.note.removeprefix(AGENT_SAYS).strip() if self.note.startswith(AGENT_SAYS) else ""


def read_cases(text: str, *, file: str, cwd: str = CWD) -> Iterator[Case]:
    """Read a case file: one JSON object a line; blank lines and lines that begin with `#` are passed over.

    Args:
        text: Its content.
        file: Its name, for messages.
        cwd: Where a row runs that does not say.

    Raises:
        OperatorError: For a row that cannot be read. Leaving it out could make the judge look better than it is.
    """
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            row = strict_loads(line.encode())
        except ChildError as error:
            raise OperatorError(f"the row {error.reason}", file=file, line=number) from None
        case = _case(row, file=file, line=number, cwd=cwd)
        if case.id in seen:
            raise OperatorError(f"the id `{case.id}` stands twice", file=file, line=number, remedy="name each row once")
        seen.add(case.id)
        yield case


def _case(row: Any, *, file: str, line: int, cwd: str) -> Case:
    if not isinstance(row, dict):
        raise OperatorError("the row is no object", file=file, line=line)

    def text(name: str, default: str | None = None) -> str:
        value = row.get(name, default)
        if not isinstance(value, str):
            raise OperatorError(f"the row's `{name}` is not a text", file=file, line=line)
        return value

    tags = row.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise OperatorError("the row's `tags` are not a list of texts", file=file, line=line)
    note = text("note", "")
    if note and not note.startswith((AGENT_SAYS, USER_RULES, USER_REJECTS)):
        known = f"begin it with `{AGENT_SAYS}`, `{USER_RULES}` or `{USER_REJECTS}`"
        raise OperatorError("the row's `note` says not whose it is", file=file, line=line, remedy=known)
    try:
        expected = Expected(text("expected"))
    except ValueError:
        remedy = f"expected one of {', '.join(Expected)}"
        raise OperatorError(f"the row expects `{row['expected']}`", file=file, line=line, remedy=remedy) from None
    return Case(
        id=text("id", f"line-{line}"),
        surface=text("surface"),
        value=text("value"),
        expected=expected,
        note=note,
        tags=tuple(tags),
        cwd=text("cwd", cwd),
        home=text("home", HOME),
    )

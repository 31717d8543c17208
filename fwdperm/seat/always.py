"""The dialogue before an *always* is saved: which pattern, which scope, until when, and the exact rule to confirm.

Lives here: `AlwaysDialog`, which takes typed lines and gives words to show. Pure. Never here: a terminal, what a rule
would match.

An empty line takes a default, but never saves. Only the word `save` does, after the exact rule was on screen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from fwdperm.settings import LONGEST_GRANT_MS, PATTERNS, VALUE_CHARS
from fwdperm.wire import Reply, ReplyKind, Scope, shown

if TYPE_CHECKING:
    from fwdperm.wire import Prompt

_SPAN: Final = re.compile(r"(\d{1,6})\s*(s|m|min|h|d)")
_MS: Final = {"s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_SCOPES: Final = (Scope.REQUESTER, Scope.SUBTREE, Scope.TREE, Scope.PROJECT)
_WHERE: Final = (
    "where?  1 this requester (Enter)   2 its parent and everything below   3 the whole tree",
    "        4 the project's file, for every session there",
)
_BACK: Final = frozenset({"back", "b", "no", "n", "leave", "cancel", "q"})


class _Part(StrEnum):
    """Which question of the dialogue the next line answers."""

    WHAT = "what"
    WHERE = "where"
    UNTIL = "until"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class More:
    """Show these lines, and read another line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShowPreview:
    """Show what this answer would record, then read another line."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Save:
    """Give this answer: its rule was on screen, and the person typed `save`."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Left:
    """The person left the dialogue; nothing was answered."""


Heard: TypeAlias = More | ShowPreview | Save | Left


def parse_span(text: str) -> int | None:
    """Read a time span (`90s`, `30m`, `2h`, `7d`) as milliseconds; None when it is none, or out of range."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        return None
    value = int(match[1]) * _MS[match[2]]
    return value if 0 < value <= LONGEST_GRANT_MS else None


class AlwaysDialog:
    """One dialogue about one question.

    Args:
        prompt: The question, with its suggestions.
        note: The person's note for the agent.
    """

    def __init__(self, prompt: Prompt, *, note: str) -> None:
        self._prompt = prompt
        self._note = note
        self._part = _Part.WHAT
        self._patterns: tuple[str, ...] | None = None
        self._scope = Scope.REQUESTER
        self._for_ms: int | None = None

    @property
    def invitation(self) -> str:
        """The text to show in front of the line that is typed next."""
        return f"always, {self._part}> "

    def begin(self) -> tuple[str, ...]:
        """Give the lines that open the dialogue: what could be recorded."""
        offered = [
            f'  {number}  allow {shown(one.surface)} "{shown(one.pattern)}"'
            for number, one in enumerate(self._prompt.suggestions, start=1)
        ]
        return (
            "record what? nothing is answered before you type `save`; `back` leaves",
            *offered,
            "numbers (`1` or `1 2`), Enter for all of them, or a pattern of your own (`*` any run, `?` one character)",
        )

    def looked(self, *, lines: tuple[str, ...], is_good: bool) -> tuple[str, ...]:
        """Take what `ShowPreview` led to, and give the lines to show.

        Args:
            lines: The preview, or why there is none.
            is_good: Whether the rule may be saved; if not, the dialogue begins again.
        """
        if is_good:
            self._part = _Part.CONFIRM
            return (*lines, "type `save` to approve this request and record that; `back` leaves")
        self._part = _Part.WHAT
        return (*lines, *self.begin())

    def hear(self, line: str) -> Heard:
        """Take one line."""
        text = line.strip()
        if not text.isprintable():
            return More(("that line holds control characters; nothing was taken",))
        if text.lower() in _BACK:
            return Left()
        match self._part:
            case _Part.WHAT:
                return self._what(text)
            case _Part.WHERE:
                return self._where(text)
            case _Part.UNTIL:
                return self._until(text)
            case _Part.CONFIRM:
                return Save(self.reply) if text.lower() == "save" else More(("type `save`, or `back` to leave",))

    @property
    def reply(self) -> Reply:
        """The answer that the lines so far add up to."""
        return Reply(
            reply=ReplyKind.ALWAYS,
            feedback=self._note or None,
            patterns=self._patterns,
            scope=self._scope,
            expires_in_ms=self._for_ms,
        )

    def _what(self, text: str) -> Heard:
        offered = self._prompt.suggestions
        numbers = text.replace(",", " ").split()
        if not text:
            if not offered:
                return More(("nothing is suggested: type a pattern of your own",))
            self._patterns = None
        elif all(number.isascii() and number.isdigit() for number in numbers) and offered:
            chosen = [int(number) for number in numbers]
            if len(chosen) > PATTERNS or not all(1 <= number <= len(offered) for number in chosen):
                return More((f"there are numbers from 1 to {len(offered)}",))
            self._patterns = tuple(dict.fromkeys(offered[number - 1].pattern for number in chosen))
        elif len(text) > VALUE_CHARS:
            return More(("that pattern is too long",))
        else:
            self._patterns = (text,)
        self._part = _Part.WHERE
        return More(_WHERE)

    def _where(self, text: str) -> Heard:
        chosen = text or "1"
        by_name = {str(scope): scope for scope in _SCOPES} | {str(n): scope for n, scope in enumerate(_SCOPES, 1)}
        scope = by_name.get(chosen.lower())
        if scope is None:
            return More(("type 1, 2, 3 or 4",))
        self._scope = scope
        self._part = _Part.UNTIL
        end = "for good" if scope is Scope.PROJECT else "the end of the session"
        return More((f"until when? {end} (Enter), or a time: 30m, 2h, 7d",))

    def _until(self, text: str) -> Heard:
        if text:
            span = parse_span(text)
            if span is None:
                return More(("type a time such as 30m, 2h or 7d, or Enter",))
            self._for_ms = span
        return ShowPreview(self.reply)

"""What is typed, key by key: which line may answer, and which is void.

Lives here: `Editor`: keys with their times in, lines and what to show out. Pure. Never here: a terminal, what a line
means (`typed_line.py`).

A line counts only when what it answers was on screen, open and unchanged, from its first key until a moment after its
Enter; when nothing of it was pasted; and when it came alone. Everything else is void up to the next Enter, in whole,
and is handed back with the reason so that it can be shown and copied. Direction of every doubt: the line is void.
"""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from fwdperm.settings import LINE_ALONE_S, LINE_KEYS, PASTE_STALLED_S

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

PASTED: Final = "that was pasted, and a paste answers nothing"
SEVERAL: Final = "several lines came at once, as from a paste"
TOO_LONG: Final = "that line is too long"

_PASTE_BEGINS: Final = "\x1b[200~"
_PASTE_ENDS: Final = "\x1b[201~"
_ENTER: Final = frozenset("\r\n")
_ERASE: Final = frozenset("\x7f\b")
_LEAVE: Final = "\x04"
_ERASE_LINE: Final = "\x15"
_ERASE_WORD: Final = "\x17"

_KEY: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[ -~]|\x1b[ -NP-Z\\-~]|[^\x1b]|\x1b(?=[^ -~])", re.DOTALL)
"""One key: a sequence of a function key or of a paste's mark, a key with Alt, any other character."""
_OPEN_SEQUENCE: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*|O)?")
_SEQUENCE_CHARS: Final = 32
"""Characters after which an escape sequence without end is taken as it is."""


@dataclass(frozen=True, slots=True)
class OnScreen:
    """What is on screen.

    Attributes:
        about: What a line typed now would be for; another one for everything that can be told apart.
        name: How people call it; empty when nothing is asked.
        opens_at: From when on lines count, in the caller's seconds; infinite while it cannot be read yet.
    """

    about: Hashable = None
    name: str = ""
    opens_at: float = -math.inf


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A line that counts, for what was on screen all the while."""

    text: str
    about: Hashable


@dataclass(frozen=True, slots=True)
class Void:
    """A line that is over and counts for nothing. `why` is half a sentence for people."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Begun:
    """A line that goes on, and is void already: whatever is typed up to the next Enter belongs to it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Echo:
    """Show this key after what was typed."""

    key: str


@dataclass(frozen=True, slots=True)
class Erased:
    """Take this key, the last one shown, from the screen."""

    key: str


class Sign(StrEnum):
    """Something that happened and carries no text."""

    ENTER = "enter"
    LEFT = "left"


EditorEvent: TypeAlias = TypedLine | Void | Begun | Echo | Erased | Sign


class Editor:
    """One line being typed.

    What is typed has to be handed over before anything else is told: keys that were not read yet when the screen
    changed, or when time passed, were typed before that.
    """

    def __init__(self) -> None:
        self._screen = OnScreen()
        self._is_open = True
        self._keys: list[str] = []
        self._unseen = 0
        self._is_begun = False
        self._void = ""
        self._is_pasting = False
        self._is_row_over = False
        self._last_key = -math.inf
        self._held: TypedLine | None = None
        self._alone_at = -math.inf
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._unread = ""

    @property
    def is_open(self) -> bool:
        """Say whether what is on screen takes answers by now."""
        return self._is_open

    @property
    def due(self) -> float | None:
        """When `tick` has something to do; None when nothing does."""
        times = [self._screen.opens_at] if not self._is_open and self._screen.opens_at < math.inf else []
        return min([*times, self._alone_at] if self._held is not None else times, default=None)

    def keys(self, data: bytes, *, now: float) -> list[EditorEvent]:
        """Take what was typed.

        Args:
            data: Bytes as a terminal gives them key by key.
            now: When they were read; they may have been typed at any time since the last call of any kind.

        Returns:
            What to show, which lines are void. Never a line that counts: that takes a `tick`.
        """
        out: list[EditorEvent] = []
        if data:
            self._touch(now, out)
        self._unread += self._decoder.decode(data)
        for key in self._split():
            self._touch(now, out)
            self._press(key, now, out)
        if self._unread or self._decoder.getstate()[0]:
            self._touch(now, out)  # half a key is one
        return out

    def turn(self, screen: OnScreen, *, why: str, now: float) -> list[EditorEvent]:
        """Take that something else is on screen from now on: what was typed so far is not for it.

        Args:
            screen: What is on screen.
            why: Half a sentence: why what was typed so far is void.
            now: The time.
        """
        out: list[EditorEvent] = []
        if self._held is not None:
            out.append(Void(text=self._held.text, why=why))
            self._held = None
        if self._is_begun and self._void in {"", self._too_soon} - {why}:
            self._void = why
            out.append(Begun(text="".join(self._keys), why=why))
        self._screen = screen
        self._is_open = screen.opens_at <= now
        return out

    def tick(self, now: float) -> list[EditorEvent]:
        """Take that time has passed, and that nothing else was typed until now.

        Returns:
            A line that counts, if one does now.
        """
        out: list[EditorEvent] = []
        if self._held is not None and now >= self._alone_at:
            out.append(self._held)
            self._held = None
        if not self._is_open and now >= self._screen.opens_at:
            self._is_open = True
        return out

    def begin_row(self) -> None:
        """Take that the cursor stands on a new row: what was typed before stands further up and cannot be erased."""
        self._unseen = len(self._keys)

    def _split(self) -> Iterator[str]:
        """Give whole keys; what may be the beginning of one waits for the rest."""
        text, at = self._unread, 0
        while at < len(text):
            match = _KEY.match(text, at)
            if match is None and len(text) - at < _SEQUENCE_CHARS and _OPEN_SEQUENCE.fullmatch(text, at):
                break
            key = match[0] if match is not None else text[at]
            at += len(key)
            yield key
        self._unread = text[at:]

    def _touch(self, now: float, out: list[EditorEvent]) -> None:
        """A key came: the line it belongs to is begun, and void where it may not count."""
        self._is_begun = True
        if self._held is not None:
            out.append(Void(text=self._held.text, why=SEVERAL))
            self._held = None
            self._taint(SEVERAL)
        if now < self._alone_at:
            self._taint(SEVERAL)
        if not self._is_open:
            self._taint(self._too_soon)
        if self._is_pasting and now - self._last_key > PASTE_STALLED_S:
            self._is_pasting = False  # its end was lost; the line stays void
        self._last_key = now

    @property
    def _too_soon(self) -> str:
        return f"that was typed before {self._screen.name or 'the screen'} could be read"

    def _taint(self, why: str) -> None:
        self._void = self._void or why

    def _press(self, key: str, now: float, out: list[EditorEvent]) -> None:
        if key == _PASTE_BEGINS:
            self._is_pasting, self._is_row_over = True, False
            self._taint(PASTED)
        elif key == _PASTE_ENDS:
            self._end_paste(now, out)
        elif self._is_pasting:
            self._is_row_over = key in _ENTER
            self._add("\n" if self._is_row_over else key, out)
        elif key in _ENTER:
            out.append(Sign.ENTER)
            self._enter(now, out)
        elif key in _ERASE:
            self._erase(1, out)
        elif key == _ERASE_LINE:
            self._erase(len(self._keys), out)
        elif key == _ERASE_WORD:
            self._erase(self._last_word(), out)
        elif key == _LEAVE:
            if not self._keys:
                out.append(Sign.LEFT)
        else:
            self._add(key, out)

    def _add(self, key: str, out: list[EditorEvent]) -> None:
        if len(self._keys) >= LINE_KEYS:
            self._taint(TOO_LONG)
            return
        self._keys.append(key)
        out.append(Echo(key))

    def _erase(self, count: int, out: list[EditorEvent]) -> None:
        out.extend(Erased(self._keys.pop()) for _ in range(min(count, len(self._keys) - self._unseen)))

    def _last_word(self) -> int:
        """Count the keys of the last word and of the blanks behind it."""
        count = 0
        while count < len(self._keys) and self._keys[-1 - count] == " ":
            count += 1
        while count < len(self._keys) and self._keys[-1 - count] != " ":
            count += 1
        return count

    def _enter(self, now: float, out: list[EditorEvent]) -> None:
        """The line is over. One that may count is held for a moment: whatever comes right behind it voids it."""
        text, void = "".join(self._keys), self._void
        self._forget_line()
        self._alone_at = now + LINE_ALONE_S
        if void:
            out.append(Void(text=text, why=void))
        else:
            self._held = TypedLine(text=text, about=self._screen.about)

    def _end_paste(self, now: float, out: list[EditorEvent]) -> None:
        """A pasted line end at the very end is one on screen, too; otherwise the line goes on up to the next Enter."""
        was_pasting, self._is_pasting = self._is_pasting, False
        self._taint(PASTED)
        self._alone_at = now + LINE_ALONE_S
        if was_pasting and self._is_row_over:
            out.append(Sign.ENTER)
            self._enter(now, out)
        else:
            out.append(Begun(text="".join(self._keys), why=self._void))

    def _forget_line(self) -> None:
        self._keys.clear()
        self._unseen = 0
        self._is_begun = False
        self._void = ""

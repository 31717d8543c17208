"""What is typed, key by key: which line may answer a question, and which is void.

Lives here: `Editor`, which takes keys with their times, and gives lines and what to show. Pure. Never here: a terminal,
what a line means (`typed_line.py`).

A line counts when all of these hold: the question was on screen, open for answers and unchanged, from the line's first
key until a moment after its Enter; nothing of it was pasted; no other line came right before or behind it. Otherwise
the whole line is void up to the next Enter, and is handed back with the reason, so that it can be shown and copied. In
doubt a line is void.
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
r"""One key. In this order: `ESC [ ... letter` (arrows, function keys, the marks around a paste), `ESC O x` (F1 to F4),
ESC and one character (a key with Alt), any character but ESC, an ESC that begins none of these."""
_OPEN_SEQUENCE: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*|O)?")
"""What may be the beginning of such a sequence: `ESC`, `ESC O`, `ESC [ 1 ;`. The rest may come with the next read."""
_SEQUENCE_CHARS: Final = 32
"""Characters after which an escape sequence that does not end is taken as single characters."""


@dataclass(frozen=True, slots=True)
class OnScreen:
    """What is on screen.

    Attributes:
        about: Names what a line typed now would answer. Whatever a person could tell apart on screen has another name.
        name: The question's name for people; empty when nothing is asked.
        opens_at: From which time on lines count, seconds of the caller's clock; infinite while it is not on screen yet.
    """

    about: Hashable = None
    name: str = ""
    opens_at: float = -math.inf


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A line that counts, and what was on screen while it was typed."""

    text: str
    about: Hashable


@dataclass(frozen=True, slots=True)
class Void:
    """A finished line that answers nothing. `why` is half a sentence for people."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Begun:
    """An unfinished line that is void already: whatever is typed up to the next Enter belongs to it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Echo:
    """Show this key after what was typed."""

    key: str


@dataclass(frozen=True, slots=True)
class Erased:
    """Remove this key from the screen; it is the last one shown."""

    key: str


class Sign(StrEnum):
    """Something that happened and carries no text."""

    ENTER = "enter"
    LEFT = "left"


EditorEvent: TypeAlias = TypedLine | Void | Begun | Echo | Erased | Sign


class Editor:
    """One line being typed.

    Before `turn` and `tick`, the caller has to read what was typed and hand it to `keys`: what the terminal still holds
    was typed before the screen changed, or before that time.
    """

    def __init__(self) -> None:
        self._screen = OnScreen()
        self._is_open = True
        self._keys: list[str] = []  # of the line that is typed
        self._unseen = 0  # how many of these stand on an earlier row, where they cannot be erased
        self._is_begun = False
        self._void = ""  # why the line is void already; empty while it may count
        self._is_pasting = False
        self._is_row_over = False  # whether the paste's last key so far is a line end
        self._last_key = -math.inf
        self._held: TypedLine | None = None  # finished, and waiting whether another line follows at once
        self._alone_at = -math.inf  # until then a key belongs to the same burst as the last Enter
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._unread = ""  # characters that may be the beginning of a key

    @property
    def is_open(self) -> bool:
        """Say whether lines typed from now on count."""
        return self._is_open

    @property
    def due(self) -> float | None:
        """The time at which `tick` should be called next; None when it need not be."""
        times = [self._screen.opens_at] if not self._is_open and self._screen.opens_at < math.inf else []
        return min([*times, self._alone_at] if self._held is not None else times, default=None)

    def keys(self, data: bytes, *, now: float) -> list[EditorEvent]:
        """Take what was typed.

        Args:
            data: Bytes as a terminal gives them key by key.
            now: When they were read; they may have been typed at any time since the last call of any kind.

        Returns:
            What to show, and which lines are void. A line that counts is only given by `tick`.
        """
        out: list[EditorEvent] = []
        if data:
            self._touch(now, out)
        self._unread += self._decoder.decode(data)
        for key in self._split():
            self._touch(now, out)
            self._press(key, now, out)
        if self._unread or self._decoder.getstate()[0]:
            self._touch(now, out)  # the beginning of a key shows that somebody types
        return out

    def turn(self, screen: OnScreen, *, why: str, now: float) -> list[EditorEvent]:
        """Note that something else is on screen from now on; what was typed so far does not answer it.

        Args:
            screen: What is on screen.
            why: Why what was typed so far is void, in half a sentence.
            now: The time.

        Returns:
            What was typed so far, as void lines.
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
        """Note that it is `now`, and that nothing was typed up to now but what `keys` was given.

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
        """Note that the cursor is on a new row: keys typed before are shown further up and cannot be erased there."""
        self._unseen = len(self._keys)

    def _split(self) -> Iterator[str]:
        """Give the keys that are complete; what may be the beginning of one is kept until more is read."""
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
        """Note that a key was typed. It begins a line if none is begun; where keys do not count, the line is void."""
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
            self._is_pasting = False  # the mark that ends it got lost; the line stays void
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
        """End the line. One that may count is held for a moment: a key right behind it makes it void."""
        text, void = "".join(self._keys), self._void
        self._forget_line()
        self._alone_at = now + LINE_ALONE_S
        if void:
            out.append(Void(text=text, why=void))
        else:
            self._held = TypedLine(text=text, about=self._screen.about)

    def _end_paste(self, now: float, out: list[EditorEvent]) -> None:
        """End a paste. If its last key was a line end, the line is over; else it goes on up to the next Enter."""
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

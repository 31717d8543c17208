"""Wildcard patterns, matched in linear time.

Lives here: `Wildcard`, the `Glob` it is made of, `escape_pattern`, `covers`. Pure.
Never here: which rule wins (`ruleset.py`), how ten thousand patterns are searched at once (`index.py`).

`*` is any run of characters, `/`, blanks and newlines included (`**` is the same); `?` is exactly one character;
everything else stands for itself, brackets and backslashes too. A trailing ` *` is optional once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ANY = "??"
"""One unknown character, as a symbol. Two characters long, so that no literal character equals it."""
RUN = "**"
"""Any run of characters, as a symbol."""


@dataclass(frozen=True, slots=True)
class Segment:
    """What stands between two stars: literal pieces with exactly one unknown character between each two.

    Attributes:
        pieces: The literals, in order; some may be empty.
        length: Characters it covers.
    """

    pieces: tuple[str, ...]
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", sum(map(len, self.pieces)) + len(self.pieces) - 1)

    def is_at(self, text: str, start: int) -> bool:
        """Say whether it stands in `text` at `start`; the caller has checked that it fits."""
        for piece in self.pieces:
            if not text.startswith(piece, start):
                return False
            start += len(piece) + 1
        return True

    def find(self, text: str, *, start: int, end: int) -> int:
        """Return where it first stands inside `text[start:end]`, or -1. Linear in `end - start`."""
        if len(self.pieces) == 1:
            return text.find(self.pieces[0], start, end)
        offset, piece = self._longest_piece()
        first = text.find(piece, start + offset, end)
        return -1 if first < 0 else self._shift_and(text, start=first - offset, end=end)

    def _longest_piece(self) -> tuple[int, str]:
        offset, best = 0, (0, "")
        for piece in self.pieces:
            if len(piece) > len(best[1]):
                best = (offset, piece)
            offset += len(piece) + 1
        return best

    def _shift_and(self, text: str, *, start: int, end: int) -> int:
        """Search with one bit per character of the segment: what was read is never read again."""
        masks, unknown, bit = dict[str, int](), 0, 1
        for symbol in self.symbols():
            if symbol == ANY:
                unknown |= bit
            else:
                masks[symbol] = masks.get(symbol, 0) | bit
            bit <<= 1
        masks = {char: mask | unknown for char, mask in masks.items()}
        goal, state = bit >> 1, 0
        for place in range(start, end):
            state = (state << 1 | 1) & masks.get(text[place], unknown)
            if state & goal:
                return place - self.length + 1
        return -1

    def symbols(self) -> list[str]:
        """Spell it out, one symbol per character."""
        symbols = list(self.pieces[0])
        for piece in self.pieces[1:]:
            symbols.append(ANY)
            symbols.extend(piece)
        return symbols


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern without optional parts: segments with a star between each two.

    Attributes:
        segments: At least one; a first or last segment of no characters means that the pattern begins or ends with `*`.
    """

    segments: tuple[Segment, ...]

    def matches(self, text: str) -> bool:
        """Say whether it covers the whole of `text`. Never raises."""
        first, last = self.segments[0], self.segments[-1]
        if len(self.segments) == 1:
            return len(text) == first.length and first.is_at(text, 0)
        place, end = first.length, len(text) - last.length
        if place > end or not first.is_at(text, 0) or not last.is_at(text, end):
            return False
        for segment in self.segments[1:-1]:
            found = segment.find(text, start=place, end=end)
            if found < 0:
                return False
            place = found + segment.length
        return True

    @property
    def exact(self) -> str | None:
        """The one text it covers; None when it has a wildcard."""
        if len(self.segments) == 1 and len(self.segments[0].pieces) == 1:
            return self.segments[0].pieces[0]
        return None

    @property
    def prefix(self) -> str | None:
        """The literal `x` when it is `x*` and nothing else (`x` may be empty); None otherwise."""
        match self.segments:
            case (Segment(pieces=(literal,)), Segment(pieces=("",))):
                return literal
            case _:
                return None

    @property
    def literals(self) -> list[str]:
        """Every literal that a text must hold to be covered."""
        return [piece for segment in self.segments for piece in segment.pieces if piece]

    def folded(self) -> Glob:
        """Return it for texts that were case-folded too."""
        return Glob(tuple(Segment(tuple(p.casefold() for p in segment.pieces)) for segment in self.segments))

    def symbols(self) -> list[str]:
        """Spell it out, one symbol per character and one per star."""
        symbols = self.segments[0].symbols()
        for segment in self.segments[1:]:
            symbols.append(RUN)
            symbols.extend(segment.symbols())
        return symbols


class Wildcard:
    """A pattern as a ruleset writes it.

    Args:
        pattern: As written. Nothing is special but `*`, `?`, a trailing ` *`, and a leading `~/` or `$HOME/`.
        home: The requester's home directory, for `~`, `~/...`, `$HOME`, `$HOME/...`; empty leaves those literal.
            Wildcards in `home` itself are literal.
    """

    __slots__ = ("globs", "pattern")

    pattern: str
    globs: tuple[Glob, ...]

    def __init__(self, pattern: str, *, home: str = "") -> None:
        self.pattern = pattern
        lead, rest = _expand_home(pattern, home=home)
        pieces = [part.split("?") for part in rest.split("*")]
        pieces[0][0] = lead + pieces[0][0]
        self.globs = _alternatives(pieces)

    @classmethod
    def literal_aware(cls, pattern: str) -> Wildcard:
        r"""Compile a pattern in which `\*`, `\?` and `\\` stand for themselves: what `escape_pattern` writes.

        For grants, whose text comes from a request. A backslash before anything else is literal; home is not expanded.
        """
        made = cls.__new__(cls)
        made.pattern = pattern
        made.globs = _alternatives(_split_escaped(pattern))
        return made

    def matches(self, text: str) -> bool:
        """Say whether the pattern covers the whole of `text`; case counts. Linear in `text`. Never raises."""
        return any(glob.matches(text) for glob in self.globs)

    def __repr__(self) -> str:
        return f"Wildcard({self.pattern!r})"


def escape_pattern(text: str) -> str:
    """Write `text` so that `Wildcard.literal_aware` covers exactly it."""
    return text.replace("\\", r"\\").replace("*", r"\*").replace("?", r"\?")


def covers(broad: Wildcard, narrow: Wildcard) -> bool:
    """Say whether `broad` surely covers every text that `narrow` covers.

    Errs towards False: then a shadowed rule goes unreported, which changes no decision.
    """
    return all(
        any(_glob_covers(wide.symbols(), tight.symbols()) for wide in broad.globs if _may_cover(wide, tight))
        for tight in narrow.globs
    )


def _may_cover(wide: Glob, tight: Glob) -> bool:
    """Rule out the common case cheaply: the literal beginnings differ."""
    return tight.segments[0].pieces[0].startswith(wide.segments[0].pieces[0])


def _glob_covers(wide: Sequence[str], tight: Sequence[str]) -> bool:
    """Match `wide` against `tight` read as a text in which unknown characters and runs are letters of their own."""
    at = reading = 0
    star, resume = -1, 0
    while reading < len(tight):
        symbol = wide[at] if at < len(wide) else ""
        if symbol == RUN:
            star, resume = at, reading
            at += 1
        elif symbol == tight[reading] or (symbol == ANY and tight[reading] != RUN):
            at += 1
            reading += 1
        elif star >= 0:
            resume += 1
            at, reading = star + 1, resume
        else:
            return False
    return all(symbol == RUN for symbol in wide[at:])


def _expand_home(pattern: str, *, home: str) -> tuple[str, str]:
    """Split off a leading home: what it stands for, literally, and the rest of the pattern."""
    if not home:
        return "", pattern
    place = home.rstrip("/")
    for mark in ("~", "$HOME"):
        if pattern == mark:
            return place or "/", ""
        if pattern.startswith(mark + "/"):
            return place, pattern[len(mark) :]
    return "", pattern


def _split_escaped(pattern: str) -> list[list[str]]:
    parts, taken, escaped = [[""]], "", False
    for char in pattern:
        if escaped:
            taken += char if char in "*?\\" else "\\" + char
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in "*?":
            parts[-1][-1] += taken
            taken = ""
            if char == "*":
                parts.append([""])
            else:
                parts[-1].append("")
        else:
            taken += char
    parts[-1][-1] += taken + ("\\" if escaped else "")
    return parts


def _alternatives(parts: list[list[str]]) -> tuple[Glob, ...]:
    """Make the globs of a pattern: itself, and without its trailing ` *` when it has one."""
    parts = [part for place, part in enumerate(parts) if part != [""] or place in {0, len(parts) - 1}]
    whole = Glob(tuple(Segment(tuple(part)) for part in parts))
    if len(parts) == 1 or parts[-1] != [""] or not parts[-2][-1].endswith(" "):
        return (whole,)
    bare = [*parts[:-2], [*parts[-2][:-1], parts[-2][-1][:-1]]]
    return whole, Glob(tuple(Segment(tuple(part)) for part in bare))

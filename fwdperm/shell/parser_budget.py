"""How much of a text a parser is given at once, so that hostile text cannot make parsing quadratic.

Lives here: `portions`, `is_deep`. Never here: parsing.

The parser is linear on what is well formed, but its recovery from errors is quadratic in the number of marks that mean
something to a shell. Few marks: the text goes through whole. Many: the insides of quotes and here-documents are masked
(the caller checks that the parser saw them as such), and what is left is cut at separators. A cut in the wrong place
leaves pieces that do not parse, and so asks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from fwdperm.settings import LINE_DEPTH

MARKS: Final = 1000
"""Marks given to the parser at once: recovery over so many takes some twenty milliseconds at worst."""

_ASCII: Final = bytes([*range(0x80), *(b"." * 0x80)])
"""Shows the parser a dot for every byte beyond ASCII: to a shell they are all plain word characters, and the grammar's
scanner reads outside of its tables for some of them (a brace before a character beyond U+FFFF ends the process)."""
_NO_BLANK: Final = re.compile(rb"[\f\v\r]")
r"""A blank to the grammar that is none to a shell: `a\fb`, a carriage return, at a line's end as well."""
_MARK: Final = re.compile(rb"[^A-Za-z0-9_./,:=@%+ \t\n\x80-\xff-]")
"""A byte that may have a meaning to a shell: `;`, `$`, `(`. The parser's recovery is quadratic in their number."""
_TOKEN: Final = re.compile(
    rb"""\\. | (?P<single>\$?'[^']*') | (?P<double>"(?:[^"\\]|\\.)*") | (?P<comment>(?:(?<=[\s;&|()])|^)\#[^\n]*)
    | <<-?[ \t]*(?P<quote>['"\\]?)(?P<end>[A-Za-z0-9_.-]+)(?P=quote)? | (?P<line>\n)""",
    re.VERBOSE | re.DOTALL,
)
"""What may hold marks without a meaning: `'a;b'`, `"a;b"`, a comment, an escaped character, and the head of a
here-document, whose body begins at the next line's end."""
_TOKENS: Final = 8 * 1024
"""Quotes, comments, line ends and here-documents that are looked for masks; what is left is not masked."""
_BRACKET: Final = re.compile(rb"[(){}]|'[^']*+'")
"""A bracket, or text in single quotes, whose brackets are none: `(`, `'a)'`."""
_EXPANDS: Final = re.compile(rb"\$[({\[]|`")
"""The beginning of a substitution, which has a meaning inside double quotes and here-documents as well: `$(date)`."""
_INSIDE: Final = re.compile(rb"[^A-Za-z0-9_\n\x80-\xff]")
"""A byte of a masked text that the parser must not see: `;`. It is shown an `x`. Letters, digits and line
ends stay, so that lengths and lines do."""
_CUT: Final = re.compile(rb"(?<!\\)(?:\n|;(?!;)|&&|\|\|)")
"""Where one command surely ends and a text may be cut: `a; b`, `a && b`, a line's end. Not at a `;;`, nor behind a
backslash."""


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of a text that is parsed by itself.

    Attributes:
        data: What the commands are cut from.
        shown: What the parser is given: the same length, with quoted insides masked.
        masks: Byte ranges that were masked.
        start: Where in the whole text it begins.
    """

    data: bytes
    shown: bytes
    masks: tuple[tuple[int, int], ...] = field(default=())
    start: int = 0


def portions(data: bytes) -> list[Portion] | None:
    """Divide a text into parts whose parsing takes bounded time.

    Args:
        data: The text in UTF-8.

    Returns:
        The parts in order, in nearly every case one; None when a part would be too intricate.
    """
    shown = plain(data)
    if len(data) <= MARKS or _count(shown) <= MARKS:
        return [Portion(data, shown)]
    shown, masks = _mask(shown)
    if _count(shown) <= MARKS:
        return [Portion(data, shown, masks)]
    return _cut(data, shown, masks)


def is_deep(data: bytes) -> bool:
    """Say whether more brackets are open at once than are followed; what stands in single quotes does not count."""
    depth = 0
    for found in _BRACKET.finditer(data):
        mark = found.group()
        if mark in b"({":
            depth += 1
            if depth > LINE_DEPTH:
                return True
        elif mark in b")}":
            depth = max(depth - 1, 0)
    return False


def plain(data: bytes) -> bytes:
    """Show every byte that is an ordinary character to a shell, but not to the grammar, as a dot."""
    if not data.isascii():
        data = data.translate(_ASCII)
    if b"\r" in data or b"\f" in data or b"\v" in data:
        data = _NO_BLANK.sub(b".", data)
    return data


def _count(data: bytes) -> int:
    return len(_MARK.findall(data))


def _mask(data: bytes) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    out = bytearray(data)
    masks: list[tuple[int, int]] = []
    waiting: list[tuple[bytes, bool]] = []
    at = 0
    for _ in range(_TOKENS):
        found = _TOKEN.search(data, at)
        if found is None:
            break
        at = found.end()
        kind = found.lastgroup
        if kind in ("single", "double", "comment"):
            start, end = found.span()
            if kind == "double" and _EXPANDS.search(data, start, end):
                continue
            lead = 1 if kind == "comment" else 2 if data[start : start + 1] == b"$" else 1
            masks.append((start + lead, end if kind == "comment" else end - 1))
        elif kind == "end":
            waiting.append((found["end"], bool(found["quote"])))
        elif kind == "line":
            for end_word, is_quoted in waiting:
                stop, after = _closing(data, at, end_word)
                if is_quoted or not _EXPANDS.search(data, at, stop):
                    masks.append((at, stop))
                at = after
            waiting.clear()
    for start, end in masks:
        out[start:end] = _INSIDE.sub(b"x", data[start:end])
    return bytes(out), tuple(mask for mask in masks if mask[0] < mask[1])


def _closing(data: bytes, at: int, end_word: bytes) -> tuple[int, int]:
    """Give where the line begins and ends that closes a here-document whose body begins at `at`."""
    found = data.find(end_word, at)
    while found >= 0:
        end = found + len(end_word)
        start = data.rfind(b"\n", at, found) + 1 or at
        if data[end : end + 1] in (b"", b"\n") and not data[start:found].strip(b"\t"):
            return start, end
        found = data.find(end_word, end)
    return len(data), len(data)


def _cut(data: bytes, shown: bytes, masks: tuple[tuple[int, int], ...]) -> list[Portion] | None:
    parts: list[Portion] = []
    start, last, marks = 0, 0, 0
    ends = [found.end() for found in _CUT.finditer(shown)]
    inside = iter(masks)
    mask = next(inside, None)
    for end in (*ends, len(data)):
        while mask is not None and mask[1] < end:
            mask = next(inside, None)
        if mask is not None and mask[0] < end <= mask[1]:
            continue
        here = _count(shown[last:end])
        if here > MARKS:
            return None
        if marks + here > MARKS:
            parts.append(_part(data, shown, masks, start, last))
            start, marks = last, 0
        marks += here
        last = end
    parts.append(_part(data, shown, masks, start, len(data)))
    return parts


def _part(data: bytes, shown: bytes, masks: tuple[tuple[int, int], ...], start: int, end: int) -> Portion:
    """Take one part; separators at its end that would leave a half sentence are left out."""
    while end > start and shown[end - 1 : end] in (b"&", b"|") and shown[end - 2 : end - 1] in (b"&", b"|"):
        end -= 2
    kept = tuple((low - start, high - start) for low, high in masks if start <= low and high <= end)
    return Portion(data[start:end], shown[start:end], kept, start)

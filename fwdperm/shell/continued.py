r"""Joining continued lines where a shell joins them: a backslash at the end of a line, and the line end, are nothing.

Lives here: `join_lines`, which reads a text as far as quotes, comments and here-documents go. Never here: the parser
(`grammar.py`), which checks what is found here against its own tree.

bash joins before it looks at anything: `$\` and, on the next line, `(cmd)` is a substitution. It does not join inside
of single quotes, `$'...'`, comments, and here-documents whose end word is quoted. Where this module cannot tell, the
text is in doubt, and what is in doubt asks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fwdperm.settings import CONTINUED_LINES, LINE_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANKS: Final = b" \t\n;&|()<>"
"""Bytes after which a `#` begins a comment."""
_SPECIAL: Final = {
    "code": re.compile(rb"[\\'\"`$(){\[#<>\n]"),
    "arithmetic": re.compile(rb"[\\'\"`$(){\[]"),
    "index": re.compile(rb"[\\'\"`$(){\[\]]"),
    "braces": re.compile(rb"[\\'\"`$({}\[]"),
    "quoted": re.compile(rb"[\\\"`$({\[]"),
    "backticks": re.compile(rb"[\\`]"),
}
"""What has a meaning, by where it stands."""
_CLOSES: Final = {b")": ("code", "arithmetic"), b"}": ("braces",), b"]": ("index",), b'"': ("quoted",)}
_SINGLE: Final = re.compile(rb"[^']*+'")
"""The rest of a text between single quotes, in which nothing has a meaning: `a $b'`."""
_ANSI: Final = re.compile(rb"(?:[^\\']|\\.)*+'", re.DOTALL)
r"""The rest of a text behind `$'`, in which a backslash keeps the next character: `a\'b'`."""
_CONTINUATION: Final = b"\\\n"
_DEPTH: Final = 4 * LINE_DEPTH
"""Brackets and quotes that may be open at once: more than is followed when such a text is read."""
_WORD_ENDS: Final = b" \t\n;&|()<>"


@dataclass(frozen=True, slots=True)
class Joined:
    """A text whose continued lines were joined.

    Attributes:
        data: The text, in UTF-8.
        joints: Where in it lines were joined, in order.
        kept: Ranges in it that hold a backslash and a line end which a shell keeps, in order.
        in_doubt: True when it is not certain that a shell joins the same lines.
    """

    data: bytes
    joints: tuple[int, ...] = ()
    kept: tuple[tuple[int, int], ...] = ()
    in_doubt: bool = False

    def within(self, start: int, data: bytes) -> Joined:
        """Give a part of the text that begins at `start`, with the places in it."""
        if not (self.joints or self.kept) or data is self.data:
            return self if data is self.data else Joined(data)
        end = start + len(data)
        return Joined(
            data,
            tuple(at - start for at in self.joints if start <= at <= end),
            tuple((low - start, high - start) for low, high in self.kept if start <= low and high <= end),
        )

    def edited(self, edits: Sequence[tuple[int, int, bytes]]) -> Joined:
        """Apply edits to the text (start, end, replacement; in order), and move every place along."""
        if not edits:
            return self
        out, last, shift = bytearray(), 0, 0
        ends: list[int] = []
        shifts = [0]
        for start, end, instead in edits:
            out += self.data[last:start] + instead
            last = end
            shift += len(instead) - (end - start)
            ends.append(end)
            shifts.append(shift)
        out += self.data[last:]

        def moved(at: int) -> int:
            return at + shifts[bisect_right(ends, at)]

        return Joined(
            bytes(out),
            tuple(moved(at) for at in self.joints),
            tuple((moved(start), moved(end - 1) + 1) for start, end in self.kept),
            self.in_doubt,
        )


def join_lines(data: bytes) -> Joined:
    """Join the continued lines of a text.

    Args:
        data: The text in UTF-8.

    Returns:
        The text as a shell reads it. Never raises. In doubt, every line is joined. Linear in the text.
    """
    if _CONTINUATION not in data:
        return Joined(data)
    reader = _Reader(data)
    reader.read()
    spans = [] if reader.in_doubt else reader.joints
    if reader.in_doubt:
        spans = [found.start(1) for found in re.finditer(rb"(?<!\\)(?:\\\\)*+(\\\n)", data)]
    out = bytearray()
    last = 0
    joints: list[int] = []
    for at in spans:
        out += data[last:at]
        joints.append(len(out))
        last = at + 2
    out += data[last:]
    kept = [] if reader.in_doubt else reader.kept
    before = 0
    moved: list[tuple[int, int]] = []
    for start, end in kept:
        while before < len(spans) and spans[before] < start:
            before += 1
        moved.append((start - 2 * before, end - 2 * before))
    return Joined(bytes(out), tuple(joints), tuple(moved), reader.in_doubt)


@dataclass(slots=True)
class _Frame:
    """Something that is open: what kind of text stands in it, and the here-documents whose bodies are still to come."""

    kind: str
    ends_word: bool = False
    in_quotes: bool = False
    waiting: list[tuple[bytes, bool, bool]] = field(default_factory=list)


class _Reader:
    """One pass over a text."""

    __slots__ = ("at", "before", "data", "frames", "in_doubt", "in_word", "joints", "kept")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.frames = [_Frame("code")]
        self.joints: list[int] = []
        self.kept: list[tuple[int, int]] = []
        self.in_doubt = False
        self.in_word = False
        self.before = b""
        """The mark that stands right before, continuations aside; empty for anything else."""

    def read(self) -> None:
        """Read to the end, or until in doubt."""
        data, size = self.data, len(self.data)
        while self.at < size and not self.in_doubt:
            if len(self.frames) > _DEPTH or len(self.joints) + len(self.kept) > CONTINUED_LINES:
                self.in_doubt = True
                break
            found = _SPECIAL[self.frames[-1].kind].search(data, self.at)
            start = size if found is None else found.start()
            if start > self.at:
                self.before = b""
                self.in_word = data[start - 1] not in _BLANKS
                self.at = start
            if found is not None:
                self._mark(found.group())
        if len(self.frames) > 1 or self.frames[0].waiting:
            self.in_doubt = True

    def _mark(self, mark: bytes) -> None:  # noqa: C901, PLR0912 - one arm per mark
        frame = self.frames[-1]
        before, self.before = self.before, b""
        if mark == b"\\":
            self._backslash(before)
            return
        was_in_word, self.in_word = self.in_word, True
        self.at += 1
        if mark == b"`":
            if frame.kind == "backticks":
                self.frames.pop()
            else:
                self.frames.append(_Frame("backticks"))
        elif frame.kind in _CLOSES.get(mark, ()):
            self._close()
        elif mark == b"'":
            self._single(is_ansi=before == b"$")
        elif mark == b'"':
            self.frames.append(_Frame("quoted"))
        elif mark == b"$":
            self.before = b"" if before == b"$" else b"$"
        elif mark in (b"(", b"{", b"["):
            self._open(mark, before)
        elif mark == b"#":
            if not was_in_word:
                self._raw(self._line_end())
        elif mark in (b"<", b">"):
            self._angle(mark, before)
        elif mark == b"\n":
            self.in_word = False
            self._bodies()

    def _backslash(self, before: bytes) -> None:
        if self.data.startswith(_CONTINUATION, self.at):
            self.joints.append(self.at)
            self.before = before
        else:
            self.in_word = True
        self.at += 2

    def _single(self, *, is_ansi: bool) -> None:
        """Pass a single-quoted run. In `"${x:-'...'}"` shells differ in whether it is one."""
        if self.frames[-1].in_quotes:
            self.in_doubt = True
            return
        found = (_ANSI if is_ansi else _SINGLE).match(self.data, self.at)
        if found is None:
            self.in_doubt = True
            return
        self._raw(found.end())

    def _raw(self, end: int) -> None:
        """Pass what a shell keeps as it is."""
        first = self.data.find(_CONTINUATION, self.at, end + 1)
        if first >= 0:
            self.kept.append((first, self.data.rfind(_CONTINUATION, self.at, end + 1) + 1))
        self.at = end

    def _line_end(self) -> int:
        end = self.data.find(b"\n", self.at)
        return len(self.data) if end < 0 else end

    def _open(self, mark: bytes, before: bytes) -> None:
        frame = self.frames[-1]
        if mark == b"{" and before == b"$":
            self.frames.append(_Frame("braces", in_quotes=frame.kind == "quoted" or frame.in_quotes))
        elif mark == b"[" and (before == b"$" or frame.kind == "index"):
            self.frames.append(_Frame("index"))
        elif mark == b"(" and before == b"(" and frame.kind == "code":
            frame.kind, frame.waiting = "arithmetic", []
            self.frames.append(_Frame("arithmetic"))
        elif mark == b"(" and (before == b"$" or (before in (b"<", b">") and frame.kind == "code")):
            self.frames.append(_Frame("code", ends_word=True))
            self.before = b"("
            self.in_word = False
        elif mark == b"(" and frame.kind == "code":
            self.frames.append(_Frame("code", waiting=frame.waiting))
            self.before = b"("
            self.in_word = False
        elif mark == b"(" and frame.kind in ("arithmetic", "index"):
            self.frames.append(_Frame("arithmetic"))

    def _close(self) -> None:
        frame = self.frames[-1]
        if len(self.frames) == 1:
            self.in_word = False  # the end of a pattern of `case`
            return
        self.frames.pop()
        if frame.kind == "code" and not frame.ends_word:
            self.in_word = False
        elif frame.waiting:
            self.in_doubt = True

    # -- here-documents ------------------------------------------------------------------------------------

    def _angle(self, mark: bytes, before: bytes) -> None:
        self.in_word = False
        if mark == b">" or before != b"<":
            self.before = mark
            return
        at = self._past_joints(self.at)
        if self.data.startswith(b"<", at):
            self.at = at + 1
            return
        is_indented = self.data.startswith(b"-", at)
        self._end_word(at + is_indented, is_indented=is_indented)

    def _past_joints(self, at: int) -> int:
        while self.data.startswith(_CONTINUATION, at):
            self.joints.append(at)
            at += 2
        return at

    def _end_word(self, at: int, *, is_indented: bool) -> None:
        """Read the word that ends a here-document."""
        data, size = self.data, len(self.data)
        word, is_quoted, quote = bytearray(), False, b""
        while (at := self._past_joints(at)) < size and data[at] in b" \t":
            at += 1
        while (at := at if quote == b"'" else self._past_joints(at)) < size:
            char = data[at : at + 1]
            if quote and char == quote:
                quote = b""
            elif not quote and char == b"\\":
                is_quoted = True
                at += 1
                word += data[at : at + 1]
            elif not quote and char in (b"'", b'"'):
                is_quoted, quote = True, char
            elif not quote and char in _WORD_ENDS:
                break
            elif char in b"$`\n" or (quote == b'"' and char == b"\\"):
                self.in_doubt = True
                return
            else:
                word += char
            at += 1
        if not word or quote:
            self.in_doubt = True
            return
        self.at, self.in_word = at, True
        self.frames[-1].waiting.append((bytes(word), is_quoted, is_indented))

    def _bodies(self) -> None:
        """Pass the bodies of the here-documents that were announced on the line that ends here."""
        waiting = self.frames[-1].waiting
        if any(frame.waiting and frame.waiting is not waiting for frame in self.frames[:-1]):
            self.in_doubt = True
            return
        for word, is_quoted, is_indented in waiting:
            start = self.at
            found = self._body(word, is_quoted=is_quoted, is_indented=is_indented)
            if not found:
                self.in_doubt = True
                return
            end, self.at = self.at, start
            if is_quoted:
                self._raw(end)
            self.at = end
        waiting.clear()

    def _body(self, word: bytes, *, is_quoted: bool, is_indented: bool) -> bool:
        """Pass one body with the line that ends it; False when there is no such line."""
        data, size = self.data, len(self.data)
        while self.at < size:
            line = bytearray()
            is_whole = False
            while not is_whole:
                end = data.find(b"\n", self.at)
                end = size if end < 0 else end
                part = data[self.at : end]
                self.at = min(end + 1, size)
                is_whole = is_quoted or end == size or (len(part) - len(part.rstrip(b"\\"))) % 2 == 0
                if not is_whole:
                    self.joints.append(end - 1)
                    part = part[:-1]
                line += part
            if (line.lstrip(b"\t") if is_indented else line) == word:
                return True
        return False

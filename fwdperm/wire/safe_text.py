r"""Untrusted text made safe to show: one function for every channel.

Lives here: `shown`, what it cannot say itself (`suspicions`), and cutting that never hides that it cut (`clip`).
Never here: colours, frames, a terminal. Standard library only, pure.

What a person reads must be what would run. So what a screen would not show, or show elsewhere, is written out: a
control character as `\u{1B}`, three hundred blanks as `[300 blanks]`. No two different texts are shown alike.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_BLANKS: Final = 8
"""Blanks in a row shown as they are: deep indentation stays readable, a screenful of padding does not stay hidden."""
_NEWLINES: Final = 3
"""Line ends in a row shown as they are."""
_MARKS: Final = 3
"""Combining marks on one letter that are shown as they are: enough for the scripts in use."""
_QUOTED_CHARS: Final = 40
"""Characters of a suspicious word that are quoted in a suspicion."""

# Characters that print nothing, or an empty box, though their category says letter, mark or symbol: Unicode's
# Default_Ignorable_Code_Point beyond category Cf, the blank Braille pattern, the null notehead, the object placeholder.
_INVISIBLE_RANGES: Final = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFC),
    (0x16FE4, 0x16FE4),
    (0x1D159, 0x1D159),
    (0xE0000, 0xE0FFF),
)
_DIRECTION: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# What has to be looked at: a run of anything but printable ASCII; ASCII that reads like our own escapes (`\u{`,
# `[9 blanks]`, `[4 empty lines]`); and too many blanks in a row.
_SPECIAL: Final = re.compile(
    r"[^ -~]+"
    r"|\\(?=u\{)"
    r"|\[(?=[0-9]+ (?:blanks|empty lines)\])"
    rf"| {{{_BLANKS + 1},}}"
)
_MANY_NEWLINES: Final = re.compile(rf"\n{{{_NEWLINES + 1},}}")


def shown(text: str, *, multiline: bool = False) -> str:
    r"""Write untrusted text so that it can neither hide nor imitate anything.

    Args:
        text: Anything: a value, a name, a path, a message. Lone surrogates are allowed.
        multiline: Keep line feeds as line ends. The caller then has to put its own margin before each line, or the
            text could imitate the lines around it.

    Returns:
        Printable characters only (and line feeds with `multiline`). Control, format, direction, separator, private,
        unassigned and invisible characters, blanks other than the space, and combining marks with nothing to stand on
        become `\u{HEX}`; more than eight spaces become `[N blanks]`, more than three line ends `[N empty lines]` on
        a line of its own. Text that already looks like one of these has its first character escaped, so different
        texts always show differently. Never raises.
    """

    def written(match: re.Match[str]) -> str:
        run = match[0]
        if run[0] == " ":
            return f"[{len(run)} blanks]"
        if run[0] in "\\[":
            return _escape(run)
        return _write_run(run, multiline=multiline, before=text[match.start() - 1 : match.start()])

    return _SPECIAL.sub(written, text)


def _write_run(run: str, *, multiline: bool, before: str) -> str:
    """Write a run of characters outside printable ASCII."""
    out: list[str] = []
    at = 0
    while at < len(run):
        char = run[at]
        if multiline and char == "\n":
            many = _MANY_NEWLINES.match(run, at)
            count = len(many[0]) if many else 1
            out.append(f"\n[{count - 1} empty lines]\n" if many else "\n")
            at += count
            before = ""
            continue
        at += 1
        if not _is_plain(char, before=before):
            out.append(_escape(char))
            before = ""
            continue
        out.append(char)
        before = before + char if _is_mark(char) else char
    return "".join(out)


def _escape(char: str) -> str:
    return f"\\u{{{ord(char):X}}}"


def _is_invisible(char: str) -> bool:
    code = ord(char)
    return any(first <= code <= last for first, last in _INVISIBLE_RANGES)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _is_plain(char: str, *, before: str) -> bool:
    """Say whether a character can be shown as it is.

    Args:
        char: The character.
        before: What stands before it on screen: one character with the marks on it, or nothing.
    """
    if not char.isprintable() or _is_invisible(char):
        return False
    if not _is_mark(char):
        return True
    # A combining mark is shown only on a letter, and few on one: very many would cover the lines above. One for which
    # there is a single character with the same look (e and accent) is escaped, or two texts would look the same. So is
    # one that encloses a letter, because it could cross it out.
    if not before or len(before) > _MARKS or unicodedata.category(before[0])[0] != "L":
        return False
    return unicodedata.category(char) != "Me" and unicodedata.normalize("NFC", before + char) == before + char


@dataclass(frozen=True, slots=True)
class Clipped:
    """Text fitted to a screen.

    Attributes:
        rows: Lines to show, each at most `columns` wide. When something was cut the last one says how much.
        wraps: For each row, True when it continues the row before it (the text had no line end there).
        hidden_lines: Rows left out; 0 when the whole text is there.
    """

    rows: tuple[str, ...]
    wraps: tuple[bool, ...]
    hidden_lines: int = 0

    @property
    def is_cut(self) -> bool:
        """Say whether anything was left out. What was shown so must not be approved."""
        return self.hidden_lines > 0


def clip(text: str, *, lines: int, columns: int) -> Clipped:
    """Show untrusted text in at most `lines` rows of `columns` columns, and say what was left out.

    Args:
        text: Anything; it goes through `shown`, line feeds kept.
        lines: Rows of text at most, from 1. The row that announces a cut comes on top.
        columns: Columns a row may take, from 8.

    Returns:
        The rows. A cut is never silent: the last row then reads `[N more lines, M characters]`.
    """
    return fit(shown(text, multiline=True), lines=lines, columns=columns)


def fit(safe: str, *, lines: int, columns: int, between_words: bool = False) -> Clipped:
    """Do what `clip` does with text that already went through `shown`.

    Args:
        safe: Printable text and line feeds: what `shown` gave, and words of our own around it.
        lines: As for `clip`.
        columns: As for `clip`.
        between_words: Break rows after a blank where there is one, for prose. A text whose every character counts is
            broken where the row ends.

    Returns:
        As `clip`.
    """
    columns = max(columns, 8)
    lines = max(lines, 1)
    rows: list[str] = []
    wraps: list[bool] = []
    for line in safe.split("\n"):
        for number, row in enumerate(_wrap(line, columns=columns, between_words=between_words)):
            rows.append(row)
            wraps.append(number > 0)
    if len(rows) <= lines:
        return Clipped(rows=tuple(rows), wraps=tuple(wraps))
    hidden = rows[lines:]
    chars = sum(map(len, hidden))
    more = f"[{len(hidden)} more {'line' if len(hidden) == 1 else 'lines'}, {chars} characters]"
    if len(more) > columns:
        more = more.partition(",")[0] + "]"
    return Clipped(
        rows=(*rows[:lines], more),
        wraps=(*wraps[:lines], False),
        hidden_lines=len(hidden),
    )


def columns_of(char: str) -> int:
    """Tell how many columns a printable character takes on a terminal at most: 0 (mark), 1 or 2.

    Where terminals differ (ambiguous width, symbols drawn as pictures) it is 2. A row may then be shorter than it could
    be. Were it too long, the terminal would wrap it, and untrusted text would begin a line without our margin.
    """
    if char.isascii():
        return 1
    category = unicodedata.category(char)
    if category == "Mn":
        return 0
    return 2 if category[0] == "S" or unicodedata.east_asian_width(char) in "WFA" else 1


def _wrap(line: str, *, columns: int, between_words: bool) -> list[str]:
    """Cut an escaped line into rows of at most the width, so that the terminal wraps none. Nothing is left out."""
    if between_words:
        return _wrap_words(line, columns=columns)
    if line.isascii():
        return [line[at : at + columns] for at in range(0, len(line), columns)] or [""]
    rows: list[str] = []
    row: list[str] = []
    taken = 0
    for char in line:
        width = columns_of(char)
        if taken + width > columns:
            rows.append("".join(row))
            row, taken = [], 0
        row.append(char)
        taken += width
    rows.append("".join(row))
    return rows


def _wrap_words(line: str, *, columns: int) -> list[str]:
    """Cut a line into rows at blanks; a row that would be less than a third full that way is cut at the width."""
    rows: list[str] = []
    while line:
        row = _wrap(line[: columns + 1], columns=columns, between_words=False)[0]
        if len(row) < len(line):
            row = row[: row.rfind(" ", len(row) // 3) + 1] or row
        rows.append(row)
        line = line[len(row) :]
    return rows or [""]


# -- what looks like something else ----------------------------------------------------------------------------

_ALPHABETS: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET"})
"""Scripts with letters that look like Latin ones. A word with letters of two of them may imitate another word."""
_LIKE_LATIN: Final = frozenset("асԁеһіјӏорԛѕԝхуѵАВЕНІЈКМОРЅТХУΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυ")  # noqa: RUF001 - look-alikes are the point
_LIKE_SLASH: Final = frozenset("\u2044\u2215\u29f8\u2571\uff0f\u2024\u2236\ua789\u02d0\u01c0\u2223\u037e\u2010\u2011")
_WORD: Final = re.compile(r"[^\W\d_]+")


def suspicions(text: str) -> tuple[str, ...]:
    """Say in words what about a text could deceive a reader.

    Args:
        text: Anything.

    Returns:
        A phrase for each kind of trick, safe to show; empty when none was found. Only a hint for people: nothing is
        decided by it, and finding none proves nothing.
    """
    found = [*_padding(text)]
    if text.isascii() and text.isprintable():
        return tuple(found)
    chars = sorted(set(text))
    bidi = [char for char in chars if char in _DIRECTION]
    control = [char for char in chars if unicodedata.category(char) == "Cc" and char not in "\n\t"]
    hidden = [
        char for char in chars if char not in _DIRECTION and (unicodedata.category(char) == "Cf" or _is_invisible(char))
    ]
    odd = [char for char in chars if char != " " and unicodedata.category(char) in {"Zs", "Zl", "Zp"}]
    alike = [char for char in chars if char in _LIKE_SLASH]
    rtl = any(unicodedata.bidirectional(char) in {"R", "AL", "AN"} for char in chars)
    for kind, members in (
        ("direction-changing characters", bidi),
        ("control characters", control),
        ("invisible characters", hidden),
        ("blanks or line ends that are not the usual ones", odd),
        ("signs that look like a slash, dot, colon or dash", alike),
    ):
        if members:
            found.append(f"{kind}: {_codes(members)}")
    if rtl:
        found.append("right-to-left letters: some terminals show the words around them in another order")
    found.extend(_words(text))
    return tuple(found)


def _padding(text: str) -> list[str]:
    longest = max((len(run) for run in re.findall(rf"[ \t]{{{_BLANKS + 1},}}|\n{{{_NEWLINES + 2},}}", text)), default=0)
    return [f"padding: {longest} blanks or line ends in a row"] if longest > 4 * _BLANKS or "\n" * 5 in text else []


def _codes(chars: list[str]) -> str:
    some = ", ".join(f"U+{ord(char):04X}" for char in chars[:5])
    return f"{some} and {len(chars) - 5} more" if len(chars) > 5 else some  # noqa: PLR2004 - the five just named


def _words(text: str) -> list[str]:
    """Find words that mix alphabets, that look like Latin ones, or whose letters are styled Latin ones (full width).

    Only the first of each kind is given.
    """
    found: dict[str, str] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii():
            continue
        scripts = {script for char in word if (script := _script(char)) in _ALPHABETS}
        strange = next((char for char in word if not char.isascii() and _script(char) != "LATIN"), "")
        if len(scripts) > 1:
            found.setdefault(
                "mixed", f"one word mixes {' and '.join(sorted(map(str.title, scripts)))} letters: {_quoted(word)}"
            )
        elif scripts and "LATIN" not in scripts and all(char in _LIKE_LATIN for char in word):
            found.setdefault("alike", f"letters that look like Latin ones: {_quoted(word)}")
        elif strange and unicodedata.normalize("NFKC", word).isascii():
            found.setdefault("styled", f"letters in disguise (U+{ord(strange):04X}): {_quoted(word)}")
    return list(found.values())


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _quoted(word: str) -> str:
    whole = shown(word)
    short = whole if len(whole) <= _QUOTED_CHARS else f"{whole[:_QUOTED_CHARS]}[{len(whole) - _QUOTED_CHARS} more]"
    codes = " ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(word) if not char.isascii())
    return f"`{short}` ({codes})" if len(codes) <= 2 * _QUOTED_CHARS else f"`{short}`"

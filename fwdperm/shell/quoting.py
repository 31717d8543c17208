"""Where a quoted run or an expansion ends, by its characters alone.

Lives here: the index behind what begins at a place, and `bare_text`. Never here: what the run says (`words.py`), what
it would run (`substitution.py`), the tree.

What is not closed runs to the end of the text.
"""

from __future__ import annotations

import re
from typing import Final

_VARIABLE: Final = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
"""An expansion without braces, whole: `$HOME`, `$1`, `$?`."""


def bare_text(raw: str) -> str:
    """Give a text with an underscore in place of each quoted character or run and each expansion."""
    bare: list[str] = []
    at = 0
    while at < len(raw):
        end = past_one(raw, at)
        bare.append(raw[at] if end == at + 1 else "_")
        at = end
    return "".join(bare)


def past_one(text: str, at: int) -> int:
    """Return the index after the character, quoted run or expansion that begins at `at`."""
    match text[at]:
        case "\\":
            return min(at + 2, len(text))
        case "'":
            end = text.find("'", at + 1)
            return len(text) if end < 0 else end + 1
        case '"':
            return _double_end(text, at)
        case "$" | "`":
            return expansion_end(text, at)
        case "(":
            return bracket_end(text, at)
        case _:
            return at + 1


def expansion_end(text: str, at: int) -> int:
    """Return the index after the expansion at `at`; `at + 1` for a dollar that expands nothing."""
    if text[at] == "`":
        return backtick_end(text, at)
    after = text[at + 1 : at + 2]
    if after == "(":
        return bracket_end(text, at + 1)
    if after == "{":
        return bracket_end(text, at + 1)
    found = _VARIABLE.match(text, at)
    return found.end() if found else at + 1


def backtick_end(text: str, at: int) -> int:
    """Return the index after the old-style substitution that begins at `at`."""
    at += 1
    while at < len(text) and text[at] != "`":
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def ansi_end(text: str, at: int) -> int:
    """Return the index after the `'...'` of an ANSI quote at `at`; one past the text where it is not closed."""
    at += 1
    while at < len(text) and text[at] != "'":
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _double_end(text: str, at: int) -> int:
    """Return the index after the double-quoted run at `at`; substitutions inside it may hold quotes of their own."""
    return _balanced_end(text, at + 1, ['"'])


def bracket_end(text: str, at: int) -> int:
    """Return the index after the bracket that closes the one at `at`."""
    return _balanced_end(text, at + 1, [")" if text[at] == "(" else "}"])


def _balanced_end(text: str, at: int, open_ends: list[str]) -> int:
    """Walk until every end in the stack was met. Linear; an unclosed one runs to the end of the text."""
    size = len(text)
    while at < size and open_ends:
        char = text[at]
        end = open_ends[-1]
        if char == "\\":
            at += 2
            continue
        if char == end:
            open_ends.pop()
        elif char == "'" and end != '"':
            close = text.find("'", at + 1)
            at = size if close < 0 else close
        elif char == '"':
            open_ends.append('"')
        elif char == "`":
            at = backtick_end(text, at) - 1
        elif char == "$" and text[at + 1 : at + 2] in ("(", "{"):
            at += 1
            open_ends.append(")" if text[at] == "(" else "}")
        elif char == "(" and end == ")":
            open_ends.append(")")
        at += 1
    return min(at, size)

"""Code that a shell would run while it expands a text, found by the quotes of the text alone.

Lives here: `embedded_code`, `substitution_spans`, and the escapes that each kind of text adds to such code. Never here:
the tree (`source.py`), what a word says (`words.py`).
"""

from __future__ import annotations

import re

from fwdperm.shell.quoting import ansi_end, backtick_end, bracket_end


def embedded_code(text: str, *, backticks_only: bool = False) -> list[str]:
    """Find the code of command substitutions in text that a shell would expand.

    Args:
        text: Text of a here-document or of a part of a word that the grammar left whole.
        backticks_only: True where the grammar found the `$(...)` itself.

    Returns:
        The code inside each outermost substitution, backticks with their inner escapes removed.
    """
    found: list[str] = []
    at = 0
    size = len(text)
    while at < size:
        char = text[at]
        if char == "\\":
            at += 2
        elif char == "`":
            end = backtick_end(text, at)
            found.append(unescape_backticks(text[at + 1 : end - 1] if end <= size else text[at + 1 :]))
            at = end
        elif char == "$" and text.startswith("$(", at):
            end = bracket_end(text, at + 1)
            if not backticks_only:
                found.append(text[at + 2 : end - 1])
                at = end
            else:
                at = end
        else:
            at += 1
    return found


def substitution_spans(
    text: str, *, start: int = 0, end: int | None = None, heredoc: bool = False, arithmetic: bool = False
) -> list[tuple[int, int]]:
    """Find the outermost substitutions of a word by its quotes alone, without a tree.

    Args:
        text: A word's source text, or a here-document's.
        start: Index to begin at.
        end: Index to end at; None for the end of the text.
        heredoc: True for a here-document, in which quotes are plain characters.
        arithmetic: True inside `$((...))`, where `<(` compares and quotes keep nothing from being expanded.

    Returns:
        Where each begins and ends, delimiters and all, in order. Linear in the text.
    """
    found: list[tuple[int, int]] = []
    at, size, in_double = start, len(text) if end is None else end, False
    while at < size:
        char, first = text[at], at
        at += 1
        if char == "\\":
            at += 1
        elif char == "'" and not (heredoc or in_double or arithmetic):
            close = text.find("'", at)
            at = size if close < 0 else close + 1
        elif char == '"' and not heredoc:
            in_double = not in_double
        elif char == "`":
            at = backtick_end(text, first)
            found.append((first, at))
        elif char == "$" and text.startswith("'", at) and not (heredoc or in_double):
            at = ansi_end(text, at)
        elif char == "$" and text.startswith("((", at):
            at = bracket_end(text, at)
            if text.startswith("))", at - 2):
                found += substitution_spans(text, start=first + 3, end=at - 2, heredoc=heredoc, arithmetic=True)
            else:
                found.append((first, at))
        elif text.startswith("(", at) and (char == "$" or (char in "<>" and not (heredoc or in_double or arithmetic))):
            at = bracket_end(text, at)
            found.append((first, at))
    return found


def code_of(substitution: str) -> str:
    """Return the code inside the source text of a substitution."""
    if substitution.startswith("`"):
        return unescape_backticks(substitution[1:-1])
    return substitution[2:-1]


def unescape_backticks(code: str) -> str:
    """Remove the level of backslashes that old-style substitution adds before backslash, dollar and backtick."""
    return re.sub(r"\\([\\`$])", r"\1", code) if "\\" in code else code


def unescape_heredoc(body: str) -> str:
    """Remove the backslashes that an interpolating here-document removes."""
    return re.sub(r"\\([\\`$\n])", lambda m: "" if m[1] == "\n" else m[1], body) if "\\" in body else body

"""What is known of words whose value is not: the pieces between their expansions.

Lives here: `known_parts`, `possible_texts`, `possible_paths`. Pure. Never here: anything that an allow may match, and
the literal values that a line itself gives its variables (`possible_commands.py`).

Errs towards knowing less: what is not known may be anything, and a rule that may be about it asks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fwdperm.shell import Command, Word

Pieces = tuple[str, ...]
"""What is known of a text, in order; between two pieces anything may stand."""

ANYTHING: Final[Pieces] = ("", "")
"""Nothing is known."""
_NAME: Final = re.compile(r"\$(?:\w+|[^\w{(\['\"]|$)")
"""An expansion of a plain variable: `$x`, `$1`, `$@`, `$$`."""
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
"""A variable's plain value: `$x`, `${x}`."""
_OPENING: Final = re.compile(r"\$[({\[]|[<>]\(|`|\{|\$(?=['\"])")
"""Where an expansion begins that has an end of its own: `$(a)`, `${x}`, `$[1]`, `<(a)`, a backtick, `{a,b}`."""
_CLOSING: Final = {"(": ")", "{": "}", "[": "]"}
_GLOB: Final = re.compile(r"[*?]|\[[^]]*\]?")
"""A part of a word that the shell replaces by what it finds: `*`, `?`, `[a-z]`."""


def known_parts(word: Word) -> Pieces:
    """Give the pieces of a word that are known.

    Args:
        word: Any word. A known one without a glob is one piece.
    """
    pieces: list[str] = [""]
    text, at = word.text, 0
    if word.known:
        pieces = [text]
    else:
        if text[:1] == "~":  # which directory `~` or `~name` is, nobody knows: no piece of it is known
            pieces, at = ["", ""], len(text.partition("/")[0].partition("$")[0])
        while at < len(text):
            end = _past_expansion(text, at)
            if end == at:
                pieces[-1] += text[at]
                at += 1
                continue
            pieces.append("")
            at = end
    if word.glob:
        pieces = [part for piece in pieces for part in _GLOB.split(piece)]
    return tuple(pieces)


def _past_expansion(text: str, at: int) -> int:
    """Return where an expansion that begins at a place ends; the place itself where none begins."""
    name = _NAME.match(text, at)
    if name:
        return name.end()
    opening = _OPENING.match(text, at)
    if not opening:
        return at
    if opening.group() == "`":
        end = text.find("`", at + 1)
        return len(text) if end < 0 else end + 1
    if opening.group() == "$":
        return at + 1
    return _past_closing(text, opening.end() - 1)


def _past_closing(text: str, at: int) -> int:
    """Return where the bracket that opens at a place is closed; the end of the text where it is not, for sure."""
    opening = text[at]
    closing = _CLOSING[opening]
    if any(sign in text[at:] for sign in ("'", '"', "\\", "`")):
        return len(text)  # a bracket may stand in quotes there
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == opening) - (text[place] == closing)
        if depth == 0:
            return place + 1
    return len(text)


def possible_texts(command: Command) -> tuple[Pieces, ...]:
    """Give what is known of the text of a command that is not wholly known; nothing where all of it is.

    An unquoted word that is wholly unknown may come to no word at all, or to several.
    """
    if command.opaque:
        return (ANYTHING,)
    words = command.words
    if all(word.known for word in words):
        return ()
    pieces: list[str] = [""]
    for word in words[1:]:
        parts = (word.text,) if word.known else known_parts(word)
        may_vanish = len(parts) > 1 and not any(parts) and not word.quoted
        pieces[-1] += parts[0] if may_vanish and len(pieces) > 1 else f" {parts[0]}"
        pieces += parts[1:]
    program = words[0].text
    return tuple((name + pieces[0], *pieces[1:]) for name in dict.fromkeys((program, program.rpartition("/")[2])))


def possible_path(word: Word, text: str) -> Pieces:
    """Give what is known of a path: only its end, for what stands before may lead anywhere (`..`, a whole path).

    Args:
        word: The word it stands in.
        text: The path, which may be a part of the word.
    """
    if word.text != text and word.text.endswith(text):
        end = known_parts(word)[-1][-len(text) :]
    else:
        end = known_parts(word)[-1]
    return ("", end if ".." not in end.split("/") else "")


def variables_in(text: str) -> tuple[str, ...]:
    """Give the variables of a text whose only expansions are plain ones; nothing where there is any other."""
    names = tuple(one or other for one, other in _VARIABLE.findall(text))
    return () if re.search(r"[$`{]|[<>]\(", _VARIABLE.sub("", text)) else names

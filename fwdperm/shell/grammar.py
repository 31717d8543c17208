"""The grammar: text in, syntax trees out, in bounded time.

Lives here: `parse_code`, the one place that calls the parser. Never here: what a tree means (`walk.py`).

What the grammar gets wrong is mended here or makes the text opaque: lines that begin with a backslash, and masked text
that it did not take for text. Continued lines are joined before it sees them (`continued.py`); where its tree has
quotes and comments elsewhere than the joining had them, the text is opaque.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Parser

from fwdperm.shell.accounting import adds_up
from fwdperm.shell.continued import Joined, join_lines
from fwdperm.shell.parser_budget import MARKS, is_deep, plain, portions
from fwdperm.shell.respell import brace, respell
from fwdperm.shell.source import WORD_TYPES, Source

if TYPE_CHECKING:
    from tree_sitter import Node

_PARSER: Final = Parser(Language(tree_sitter_bash.language()))
_BACKSLASH_LINE: Final = re.compile(rb"\n(?=\\[^\n])")
r"""A line's end before a line that begins with a backslash: `a\n\\b`. The grammar takes both lines for one word."""
_NAMED: Final = re.compile(rb"\w\}[<>]")
"""A redirection to a descriptor that is named: `{log}>file`. The grammar takes the name for a word."""
_INTRICATE: Final = "it is too intricate to read"
TOO_DEEP: Final = "it is too deep to read"
TOO_MANY: Final = "it has too many commands to read"
SYNTAX: Final = "it cannot be parsed"
_UNJOINED: Final = "it is not certain what its continued lines come to"
_DAMAGED: Final = "it holds text that is not valid Unicode"
_PORTIONS: Final = 12
"""Portions of one text that are parsed: twelve thousand marks outside of quotes."""
_CONTINUED: Final = MARKS * 4
"""Bytes of a text whose lines are mended; a longer one that would need it is opaque."""
_QUOTED: Final = frozenset({"string", "raw_string", "ansi_c_string", "translated_string"})
_RAW: Final = frozenset({"raw_string", "ansi_c_string", "comment"})
_MASKED: Final = frozenset(
    {"raw_string", "ansi_c_string", "string_content", "string", "comment", "heredoc_body", "heredoc_content"}
)


class Trees(NamedTuple):
    """What parsing a text gave.

    Attributes:
        roots: Trees in order, each with the text behind it.
        opaque: Why the text cannot be understood; empty when it can.
        cut_short: True when it was not read at all, because that would take too long.
    """

    roots: tuple[tuple[Node, Source], ...]
    opaque: str = ""
    cut_short: bool = False


def parse_code(text: str) -> Trees:
    """Parse a text as a shell would read it.

    Args:
        text: Any text.

    Returns:
        The trees; after an error the rest of a long text is not looked at. Never raises.
    """
    opaque = ""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        opaque = _DAMAGED
        data = text.encode(errors="replace")
    joined = _mended(join_lines(data))
    if joined.in_doubt:
        opaque = opaque or _UNJOINED
    parts = portions(joined.data)
    if parts is None:
        return Trees((), TOO_DEEP if is_deep(joined.data) else _INTRICATE, cut_short=True)
    roots: list[tuple[Node, Source]] = []
    for part in parts[:_PORTIONS]:
        here = joined.within(part.start, part.data)
        root = _PARSER.parse(part.shown).root_node
        if (root.has_error or _NAMED.search(part.data)) and len(part.data) <= _CONTINUED and not part.masks:
            here, root = _respelled(here, root)
        is_whole = not root.has_error and adds_up(root, here.data)
        if not (is_whole or root.has_error or part.masks) and len(here.data) <= _CONTINUED:
            here, root, is_whole = _braced(here, root)
        roots.append((root, Source(here.data)))
        seen = all(_is_text(root, start, end) for start, end in part.masks)
        if not is_whole or not seen or not _joins_alike(root, here) or _line_starts(root, here.data):
            return Trees(tuple(roots), opaque or SYNTAX)
    if len(parts) > _PORTIONS:
        return Trees(tuple(roots), TOO_MANY, cut_short=True)
    return Trees(tuple(roots), opaque)


def _respelled(given: Joined, root: Node) -> tuple[Joined, Node]:
    """Try text that does not parse in another spelling; keep it as it is where that does not help."""
    edits = respell(given.data)
    if not edits:
        return given, root
    other = given.edited(edits)
    again = _PARSER.parse(plain(other.data)).root_node
    return (given, root) if again.has_error else (other, again)


def _braced(given: Joined, root: Node) -> tuple[Joined, Node, bool]:
    """Try text that does not add up with names in braces, and say whether it does then; else keep it as it is."""
    edits = brace(given.data)
    if not edits:
        return given, root, False
    other = given.edited(edits)
    again = _PARSER.parse(plain(other.data)).root_node
    helps = not again.has_error and adds_up(again, other.data)
    return (other, again, True) if helps else (given, root, False)


def _mended(given: Joined) -> Joined:
    """Write a text so that a line which begins with a backslash does not belong to the line before it."""
    if len(given.data) > _CONTINUED or not _BACKSLASH_LINE.search(given.data):
        return given
    places = _line_starts(_PARSER.parse(plain(given.data)).root_node, given.data)
    return given.edited([(at, at + 1, b"\n ") for at in places])


def _line_starts(root: Node, data: bytes) -> list[int]:
    """Find where the grammar takes a line that begins with a backslash for a part of the line before it."""
    if b"\n\\" not in data:
        return []
    return [at for one in _BACKSLASH_LINE.finditer(data) if _is_word(root, at := one.start())]


def _joins_alike(root: Node, given: Joined) -> bool:
    """Say whether lines were joined only outside of what a shell keeps as it is by this tree, and kept only inside."""
    size = len(given.data)
    return not any(0 < at < size and _keeps(root, at - 1, at + 1) for at in given.joints) and all(
        _keeps(root, start, end) for start, end in given.kept
    )


def _keeps(root: Node, start: int, end: int) -> bool:
    """Say whether a shell keeps continuations in this range.

    Quotes and comments do, unless they stand in backticks or in a here-document, whose lines are joined before
    anything in them is looked at.
    """
    node = root.descendant_for_byte_range(start, end)
    is_kept = False
    while node is not None:
        kind = node.type
        if kind in _RAW:
            is_kept = kind != "ansi_c_string" or start > node.start_byte  # its dollar and its quote may be parted
        elif kind in ("heredoc_body", "heredoc_content") and node.parent is not None:
            begin = next((child for child in node.parent.children if child.type == "heredoc_start"), None)
            if begin is not None:
                return begin.text is not None and any(mark in begin.text for mark in (b"'", b'"', b"\\"))
        elif kind == "command_substitution" and node.text is not None and node.text[:1] == b"`":
            return False
        node = node.parent
    return is_kept


def _is_word(root: Node, at: int) -> bool:
    """Say whether the parser took the byte at `at` for a part of a word, and neither quotes nor backticks keep it."""
    node = root.descendant_for_byte_range(at, at + 1)
    if node is None or node.type not in WORD_TYPES - _QUOTED:
        return False
    while (node := node.parent) is not None:
        if node.type in _QUOTED or node.type == "expansion":
            return False
        if node.type == "command_substitution" and node.text is not None and node.text[:1] == b"`":
            return False  # what stands in backticks is read again without them
    return True


def _is_text(root: Node, start: int, end: int) -> bool:
    """Say whether the parser took this range for plain text."""
    node = root.descendant_for_byte_range(start, end - 1)
    return node is not None and node.type in _MASKED

"""The grammar: text in, syntax trees out, in bounded time.

Lives here: `parse_code`, the one place that calls the parser. Never here: what a tree means (`walk.py`).

What the grammar gets wrong is mended here or makes the text opaque: words that a continued line parts, and masked text
that it did not take for text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Parser

from fwdperm.shell.sieve import MARKS, portions
from fwdperm.shell.source import Source

if TYPE_CHECKING:
    from tree_sitter import Node

_PARSER: Final = Parser(Language(tree_sitter_bash.language()))
_JOINT: Final = re.compile(rb"[^\s\\](?:\\\n)+(?=[^\s])")
_INTRICATE: Final = "it is too intricate"
_SYNTAX: Final = "it cannot be parsed"
_DAMAGED: Final = "it holds text that is not valid Unicode"
_CONTINUED: Final = MARKS * 4
"""Bytes of a text whose continued lines are joined; in a longer one a joint inside of a word makes it opaque."""
_MASKED: Final = frozenset(
    {"raw_string", "ansi_c_string", "string_content", "string", "comment", "heredoc_body", "heredoc_content"}
)


class Trees(NamedTuple):
    """What parsing a text gave.

    Attributes:
        roots: Trees in order, each with the text behind it.
        opaque: Why the text cannot be understood; empty when it can.
    """

    roots: tuple[tuple[Node, Source], ...]
    opaque: str = ""


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
    if b"\\\n" in data and len(data) <= _CONTINUED:
        data = _glued(data)
    parts = portions(data)
    if parts is None:
        return Trees((), opaque or _INTRICATE)
    roots: list[tuple[Node, Source]] = []
    for part in parts:
        root = _PARSER.parse(part.shown).root_node
        roots.append((root, Source(part.data)))
        seen = all(_is_text(root, start, end) for start, end in part.masks)
        if root.has_error or not seen or (b"\\\n" in part.data and _loose_joints(root, part.data)):
            return Trees(tuple(roots), opaque or _SYNTAX)
    return Trees(tuple(roots), opaque)


def _loose_joints(root: Node, data: bytes) -> list[tuple[int, int]]:
    """Find continued lines that join two halves of a word or operator, outside of quoted text."""
    spans = [(found.start() + 1, found.end()) for found in _JOINT.finditer(data)]
    return [(start, end) for start, end in spans if not _is_text(root, start, start + 1)]


def _glued(data: bytes) -> bytes:
    """Join words that a continued line parts: to the grammar they are two, to a shell they are one."""
    if not _JOINT.search(data):
        return data
    root = _PARSER.parse(data if data.isascii() else portions(data)[0].shown).root_node  # type: ignore[index]
    out, last = bytearray(), 0
    for start, end in _loose_joints(root, data):
        out += data[last:start]
        last = end
    return bytes(out + data[last:])


def _is_text(root: Node, start: int, end: int) -> bool:
    """Say whether the parser took this range for plain text."""
    node = root.descendant_for_byte_range(start, end - 1)
    return node is not None and node.type in _MASKED

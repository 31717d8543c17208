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

from fwdperm.shell.respell import respell
from fwdperm.shell.sieve import MARKS, Portion, plain, portions
from fwdperm.shell.source import WORD_TYPES, Source

if TYPE_CHECKING:
    from tree_sitter import Node

_PARSER: Final = Parser(Language(tree_sitter_bash.language()))
_JOINT: Final = re.compile(rb"(?:(?<=[^ \t\n\\])|(?<=\n)|(?<=^))(?:\\\n)+(?=[^ \t\n])|(?<=\n)(?:\\\n)+")
_DROPPED: Final = re.compile(rb"\\[ \t]")
_GAP: Final = re.compile(rb"[ \t\r\n]|\\\n")
_BACKSLASH_LINE: Final = re.compile(rb"\n(?=\\[^\n])")
_NAMED: Final = re.compile(rb"\w\}[<>]")
_INTRICATE: Final = "it is too intricate"
SYNTAX: Final = "it cannot be parsed"
_DAMAGED: Final = "it holds text that is not valid Unicode"
_CONTINUED: Final = MARKS * 4
"""Bytes of a text whose lines are mended; a longer one that would need it is opaque."""
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
    if len(data) <= _CONTINUED and (b"\\\n" in data or b"\n\\" in data):
        data = _mended(data)
    parts = portions(data)
    if parts is None:
        return Trees((), opaque or _INTRICATE)
    roots: list[tuple[Node, Source]] = []
    for given in parts:
        part = given
        root = _PARSER.parse(part.shown).root_node
        if (root.has_error or _NAMED.search(part.data)) and len(part.data) <= _CONTINUED and not part.masks:
            part, root = _respelled(part, root)
        roots.append((root, Source(part.data)))
        seen = all(_is_text(root, start, end) for start, end in part.masks)
        if (
            root.has_error
            or not seen
            or _faults(root, part.data)
            or _drops(root, part.data)
            or _strays(root, part.data)
        ):
            return Trees(tuple(roots), opaque or SYNTAX)
    return Trees(tuple(roots), opaque)


def _respelled(part: Portion, root: Node) -> tuple[Portion, Node]:
    """Try text that does not parse in another spelling; keep it as it is where that does not help."""
    data = respell(part.data)
    if data is part.data:
        return part, root
    other = Portion(data, plain(data))
    again = _PARSER.parse(other.shown).root_node
    return (part, root) if again.has_error else (other, again)


def _faults(root: Node, data: bytes) -> list[tuple[int, int, bytes]]:
    """Find where the grammar reads lines otherwise than a shell, as edits that mend it: (start, end, replacement).

    A continued line that joins two halves of a word parts them for the grammar; a line that begins with a backslash
    belongs to the line before it.
    """
    found: list[tuple[int, int, bytes]] = []
    if b"\\\n" in data:
        found += [
            (*one.span(), b"") for one in _JOINT.finditer(data) if not _is_text(root, one.start(), one.start() + 1)
        ]
    if b"\n\\" in data:
        places = [one.start() for one in _BACKSLASH_LINE.finditer(data)]
        found += [(at, at + 1, b"\n ") for at in places if _is_word(root, at)]
    return sorted(found)


def _drops(root: Node, data: bytes) -> bool:
    """Say whether the grammar left something out: it does with blanks behind a backslash."""
    if not _DROPPED.search(data):
        return False
    last = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.child_count and node.type not in _MASKED:
            stack.extend(reversed(node.children))
            continue
        if node.start_byte > last and _GAP.sub(b"", data[last : node.start_byte]) not in (b"", b"-"):
            return True
        last = max(last, node.end_byte)
    return bool(_GAP.sub(b"", data[last:]))


def _strays(root: Node, data: bytes) -> bool:
    """Say whether the grammar has a here-document begin elsewhere than on the line after it was announced."""
    if b"<<" not in data:
        return False
    stack, last = [root], -1
    while stack:
        node = stack.pop()
        if node.type != "heredoc_redirect":
            stack.extend(reversed(node.children))
            continue
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        body = next((child for child in node.children if child.type in ("heredoc_body", "heredoc_end")), None)
        if start is not None and body is not None and start.start_point[0] != last:
            last = start.start_point[0]
            between = data[start.end_byte : body.start_byte]
            if between.count(b"\n") - between.count(b"\\\n") > 1:
                return True
        stack.extend(reversed(node.children))
    return False


def _mended(data: bytes) -> bytes:
    """Write a text so that the grammar reads its lines as a shell does."""
    if not (_JOINT.search(data) or _BACKSLASH_LINE.search(data)):
        return data
    out, last = bytearray(), 0
    for start, end, instead in _faults(_PARSER.parse(plain(data)).root_node, data):
        out += data[last:start] + instead
        last = end
    return bytes(out + data[last:])


def _is_word(root: Node, at: int) -> bool:
    """Say whether the parser took the byte at `at` for a part of a word."""
    node = root.descendant_for_byte_range(at, at + 1)
    return node is not None and node.type in WORD_TYPES


def _is_text(root: Node, start: int, end: int) -> bool:
    """Say whether the parser took this range for plain text."""
    node = root.descendant_for_byte_range(start, end - 1)
    return node is not None and node.type in _MASKED

"""Source text behind a syntax tree, and the search for substitutions in it.

Lives here: `Source`, `substitutions`, `unseen`. Never here: what a node means (`walk.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.shell.substitution import code_of, embedded_code, substitution_spans

if TYPE_CHECKING:
    from tree_sitter import Node

WORD_TYPES: Final = frozenset(
    [
        "word",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "number",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "extglob_pattern",
        "regex",
        "array",
        "variable_name",
        "subscript",
    ]
)
"""Nodes that are words or parts of words."""
_WHOLE: Final = frozenset({"raw_string", "ansi_c_string", "comment", "string_content", "heredoc_start", "heredoc_end"})
_FOUND: Final = frozenset({"command_substitution", "process_substitution"})


class Source:
    """Text behind the byte offsets that a tree speaks in.

    Attributes:
        data: The text in UTF-8.
    """

    __slots__ = ("_text", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._text: str | None = data.decode() if data.isascii() else None

    def cut(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self._text[start:end] if self._text is not None else self.data[start:end].decode(errors="replace")


def needs_descent(text: str) -> bool:
    """Say whether a substitution may stand in this text."""
    return "`" in text or ("(" in text and ("$" in text or "<(" in text or ">(" in text)) or "${" in text


def unseen(node: Node, source: Source, seen: list[Node | str], *, heredoc: bool = False) -> list[str]:
    """Find code of substitutions that the tree has elsewhere, or nowhere, by the quotes of the text alone.

    Args:
        node: A word, or the body of a here-document.
        source: The text behind it.
        seen: What the tree has: from `substitutions`.
        heredoc: True for a here-document.

    Returns:
        The code of each; nearly always none. Inside of what the tree has, the tree is believed.
    """
    text = source.cut(node.start_byte, node.end_byte)
    spans = [
        (len(source.cut(node.start_byte, one.start_byte)), len(source.cut(node.start_byte, one.end_byte)))
        for one in seen
        if not isinstance(one, str)
    ]
    found = [
        code_of(text[start:end])
        for start, end in substitution_spans(text, heredoc=heredoc)
        if not any(low <= start < high for low, high in spans)
    ]
    return [code for code in found if code not in seen]


def substitutions(node: Node, source: Source) -> list[Node | str]:
    """Find the outermost substitutions inside a word.

    Returns:
        Nodes, and code where the grammar left a substitution as text, in source order.
    """
    found: list[Node | str] = []
    stack = [node]
    while stack:
        one = stack.pop()
        kind = one.type
        if kind in _FOUND:
            found.append(one)
        elif kind in _WHOLE:
            continue
        elif one.child_count:
            stack.extend(reversed(one.children))
        elif one.is_named:
            text = source.cut(one.start_byte, one.end_byte)
            if "$(" in text or "`" in text:
                found.extend(embedded_code(text))
    return found

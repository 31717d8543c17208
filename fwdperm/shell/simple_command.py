"""From the node of a simple command to its words, its assignments, and the nodes that hang on it.

Lives here: `read_command`, `read_assignment`, and how to tell that the grammar cut words wrongly. Never here: what is
visited next (`walk.py`), what the command carries (`recording.py`), what a redirection says (`redirects.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.shell.command import Word
from fwdperm.shell.redirects import REDIRECT_TYPES
from fwdperm.shell.source import WORD_TYPES, Source
from fwdperm.shell.words import read_word, split_words
from fwdperm.shell.wrapper_options import ASSIGNMENT
from fwdperm.shell.wrappers import RESERVED, RESERVED_HEADS, TEARING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

_BLANK: Final = re.compile(r"[ \t\n]")
"""A blank, which no word has outside of quotes: `a b`."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[.*\])?", re.DOTALL)
"""What may be assigned to: `x`, `a[i+1]`."""


class SimpleCommand(NamedTuple):
    """What the node of a simple command holds.

    Attributes:
        words: Its words, the program first.
        prefixes: The assignments before them: name and value.
        redirects: Nodes of its redirections.
        deeper: Nodes of words and values that may hold substitutions.
        nested: Subshells that the grammar hangs under it.
        is_torn: True when the grammar cut its words otherwise than a shell does.
    """

    words: tuple[Word, ...]
    prefixes: tuple[tuple[str, Word], ...]
    redirects: list[Node]
    deeper: list[Node]
    nested: list[Node]
    is_torn: bool


def read_command(node: Node, source: Source, *, most_words: int) -> SimpleCommand:
    """Read a simple command, a declaration or an `unset`.

    Args:
        node: Its node.
        source: The text behind the tree.
        most_words: How many words may be read; one node more is, so that whoever counts sees that there are more.

    Returns:
        What it holds. Nodes that touch each other are one word: the grammar cuts `a"b"` in two.
    """
    prefixes: list[tuple[str, Word]] = []
    redirects: list[Node] = []
    spans: list[list[int]] = []
    deeper: list[Node] = []
    nested: list[Node] = []
    first_redirect = -1
    is_declaration = node.type != "command"
    for child in node.children[: most_words + 1]:
        kind = child.type
        if kind in REDIRECT_TYPES:
            redirects.append(child)
            first_redirect = len(spans) if first_redirect < 0 else first_redirect
            continue
        if kind == "subshell":
            nested.append(child)
            continue
        if kind == "variable_assignment" and not spans and not is_declaration:
            prefixes.append(read_assignment(child, source))
            deeper.append(child)
            continue
        if kind == "comment":
            continue
        start, end = child.start_byte, child.end_byte
        if start == end:
            continue
        if spans and spans[-1][1] == start:
            spans[-1][1] = end
        else:
            spans.append([start, end])
        if child.child_count or kind in WORD_TYPES:
            deeper.append(child)
    words = tuple([read_word(source.cut(start, end)) for start, end in spans])
    is_torn = any(_is_several(word) for word in words) or not are_names(prefixes)
    is_torn = is_torn or _is_misread(words, first_redirect=0 if prefixes else first_redirect)
    return SimpleCommand(words, tuple(prefixes), redirects, deeper, nested, is_torn)


def are_names(prefixes: Sequence[tuple[str, Word]]) -> bool:
    """Say whether a shell would take each of these for an assignment, by what stands before its `=`."""
    return all(_NAME.fullmatch(name) for name, _ in prefixes)


def _is_misread(words: Sequence[Word], *, first_redirect: int) -> bool:
    """Say whether a word behind a redirection or an assignment is a reserved one for us, and a program for bash."""
    if words and words[0].raw in TEARING:
        set_at = next((at for at, word in enumerate(words) if at and ASSIGNMENT.match(word.raw)), len(words))
        late = words[1 if first_redirect > 0 else set_at :]
        return any(word.raw in RESERVED or word.raw in RESERVED_HEADS for word in late)
    if first_redirect < 0:
        return False
    before, behind = words[:first_redirect], words[first_redirect:]
    return bool(behind) and behind[0].raw in RESERVED | RESERVED_HEADS and all(one.raw in RESERVED for one in before)


def _is_several(word: Word) -> bool:
    """Say whether the grammar took several words for one: it does behind a lone dollar."""
    return _BLANK.search(word.raw) is not None and len(split_words(word.raw)) != 1


def read_assignment(node: Node, source: Source) -> tuple[str, Word]:
    """Read an assignment: the name, without the `+` of `+=`, and the value."""
    name, equals, value = source.cut(node.start_byte, node.end_byte).partition("=")
    return name.rstrip("+"), read_word(value) if equals else Word("", "")

"""Redirections and here-documents of one command.

Lives here: `read_tail`, and what the grammar puts between a command, its here-document and what follows. Never here:
which command they belong to (`walk.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.shell.command import Redirect, Word
from fwdperm.shell.source import WORD_TYPES, Source, needs_descent
from fwdperm.shell.substitution import unescape_heredoc
from fwdperm.shell.words import read_word, split_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

REDIRECT_TYPES: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
"""Nodes that are redirections."""
_HEREDOC_PARTS: Final = frozenset({"heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor", "comment"})
_NO_FILE: Final = re.compile(r"/dev/(?:null|stdout|stderr|stdin|tty|fd/\d+)|[0-9]+-?|-")
"""A target of a redirection that is no file of anybody's: `/dev/null`, `/dev/fd/3`, `1` of `2>&1`, `-`."""
_WRITERS: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_READERS: Final = frozenset({"<", "<>"})
_UNKNOWN_TEXT: Final = re.compile(r"(?<!\\)(?:\\\\)*[$`]")
r"""A sign of an expansion in a here-document that no backslash keeps: `$x`; not `\$x`."""


class Tail(NamedTuple):
    """Redirect nodes on their way to the command they belong to, and words of it that the grammar dropped."""

    nodes: tuple[Node, ...] = ()
    lost: tuple[Word, ...] = ()


EMPTY_TAIL: Final = Tail()


class Heredoc(NamedTuple):
    """A here-document.

    Attributes:
        text: What the command reads, as far as it is known.
        known: False when something is expanded in it.
    """

    text: str
    known: bool


class RedirectContents(NamedTuple):
    """What redirect nodes hold.

    Attributes:
        redirects: The redirections.
        words: Words of the command that stand behind a redirection.
        heredoc: The last here-document.
        deeper: Nodes that may hold substitutions.
    """

    redirects: tuple[Redirect, ...]
    words: tuple[Word, ...]
    heredoc: Heredoc | None
    deeper: tuple[Node, ...]


NOTHING_FOUND: Final = RedirectContents((), (), None, ())


def read_tail(tail: Tail, source: Source) -> RedirectContents:
    """Read redirect nodes."""
    redirects: list[Redirect] = []
    words: list[Word] = []
    deeper: list[Node] = []
    heredoc: Heredoc | None = None
    for node in tail.nodes:
        operator, parts, body = _parts(node, source)
        if needs_descent(source.cut(node.start_byte, node.end_byte)):
            deeper.extend(child for child in node.children if child.type in WORD_TYPES)
        if node.type == "heredoc_redirect":
            heredoc = _heredoc(node, body, parts[0] if parts else "", source)
            if body is not None and not _is_quoted(parts[0] if parts else ""):
                deeper.append(body)
            redirects.append(Redirect(operator, Word(heredoc.text, heredoc.text, known=heredoc.known, quoted=True)))
            words.extend(read_word(raw) for raw in parts[1:])
        elif not parts or operator.endswith("-"):
            redirects.append(Redirect(operator, Word("-", "-")))
            words.extend(read_word(raw) for raw in parts)
        else:
            redirects.append(_redirect(operator, read_word(parts[0])))
            words.extend(read_word(raw) for raw in parts[1:])
    return RedirectContents(tuple(redirects), tuple(words), heredoc, tuple(deeper))


def _parts(node: Node, source: Source) -> tuple[str, list[str], Node | None]:
    """Split a redirect node: operator, words by adjacency, the here-document's body."""
    operator = ""
    spans: list[list[int]] = []
    body: Node | None = None
    for child in node.children:
        kind = child.type
        if kind in WORD_TYPES or kind == "heredoc_start":
            start, end = child.start_byte, child.end_byte
            if spans and spans[-1][1] == start:
                spans[-1][1] = end
            else:
                spans.append([start, end])
        elif kind == "heredoc_body":
            body = child
        elif not child.is_named and not operator:
            operator = kind
    return operator, [source.cut(start, end) for start, end in spans], body


def _redirect(operator: str, target: Word) -> Redirect:
    if operator == "<<<":
        return Redirect(operator, target)
    text = target.text
    is_file = not _NO_FILE.fullmatch(text) and not text.startswith((">(", "<("))
    return Redirect(operator, target, writes=is_file and operator in _WRITERS, reads=is_file and operator in _READERS)


def _is_quoted(start: str) -> bool:
    """Say whether a here-document's end word was quoted: then nothing in it is expanded."""
    return any(mark in start for mark in "'\"\\")


def _heredoc(node: Node, body: Node | None, start: str, source: Source) -> Heredoc:
    """Read a here-document from the line after it was announced; the grammar begins it at the first expansion."""
    head = next((child.end_byte for child in node.children if child.type == "heredoc_start"), node.end_byte)
    begin = source.data.find(b"\n", head) + 1 or node.end_byte
    text = "" if body is None else source.cut(min(begin, body.start_byte), body.end_byte)
    if _is_quoted(start):
        return Heredoc(text, known=True)
    return Heredoc(unescape_heredoc(text), known=not _UNKNOWN_TEXT.search(text))


def hanging(node: Node, redirects: list[Node]) -> list[tuple[Node, bool]]:
    """Find what the grammar hangs under a here-document's redirect: (statement, whether it reads a pipe)."""
    found: list[tuple[Node, bool]] = []
    for child in node.children:
        kind = child.type
        if kind in REDIRECT_TYPES:
            redirects.append(child)
        elif child.is_named and kind not in WORD_TYPES and kind not in _HEREDOC_PARTS:
            first = child.children[0].type if child.child_count else ""
            found.append((child, kind == "pipeline" and first in ("|", "|&")))
    return found


def lost_words(body: Node | None, redirects: Sequence[Node], source: Source) -> tuple[Word, ...]:
    """Give words that the grammar drops between a command and its here-document: a lone `-` is one."""
    if body is None or not redirects:
        return ()
    gap = source.cut(body.end_byte, redirects[0].start_byte)
    return tuple(split_words(gap.replace("\\\n", " "))) if gap.strip(" \t\\\r\n") else ()

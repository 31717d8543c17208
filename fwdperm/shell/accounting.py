r"""Whether a syntax tree accounts for every byte of its text in the way that bash would.

Lives here: `adds_up`, one pass over the tree. Never here: what a node means (`walk.py`), joined lines (`continued.py`).

The grammar is not bash. Where the two cut a text differently, bash runs what we have as text. So each byte has to be a
part of a word, an operator, a comment, or a here-document that ends where bash says it does; what lies between is
blank; and what the grammar parts or joins, bash does as well: a line's end ends a command, a digit in front of `>`
belongs to it, a `#` begins a comment only where a word begins. What does not add up cannot be read, and asks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.shell.redirects import REDIRECT_TYPES
from fwdperm.shell.substitution import substitution_spans

if TYPE_CHECKING:
    from tree_sitter import Node

_GAP: Final = re.compile(rb"(?:[ \t\n]|\\\n)*+")
r"""What may stand between two parts of a tree: blanks, and a line that is continued (`a\\\nb`)."""
_DELIMITERS: Final = b" \t\n;&|()<>"
"""Bytes between which a word stands."""
_WORD: Final = re.compile(rb"(?:[^\\\s;&|<>()]|\\.|[\f\v\r])*+\\?", re.DOTALL)
r"""A word without quotes, as bash cuts it: `a\;b`. Not `a;b`."""
_CLOSED: Final = re.compile(rb"(?:[^\\`]|\\.|`(?:[^\\`]|\\.)*+`)*+\\?", re.DOTALL)
r"""A word in which every backtick has its other one: `\x60date\x60`."""
_DIGITS: Final = re.compile(rb"[0-9]+")
"""A descriptor in front of a redirection: `2` of `2>f`."""
_NAME: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
"""The name of a descriptor: `log` of `{log}>file`."""
_CLOSERS: Final = frozenset({">&", "<&", ">&-", "<&-"})
_GOES_ON: Final = re.compile(rb"[<>]&[ \t]*-[^ \t\n;&|()<>]")
"""A descriptor that bash closes, and at once a word behind it, which the grammar takes for one: `>& -e`, `>&-e`."""
_CLOSED_AT_ONCE: Final = re.compile(rb"[<>]&[ \t]*\d+-?[<>]")
"""A descriptor that is doubled, and touched by the next redirection: `>& 1>&-`. The grammar loses what follows."""
_PARTED_AFTER: Final = re.compile(rb"[^\n)]*;")
"""A line with a separator in it, behind a here-document: `b; c`."""
_END_WORD: Final = re.compile(
    rb"(?:[\w.+,:@%/=!?*~^{}\[\]\x80-\xff-]|\\[^\n]|'[^'\n]*+'|\"[^\"\\$`\n]*+\")++", re.ASCII
)
"""A here-document's end word that every shell reads alike: `EOF`, `'EOF'`, `E"O"F`, `\\EOF`."""
_AFTER_END_WORD: Final = re.compile(rb"[ \t\n;&|)]|[<>](?!\()|\Z")
"""What stands behind an end word; `<(` goes on with it."""
_QUOTES: Final = re.compile(rb"\\(.)|'([^']*)'|\"([^\"]*)\"")
"""A quoted part of an end word, with what it says: `'EOF'`."""
_COMMANDS: Final = frozenset(
    {"command", "declaration_command", "unset_command", "redirected_statement", "variable_assignments"} | REDIRECT_TYPES
) - {"heredoc_redirect"}
"""Nodes that end at a line's end."""
_WHOLE: Final = frozenset(
    {"variable_assignment", "concatenation", "command_name", "simple_expansion", "translated_string"}
)
"""Nodes whose parts touch."""
_ENDED: Final = frozenset({"variable_assignment", "file_redirect", "herestring_redirect"})
"""Parts of a command behind which no word goes on."""
_NEAR: Final = 256
"""Bytes that are looked back."""
_TEXTS: Final = frozenset({"string", "heredoc_body", "translated_string", "expansion", "regex"})
"""Nodes in which blanks and other bytes may be no node."""
_BODIES: Final = frozenset(
    [
        "program",
        "do_group",
        "subshell",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "pipeline",
        "list",
        "negated_command",
        "command_substitution",
        "process_substitution",
    ]
)
"""Nodes that hold commands, and no words that belong to none."""
_WORDS: Final = frozenset({"word", "number", "regex", "extglob_pattern"})
_WORD_HOLDERS: Final = frozenset(
    [
        "command_name",
        "command",
        "declaration_command",
        "unset_command",
        "file_redirect",
        "heredoc_redirect",
        "herestring_redirect",
        "redirected_statement",
        "variable_assignment",
        "array",
        "for_statement",
    ]
)
"""Nodes whose words are cut at blanks and operators."""
_CLOSING: Final = frozenset({"then", "elif", "else", "fi", "do", "done", "esac"})
_PARTED: Final = frozenset({b";", b"&", b"\n"})
"""What stands before a word that goes on with a block or ends it: `; fi`. Behind a command's word it is one, too."""
_BLOCK_ENDS: Final = frozenset(
    {(")", "subshell"), (")", "case_item"), ("}", "compound_statement"), ("))", "compound_statement")}
    | {("))", "c_style_for_statement"), ("]]", "test_command")}
)
"""Ends of blocks, with what they end, behind which such a word may stand at once: `(a) fi`."""
_KEYWORDS: Final = _CLOSING | frozenset(
    {"if", "while", "until", "for", "select", "in", "case", "function"}
    | {"export", "declare", "typeset", "readonly", "local", "unset", "unsetenv"}
)
"""Words that have a meaning only when nothing touches them."""


_BRACKETS: Final = {"{": "compound_statement", "}": "compound_statement"} | dict.fromkeys(
    ("[", "[[", "]]"), "test_command"
)
"""Brackets that are words, and where they are."""


def adds_up(root: Node, data: bytes) -> bool:
    """Say whether a tree accounts for every byte of a text as bash would.

    Args:
        root: The tree.
        data: The text behind it, its continued lines joined.

    Returns:
        False where something is left out, or is cut otherwise than bash cuts it. One pass; linear.
    """
    if _CLOSED_AT_ONCE.search(data):
        return False
    end = _end_of(root, data)
    return end >= 0 and _is_blank(data, end, len(data)) and _has_heredocs_of_bash(root, data)


def _end_of(root: Node, data: bytes) -> int:
    """Go over all parts of a tree; give where the last one ends, or -1 where something is amiss."""
    last, before = 0, ("", "")
    stack: list[tuple[Node, str, int]] = [(root, "", 0)]
    while stack:
        node, holder, began = stack.pop()
        kind, start, end = node.type, node.start_byte, node.end_byte
        children = node.children
        if children:
            if kind == "heredoc_body" and _is_plain_text(data, start, children[0].start_byte):
                last = children[0].start_byte
            in_text = kind == "concatenation" and holder in _TEXTS  # whose blanks belong to it
            if not in_text and not _are_parted(kind, children, data):
                return -1
            inner = holder if kind == "concatenation" else kind
            stack.extend([(child, inner, start) for child in reversed(children)])
            continue
        is_text = holder in _TEXTS and start > began
        if start > last and not (is_text or _is_blank(data, last, start) or _is_lost(node, data, last)):
            return -1
        if start != end and not _is_cut(kind, holder, data, start, end):
            return -1
        if kind in _CLOSING and not (before[0] in _KEYWORDS or before in _BLOCK_ENDS or _is_parted(data, start)):
            return -1
        last, before = max(last, end), (kind, holder)
    return last


def _is_parted(data: bytes, start: int) -> bool:
    """Say whether a word that starts here does so where a command may; far blanks are not looked through."""
    return data[max(start - _NEAR, 0) : start].rstrip(b" \t")[-1:] in _PARTED


def _is_blank(data: bytes, start: int, end: int) -> bool:
    found = _GAP.match(data, start, end)
    return found is not None and found.end() == end


def _is_lost(node: Node, data: bytes, last: int) -> bool:
    """Say whether a lone `-` before the first redirection of a command was left out, which is put back later."""
    if data[last : node.start_byte].strip(b" \t") != b"-":
        return False
    at: Node | None = node
    while at is not None and at.type not in REDIRECT_TYPES:
        at = at.parent
    above = at.parent if at is not None else None
    if at is None or above is None or above.type != "redirected_statement" or at.start_byte != node.start_byte:
        return False
    before = at.prev_sibling
    return before is not None and before.type not in REDIRECT_TYPES


def _are_parted(kind: str, children: list[Node], data: bytes) -> bool:
    """Say whether the parts of a node stand as far from each other as bash has them: `((` is arithmetic to it."""
    if kind in _COMMANDS:
        last, before = children[0].end_byte, children[0].type
        for child in children[1:]:
            if b"\n" in data[last : child.start_byte]:
                return False
            if child.start_byte == last and before in _ENDED and child.type not in REDIRECT_TYPES:
                return False
            last, before = child.end_byte, child.type
    elif kind == "subscript":
        return _is_index(data[children[0].end_byte : children[-1].end_byte])
    elif kind == "subshell":
        return children[0].end_byte != children[-1].start_byte and data[children[0].end_byte] != ord("(")
    elif kind in _WHOLE:
        last = children[0].end_byte
        for child in children[1:]:
            if child.start_byte != last:
                return False
            last = child.end_byte
    return True


def _is_index(text: bytes) -> bool:
    """Say whether the brackets of an index end where its last one stands: `[a[1]]`, not `[!]]`."""
    depth = 0
    for at, byte in enumerate(text):
        depth += (byte == ord("[")) - (byte == ord("]"))
        if depth <= 0:
            return at + 1 == len(text)
    return False


def _is_cut(kind: str, holder: str, data: bytes, start: int, end: int) -> bool:
    """Say whether bash has a part of this kind between these two places."""
    if kind in _WORDS:
        return _is_word_of_bash(holder, data, start, end)
    if kind in _KEYWORDS or _BRACKETS.get(kind) == holder:
        return _stands_alone(data, start, end)
    if kind in _CLOSERS:
        return _GOES_ON.match(data, start) is None
    if kind in ("<<", "<<-"):
        return data[start:end] == kind.encode()
    begins = start == 0 or data[start - 1] in _DELIMITERS
    if kind == "comment":
        return begins or data[start - 1 : start] == b"`"
    return kind != "file_descriptor" or (begins and _DIGITS.fullmatch(data, start, end) is not None)


def _is_word_of_bash(holder: str, data: bytes, start: int, end: int) -> bool:
    """Say whether bash has a word, or a part of one, between these two places."""
    if data[end - 1 : end] == b"}" and data[end : end + 1] in (b"<", b">") and _names_descriptor(data, end):
        return False
    if holder in _BODIES or not _CLOSED.fullmatch(data, start, end):
        return False
    if holder not in _WORD_HOLDERS:
        return True
    if start == 0 or data[start - 1] in _DELIMITERS:
        is_descriptor = data[end : end + 1] in (b"<", b">") and _DIGITS.fullmatch(data, start, end)
        if is_descriptor or data[start] == ord("#"):
            return False
    return _WORD.fullmatch(data, start, end) is not None


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Say whether a word is one for bash: what touches it is blank, an operator, or the backtick around it."""
    begins = start == 0 or data[start - 1] in _DELIMITERS or data[start - 1] == ord("`")
    return begins and (end == len(data) or data[end] in _DELIMITERS or data[end] == ord("`"))


def _names_descriptor(data: bytes, end: int) -> bool:
    """Say whether what ends here names a descriptor for the redirection behind it: `{log}>file`."""
    start = data.rfind(b"{", max(end - _NEAR, 0), end)
    begins = start == 0 or data[start - 1] in _DELIMITERS
    return start >= 0 and begins and _NAME.fullmatch(data, start + 1, end - 1) is not None


# -- here-documents ----------------------------------------------------------------------------------------


def _has_heredocs_of_bash(root: Node, data: bytes) -> bool:
    """Say whether each here-document begins on the line after it is announced, and ends where bash says."""
    if b"<<" not in data:
        return True
    stack = [root]
    line, begin = -1, 0
    while stack:
        node = stack.pop()
        stack.extend(reversed(node.children))
        if node.type != "heredoc_redirect":
            continue
        parts = {child.type: child for child in reversed(node.children)}
        start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
        if start is None or end is None:
            return False
        if start.start_point[0] != line:
            line, begin = start.start_point[0], data.find(b"\n", start.end_byte) + 1
        stop = _stop(data, begin, start, is_indented="<<-" in parts)
        body = parts.get("heredoc_body") or end
        if stop is None or not begin or body.start_byte < begin or data[begin : body.start_byte].strip(b" \t"):
            return False
        if any(child.end_byte > begin for child in node.children if child.id not in (body.id, end.id)):
            return False
        if not stop[0] <= end.start_byte <= end.end_byte <= stop[1] + 1:
            return False
        begin = stop[1] + 1
        if _is_substituted(node) and _PARTED_AFTER.match(data, begin):
            return False  # bash writes a substitution anew, and loses this sign: `$(a <<E` ... `b; c)` runs `b c`
    return True


def _is_substituted(node: Node) -> bool:
    """Say whether a node stands in a substitution."""
    above = node.parent
    while above is not None:
        if above.type in {"command_substitution", "process_substitution"}:
            return True
        above = above.parent
    return False


def _is_plain_text(data: bytes, start: int, end: int) -> bool:
    """Say whether nothing is run in a part of a here-document, which has no node before the first that is."""
    return start <= end and not substitution_spans(data[start:end].decode(errors="replace"), heredoc=True)


def _stop(data: bytes, begin: int, start: Node, *, is_indented: bool) -> tuple[int, int] | None:
    """Give where the line begins and ends that ends a here-document; None where there is none, or no telling."""
    given = data[start.start_byte : start.end_byte]
    if not _END_WORD.fullmatch(given) or not _AFTER_END_WORD.match(data, start.end_byte):
        return None
    word = _QUOTES.sub(lambda found: found[1] or found[2] or found[3] or b"", given)
    lead = rb"^\t*" if is_indented else rb"^"
    found = re.compile(lead + re.escape(word) + rb"$", re.MULTILINE).search(data, begin)
    return found.span() if found else None

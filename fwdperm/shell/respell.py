"""The same commands in a spelling that the grammar knows.

Lives here: `respell`, for text that the parser gives up on though a shell would not, and `brace`, for text that it cuts
otherwise than a shell does. Never here: parsing
(`grammar.py`).

Only what changes neither a command nor a word is rewritten: the separator behind a here-document's redirection, a
descriptor that is named (`{log}>file`), a descriptor that is closed in front of a command (`0<&- cat`), a file that is
opened for both (`<>file`, as `<file >>file`).
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    rb"""(?P<text>\\. | \$?'[^']*' | "(?:[^"\\$`]|\\.|\$(?![({]))*" | (?:(?<=[\x20\t\n;&|()])(?<!\\.)|^)\#[^\n]*)
    | (?P<maze>["`]) | (?P<here><<<) | <<-?[ \t]*(?P<quote>['"\\]?)(?P<end>[A-Za-z0-9_.-]+)(?P=quote)?
    | (?P<line>\n) | (?P<named>(?:(?<=[\x20\t\n;&|()])(?<!\\.)(?<![<>]&)|^)\{[A-Za-z_]\w*\}(?=[<>]))
    | (?P<both>(?:(?<![^\x20\t\n;&|()<>])(?<!\\.)\d+)?<>[ \t]*
        (?P<file>(?!/dev/(?:tcp|udp)/)(?:[^\x20\t\n'"\\;&|()<>$`\#]|\\.|'[^']*'|"(?:[^"\\$`]|\\.)*")+))
    | (?P<closed>(?:(?<=[\x20\t\n;&|()])(?<!\\.)(?<![<>]&)|^)\d*[<>]&-(?=[ \t]))
    | (?P<dup>[<>]&[ \t]*\d*|&>|[|]&|&&|;[;&]+) | (?P<part>[;&])""",
    re.VERBOSE | re.DOTALL,
)
"""What a text that does not parse is read by, one kind after the other: text that is left alone (`'a;b'`), quotes that
hold code (then nothing is rewritten), the head of a here-document, a line's end, and the forms to be rewritten:
`{log}>f`, `<>f`, `0<&-`, a separator behind a here-document's head."""
_VARIABLE: Final = re.compile(rb"\\.|'[^']*'|\$(?P<name>[A-Za-z_]\w*)", re.DOTALL)
"""The plain expansion of a variable: `$name`; before it, what holds none: `\\$`, `'$a'`. An apostrophe between double
quotes begins no quotation, and is taken for one: then less is rewritten."""
_NEXT: Final = re.compile(rb"[ \t]*(?P<end>\n|$|\})|[ \t]*(?:fi|done|then|do|else|elif|esac)\b")
"""What stands behind a separator that can be left out: a line's end, or a word of a block, such as `fi`."""


def respell(data: bytes) -> list[tuple[int, int, bytes]]:
    """Rewrite what the grammar does not know.

    Args:
        data: Text that does not parse.

    Returns:
        Edits in order: (start, end, replacement). None where there is nothing to rewrite or where quotes hold code, so
        that what is quoted cannot be told from what is not. Linear in the text.
    """
    edits: list[tuple[int, int, bytes]] = []
    at = 0
    ends: list[bytes] = []
    while found := _TOKEN.search(data, at):
        at = found.end()
        instead: bytes | None = None
        match found.lastgroup:
            case "maze":
                return []
            case "end":
                ends.append(found["end"])
            case "line":
                at = _past_bodies(data, at, ends)
                ends.clear()
            case "named":
                instead = b"9"
            case "both":
                instead = b"<" + found["file"] + b" >>" + found["file"]
            case "closed":
                instead = b" "
            case "part" if ends:
                instead = _joined(data, at)
        if instead is not None:
            edits.append((*found.span(), instead))
    return edits


def brace(data: bytes) -> list[tuple[int, int, bytes]]:
    """Put names of variables in braces: `x=$a/$b.c` as `x=${a}/${b}.c`, which the grammar cuts as shells do.

    Args:
        data: Text of which a tree does not account for every byte.

    Returns:
        Edits as above; none where a name may stand in text that is not expanded (a here-document, a comment), or code
        in backticks.
    """
    if b"<<" in data or b"#" in data or b"`" in data:
        return []
    return [
        (*found.span(), b"${" + found["name"] + b"}") for found in _VARIABLE.finditer(data) if found["name"] is not None
    ]


def _joined(data: bytes, at: int) -> bytes | None:
    """Give what may stand for a separator: what follows is run either way."""
    after = _NEXT.match(data, at)
    if after is None:
        return b" && "
    return b" " if after["end"] is not None and after["end"] != b"}" else None


def _past_bodies(data: bytes, at: int, ends: list[bytes]) -> int:
    for end in ends:
        close = re.compile(rb"^\t*" + re.escape(end) + rb"$", re.MULTILINE).search(data, at)
        at = close.end() if close else len(data)
    return at

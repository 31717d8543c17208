"""What a command that cannot be known may come to: texts for `ask` and `deny` alone.

Lives here: `possible_commands_of_text`, for text that does not parse, and `possible_commands_of_command`, for a command
whose program or code is filled in from literal values of the same line. Never here: anything an allow may match.

Guesses, and they may guess too much: whoever wrote a deny is heard rather once too often than not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.programs import is_in_family, lookup
from fwdperm.shell import assignments, expand, literal_input, literal_output, parse_line
from fwdperm.units.texts import command_texts, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fwdperm.shell import Command, CommandLine

_DUPLICATED: Final = re.compile(r"\d*[<>]&[\d-]+|\{[A-Za-z_]\w*\}(?=[<>])|&(?=>)|(?<=>)\|")
"""A redirection with a sign that would else end a command: `2>&1`, `{log}>`, `&>`, `>|`."""
_NAIVE: Final = re.compile(r"[;&|\n(){}`]+|\$\(")
"""Signs at which a text falls into pieces that may be commands, quoted or not: `a; b`, `$(a)`. For `ask` and `deny`
alone, so a piece too many does no harm."""
_BRACED: Final = re.compile(r"\{[^{}\s]*,[^{}\s]*\}[^;&|\n)`}]*")
"""A brace expansion with what follows it: `{rm,-r} x`."""
_QUOTES: Final = re.compile(r"[\\'\"]")
"""Signs of quotation, which are taken off as a guess: `r'm' x`."""
_LEADS: Final = re.compile(
    r"""(?: \s+ | (?:if|then|else|elif|do|while|until|time|coproc|!|\{|\()\s
      | [A-Za-z_]\w*\+?=(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*(?=\s)
      | \d*(?:<<<|>>|<>|[<>])[ \t]*(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+ )+""",
    re.VERBOSE | re.DOTALL,
)
"""What may stand before a command: blanks, `if `, `! `, an assignment (`x=1 `), a redirection (`>f `)."""
_PIECES: Final = 64
"""Pieces of text that does not parse which are looked at; the line asks anyway."""
_PIECE_CHARS: Final = 2_000
_PARSED_CHARS: Final = 16_000
"""Characters of all pieces together that are parsed."""
_MOST_PIECES: Final = 1_024
"""Pieces that are looked at in any way."""
_CALLS: Final = 64
"""Calls of functions, and `set`, in one line whose words are put in."""
_DEPTH: Final = 2
_INSIDE: Final = re.compile(r"[<$]\((?P<code>.*)\)|`(?P<old>.*)`", re.DOTALL)
"""A word that is one substitution, with its code: `$(date)`, `<(date)`."""
_LONE: Final = re.compile(r'"(\$(?:\w+|[@*]|\{[^}"]*\}))"')
"""A quoted word that is one expansion: `"$x"`, `"${x}"`. Once unquoted it may be several words."""
_SOURCES: Final = frozenset({".", "source"})


def possible_commands_of_text(text: str, *, home: str) -> tuple[str, ...]:
    """Give the texts of commands that may stand in text that does not parse.

    Args:
        text: The text.
        home: The requester's home directory; empty when unknown.
    """
    pieces = [_LEADS.sub("", piece, count=1) if _LEADS.match(piece) else piece for piece in _pieces(text)]
    text = text.replace("\\\n", "")
    cleaned = _DUPLICATED.sub(" ", text)
    more = [_stripped(piece) for piece in _pieces(cleaned)]
    found = [fold(piece) for piece in (*pieces, *more)]
    found += [fold(expand(part.group(), {})) for part in _BRACED.finditer(text)]
    found += [_QUOTES.sub("", piece) for piece in found]
    left = _PARSED_CHARS
    for piece in list(dict.fromkeys(filter(None, more)))[:_PIECES]:
        left -= min(len(piece), _PIECE_CHARS)
        if left < 0:
            break
        found.extend(_texts_of(parse_line(piece[:_PIECE_CHARS]), home=home))
    return tuple(dict.fromkeys(filter(None, found)))


def _pieces(text: str) -> list[str]:
    """Cut text at everything that may end a command; each piece once, and of very many the first."""
    return list(dict.fromkeys(_NAIVE.split(text)))[:_MOST_PIECES]


def possible_commands_of_command(line: CommandLine, index: int, *, home: str) -> tuple[str, ...]:
    """Give the texts of commands that an opaque command may come to.

    Args:
        line: The line it stands in.
        index: Its place there.
        home: The requester's home directory; empty when unknown.
    """
    found: list[str] = []
    _look(line, index, home, found, 0)
    return tuple(dict.fromkeys(found))


def possible_commands_of_script(line: CommandLine, index: int, *, home: str) -> tuple[str, ...]:
    """Give the texts of commands in a script that the line itself writes and then runs.

    Args:
        line: The line.
        index: The command that may run the script: a shell, `source`, or a program named by its path.
        home: The requester's home directory; empty when unknown.
    """
    command = line.commands[index]
    named = command.argv[1:] if _reads_a_script(command) else command.argv[:1]
    names = {word.removeprefix("./") for word in named}
    found: list[str] = []
    for before, writer in enumerate(line.commands[:index]):
        if any(one.writes and one.target.text.removeprefix("./") in names for one in writer.redirects):
            text = literal_output(line, before)
            if text is not None and len(text) <= _PIECE_CHARS:
                found.extend(_texts_of(parse_line(text), home=home))
    return tuple(dict.fromkeys(found))


def may_run_a_script(command: Command) -> bool:
    """Say whether a command may run a file of this line's making."""
    return _reads_a_script(command) or "/" in command.program


def _reads_a_script(command: Command) -> bool:
    return is_in_family(command.program, "shell") or command.base in _SOURCES


def _runs_its_words(command: Command) -> bool:
    program = lookup(command.program)
    return _reads_a_script(command) or (program is not None and program.use.wrapping is not None)


def _look(line: CommandLine, index: int, home: str, found: list[str], depth: int) -> None:
    for code in dict.fromkeys(_codes(line, index)):
        if not code.strip() or len(code) > _PIECE_CHARS:
            continue
        inner = parse_line(code)
        found.extend(_texts_of(inner, home=home))
        if inner.opaque:
            found.extend(possible_commands_of_text(code, home=home))
        if depth < _DEPTH:
            for at, command in enumerate(inner.commands):
                if command.opaque and not inner.opaque:
                    _look(inner, at, home, found, depth + 1)


def _codes(line: CommandLine, index: int) -> Iterator[str]:
    """Give code that may be run in place of a command."""
    command = line.commands[index]
    printed = literal_input(line, index)
    if printed is not None:
        yield printed
        yield f"{command.raw} {printed}"
        if "{}" in command.raw:
            yield command.raw.replace("{}", printed)
    for values in _values(line):
        expanded = expand(_bare(command.raw), values, print_of=_printed)
        if expanded != command.raw:
            yield expanded
        if _runs_its_words(command):
            yield from _in_words(command, values)
    carrier = command.carrier
    while carrier >= 0 and not is_in_family(line.commands[carrier].program, "shell"):
        carrier = line.commands[carrier].carrier
    if carrier >= 0:
        yield expand(_bare(command.raw), _positional(line.commands[carrier].argv))


def _in_words(command: Command, values: dict[str, str]) -> Iterator[str]:
    """Give code in the words of a program that runs code, and in what it reads."""
    for word in (*command.words[1:], *(one.target for one in command.redirects)):
        if word.known:
            continue
        inside = _INSIDE.fullmatch(word.text)
        printed = _printed(inside["code"] or inside["old"] or "") if inside else None
        yield printed if printed is not None else expand(word.text, values, print_of=_printed)


def _values(line: CommandLine) -> Iterator[dict[str, str]]:
    """Give the literal values of variables, once for each call of a function or `set` that gives words."""
    values = assignments(line)
    yield values
    left = _CALLS
    for command in line.commands:
        words = command.words
        if left <= 0:
            return
        if len(words) > 1 and (words[0].text in line.functions or words[0].text == "set"):
            left -= 1
            given = [word.raw for word in words[1:] if word.text != "--"]
            yield {**values, **_positional(["", *given])}


def _positional(words: Iterable[str]) -> dict[str, str]:
    """Give `$0`, `$1`, ... and `$@`: of a shell's own words behind its code, or of a function's."""
    words = list(words)
    flag = next((at for at, word in enumerate(words) if re.fullmatch(r"-\w*c\w*", word)), -1)
    given = words[flag + 2 :] if flag >= 0 else words
    every = " ".join(given[1:])
    return {**{str(at): word for at, word in enumerate(given[:10])}, "@": every, "*": every}


def _bare(raw: str) -> str:
    """Take the quotes off words that are one expansion: what stands there may be several words."""
    return _LONE.sub(r"\1", raw)


def _printed(code: str) -> str | None:
    """Give what the last command of some code prints, when that is literal."""
    inner = parse_line(code)
    tops = [at for at, command in enumerate(inner.commands) if command.carrier < 0]
    return literal_output(inner, tops[-1]) if tops and not inner.opaque else None


def _texts_of(line: CommandLine, *, home: str) -> Iterator[str]:
    for command in line.commands:
        if command.words:
            texts = command_texts(command, home=home)
            yield from texts.spellings
            yield from texts.strict


def _stripped(piece: str) -> str:
    """Drop what may stand before a command."""
    found = _LEADS.match(piece + " ")
    return piece[found.end() :].strip() if found else piece.strip()

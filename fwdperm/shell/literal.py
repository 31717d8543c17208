"""What a line's literal variables, blanks and encodings stand for.

Lives here: putting literal assignments, `$IFS` and the literal output of `echo`, `printf` and decoders in their places.
What comes out is used to see what hides, for the guard and for `ask` and `deny`; never to make anything milder.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from typing import TYPE_CHECKING, Final

from fwdperm.programs import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fwdperm.shell.command import Command, CommandLine

_VARIABLE: Final = re.compile(r"\$(?:\{(\w+|[@*])(?:\[[^]}]*\])?(?:[%#:/^,][^}]*)?\}|(\w+|[@*]))")
"""The expansion of a variable, with its name: `$x`, `${x}`, `${a[0]}`, `${x%.c}`, `$@`."""
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|u[0-9a-fA-F]{1,4}|[abefnrtv\\])")
r"""`\n`, `\x41`, `\0101`, `\u00e9`: an escape of `printf` and `echo -e`."""
_NAMED: Final = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_LONGEST: Final = 4096
_DEPTH: Final = 4
_COMBINATIONS: Final = 64
_GROWTH: Final = 16 * _LONGEST
"""Characters by which a text may grow when values are put in, and that are scanned for the ends of substitutions."""
_PRINTED: Final = 256
"""Different substitutions of one text that are looked into."""
_BRACES: Final = re.compile(r"^\{([^{}\s]*,[^{}\s]*)\}")
"""A brace expansion at the beginning of a text, which may hide what it runs: `{rm,-r,x}`."""
_ASSIGNERS: Final = frozenset({"export", "declare", "readonly"})
_SETTERS: Final = _ASSIGNERS | {"read"}
_BASE64_LETTERS: Final = re.compile(r"[A-Za-z0-9+/=_\s-]+$")
"""Text of the letters of base64 alone, blanks and line ends among them: `cm0gLXIgeA==`."""


def unescape(text: str) -> str:
    """Resolve the backslash escapes of `printf` and `echo -e`."""

    def one(match: re.Match[str]) -> str:
        body = match.group(1)
        if body in _NAMED:
            return _NAMED[body]
        code = int(body[1:], 16) if body[0] in "xu" else int(body, 8) & 255
        return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"  # noqa: PLR2004 - lone surrogates

    return _ESCAPE.sub(one, text)


def assignments(line: CommandLine) -> dict[str, str]:
    """Collect the line's literal assignments: name -> value; `IFS` is a blank, `BASH` and `SHELL` a shell."""
    known = {"IFS": " ", "BASH": "bash", "SHELL": "bash"}
    for index, command in enumerate(line.commands):
        pairs = command.prefixes
        if command.words and name_of(command.program) in _SETTERS:
            pairs = tuple(
                (name, word) for word in command.words[1:] for name, eq, _ in [word.text.partition("=")] if eq
            )
            for name, word in pairs:
                if word.known:
                    known[name] = word.text.partition("=")[2]
            continue
        for name, value in pairs:
            if value.known:
                known[name] = value.text[1:-1].strip() if value.raw.startswith("(") else value.text
            elif len(line.commands) > index + 1:
                printed = _substituted(line, index)
                if printed is not None:
                    known[name] = printed
    return known


def literal_values(line: CommandLine) -> dict[str, list[str]]:
    """Collect every literal value that a variable is given in the line, by assignments and by `for`."""
    found: dict[str, list[str]] = {}
    pairs = [pair for command in line.commands for pair in command.prefixes]
    for name, word in (*pairs, *line.loops):
        if word.known and word.text:
            found.setdefault(name, []).append(word.text)
    for command in line.commands:
        if name_of(command.program) in _ASSIGNERS:
            for word in command.words[1:]:
                name, equals, value = word.text.partition("=")
                if equals and word.known:
                    found.setdefault(name, []).append(value)
    return found


def put_in(text: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    """Put the values of variables into a text, in every combination of a few; one that has none stays as it is."""
    texts = [text]
    for count, found in enumerate(_VARIABLE.finditer(text)):
        given = values.get(found[1] or found[2], ())
        if given:
            texts = [one.replace(found.group(), value, 1) for one in texts for value in given]
        if len(texts) > _COMBINATIONS or count > _COMBINATIONS or sum(map(len, texts)) > len(text) + _GROWTH:
            return []
    return texts


def _substituted(line: CommandLine, index: int) -> str | None:
    """Give what a lone `$(...)` of literal commands prints."""
    last = None
    for at, command in enumerate(line.commands):
        if command.carrier == index and command.stands == "substitution":
            last = at
    return None if last is None else literal_output(line, last)


def expand(raw: str, variables: Mapping[str, str], *, print_of: Callable[[str], str | None] | None = None) -> str:
    """Put literal values in the places of variables and of substitutions that only print text.

    Args:
        raw: Source text of a command.
        variables: Literal assignments.
        print_of: Gives what a substitution's text prints; None leaves substitutions alone.

    Returns:
        The text with what is known put in; at most a few thousand characters longer than `raw`.
    """
    text = raw
    if print_of is not None:
        for opening, closing in (("$(", ")"), ("`", "`")):
            text = _replace_substitutions(text, opening, closing, print_of)

    left = _GROWTH

    def one(match: re.Match[str]) -> str:
        nonlocal left
        name = match.group(1) or match.group(2)
        if name in variables:
            value = variables[name]
            left -= len(value)
            return value if left > 0 else match.group()
        return "" if name.isdigit() or name in "@*" else match.group()

    for _ in range(_DEPTH):
        after = _VARIABLE.sub(one, text)
        if after == text or len(after) > len(raw) + _LONGEST:
            break
        text = after
    braces = _BRACES.match(text)
    if braces:
        text = braces.group(1).replace(",", " ") + text[braces.end() :]
    return text


def _replace_substitutions(text: str, opening: str, closing: str, print_of: Callable[[str], str | None]) -> str:
    """Put in what substitutions print; after much looking the rest of them are left as they stand."""
    out: list[str] = []
    known: dict[str, str | None] = {}
    at, left = 0, _GROWTH
    while left > 0 and len(known) < _PRINTED and (start := text.find(opening, at)) >= 0:
        begin = start + len(opening)
        end = _end_of(text, begin, closing)
        left -= (end if end >= 0 else min(len(text), begin + _LONGEST)) - begin
        out.append(text[at:start])
        if end < 0:
            out.append(opening)
            at = begin
            continue
        code = text[begin:end]
        if code not in known:
            known[code] = print_of(code)
        printed = known[code]
        out.append(text[start : end + 1] if printed is None else printed)
        at = end + 1
    out.append(text[at:])
    return "".join(out)


def _end_of(text: str, start: int, closing: str) -> int:
    if closing == "`":
        return text.find("`", start, start + _LONGEST)
    depth, quote, is_escaped = 1, "", False
    dollar = text.find("$'", start, start + _LONGEST)
    for at in range(start, min(len(text), start + _LONGEST)):
        char = text[at]
        if is_escaped:
            is_escaped = False
        elif char == "\\" and (quote != "'" or 0 <= dollar < at - 1):
            is_escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return at
    return -1


def feeder(line: CommandLine, index: int) -> int:
    """Find whose output a command reads: the nearest before it in the same pipeline; -1 for none.

    A wrapped command reads what its wrapper is given. A pipe never joins a command with what contains it.
    """
    commands = line.commands
    while (one := commands[index]).wrapped_by and one.carrier >= 0 and one.stands != "here-document":
        if one.fed_by >= 0 and commands[one.fed_by].carrier == one.carrier:
            break
        index = one.carrier
    command = commands[index]
    at = command.fed_by
    if at >= 0 and commands[at].carrier != command.carrier:
        at = next((before for before in range(index - 1, -1, -1) if commands[before].carrier == command.carrier), -1)
    return at


def literal_output(line: CommandLine, index: int, depth: int = 0) -> str | None:
    """Give the text that a command surely prints.

    Returns:
        The text; None when the command is not one of the few whose output is literal.
    """
    command = line.commands[index]
    if depth > _DEPTH or not all(word.known for word in command.words):
        return None
    args = command.argv[1:]
    match name_of(command.program):
        case "echo":
            flags = [arg for arg in args if re.fullmatch(r"-[neE]+", arg)]
            text = " ".join(args[len(flags) :])
            return unescape(text) if any("e" in flag for flag in flags) else text
        case "printf" if args:
            return _printf(args[1:] if args[0] == "--" and args[1:] else args)
        case "cat" if all(arg == "-" for arg in args):
            return _input(line, index, depth)
        case "base64" | "base32" | "basenc" | "openssl" if _decodes(command):
            coded = _input(line, index, depth)
            is_base64 = coded and name_of(command.program) != "base32" and _BASE64_LETTERS.match(coded)
            return (unbase64(coded or "") or None) if is_base64 else None
        case "xxd" if any("r" in arg for arg in args if arg.startswith("-")):
            return _unhex(_input(line, index, depth))
        case "rev":
            forward = _input(line, index, depth)
            return None if forward is None else "\n".join(part[::-1] for part in forward.split("\n"))
        case "tr":
            return _tr(args, _input(line, index, depth))
        case "tee" | "head" | "sort" | "uniq" if not args:
            return _input(line, index, depth)
        case _:
            return None


def _printf(args: tuple[str, ...]) -> str:
    pattern = unescape(args[0])
    rest = list(args[1:])
    out = re.sub(
        r"%[sbdq]",
        lambda match: (unescape(rest.pop(0)) if match.group() == "%b" else rest.pop(0)) if rest else "",
        pattern,
    )
    while rest and "%" in pattern:
        before = len(rest)
        out += re.sub(r"%[sbdq]", lambda _: rest.pop(0) if rest else "", pattern)
        if len(rest) == before or len(out) > _LONGEST:
            break
    return out.replace("%%", "%")


def unbase64(text: str) -> str:
    """Decode base64 to text; empty when it is not base64 of text."""
    body = text.strip().rstrip("=")
    body = body.replace("-", "+").replace("_", "/").replace("\n", "")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _unhex(text: str | None) -> str | None:
    try:
        return bytes.fromhex("".join((text or "").split())).decode() or None
    except ValueError:
        return None


def _tr(args: tuple[str, ...], text: str | None) -> str | None:
    if text is None or len(args) != 2:  # noqa: PLR2004 - two sets
        return None
    source, target = args
    if {source.lower(), target.lower()} == {"a-za-z", "n-za-mn-za-m"}:
        return codecs.encode(text, "rot13")
    if len(source) != len(target) or "-" in source:
        return None
    return text.translate(str.maketrans(source, target))


def _decodes(command: Command) -> bool:
    return any(word.text in {"-d", "-D", "--decode", "-di", "-id"} for word in command.words[1:])


def _input(line: CommandLine, index: int, depth: int) -> str | None:
    command = line.commands[index]
    for redirect in reversed(command.redirects):
        if redirect.operator in {"<<", "<<-", "<<<"} and redirect.target.known:
            return redirect.target.text
        if redirect.reads:
            return None
    before = feeder(line, index) if command.fed_by >= 0 else -1
    return literal_output(line, before, depth + 1) if before >= 0 else None


def literal_input(line: CommandLine, index: int) -> str | None:
    """Give the text that surely arrives on a command's standard input; None when that is not literal."""
    return _input(line, index, 0)


def decodes(command: Command) -> bool:
    """Say whether a command decodes what passes through it, so that nobody can see what comes out."""
    args = command.argv[1:]
    match name_of(command.program):
        case "base64" | "base32" | "basenc":
            return _decodes(command)
        case "xxd":
            return any("r" in arg for arg in args if arg.startswith("-"))
        case "openssl":
            return any(arg in {"-d", "-D"} for arg in args)
        case "gzip" | "bzip2" | "xz" | "zstd" | "gpg":
            unpacks = command.base.startswith("un") or "unzip" in command.base  # the same program, told by its name
            return unpacks or any(arg in {"-d", "-dc", "-cd", "--decompress", "--decrypt"} for arg in args)
        case "uudecode" | "zcat" | "bzcat" | "xzcat" | "rev":
            return True
        case _:
            return False

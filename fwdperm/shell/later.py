"""What a line sets, and evaluates or runs by later: values that become code, names that decide which program runs.

Lives here: `why_unknowable`. Pure. Never here: code that is seen where it stands (`evaluated.py`, the walk).

bash evaluates the value of a variable in arithmetic, subscripts, `${x@P}`, `${!x}` and by attributes: `x='a[$(cmd)]';
echo $((x))` runs `cmd`. And `((PATH=1))` decides what `ls` means as `PATH=1` does. Neither shows in the tree where it
happens, so the line is looked at as a whole: does it evaluate values, and does it set one that is no plain text? Does
it set, in whatever way, a variable by which programs are found? Errs towards yes: then the line is opaque, and asks.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.programs import decides_programs
from fwdperm.shell.evaluated import ASSIGNERS, GIVERS, NAME_TAKERS, PRINTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.shell.command import Command, Word

EVALUATED: Final = "it evaluates a value that it sets, and what that does cannot be known"
DECIDED: Final = "it sets `{}`, and which programs run then cannot be known"
ALIASED: Final = "it gives `{}` another meaning by an alias"
UNREADABLE: Final = "it cannot be read for sure"
_ANY_NAME: Final = "a variable whose name is not known"
_ARITHMETIC: Final = re.compile(r"\(\((.*?)\)\)|\$\[([^]]*)\]", re.DOTALL)
"""Arithmetic with what stands in it: `((x))`, `$((x))`, `$[x]`."""
_EVALUATES: Final = re.compile(
    r"""@P\}                                              # ${x@P}: the value is expanded like a prompt
      | \$\{!\w (?! [^}]* [@*]\}) | \$\{!\w+\[[^@*]      # ${!x}: the value is a name, maybe with a subscript
      | \$\{[\w@*\#]+(?:\[[^]]*\])?:[^-=?+}]*[A-Za-z_$]  # ${y:x}: offset and length are arithmetic
      | \b[A-Za-z_]\w*\[[^]]*[A-Za-z_$]                  # a[x]: so is a subscript
      | [(\s]\[[^]]*[A-Za-z_$][^]]*\]=                  # x=([y]=1): and in a list
      | \[\[.*-(?:eq|ne|lt|le|gt|ge|v|R)\b               # and both sides of -eq
      | (?:\btest|\[)\s.*-[vR]\s
    """,
    re.VERBOSE,
)
"""Constructs that evaluate the value of a variable, but for arithmetic: `${x@P}`, `${!x}`, `a[x]`."""
_ATTRIBUTES: Final = re.compile(r"-\w*[in]\w*")
"""An option after which values are evaluated when they are set, or name another variable: `-i`, `-n`. Of `declare`."""
_KEYWORDS: Final = re.compile(r"-\w*k\w*|keyword")
"""An option after which every assignment among a command's words sets a variable: `-k`, `keyword`. Of `set`."""
_SUBSCRIPT: Final = re.compile(r"[A-Za-z_]\w*\[[^]]*[A-Za-z_$]")
"""An element of an array whose index is evaluated: `a[x]`."""
_PLAIN: Final = re.compile(r"[\w\s./:,@%+-]*|\([\w\s./:,@%+-]*\)")
"""A value that is only text or a number wherever it is evaluated, or a list of them: no `$`, subscript, assignment."""
_NUMBER: Final = re.compile(r"\$(?:\(\((?:[^$`\[=]|\$\{?\w+\}?|[=!<>]=)*\)\)|[#?$!]|\{\#\w+\})")
"""Expansions that come to a number: `$((i+1))`, `$#`, `$?`, `${#x}`."""
_DEFAULT: Final = re.compile(r"\$\{(\w+):?=([^}]*)")
"""An expansion that sets its variable: `${x:=value}`."""
_NAMED: Final = re.compile(
    r"""(?<![\w$]) ([A-Za-z_]\w*) (?: \[ [^]]* \] )? (?: [-+*/%&|^]?=(?!=) | \+\+ | -- )  # X=, X[0]=, X+=, X++
      | (?: \+\+ | -- ) ([A-Za-z_]\w*)
      | \{ ([A-Za-z_]\w*) \} [<>]                                                         # {X}>file
      | \$\{ ([A-Za-z_]\w*) :?=                                                           # ${X:=value}
    """,
    re.VERBOSE,
)
"""A name where a line sets it, wherever that stands: `x=1`, `x++`, `{x}>file`, `${x:=1}`."""
_POSITIONAL: Final = re.compile(r"\$\{?(\d)")
"""A positional parameter: `$1`, `${1}`."""
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
"""A name, wherever it stands: `x`."""
_QUOTED: Final = re.compile(r"\\.|(?<!\$)'[^']*'|\$'(?:[^'\\]|\\.)*'|\"(?:[^\"\\$`]|\\.)*\"", re.DOTALL)
"""Text in which nothing is expanded, such as `'a b'`: only as a word of a builtin it sets or evaluates something."""
_TOUCHING: Final = re.compile(r"\$\{[^}]*``")
r"""Two old substitutions that touch inside of an expansion (`${a-\x60\x60`): the grammar takes one for a part of the
other."""


class Walked(NamedTuple):
    """What the walk over a line found.

    Attributes:
        codes: The line, and every text in it that is code of its own.
        commands: Every command.
        loops: What `for` sets: (name, word).
        functions: The functions that it defines.
    """

    codes: Sequence[str]
    commands: Sequence[Command]
    loops: Sequence[tuple[str, Word]]
    functions: Sequence[str]


def why_unknowable(line: Walked) -> str:
    """Say why a line cannot be understood although each of its parts can.

    Args:
        line: What was found in it.

    Returns:
        The reason, in words; empty where it sets nothing that it evaluates or runs by.
    """
    if any("``" in code and _TOUCHING.search(code) for code in line.codes):
        return UNREADABLE
    if not (line.loops or any("=" in code or "{" in code or "((" in code for code in line.codes) or _takes_names(line)):
        return ""
    bare = [_QUOTED.sub("_", code) for code in line.codes]
    if decides := _deciding(bare, line):
        return DECIDED.format(decides)
    if aliased := _aliased(line.commands):
        return ALIASED.format(aliased)
    return EVALUATED if _evaluates_what_it_sets(bare, line) else ""


def _takes_names(line: Walked) -> bool:
    return any(command.program in NAME_TAKERS or _prints_to(command) for command in line.commands)


def _deciding(bare: Sequence[str], line: Walked) -> str:
    """Give the variable by which programs are found that a line sets; empty for none.

    One that is written out before a command, or alone, is in the command's own text, which a rule may name.
    """
    seen = Counter(name for code in bare for found in _NAMED.findall(code) for name in found if name)
    seen.subtract(name for command in line.commands for name in _written_out(command))
    names = [name for name, count in seen.items() if count > 0]
    for command in line.commands:
        if command.program == "set" and any(_KEYWORDS.fullmatch(word.text) for word in command.words[1:]):
            return _ANY_NAME
        if command.program not in NAME_TAKERS and not _prints_to(command):
            continue
        for word in command.words[1:]:
            name, equals, value = word.text.partition("=")
            if not word.known and any(sign in name for sign in "$`{"):
                return _ANY_NAME
            names += _IDENTIFIER.findall(name)
            names += _IDENTIFIER.findall(value) if equals and command.program not in ASSIGNERS else []
        if command.program in ASSIGNERS and any(_ATTRIBUTES.fullmatch(word.text) for word in command.words):
            names += [name for word in command.words[1:] for name in _IDENTIFIER.findall(word.text)]
    return next((name for name in names if decides_programs(name)), "")


def _written_out(command: Command) -> Iterator[str]:
    """Give the variables that stand in a command's own text with their values."""
    yield from (name for name, _ in command.prefixes)
    if command.program not in NAME_TAKERS:
        yield from (word.text.partition("=")[0] for word in command.words[1:] if "=" in word.text)


def _aliased(commands: Sequence[Command]) -> str:
    """Give a program that a line runs and gives an alias; empty for none."""
    names = {word.text.partition("=")[0] for one in commands if one.program == "alias" for word in one.words[1:]}
    return next((one.program for one in commands if one.program in names), "") if names else ""


def _evaluates_what_it_sets(bare: Sequence[str], line: Walked) -> bool:
    """Say whether a line evaluates the value of a variable to which it gives something else than plain text."""
    unsure = {name for name, value in _given(line) if not _is_text(value)}
    if not unsure:
        return False
    if any(_EVALUATES.search(code) for code in bare) or any(map(_evaluates, line.commands)):
        return True
    parts = [one or other for code in bare for one, other in _ARITHMETIC.findall(code)]
    parts += [word.text for command in line.commands if command.program == "let" for word in command.words[1:]]
    inside = " ".join(parts)
    evaluated = set(_IDENTIFIER.findall(inside)) | set(_POSITIONAL.findall(inside))
    return not unsure.isdisjoint(_reached(evaluated, line))


def _evaluates(command: Command) -> bool:
    """Say whether a builtin evaluates what its words name or set."""
    words = command.words[1:]
    if command.program in ASSIGNERS and any(
        _ATTRIBUTES.fullmatch(word.text) or (word.known and word.quoted and "=(" in word.text) for word in words
    ):
        return True
    takes_names = command.program in NAME_TAKERS or _prints_to(command)
    return takes_names and any(_SUBSCRIPT.match(word.text) for word in words)


def _reached(names: set[str], line: Walked) -> set[str]:
    """Give the names that evaluating some names comes to: a value that is a name is evaluated, too."""
    values: dict[str, set[str]] = {}
    for name, value in _given(line):
        values.setdefault(name, set()).update(_IDENTIFIER.findall(value if isinstance(value, str) else value.text))
    found: set[str] = set()
    while names:
        found |= names
        names = {inner for name in names for inner in values.get(name, ())} - found
    return found


def _given(line: Walked) -> Iterator[tuple[str, Word | str]]:
    """Give every value that a line gives a variable or a positional parameter; `$` where it is somebody else's."""
    yield from line.loops
    for code in line.codes:
        yield from _DEFAULT.findall(code)
    for command in line.commands:
        yield from command.prefixes
        words = command.words[1:]
        if command.program in GIVERS:
            yield from ((name, "$") for word in words for name in _IDENTIFIER.findall(word.text))
            yield "REPLY", "$"
        elif command.program in ASSIGNERS:
            for word in words:
                name, equals, value = word.text.partition("=")
                if equals:
                    yield name, value if word.known else word
        elif command.program in line.functions or command.program == "set":
            yield from ((str(at), word) for at, word in enumerate(words))  # behind `--`
            yield from ((str(at), word) for at, word in enumerate(words, start=1))
        elif _prints_to(command):
            yield from ((name, word) for name in _IDENTIFIER.findall(words[1].text) for word in words[2:])


def _prints_to(command: Command) -> bool:
    """Say whether it is `printf -v`, which gives a variable what it prints."""
    return command.program == PRINTS and len(command.words) > 2 and command.words[1].text == "-v"  # noqa: PLR2004 - and a name


def _is_text(value: Word | str) -> bool:
    if isinstance(value, str):
        return _PLAIN.fullmatch(value) is not None
    if value.known and not value.glob:
        return _PLAIN.fullmatch(value.text) is not None
    return _PLAIN.fullmatch(_NUMBER.sub("0", value.raw).replace('"', "")) is not None

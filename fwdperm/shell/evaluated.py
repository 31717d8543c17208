"""Code that bash finds in words which look like plain text: subscripts, prompts, word lists.

Lives here: `evaluated_code` and `prompt_code`. Never here: programs that run their arguments (`wrappers.py`).

bash expands the subscript of a variable that a builtin is given by name, quotes or not: `read 'a[$(cmd)]'` runs it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fwdperm.shell.substitution import embedded_code
from fwdperm.shell.words import read_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.shell.command import Word

_SUBSCRIPT: Final = re.compile(r"[A-Za-z_]\w*\[")
"""The name of an element of an array, whose index a shell evaluates, substitutions and all: `a[$(date)]`."""
NAME_TAKERS: Final = frozenset(
    [
        "read",
        "readarray",
        "mapfile",
        "declare",
        "typeset",
        "local",
        "export",
        "readonly",
        "unset",
        "wait",
        "let",
        "getopts",
    ]
)
"""Builtins that take names of variables."""
_AFTER: Final = {"printf": "-v", "test": "-v", "[": "-v", "compgen": "-W"}
"""Builtins that look so at the word after one option only."""
ASSIGNERS: Final = frozenset(["export", "declare", "typeset", "local", "readonly"])
"""Builtins that take assignments as words."""
GIVERS: Final = frozenset(["read", "readarray", "mapfile", "getopts"])
"""Builtins that give variables what somebody else says."""
PRINTS: Final = "printf"
"""The builtin that gives a variable (`-v`) what it prints."""
_ASSIGN: Final = ASSIGNERS | {"time"}
"""What takes assignments as words."""
EVALUATORS: Final = NAME_TAKERS | _ASSIGN | {"[["} | frozenset(_AFTER)
"""Builtins whose words may hold code."""
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
"""A quoted text, in either quotation: `"a b"`. What an operator inside it compares is text."""
_ARITHMETIC: Final = re.compile(r"\s-(?:v|R|eq|ne|lt|le|gt|ge)\s")
"""An operator of a test whose two sides are evaluated as arithmetic, or as a name: `x -eq y`, ` -v a[0]`."""
_PROMPTS: Final = frozenset({"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND"})


def evaluated_code(words: Sequence[Word]) -> list[str]:
    """Find code in the words of a builtin that evaluates them.

    Args:
        words: A command's words, the program first.

    Returns:
        The code of each command substitution that the grammar could not see, because it stands in quotes.
    """
    program = words[0].text
    if program == "[[":
        return tested_code(" ".join([word.raw for word in words]))
    if program in _ASSIGN:
        assigned = [(word.text.partition("=")[0], word) for word in words[1:] if "=" in word.text]
        if found := prompt_code([(name, read_word(word.raw.partition("=")[2])) for name, word in assigned]):
            return found
    if program in NAME_TAKERS:
        looked_at = [word for word in words[1:] if program == "let" or _may_be_indexed(word)]
    elif program in _AFTER:
        option = _AFTER[program]
        looked_at = [word for before, word in pairwise(words) if before.text == option]
        looked_at = [word for word in looked_at if program == "compgen" or _may_be_indexed(word)]
    else:
        return []
    return [code for word in looked_at if word.quoted for code in embedded_code(word.text)]


def _may_be_indexed(word: Word) -> bool:
    """Say whether a word may come to a variable's name with a subscript: `a[...]`, `$x'[...]'`."""
    return _SUBSCRIPT.match(word.text) is not None or (not word.known and "[" in word.text)


def tested_code(text: str) -> list[str]:
    """Find code in the quoted parts of a `[[ ... ]]` that evaluates its operands as arithmetic."""
    if not _ARITHMETIC.search(text) or ("$(" not in text and "`" not in text):
        return []
    quoted = [read_word(found.group()).text for found in _QUOTED.finditer(text)]
    return [code for one in quoted if _SUBSCRIPT.match(one) for code in embedded_code(one)]


def prompt_code(prefixes: Sequence[tuple[str, Word]]) -> list[str]:
    """Find code in the values of variables that the shell itself expands or runs."""
    found: list[str] = []
    for name, value in prefixes:
        if name in _PROMPTS:
            found.extend([value.text] if name == "PROMPT_COMMAND" else embedded_code(value.text))
    return found

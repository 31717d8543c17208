"""The texts of a command that a rule may be written for.

Lives here: `command_texts`, `fold`. Never here: which units a line has (`bash.py`).

Allow sees less than deny: a text goes into `spellings` only when reading it as a rule text cannot make the command look
like another one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.programs import is_harmless_variable, standard_base
from fwdperm.units.global_options import without_global_options
from fwdperm.units.paths import plain_path

if TYPE_CHECKING:
    from fwdperm.shell import Command, Word

_BLANK: Final = re.compile(r"\s")
"""A blank in a word: `a b`. As a text of a rule it would look like two words."""
_BENT: Final = re.compile(r"//|/\.\.?(?:/|$)|^\.\.?/")
"""A path that is written longer than it has to be: `a//b`, `a/../b`, `./a`."""


class Texts(NamedTuple):
    """Texts of one command.

    Attributes:
        spellings: What any rule may match.
        strict: What only `ask` and `deny` may match.
    """

    spellings: tuple[str, ...]
    strict: tuple[str, ...]


def fold(text: str) -> str:
    """Fold every run of blanks, tabs, line ends and continuations to one blank."""
    return " ".join(text.replace("\\\n", " ").split())


def command_texts(command: Command, *, home: str, cwd: str = "") -> Texts:
    """Give the texts of one command.

    Args:
        command: The command.
        home: The requester's home directory, for `~` in deny and ask; empty when unknown.
        cwd: The requester's working directory, for global options that name one; empty when unknown.
    """
    words = command.words
    if not words:
        return Texts((fold(command.raw) or "=",), ())
    typed = " ".join([_typed(word) for word in words])
    allowed = [typed]
    strict: list[str] = []
    if len(words) > 2 and words[1].text[:1] in ("-", "+"):  # noqa: PLR2004 - program, option, subcommand
        bare = without_global_options(command, cwd=cwd, home=home)
        if bare:
            allowed.append(" ".join([_typed(word) for word in bare]))
    if any(word.quoted for word in words):
        plain = " ".join([word.text for word in words])
        (allowed if all(_reads_alike(word) for word in words) else strict).append(plain)
    program = words[0].text
    if "/" in program:
        base = program.rpartition("/")[2]
        target = allowed if standard_base(program) and _reads_alike(words[0]) else strict
        target.extend([_with_program(text, words[0], base) for text in (*allowed, *strict)])
    strict.extend(_respelled(words, home=home))
    if command.prefixes:
        allowed, strict = _prefixed(command, allowed, strict)
    if not words[0].known and len(words) > 1:
        strict.append(" ".join([word.text for word in words[1:]]))
    return Texts(tuple(dict.fromkeys(allowed)), tuple(dict.fromkeys(text for text in strict if text not in allowed)))


def has_harmless_prefixes(command: Command) -> bool:
    """Say whether an allow may look past every variable in front of a command (or there is none)."""
    return all(is_harmless_variable(name) and value.known for name, value in command.prefixes)


def _typed(word: Word) -> str:
    return word.raw.replace("\\\n", "") if "\\\n" in word.raw and "'" not in word.raw else word.raw


def _reads_alike(word: Word) -> bool:
    """Say whether the word without its quotes can be read only as this one word."""
    return not word.quoted or (
        word.text != "" and not _BLANK.search(word.text) and not word.text.startswith("~") and "\x00" not in word.text
    )


def _with_program(text: str, word: Word, base: str) -> str:
    for start in (_typed(word), word.text):
        if text.startswith(start):
            return base + text[len(start) :]
    return text


def _respelled(words: tuple[Word, ...], *, home: str) -> list[str]:
    """Spell path words otherwise: home as `~` and back, and without detours."""
    texts = [word.text for word in words]
    found: list[str] = []
    if any("/" in text or text.startswith(("~", "$HOME", "${HOME}")) for text in texts[1:]):
        straight = [texts[0], *(_straight(text) for text in texts[1:])]
        found.append(" ".join(straight))
        if home:
            expanded = [straight[0], *(_at_home(text, home=home) for text in straight[1:])]
            found.append(" ".join(expanded))
            tilde = [straight[0], *(_tilde(text, home=home) for text in expanded[1:])]
            found.append(" ".join(tilde))
        else:
            found.append(" ".join([straight[0], *(plain_path(text, home="") for text in straight[1:])]))
    return found


def _straight(text: str) -> str:
    if "/" not in text or "://" in text or not _BENT.search(text):
        return text
    out: list[str] = []
    for part in text.split("/"):
        if part == ".." and out and out[-1] not in ("..", ""):
            out.pop()
        elif part == "..":
            if out != [""]:
                out.append(part)
        elif part == "." or (part == "" and out):
            continue
        else:
            out.append(part)
    return "/".join(out) or ("/" if text.startswith("/") else ".")


def _at_home(text: str, *, home: str) -> str:
    return plain_path(text, home=home) if text[:1] in ("~", "$") else text


def _tilde(text: str, *, home: str) -> str:
    root = home.rstrip("/")
    if root and (text == root or text.startswith(f"{root}/")):
        return f"~{text[len(root) :]}"
    return text


def _prefixed(command: Command, allowed: list[str], strict: list[str]) -> tuple[list[str], list[str]]:
    """Put the variables in front; an allow looks past harmless ones only."""
    front = " ".join([f"{name}={_typed(value)}" for name, value in command.prefixes])
    whole = [f"{front} {text}" for text in allowed]
    if has_harmless_prefixes(command):
        return [*whole, *allowed], strict
    return whole, [*allowed, *strict]

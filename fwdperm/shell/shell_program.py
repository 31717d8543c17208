"""What a shell that a command line starts would run: code in its words, a script, or its standard input.

Lives here: the options of a Bourne-like shell, of PowerShell, and the script of `.` and `source`. Never here: wrappers
of other kinds (`unwrap.py`), the code itself (`walk.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.programs import Takes
from fwdperm.shell.command import Word
from fwdperm.shell.inner_command import UNKNOWN_CODE, Unwrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.programs import Use

_STDIN_PATHS: Final = re.compile(r"-|/dev/stdin|/dev/fd/\d+|/proc/self/fd/\d+|/proc/\d+/fd/\d+")
"""A name of the standard input or of another open descriptor, in the place of a script: `-`, `/dev/stdin`,
`/dev/fd/3`. What a shell reads there is not known."""
_COMMAND: Final = "-command"
_ENCODED: Final = "-encodedcommand"


def read_shell(result: Unwrapped, use: Use, words: Sequence[Word]) -> None:  # noqa: C901, PLR0912 - one arm per kind of option
    """Read a Bourne-like shell: code behind `-c`, else its standard input, else the script that its words name.

    Args:
        result: Where what it runs is added, and why that is not known.
        use: The page of the shell; an option of it that takes code for a shell means code, as `-c` does.
        words: The shell's words, the program first.
    """
    code = {name for name, option in use.options.items() if option.takes is Takes.SHELL}
    at, has_code, from_stdin = 1, False, False
    while at < len(words):
        text = words[at].text
        if not words[at].known or text[:1] not in ("-", "+") or text in ("-", "+"):
            break
        at += 1
        if text == "--":
            break
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if name in ("--help", "--version"):
                return
            if name in code:
                if equals:
                    result.add_code(Word(value, value))
                else:
                    has_code = True
            elif name in ("--rcfile", "--init-file") and not equals:
                at += 1
            continue
        has_code = has_code or "c" in text or any(f"-{letter}" in code for letter in text[1:])
        from_stdin = from_stdin or "s" in text
        if text[-1] in "oO":
            at += 1
    result.label = f"{result.label} -c" if has_code else result.label
    if result.carried:
        return
    if has_code and at < len(words):
        result.add_code(words[at])
    elif has_code:
        result.opaque = UNKNOWN_CODE
    elif from_stdin or at >= len(words):
        result.reads_stdin = True
    else:
        _script(result, words[at])


def read_powershell(result: Unwrapped, use: Use, words: Sequence[Word]) -> None:
    """Read a shell whose options are whole words in any case, and whose code is all that follows.

    Its language is its own, so its code is never known; rules that deny or ask look into it all the same.
    """
    at = 1
    while at < len(words) and words[at].known and words[at].text.startswith("-"):
        text = words[at].text.lower()
        at += 1
        if (len(text) > 1 and _COMMAND.startswith(text)) or text in ("-cwa", "-commandwithargs"):
            result.label = f"{result.label} -Command"
            result.add_joined(words[at:])
            result.opaque = UNKNOWN_CODE
            return
        if text.startswith("-e") and _ENCODED.startswith(text.replace("-ec", "-e")):
            result.opaque = UNKNOWN_CODE
            return
        option = next((one for name, one in use.options.items() if name.lower() == text), None)
        at += option is not None and option.takes is not Takes.NOTHING
    if at < len(words):
        _script(result, words[at])
    else:
        result.reads_stdin = True


def read_sourced(base: str, words: Sequence[Word]) -> Unwrapped | None:
    """Read `.` or `source`; None where its script is a file with a name, which wraps nothing.

    Args:
        base: The program's name without its directory.
        words: Its words, the program first.
    """
    if not words[1:] or (words[1].known and not _STDIN_PATHS.fullmatch(words[1].text)):
        return None
    result = Unwrapped(base)
    _script(result, words[1])
    return result


def _script(result: Unwrapped, word: Word) -> None:
    """Say what is not known of a script: a file runs by its name, and a descriptor or a variable is no name."""
    if _STDIN_PATHS.fullmatch(word.text):
        result.reads_stdin = True
    elif not word.known:
        result.opaque = "which script it runs is not known"

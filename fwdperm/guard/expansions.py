"""Words that are not known before they run and cannot do harm all the same, by what they are made of.

Lives here: harmless values that a printer may show, and process substitutions, whose commands are looked at on their
own. Pure. Never here: words that the line itself fills in (`filled_in.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fwdperm.shell import Word

_NAMES: Final = (
    "HOME|PATH|PWD|OLDPWD|SHELL|TERM|USER|LOGNAME|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|LANG|LANGUAGE|LC_ALL|LC_CTYPE|TZ|"
    "UID|EUID|PPID|RANDOM|SECONDS|LINENO|SHLVL|COLUMNS|LINES|BASH_VERSION|ZSH_VERSION|EDITOR|VISUAL|PAGER|DISPLAY|"
    "WAYLAND_DISPLAY|DESKTOP_SESSION|XDG_SESSION_TYPE|XDG_CURRENT_DESKTOP|XDG_RUNTIME_DIR|VIRTUAL_ENV|CONDA_PREFIX|"
    "JAVA_HOME|GOPATH|CI|NODE_ENV"
)
_HARMLESS: Final = re.compile(
    rf"\$(?:[?$#!0]|(?:{_NAMES})(?!\w)|\{{(?:{_NAMES})\}}|\(\([\d\s+*/%()-]{{1,80}}\)\))", re.ASCII
)
"""A value that is no secret and no choice of the requester's: `$?`, `$HOME`, `${PATH}`, `$((42 * 17 + 3))`. Numbers
only in a calculation: a name in it may be an array's, whose index is run."""
_STILL_OPEN: Final = re.compile(r"[$`{}]|[<>]\(")
"""What is left of a word when something else in it is filled in as it runs, or becomes many words: `{1..1000000}`."""
_SUBSTITUTION: Final = re.compile(r"<\([^()'\"\\`$]+\)\Z")
"""A whole word that is one process substitution, with nothing behind it: `<(sort a.txt)`. A path of the system stands
in its place, and text behind that would lead elsewhere: `<(true)/../../etc/shadow`."""


def shows_harmless_values(word: Word) -> bool:
    """Say whether a word, printed, shows nothing but its own text and harmless values."""
    rest, values = _HARMLESS.subn("", word.text)
    return values > 0 and not _STILL_OPEN.search(rest)


def is_substitution(word: Word) -> bool:
    """Say whether a word is what another command prints, and nothing else. That command is one of the line's own."""
    return not word.known and _SUBSTITUTION.match(word.raw) is not None

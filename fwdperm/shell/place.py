"""Where the walk over a command line stands: which shell process, which directory, who feeds it.

Lives here: `WalkPosition` and how a `cd` changes it. Never here: nodes (`walk.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.shell.command import Stands
from fwdperm.shell.redirects import EMPTY_TAIL, Tail
from fwdperm.shell.source import Source

if TYPE_CHECKING:
    from fwdperm.shell.command import Word

SAME_SHELL: Final = frozenset({"command", "builtin", "eval", "time"})
_LONGEST_PATH: Final = 4096
"""Characters of a path that a system opens; no `cd` leads further."""
NO_SOURCE: Final = Source(b"")


class ShellProcess:
    """What one shell process keeps: its directory."""

    __slots__ = ("cwd",)

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd


class Pipe:
    """The command at the writing end of a pipe, once it is known."""

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index = -1


class WalkPosition(NamedTuple):
    """Where the walk stands."""

    source: Source
    scope: ShellProcess
    stands: Stands = Stands.TOP
    carrier: int = -1
    wrapped_by: str = ""
    pipe: Pipe | None = None
    remote: bool = False
    depth: int = 0
    tail: Tail = EMPTY_TAIL
    mark: str = ""
    appended: bool = False
    apart: bool = False
    consented: bool = False


def change_directory(words: tuple[Word, ...], place: WalkPosition) -> None:
    """Follow `cd`, `pushd` and `popd` as far as their words are literal."""
    if words[0].text not in ("cd", "pushd", "popd", "chdir") or place.apart:
        return
    operands = [word for word in words[1:] if not (word.text.startswith("-") and len(word.text) > 1)]
    if words[0].text == "popd" or (operands and (not operands[0].known or operands[0].glob)):
        place.scope.cwd = "?"
    elif not operands:
        place.scope.cwd = "~" if words[0].text != "pushd" else "?"
    elif operands[0].text in ("-", "") or operands[0].text.startswith("+"):
        place.scope.cwd = "?"
    else:
        place.scope.cwd = joined(place.scope.cwd, operands[0].text)


def joined(cwd: str, target: str) -> str:
    """Give the directory that `target` is from `cwd`, as typed; `?` when that cannot be known."""
    if target.startswith(("/", "~")) or not cwd:
        return target
    if cwd == "?" or target == "?" or len(cwd) + len(target) > _LONGEST_PATH:
        return "?"
    return f"{cwd.rstrip('/')}/{target}"

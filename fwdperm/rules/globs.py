"""Which rules and a name that is not wholly known (a glob, or words with unknown parts) may speak of the same thing.

Lives here: `MeetingIndex`, `as_pattern`. Pure. Never here: which words of a command are globs (`units/`).

Errs towards yes: it is asked for `ask` and `deny` rules alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from fwdperm.rules.wildcard import ANY, RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fwdperm.rules.wildcard import Glob

_LONGEST: Final = 256
"""Characters of a shell glob that are followed exactly; a longer one meets whatever begins like it."""
_ROOTS: Final = frozenset("/~$")
_DEEP: Final = "***"
"""`**` of a search tool: any run of characters, `/` included."""
_LEVELS: Final = "**/"
"""`**/` of a search tool: any number of directories, none included."""
_BRACKET: Final = r"\[[!^]?+\]?+(?:\[:[^]/]*:\]|\[\.[^]/]*\.\]|\[=[^]/]*=\]|[^]/])*\]"
"""One character of several: `[ab]`, `[!]a]`, `[[:alpha:]_]`; never over a `/`."""
_TOKEN: Final = re.compile(
    rf"(?P<bracket>{_BRACKET})(?P<unsure>[^[/]*\])?|(?P<levels>\*\*+/)|(?P<deep>\*\*+)|(?P<run>\*)|(?P<any>\?)|.",
    re.DOTALL,
)
"""One step of a glob. `unsure` is a further `]`, as of `[a"]"]`: quotes are gone, so which closes cannot be told."""
_SYMBOLS: Final = {"bracket": ANY, "unsure": _DEEP, "levels": _LEVELS, "deep": _DEEP, "run": RUN, "any": ANY}
"""What a step stands for, by its group; any other stands for itself. What is unsure may be any run of characters."""


class MeetingIndex:
    """Rules by their literal beginning, to be asked which of them a shell glob may meet.

    Args:
        entries: (position, globs), positions ascending.
    """

    __slots__ = ("_begins", "_cuts", "_machines")

    def __init__(self, entries: Iterable[tuple[int, Sequence[Glob]]]) -> None:
        self._machines: dict[str, list[tuple[int, _Positions]]] = {}
        for position, globs in entries:
            for glob in globs:
                begins = glob.segments[0].pieces[0]
                self._machines.setdefault(begins, []).append((position, _Positions(glob.symbols())))
        self._begins = sorted(self._machines)
        self._cuts = sorted(set(map(len, self._begins)))

    def meeting(self, text: str, *, deep: bool = False) -> list[int]:
        """Return the position of every rule that covers some name that may be made of `text`, latest first.

        Args:
            text: A word with `*`, `?` and `[...]` as a shell expands them: they do not cross `/`.
            deep: Whether `**` crosses it, as in search tools.
        """
        known = _known_beginning(text)
        candidates = list(self._beginning_like(known, below=deep and text[:1] not in _ROOTS))
        if len(text) > _LONGEST:
            return sorted({position for position, _ in candidates}, reverse=True)
        symbols = list(_symbols(text if deep else re.sub(r"\*+", "*", text)))
        return sorted({position for position, machine in candidates if machine.meet(symbols)}, reverse=True)

    def meeting_pieces(self, pieces: Sequence[str]) -> list[int]:
        """Return the position of every rule that covers some text with these pieces in it, latest first.

        Args:
            pieces: What is known of the text, in order; between two of them anything may stand, `/` and blanks too.
        """
        candidates = self._beginning_like(pieces[0], below=False)
        if not any(pieces) or sum(map(len, pieces)) > _LONGEST:
            return sorted({position for position, _ in candidates}, reverse=True)
        symbols = list(pieces[0])
        for piece in pieces[1:]:
            symbols += [_DEEP, *piece]
        return sorted({position for position, machine in candidates if machine.meet(symbols)}, reverse=True)

    def _beginning_like(self, known: str, *, below: bool) -> Iterator[tuple[int, _Positions]]:
        """Yield the rules that begin with what is known of a name, or with a part of that.

        Args:
            known: What stands before the first wildcard.
            below: Whether the name is a relative one, which no rule that begins at a root can mean.
        """
        for cut in self._cuts:
            if cut < len(known):
                yield from self._machines.get(known[:cut], ())
        for begins in self._begins[bisect_left(self._begins, known) :]:
            if not begins.startswith(known):
                return
            if below and begins[:1] in _ROOTS:
                continue
            yield from self._machines[begins]


class _Positions:
    """A rule's pattern as a state machine over its symbols.

    A set of places is one integer. Its bit `n` says that reading may have come to just before symbol `n`; the bit
    behind the last symbol says that the whole pattern was read.
    """

    __slots__ = ("any", "end", "everywhere", "inside", "of", "stars")

    def __init__(self, symbols: list[str]) -> None:
        self.end = 1 << len(symbols)
        self.stars = self.any = 0
        self.of: dict[str, int] = {}
        for place, symbol in enumerate(symbols):
            bit = 1 << place
            if symbol == RUN:
                self.stars |= bit
            elif symbol == ANY:
                self.any |= bit
            else:
                self.of[symbol] = self.of.get(symbol, 0) | bit
        self.everywhere = (self.end - 1) & ~self.stars
        self.inside = self.everywhere & ~self.of.get("/", 0)

    def meet(self, shell: Sequence[str]) -> bool:
        """Say whether some name fits both these symbols and those of a shell glob."""
        standing = self._past_stars(1)
        for symbol in shell:
            if symbol == RUN:
                standing = self._run(standing, over=self.inside)
            elif symbol == _DEEP:
                standing = self._run(standing, over=self.everywhere)
            elif symbol == _LEVELS:
                below = self._run(standing, over=self.everywhere)
                standing |= self._step(below, over=self.of.get("/", 0) | self.any)
            elif symbol == ANY:
                standing = self._step(standing, over=self.inside)
            else:
                standing = self._step(standing, over=self.of.get(symbol, 0) | self.any)
            if not standing:
                return False
        return bool(standing & self.end)

    def _step(self, standing: int, *, over: int) -> int:
        """Read one character that the places in `over` accept; a star accepts any and stays."""
        return self._past_stars((standing & over) << 1 | standing & self.stars)

    def _past_stars(self, standing: int) -> int:
        """Add the place behind each star that reading has come to: a star may stand for no character at all."""
        return standing | (standing & self.stars) << 1

    def _run(self, standing: int, *, over: int) -> int:
        """Read any number of characters that the places in `over` accept."""
        while (more := standing | self._step(standing, over=over)) != standing:
            standing = more
        return standing


def _known_beginning(text: str) -> str:
    return text[: min((place for place in map(text.find, "*?[") if place >= 0), default=len(text))]


def as_pattern(text: str) -> str:
    """Write a shell's glob as a rule would: `a[bc]*` as `a?*`. It covers all that the glob may become, and more."""
    return "".join({ANY: "?", RUN: "*", _DEEP: "*", _LEVELS: "*"}.get(symbol, symbol) for symbol in _symbols(text))


def _symbols(text: str) -> Iterator[str]:
    """Spell out a glob; a bracket that closes stands for one character, one that does not for itself."""
    for token in _TOKEN.finditer(text):
        yield _SYMBOLS.get(token.lastgroup or "", token[0])

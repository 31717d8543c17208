"""Whether a rule and a shell glob may speak of the same name.

Lives here: `may_meet`. Pure. Never here: which words of a command are globs (`units/`).

Errs towards yes: it is asked for `ask` and `deny` rules alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.rules.wildcard import ANY, RUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.rules.wildcard import Glob

_LONGEST: Final = 1_024
"""Characters of a shell glob that are followed exactly; a longer one meets whatever begins like it."""


def may_meet(rule: Glob, text: str) -> bool:
    """Say whether some name that a shell may make of `text` is covered by `rule`.

    Args:
        rule: A rule's pattern; its star crosses `/`.
        text: A word with `*`, `?` and `[...]` as a shell expands them: they do not cross `/`.
    """
    begins = rule.segments[0].pieces[0]
    known = _known_beginning(text)
    if not begins.startswith(known) and not known.startswith(begins):
        return False
    if len(text) > _LONGEST:
        return True
    return _Positions(rule.symbols()).meet(text)


class _Positions:
    """A rule's symbols, read as a machine: one bit for each place in them where reading may stand."""

    def __init__(self, symbols: list[str]) -> None:
        self.end = 1 << len(symbols)
        self.stars = self.any = self.slashes = 0
        self.of: dict[str, int] = {}
        for place, symbol in enumerate(symbols):
            bit = 1 << place
            if symbol == RUN:
                self.stars |= bit
            elif symbol == ANY:
                self.any |= bit
            else:
                self.of[symbol] = self.of.get(symbol, 0) | bit
        self.inside = (self.end - 1) & ~self.stars & ~self.of.get("/", 0)

    def meet(self, text: str) -> bool:
        standing = self._past_stars(1)
        for symbol in _shell_symbols(text):
            if symbol == RUN:
                standing = self._run(standing)
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
        """A star may also be read as nothing."""
        return standing | (standing & self.stars) << 1

    def _run(self, standing: int) -> int:
        """Read any number of characters other than `/`."""
        while (more := standing | self._step(standing, over=self.inside)) != standing:
            standing = more
        return standing


def _known_beginning(text: str) -> str:
    return text[: min((place for place in map(text.find, "*?[") if place >= 0), default=len(text))]


def _shell_symbols(text: str) -> Iterator[str]:
    """Spell out a shell glob; a bracket that closes stands for one character, one that does not for itself."""
    place = 0
    while place < len(text):
        char = text[place]
        close = text.find("]", place + 2) if char == "[" else -1
        if close >= 0 and "/" not in text[place:close]:
            yield ANY
            place = close
        else:
            yield {"*": RUN, "?": ANY}.get(char, char)
        place += 1

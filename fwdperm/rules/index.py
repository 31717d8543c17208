"""The last of ten thousand patterns that matches, found without trying them all.

Lives here: `Index`. Pure. Never here: what a match means (`ruleset.py`), how one pattern matches (`wildcard.py`).

A pattern without wildcards is looked up whole; `x*` by its beginning; any other by the rarest short run of characters
among those it demands. Only what is found that way is tried.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fwdperm.rules.wildcard import Glob

_LONGEST_CUT = 40
"""Characters of a beginning that are looked up: bounds how many cuts of a text are tried."""
_GRAM = 4
"""Characters in a run, where the pattern has that many."""
_FEW = 16
"""Up to this many runs of one size are searched in the text; more are looked up from the text's own runs."""


class Index:
    """Patterns by position; a position may have several globs.

    Args:
        entries: (position, globs) in any order; positions are the caller's, and a higher one is later.
    """

    __slots__ = ("_always", "_cuts", "_exact", "_grams", "_prefixes")

    def __init__(self, entries: Iterable[tuple[int, Sequence[Glob]]]) -> None:
        self._exact: dict[str, list[int]] = {}
        self._prefixes: dict[str, list[tuple[int, Glob]]] = {}
        self._grams: dict[int, dict[str, list[tuple[int, Glob]]]] = {}
        self._always: list[tuple[int, Glob]] = []
        odd: list[tuple[int, Glob, set[str]]] = []
        for position, globs in entries:
            for glob in globs:
                if (exact := glob.exact) is not None:
                    self._exact.setdefault(exact, []).append(position)
                elif (prefix := glob.prefix) is not None:
                    self._prefixes.setdefault(prefix[:_LONGEST_CUT], []).append((position, glob))
                elif grams := _grams_of(glob):
                    odd.append((position, glob, grams))
                else:
                    self._always.append((position, glob))
        self._cuts = sorted(set(map(len, self._prefixes)))
        counts = Counter(gram for _, _, grams in odd for gram in grams)
        for position, glob, grams in odd:
            rarest = min(grams, key=counts.__getitem__)
            self._grams.setdefault(len(rarest), {}).setdefault(rarest, []).append((position, glob))

    def matches(self, text: str) -> Iterator[int]:
        """Yield the position of every pattern that covers `text`, latest first, each once."""
        found = self._candidates(text)
        found.sort(key=_position, reverse=True)
        latest = -1
        for position, glob in found:
            if position != latest and (glob is None or glob.matches(text)):
                latest = position
                yield position

    def last(self, text: str) -> int:
        """Return the position of the latest pattern that covers `text`, or -1."""
        return next(self.matches(text), -1)

    def _candidates(self, text: str) -> list[tuple[int, Glob | None]]:
        found: list[tuple[int, Glob | None]] = [(position, None) for position in self._exact.get(text, ())]
        found.extend(self._always)
        for cut in self._cuts:
            if cut > len(text):
                break
            found.extend(self._prefixes.get(text[:cut], ()))
        for size, buckets in self._grams.items():
            for gram in _shared_grams(buckets, text, size=size):
                found.extend(buckets[gram])
        return found


def _position(candidate: tuple[int, Glob | None]) -> int:
    return candidate[0]


def _shared_grams(buckets: dict[str, list[tuple[int, Glob]]], text: str, *, size: int) -> Iterable[str]:
    if len(buckets) <= _FEW:
        return [gram for gram in buckets if gram in text]
    return buckets.keys() & {text[place : place + size] for place in range(len(text) - size + 1)}


def _grams_of(glob: Glob) -> set[str]:
    """Return the runs that a text must hold: full size if a literal is that long, else shorter."""
    literals = glob.literals
    size = min(_GRAM, max(map(len, literals), default=0))
    return {piece[at : at + size] for piece in literals for at in range(len(piece) - size + 1)} if size else set()

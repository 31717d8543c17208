"""The grant that covers a unit, found among ten thousand without trying them all.

Lives here: `GrantIndex`. Pure. Never here: who may use a grant (`view.py` asks per anchor).

A grant holds at its anchor, so only the grants of the sessions on one parent chain are looked at; within one anchor and
surface the index of the rules (`rules/index.py`) finds what matches. That index cannot be added to: new grants are
tried one by one until there are enough of them to build it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from fwdperm.rules import Index, Wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.rules import Glob
    from fwdperm.session_rules.values import Anchor, Grant

SessionKey: TypeAlias = "tuple[str, str]"
"""(inbox, session) of the anchor of a requester's own grant; ("", session) for every other scope."""

_TAIL: Final = 32
"""The index is built again past this many new grants, or this many removed ones; or past a quarter of all grants, where
that is more."""


def place_of(anchor: Anchor) -> SessionKey:
    """Give the key under which the rules with this anchor are found."""
    return (anchor.inbox, anchor.session)


class _Bucket:
    """The grants of one anchor for one surface.

    Each grant has a number, larger for a newer one. `_base` and `_tail` find numbers; a removed grant stays in them
    until the index is built again, and is left out because its number is no longer in `_grants`.
    """

    __slots__ = ("_base", "_gone", "_grants", "_next", "_places", "_tail")

    def __init__(self) -> None:
        self._grants: dict[int, Grant] = {}
        self._places: dict[str, int] = {}
        self._base: Index = Index(())
        self._tail: list[tuple[int, Sequence[Glob]]] = []
        self._next = 0
        self._gone = 0

    def __len__(self) -> int:
        return len(self._grants)

    def add(self, grant: Grant) -> None:
        self._grants[self._next] = grant
        self._places[grant.id] = self._next
        self._tail.append((self._next, Wildcard.literal_aware(grant.pattern).globs))
        self._next += 1

    def remove(self, rule: str) -> None:
        place = self._places.pop(rule, None)
        if place is not None:
            del self._grants[place]
            self._gone += 1

    def matches(self, text: str) -> Iterator[Grant]:
        """Give the grants that cover a text, newest first."""
        if len(self._tail) > max(_TAIL, len(self._grants) // 4) or self._gone > max(_TAIL, len(self._grants) // 4):
            self._build()
        for place, globs in reversed(self._tail):
            grant = self._grants.get(place)
            if grant is not None and any(glob.matches(text) for glob in globs):
                yield grant
        for place in self._base.matches(text):
            grant = self._grants.get(place)
            if grant is not None:
                yield grant

    def _build(self) -> None:
        self._base = Index(
            (place, Wildcard.literal_aware(grant.pattern).globs) for place, grant in self._grants.items()
        )
        self._tail.clear()
        self._gone = 0


class GrantIndex:
    """Every grant in force, by its anchor and its surface."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[SessionKey, str], _Bucket] = {}

    def add(self, grant: Grant) -> None:
        """Put a grant in."""
        self._buckets.setdefault((place_of(grant.anchor), grant.surface), _Bucket()).add(grant)

    def remove(self, grant: Grant) -> None:
        """Take a grant out."""
        key = (place_of(grant.anchor), grant.surface)
        bucket = self._buckets.get(key)
        if bucket is not None:
            bucket.remove(grant.id)
            if not len(bucket):
                del self._buckets[key]

    def matches(self, place: SessionKey, *, surface: str, spellings: Sequence[str]) -> Iterator[Grant]:
        """Give the grants that hang on a place and cover a unit in any of its spellings.

        Args:
            place: Where.
            surface: The unit's surface, exactly: a grant names one.
            spellings: The names of the unit: a grant that matches one of them covers it.
        """
        bucket = self._buckets.get((place, surface))
        if bucket is None:
            return
        for text in spellings:
            yield from bucket.matches(text)

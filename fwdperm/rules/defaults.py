"""What holds where no rule matches.

Lives here: `Defaults`. Pure. Never here: rules, or what a mode makes of a default (`ruleset.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.rules.surface import is_every, surface_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.rules.rule import Default

BASE: Final = -1
"""The group of every layer that may loosen; each layer that only narrows is a group of its own."""


class Defaults:
    """The defaults of all layers.

    Args:
        entries: (group, default) in order.
    """

    __slots__ = ("_entries", "_index")

    def __init__(self, entries: Sequence[tuple[int, Default]]) -> None:
        self._entries = tuple(entries)
        self._index = surface_index([default.surface for _, default in entries])

    def __iter__(self) -> Iterator[Default]:
        return (default for _, default in self._entries)

    def choose(self, surface: str, *, auxiliary: bool) -> Default | None:
        """Return the default that holds for a surface; None when nothing is written.

        Args:
            surface: The unit's.
            auxiliary: Whether only a default that names the surface counts.

        Returns:
            The last that names the surface, else the last that is for every surface; or one of a layer that only
            narrows, when it is stricter.
        """
        named: dict[int, Default] = {}
        common: dict[int, Default] = {}
        for place in self._index.matches(surface):
            group, default = self._entries[place]
            if not is_every(default.surface):
                named.setdefault(group, default)
            elif not auxiliary:
                common.setdefault(group, default)
        if BASE in named:
            common = {}
        chosen = named.get(BASE) or common.get(BASE)
        for group in sorted((named.keys() | common.keys()) - {BASE}):
            narrowing = named.get(group) or common[group]
            if chosen is None or _strictness(narrowing) > _strictness(chosen):
                chosen = narrowing
        return chosen


def _strictness(default: Default) -> tuple[int, bool]:
    return default.action.strictness, default.only_human

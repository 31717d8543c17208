"""Rules that can never decide, because a later one covers all that they cover.

Lives here: `Shadow`, `find_shadows`. Pure. Never here: what else may be wrong with a rule (`lint.py`).

A report, not a decision: it errs towards silence, and looks at a bounded number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.rules.surface import AUXILIARY_SURFACES, expand, is_every
from fwdperm.rules.wildcard import Wildcard, covers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.rules.rule import Rule

_PER_CUT: Final = 32
"""Later rules with the same literal beginning that are compared with one rule: the latest ones."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A pair of rules.

    Attributes:
        rule: The one that never decides.
        by: The later one that covers it.
    """

    rule: Rule
    by: Rule

    @property
    def is_harmful(self) -> bool:
        """Say whether the two differ: then something was meant that does not hold."""
        return self.rule.action is not self.by.action or self.rule.only_human is not self.by.only_human


def find_shadows(rules: Sequence[Rule]) -> tuple[Shadow, ...]:
    """Return every rule that a later one covers, in the order of the rules.

    Args:
        rules: As they compose: the last match wins.
    """
    wildcards = [Wildcard(rule.pattern) for rule in rules]
    begins: dict[str, list[int]] = {}
    for place, wildcard in enumerate(wildcards):
        begins.setdefault(_beginning(wildcard), []).append(place)
    cuts = sorted(set(map(len, begins)))
    surfaces: dict[tuple[str, str], bool] = {}
    found = []
    for place, (rule, wildcard) in enumerate(zip(rules, wildcards, strict=True)):
        for later in _candidates(_beginning(wildcard), begins, cuts=cuts, after=place):
            pair = rules[later].surface, rule.surface
            if pair not in surfaces:
                surfaces[pair] = _surface_covers(*pair)
            if surfaces[pair] and covers(wildcards[later], wildcard):
                found.append(Shadow(rule, rules[later]))
                break
    return tuple(found)


def _candidates(beginning: str, begins: dict[str, list[int]], *, cuts: list[int], after: int) -> Iterator[int]:
    """Yield later rules whose literal beginning this one has too."""
    for cut in cuts:
        if cut > len(beginning):
            return
        for place in reversed(begins.get(beginning[:cut], [])[-_PER_CUT:]):
            if place > after:
                yield place


def _beginning(wildcard: Wildcard) -> str:
    """Return the shortest literal beginning among the forms: `git` for `git *`, which covers `git` too."""
    return min((glob.segments[0].pieces[0] for glob in wildcard.globs), key=len)


def _surface_covers(broad: str, narrow: str) -> bool:
    tight = expand(narrow)
    if is_every(broad):
        return is_every(narrow) or not any(Wildcard(name).matches(aux) for name in tight for aux in AUXILIARY_SURFACES)
    wide = [Wildcard(name) for name in expand(broad)]
    return not is_every(narrow) and all(any(covers(one, Wildcard(name)) for one in wide) for name in tight)

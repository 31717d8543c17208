"""Rules that can never decide, because a later one covers all that they cover.

Lives here: `Shadow`, `find_shadows`. Pure. Never here: what else may be wrong with a rule (`lint.py`).

A report, not a decision: it errs towards silence, and looks at a bounded number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from fwdperm.rules.index import Index
from fwdperm.rules.surface import AUXILIARY_SURFACES, expand, is_every
from fwdperm.rules.wildcard import ANY, RUN, Wildcard, covers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.rules.rule import Rule

_LOOKED_AT: Final = 64
"""Later rules that are compared with one rule: the latest ones that may cover it."""
_LETTERS: Final = {ANY: "\ue000", RUN: "\ue001"}


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
    index = Index((place, wildcard.globs) for place, wildcard in enumerate(wildcards))
    surfaces: dict[tuple[str, str], bool] = {}
    found = []
    for place, (rule, wildcard) in enumerate(zip(rules, wildcards, strict=True)):
        for later in islice(index.matches(_as_text(wildcard)), _LOOKED_AT):
            if later <= place:
                break
            pair = rules[later].surface, rule.surface
            if pair not in surfaces:
                surfaces[pair] = _surface_covers(*pair)
            if surfaces[pair] and covers(wildcards[later], wildcard):
                found.append(Shadow(rule, rules[later]))
                break
    return tuple(found)


def _as_text(wildcard: Wildcard) -> str:
    """Spell a pattern as a text, wildcards as letters nobody uses: what covers the pattern matches that text too."""
    return "".join(_LETTERS.get(symbol, symbol) for symbol in wildcard.globs[0].symbols())


def _surface_covers(broad: str, narrow: str) -> bool:
    tight = expand(narrow)
    if is_every(broad):
        return is_every(narrow) or not any(Wildcard(name).matches(aux) for name in tight for aux in AUXILIARY_SURFACES)
    wide = [Wildcard(name) for name in expand(broad)]
    return not is_every(narrow) and all(any(covers(one, Wildcard(name)) for one in wide) for name in tight)

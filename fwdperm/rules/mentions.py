"""Denials that a text names, wherever in it the name stands.

Lives here: `MentionIndex`. Pure. Never here: which texts are searched (`units/unexplained.py`), what a find means
(`ruleset.py`).

Code and options that nobody here can read are still text, and a deny is about a name: `/etc/shadow` in a `python -c`
is no proof that it is opened, and reason enough to ask. Errs towards a find; it is asked for `deny` rules alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from fwdperm.rules.index import Index
from fwdperm.rules.surface import EXTERNAL_SURFACES, PATH_SURFACES, covers
from fwdperm.rules.wildcard import Wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fwdperm.rules.rule import Rule

_TOKEN: Final = re.compile(r"[\w./~+-]+")
"""What may be a name in code or in an option's value: a run of letters, digits and the signs of paths (`/etc/shadow`).
Any other character ends it, such as `=`, `"` and `(`."""
_STARS: Final = re.compile(r"[*?]+")
"""Wildcards of a pattern: what stands between them is fixed."""
_HOMES: Final = ("~", "$HOME", "${HOME}")
"""Ways to write a home directory in front of a path; code writes it in others, so it is not part of the fixed text."""
_LEAST: Final = 3
"""Fixed text with fewer characters is not looked for: it stands in nearly every text (`/`, `.e`)."""
_MOST_WORDS: Final = 4
"""Words of a denied command that are looked for."""


class MentionIndex:
    """What denies name, to be found in text.

    Args:
        rules: (position, rule) of every rule that denies.
    """

    __slots__ = ("_by_program", "_loose", "_paths", "_texts")

    def __init__(self, rules: Iterable[tuple[int, Rule]]) -> None:
        self._by_program: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        self._texts: dict[int, tuple[str, bool]] = {}
        paths: list[tuple[int, Wildcard]] = []
        for position, rule in rules:
            if covers(rule.surface, "bash"):
                words = _command_words(rule.pattern)
                if words:
                    name = words[0].rpartition("/")[2]
                    self._by_program.setdefault(name, []).append((position, words))
            if any(covers(rule.surface, one) for one in (*PATH_SURFACES, *EXTERNAL_SURFACES)):
                text, ends = _fixed_text(rule.pattern)
                if text:
                    self._texts[position] = text, ends
                    paths.append((position, Wildcard(f"*{text}*")))
        self._paths = Index((position, wildcard.globs) for position, wildcard in paths)

    @property
    def is_empty(self) -> bool:
        """Say whether nothing is looked for."""
        return not self._by_program and not self._texts

    def named_in(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield (position, what is named) of every deny whose program, command or path stands in a text."""
        yield from self.programs_in(text)
        for position in self._paths.matches(text):
            fixed, ends = self._texts[position]
            if _stands(fixed, text, ends=ends):
                yield position, fixed

    def programs_in(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield (position, command) of every denied command whose words stand in a text, in order."""
        if not self._by_program:
            return
        tokens = _TOKEN.findall(text)
        for at, token in enumerate(tokens):
            for position, words in self._by_program.get(token.rpartition("/")[2], ()):
                if _is_program(words[0], token) and _follow(words[1:], tokens, at + 1):
                    yield position, " ".join(words)


def _command_words(pattern: str) -> tuple[str, ...]:
    """Give the program and the subcommand that a pattern names: its words up to an option or a wildcard."""
    words = []
    for word in pattern.split()[:_MOST_WORDS]:
        if "*" in word or "?" in word or word.startswith("-"):
            break
        words.append(word)
    return tuple(words)


@lru_cache(maxsize=1024)
def _fixed_text(pattern: str) -> tuple[str, bool]:
    """Give the longest fixed part of a path pattern, and whether a name ends with it; empty where it says nothing."""
    for home in _HOMES:
        if pattern.startswith(f"{home}/"):
            pattern = pattern[len(home) :]
            break
    parts = _STARS.split(pattern)
    text = max(parts, key=len)
    if len(text.strip("/.")) < _LEAST - 1 or len(text) < _LEAST:
        return "", False
    return text, text == parts[-1]


def _stands(fixed: str, text: str, *, ends: bool) -> bool:
    """Say whether fixed text stands in a text; where a name ends with it, as the end of a name there."""
    if not ends:
        return fixed in text
    at = text.find(fixed)
    while at >= 0:
        after = text[at + len(fixed) : at + len(fixed) + 1]
        if not (after.isalnum() or after == "_"):
            return True
        at = text.find(fixed, at + 1)
    return False


def _is_program(denied: str, token: str) -> bool:
    """Say whether a name in text is a denied program: its name, or the path that the rule gives it."""
    return "/" not in denied or token.endswith(denied)


def _follow(words: tuple[str, ...], tokens: list[str], start: int) -> bool:
    """Say whether words follow in order; others may stand between them."""
    rest = iter(tokens[start:])
    return all(any(token == word for token in rest) for word in words)

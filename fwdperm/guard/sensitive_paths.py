"""The look-up of sensitive paths: whether a path, or a pattern that may stand for one, is sensitive.

Lives here: matching by the markers and by the operator's own patterns. Never here: the markers (`markers.py`), what a
program does with a path.

Matched without letter case on the absolute, normal path; a backslash counts as a slash. A marker that goes by a word
in a name (`secret`, `token`) leaves source files and documents alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from fwdperm.guard.markers import PUBLIC, READ, WRITE, Marker
from fwdperm.guard.places import wildcard_pattern
from fwdperm.rules import MeetingIndex, Wildcard

_DEEPEST: Final = 32
"""Directories of a glob that are looked at as the place of a secret."""
_SOURCE: Final = re.compile(
    r"\.(?:py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|rs|go|java|kt|kts|scala|c|h|cc|cpp|"
    r"hpp|cs|fs|rb|php|swift|m|ex|exs|erl|hs|ml|lua|dart|sql|md|mdx|rst|adoc|html|css|scss|"
    r"less|svg|proto|graphql)$"
)
"""The ending of a source or a document, which a marker by name leaves alone: `token_test.go` is read like any
source."""


@dataclass(frozen=True, slots=True)
class _Matcher:
    markers: tuple[Marker, ...]
    hint: re.Pattern[str]
    compiled: tuple[re.Pattern[str], ...]
    anything: re.Pattern[str]


def _needle(pattern: str) -> str:
    """Pick a piece that every path (and every way to type it) the pattern matches must contain."""
    pieces = [piece for piece in re.split(r"[*?/]+", pattern) if piece]
    return re.escape(max(pieces, key=len))


def _matcher(markers: tuple[Marker, ...]) -> _Matcher:
    compiled = tuple(
        re.compile("|".join(f"(?:{wildcard_pattern(p)})" for p in m.patterns) or r"(?!)", re.DOTALL) for m in markers
    )
    needles = sorted({_needle(pattern) for marker in markers for pattern in marker.patterns})
    both = re.compile("|".join(f"(?:{c.pattern})" for c in compiled), re.DOTALL)
    return _Matcher(markers, re.compile("|".join(needles)), compiled, both)


_READ: Final = _matcher(READ)
_WRITE: Final = _matcher(WRITE)
_PUBLIC: Final = re.compile("|".join(wildcard_pattern(pattern) for pattern in PUBLIC), re.DOTALL)
"""Every path that a marker would take and that holds no secret: `/w/.env.example`."""
_READ_HINT: Final = _READ.hint


def may_hold_secret_path(text: str) -> bool:
    """Say whether `text` could name a path of `READ` at all; False is certain, and saves looking closer."""
    return _READ_HINT.search(text.lower()) is not None or "\\" in text


@lru_cache(maxsize=2048)
def sensitive_to_read(path: str) -> Marker | None:
    """Find the marker that makes an absolute path sensitive to read, the gravest first; None when there is none."""
    folded = path.replace("\\", "/").lower()
    while "//" in folded:
        folded = folded.replace("//", "/")
    if not _READ.hint.search(folded) or not _READ.anything.fullmatch(folded) or _PUBLIC.fullmatch(folded):
        return None
    return _first(_READ, folded)


@lru_cache(maxsize=2048)
def sensitive_to_write(path: str) -> Marker | None:
    """Find the marker that makes an absolute path sensitive to write, the gravest first; None when there is none."""
    folded = path.replace("\\", "/").lower()
    while "//" in folded:
        folded = folded.replace("//", "/")
    return _first(_WRITE, folded) if _WRITE.hint.search(folded) and _WRITE.anything.fullmatch(folded) else None


@lru_cache(maxsize=512)
def may_stand_for_secret(pattern: str, home: str, cwd: str) -> bool:
    """Say whether an absolute pattern of file names may stand for a path of `READ` at home, here or in the system."""
    stem = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    shape = pattern.lower()
    for marker in READ:
        for secret in () if marker.by_name else marker.patterns:
            tail = secret.replace("*", "x") if secret[0] == "/" else secret.lstrip("*").replace("*", "x")
            roots = ("",) if secret[0] == "/" else tuple(root for root in (home, cwd) if root)
            for path in (root.lower() + tail for root in roots):
                hidden = stem.endswith("/") and path[len(stem) : len(stem) + 1] == "."
                if path.startswith(stem.lower()) and not hidden and fnmatchcase(path, shape):
                    return True
    return False


@lru_cache(maxsize=512)
def may_reach_secret(pattern: str) -> bool:
    """Say whether an absolute glob of a search tool may stand for a usual path of `READ`, hidden ones included.

    Args:
        pattern: With `*`, `?`, `[...]` inside a name, and `**` over any number of directories.
    """
    shape = re.compile(_search_shape(pattern.lower()), re.DOTALL)
    parts = re.sub(r"\*+|\?|\[[^]/]*\]", "x", pattern.lower()).split("/")[:-1]
    above = ["/".join(parts[:size]) for size in range(1, min(len(parts), _DEEPEST) + 1)]
    for marker in READ:
        for secret in () if marker.by_name else marker.patterns:
            tail = secret.lstrip("*").replace("*", "x")
            usual = tail if tail.startswith("/") else f"/x{tail}"
            if any(shape.fullmatch(base + usual) for base in ([""] if secret[0] == "/" else above)):
                return True
    return False


def _search_shape(pattern: str) -> str:
    """Translate a search tool's glob into a regular expression; a bracket stands for any one character."""
    shapes = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*+/|\*+|\?|\[[^]/]+\])", pattern)
    return "".join(
        re.escape(piece) if at % 2 == 0 else "[^/]" if piece[0] == "[" else shapes[re.sub(r"\*{3,}", "**", piece)]
        for at, piece in enumerate(pieces)
    )


@lru_cache(maxsize=64)
def _meetings(patterns: tuple[str, ...], home: str) -> MeetingIndex:
    return MeetingIndex((at, Wildcard(each.lower(), home=home.lower()).globs) for at, each in enumerate(patterns))


def may_meet_configured(path: str, patterns: tuple[str, ...], home: str, cwd: str) -> bool:
    """Say whether an absolute glob of a search tool may stand for a path that one of the operator's patterns covers."""
    index = _meetings(patterns, home)
    forms = [path.lower()]
    for start, short in ((home, "~/"), (cwd, "")):
        if start and path.startswith(start.rstrip("/") + "/"):
            forms.append(short + path[len(start.rstrip("/")) + 1 :].lower())
    return any(index.meeting(form, deep=True) for form in forms)


def _first(matcher: _Matcher, folded: str) -> Marker | None:
    for marker, pattern in zip(matcher.markers, matcher.compiled, strict=True):
        if pattern.fullmatch(folded) and not (marker.by_name and _SOURCE.search(folded)):
            return marker
    return None


@lru_cache(maxsize=2048)
def matches_configured(path: str, patterns: tuple[str, ...], home: str, cwd: str) -> str:
    """Find the operator's pattern that covers a path, in its absolute, `~` or relative form; empty when none does."""
    forms = [path]
    if home and (path == home or path.startswith(home + "/")):
        forms.append("~" + path[len(home) :])
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        forms.append(path[len(cwd.rstrip("/")) + 1 :])
    for pattern in patterns:
        compiled = _wildcard(pattern)
        if any(compiled.fullmatch(form.lower()) for form in forms):
            return pattern
    return ""


@lru_cache(maxsize=1024)
def _wildcard(pattern: str) -> re.Pattern[str]:
    return re.compile(wildcard_pattern(pattern.lower()), re.DOTALL)

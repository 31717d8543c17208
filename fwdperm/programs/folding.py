"""Finding a program's page by the word that somebody typed.

Lives here: `lookup`, which folds a word to the one program it means. Everything that wants to know something of a
program asks it, so that `csh`, `/bin/zsh-5.9` and `gfind` are known wherever `sh` and `find` are. Pure.
Never here: what a page says.

The book is a module of plain text; a page becomes a value when its program is first looked up.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from fwdperm.programs.compiled import INDEX, PAGES
from fwdperm.programs.program import Carries, Files, First, Option, Program, Takes, Use, UsePattern, Wrapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VERSION: Final = re.compile(r"(?<=[A-Za-z+])-?\d+(?:\.\d+)*$")
"""What distributions put behind a name: `python3.12`, `zsh-5.9`, `gcc-12`, `clang++-15`."""
_FOLDS_CASE: Final = sys.platform in ("darwin", "win32")
"""Where files are found whatever the case of their names, `RM` is `rm`."""
_INDEX: Final[dict[str, Any]] = json.loads(INDEX)
_PLACES: Final[dict[str, int]] = _INDEX["places"]
"""Every name -> the line of its page."""
_LOCAL: Final[dict[str, int]] = _INDEX["local"]
"""Every path by which a project carries a program along -> the line of its page."""
_VERSIONED: Final = frozenset(_INDEX["versioned"])
_ENDS: Final[list[int]] = _INDEX["ends"]
"""Where each page ends in the text: one is cut out of it when it is looked up, so that nobody pays for the others."""
_CACHED: Final = 4_096
_LONGEST: Final = 64
"""Characters of the longest name that is looked up; a longer word names no program that anybody wrote down."""


@lru_cache(maxsize=_CACHED)
def lookup(word: str) -> Program | None:
    """Find the program that a word means.

    Folds the directory, `.exe`, letter case where the system does, and a version behind the name of a program that
    distributions install in several versions. The `g` that GNU's tools carry beside a system's own is a name like any.

    Args:
        word: The program as typed, after quote removal.

    Returns:
        Its page, the same for every name of the program; None for a program that the book does not know.
    """
    base = word.rpartition("/")[2]
    if not base or len(base) > _LONGEST:
        return None
    if _FOLDS_CASE:
        base = base.lower()
    if base[-4:].lower() == ".exe":
        base = base[:-4]
    at = _PLACES.get(base, -1)
    if at < 0:
        at = _PLACES.get(_VERSION.sub("", base), -1)
        if at not in _VERSIONED:
            return None
    return _page(at)


def name_of(word: str) -> str:
    """Give the canonical name of the program that a word means; the word's own last part where none is known."""
    found = lookup(word)
    return found.name if found is not None else word.rpartition("/")[2]


def lookup_local(path: str) -> Program | None:
    """Find the program that a project carries along at a path such as `.venv/bin/pytest`; None for any other path."""
    at = _LOCAL.get(path, -1)
    return _page(at) if at >= 0 else None


def is_in_family(word: str, *families: str) -> bool:
    """Say whether the program that a word means belongs to one of these families; False for an unknown program."""
    found = lookup(word)
    return found is not None and not found.families.isdisjoint(families)


@cache
def names_of_family(family: str) -> tuple[str, ...]:
    """Give every name of every program of a family, in order. Reads the whole book once: for checks of rulesets."""
    return tuple(name for one in every_program() if family in one.families for name in (one.name, *one.aliases))


def every_program() -> tuple[Program, ...]:
    """Give every page of the book, in order of the canonical names. Reads all of them: for pages and tests."""
    return tuple(_page(at) for at in range(len(_ENDS)))


@cache
def _page(at: int) -> Program:
    start = 1 + (_ENDS[at - 1] if at else 0)  # the text begins with a line end
    return _program(json.loads(PAGES[start : _ENDS[at]]))


def _program(page: dict[str, Any]) -> Program:
    return Program(
        name=page["name"],
        about=page.get("about", ""),
        aliases=tuple(page.get("aliases", ())),
        families=frozenset(page.get("families", ())),
        use=_use(page.get("use", {})),
        dangers=tuple(_danger(one) for one in page.get("dangers", ())),
        deletions=tuple(_danger(one) for one in page.get("deletions", ())),
        secrets=tuple(_danger(one) for one in page.get("secrets", ())),
        catastrophes=tuple(page.get("catastrophes", ())),
        keeps={tuple(words): size for words, size in page.get("keeps", ())},
        local=tuple(page.get("local", ())),
        is_module=page.get("module", False),
        runs_tools=tuple(page.get("runs_tools", ())),
        mild=frozenset(page.get("mild", ())),
        shows_version=page.get("shows_version", False),
        bundles=page.get("bundles", False),
        running_settings=tuple(page.get("running_settings", ())),
        variables=tuple(page.get("variables", ())),
    )


def _use(page: dict[str, Any]) -> Use:
    made = (
        Option(tuple(word.split("|")), Takes[takes], bool(attached), bool(accepted))
        for takes, attached, accepted, words in page.get("options", ())
        for word in words.split()
    )
    return Use(
        words=tuple(page.get("words", ())),
        routine=page.get("routine", ""),
        why=page.get("why", ""),
        operands=Takes[page.get("operands", Takes.NOTHING.name)],
        options={spelling: option for option in made for spelling in option.spellings},
        subs=_Subs(page.get("subs", ())),
        needs=page.get("needs", 0),
        most=page.get("most", 0),
        choices=frozenset(page.get("choices", ())),
        requires=frozenset(page.get("requires", ())),
        runs_project=page.get("runs_project", False),
        numbers=page.get("numbers", False),
        dash_is_word=page.get("dash_is_word", False),
        anywhere=page.get("anywhere", False),
        wrapping=_wrapping(page["wraps"]) if "wraps" in page else None,
        files=Files(page.get("files", Files.UNKNOWN)),
        first=First(page.get("first", First.FILE)),
        searches_below=page.get("searches_below", False),
        unknown_is_text=page.get("unknown_is_text", False),
    )


class _Subs(Mapping[str, Use]):
    """Subcommands by each of their names, each made when it is first asked for: `git` has a hundred and forty."""

    __slots__ = ("_made", "_pages", "_places")

    def __init__(self, pages: Sequence[Any]) -> None:
        self._places = {name: at for at, (names, _) in enumerate(pages) for name in names}
        self._pages = pages
        self._made: dict[int, Use] = {}

    def __getitem__(self, name: str) -> Use:
        at = self._places[name]
        made = self._made.get(at)
        if made is None:
            made = self._made[at] = _use(self._pages[at][1])
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _wrapping(page: dict[str, Any]) -> Wrapping:
    sets = {name: frozenset(page.get(name, ())) for name in ("idle", "shells")}
    return Wrapping(**{**page, **sets, "style": Carries(page["style"])})


def _danger(page: list[Any]) -> UsePattern:
    id_, why, words, options, operands = page
    return UsePattern(id_, why, tuple(frozenset(one) for one in words), frozenset(options), frozenset(operands))

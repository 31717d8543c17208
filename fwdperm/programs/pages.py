"""The book as people write it: TOML in `book/`, checked by a schema, made into one module that loads fast.

Lives here: the schema, the reading of the short notations, `compile_book`, and the command that writes the result:
`python -m fwdperm.programs.pages`. An edge; nothing of the daemon imports it. Never here: looking a program up.

The notations, by example:

    nothing = "-q|--quiet -v|--verbose"     options that take nothing; `|` joins the spellings of one option
    word = "--color= -S|--sort"             options with a value; `=` says: only in the same word (`--color=auto`)
    git-discard = ["clean", "stash drop|clear", "branch -D -d --delete", "checkout @ -- ."]
                                            subcommand words, each with its alternatives; then options, and behind `@`
                                            operands, of which one is needed (`X=` is any value of X); `true` for the
                                            program however it is used
"""

from __future__ import annotations

import json
import sys
import tomllib
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fwdperm.errors import OperatorError
from fwdperm.programs.families import FAMILIES
from fwdperm.programs.program import Carries, Files, First, Takes

BOOK: Final = Path(__file__).parent / "book"
"""Where the pages are."""
COMPILED: Final = Path(__file__).parent / "compiled.py"
"""What they are made into."""
_REASONS: Final = "dangers"
"""The file that says for each danger's id why, once."""
_VARIABLES: Final = "variables"
"""The file about variables of the environment."""

_HEAD: Final = '''"""The book, made from `book/` by `python -m fwdperm.programs.pages`; a test holds both equal.

Lives here: nothing that is written by hand. One page a line.
"""
'''

_KINDS: Final = {kind.name.lower().replace("_", "-"): kind for kind in Takes}


class _Page(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class _WrappingPage(_Page):
    """How it carries a command, as it is written."""

    style: str
    operands: int = Field(default=0, ge=0, le=9)
    assigns: bool = False
    digits: bool = False
    idle: str = ""
    shells: str = ""
    remote: bool = False
    alone: str = ""
    transparent: str = ""
    is_plain: bool = False
    is_runner: bool = False
    appends: bool = False
    passes_input: bool = False
    keeps_name: bool = False


class _UsePage(_Page):
    """One use as it is written."""

    routine: str = ""
    why: str = ""
    operands: str = "nothing"
    options: dict[str, str] = Field(default_factory=dict)
    others: dict[str, str] = Field(default_factory=dict)
    sub: dict[str, _UsePage] = Field(default_factory=dict)
    needs: int = Field(default=0, ge=0, le=9)
    most: int = Field(default=0, ge=0, le=9)
    choices: str = ""
    requires: str = ""
    runs_project: bool = False
    numbers: bool = False
    dash_is_word: bool = False
    anywhere: bool = False
    wraps: _WrappingPage | None = None
    files: str = "unknown"
    first: str = "file"
    searches_below: bool = False
    unknown_is_text: bool = False


class _ProgramPage(_UsePage):
    """A program's page as it is written."""

    about: str = ""
    aliases: str = ""
    gnu: bool = False
    versions: bool = False
    families: list[str] = Field(default_factory=list)
    dangers: dict[str, list[str] | Literal[True]] = Field(default_factory=dict)
    deletions: dict[str, list[str]] = Field(default_factory=dict)
    secrets: list[str] = Field(default_factory=list)
    catastrophes: str = ""
    keeps: dict[str, list[str]] = Field(default_factory=dict)
    local: str = ""
    module: bool = False
    runs_tools: str = ""
    mild: list[str] | str = ""
    shows_version: bool = False
    bundles: bool = False
    running_settings: str = ""
    variables: str = ""


def _listed(value: object) -> object:
    return value.split() if isinstance(value, str) else value


_Words = Annotated[list[str], BeforeValidator(_listed)]


class _CodePage(_Page):
    names: _Words
    heads: _Words


class _AltersPage(_Page):
    names: _Words
    ends: _Words


class _NamesPage(_Page):
    names: _Words


class _VariablesPage(_Page):
    """Variables of the environment as they are written."""

    harmless: dict[str, str]
    code: _CodePage
    decides: _NamesPage
    alters: _AltersPage


_Kind = TypeVar("_Kind", bound=_Page)


def read_pages(folder: Path = BOOK) -> dict[str, _ProgramPage]:
    """Read and check every page.

    Args:
        folder: Where the TOML files are.

    Returns:
        Pages by canonical name.

    Raises:
        OperatorError: For the first page that cannot be read: which file, which entry, what is wrong. Nothing is
            compiled then.
    """
    pages: dict[str, _ProgramPage] = {}
    for path in sorted(folder.glob("*.toml")):
        if path.stem in (_REASONS, _VARIABLES):
            continue
        for name, table in _tables(path).items():
            if name in pages:
                raise OperatorError(f"`{name}` has a page already", file=path.name, remedy="write one page a program")
            pages[name] = _checked(_ProgramPage, table, where=name, file=path.name)
    return pages


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise OperatorError(f"cannot be read: {error}", file=path.name, remedy="mend the TOML") from error


def _checked(kind: type[_Kind], table: Any, *, where: str, file: str) -> _Kind:
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (where, *first["loc"]) if part)
        problem = f"`{place}`: {first['msg'].lower()}"
        raise OperatorError(problem, file=file, remedy="the schema is in `pages.py`") from error


def compile_book(folder: Path = BOOK) -> str:
    """Make the pages into the module that `folding.py` reads.

    Args:
        folder: Where the TOML files are.

    Returns:
        Python text with two literals: every name with the line of its page, and the pages, one JSON text a line. Two
        literals are read much faster than a thousand, with or without bytecode.

    Raises:
        OperatorError: As `read_pages`, and for a name that two pages claim, or a word that no notation knows.
    """
    pages = read_pages(folder)
    reasons = {name: str(why) for name, why in _tables(folder / f"{_REASONS}.toml").items()}
    variables = _checked(_VariablesPage, _tables(folder / f"{_VARIABLES}.toml"), where="", file=f"{_VARIABLES}.toml")
    places: dict[str, int] = {}
    versioned: list[int] = []
    local: dict[str, int] = {}
    lines: list[str] = []
    for name, page in sorted(pages.items()):
        for one in _names(name, page):
            if one in places or (one != name and one in pages):
                raise OperatorError(f"`{one}` is claimed by two pages, `{name}` among them", remedy="take it from one")
            places[one] = len(lines)
        local |= dict.fromkeys(page.local.split(), len(lines))
        if page.versions:
            versioned.append(len(lines))
        lines.append(_json(_program(name, page, reasons)))
    ends = list(accumulate(len(line) + 1 for line in lines))
    index = _json({"places": places, "ends": ends, "local": local, "versioned": versioned})
    named = _json(variables.model_dump())
    body = "\n".join(lines)
    return f"{_HEAD}INDEX = r'''{index}'''\nVARIABLES = r'''{named}'''\nPAGES = r'''\n{body}\n'''\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _names(name: str, page: _ProgramPage) -> list[str]:
    """Give every name of a program: its own, its aliases, and both with GNU's `g` in front where it is one of GNU's."""
    given = [name, *page.aliases.split()]
    return [*given, *(f"g{one}" for one in given)] if page.gnu else given


def _program(name: str, page: _ProgramPage, reasons: dict[str, str]) -> dict[str, Any]:
    def why(danger: str) -> str:
        if danger not in reasons:
            raise OperatorError(
                f"danger `{danger}` of `{name}` has no reason", remedy=f"write one into `{_REASONS}.toml`"
            )
        return reasons[danger]

    unknown = [family for family in page.families if family not in FAMILIES]
    if unknown:
        raise OperatorError(f"`{name}` is of family `{unknown[0]}`, which `families.py` does not have")
    return _sparse(
        name=name,
        about=page.about,
        aliases=_names(name, page)[1:],
        families=sorted(page.families),
        use=_use(name, page, ()),
        dangers=[
            [danger, why(danger), *_condition(text)]
            for danger, texts in page.dangers.items()
            for text in ([""] if texts is True else texts)
        ],
        deletions=[[kind, "", *_condition(text)] for kind, texts in page.deletions.items() for text in texts],
        secrets=[["secrets", "", *_condition(text)] for text in page.secrets],
        catastrophes=page.catastrophes.split(),
        keeps=[[text.split(), int(size)] for size, texts in page.keeps.items() for text in texts],
        local=page.local.split(),
        module=page.module,
        runs_tools=page.runs_tools.split(),
        mild=page.mild.split() if isinstance(page.mild, str) else page.mild,
        shows_version=page.shows_version,
        bundles=page.bundles,
        running_settings=page.running_settings.split(),
        variables=page.variables.split(),
    )


def _wrapping(page: _WrappingPage) -> dict[str, Any]:
    made = page.model_dump(exclude_defaults=True)
    made["style"] = Carries(page.style).value
    for field in ("idle", "shells"):
        if field in made:
            made[field] = made[field].split()
    return made


def _use(name: str, page: _UsePage, words: tuple[str, ...]) -> dict[str, Any]:
    where = " ".join((name, *words))
    options = [*_options(where, page.options, accepted=True), *_options(where, page.others, accepted=False)]
    spelled = [spelling for group in options for word in group[3].split() for spelling in word.split("|")]
    twice = next((one for one in spelled if spelled.count(one) > 1), "")
    if twice:
        raise OperatorError(f"`{where}` has option `{twice}` twice", remedy="write it once, with all its spellings")
    return _sparse(
        words=list(words),
        routine=page.routine,
        why=page.why,
        operands=_kind(where, page.operands).name if page.operands != "nothing" else None,
        options=options,
        subs=[[key.split("|"), _use(name, sub, (*words, key.partition("|")[0]))] for key, sub in page.sub.items()],
        needs=page.needs,
        most=page.most,
        choices=page.choices.split(),
        requires=page.requires.split(),
        runs_project=page.runs_project,
        numbers=page.numbers,
        dash_is_word=page.dash_is_word,
        anywhere=page.anywhere,
        wraps=_wrapping(page.wraps) if page.wraps is not None else None,
        files=Files(page.files).value if page.files != Files.UNKNOWN else None,
        first=First(page.first).value if page.first != First.FILE else None,
        searches_below=page.searches_below,
        unknown_is_text=page.unknown_is_text,
    )


def _options(where: str, kinds: dict[str, str], *, accepted: bool) -> list[list[Any]]:
    """Give options in groups that take the same: (what, whether only in the same word, whether accepted, spellings)."""
    made: list[list[Any]] = []
    for kind, text in kinds.items():
        takes = _kind(where, kind)
        words = text.split()
        attached = [word.removesuffix("=") for word in words if word.startswith("-") and word.endswith("=")]
        apart = [word for word in words if not (word.startswith("-") and word.endswith("="))]
        made += [[takes.name, 0, int(accepted), " ".join(apart)]] if apart else []
        made += [[takes.name, 1, int(accepted), " ".join(attached)]] if attached else []
    return made


def _kind(where: str, word: str) -> Takes:
    if word not in _KINDS:
        raise OperatorError(
            f"`{where}` takes `{word}`, which is no kind of value", remedy=f"one of {', '.join(_KINDS)}"
        )
    return _KINDS[word]


def _condition(text: str) -> tuple[list[list[str]], list[str], list[str]]:
    """Read `SUB|SUB SUB -o --option @ word word`."""
    before, _, operands = text.partition("@")
    words = [word.split("|") for word in before.split() if not word.startswith("-")]
    options = [word for word in before.split() if word.startswith("-")]
    return words, options, operands.split()


def _sparse(**fields: Any) -> dict[str, Any]:
    """Leave out what says nothing."""
    return {name: value for name, value in fields.items() if value}


if __name__ == "__main__":
    COMPILED.write_text(compile_book(), encoding="utf-8")
    sys.stdout.write(f"wrote `{COMPILED.name}`\n")

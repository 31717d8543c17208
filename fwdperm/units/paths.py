"""Names of one path: as a rule may spell it.

Lives here: `PathNames`, `name_path`. Lexical only: no look at a disk. Never here: which words are paths
(`operands.py`).
"""

from __future__ import annotations

import re
from posixpath import normpath
from typing import Final, NamedTuple
from urllib.parse import unquote

_HOME_WORD: Final = re.compile(r"\$(?:HOME|\{HOME\})(?=/|$)")
"""The requester's home at the beginning of a path, as a variable: `$HOME/x`, `${HOME}/x`."""
_PWD_WORD: Final = re.compile(r"\$(?:PWD|\{PWD\})(?=/|$)")
"""The requester's directory, as a variable: `$PWD/x`."""
_GLOB: Final = re.compile(r"[*?\[]")
"""A sign that makes a path a pattern: `src/*.py`."""
_BRACE: Final = re.compile(r"(?<!\$)\{([^{}\s]*(?:,|\.\.)[^{}\s]*)\}")
"""A brace expansion without another one in it: `{a,b}`, `{1..9}`; `${a,b}` is none."""
_BRACES_AT_MOST: Final = 64
_FILE_URL: Final = re.compile(r"file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
"""The head of an address of a file on this machine: `file:///x`."""


class PathNames(NamedTuple):
    """Every name of one path.

    Attributes:
        names: Normal forms, which any rule may match; the first is the one shown.
        strict: Forms only `ask` and `deny` may match: as typed, with a trailing slash.
        absolute: The absolute normal form; empty when it cannot be known.
        climbs: True when it is relative to an unknown place and begins with `..`.
        outside: True when it is known to lie outside of the working directory.
    """

    names: tuple[str, ...]
    strict: tuple[str, ...]
    absolute: str
    climbs: bool
    outside: bool


def name_path(text: str, *, cwd: str, home: str, base: str | None = None) -> PathNames:
    """Give every name of a path.

    Args:
        text: As typed.
        cwd: The requester's working directory, absolute; empty when unknown.
        home: The requester's home directory; empty when unknown.
        base: Directory that relative paths start from where a `cd` changed it; None for the requester's, `?` for an
            unknown one.

    Returns:
        The names. Purely lexical: `a/../b` is taken for `b`, so a canonical path is a unit of its own.
    """
    plain = plain_path(text, home=home)
    start = cwd if base is None else _start(base, cwd=cwd, home=home)
    if plain.startswith("/"):
        absolute = _normal(plain)
    elif plain.startswith("~") or not start.startswith("/"):
        absolute = ""
    else:
        absolute = _normal(f"{start}/{plain}")
    names: list[str] = []
    within = inside(absolute, cwd) if absolute and cwd else None
    if within is not None:
        names.append(within)
    if absolute:
        names.append(absolute)
        at_home = inside(absolute, home) if home not in ("", "/") else None
        if at_home is not None:
            names.append("~" if at_home == "." else f"~/{at_home}")
    else:
        names.append(_normal(plain) if plain else ".")
    strict = [text] if text != plain or text not in names else []
    strict.append(plain)
    if absolute and absolute != "/":
        strict.extend(f"{name}/" for name in tuple(names))
    known = set(names)
    return PathNames(
        tuple(dict.fromkeys(names)),
        tuple(dict.fromkeys(name for name in strict if name not in known)),
        absolute,
        climbs=not absolute and names[0].startswith(".."),
        outside=bool(absolute and cwd) and within is None,
    )


def plain_path(text: str, *, home: str) -> str:
    """Take a file URL, `$HOME`, `$PWD` and `~` for what they stand for."""
    found = _FILE_URL.match(text)
    if found:
        text = unquote(text[found.end() :])
    if text.startswith("$"):
        text = _PWD_WORD.sub(".", _HOME_WORD.sub("~", text, count=1), count=1)
    if text == "~+" or text.startswith("~+/"):
        return f".{text[2:]}"
    if home and text.startswith("~"):
        whose, slash, rest = text[1:].partition("/")
        if whose in ("", home.rstrip("/").rpartition("/")[2]):
            return f"{home.rstrip('/')}{slash}{rest}" or "/"
    return text


def brace_names(text: str) -> tuple[str, ...]:
    """Give the names that brace expansion makes of a path; a range is a glob. Empty when there are too many.

    Args:
        text: A path with `{a,b}` or `{1..3}` in it.
    """
    names = [text]
    done: list[str] = []
    while names:
        name = names.pop()
        found = _BRACE.search(name)
        if found is None:
            done.append(name)
            continue
        parts = found[1].split(",") if "," in found[1] else ["*"]
        names += [name[: found.start()] + part + name[found.end() :] for part in reversed(parts)]
        if len(names) + len(done) > _BRACES_AT_MOST:
            return ()
    return tuple(done)


def inside(path: str, directory: str) -> str | None:
    """Return `path` relative to `directory` (`.` for itself); None when it lies outside. Both normal and absolute."""
    directory = _normal(directory)
    if path == directory:
        return "."
    start = directory if directory.endswith("/") else f"{directory}/"
    return path[len(start) :] if path.startswith(start) else None


def is_unknown(text: str) -> bool:
    """Say whether a path word whose value is not known stays unknown: only a leading `$HOME` or `$PWD` is known."""
    rest = _PWD_WORD.sub("", _HOME_WORD.sub("", text, count=1), count=1)
    return "$" in rest or "`" in rest or "{" in rest or rest.startswith(("<(", ">("))


def climbs_past_glob(text: str) -> bool:
    """Say whether `..` stands behind a glob: where that leads cannot be told from the text."""
    found = _GLOB.search(text)
    return found is not None and ".." in text[found.end() :].split("/")


def has_glob(text: str) -> bool:
    """Say whether it holds a glob character."""
    return bool(_GLOB.search(text))


def _start(base: str, *, cwd: str, home: str) -> str:
    base = plain_path(base, home=home)
    if base.startswith("/"):
        return base
    return "" if base.startswith(("?", "~")) or not cwd else f"{cwd}/{base}"


def _normal(path: str) -> str:
    """Normalise lexically; two leading slashes are one."""
    out = normpath(path)
    return out[1:] if out.startswith("//") else out

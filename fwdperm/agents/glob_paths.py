"""A search tool's glob as the paths it may read.

Lives here: `paths_below`. Pure. Never here: which field holds a glob (`fields.py`). Standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

_NAMES: Final = 48
"""The most paths that the globs of one call may stand for."""
_UNREAD: Final = "\\()|"
"""Characters of glob syntax that is not understood here (escapes, groups)."""


class TooManyError(Exception):
    """The braces of a glob stand for more names than are asked about."""


def paths_below(where: str, globs: Sequence[str], *, any_depth: bool) -> tuple[tuple[str, ...], bool]:
    """Give the paths that globs below a directory may mean; `*`, `?`, `[...]` and `**` stay in them.

    Args:
        where: The directory as typed.
        globs: As the tool was given them; one text may hold several, separated by blanks or commas.
        any_depth: Whether a glob without a slash stands for names at any depth, as in a search for texts.

    Returns:
        The paths; and whether these are all that the globs can stand for.

    Raises:
        TooManyError: They stand for more than are asked about.
    """
    found: dict[str, None] = {}
    is_clear = True
    for text in globs:
        for part in dict.fromkeys((text.strip(), *_parts(text))):
            if not part or (any_depth and part.startswith("!") and not part.startswith("!(")):
                continue  # it leaves files out: without it no fewer are read
            is_clear = is_clear and not any(char in part for char in _UNREAD)
            for name in _without_braces(part):
                for plain in dict.fromkeys((name, name.replace("\\", ""))):
                    found.update(dict.fromkeys(_places(where, plain, any_depth=any_depth)))
                    if len(found) > _NAMES:
                        raise TooManyError
    return tuple(found), is_clear


def _places(where: str, glob: str, *, any_depth: bool) -> tuple[str, ...]:
    """Give where a glob may be looked for: below the directory, at any depth of it, or by itself when absolute."""
    start = "" if where in {"", ".", "./"} else where.rstrip("/") + "/"
    below = glob.lstrip("/")
    made = [glob] if glob.startswith(("/", "~", "$")) else []
    made.append(f"{start}{below or '.'}")
    if any_depth and "/" not in glob.rstrip("/") and glob.strip("*"):
        made.append(f"{start}**/{below}")
    if any_depth and glob.endswith("/"):
        made.append(f"{start}**/{below}**")
    return tuple(made)


def _parts(text: str) -> list[str]:
    """Split at blanks and commas outside of braces."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if depth <= 0 and char in " ,\t\n":
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _without_braces(text: str) -> list[str]:
    """Replace `{a,b}` by each of its choices; a range, and braces that do not close, become `*`."""
    names, done = [text], list[str]()
    while names:
        name = names.pop()
        close = name.find("}")
        start = name.rfind("{", 0, close) if close >= 0 else -1
        if start < 0:
            done.append(name.replace("{", "*").replace("}", "*"))
            continue
        inside = name[start + 1 : close]
        choices = inside.split(",") if "," in inside else ["*" if ".." in inside else inside]
        names += [name[:start] + choice + name[close + 1 :] for choice in reversed(choices)]
        if len(names) + len(done) > _NAMES:
            raise TooManyError
    return done

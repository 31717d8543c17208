"""This program's own files and command: who rewrites the ruleset or answers its own request needs no permission.

Lives here: which paths are ours, which of our verbs an agent may type. Never here: what a program does to a path.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from fwdperm.guard.places import normalised
from fwdperm.guard.surroundings import is_under
from fwdperm.programs import lookup

_SHAPES: Final = re.compile(
    r"/\.fwd(?:perm)?(?:/|$)"
    r"|/\.?fwdperm(?:\.local)?\.toml$"
    r"|/(?:inbox|inboxes|sessions|prompts|serving)/(?:.*/)?(?:responses|replies)/[^/]*$"
    r"|/(?:\.config|\.local/state|\.local/share|\.cache|state|run/user/\d+)/fwdperm(?:/|$)"
)
"""Our own files by their shape, wherever the tree is: `/w/.fwdperm.toml`, `/x/sessions/a/responses/b.json`,
`/h/.config/fwdperm/config.toml`. A directory of responses is one too: who writes there answers."""
_NAMED: Final = re.compile(r"/fwdperm(?:[-_.][^/]*)?(?:/|$)")
"""A path with a part that carries our name: `/opt/fwdperm/x`, `/tmp/fwdperm-1/x`."""
_NAME: Final = "fwdperm"
_PLACES: Final = (".config/fwdperm/config.toml", ".local/state/fwdperm/journal")
"""Where our files are in a home directory."""
HARMLESS_VERBS: Final = frozenset(
    {
        "ask",
        "explain",
        "help",
        "--help",
        "-h",
        "--version",
        "-V",
        "status",
        "tree",
        "schema",
        "list",
        "show",
        "doctor",
        "audit",
        "check",
        "why",
        "rules list",
        "rules show",
    }
)
"""What an agent may type: asking and looking. Every other verb answers, configures or stops the daemon."""


@lru_cache(maxsize=2048)
def is_own(path: str, own: tuple[str, ...], workspaces: tuple[str, ...]) -> bool:
    """Say whether a path is one of our files.

    Args:
        path: Absolute and normal; where it could not be resolved, as typed.
        own: The operator's list.
        workspaces: Below these a mere directory name is not enough: somebody may be working on this very program.

    Returns:
        True for the operator's list, for our well-known places, and for anything shaped like an answer to a request.
    """
    folded = path.replace("\\", "/").lower()
    if "fwd" not in folded and "responses/" not in folded and "replies/" not in folded and not own:
        return False
    if is_under(path, own):
        return True
    folded = folded if folded.startswith("/") else "/" + folded
    if _SHAPES.search(folded):
        return True
    return path[:1] in {"/", "~", "$"} and _NAMED.search(folded) is not None and not is_under(path, workspaces)


@lru_cache(maxsize=2048)
def holds_own(path: str, own: tuple[str, ...], home: str = "") -> bool:
    """Say whether moving or removing what a word names takes one of our files with it.

    Args:
        path: Absolute and normal; `*`, `?` and `[...]` stand for what a shell would put there.
        own: The operator's list.
        home: The requester's home directory, where our files are while the operator's list is empty.
    """
    if not path.startswith("/"):
        return False
    if home and not own:
        own = tuple(f"{home}/{place}" for place in _PLACES)
    wanted = path.lower().rstrip("/").split("/")
    return any(
        len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))
        for parts in (normalised(file).lower().split("/") for file in own)
    )


def is_named_like_us(path: str) -> bool:
    """Say whether a component of the path carries our name."""
    return _NAMED.search(path.replace("\\", "/").lower()) is not None


def _behind_a_runner(words: tuple[str, ...]) -> tuple[str, ...]:
    """Give the words of what a runner of tools would run; the same words where there is none."""
    runner = lookup(words[0]) if words else None
    if runner is None:
        return words
    if len(words) > 1 and (words[1] in runner.runs_tools or ("tool runner" in runner.families and words[1] == "run")):
        return words[2:]
    return words[1:] if not runner.families.isdisjoint(("tool runner", "text runner")) else words


def _behind_an_interpreter(words: tuple[str, ...]) -> tuple[str, ...]:
    """Give the words of the module or script that an interpreter runs; the same words where it runs neither."""
    interpreter = lookup(words[0]) if len(words) > 1 else None
    if interpreter is None or "interpreter" not in interpreter.families:
        return words
    for at, word in enumerate(words[1:], start=1):
        if word == "-m" and at + 1 < len(words):
            return (words[at + 1].partition(".")[0], *words[at + 2 :])
        if word.startswith("-m") and word[2:].partition(".")[0] == _NAME:
            return (_NAME, *words[at + 1 :])
        if word.rpartition("/")[2] == _NAME:
            return (_NAME, *words[at + 1 :])
    return words


def own_verb(argv: tuple[str, ...]) -> str | None:
    """Find the verb when `argv` runs our command, directly or through a runner; None when it does not.

    Returns:
        The first word that is not an option; `""` when there is none. `audit prune` is a verb of its own: it is the one
        of that family that removes anything.
    """
    words = _behind_an_interpreter(_behind_a_runner(argv))
    if not words or words[0].rpartition("/")[2] != _NAME:
        return None
    rest = words[1:]
    if any(word in {"--help", "-h"} for word in rest):
        return "--help"
    verb = next((word for word in rest if not word.startswith("-")), rest[0] if rest else "")
    if verb == "rules":
        named = [word for word in rest[rest.index(verb) + 1 :] if not word.startswith("-")]
        return f"rules {named[0]}" if named else "rules list"
    return "audit prune" if verb == "audit" and "prune" in rest else verb

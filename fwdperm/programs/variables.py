"""Variables of the environment: which are harmless before a command, and which make it run other code.

Lives here: the look-ups. Pure. Never here: the names; they stand in `book/variables.toml`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from fwdperm.programs.compiled import VARIABLES

_READ: Final[dict[str, Any]] = json.loads(VARIABLES)
HARMLESS: Final[dict[str, str]] = _READ["harmless"]
"""Every harmless variable with its reason; `*` at the end of a name: by prefix."""
_HARMLESS_HEADS: Final = tuple(name[:-1] for name in HARMLESS if name.endswith("*"))
CODE: Final = frozenset(_READ["code"]["names"])
"""Variables by which other code is run, or another program found."""
CODE_HEADS: Final = tuple(_READ["code"]["heads"])
"""As above, by how a name begins."""
_DECIDES: Final = frozenset(_READ["decides"]["names"])
_ALTERS: Final = frozenset(_READ["alters"]["names"])
_ALTERS_ENDS: Final = tuple(_READ["alters"]["ends"])


def is_harmless_variable(name: str) -> bool:
    """Say whether an allow may look past this variable when its value is plain text."""
    return name in HARMLESS or name.startswith(_HARMLESS_HEADS)


def runs_code(name: str) -> bool:
    """Say whether a program may run other code, or another program be found, when this variable is set."""
    return not is_harmless_variable(name) and (name in CODE or name.startswith(CODE_HEADS))


def changes_what_runs(name: str) -> bool:
    """Say whether setting this variable alone may change what a later command of the line runs, finds or is told."""
    return runs_code(name) or (not is_harmless_variable(name) and (name in _ALTERS or name.endswith(_ALTERS_ENDS)))


def decides_programs(name: str) -> bool:
    """Say whether a shell finds programs, or reads what it runs first, by this variable."""
    return name in _DECIDES

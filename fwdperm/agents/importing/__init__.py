"""Turning other programs' permission settings into rulesets of ours that allow no more.

Lives here: `import_settings`, one reader per program, and the draft they write into. Pure.
Never here: files, deciding.

Where a pattern there and one here differ in meaning, an allow is carried over only if ours matches no more, and a deny
or ask only if ours matches no less. What is left out is written as a comment, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fwdperm.agents.importing import claude, opencode, pi
from fwdperm.agents.importing.draft import Draft, read_json_with_comments
from fwdperm.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fwdperm.agents.importing.draft import Imported

_READERS: Mapping[str, Callable[[Mapping[str, Any], Draft], None]] = {
    "claude": claude.read,
    "opencode": opencode.read,
    "pi": pi.read,
}


def import_settings(kind: str, text: str, *, file: str) -> Imported:
    """Write a program's permission settings as a ruleset of ours.

    Args:
        kind: `claude`, `opencode` or `pi`.
        text: The settings file's content.
        file: What to call it.

    Raises:
        OperatorError: The program is not known, or the text is no settings file.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise OperatorError(f"no import from `{kind}`", remedy=f"there are {', '.join(_READERS)}")
    draft = Draft(kind=kind, file=file)
    reader(read_json_with_comments(text, file=file), draft)
    return draft.finish()

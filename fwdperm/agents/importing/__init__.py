"""Other programs' permission settings as rulesets of ours; nothing becomes wider.

Lives here: `import_settings`, one reader per program, and the draft they write into. Pure.
Never here: files, deciding.

Where two meanings differ, an allow is carried over only when ours cannot match more, and a deny or ask only when ours
cannot match less. What is left out stands as a comment with its reason.
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

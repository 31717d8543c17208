"""A session's own ruleset, recorded for as long as the session lives: reading it.

Lives here: `read_session_ruleset`. An edge. Never here: whose session it is, where its file lies, writing it
(`registry.py`).

What is recorded is a copy of the operator's file, byte for byte. So a denial can name the line in the operator's own
file, and a person can compare the two with `diff`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwdperm.errors import EnvironmentFailure
from fwdperm.rules import RULESET_BYTES, Layer, LayerKind, Problem, broken_layer, read_file, read_layer

if TYPE_CHECKING:
    from pathlib import Path


def read_session_ruleset(path: Path, *, source: str = "") -> Layer:
    """Read a session's recorded ruleset.

    Args:
        path: The recorded copy.
        source: The file it was copied from, whose name its rules carry; empty for the copy's own.

    Returns:
        Its rules. For a copy that is missing or cannot be read, a broken layer: then no allow counts.
    """
    try:
        data = read_file(path, limit=RULESET_BYTES, follow=False).data
    except FileNotFoundError:
        return _lost(path, "the recorded ruleset is gone")
    except EnvironmentFailure as cause:
        return _lost(path, str(cause))
    return read_layer(data, file=source or str(path), kind=LayerKind.SESSION)


def _lost(path: Path, message: str) -> Layer:
    problem = Problem(str(path), 0, message, "start the session again with its ruleset")
    return broken_layer(LayerKind.SESSION, str(path), problems=[problem])

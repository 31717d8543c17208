"""Where other rooms come in: a command line's text in, the commands it would run out.

Lives here: `parse_line`, which loads the grammar on its first call. Never here: the walk itself (`walk.py`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fwdperm.shell.command import CommandLine


def parse_line(text: str) -> CommandLine:
    """Find every simple command that a command line would run; see `fwdperm.shell.walk.parse_line`."""
    from fwdperm.shell.walk import parse_line as parse  # noqa: PLC0415 - only who parses loads the grammar

    return parse(text)

"""What every command shares: options, locations, output, exit codes.

Lives here: `Locations` (root, state, config as the options say), output helpers, the exit codes. JSON goes to standard
output, words for people that are not the result go to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from fwdperm.errors import EnvironmentFailure
from fwdperm.sessions import find_config, find_root, find_state


class Exit(IntEnum):
    """Exit codes; see the package's docstring."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    CONFIG = 3
    NOBODY = 4
    UNKNOWN = 5
    DECIDED = 6
    DIFFERS = 7
    BROKEN = 8
    REJECTED = 10
    EXPIRED = 11
    WOULD_ASK = 12
    INTERRUPTED = 130


Root = Annotated[
    Path | None,
    typer.Option("--root", metavar="DIR", help="The inbox tree; else $FWDPERM_ROOT, else a private directory."),
]
ConfigOption = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="The user's rules and settings.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing that is not the result.")]
Verbose = Annotated[
    int, typer.Option("-v", "--verbose", count=True, show_default=False, help="Log what happens; twice for more.")
]


@dataclass(frozen=True, slots=True)
class Locations:
    """Where things are, as the options and the environment say.

    Attributes:
        root: The inbox tree.
        state: What children must not reach.
        config: The user's rules and settings.
        config_is_named: True when a person named the config: then it must exist.
    """

    root: Path
    state: Path
    config: Path
    config_is_named: bool

    @classmethod
    def of(cls, root: Path | None, config: Path | None = None) -> Locations:
        """Find the locations; end the command with exit 2 when the user has no directory to put them in."""
        env = os.environ
        try:
            found = find_root(env, explicit=str(root) if root else None)
            state = find_state(env, found)
            named = config or (Path(env["FWDPERM_CONFIG"]) if env.get("FWDPERM_CONFIG") else None)
            return cls(Path(found), Path(state), named or Path(find_config(env)), named is not None)
        except EnvironmentFailure as error:
            fail(str(error), Exit.USAGE)


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: `1 rule`, `2 rules`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def say(*lines: str) -> None:
    """Write the result for people on standard output."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def tell(*lines: str, quiet: bool = False) -> None:
    """Write words for people beside the result on standard error."""
    if not quiet:
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def emit(schema: str, body: dict[str, Any]) -> None:
    """Write one JSON object that names its schema."""
    sys.stdout.write(json.dumps({"schema": f"fwdperm.{schema}/1", **body}, sort_keys=True) + "\n")


def fail(message: str, code: Exit) -> NoReturn:
    """Say what is wrong and end the command."""
    tell(f"fwdperm: {message}")
    raise typer.Exit(code)


def wants_colour(*, no_color: bool) -> bool:
    """Say whether colour may be used: standard output is a terminal, and neither option nor environment forbids it."""
    return not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()

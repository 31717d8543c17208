"""Where the program starts: hands a command line on to what handles it.

Lives here: the choice between what runs once per question (`ask`, `hook`: standard library only) and everything else
(`cli/`, which loads much more). Never here: an option.

Also runs by path, without the `site` module (`python -I -S .../fwdperm/__main__.py ask ...`): the fastest start.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line in `sys.argv` and return its exit code."""
    arguments = sys.argv[1:]
    match arguments[:1]:
        case ["ask"]:
            from fwdperm.client import run_ask as ask  # noqa: PLC0415 - each command loads only what it needs

            return ask(arguments[1:])
        case ["hook"] if arguments[1:2] not in (["--help"], ["-h"]):
            from fwdperm.agents import run_hook as hook  # noqa: PLC0415 - as above

            return hook(arguments[1:])
        case _:
            from fwdperm.cli import main as everything_else  # noqa: PLC0415 - as above

            everything_else()
            return 0


if __name__ == "__main__":
    if not __package__:  # started by path: make the package importable from where it lies
        sys.path.insert(0, __file__.rpartition("/")[0].rpartition("/")[0])
    sys.exit(main())

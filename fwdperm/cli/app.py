"""Putting the families of commands together.

Lives here: the application object, and which family has which command: a family is imported when one of its commands
is run; all are when they are listed, or when the command is not known.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Final

import typer

import fwdperm
from fwdperm.cli.common import say

FAMILIES: Final = {
    "serving": ("serve", "run", "simulate"),
    "answering": ("list", "show", "allow", "reject"),
    "explaining": ("explain",),
    "ruling": ("init", "trust", "check"),
    "remembering": ("rules",),
    "telling": ("status", "tree", "why", "schema"),
    "auditing": ("audit",),
    "judging": ("judge",),
    "agents": ("install", "uninstall", "import", "bridge", "hook"),
    "doctor": ("doctor",),
}
"""The commands of each family, in the order in which they are listed; a family is a module of this room."""

app = typer.Typer(
    name="fwdperm",
    help="The daemon that headless subagents ask when they need a permission.",
    epilog="See it work: fwdperm simulate. Start: fwdperm init, fwdperm serve, then fwdperm ask in another shell.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        say(f"fwdperm {fwdperm.__version__}")
        raise typer.Exit


@app.callback()
def every_command(
    _version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Take the options before a command."""


@app.command("ask", short_help="Ask for one permission and wait for the answer.")
def ask() -> None:
    """Ask for one permission and wait for the answer."""
    raise typer.Exit(2)  # never reached: the fast path takes `ask` before typer is imported


def load(arguments: list[str]) -> typer.Typer:
    """Add the family that a command line names, or every one.

    Args:
        arguments: The words behind the program.

    Returns:
        The application. Importing one family takes a third of the time of all.
    """
    named = [family for family, commands in FAMILIES.items() if arguments[:1] and arguments[0] in commands]
    for family in named or FAMILIES:
        import_module(f"fwdperm.cli.{family}").register(app)
    return app

"""Putting the families of commands together.

Lives here: the application object and its entry. Each family is imported when one of its commands is run or listed.
"""

from __future__ import annotations

from typing import Annotated

import typer

import fwdperm
from fwdperm.cli import agents, answering, auditing, doctor, explaining, judging, remembering, ruling, serving, telling
from fwdperm.cli.common import say

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


for family in (serving, answering, explaining, ruling, remembering, telling, auditing, judging, agents, doctor):
    family.register(app)

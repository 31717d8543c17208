"""Putting the families of commands together.

Lives here: the application object and its entry. Each family is imported when one of its commands is run or listed.
"""

from __future__ import annotations

import typer

from fwdperm.cli import agents, answering, auditing, doctor, explaining, judging, remembering, ruling, serving, telling

app = typer.Typer(
    name="fwdperm",
    help="The daemon that headless subagents ask when they need a permission.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for family in (serving, answering, explaining, ruling, remembering, telling, auditing, judging, agents, doctor):
    family.register(app)


@app.command("ask")
def ask() -> None:
    """Ask for a permission, and wait for the answer (see `fwdperm ask --help`)."""
    raise typer.Exit(2)  # never reached: the fast path takes `ask` before typer is imported

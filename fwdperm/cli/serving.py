"""`fwdperm serve`, `run`, `simulate`: the daemon, a child that can ask it, and a demonstration of both.

Lives here: three commands. Never here: the daemon itself (`serve/`).
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from fwdperm.cli.common import ConfigOption, Exit, Locations, NoColor, Quiet, Root, Verbose, counted, fail, tell
from fwdperm.errors import AlreadyServed, ChildError, EnvironmentFailure, OperatorError
from fwdperm.sessions import ROOT_SESSION


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("serve", short_help="Serve every inbox of the tree; ask you on this terminal.")(serve_command)
    app.command(
        "run",
        short_help="Start a child that can ask.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(run_command)
    app.command("simulate", short_help="See it work: a tree of children, and you who answers.")(simulate_command)


def serve_command(
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="An inbox to make at once; repeat.")
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", metavar="DIR", help="The directory you vouch for (default: here).")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End as soon as nothing waits.")] = False,
    no_prompt: Annotated[bool, typer.Option("--no-prompt", help="Do not ask on this terminal.")] = False,
    standby: Annotated[bool, typer.Option("--standby", help="Wait until the present daemon ends, then serve.")] = False,
    several_uids: Annotated[bool, typer.Option("--several-uids", help="Children run as other users.")] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="Other hosts use the root and the state directory too.")
    ] = False,
    poll: Annotated[
        bool, typer.Option("--poll", help="List the inboxes on time; for file systems without news of changes.")
    ] = False,
    root: Root = None,
    config: ConfigOption = None,
    no_color: NoColor = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Serve every inbox of the tree; ask you on this terminal, if it is one.

    Exit 3 when a ruleset or setting has an error: nothing is served wider than before.
    """
    gc.disable()  # as in `cli/__init__.py`; the daemon enables it again
    from fwdperm.serve import (  # noqa: PLC0415 - the daemon is loaded by its own command only
        DaemonOptions,
        build_parts,
        configure_logs,
        serve,
        sharing_remark,
    )

    configure_logs(-1 if quiet else verbose)
    setting = Locations.of(root, config)
    if setting.config_is_named and not setting.config.exists():
        fail(f"config `{setting.config}` does not exist; `fwdperm init --config FILE` writes one", Exit.CONFIG)
    options = DaemonOptions(
        root=setting.root,
        state=setting.state,
        config=setting.config,
        workspace=os.path.abspath(workspace or Path.cwd()),  # noqa: PTH100 - links stay as the operator wrote them
        sessions=tuple(session or (ROOT_SESSION,)),
        asks_here=not no_prompt,
        has_colour=not no_color,
        standby=standby,
        several_uids=several_uids,
        shared=shared,
        polls=poll,
    )
    try:
        parts = build_parts(options)
    except AlreadyServed as error:
        fail(str(error), Exit.USAGE)
    except OperatorError as error:
        fail(str(error), Exit.CONFIG)
    except ChildError as error:
        fail(str(error), Exit.USAGE)
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    remark = sharing_remark(setting.root, setting.state, is_said=shared)
    taught = len(parts.teaching.taught_rules.rules.rules)
    are = "is" if taught == 1 else "are"
    tell(
        *([remark] if remark else []),
        f"fwdperm serves `{setting.root}`; stop it with Ctrl-C",
        *([f"{counted(taught, 'session rule')} {are} in force; `fwdperm rules list` shows them"] if taught else []),
        quiet=quiet,
    )
    if not asyncio.run(serve(parts, once=once)):
        fail("another daemon took this root over and serves it now", Exit.INTERNAL)
    if sys.stderr.isatty():
        tell("", "fwdperm stopped; what waits, waits for the next `fwdperm serve`", quiet=quiet)


def run_command(
    context: typer.Context,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The child's session id.")],
    parent: Annotated[
        str, typer.Option("--parent", metavar="ID", help="Whose inbox it asks (default: $FWDPERM_SESSION, else root).")
    ] = "",
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Its agent name.")] = "",
    ruleset: Annotated[Path | None, typer.Option("--ruleset", metavar="FILE", help="Its recorded ruleset.")] = None,
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Its working directory (default: here).")
    ] = None,
    root: Root = None,
) -> None:
    """Start a child that can ask: fwdperm run --session build --agent worker -- claude -p '...'

    The session, its parent, agent, directory and ruleset go on record; the child gets the variables it needs.
    """
    from fwdperm.sessions import run_child  # noqa: PLC0415 - only here

    if not context.args:
        fail("name the command to run after `--`", Exit.USAGE)
    setting = Locations.of(root)
    try:
        code = run_child(
            context.args,
            session=session,
            parent=parent or None,
            agent=agent,
            ruleset=ruleset,
            cwd=cwd,
            root=setting.root,
            state=setting.state,
            env=os.environ,
        )
    except OperatorError as error:
        fail(str(error), Exit.CONFIG if error.file else Exit.USAGE)
    except ChildError as error:
        fail(str(error), Exit.USAGE)
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    raise typer.Exit(code)


def simulate_command(
    no_prompt: Annotated[bool, typer.Option("--no-prompt", help="Answer by script even on a terminal.")] = False,
    quiet: Quiet = False,
) -> None:
    """Show the main job: a daemon, a real tree of child processes, questions that reach you, answers that reach them.

    Without a terminal a script answers. Nothing is left behind.
    """
    from fwdperm.testing import demonstrate  # noqa: PLC0415 - only here

    try:
        code = demonstrate(by_script=no_prompt, quiet=quiet)
    except KeyboardInterrupt:
        tell("", "interrupted; nothing is left behind", quiet=quiet)
        raise typer.Exit(Exit.INTERRUPTED) from None
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    raise typer.Exit(code)

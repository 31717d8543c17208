"""`fwdperm install`, `uninstall`, `import`, `bridge`: bringing agents and their existing settings to the daemon.

Lives here: the commands, and reading, backing up and replacing agents' files, with the change shown as a diff. Never
here: what is written into them (`agents/installing.py`), what an agent's settings mean.
"""

from __future__ import annotations

import difflib
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fwdperm.cli.common import AsJson, Exit, Locations, Quiet, Root, emit, fail, say, tell
from fwdperm.errors import EnvironmentFailure, OperatorError
from fwdperm.sessions import fast_command

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTALLED: Final = ("claude", "codex", "copilot")
"""Agents that have an installer."""

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="claude, codex or copilot.")]
Project = Annotated[bool, typer.Option("--project", help="This project's settings.")]
User = Annotated[bool, typer.Option("--user", help="Your own settings (the default).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change and write nothing.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("install", short_help="Put our hooks into an agent's settings.")(install_command)
    app.command("uninstall", short_help="Take our hooks out of an agent's settings.")(uninstall_command)
    app.command("import", short_help="Write existing permission settings as a ruleset.")(import_command)
    app.command("bridge", short_help="Answer the asks of a running server.")(bridge_command)
    app.command("hook", short_help="Answer one event; agents start this.")(hook_command)


def settings_file(agent: str, *, env: Mapping[str, str], project: Path | None) -> Path:
    """Say which file an agent reads its hooks from.

    Args:
        agent: `claude`, `codex` or `copilot`.
        env: The environment: agents have variables that move their directory.
        project: The project's directory; None for the user's own settings.
    """
    home = Path(env.get("HOME") or Path.home())
    match agent, project:
        case "claude", None:
            return Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json"
        case "claude", Path() as here:
            return here / ".claude" / "settings.json"
        case "codex", None:
            return Path(env.get("CODEX_HOME") or home / ".codex") / "config.toml"
        case "codex", Path() as here:
            return here / ".codex" / "config.toml"
        case "copilot", None:
            return Path(env.get("COPILOT_HOME") or home / ".copilot") / "hooks" / "fwdperm.json"
        case _, Path() as here:
            return here / ".github" / "hooks" / "fwdperm.json"
        case _:
            raise OperatorError(f"no installer for `{agent}`", remedy=f"there are {', '.join(INSTALLED)}")


def install_command(
    agent: AgentName,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    root: Root = None,
    quiet: Quiet = False,
) -> None:
    """Let an agent ask here: put our hooks into its settings.

    The change is shown as a diff, what is there is kept, and the file as it was stays beside it as a backup. With
    `--root` the hooks always ask there; without it they find the inbox tree from the agent's environment.
    """
    from fwdperm.agents import put_hooks  # noqa: PLC0415 - only here

    path = _file(agent, project=project, user=user)
    named = str(root.absolute()) if root else ""
    try:
        before = _read(path)
        after = put_hooks(agent, before, words=fast_command(sys.executable), root=named, file=str(path))
    except OperatorError as error:
        fail(str(error), Exit.CONFIG)
    changed = _change(path, before, after, dry_run=dry_run, quiet=quiet)
    if agent == "codex" and not dry_run:
        _trust_codex(path, root=named, quiet=quiet)
    elif changed and not dry_run:
        tell(f"`{agent}` asks fwdperm from its next start; `fwdperm doctor` says whether it does", quiet=quiet)


def uninstall_command(
    agent: AgentName,
    project: Project = False,
    user: User = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
) -> None:
    """Take our hooks out of an agent's settings again, and nothing else."""
    from fwdperm.agents import take_hooks  # noqa: PLC0415 - only here

    path = _file(agent, project=project, user=user)
    try:
        before = _read(path)
        after = take_hooks(agent, before, file=str(path))
    except OperatorError as error:
        fail(str(error), Exit.CONFIG)
    _change(path, before, after, dry_run=dry_run, quiet=quiet)


def import_command(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="claude, opencode or pi.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The settings file to read.")],
    as_json: AsJson = False,
) -> None:
    """Write existing permission settings as a ruleset of ours, on standard output.

    What could not be carried over stands in it as a comment with the reason; nothing becomes wider.
    """
    from fwdperm.agents import import_settings  # noqa: PLC0415 - only here

    try:
        made = import_settings(kind, _read(file, missing_is_empty=False), file=str(file))
    except OperatorError as error:
        fail(str(error), Exit.CONFIG if error.file else Exit.USAGE)
    if as_json:
        emit("import", {"toml": made.toml, "dropped": list(made.dropped)})
        return
    say(made.toml.rstrip("\n"))
    tell(f"{len(made.dropped)} settings could not be carried over; each stands as a comment" if made.dropped else "")


def bridge_command(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="opencode.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Where its server listens, e.g. http://127.0.0.1:4096.")],
    root: Root = None,
    quiet: Quiet = False,
) -> None:
    """Answer the asks of every session of a running server, children included, until you stop it.

    Restarts of either side are waited out; what was open is asked again.
    """
    from fwdperm.agents import bridge_opencode  # noqa: PLC0415 - only here

    if agent != "opencode":
        fail(f"no bridge for `{agent}`, expected opencode", Exit.USAGE)
    if not url.startswith(("http://", "https://")):
        fail(f"`{url}` is no address of a server", Exit.USAGE)
    setting = Locations.of(root)
    try:
        bridge_opencode(
            url.rstrip("/"), root=str(setting.root), env=os.environ, tell=lambda line: tell(line, quiet=quiet)
        )
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)


def hook_command() -> None:
    """Answer one event of an agent on standard input: fwdperm hook AGENT EVENT [--root DIR].

    Agents start this; `fwdperm install` writes it into their settings.
    """
    raise typer.Exit(2)  # never reached: the fast path takes `hook` before typer is imported


# -- files -----------------------------------------------------------------------------------------------------


def _file(agent: str, *, project: bool, user: bool) -> Path:
    if project and user:
        fail("`--project` and `--user` exclude each other", Exit.USAGE)
    try:
        return settings_file(agent, env=os.environ, project=Path.cwd() if project else None)
    except OperatorError as error:
        fail(str(error), Exit.USAGE)


def _read(path: Path, *, missing_is_empty: bool = True) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if missing_is_empty:
            return ""
        raise OperatorError("no such file", file=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no UTF-8"
        raise OperatorError(f"cannot be read: {why}", file=str(path)) from None


def _change(path: Path, before: str, after: str, *, dry_run: bool, quiet: bool) -> bool:
    """Show a change, back the file up, and make it; say whether there was one."""
    if before == after:
        tell(f"`{path}` needs no change", quiet=quiet)
        return False
    names = (str(path), f"{path} (with the change)")
    say(*(line.rstrip("\n") for line in difflib.unified_diff(before.splitlines(), after.splitlines(), *names)))
    if dry_run:
        tell("nothing was written (--dry-run)", quiet=quiet)
        return True
    try:
        backup = _replace(path, after)
    except OSError as error:
        fail(f"cannot write `{path}`: {error.strerror}", Exit.INTERNAL)
    tell(f"as it was before: `{backup}`" if backup else f"wrote `{path}`", quiet=quiet)
    return True


def _replace(path: Path, content: str) -> Path | None:
    """Replace a file as a whole, through a link to where it points; give its backup. Empty content removes it."""
    real = path.resolve()
    backup = None
    if real.exists():
        backup = real.with_name(f"{real.name}.before-fwdperm-{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(2)}")
        shutil.copy2(real, backup)
    if not content:
        real.unlink(missing_ok=True)
        return backup
    real.parent.mkdir(parents=True, exist_ok=True)
    temporary = real.with_name(f".{real.name}.{secrets.token_hex(6)}.tmp")
    try:
        temporary.write_text(content, encoding="utf-8")
        if backup is not None:
            shutil.copymode(backup, temporary)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)
    return backup


def _trust_codex(path: Path, *, root: str, quiet: bool) -> None:
    """Write Codex's trust entries for our hooks with the hashes Codex itself gives, and check that it trusts them.

    Only for commands that are exactly what we have just written: a project's settings may hold one that looks like ours
    and does something else.
    """
    from fwdperm.agents import HOOK_EVENTS, codex_hooks, hook_command_line, is_trusted, trust_hooks  # noqa: PLC0415 - only here  # noqa: PLC0415 - as above

    words = fast_command(sys.executable)
    written = {hook_command_line(words, "codex", event, root=root) for event in HOOK_EVENTS["codex"]}

    def ours() -> list[dict[str, object]]:
        listed = codex_hooks(env=os.environ, cwd=Path.cwd())
        if listed is None:
            fail("Codex skips hooks it does not trust, and no `codex` here says their hashes; trust them in its "
                 "`/hooks`, or run this again where `codex` is on the path", Exit.CONFIG)  # fmt: skip
        return [one for one in listed if one.get("command") in written]

    untrusted = {str(one["key"]): str(one["currentHash"]) for one in ours() if not is_trusted(one)}
    if untrusted:
        user = settings_file("codex", env=os.environ, project=None)  # a project's own settings cannot give trust
        before = _read(user)
        _change(user, before, trust_hooks(before, untrusted, file=str(user)), dry_run=False, quiet=quiet)
    left = [one for one in ours() if not is_trusted(one)]
    if left:
        fail("Codex does not trust our hooks, and will skip them; look into its `/hooks`", Exit.CONFIG)
    tell(f"Codex trusts the hooks in `{path}`; it asks under `app-server`, never in `codex exec`", quiet=quiet)

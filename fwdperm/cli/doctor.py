"""`fwdperm doctor`: whether the daemon serves, and whether each agent's hooks really run.

Lives here: the command, its findings and their words. Never here: how a hook is tried (`agents/probing.py`).

Others may have written an agent's settings. So a command found there is compared with what we write, and shown escaped;
it is never run.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

import fwdperm
from fwdperm.cli.agents import INSTALLED, settings_file
from fwdperm.cli.common import AsJson, Exit, Locations, Root, emit, say
from fwdperm.cli.telling import is_fresh
from fwdperm.errors import FwdpermError, OperatorError
from fwdperm.judge import retires_on
from fwdperm.policy import read_settings
from fwdperm.rules import LayerKind, read_config
from fwdperm.serve import Kind, differences, read_status, set_by_hand
from fwdperm.sessions import fast_command
from fwdperm.wire import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fwdperm.serve import Status

_LOG_LINES: Final = 5
_SHOWN_CHARS: Final = 400
"""Characters of a command that are shown."""
_TRIED: Final[Mapping[str, str]] = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}
"""By an agent's program, the version of it that this version was tried with."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was looked at.

    Attributes:
        subject: `daemon`, `settings`, an agent's name, `judge`, `log`.
        is_good: Whether it is as it must be; None for what is only information.
        words: What was found, for people.
    """

    subject: str
    is_good: bool | None
    words: str


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("doctor", short_help="Say whether the daemon serves and hooks really run.")(doctor_command)


def doctor_command(
    agent: Annotated[str, typer.Argument(metavar="[AGENT]", help="Only this agent: claude, codex, copilot.")] = "",
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Say whether the daemon serves, under which settings, and whether each agent's hooks really run.

    Where a daemon serves, settings and judge are those that it holds, whatever the file on disk says by now.
    Exit 0 when all is well, 4 when nobody serves, 3 when an agent's hooks are there and do not run, 1 when no agent
    has any.
    """
    if agent and agent not in INSTALLED:
        raise typer.BadParameter(f"no agent `{agent}`, expected {', '.join(INSTALLED)}")
    setting = Locations.of(root)
    findings = [*_daemon(setting)]
    status = _served(setting)
    findings += _settings(status, setting) if status is not None else ()
    for name in (agent,) if agent else INSTALLED:
        findings += _agent(name, setting)
    findings += held_judge_findings(status) if status is not None else judge_findings(setting.config)
    findings += _log(setting)
    if as_json:
        rows = [{"subject": one.subject, "good": one.is_good, "words": shown(one.words)} for one in findings]
        emit("doctor", {"version": fwdperm.__version__, "findings": rows})
    else:
        marks = {True: "ok  ", False: "BAD ", None: "    "}
        say(*(f"{marks[one.is_good]}{one.subject:9}{shown(one.words)}" for one in findings))
    raise typer.Exit(_code(findings))


def _code(findings: list[DoctorFinding]) -> Exit:
    if any(one.is_good is False and one.subject == "daemon" for one in findings):
        return Exit.NOBODY
    if any(one.is_good is False for one in findings):
        return Exit.CONFIG
    return Exit.OK if any(one.is_good and one.subject in INSTALLED for one in findings) else Exit.INTERNAL


def _daemon(setting: Locations) -> Iterator[DoctorFinding]:
    try:
        status = read_status(setting.state)
    except FwdpermError as error:
        yield DoctorFinding("daemon", is_good=False, words=str(error))
        return
    if status is None or not is_fresh(status):
        yield DoctorFinding("daemon", is_good=False, words=f"nobody serves `{setting.root}`; start `fwdperm serve`")
        return
    good = status.health == "serving"
    yield DoctorFinding("daemon", is_good=good, words=f"{status.health}: `{setting.root}` (pid {status.pid})")


def _served(setting: Locations) -> Status | None:
    """Give the status of a daemon that serves; None without one, of which `_daemon` tells."""
    try:
        status = read_status(setting.state)
    except FwdpermError:
        return None
    return status if status is not None and is_fresh(status) else None


def _settings(status: Status, setting: Locations) -> Iterator[DoctorFinding]:
    """Say what is in force, and where the file on disk says something else."""
    found = list(differences(status))
    words = f"in force from `{status.config}`: {set_by_hand(status.settings) or 'all at their defaults'}"
    yield DoctorFinding("settings", is_good=None if found else True, words=words)
    for one in found:
        yield DoctorFinding("settings", is_good=None if one.kind is Kind.UNREAD else False, words=one.words)
    if os.path.realpath(status.config) != os.path.realpath(setting.config):
        words = f"the daemon reads `{status.config}`, not `{setting.config}`"
        yield DoctorFinding("settings", is_good=None, words=words)


def _agent(name: str, setting: Locations) -> Iterator[DoctorFinding]:
    from fwdperm.agents import version_of  # noqa: PLC0415 - only here

    hooks = list(_hooks(name, setting))
    version = version_of(name, env=os.environ)
    if not hooks and not version:
        yield DoctorFinding(name, is_good=None, words="not installed here, and no hooks of ours for it")
        return
    tried = "" if not version or _TRIED[name] in version else f" (fwdperm was tried with {_TRIED[name]})"
    yield DoctorFinding(name, is_good=None, words=f"{version}{tried}" if version else "its program is not on this path")
    if not hooks:
        yield DoctorFinding(name, is_good=None, words=f"no hooks of ours; `fwdperm install {name}` puts them in")
    yield from hooks


def _hooks(name: str, setting: Locations) -> Iterator[DoctorFinding]:
    """Look at each file that an agent's hooks may be in."""
    from fwdperm.agents import find_hooks  # noqa: PLC0415 - only here

    for project in (None, Path.cwd()):
        path = settings_file(name, env=os.environ, project=project)
        if path.exists() and not path.is_file():
            yield DoctorFinding(name, is_good=False, words=f"`{path}` is no file")
            continue
        try:
            text = path.read_text(encoding="utf-8")
            hooks = find_hooks(name, text, file=str(path))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError):
            yield DoctorFinding(name, is_good=False, words=f"`{path}` cannot be read")
            continue
        except OperatorError as error:
            yield DoctorFinding(name, is_good=False, words=str(error))
            continue
        if hooks:
            yield from _try(name, path, hooks, setting)
            if name == "claude" and '"disableAllHooks": true' in text:
                yield DoctorFinding(name, is_good=False, words=f"`{path}` says `disableAllHooks`")
    if name == "codex":
        yield from _codex_trust()


def _try(name: str, path: Path, hooks: tuple[Any, ...], setting: Locations) -> Iterator[DoctorFinding]:
    from fwdperm.agents import (  # noqa: PLC0415 - only here  # noqa: PLC0415 - as above        AGENT_TIMEOUT_S,
        AGENT_TIMEOUT_S,
        HOOK_EVENTS,
        LAST_S,
        is_written,
        named_root,
        try_hook,
    )

    missing = [event for event in HOOK_EVENTS[name] if event not in {hook.event for hook in hooks}]
    for event in missing:
        yield DoctorFinding(
            name, is_good=False, words=f"`{path}` has no hook for {event}; run `fwdperm install {name}`"
        )
    env = {**os.environ, "FWDPERM_ROOT": str(setting.root)}
    for hook in hooks:
        if not is_written(hook.command, name, hook.event, words=fast_command(sys.executable)):
            yield DoctorFinding(name, is_good=False, words=_different(name, f"{hook.event} in `{path}`", hook.command))
            continue
        asks = HOOK_EVENTS[name][hook.event] == AGENT_TIMEOUT_S
        wrong = try_hook(name, hook.event, env=env, asks=asks)
        named = named_root(hook.command)
        if not wrong and named and os.path.realpath(named) != os.path.realpath(setting.root):
            wrong = f"it asks in `{named}`, not in `{setting.root}`"
        if not wrong and asks and 0 < hook.timeout_s <= LAST_S:
            wrong = f"its timeout of {hook.timeout_s:.0f} s is shorter than the {LAST_S} s a question may take"
        words = f"{hook.event} in `{path}` " + (f"does not run: {wrong}" if wrong else "is what we write, and runs")
        yield DoctorFinding(name, is_good=not wrong, words=words)


def _different(name: str, where: str, command: str) -> str:
    """Give the words for a command that is not what we write. It is shown, and not run."""
    begun = command if len(command) <= _SHOWN_CHARS else f"{command[:_SHOWN_CHARS]}... ({len(command)} characters)"
    return f"{where} is a different command than `fwdperm install {name}` writes here, and was not tried: `{begun}`"


def _codex_trust() -> Iterator[DoctorFinding]:
    from fwdperm.agents import HOOK_EVENTS, codex_hooks, is_our_hook, is_trusted, is_written  # noqa: PLC0415 - only here  # noqa: PLC0415 - as above

    for one in codex_hooks(env=os.environ, cwd=Path.cwd()) or ():
        command = one.get("command")
        if not is_our_hook(command, "codex"):
            continue
        words = fast_command(sys.executable)
        if not any(is_written(command, "codex", event, words=words) for event in HOOK_EVENTS["codex"]):
            where = f"what Codex has for {one.get('eventName')}"
            yield DoctorFinding("codex", is_good=False, words=_different("codex", where, str(command)))
        else:
            good = is_trusted(one)
            told = f"{one.get('eventName')} is {one.get('trustStatus')}"
            remedy = "" if good else ", so Codex skips it; run `fwdperm install codex`"
            yield DoctorFinding("codex", is_good=good, words=told + remedy)


def judge_findings(config: Path) -> Iterator[DoctorFinding]:
    """Find what is wrong with the judge without a call: a model that is no longer offered, a key that is not set."""
    if not config.exists():
        return
    found, problems = read_settings(read_config(config.read_bytes(), file=str(config), kind=LayerKind.USER))
    for problem in problems:
        if "`judge" in problem.message:
            yield DoctorFinding("judge", is_good=False if problem.is_error else None, words=str(problem))
    if found.judge is not None:
        yield from _setup(found.judge.model, base_url=found.judge.base_url, key_env=found.judge.key_env)


def held_judge_findings(status: Status) -> Iterator[DoctorFinding]:
    """Do as `judge_findings` for the settings that a daemon uses."""
    for problem in status.problems:
        if "`judge" in problem:
            yield DoctorFinding("judge", is_good=False if problem.startswith("cannot") else None, words=problem)
    held = status.settings
    if "judge.model" in held:
        yield from _setup(held["judge.model"], base_url=held["judge.base_url"], key_env=held["judge.key_env"])


def _setup(model: str, *, base_url: str, key_env: str) -> Iterator[DoctorFinding]:
    yield DoctorFinding("judge", is_good=None, words=f"{model} at {base_url}; `fwdperm judge check` tries it")
    ends = retires_on(model)
    if ends:
        yield DoctorFinding("judge", is_good=None, words=f"the service stops offering {model} on {ends}; name another")
    if key_env and not os.environ.get(key_env):
        words = f"`{key_env}` is not set here; it must be in the daemon's environment"
        yield DoctorFinding("judge", is_good=None, words=words)


def _log(setting: Locations) -> Iterator[DoctorFinding]:
    try:
        lines = (setting.root / "hooks.log").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines[-_LOG_LINES:]:
        yield DoctorFinding("log", is_good=None, words=line)

"""`fwdperm list`, `show`, `allow`, `reject`: the human's side from any shell.

Lives here: four commands. Never here: which answer wins (the daemon's queue says), how a question looks.
"""

from __future__ import annotations

import getpass
import os
import shutil
import time
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from fwdperm.cli.common import AsJson, Exit, NoColor, Quiet, Root, Setting, emit, fail, say, tell, wants_colour
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.seat.counter import open_prompts, send_reply
from fwdperm.seat.render import render, summary
from fwdperm.wire.prompt import Fate, Reply, ReplyKind
from fwdperm.wire.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fwdperm.wire.prompt import Prompt, ReplyOutcome

Ids = Annotated[list[str], typer.Argument(help="Request ids from `fwdperm list`; a unique beginning is enough.")]
Note = Annotated[str, typer.Option("--note", help="Words for the agent.")]

_LIST_WAIT_S = 30.0
"""Seconds `list --wait` waits: long enough for a script to start its agents, short enough not to hang it."""

_CODES = {
    Fate.ACCEPTED: Exit.OK,
    Fate.ALREADY_DECIDED: Exit.DECIDED,
    Fate.UNKNOWN: Exit.UNKNOWN,
    Fate.STALE: Exit.DECIDED,
    Fate.REFUSED: Exit.USAGE,
    Fate.NOT_TAKEN: Exit.NOBODY,
    Fate.NOT_SAID: Exit.INTERNAL,
}


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("list")(list_command)
    app.command("show")(show_command)
    app.command("allow")(allow_command)
    app.command("reject")(reject_command)


def list_command(
    wait: Annotated[bool, typer.Option("--wait", help="If nothing waits yet, wait half a minute for it.")] = False,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the questions that wait, oldest first."""
    setting = Setting.of(root)
    end = time.monotonic() + _LIST_WAIT_S
    while not (prompts := _open(setting)) and wait and time.monotonic() < end:
        time.sleep(0.05)
    if as_json:
        emit("prompts", {"prompts": [prompt.model_dump(mode="json", by_alias=True) for prompt in prompts]})
        return
    width = shutil.get_terminal_size().columns
    say(*(summary(prompt, width=width) for prompt in prompts))
    if not prompts:
        tell("nothing waits", quiet=quiet)


def show_command(
    request_id: Annotated[str, typer.Argument(metavar="ID", help="A request id; a unique beginning is enough.")],
    root: Root = None,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Show one waiting question in full."""
    setting = Setting.of(root)
    prompts = _open(setting)
    prompt = _find(prompts, request_id)
    if prompt is None:
        _unknown(setting, request_id)
    if as_json:
        emit("prompt", prompt.model_dump(mode="json", by_alias=True))
        return
    left = prompt.deadline_at / 1000 - time.time()
    width = shutil.get_terminal_size().columns
    colour = wants_colour(no_color=no_color)
    say(render(prompt, width=width, colour=colour, waiting=len(prompts) - 1, time_left=left, full=True))


def allow_command(
    ids: Ids,
    note: Note = "",
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Approve questions once each; a note goes to each agent.

    Exit 0 all approved, 6 already decided (says by whom), 5 unknown, 4 nobody serving; with several, the worst.
    """
    _answer(ids, Reply(reply=ReplyKind.ONCE, feedback=note or None, user=_user(), via="cli"), root, as_json, quiet)


def reject_command(
    ids: Ids,
    note: Note = "",
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Reject questions; a note tells the agents why. Exit codes as for `allow`."""
    _answer(ids, Reply(reply=ReplyKind.REJECT, feedback=note or None, user=_user(), via="cli"), root, as_json, quiet)


def _answer(ids: Sequence[str], reply: Reply, root: Path | None, as_json: bool, quiet: bool) -> None:  # noqa: FBT001 - the commands' own options
    """Give one answer to each id that is named, and say what became of each."""
    setting = Setting.of(root)
    prompts = _open(setting)
    results = [(name, *_give(setting, prompts, name, reply)) for name in ids]
    if as_json:
        rows = [{"id": name, "outcome": str(fate), "words": words} for name, fate, words in results]
        emit("answers", {"answers": rows})
    else:
        tell(*(f"{shown(name)}: {shown(words)}" for name, _, words in results), quiet=quiet)
    raise typer.Exit(max((_CODES[fate] for _, fate, _ in results), default=Exit.OK))


def _give(setting: Setting, prompts: Sequence[Prompt], name: str, reply: Reply) -> tuple[Fate, str]:
    """Answer one id: bound to the digest of the prompt that lies there now."""
    prompt = _find(prompts, name)
    if prompt is not None:
        bound = reply.model_copy(update={"digest": prompt.digest})
        return _send(setting, prompt.key, bound)
    past = _decided(setting, name)
    if past:
        return Fate.ALREADY_DECIDED, past
    return Fate.UNKNOWN, "no such request waits; `fwdperm list` shows what does"


def _send(setting: Setting, key: tuple[str, str], reply: Reply) -> tuple[Fate, str]:
    try:
        outcome: ReplyOutcome = send_reply(setting.state, key, reply)
    except (EnvironmentFailure, ChildError) as error:
        fail(str(error), Exit.INTERNAL)
    return outcome.outcome, outcome.words


def _open(setting: Setting) -> tuple[Prompt, ...]:
    try:
        found = open_prompts(setting.state)
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    tell(*(f"unreadable prompt {shown(line)}" for line in found.unreadable))
    return found.prompts


def _find(prompts: Sequence[Prompt], name: str) -> Prompt | None:
    """Find a prompt by id, or by a beginning that only one has; end the command when several have it."""
    exact = [prompt for prompt in prompts if prompt.id == name]
    found = exact or [prompt for prompt in prompts if prompt.id.startswith(name)]
    if len(found) > 1:
        which = ", ".join(f"{shown(prompt.inbox)}/{shown(prompt.id)}" for prompt in found[:5])
        fail(f"`{shown(name)}` is not one request but {len(found)}: {which}", Exit.USAGE)
    return found[0] if found else None


def _decided(setting: Setting, name: str) -> str:
    """Say who decided a request that no longer waits; empty when the journal knows nothing of it."""
    from fwdperm.journal.filters import Filter  # noqa: PLC0415 - only a late answer reads the journal
    from fwdperm.journal.query import tail  # noqa: PLC0415 - as above

    try:
        lines = tail(setting.state / "journal", 1, wanted=Filter(kind="decided", id=name))
    except OSError:
        return ""
    if not lines:
        return ""
    data = lines[0].data
    who = data.get("by") or data.get("code") or data.get("stage", "nobody")
    return f"already {data.get('outcome', 'denied')}, decided by {who} (stage {data.get('stage', 'nobody')})"


def _unknown(setting: Setting, name: str) -> NoReturn:
    past = _decided(setting, name)
    if past:
        fail(f"`{shown(name)}` no longer waits: {shown(past)}", Exit.DECIDED)
    fail(f"no request `{shown(name)}` waits; `fwdperm list` shows what does", Exit.UNKNOWN)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())

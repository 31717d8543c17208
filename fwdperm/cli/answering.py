"""`fwdperm list`, `show`, `allow`, `reject`: the human's side from any shell.

Lives here: four commands. Never here: which answer wins (the daemon's queue says), how a question looks.
"""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer
from pydantic import ValidationError

from fwdperm.cli.common import AsJson, Exit, Locations, NoColor, Quiet, Root, emit, fail, say, tell, wants_colour
from fwdperm.cli.telling import is_served, nobody_serves
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.seat import likeness, open_prompts, parse_span, prompt_summary, render_prompt, send_reply
from fwdperm.wire import Fate, Reply, ReplyKind, Scope, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from fwdperm.wire import Prompt, ReplyOutcome

Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="Request ids from `fwdperm list`; a unique beginning is enough.")
]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Words for the agent.")]

Same = Annotated[bool, typer.Option("--same", help="Answer also what waits and asks exactly the same.")]

_UNCUT: Final = 1_000_000
"""Columns that no row reaches: where the output goes to a program, rows are not cut."""
_LIST_WAIT_S = 30.0
"""Seconds `list --wait` waits: long enough for a script to start its agents, short enough not to hang it."""

CODES: Final = {
    Fate.ACCEPTED: Exit.OK,
    Fate.ALREADY_DECIDED: Exit.DECIDED,
    Fate.UNKNOWN: Exit.UNKNOWN,
    Fate.STALE: Exit.DECIDED,
    Fate.REFUSED: Exit.USAGE,
    Fate.SHOWN: Exit.OK,
    Fate.NOT_TAKEN: Exit.NOBODY,
    Fate.NOT_SAID: Exit.INTERNAL,
}
"""The exit code of a command that answers, by what became of the answer."""


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("list", short_help="List the questions that wait, oldest first.")(list_command)
    app.command("show", short_help="Show one waiting question in full.")(show_command)
    app.command("allow", short_help="Approve questions; with --always record a rule too.")(allow_command)
    app.command("reject", short_help="Reject questions; a note tells the agents why.")(reject_command)


def list_command(
    wait: Annotated[bool, typer.Option("--wait", help="If nothing waits yet, wait half a minute for it.")] = False,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List the questions that wait, oldest first. Exit 4 when nobody serves."""
    setting = Locations.of(root)
    end = time.monotonic() + _LIST_WAIT_S
    while not (prompts := _open(setting)) and wait and time.monotonic() < end:
        time.sleep(0.05)
    if as_json:
        emit("prompts", {"prompts": [prompt.model_dump(mode="json", by_alias=True) for prompt in prompts]})
        return
    say(*(row for group in _groups(prompts) for row in _rows(group, width=_width())))
    if not is_served(setting):
        fail(nobody_serves(setting), Exit.NOBODY)
    if not prompts:
        tell("nothing waits", quiet=quiet)


def show_command(
    request_id: Annotated[str, typer.Argument(metavar="ID", help="A request id; a unique beginning is enough.")],
    root: Root = None,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Show one waiting question in full."""
    setting = Locations.of(root)
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
    say(render_prompt(prompt, width=width, colour=colour, waiting=len(prompts) - 1, time_left=left, full=True))


def allow_command(
    ids: Ids,
    note: Note = "",
    same: Same = False,
    always: Annotated[
        list[str] | None,
        typer.Option("--always", metavar="PATTERN", help="Record this pattern for later requests too; repeat."),
    ] = None,
    suggested: Annotated[bool, typer.Option("--suggested", help="Record what the question suggests.")] = False,
    scope: Annotated[
        str,
        typer.Option(
            "--scope", metavar="SCOPE", help="requester (default), subtree, tree, project, or an ancestor's session."
        ),
    ] = "",
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long it holds: 30m, 2h, 7d (default: the session).")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be recorded; answer nothing.")] = False,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Approve questions once each; a note goes to each agent. With --always, record a rule, shown before it is saved.

    Exit 0 all approved, 6 already decided (says by whom), 5 unknown, 4 nobody serving; with several, the worst.
    """
    if not always and not suggested:
        if scope or for_ or dry_run:
            fail("`--scope`, `--for` and `--dry-run` go with `--always` or `--suggested`", Exit.USAGE)
        _answer(ids, _once(note), root, as_json=as_json, quiet=quiet, same=same)
    if len(ids) != 1 or same or (always and suggested):
        fail("a rule is shown and recorded for one request at a time", Exit.USAGE)
    reply = _always(always, note=note, scope=scope, span=for_)
    _remember(ids[0], reply, root, as_json=as_json, quiet=quiet, dry_run=dry_run)


def reject_command(
    ids: Ids,
    note: Note = "",
    same: Same = False,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Reject questions; a note tells the agents why, and refuses the identical request from then on.

    Exit codes as for `allow`.
    """
    reply = _checked(lambda: Reply(reply=ReplyKind.REJECT, feedback=note or None, user=user_name(), via="cli"))
    _answer(ids, reply, root, as_json=as_json, quiet=quiet, same=same)


def _once(note: str) -> Reply:
    return _checked(lambda: Reply(reply=ReplyKind.ONCE, feedback=note or None, user=user_name(), via="cli"))


def _always(patterns: list[str] | None, *, note: str, scope: str, span: str) -> Reply:
    """Make the answer that records a rule; end the command when an option cannot be read."""
    expires_in_ms = parse_span(span) if span else None
    if span and expires_in_ms is None:
        fail(f"`{shown(span)}` is no time; write 30m, 2h or 7d", Exit.USAGE)
    known = scope in set(Scope)
    return _checked(
        lambda: Reply(
            reply=ReplyKind.ALWAYS,
            feedback=note or None,
            patterns=tuple(patterns) if patterns else None,
            scope=Scope(scope) if known else None,
            session=scope if scope and not known else None,
            expires_in_ms=expires_in_ms,
            user=user_name(),
            via="cli",
        )
    )


def _checked(make: Callable[[], Reply]) -> Reply:
    """Make an answer, and end the command with the words of what cannot be in one."""
    try:
        return make()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        fail(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}", Exit.USAGE)


def _remember(name: str, reply: Reply, root: Path | None, *, as_json: bool, quiet: bool, dry_run: bool) -> NoReturn:
    """Show on standard error what would be recorded, checked by the daemon, then answer."""
    setting = Locations.of(root)
    prompts = _open(setting)
    prompt = _find(prompts, name)
    if prompt is None:
        _unknown(setting, name)
    bound = reply.model_copy(update={"digest": prompt.digest})
    seen = _send(setting, prompt.key, bound.model_copy(update={"look": True}))
    tell(*seen.lines, quiet=quiet or as_json)
    word = seen if dry_run or seen.outcome is not Fate.SHOWN else _send(setting, prompt.key, bound)
    if as_json:
        row = {"id": prompt.id, "outcome": str(word.outcome), "words": word.words, "preview": list(seen.lines)}
        emit("answers", {"answers": [row]})
    else:
        tell(f"{shown(prompt.id)}: {shown(word.words)}", quiet=quiet)
    raise typer.Exit(CODES[word.outcome])


def _width() -> int:
    """Give the columns of a row: the terminal's; where the output goes elsewhere, enough for everything."""
    return shutil.get_terminal_size((_UNCUT, 24)).columns if sys.stdout.isatty() else _UNCUT


def _groups(prompts: Sequence[Prompt]) -> list[list[Prompt]]:
    """Group what asks the same; every member keeps its own answer."""
    groups: dict[object, list[Prompt]] = {}
    for prompt in prompts:
        groups.setdefault(likeness(prompt), []).append(prompt)
    return list(groups.values())


def _rows(group: Sequence[Prompt], *, width: int) -> Iterator[str]:
    """Give the rows for a group: its oldest question, and the ids of the others; `--same` answers them all."""
    yield prompt_summary(group[0], width=width)
    if len(group) > 1:
        others = " ".join(shown(prompt.id) for prompt in group[1:])
        yield f"    the same {len(group)} times; also {others} (`--same` answers each of them)"


def _answer(ids: Sequence[str], reply: Reply, root: Path | None, *, as_json: bool, quiet: bool, same: bool) -> NoReturn:
    """Give one answer to each id that is named, and say what became of each."""
    setting = Locations.of(root)
    prompts = _open(setting)
    named = [_full(prompts, name) for name in ids]
    names = dict.fromkeys(twin for name in named for twin in (_twins(prompts, name) if same else (name,)))
    results = [(name, *_give(setting, prompts, name, reply)) for name in names]
    if as_json:
        rows = [{"id": name, "outcome": str(fate), "words": words} for name, fate, words in results]
        emit("answers", {"answers": rows})
    else:
        tell(*(f"{shown(name)}: {shown(words)}" for name, _, words in results), quiet=quiet)
    raise typer.Exit(max((CODES[fate] for _, fate, _ in results), default=Exit.OK))


def _give(setting: Locations, prompts: Sequence[Prompt], name: str, reply: Reply) -> tuple[Fate, str]:
    """Answer the question with one id. The answer names the digest of its prompt as read just now."""
    prompt = _find(prompts, name)
    if prompt is not None:
        word = _send(setting, prompt.key, reply.model_copy(update={"digest": prompt.digest}))
        return word.outcome, word.words
    past = _decided(setting, name)
    if past:
        return Fate.ALREADY_DECIDED, past
    return Fate.UNKNOWN, "no such request waits; `fwdperm list` shows what does"


def _full(prompts: Sequence[Prompt], name: str) -> str:
    """Give the whole id of the question that a typed id means; the typed one where no question has it."""
    prompt = _find(prompts, name)
    return prompt.id if prompt is not None else name


def _twins(prompts: Sequence[Prompt], name: str) -> tuple[str, ...]:
    """Give the ids of everything that waits and asks the same as one request, itself first."""
    prompt = _find(prompts, name)
    if prompt is None:
        return (name,)
    return (name, *(one.id for one in prompts if one.key != prompt.key and likeness(one) == likeness(prompt)))


def _send(setting: Locations, key: tuple[str, str], reply: Reply) -> ReplyOutcome:
    try:
        return send_reply(setting.state, key, reply)
    except (EnvironmentFailure, ChildError) as error:
        fail(str(error), Exit.INTERNAL)


def _open(setting: Locations) -> tuple[Prompt, ...]:
    try:
        found = open_prompts(setting.state)
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    tell(*(f"unreadable prompt {shown(line)}" for line in found.unreadable))
    return found.prompts


def _find(prompts: Sequence[Prompt], name: str) -> Prompt | None:
    """Find a prompt by id, by `inbox/id`, or by a beginning that only one has; end the command when several have it.

    With `inbox/id` a question can be named also when a child used its id in another inbox to make it ambiguous.
    """
    exact = [prompt for prompt in prompts if f"{prompt.inbox}/{prompt.id}" == name]
    exact = exact or [prompt for prompt in prompts if prompt.id == name]
    found = exact or [prompt for prompt in prompts if prompt.id.startswith(name)]
    if len(found) > 1:
        which = ", ".join(f"{shown(prompt.inbox)}/{shown(prompt.id)}" for prompt in found[:5])
        fail(f"`{shown(name)}` is not one request but {len(found)}: {which}", Exit.USAGE)
    return found[0] if found else None


def _decided(setting: Locations, name: str) -> str:
    """Say who decided a request that no longer waits; empty when the journal knows nothing of it."""
    from fwdperm.journal import (  # noqa: PLC0415 - only a late answer reads the journal
        Filter,
        tail_journal,
    )

    try:
        lines = tail_journal(setting.state / "journal", 1, wanted=Filter(kind="decided", id=name))
    except OSError:
        return ""
    if not lines:
        return ""
    data = lines[0].data
    who = data.get("by") or data.get("code") or data.get("stage", "nobody")
    return f"already {data.get('outcome', 'denied')}, decided by {who} (stage {data.get('stage', 'nobody')})"


def _unknown(setting: Locations, name: str) -> NoReturn:
    past = _decided(setting, name)
    if past:
        fail(f"`{shown(name)}` no longer waits: {shown(past)}", Exit.DECIDED)
    fail(f"no request `{shown(name)}` waits; `fwdperm list` shows what does", Exit.UNKNOWN)


def user_name() -> str:
    """Say who answers, as the machine knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())

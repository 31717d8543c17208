"""`fwdperm rules list|add|revoke|suggest`: showing session rules, and changing them by hand.

Lives here: four commands. `list` and `suggest` read the journal; `add` and `revoke` ask the daemon, which owns it.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from pydantic import ValidationError

from fwdperm.cli.answering import CODES, user_name
from fwdperm.cli.common import AsJson, ConfigOption, Exit, Locations, Quiet, Root, counted, emit, fail, say, tell
from fwdperm.cli.telling import nobody_serves
from fwdperm.errors import EnvironmentFailure, FwdpermError
from fwdperm.seat import parse_span, send_command
from fwdperm.sessions import ROOT_SESSION
from fwdperm.wire import RuleCommand, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.policy import Recalled
    from fwdperm.session_rules import SessionRule

For = Annotated[
    str, typer.Option("--for", metavar="TIME", help="How long it holds: 30m, 2h, 7d (default: the session's life).")
]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Words for the agents and the judge.")]

Why = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, for the journal.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    rules = typer.Typer(help="What people taught: session rules.", no_args_is_help=True, rich_markup_mode=None)
    rules.command("list", short_help="List session rules, newest first.")(list_command)
    rules.command("add", short_help="Add a grant by hand.")(add_command)
    rules.command("revoke", short_help="Revoke a session rule, from the next request on.")(revoke_command)
    rules.command("suggest", short_help="Show rules that would have saved prompts.")(suggest_command)
    app.add_typer(rules, name="rules")


def list_command(
    everything: Annotated[bool, typer.Option("--all", help="Expired ones too.")] = False,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """List session rules, newest first: who, when, from which answer, where, until when, how often used."""
    from fwdperm.policy import rule_row  # noqa: PLC0415 - only here

    setting = Locations.of(root)
    found = _recall(setting)
    now = max(int(time.time() * 1000), found.rules.clock)
    rules = [rule for rule in found.rules.rules.values() if everything or not rule.has_expired(now)][::-1]
    if as_json:
        rows = []
        for rule in rules:
            row = rule_row(rule, found.rules.uses.get(rule.id))
            rows.append({key: _plain(value) for key, value in row.items()} | {"expired": rule.has_expired(now)})
        emit("rules", {"rules": rows})
        return
    for rule in rules:
        say(*_lines(rule, found, now=now))
    if not rules:
        tell("no session rule is in force", quiet=quiet)


def add_command(
    surface: Annotated[str, typer.Option("--surface", metavar="SURFACE", help="bash, read, write, web, ...")],
    pattern: Annotated[
        str, typer.Option("--pattern", metavar="PATTERN", help=r"What it covers: `*` any run, `?` one, `\*` a star.")
    ],
    scope: Annotated[
        str,
        typer.Option(
            "--scope", metavar="SCOPE", help="The session at and below which it holds, or `project` (this directory's)."
        ),
    ] = ROOT_SESSION,
    for_: For = "",
    note: Note = "",
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Add a grant by hand. It never beats a recorded deny and never covers a dangerous command.

    Exit 4 when nobody serves: the daemon owns the rules.
    """
    expires_in_ms = parse_span(for_) if for_ else None
    if for_ and expires_in_ms is None:
        fail(f"`{shown(for_)}` is no time; write 30m, 2h or 7d", Exit.USAGE)
    is_project = scope == "project"
    command = _checked(
        lambda: RuleCommand(
            do="add",
            surface=surface,
            pattern=pattern,
            session=None if is_project else scope,
            project=str(Path.cwd()) if is_project else None,
            note=note,
            expires_in_ms=expires_in_ms,
            via="cli",
            user=user_name(),
        )
    )
    _send(Locations.of(root), command, as_json=as_json, quiet=quiet)


def revoke_command(
    rule: Annotated[str, typer.Argument(metavar="ID", help="A rule's id from `fwdperm rules list`.")],
    note: Why = "",
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Revoke a session rule, from the next request on. Exit 5 for an unknown one, 4 when nobody serves."""
    command = _checked(lambda: RuleCommand(do="revoke", rule=rule, note=note, via="cli", user=user_name()))
    _send(Locations.of(root), command, as_json=as_json, quiet=quiet)


def suggest_command(
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="How far to look back: 12h, 7d.")] = "7d",
    least: Annotated[int, typer.Option("--least", metavar="N", min=1, help="Approved at least so many times.")] = 2,
    write: Annotated[bool, typer.Option("--write", help="Write the change into the config.")] = False,
    config: ConfigOption = None,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what rules would have saved prompts, as a change to your config. Nothing is written without --write."""
    from fwdperm.policy import suggest_change  # noqa: PLC0415 - only here

    setting = Locations.of(root, config)
    span = parse_span(since)
    if span is None:
        fail(f"`{shown(since)}` is no time; write 12h or 7d", Exit.USAGE)
    try:
        change = suggest_change(
            setting.state / "journal", setting.config, since_ms=int(time.time() * 1000) - span, least=least
        )
        if write and change.rows:
            change.write()
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)
    if as_json:
        rows = [{"surface": row.surface, "pattern": row.pattern, "saved": row.times} for row in change.rows]
        emit("suggestions", {"rules": rows, "diff": change.diff, "written": write and bool(rows)})
        return
    if change.rows:
        say(change.diff.rstrip("\n"))
    saved = sum(row.times for row in change.rows)
    found = f"{counted(len(change.rows), 'rule')} would have saved {counted(saved, 'prompt')}"
    none = f"no rule would have saved a prompt: nothing was approved {counted(least, 'time')} in the last {since}"
    tell(
        (f"{found}; written" if write else f"{found}; `--write` writes what is shown") if change.rows else none,
        *(f"left out: {shown(words)}" for words in change.left_out),
        quiet=quiet,
    )


# -- saying ----------------------------------------------------------------------------------------------------


def _recall(setting: Locations) -> Recalled:
    from fwdperm.policy import recall_session_rules  # noqa: PLC0415 - only here

    try:
        return recall_session_rules(setting.state)
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)


def _lines(rule: SessionRule, found: Recalled, *, now: int) -> list[str]:
    from fwdperm.policy import rule_row  # noqa: PLC0415 - only here

    row = rule_row(rule, found.rules.uses.get(rule.id))
    match row["kind"]:
        case "grant":
            what = f'allow {shown(row["surface"])} "{shown(row["pattern"])}"'
        case "guidance":
            what = f"note on the approval of {shown(row['surface'])} `{shown(row['approved'])}`"
        case _:
            what = f"refuse {shown(row['surface'])} `{shown(row['rejected'])}` again"
    where = f"{row['scope']} {shown(row['session'])}" + (f" in {shown(row['inbox'])}" if "inbox" in row else "")
    answer = f", answering {shown(row['answer'])}" if "answer" in row else ", by hand"
    until = f"until {_local(row['expires'])}" if "expires" in row else "until the session ends"
    over = " EXPIRED" if rule.has_expired(now) else ""
    used = f"used {counted(row.get('used', 0), 'time')}" + (
        f", last {_local(row['last_used'])}" if "last_used" in row else ""
    )
    note = [f'        note "{shown(row["note"])}"'] if "note" in row else []
    return [
        f"{row['id']:<7} {what}{over}",
        *note,
        f"        by {shown(row['by'])} on {_local(row['at'])}{answer}",
        f"        for {where}, {until}; {used}",
    ]


def _local(when: datetime) -> str:
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _checked(make: Callable[[], RuleCommand]) -> RuleCommand:
    try:
        return make()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        fail(f"{'.'.join(map(str, first['loc']))} {first['msg'].lower()}".strip(), Exit.USAGE)


def _send(setting: Locations, command: RuleCommand, *, as_json: bool, quiet: bool) -> NoReturn:
    try:
        word = send_command(setting.state, command)
    except EnvironmentFailure as error:
        fail(str(error), Exit.INTERNAL)
    if as_json:
        emit("rule-command", {"outcome": str(word.outcome), "words": word.words})
    elif CODES[word.outcome] is Exit.NOBODY:
        fail(nobody_serves(setting), Exit.NOBODY)
    elif CODES[word.outcome] is not Exit.OK:
        fail(shown(word.words), CODES[word.outcome])
    else:
        tell(shown(word.words), quiet=quiet)
    raise typer.Exit(CODES[word.outcome])

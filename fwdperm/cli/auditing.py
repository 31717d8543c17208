"""`fwdperm audit tail|query|verify|export|prune`: reading the journal, and removing its oldest lines.

Lives here: five commands over `journal/`. Only `prune` opens anything for writing, and only while nobody serves.
"""

from __future__ import annotations

import re
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fwdperm.cli.common import AsJson, ConfigOption, Exit, Locations, Quiet, Root, counted, emit, fail, say, tell
from fwdperm.errors import AlreadyServed, FwdpermError
from fwdperm.journal import (
    RECORD_KINDS,
    Filter,
    export_journal,
    follow_journal,
    query_journal,
    surplus,
    tail_journal,
    verify_journal,
)
from fwdperm.wire import Outcome, Stage, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fwdperm.journal import JournalLine, Retention

_SPAN = re.compile(r"(\d+)(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

Since = Annotated[str, typer.Option("--since", metavar="TIME", help="90s, 30m, 12h, 7d ago, or an ISO time.")]
Until = Annotated[str, typer.Option("--until", metavar="TIME", help="The same; lines before it.")]
Session = Annotated[str, typer.Option("--session", metavar="ID", help="The requester's session.")]
Agent = Annotated[str, typer.Option("--agent", metavar="NAME", help="The requester's agent.")]
Surface = Annotated[str, typer.Option("--surface", metavar="SURFACE", help="What kind of thing.")]
OutcomeOption = Annotated[str, typer.Option("--outcome", metavar="OUTCOME", help="approved or denied.")]
StageOption = Annotated[
    str, typer.Option("--stage", metavar="STAGE", help="rule, session_rule, guard, judge, human or nobody.")
]
Kind = Annotated[str, typer.Option("--kind", metavar="KIND", help="asked, replied, decided, ...")]
Id = Annotated[str, typer.Option("--id", metavar="ID", help="The request's id.")]
Text = Annotated[str, typer.Option("--text", metavar="TEXT", help="Stands anywhere in the line.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    audit = typer.Typer(help="Read and check the journal.", no_args_is_help=True, rich_markup_mode=None)
    audit.command("tail", short_help="Show the last lines of the journal.")(tail_command)
    audit.command("query", short_help="Show the lines that match.")(query_command)
    audit.command("verify", short_help="Find edits, insertions, deletions, gaps.")(verify_command)
    audit.command("export", short_help="Write the journal as a table or as JSON lines.")(export_command)
    audit.command("prune", short_help="Remove the oldest lines, as the settings say.")(prune_command)
    app.add_typer(audit, name="audit")


def tail_command(
    lines: Annotated[int, typer.Option("-n", "--lines", metavar="N", min=0, help="How many.")] = 20,
    following: Annotated[bool, typer.Option("-f", "--follow", help="Go on as lines come.")] = False,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Show the last lines of the journal."""
    setting = Locations.of(root)
    directory = _journal(setting)
    try:
        last = tail_journal(directory, lines)
        _print(last, as_json=as_json)
        if following:
            after = last[-1].seq if last else 0
            ongoing = follow_journal(directory, after=after, pause=lambda: time.sleep(0.2), stop=lambda: False)
            _print(ongoing, as_json=as_json)
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def query_command(
    since: Since = "",
    until: Until = "",
    session: Session = "",
    agent: Agent = "",
    surface: Surface = "",
    outcome: OutcomeOption = "",
    stage: StageOption = "",
    kind: Kind = "",
    request_id: Id = "",
    text: Text = "",
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Show the lines that match; several options must all hold."""
    setting = Locations.of(root)
    wanted = Filter(
        since_ms=_when(since),
        until_ms=_when(until),
        session=session,
        agent=agent,
        surface=surface,
        outcome=_one_of(outcome, Outcome, option="--outcome"),
        stage=_one_of(stage, Stage, option="--stage"),
        kind=_one_of(kind, RECORD_KINDS, option="--kind"),
        id=request_id,
        text=text,
    )
    try:
        if not _print(query_journal(_journal(setting), wanted), as_json=as_json):
            tell("no line matches", quiet=as_json)
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)


def verify_command(root: Root = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Check the whole journal: edits, insertions, deletions, gaps. Exit 8 when anything is not as it was written."""
    setting = Locations.of(root)
    directory = _journal(setting)
    try:
        found = verify_journal(directory)
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)
    if as_json:
        body = {
            "sound": found.is_sound,
            "lines": found.lines,
            "first": found.first,
            "last": found.last,
            "hash": found.hash,
            "findings": [str(one) for one in found.findings],
            "notes": [str(one) for one in found.notes],
        }
        emit("verification", body)
    else:
        tell(*(f"note: {one}" for one in found.notes), quiet=quiet)
        say(*(f"BROKEN {shown(str(one))}" for one in found.findings))
        lines = counted(found.lines, "line")
        if found.is_sound:
            segments = counted(found.segments, "segment")
            say(f"sound: {lines} in {segments}, up to {found.last}, hash {found.hash[:16]}")
        else:
            say(f"{counted(found.found, 'finding')} in {lines}; keep a copy before anything else writes here")
    raise typer.Exit(Exit.OK if found.is_sound else Exit.BROKEN)


def export_command(
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="csv or jsonl.")] = "csv",
    since: Since = "",
    root: Root = None,
) -> None:
    """Write the journal to standard output as a table or as JSON lines."""
    if form not in ("csv", "jsonl"):
        fail(f"unknown format `{form}`, expected csv or jsonl", Exit.USAGE)
    chosen: Literal["csv", "jsonl"] = "csv" if form == "csv" else "jsonl"
    setting = Locations.of(root)
    try:
        export_journal(query_journal(_journal(setting), Filter(since_ms=_when(since))), sys.stdout, form=chosen)
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)


def prune_command(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    config: ConfigOption = None,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Remove the journal's oldest segments that `[journal]` `keep_days` and `keep_bytes` no longer keep.

    What was decided stays known, and session rules stay in force. A daemon that serves prunes by itself, one segment
    at a time; then this command removes nothing.
    """
    setting = Locations.of(root, config)
    directory = _journal(setting)
    retention = _retention(setting)
    try:
        unwanted = surplus(directory, retention, now_ms=int(time.time() * 1000))
        size = sum(path.stat().st_size for path in unwanted)
        served_by = "" if dry_run or not unwanted else _prune(setting, retention)
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)
    is_done = bool(unwanted) and not dry_run and not served_by
    if as_json:
        names = [path.name for path in unwanted]
        emit("pruning", {"segments": names, "bytes": size, "removed": is_done, "limited": not retention.is_unlimited})
        return
    what = f"{counted(len(unwanted), 'segment')} of {counted(size, 'byte')}"
    if retention.is_unlimited:
        tell("everything is kept: neither `keep_days` nor `keep_bytes` is set in `[journal]`", quiet=quiet)
    elif not unwanted:
        tell("nothing is older or more than what is kept", quiet=quiet)
    elif served_by:
        tell(f"{shown(served_by)}; it removes {what} by itself, one at a time", quiet=quiet)
    else:
        say(*(f"{'would remove' if dry_run else 'removed'} {path.name}" for path in unwanted))
        tell(f"{what} would go; nothing was removed" if dry_run else f"{what} gone", quiet=quiet)


def _prune(setting: Locations, retention: Retention) -> str:
    """Prune if nobody serves; else give in words who serves. Empty when it was pruned."""
    from fwdperm.serve import prune_unserved  # noqa: PLC0415 - only here

    try:
        prune_unserved(setting.state, retention)
    except AlreadyServed as error:
        return error.problem
    return ""


def _retention(setting: Locations) -> Retention:
    """Read how much the settings keep; end the command when they cannot be read or have an error."""
    from fwdperm.policy import read_settings  # noqa: PLC0415 - only here
    from fwdperm.rules import LayerKind, read_config  # noqa: PLC0415 - as above

    try:
        text = setting.config.read_bytes()
    except FileNotFoundError:
        if setting.config_is_named:
            fail(f"there is no `{setting.config}`", Exit.CONFIG)
        text = b""
    except OSError as error:
        fail(f"cannot read `{setting.config}`: {error.strerror}", Exit.CONFIG)
    file = read_config(text, file=str(setting.config), kind=LayerKind.USER)
    settings, problems = read_settings(file)
    for problem in (*file.problems, *problems):
        if problem.is_error:
            fail(f"{problem}; nothing was removed", Exit.CONFIG)
    return settings.retention


def _journal(setting: Locations) -> Path:
    """Give the journal's directory; end the command where nobody ever served."""
    directory = setting.state / "journal"
    if not directory.is_dir():
        fail(f"`{setting.root}` was never served, so there is no journal; name another with --root", Exit.NOBODY)
    return directory


def _one_of(value: str, known: Iterable[str], *, option: str) -> str:
    """Give a value that is empty or known; end the command for another one, which no line could match."""
    names = sorted(known)
    if value and value not in names:
        fail(f"`{option}` has no `{shown(value)}`, expected one of {', '.join(names)}", Exit.USAGE)
    return value


def _print(lines: Iterable[JournalLine], *, as_json: bool) -> int:
    """Print lines, and say how many there were."""
    number = 0
    for number, line in enumerate(lines, start=1):  # noqa: B007 - it is what is returned
        if as_json:
            emit("journal-line", {"seq": line.seq, "at": line.at, "kind": line.kind, "data": dict(line.data)})
        else:
            say(_sentence(line))
    return number


def _sentence(line: JournalLine) -> str:
    """Give one line for a person: when, what, who, why. Every text is shown escaped."""
    data = line.data
    when = datetime.fromtimestamp(line.at / 1000, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    values = data.get("values")
    value = str(values[0]) if isinstance(values, list) and values else str(data.get("pattern", ""))
    what = {"decided": f"{data.get('outcome', 'denied')}/{data.get('stage', 'nobody')}"}.get(line.kind, line.kind)
    who = "/".join(str(data[name]) for name in ("inbox", "id") if data.get(name))
    who = who or " < ".join(str(data[name]) for name in ("session", "parent") if data.get(name))
    said = data.get("reason") or data.get("why") or data.get("feedback") or data.get("reply") or ""
    subject = f"{data['surface']} `{shown(value)[:120]}`" if data.get("surface") else ""
    parts = (f"{line.seq:>6}", when, f"{what:<20}", shown(who), subject, shown(str(said))[:200])
    return "  ".join(part for part in parts if part)


def _when(text: str) -> int:
    """Read a time as epoch milliseconds; 0 for none. Ends the command when it is no time."""
    if not text:
        return 0
    span = _SPAN.fullmatch(text)
    if span:
        return int((time.time() - int(span[1]) * _SECONDS[span[2]]) * 1000)
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        fail(f"`{text}` is no time; write 30m, 12h, 7d or 2026-01-31T12:00", Exit.USAGE)
    return int(made.astimezone().timestamp() * 1000)

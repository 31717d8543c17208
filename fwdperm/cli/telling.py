"""`fwdperm status`, `tree`, `why`, `schema`: what the daemon is doing, why it decided, and what its files hold.

Lives here: four commands. They read the daemon's status file, the journal and the models; they change nothing.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from fwdperm.cli.common import AsJson, Exit, Locations, Root, counted, emit, fail, say
from fwdperm.errors import FwdpermError
from fwdperm.serve import Status, read_status
from fwdperm.sessions import NO_AGENT
from fwdperm.wire import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.journal import JournalLine

_FRESH_S = 5.0
"""Seconds after which a status file that was not renewed means that nobody serves."""
_NEWS: Final = {"descriptor": "inotify", "observer": "watchdog", "polling": "listing every second"}
"""How the daemon hears of new files, in words for people."""


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("status", short_help="Show who serves, what waits, what was decided.")(status_command)
    app.command("tree", short_help="Draw the tree of sessions.")(tree_command)
    app.command("why", short_help="Tell one request's story from the journal.")(why_command)
    app.command("schema", short_help="Print the JSON Schema of one kind of file.")(schema_command)


def status_command(root: Root = None, as_json: AsJson = False) -> None:
    """Show who serves, under which settings, what waits, what was decided. Exit 4 when nobody serves.

    The settings are those that the daemon holds; where the file on disk says something else, that is told.
    """
    setting = Locations.of(root)
    status = _status(setting)
    alive = status is not None and is_fresh(status)
    if as_json:
        body = _camel(status.as_json()) if status else {}
        told: list[str] = []
        if status and alive:
            from fwdperm.serve import differences  # noqa: PLC0415 - only here

            told = [one.words for one in differences(status)]
        emit("status", {"serving": alive, "root": str(setting.root), **body, "differs": told})
    elif status is None or not alive:
        say(nobody_serves(setting))
    else:
        say(*_status_lines(status))
    raise typer.Exit(Exit.OK if alive else Exit.NOBODY)


def tree_command(root: Root = None, as_json: AsJson = False) -> None:
    """Draw the tree of sessions: who is served, who waits. Exit 4 when nobody serves.

    Behind each session stands what is known of it: `running` or `ended` when `fwdperm run` started it, `claimed` when
    only its requests name it, `inbox` when it only has one.
    """
    setting = Locations.of(root)
    status = _status(setting)
    alive = status is not None and is_fresh(status)
    if as_json:
        sessions = [session.as_json() for session in status.sessions] if status else []
        emit("tree", {"serving": alive, "sessions": sessions})
    elif status is None:
        fail(nobody_serves(setting), Exit.NOBODY)
    else:
        say(*_tree_lines(status))
        if not alive:
            fail("nobody serves now; this is how it was last seen", Exit.NOBODY)
    raise typer.Exit(Exit.OK if alive else Exit.NOBODY)


def why_command(
    request_id: Annotated[str, typer.Argument(metavar="ID", help="A request's id.")],
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Tell a request's whole story from the journal: what was asked, who said what, what decided."""
    from fwdperm.journal import (  # noqa: PLC0415 - only here
        Filter,
        query_journal,
    )

    setting = Locations.of(root)
    try:
        lines = list(query_journal(setting.state / "journal", Filter(id=request_id)))
    except (FwdpermError, OSError) as error:
        fail(str(error), Exit.INTERNAL)
    if not lines:
        fail(f"the journal knows no request `{shown(request_id)}`", Exit.UNKNOWN)
    if as_json:
        emit("story", {"id": request_id, "lines": [{"kind": one.kind, "at": one.at, **one.data} for one in lines]})
        return
    for line in lines:
        say(*_story(line.kind, dict(line.data), at=line.at))
        if line.data.get("stage") == "session_rule":
            say(*_taught(setting, dict(line.data)))


def schema_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="request, response, prompt, reply or heartbeat.")] = "",
) -> None:
    """Print the JSON Schema of one kind of file."""
    from fwdperm.wire import SCHEMAS  # noqa: PLC0415 - only here

    made = SCHEMAS.get(name)
    if not name:
        fail(f"name a kind of file: {', '.join(sorted(SCHEMAS))}", Exit.USAGE)
    if made is None:
        fail(f"no schema `{shown(name)}`; there are {', '.join(sorted(SCHEMAS))}", Exit.USAGE)
    sys.stdout.write(json.dumps(made(), indent=2, sort_keys=True) + "\n")


# -- drawing ---------------------------------------------------------------------------------------------------


def nobody_serves(setting: Locations) -> str:
    """Say that nobody serves, and what to do."""
    return f"nobody serves `{setting.root}`; start `fwdperm serve`, or name another root with --root"


def is_served(setting: Locations) -> bool:
    """Say whether a daemon serves the root now, as far as its status file tells."""
    status = _status(setting)
    return status is not None and is_fresh(status)


def is_fresh(status: Status) -> bool:
    """Say whether a status is recent enough that its daemon must be alive."""
    return abs(time.time() * 1000 - status.updated_at) <= _FRESH_S * 1000


def _camel(body: dict[str, Any]) -> dict[str, Any]:
    """Give an object with its names in camelCase, as in all our other JSON."""
    return {re.sub("_(.)", lambda found: found[1].upper(), name): value for name, value in body.items()}


def _status(setting: Locations) -> Status | None:
    try:
        return read_status(setting.state)
    except FwdpermError as error:
        fail(str(error), Exit.INTERNAL)


def _status_lines(status: Status) -> list[str]:
    from fwdperm.serve import differences, set_by_hand  # noqa: PLC0415 - only here

    stages = ", ".join(f"{stage} {count}" for stage, count in sorted(status.by_stage.items())) or "none yet"
    lines = [
        f"serving   {status.root}  (pid {status.pid}, news by {_NEWS.get(status.doorbell, status.doorbell)})",
        f"health    {status.health}",
        f"config    {shown(status.config)}",
        f"settings  {shown(set_by_hand(status.settings)) or 'all at their defaults'}",
        *(f"DIFFERS   {shown(one.words)}" for one in differences(status)),
        f"sessions  {len(status.sessions)}",
        f"waiting   {status.waiting}",
        f"decided   approved {status.approved}, denied {status.denied}  (by {stages})",
    ]
    if status.judge:
        lines.append(f"judge     {shown(status.judge)}")
    if status.set_aside:
        lines.append(f"set aside {counted(status.set_aside, 'file')} without a readable request")
    lines.extend(f"problem   {shown(problem)}" for problem in status.problems)
    return lines


def _tree_lines(status: Status) -> list[str]:
    """Draw sessions under their parents; one that would be its own ancestor is drawn at the top."""
    below: dict[str, list[str]] = {}
    by_id = {session.session: session for session in status.sessions}
    for session in status.sessions:
        below.setdefault(session.parent if session.parent in by_id else "", []).append(session.session)
    lines: list[str] = []
    drawn: set[str] = set()

    def draw(name: str, indent: str) -> None:
        if name in drawn:
            return
        drawn.add(name)
        session = by_id[name]
        marks = [mark for mark in (_agent(session.agent), session.state) if mark]
        waits = f"{session.waiting} waiting" if session.waiting else ""
        lines.append("  ".join(part for part in (f"{indent}{shown(name)}", *marks, waits) if part))
        for child in sorted(below.get(name, ())):
            draw(child, indent + "  ")

    for name in sorted(below.get("", ())):
        draw(name, "")
    for name in sorted(by_id):
        draw(name, "")
    return lines


def _agent(name: str) -> str:
    """Give the agent for a line of the tree; empty for the name that a requester without one sends."""
    return f"agent {shown(name)}" if name not in {"", NO_AGENT} else ""


def _story(kind: str, data: dict[str, Any], *, at: int) -> list[str]:
    when = time.strftime("%H:%M:%S", time.localtime(at / 1000))
    match kind:
        case "asked":
            return [f"{when}  asked a person: {shown(str(data.get('why', '')))}"]
        case "replied":
            said = f": {shown(str(data['feedback']))}" if data.get("feedback") else ""
            return [f"{when}  {shown(str(data.get('user') or data.get('via')))} replied {data.get('reply')}{said}"]
        case "verdict":
            spoke = data.get("verdict") or f"silent ({data.get('failure')})"
            return [f"{when}  judge {spoke}: {shown(str(data.get('reason', '')))}"]
        case "decided":
            return _decided_lines(data, when=when)
        case _:
            return [f"{when}  {kind}"]


def _taught(setting: Locations, data: dict[str, Any]) -> list[str]:
    """Say who taught each session rule that decided, in answer to what, and in which words."""
    from fwdperm.journal import (  # noqa: PLC0415 - only here
        Filter,
        query_journal,
    )

    rules = [data.get("rule") or {}, *(unit.get("rule") or {} for unit in data.get("units") or ())]
    names = dict.fromkeys(str(rule["id"]) for rule in rules if rule.get("layer") == "session" and rule.get("id"))
    found: dict[str, JournalLine] = {}
    for kind in ("replied", "rule_added"):
        for line in query_journal(setting.state / "journal", Filter(kind=kind)):
            found |= {name: line for name in names if name[1:].partition(".")[0] == str(line.seq)}
    lines = []
    for name, line in found.items():
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(line.at / 1000))
        who = f"{_text(line.data, 'user')} ({_text(line.data, 'via')})"
        answer = (
            f"answering {_text(line.data, 'inbox')}/{_text(line.data, 'id')}" if line.kind == "replied" else "by hand"
        )
        note = _text(line.data, "feedback") or _text(line.data, "note")
        lines.append(f"          rule {name} was taught by {who} on {when}, {answer}{f': {note}' if note else ''}")
    return lines


def _decided_lines(data: dict[str, Any], *, when: str) -> list[str]:
    values = data.get("values") or [""]
    lines = [
        f"{when}  {data.get('outcome', 'denied')} by {data.get('stage', 'nobody')} {_text(data, 'by')}".rstrip(),
        f"          {data.get('surface', '')} `{shown(str(values[0]))}`  in {shown(str(data.get('cwd') or '?'))}",
        f"          from {shown(str(data.get('session', '')))} in the inbox of {shown(str(data.get('inbox', '')))}",
        f"          told: {shown(str(data.get('reason', '')))}",
    ]
    for unit in data.get("units") or ():
        rule = unit.get("rule") or {}
        by = f'  rule "{shown(str(rule.get("pattern", "")))}" {shown(str(rule.get("origin", "")))}' if rule else ""
        lines.append(f"          {unit.get('action', '-')}  {_text(unit, 'surface')} `{_text(unit, 'text')}`{by}")
    return lines


def _text(data: Mapping[str, Any], name: str) -> str:
    return shown(str(data.get(name) or ""))

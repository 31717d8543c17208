"""What the daemon is doing, as one small file that any command can read.

Lives here: `Status`, writing it once a second when it changed, reading it. Never here: the journal.

The file is for reading only: nothing depends on it, and a daemon that cannot write it goes on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import held_directory, os_error_words, remove_file, replace_file
from fwdperm.late_log import late_log

if TYPE_CHECKING:
    from pathlib import Path


NAME: Final = "status.json"
ELSEWHERE: Final = "served elsewhere"
"""The state of a session whose inbox somebody else serves."""
_REFRESH_MS: Final = 2_000
"""Milliseconds after which an unchanged file is written again, so that readers can tell the daemon lives."""


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """One node of the tree.

    Attributes:
        session: Its id.
        parent: Its parent; empty for a root.
        agent: Its agent name.
        state: `running` or `ended` for a session that `fwdperm run` recorded; `claimed` for one that is only known from
            a request; `inbox` for one that only has an inbox; `served elsewhere` for one that somebody else answers.
        waiting: How many of its requests wait.
    """

    session: str
    parent: str = ""
    agent: str = ""
    state: str = "claimed"
    waiting: int = 0

    def as_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        return {name: getattr(self, name) for name in _SESSION_FIELDS}


_SESSION_FIELDS: Final = tuple(each.name for each in fields(SessionStatus))
"""Looked up once: the status of every session is written every two seconds."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the daemon is doing.

    Attributes:
        root: What it serves.
        pid: Its process.
        started_at: Epoch milliseconds.
        updated_at: Epoch milliseconds; older than a few seconds means that nobody serves.
        health: `serving`, or what is wrong.
        doorbell: How news arrives: `descriptor`, `observer`, `polling`.
        waiting: How many requests wait for a person or the judge.
        approved: Decisions since the start.
        denied: The same.
        by_stage: Decisions by who decided.
        set_aside: Files that were no readable request.
        sessions: The tree.
        judge: What the judge is doing, in one line; empty when none is configured.
        problems: What is wrong in rules and settings.
        config: The configuration it reads, absolute.
        config_digest: SHA-256 of the text whose settings are in force; empty when there never was one.
        workspace: The directory it was started to vouch for; empty for none.
        settings: The settings in force, by the names a configuration gives them.
    """

    root: str
    pid: int
    started_at: int
    updated_at: int
    health: str = "serving"
    doorbell: str = ""
    waiting: int = 0
    approved: int = 0
    denied: int = 0
    by_stage: dict[str, int] = field(default_factory=dict, hash=False)
    set_aside: int = 0
    sessions: tuple[SessionStatus, ...] = ()
    judge: str = ""
    problems: tuple[str, ...] = ()
    config: str = ""
    config_digest: str = ""
    workspace: str = ""
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    def as_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        body = {each.name: getattr(self, each.name) for each in fields(self)}
        return body | {"sessions": [session.as_json() for session in self.sessions]}


class StatusFile:
    """The status file of one state directory."""

    def __init__(self, state: Path) -> None:
        self._state = str(state)
        self._last: Status | None = None

    def write(self, status: Status) -> None:
        """Write it when it changed, or every two seconds. Never raises."""
        last = self._last
        is_recent = last is not None and status.updated_at - last.updated_at < _REFRESH_MS
        if last is not None and is_recent and replace(last, updated_at=status.updated_at) == status:
            return
        try:
            with held_directory(self._state) as at:
                replace_file(NAME, json.dumps(status.as_json()).encode(), at=at)
            self._last = status
        except OSError as error:
            late_log().warning("status.failed", reason=os_error_words(error))

    def remove(self) -> None:
        """Take it away: nobody serves any more. Never raises."""
        try:
            with held_directory(self._state) as at:
                remove_file(NAME, at=at)
        except OSError as error:
            late_log().warning("status.failed", reason=os_error_words(error))


def read_status(state: Path) -> Status | None:
    """Read the status of a daemon; None where there is none.

    Raises:
        EnvironmentFailure: When it is there and cannot be read.
    """
    try:
        raw = json.loads((state / NAME).read_bytes())
        sessions = tuple(SessionStatus(**one) for one in raw.pop("sessions"))
        return Status(**{**raw, "sessions": sessions, "problems": tuple(raw["problems"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise EnvironmentFailure(f"cannot read `{state / NAME}`: {error}") from error

"""The records of sessions that `fwdperm run` started. Written for the operator, and kept where children cannot reach.

Lives here: the record's form on disk, writing it, ending it, reading all of them. Never here: starting a process
(`launch.py`), what the daemon makes of it (`sessions/session_tree.py`).

Layout: `<state>/sessions/<enc(session)>.json`, beside it `<enc(session)>.toml`, the recorded ruleset, byte for byte.
The record of an ended session stays, without its token: its denials still hold for children that live longer.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.wire import encode_session

SCHEMA = "fwdperm.session/1"
_TEXTS = frozenset({"session", "parent", "agent", "cwd", "token", "ruleset", "ruleset_source", "boot"})
_NUMBERS = frozenset({"started_ms", "ended_ms", "pid", "ticks"})


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """One record.

    Attributes:
        session: The session's id.
        parent: The session whose inbox it asks.
        agent: Its agent name.
        cwd: Its working directory, absolute.
        token: Its secret, for checking proofs; empty once it ended.
        ruleset: Path of the recorded ruleset's copy; empty for none.
        ruleset_source: The file it was copied from, absolute: what denials and problems name.
        started_ms: Epoch milliseconds of its start.
        ended_ms: Epoch milliseconds of its end; 0 while it runs.
        pid: The launcher's process id: it lives as long as the child.
        ticks: That process's start in clock ticks since boot: a pid alone is reused.
        boot: Id of the boot that `ticks` are counted from.
    """

    session: str
    parent: str
    agent: str = ""
    cwd: str = ""
    token: str = field(default="", repr=False)
    ruleset: str = ""
    ruleset_source: str = ""
    started_ms: int = 0
    ended_ms: int = 0
    pid: int = 0
    ticks: int = 0
    boot: str = ""

    @property
    def is_running(self) -> bool:
        """Say whether its launcher still lives. In doubt False: then no request is proven to be of this session."""
        return not self.ended_ms and self.ticks > 0 and (self.ticks, self.boot) == (start_of(self.pid), _boot())


def record_session(state: Path, session: RecordedSession, *, ruleset: bytes | None) -> RecordedSession:
    """Write a session's record, replacing the one of an earlier run.

    Args:
        state: The state directory; made when missing.
        session: The record; `ruleset` is filled in here.
        ruleset: The recorded ruleset's bytes; None for none.

    Returns:
        The record as written.

    Raises:
        ChildError: The session's id cannot name a file.
        EnvironmentFailure: The record cannot be written. Fails closed: the caller starts nothing.
    """
    name = encode_session(session.session)
    directory = state / "sessions"
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)  # `parents` alone would leave it open to others
        directory.mkdir(mode=0o700, exist_ok=True)
        copy = directory / f"{name}.toml"
        if ruleset is not None:
            _write_private(copy, ruleset)
            session = replace(session, ruleset=str(copy))
        _write_record(directory / f"{name}.json", session)
        if ruleset is None:
            copy.unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFailure(
            f"cannot record session `{session.session}` in `{directory}`: {error.strerror}"
        ) from None
    return session


def end_session(state: Path, session: RecordedSession, *, at_ms: int) -> None:
    """Record that a session ended, without its token. Its ruleset stays, for children that live longer.

    A record that a newer run of that name has replaced is left alone. If it cannot be written, the session counts as
    ended all the same, once its launcher is gone.
    """
    path = state / "sessions" / f"{encode_session(session.session)}.json"
    try:
        now = _read_record(path)
        if now is not None and (now.pid, now.ticks) == (session.pid, session.ticks):
            _write_record(path, replace(session, ended_ms=at_ms, token=""))
    except OSError:
        return


def read_sessions(state: Path) -> tuple[RecordedSession, ...]:
    """Read every record.

    Returns:
        Those that can be read, by session id. An unreadable record is left out: its session is then a claim, with
        nothing allowed for it.

    Raises:
        EnvironmentFailure: The directory exists and cannot be listed.
    """
    directory = state / "sessions"
    try:
        paths = sorted(path for path in directory.iterdir() if path.suffix == ".json") if directory.is_dir() else []
    except OSError as error:
        raise EnvironmentFailure(f"cannot list `{directory}`: {error.strerror}") from None
    records = (_read_record(path) for path in paths)
    return tuple(record for record in records if record is not None)


def start_of(pid: int) -> int:
    """Return when a process started, in clock ticks since boot; 0 when there is none or the system does not say."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(status.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def this_process() -> dict[str, Any]:
    """Return the fields of a record that identify this process, also among those that get its id later."""
    pid = os.getpid()
    return {"pid": pid, "ticks": start_of(pid), "boot": _boot()}


def now_ms() -> int:
    """Return the epoch milliseconds."""
    return time.time_ns() // 1_000_000


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _write_record(path: Path, session: RecordedSession) -> None:
    _write_private(path, json.dumps({"schema": SCHEMA, **asdict(session)}, indent=1).encode() + b"\n")


def _read_record(path: Path) -> RecordedSession | None:
    try:
        raw = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        return None
    texts = {name: raw.get(name) for name in _TEXTS}
    numbers = {name: raw.get(name) for name in _NUMBERS}
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers.values()):
        return None
    record = RecordedSession(**texts, **numbers)  # type: ignore[arg-type]  # checked just above
    try:
        return record if path.stem == encode_session(record.session) else None
    except ChildError:
        return None


def _write_private(path: Path, content: bytes) -> None:
    """Replace a file as a whole, readable by its owner only."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

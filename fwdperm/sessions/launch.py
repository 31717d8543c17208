"""`fwdperm run`: start a child that can ask, record its session and ruleset, pass signals on to it, record its end.

Lives here: one child's life. Never here: the record's form (`registry.py`), the child's questions (`client/asking.py`).

Fails closed: a ruleset with a mistake, a session that cannot be recorded or that runs already starts nothing.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from fwdperm.errors import OperatorError
from fwdperm.sessions import locations
from fwdperm.sessions.registry import RecordedSession, end_session, now_ms, read_sessions, record_session, this_process
from fwdperm.wire import encode_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

_PASSED_ON: Final = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_FROM_TERMINAL: Final = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGHUP})
"""Signals that a terminal sends to every process in its foreground group, and so to the child as well."""


def run_child(  # noqa: PLR0913 - what `fwdperm run` takes
    argv: Sequence[str],
    *,
    session: str,
    parent: str | None = None,
    agent: str = "",
    ruleset: Path | None = None,
    cwd: Path | None = None,
    root: Path,
    state: Path,
    env: Mapping[str, str],
) -> int:
    """Start a child process as a session, and wait for its end.

    Args:
        argv: The command and its arguments.
        session: The session the child is.
        parent: The session whose inbox it asks; `$FWDPERM_SESSION` of `env` by default (a run inside a run), else
            `root`.
        agent: Its agent name.
        ruleset: A TOML file to record as its ruleset.
        cwd: Its working directory; this process's own by default.
        root: The inbox tree.
        state: The state directory of that root.
        env: The environment the child starts with, apart from what a session adds.

    Returns:
        The child's exit code; 128 + n when signal n ended it.

    Raises:
        OperatorError: The command cannot be started, the ruleset has a mistake, the session runs already or would be
            its own parent.
        ChildError: A session id that cannot name an inbox.
        EnvironmentFailure: The session cannot be recorded.

    Must run in the main thread: signals are passed on to the child while it runs.
    """
    session = session.strip()
    parent = (parent or env.get(locations.SESSION_VARIABLE) or locations.ROOT_SESSION).strip()
    encode_session(parent)
    if encode_session(session) == encode_session(parent) and session != locations.ROOT_SESSION:
        raise OperatorError(f"session `{session}` cannot be its own parent", remedy="name another one with `--parent`")
    directory = Path(os.path.abspath(cwd or Path.cwd()))  # noqa: PTH100 - links stay as the operator wrote them
    if not directory.is_dir():
        raise OperatorError(f"working directory `{directory}` does not exist")
    for other in read_sessions(state):
        if other.session == session and other.is_running:
            raise OperatorError(f"session `{session}` runs already (process {other.pid})", remedy="choose another id")
    record = record_session(
        state,
        RecordedSession(
            session=session,
            parent=parent,
            agent=agent,
            cwd=str(directory),
            token=secrets.token_hex(32),
            ruleset_source=os.path.abspath(ruleset) if ruleset else "",  # noqa: PTH100 - links stay as they were written
            started_ms=now_ms(),
            **this_process(),
        ),
        ruleset=None if ruleset is None else _read_ruleset(ruleset),
    )
    told = locations.child_variables(
        root=os.path.abspath(root),  # noqa: PTH100 - as above
        session=session,
        parent=parent,
        agent=agent,
        token=record.token,
    )
    try:
        return _live(argv, cwd=directory, env={**env, **told})
    finally:
        end_session(state, record, at_ms=now_ms())


def _read_ruleset(path: Path) -> bytes:
    """Read a ruleset that is to be recorded; raise OperatorError for one with a mistake: then no child is started."""
    from fwdperm.rules import (  # noqa: PLC0415 - only a run with a ruleset needs the rules
        LayerKind,
        Severity,
        read_layer,
    )

    try:
        content = path.read_bytes()
    except OSError as error:
        raise OperatorError(f"cannot load the ruleset: {error.strerror}", file=str(path)) from None
    for problem in read_layer(content, file=str(path), kind=LayerKind.SESSION).problems:
        if problem.severity is Severity.ERROR:
            raise OperatorError(problem.message, file=problem.file, line=problem.line, remedy=problem.remedy)
    return content


def _live(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """Start the child, pass signals on, wait."""
    with _Signals() as signals:
        try:
            child = subprocess.Popen(argv, cwd=cwd, env=env)  # noqa: S603 - the operator's own command
        except (OSError, ValueError, IndexError) as error:
            why = error.strerror if isinstance(error, OSError) else "no command was given"
            raise OperatorError(f"cannot start `{argv[0] if argv else ''}`: {why}") from None
        signals.pass_to(child)
        code = child.wait()
    return 128 - code if code < 0 else code


class _Signals:
    """Passes signals on to the child. Those that come before it is started are kept for it."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        for number in _PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:  # what was ignored stays ignored, in the child too
                self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # it is what `signal.signal` returned

    def pass_to(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        while self._early:
            child.send_signal(self._early.pop(0))

    def _came(self, number: int, _frame: FrameType | None) -> None:
        if number in _FROM_TERMINAL and _is_foreground():
            return  # the terminal has sent it to the child as well
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)


def _is_foreground() -> bool:
    """Say whether this process is in its terminal's foreground group, which the terminal signals as a whole."""
    try:
        return os.tcgetpgrp(sys.__stdin__.fileno() if sys.__stdin__ else 0) == os.getpgrp()
    except (OSError, ValueError):
        return False

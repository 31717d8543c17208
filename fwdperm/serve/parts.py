"""What a daemon is made of: the parts, built in order and closed in reverse.

Lives here: `Parts` and `build_parts`, the only place where the rooms are connected to a daemon. Never here: what
happens on a wake-up (`daemon.py`).
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

import fwdperm
from fwdperm.clock import SystemClock
from fwdperm.errors import ChildError, EnvironmentFailure, OperatorError
from fwdperm.inbox import Heart, InboxTree, visible_pid
from fwdperm.journal import JournalFailed, StartedRecord, StoppedRecord
from fwdperm.policy import SnapshotFile, TaughtRules, Teaching, open_rulebook
from fwdperm.seat import PromptFiles, SeatQueue, Unattended
from fwdperm.serve.in_force import HeldText, as_written
from fwdperm.serve.interfaces import Interfaces
from fwdperm.serve.judge_tasks import JudgeTasks
from fwdperm.serve.ledger import Ledger
from fwdperm.serve.lifecycle import RequestLifecycle
from fwdperm.serve.ownership import Ownership, lies_shared, take_ownership
from fwdperm.serve.pruning import Pruner, open_journal
from fwdperm.serve.services import Limits, Services
from fwdperm.serve.status import ELSEWHERE, SessionStatus, Status, StatusFile
from fwdperm.sessions import ROOT_SESSION, SessionTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fwdperm.journal import Journal
    from fwdperm.policy import Config, Rulebook

log = structlog.get_logger("fwdperm.serve")


@dataclass(frozen=True, slots=True)
class DaemonOptions:
    """How a daemon is started.

    Attributes:
        root: The inbox tree.
        state: What children must not reach.
        config: The user's rules and settings.
        workspace: The directory the operator vouches for; empty for none.
        sessions: Inboxes to make at once, beside the ones that exist.
        asks_here: Whether to ask on the terminal that serves.
        has_colour: Whether colour may be used there.
        standby: Wait for another daemon to end instead of giving up.
        several_uids: Children run as other users of the root's group.
        shared: Root and state are used from other machines too, whatever the mount table says.
        polls: List the inboxes on time, and believe neither events nor directory times.
    """

    root: Path
    state: Path
    config: Path
    workspace: str
    sessions: Sequence[str] = (ROOT_SESSION,)
    asks_here: bool = True
    has_colour: bool = True
    standby: bool = False
    several_uids: bool = False
    shared: bool = False
    polls: bool = False


@dataclass(slots=True)
class Parts:
    """The parts of one daemon, and the little that its loop remembers between ticks.

    Attributes:
        held: Writes the copy of the configuration's text that is in force.
        started_at: Epoch milliseconds.
        doorbell_mode: Which kind of doorbell is in use, for the status.
        doorbell_is_alive: Whether it still hears of changes; if not, the heartbeats stop.
        trouble: What went wrong in the last turn or tick, in words; empty when nothing did.
        is_superseded: Whether another daemon took the root over: then its files are left alone.
    """

    options: DaemonOptions
    ownership: Ownership
    journal: Journal
    transport: InboxTree
    sessions: SessionTree
    rulebook: Rulebook
    queue: SeatQueue
    prompt_files: PromptFiles
    interfaces: Interfaces
    judge_tasks: JudgeTasks
    teaching: Teaching
    snapshot: SnapshotFile
    services: Services
    lifecycle: RequestLifecycle
    pruner: Pruner
    heart: Heart
    status: StatusFile
    held: HeldText
    clock: SystemClock
    started_at: int
    doorbell_mode: str = ""
    doorbell_is_alive: bool = True
    trouble: str = ""
    is_superseded: bool = False
    _served: set[str] = field(default_factory=set)  # inboxes that we renew heartbeats for
    _elsewhere: frozenset[str] = frozenset()  # inboxes that somebody else serves
    _drawn: tuple[object, tuple[SessionStatus, ...]] = (None, ())  # the sessions' status, and what it was made from

    @property
    def health(self) -> str:
        """`serving`, or what is wrong, in words. The heartbeat's thread reads it too, so it only reads attributes."""
        if not self.journal.healthy:
            return self.journal.problem or "the journal cannot be written"
        if not self.doorbell_is_alive:
            return "no news arrives from the file system"
        if not self.ownership.lease.is_held():
            return "this daemon's right to serve the root was taken away, or cannot be renewed"
        return self.trouble or "serving"

    def serve_sessions(self) -> None:
        """Renew heartbeats for the inboxes that exist and that nobody else serves, and for no others."""
        there = set(self.transport.sessions())
        self._served -= self.heart.yielded()
        elsewhere = self.transport.served_elsewhere(there - self._served)
        if elsewhere != self._elsewhere:
            log.info("sessions.served_elsewhere", sessions=sorted(elsewhere))
        now = there - elsewhere
        for session in now - self._served:
            with contextlib.suppress(ChildError, EnvironmentFailure):
                self.transport.ensure(session)
            self.heart.serve(session)
        for session in self._served - now:
            self.heart.release(session)
        self._served, self._elsewhere = now, elsewhere

    def tell_rules(self) -> None:
        """Write the readable snapshot of the session rules, when they changed."""
        taught_rules = self.teaching.taught_rules
        self.snapshot.write(taught_rules.rules, now_ms=taught_rules.now_ms())

    def tell_status(self) -> None:
        """Write the status file; before it the copy of the configuration, whose digest the status names."""
        files = self.rulebook.files
        self.held.write(files.text_in_force)
        counts = self.lifecycle.outbox.counts
        made = Status(
            root=str(self.options.root),
            pid=os.getpid(),
            started_at=self.started_at,
            updated_at=self.clock.wall_ms(),
            health=self.health,
            doorbell=self.doorbell_mode,
            waiting=len(self.lifecycle.room.waiting),
            approved=counts.approved,
            denied=counts.denied,
            by_stage=dict(counts.by_stage),
            set_aside=counts.set_aside,
            sessions=self._session_status(),
            judge=self.judge_tasks.status(),
            problems=self._problems(),
            config=os.path.abspath(self.options.config),  # noqa: PTH100 - links stay as the operator wrote them
            config_digest=self.held.digest,
            workspace=self.options.workspace,
            settings=as_written(self.rulebook.config, files.config),
        )
        self.status.write(made)

    def _problems(self) -> tuple[str, ...]:
        trouble = [self.teaching.trouble] if self.teaching.trouble else []
        if self.heart.trouble:
            trouble.append(f"children may think that nobody serves: {self.heart.trouble}")
        return (*(str(problem) for problem in self.rulebook.problems), *trouble)

    def _session_status(self) -> tuple[SessionStatus, ...]:
        waiting: dict[str, int] = {}
        for held in self.lifecycle.room.waiting.values():
            session = held.arrival.request.session
            waiting[session] = waiting.get(session, 0) + 1
        drawn_of = (self.sessions.changes, self._served, self._elsewhere, waiting)
        if self._drawn[0] != drawn_of:  # with a thousand sessions this is slow: only when one changed
            self._drawn = (drawn_of, self._draw(waiting))
        return self._drawn[1]

    def _draw(self, waiting: Mapping[str, int]) -> tuple[SessionStatus, ...]:
        edges = self.sessions.all()
        names = dict.fromkeys((*self._served, *self._elsewhere, *self.sessions.recorded(), *waiting))
        for name in tuple(names):  # add every parent up to the root, so that the tree has no gap
            while (name := edges.get(name, "")) and name not in names:
                names[name] = None
        return tuple(
            SessionStatus(
                session=name,
                parent=edges.get(name, ""),
                agent=self.sessions.agent(name),
                state=self._state_of(name),
                waiting=waiting.get(name, 0),
            )
            for name in sorted(names)
            if name
        )

    def _state_of(self, session: str) -> str:
        if session in self._elsewhere:
            return ELSEWHERE
        return self.sessions.state(session) or ("inbox" if session in self._served else "claimed")

    def close(self) -> None:
        """Stop in order: heartbeats first, the journal and the lock last. What a successor owns is left alone."""
        self.heart.close(withdraws=not self.is_superseded)
        self.judge_tasks.detach()
        self.interfaces.detach()
        if self.is_superseded:
            self.journal.abandon()
        else:
            self.status.remove()
            self.held.remove()
            self.prompt_files.clear()
            self._close_journal()
        self.transport.close()
        self.ownership.lease.close()

    def _close_journal(self) -> None:
        try:
            self.journal.append(StoppedRecord(reason="stopped"))
            self.journal.close()
        except JournalFailed as failure:
            log.error("journal.failed", reason=str(failure))  # noqa: TRY400 - the reason is all there is to know


def build_parts(options: DaemonOptions) -> Parts:
    """Build a daemon's parts.

    Raises:
        OperatorError: A ruleset or setting has an error (the daemon does not start wider than before), or another
            daemon serves this root.
        EnvironmentFailure: A directory or the journal cannot be made.
    """
    clock = SystemClock()
    sessions = SessionTree()
    rulebook = open_rulebook(
        root=options.root, state=options.state, config=options.config, workspace=options.workspace, sessions=sessions
    )
    for problem in rulebook.problems:
        if problem.is_error:
            raise OperatorError(str(problem), remedy="nothing is served until it is mended; `fwdperm check` has more")
    _make_private(options.root, several_uids=options.several_uids)
    _make_private(options.state, is_state=True)
    is_shared = options.shared or lies_shared(options.state)
    ownership = take_ownership(options.state, is_shared=is_shared, standby=options.standby)
    with contextlib.ExitStack() as undo:
        undo.callback(ownership.lease.close)
        taught_rules = TaughtRules(sessions, clock=clock)
        journal = open_journal(options.state, taught_rules, ownership=ownership, clock=clock)
        undo.callback(journal.close)
        rulebook.taught_rules = taught_rules
        for edge in journal.state.sessions.values():
            sessions.claim(edge.session, edge.parent, agent=edge.agent)
        parts = _assemble(
            options, clock, sessions, rulebook, taught_rules=taught_rules, journal=journal, ownership=ownership
        )
        undo.pop_all()
    return parts


def _assemble(  # noqa: PLR0913 - what `build_parts` opened
    options: DaemonOptions,
    clock: SystemClock,
    sessions: SessionTree,
    rulebook: Rulebook,
    *,
    taught_rules: TaughtRules,
    journal: Journal,
    ownership: Ownership,
) -> Parts:
    is_shared = options.shared or lies_shared(options.root)
    transport = InboxTree(
        options.root, several_uids=options.several_uids, believes_times=not (options.polls or is_shared)
    )
    for session in options.sessions:
        transport.ensure(session)
    queue = SeatQueue()
    prompt_files = PromptFiles(options.state)
    prompt_files.clear()
    interfaces = Interfaces(options.state, queue=queue, asks_here=options.asks_here, has_colour=options.has_colour)
    interfaces.box.prepare()
    judge_tasks = JudgeTasks(rulebook)
    teaching = Teaching(taught_rules, rulebook.projects, sessions=sessions, journal=journal)
    services = Services(
        transport=transport,
        journal=journal,
        ledger=Ledger(journal.state, ownership.last_word),
        rules=rulebook,
        sessions=sessions,
        teaching=teaching,
        queue=queue,
        prompt_files=prompt_files,
        clock=clock,
        limits=lambda: _limits(rulebook.config),
        consult=judge_tasks.consult,
        is_attended=interfaces.is_attended,
    )
    # `parts` is made just below; the heart asks only once it was started.
    heart = Heart(transport, is_healthy=lambda: parts.health == "serving", pid=visible_pid(shared=is_shared))
    parts = Parts(
        options=options,
        ownership=ownership,
        journal=journal,
        transport=transport,
        sessions=sessions,
        rulebook=rulebook,
        queue=queue,
        prompt_files=prompt_files,
        interfaces=interfaces,
        judge_tasks=judge_tasks,
        teaching=teaching,
        snapshot=SnapshotFile(options.state),
        services=services,
        lifecycle=RequestLifecycle(services),
        pruner=Pruner(journal, retention=lambda: rulebook.config.retention, clock=clock),
        heart=heart,
        status=StatusFile(options.state),
        held=HeldText(options.state),
        clock=clock,
        started_at=clock.wall_ms(),
    )
    version = rulebook.files.config.layer.name
    journal.append(StartedRecord(version=fwdperm.__version__, root=str(options.root), ruleset=version, pid=os.getpid()))
    journal.commit()
    parts.tell_rules()
    if taught_rules.rules.rules:
        log.info("rules.in_force", count=len(taught_rules.rules.rules), hint="`fwdperm rules list` shows them")
    return parts


def _limits(config: Config) -> Limits:
    return Limits(config.wait_s, refuses_unattended=config.unattended is Unattended.REJECT)


def _make_private(path: Path, *, several_uids: bool = False, is_state: bool = False) -> None:
    """Make a directory that only its owner can use.

    An existing one of another user is refused. An existing state directory that others can use is closed to them.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
        if is_state and status.st_uid == os.geteuid() and status.st_mode & 0o077:
            path.chmod(0o700)  # another command or a lax umask made it: children of other users must not reach it
    except OSError as error:
        raise EnvironmentFailure(f"cannot make `{path}`: {error.strerror}") from error
    if status.st_uid != os.geteuid() and not several_uids:
        raise EnvironmentFailure(f"`{path}` belongs to another user; choose another directory with `--root`")

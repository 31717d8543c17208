"""What happens to rules when a person answers, adds or revokes: checked, put on record, carried out.

Lives here: `Teaching`, between the request lifecycle and everything that remembers. Never here: what a reply teaches
(`session_rules/`), the way of a request (`serve/lifecycle.py`).

Nothing counts before its record is durable: the commit of the journal applies it to the session rules, and a project's
file is written after that commit.
Direction of every failure: nothing was taught, and the person hears why.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fwdperm.errors import EnvironmentFailure
from fwdperm.journal import RepliedRecord, RuleAddedRecord, RuleRevokedRecord
from fwdperm.late_log import late_log
from fwdperm.session_rules import TREE, Anchor, Objection, Proposal
from fwdperm.wire import Fate, ReplyKind, ReplyOutcome, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.decision import AskHuman, DecisionContext
    from fwdperm.journal import Journal
    from fwdperm.policy.projects import Projects
    from fwdperm.policy.taught_rules import TaughtRules
    from fwdperm.sessions import SessionTree
    from fwdperm.wire import Reply, Request, RuleCommand


@dataclass(frozen=True, slots=True)
class _Granted:
    """Grants that wait for their record to be durable before they go into a project's file."""

    cwd: str
    pairs: tuple[tuple[str, str], ...]
    by: str
    answer: str
    note: str
    expires_at: int


class Teaching:
    """The only place where session rules and project grants are changed.

    Args:
        taught_rules: What was taught.
        projects: The projects' files.
        sessions: The tree, for rules that are added by hand.
        journal: Where everything is recorded first; its folds must be those of `taught_rules`.

    Attributes:
        trouble: Why the last grant for a project could not be written; empty when it could.
    """

    def __init__(
        self, taught_rules: TaughtRules, projects: Projects, *, sessions: SessionTree, journal: Journal
    ) -> None:
        self.trouble = ""
        self.taught_rules = taught_rules
        self._projects = projects
        self._sessions = sessions
        self._journal = journal
        self._epoch = taught_rules.epoch
        self._granted: list[_Granted] = []

    # -- answers -----------------------------------------------------------------------------------------------

    def proposal(
        self, asked: AskHuman, reply: Reply, *, context: DecisionContext, suggestions: Sequence[tuple[str, str]]
    ) -> Proposal | Objection:
        """Say what an answer would teach, or why it cannot be taken."""
        made = self.taught_rules.proposal(
            asked, reply, context=context, suggestions=suggestions, may_stand=self._journal.may_stand
        )
        if isinstance(made, Proposal) and made.for_project:
            facts = asked.evaluation.request.facts
            words = self._projects.objection(facts.cwd if facts is not None else "")
            return Objection(words) if words else made
        return made

    def record(self, request: Request, reply: Reply, proposal: Proposal, *, via: str, user: str) -> None:
        """Append an answer to the journal, with what it teaches; that counts from the next commit on."""
        anchor = proposal.anchor
        self._journal.append(
            RepliedRecord(
                inbox=request.inbox,
                id=request.id,
                digest=request.digest,
                reply=str(reply.reply),
                feedback=reply.note,
                patterns=tuple(pattern for _, pattern in proposal.grants),
                covers=tuple(surface for surface, _ in proposal.grants),
                scope=anchor.scope if anchor is not None else str(reply.scope or ""),
                anchor=anchor.session if anchor is not None else "",
                anchor_inbox=anchor.inbox if anchor is not None else "",
                anchor_run=anchor.run if anchor is not None else 0,
                requester_run=proposal.run,
                surfaces=proposal.surfaces,
                expires_in_ms=reply.expires_in_ms or 0,
                expires_at=proposal.expires_at,
                via=via,
                user=user,
            )
        )
        if reply.reply is ReplyKind.ALWAYS and proposal.for_project:
            cwd = request.facts.cwd if request.facts is not None else ""
            answer = f"{request.inbox}/{request.id}"
            self._granted.append(
                _Granted(cwd, proposal.grants, user or via, answer, self._text(reply.note), proposal.expires_at)
            )

    # -- commands ----------------------------------------------------------------------------------------------

    def command(self, command: RuleCommand) -> ReplyOutcome:
        """Carry a command out, and say what became of it. It counts with the next commit."""
        if command.do == "revoke":
            return self._revoke(command)
        if command.project is not None:
            return self._add_to_project(command, command.project)
        return self._add(command)

    def _revoke(self, command: RuleCommand) -> ReplyOutcome:
        name = command.rule or ""
        if name not in self.taught_rules.rules.rules:
            return ReplyOutcome(outcome=Fate.UNKNOWN, words=f"no session rule `{shown(name)}` is in force")
        self._journal.append(RuleRevokedRecord(rule=name, reason=command.note, via=command.via, user=command.user))
        return ReplyOutcome(outcome=Fate.ACCEPTED, words=f"revoked {shown(name)}")

    def _add(self, command: RuleCommand) -> ReplyOutcome:
        surface, pattern, session = command.surface or "", command.pattern or "", command.session or ""
        if not self._journal.may_stand(pattern):
            return _refused("the pattern holds what looks like a secret, or is too long: it is not recorded")
        known = self._sessions.known(session)
        if known is not None and self._sessions.state(session) == "ended":
            return _refused(f"session `{shown(session)}` has ended")
        anchor = Anchor(TREE, session, "", known.started_ms if known is not None else 0)
        same = self.taught_rules.same(surface, pattern, anchor)
        if same is not None and not command.expires_in_ms:
            return ReplyOutcome(outcome=Fate.ACCEPTED, words=f"{same.id} says so already")
        expires_at = self.taught_rules.now_ms() + command.expires_in_ms if command.expires_in_ms else 0
        number = self._journal.append(
            RuleAddedRecord(
                what="grant",
                surface=surface,
                pattern=pattern,
                scope=TREE,
                session=session,
                run=anchor.run,
                note=command.note.strip(),
                expires_at=expires_at,
                via=command.via,
                user=command.user,
            )
        )
        what = f'allow {shown(surface)} "{shown(pattern)}", at and below `{shown(session)}`'
        return ReplyOutcome(outcome=Fate.ACCEPTED, words=f"added g{number}: {what}")

    def _add_to_project(self, command: RuleCommand, cwd: str) -> ReplyOutcome:
        words = self._projects.objection(cwd)
        pattern = command.pattern or ""
        if words or not self._journal.may_stand(pattern):
            return _refused(words or "the pattern holds what looks like a secret, or is too long: it is not recorded")
        expires_at = self.taught_rules.now_ms() + command.expires_in_ms if command.expires_in_ms else 0
        pairs = ((command.surface or "", pattern),)
        who = command.user or command.via
        self._granted.append(_Granted(cwd, pairs, who, "no request", self._text(command.note), expires_at))
        self._journal.append(
            RuleAddedRecord(
                what="project_grant",
                surface=pairs[0][0],
                pattern=pattern,
                scope="project",
                session=cwd,
                note=command.note.strip(),
                expires_at=expires_at,
                via=command.via,
                user=command.user,
            )
        )
        return ReplyOutcome(outcome=Fate.ACCEPTED, words=f"added to `{shown(str(self._projects.file_of(cwd)))}`")

    # -- after a commit ----------------------------------------------------------------------------------------

    def committed(self) -> bool:
        """Call after a commit that succeeded: writes the project grants that waited for their record to be durable.

        Returns:
            True when what is taught changed since the last call: time to decide anew on everything that waits.
        """
        granted, self._granted = self._granted, []
        for one in granted:
            self._write(one)
        changed = self.taught_rules.epoch != self._epoch or bool(granted)
        self._epoch = self.taught_rules.epoch
        return changed

    def dropped(self) -> None:
        """Call after a commit that failed: the project grants that waited for it are not written."""
        self._granted.clear()

    def _write(self, one: _Granted) -> None:
        at = datetime.fromtimestamp(self.taught_rules.now_ms() / 1000, tz=UTC).strftime("%Y-%m-%d")
        try:
            path = self._projects.add(
                one.cwd, one.pairs, by=one.by, answer=one.answer, at=at, note=one.note, expires_at=one.expires_at
            )
        except EnvironmentFailure as error:
            self.trouble = f"a grant for the project was not written: {error}"
            late_log().error("grant.unwritten", reason=str(error))
        else:
            self.trouble = ""
            late_log().info("grant.written", file=str(path), grants=len(one.pairs))

    def _text(self, text: str) -> str:
        """Give a note as it may stand in a project's file: empty when it is too long or may hold a secret."""
        return text.strip() if self._journal.may_stand(text) else ""


def _refused(words: str) -> ReplyOutcome:
    return ReplyOutcome(outcome=Fate.REFUSED, words=words)

"""What was taught, read from the journal by a process that does not own it.

Lives here: `recall_session_rules` and `recall_taught_rules`, for commands that run beside a daemon or without one, and
the snapshot for people that the daemon writes. An edge that opens the journal for reading only. Never here: what an
entry teaches (`session_rules/fold.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from fwdperm.clock import SystemClock
from fwdperm.errors import EnvironmentFailure
from fwdperm.journal import replay_journal
from fwdperm.late_log import late_log
from fwdperm.policy.taught_rules import TaughtRules
from fwdperm.rules import write_private
from fwdperm.session_rules import Grant, Guidance, HistoryFold, Refusal, RulesFold, SessionRule, kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.session_rules import RuleUse
    from fwdperm.sessions import SessionTree


SNAPSHOT: Final = "session-rules.toml"
_HEAD: Final = """\
# The session rules in force, newest first, for reading. The journal is what counts: editing this changes nothing.
# Revoke one with `fwdperm rules revoke ID`; `fwdperm rules list` also says how often each was used.

"""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the journal says was taught.

    Attributes:
        rules: The session rules.
        history: What was decided lately.
    """

    rules: RulesFold
    history: HistoryFold


def recall_session_rules(state: Path) -> Recalled:
    """Read what was taught, through the journal's checkpoint where it has one.

    Raises:
        OperatorError: For a journal of another version.
        OSError: When it cannot be read.
    """
    made = Recalled(RulesFold(), HistoryFold())
    replay_journal(state / "journal", folds=(made.rules, made.history))
    return made


def recall_taught_rules(state: Path, sessions: SessionTree) -> TaughtRules:
    """Give what was taught as the daemon would serve it; raises as `recall_session_rules`.

    Args:
        state: The state directory.
        sessions: The tree of sessions. The parents that children claimed, as the journal has them, are added to it.
    """
    taught_rules = TaughtRules(sessions, clock=SystemClock())
    for edge in replay_journal(state / "journal", folds=taught_rules.folds).state.sessions.values():
        sessions.claim(edge.session, edge.parent, agent=edge.agent)
    return taught_rules


def rule_row(rule: SessionRule, use: RuleUse | None) -> dict[str, Any]:
    """Give a rule as a flat row: who, when, from which answer, where, until when, how often used."""
    row: dict[str, Any] = {"id": rule.id, "kind": kind_of(rule)}
    match rule:
        case Grant():
            row |= {"surface": rule.surface, "pattern": rule.pattern}
        case Guidance():
            row |= {"surface": rule.surfaces[-1], "approved": rule.shown}
        case Refusal():
            row |= {"surface": rule.surface, "rejected": rule.shown}
    row |= {"note": rule.note} if rule.note else {}
    row |= {"by": rule.by, "at": _when(rule.at)}
    row |= {"answer": f"{rule.inbox}/{rule.request}"} if rule.request else {}
    row |= {"scope": rule.anchor.scope, "session": rule.anchor.session}
    row |= {"inbox": rule.anchor.inbox} if rule.anchor.inbox else {}
    row |= {"expires": _when(rule.expires_at)} if rule.expires_at else {}
    if use is not None:
        row |= {"used": use.count} | ({"last_used": _when(use.last_at)} if use.last_at else {})
    return row


class SnapshotFile:
    """The file that shows people the session rules in force; written again when another set of them is.

    Args:
        state: The state directory.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / SNAPSHOT
        self._written: tuple[str, ...] | None = None

    def write(self, rules: RulesFold, *, now_ms: int) -> None:
        """Write it if another set of rules is in force than last time. Never raises: it is for reading only."""
        in_force = [rule for rule in rules.rules.values() if not rule.has_expired(now_ms)]
        names = tuple(rule.id for rule in in_force)
        if names == self._written:
            return
        try:
            body = tomli_w.dumps({"rule": [rule_row(rule, None) for rule in reversed(in_force)]})
            write_private(self._path, (_HEAD + body).encode(errors="replace"))
            self._written = names
        except EnvironmentFailure as error:
            late_log().warning("snapshot.failed", reason=str(error))


def _when(ms: int) -> datetime:
    try:
        return datetime.fromtimestamp(ms / 1000, tz=UTC).replace(microsecond=0)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC, microsecond=0)

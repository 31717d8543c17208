"""Records about a request, made from the request and from what was decided on it.

Lives here: `asked_record`, `decided_record`, `digest_of_values`. Pure. Never here: the records' fields (`record.py`),
what is taken out of them before they are written (`sanitize.py`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from fwdperm.journal.record import AskedRecord, DecidedRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fwdperm.wire import Decision, Request


def asked_record(request: Request, *, why: str, requested_at: int, deadline_at: int) -> AskedRecord:
    """Say that a request waits for the human.

    Args:
        request: What is asked.
        why: Why no earlier step settled it, in words.
        requested_at: When it arrived, epoch milliseconds.
        deadline_at: When it expires, epoch milliseconds.
    """
    return AskedRecord(
        **_subject(request),
        message=request.message,
        tool=request.tool,
        why=why,
        requested_at=requested_at,
        deadline_at=deadline_at,
    )


def decided_record(  # noqa: PLR0913 - a record has as many parts as there are facts
    request: Request,
    decision: Decision,
    *,
    response: Mapping[str, Any],
    requested_at: int,
    duration_ms: int,
    guard: str = "",
) -> DecidedRecord:
    """Say what was decided. The record must be durable before `response` is published.

    Args:
        request: What was asked.
        decision: The final word.
        response: The answer file's content.
        requested_at: When it arrived, epoch milliseconds.
        duration_ms: Milliseconds from arrival to decision.
        guard: Id of the guard's finding, where the guard decided; empty otherwise.
    """
    return DecidedRecord(
        **_subject(request),
        outcome=decision.outcome,
        stage=decision.stage,
        code=str(decision.code or ""),
        rule=decision.rule,
        by=decision.by,
        guard=guard,
        ruleset=decision.ruleset,
        units=decision.units,
        unit_count=len(decision.units),
        reason=decision.reason,
        note=decision.note,
        tool=request.tool,
        requested_at=requested_at,
        duration_ms=duration_ms,
        response=response,
    )


def digest_of_values(values: Iterable[str]) -> str:
    """Give the sha-256 (hex) of a request's values in full: the same exactly for the same values in the same order."""
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()


def _subject(request: Request) -> dict[str, Any]:
    facts = request.facts
    values = facts.values if facts else ((request.value,) if request.value else ())
    return {
        "inbox": request.inbox,
        "id": request.id,
        "digest": request.digest,
        "session": request.session,
        "agent": request.agent,
        "chain": request.route,
        "surface": facts.surface if facts else request.surface,
        "values": values,
        "values_digest": digest_of_values(values) if values else "",
        "cwd": facts.cwd if facts else "",
        "turn": request.turn,
    }

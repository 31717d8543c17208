"""What a person reads before a rule is saved.

Lives here: `preview_lines`, `span`. Pure. Never here: the check itself (`proposal.py`), counting (`history.py`).

Every quoted text is shown escaped, so that each line is what it looks like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwdperm.session_rules.values import REQUESTER, SUBTREE
from fwdperm.wire import shown

if TYPE_CHECKING:
    from fwdperm.session_rules.history import Preview
    from fwdperm.session_rules.proposal import Proposal
    from fwdperm.session_rules.values import Anchor

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def preview_lines(proposal: Proposal, past: Preview, *, now_ms: int) -> tuple[str, ...]:
    """Say exactly what would be recorded, and what it would have matched.

    Args:
        proposal: What the answer would teach; already checked to match its own request.
        past: Which past requests its patterns match.
        now_ms: Now, epoch milliseconds.
    """
    lines = [f'would record   allow {shown(surface)} "{shown(pattern)}"' for surface, pattern in proposal.grants]
    lines = lines or ["would record   nothing new: it is taught already"]
    lines.append(f"holds for      {_where(proposal.anchor)}")
    # Rounded up to whole seconds: `expires_at` was worked out a moment ago, and an hour must not read `59 min`.
    left = -(-(proposal.expires_at - now_ms) // 1000) * 1000
    until = "for good" if proposal.for_project else "the end of the session"
    lines.append(f"until          {f'{span(left)} from now' if proposal.expires_at else until}, or until it is revoked")
    lines.append("matches        its own request, checked by resolving it again")
    lines.append(_counted(past))
    lines.extend(
        f"  {'you REJECTED' if rejected else 'asked before'}   {shown(text)[:160]}" for text, rejected in past.examples
    )
    if past.different > len(past.examples):
        lines.append(f"  and {past.different - len(past.examples)} more")
    return tuple(lines)


def span(milliseconds: int) -> str:
    """Write a time span in its largest whole unit: `90 min`, `2 h`, `7 d`. Rounded down."""
    for size, name in _UNITS:
        if milliseconds >= 2 * size or milliseconds == size:
            return f"{milliseconds // size} {name}"
    return f"{max(milliseconds, 0)} ms"


def _where(anchor: Anchor | None) -> str:
    if anchor is None:
        return "every session in the project; it is written into the project's file"
    session = shown(anchor.session)
    match anchor.scope:
        case scope if scope == REQUESTER:
            return f"this requester, {session} in the inbox of {shown(anchor.inbox)}, and what it starts on record"
        case scope if scope == SUBTREE:
            return f"{session} and everything below it"
        case _:
            return f"the whole tree of {session}"


def _counted(past: Preview) -> str:
    if not past.matched:
        return "would have matched nothing that was asked so far"
    rejected = f", you rejected {past.rejected}" if past.rejected else ""
    times = "time" if past.matched == 1 else "times"
    return (
        f"would have matched {past.different} of {past.out_of} different requests so far, asked {past.matched} {times}"
        f" (you approved {past.approved}{rejected})"
    )

"""From a request that is open to the judge to what the judge is shown.

Lives here: `matter_of`, `ground_of`, `epoch_of`. Pure. Never here: the brief's form (`judge/brief.py`), a call.

What the operator marked as sensitive stays here: neither the markers nor the guard's reasons are part of a brief.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fwdperm.judge.brief import Citable, Ground, Matter, Part
from fwdperm.memory.render import MOST
from fwdperm.memory.values import Grant, Refusal
from fwdperm.memory.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.serve.memory import Brief
    from fwdperm.standing import SessionRules, Standing
    from fwdperm.weigh import Weighed


def matter_of(weighed: Weighed, *, chain: Sequence[str] = ()) -> Matter:
    """Give the request as a judge sees it.

    Args:
        weighed: The request with what was found for each of its units.
        chain: Sessions it came through, the requester first (claims).
    """
    request = weighed.request
    facts = request.facts
    return Matter(
        surface=facts.surface if facts else request.surface,
        values=facts.values if facts else (request.value,),
        cwd=facts.cwd if facts else "",
        parts=tuple(
            Part(weighed.units[at].surface, text, str(weighed.dangers[at].danger))
            for at in weighed.open
            for text in weighed.units[at].spellings[:1]
        ),
        danger=str(weighed.danger.danger),
        inbox=request.inbox,
        chain=tuple(chain),
        agent=request.agent,
        tool=request.tool,
        message=request.message,
    )


def ground_of(known: Brief, taught: SessionRules, *, context: str = "") -> Ground:
    """Give what a request is judged on.

    Args:
        known: What memory renders for it.
        taught: Its session rules.
        context: The operator's own words.
    """
    return Ground(
        context=context,
        project=known.project,
        rules=known.rules,
        epoch=_short(known.rules),
        citable=_citable(taught),
        history=known.history,
    )


def epoch_of(ground: Ground, standing: Standing) -> str:
    """Name everything a verdict relies on beside the request: it holds only while this stays the same."""
    return ".".join((standing.version, _short(ground.project), ground.epoch, _short(ground.context)))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


def _citable(taught: SessionRules) -> tuple[Citable, ...]:
    """List the approvals that are shown, with the surfaces each may be cited for."""
    if not isinstance(taught, View):
        return ()
    made = []
    for rule in taught.newest(MOST):
        if isinstance(rule, Refusal):
            continue
        surfaces = (rule.surface,) if isinstance(rule, Grant) else rule.surfaces
        text = rule.pattern if isinstance(rule, Grant) else rule.note
        made.append(Citable(rule.id, ", ".join(surfaces), text))
    return tuple(made)

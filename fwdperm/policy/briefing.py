"""From a request that is open to the judge to what the judge is shown.

Lives here: `matter_of`, `background_of`, `epoch_of`. Pure. Never here: the brief's form (`judge/brief.py`), a call.

What the operator marked as sensitive stays here: neither the markers nor the guard's reasons are part of a brief.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fwdperm.judge import Background, BriefUnit, Citable, Matter
from fwdperm.session_rules import MOST_RULES, Grant, Refusal, SessionRulesView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.decision import DecisionContext, Evaluation, SessionRules
    from fwdperm.policy.taught_rules import JudgeSections


def matter_of(evaluation: Evaluation, *, chain: Sequence[str] = ()) -> Matter:
    """Give the request as a judge sees it.

    Args:
        evaluation: The request with what was found for each of its units.
        chain: Sessions it came through, the requester first (claims).
    """
    request = evaluation.request
    facts = request.facts
    return Matter(
        surface=facts.surface if facts else request.surface,
        values=facts.values if facts else (request.value,),
        cwd=facts.cwd if facts else "",
        parts=tuple(
            BriefUnit(evaluation.units[at].surface, text, str(evaluation.dangers[at].danger))
            for at in evaluation.open
            for text in evaluation.units[at].spellings[:1]
        ),
        danger=str(evaluation.danger.danger),
        inbox=request.inbox,
        chain=tuple(chain),
        agent=request.agent,
        tool=request.tool,
        message=request.message,
    )


def background_of(known: JudgeSections, taught: SessionRules, *, context: str = "") -> Background:
    """Give what a judge reads beside the request: operator's words, project grants, rules and history.

    Args:
        known: The sections that `TaughtRules.brief` rendered for it.
        taught: The session rules that hold for it; of these come the rules that the judge may cite.
        context: The operator's own words.
    """
    return Background(
        context=context,
        project=known.project,
        rules=known.rules,
        epoch=_short(known.rules),
        citable=_citable(taught),
        history=known.history,
    )


def epoch_of(background: Background, context: DecisionContext) -> str:
    """Name everything beside the request that a verdict relied on: once this has changed, the verdict is dropped."""
    return ".".join((context.version, _short(background.project), background.epoch, _short(background.context)))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


def _citable(taught: SessionRules) -> tuple[Citable, ...]:
    """List the approvals that are shown, with the surfaces each may be cited for."""
    if not isinstance(taught, SessionRulesView):
        return ()
    made = []
    for rule in taught.newest(MOST_RULES):
        if isinstance(rule, Refusal):
            continue
        surfaces = (rule.surface,) if isinstance(rule, Grant) else rule.surfaces
        text = rule.pattern if isinstance(rule, Grant) else rule.note
        made.append(Citable(rule.id, ", ".join(surfaces), text))
    return tuple(made)

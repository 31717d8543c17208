"""From a request that waits for a person to the prompt they see.

Lives here: `prompt_for`. Pure. Never here: rendering (`seat/`), the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwdperm.judge import Silence, Verdict
from fwdperm.session_rules import matching_patterns
from fwdperm.wire import Prompt, PromptJudge, PromptSuggestion, PromptUnit, suspicions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.decision import AskHuman
    from fwdperm.judge import Opinion


def prompt_for(
    asked: AskHuman,
    *,
    chain: Sequence[str],
    suggestions: Sequence[tuple[str, str]],
    created_at: int,
    deadline_at: int,
) -> Prompt:
    """Give the prompt for a question.

    Args:
        asked: The question, with what was found for each unit.
        chain: The parent chain, the requester first.
        suggestions: (surface, pattern) that *always* would record.
        created_at: When the request arrived, epoch milliseconds.
        deadline_at: When it expires, epoch milliseconds.
    """
    evaluation = asked.evaluation
    request = evaluation.request
    values = request.facts.values if request.facts else (request.value, *request.evidence)
    reasons = {danger.id: danger.reason for danger in evaluation.dangers}
    texts = (*values, request.agent, request.message, request.facts.cwd if request.facts else "")
    return Prompt(
        id=request.id,
        inbox=request.inbox,
        digest=request.digest,
        chain=tuple(reversed(tuple(chain))),
        agent=request.agent,
        surface=request.facts.surface if request.facts else request.surface,
        values=values,
        cwd=request.facts.cwd if request.facts else "",
        units=tuple(
            PromptUnit(
                surface=unit.surface,
                text=unit.text,
                action=unit.action,
                rule=unit.rule.pattern if unit.rule else "",
                origin=unit.rule.origin if unit.rule else "",
                danger=unit.danger,
                id=unit.guard_id,
                reason=unit.note or reasons.get(unit.guard_id, ""),
            )
            for unit in evaluation.evidence
        ),
        danger=str(evaluation.danger.danger),
        why=asked.why,
        judge=_judge(asked.opinion),
        suggestions=_offered(asked, suggestions) if asked.may_teach else (),
        only_human=asked.only_human,
        created_at=created_at,
        deadline_at=deadline_at,
        message=request.message,
        source=request.source,
        tool=request.tool,
        suspicions=tuple(dict.fromkeys(word for text in texts for word in suspicions(text))),
    )


def _offered(asked: AskHuman, suggestions: Sequence[tuple[str, str]]) -> tuple[PromptSuggestion, ...]:
    """Leave out suggestions that cover no unit that is asked about: they would allow what the question did not show."""
    return tuple(
        PromptSuggestion(surface=surface, pattern=pattern)
        for surface, pattern in suggestions
        if surface in matching_patterns(asked.evaluation, pattern)
    )


def _judge(opinion: Opinion | None) -> PromptJudge | None:
    match opinion:
        case None:
            return None
        case Verdict():
            return PromptJudge(verdict=str(opinion.choice), risk=str(opinion.risk), reason=opinion.reason)
        case Silence():
            return PromptJudge(failure=opinion.code, reason=opinion.words)

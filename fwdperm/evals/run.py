"""Deciding rows with a judge, through the order.

Lives here: `decide_rows`, and the judge that allows everything.
Never here: counting (`score.py`), a configuration, a table.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fwdperm.decision import AskJudge, Decided, after_judge
from fwdperm.evals.score import ALLOW, ESCALATE, REJECT, CaseResult, Run
from fwdperm.evals.world import HOSTILE, World
from fwdperm.judge import AT_ONCE, Choice, Effect, Opinion, Risk, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fwdperm.decision import AskHuman
    from fwdperm.evals.cases import Case
    from fwdperm.guard import Surroundings

Judge: TypeAlias = "Callable[[World, tuple[str, str]], Awaitable[Opinion]]"
"""Gives an opinion on a row. The pair stands for (inbox, session): runs with different pairs never share one call."""


async def always_allow(world: World, session: tuple[str, str]) -> Opinion:  # noqa: ARG001 - a judge's shape
    """Allow everything, citing a rule where one may be cited: shows what the code around a judge prevents."""
    rule = world.background.citable[0].id if world.background.citable else ""
    return Verdict(
        Choice.ALLOW, Risk.LOW, "it allows everything", rule, model="always-allow", effects=(Effect.READ_LOCAL,)
    )


def model_judge(consider: Callable[..., Awaitable[Opinion]]) -> Judge:
    """Make a judge of `Model.consider`."""

    def judge(world: World, session: tuple[str, str]) -> Awaitable[Opinion]:
        return consider(world.matter, world.background, session=session)

    return judge


async def decide_rows(  # noqa: PLR0913 - what is measured, and how
    cases: Sequence[Case],
    judge: Judge,
    *,
    around: Surroundings,
    repeat: int = 1,
    attack: bool = True,
    guarded: bool = True,
) -> list[CaseResult]:
    """Decide every row.

    Args:
        cases: The rows.
        judge: Who is asked.
        around: What the operator vouches for beside each row's directory.
        repeat: How often each row is decided.
        attack: Whether rows that reach the judge are also tried with hostile words added.
        guarded: False to measure the judge alone: it is asked about every row, and its verdict is the result.

    Returns:
        The rows in their order.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def once(case: Case, number: int) -> Run:
        world = World.of(case, around)
        async with places:
            run = await _decide(world, judge, guarded=guarded, session=("run", str(number)))
            if run.opinion is None or not attack or run.failure:
                return run
            hostile = world.with_message(f"{world.message}\n{HOSTILE}".strip())
            attacked = await _decide(hostile, judge, guarded=guarded, session=("attack", str(number)))
            return run if attacked.failure else replace(run, under_attack=attacked.outcome)

    async def all_runs(case: Case) -> CaseResult:
        return CaseResult(case, tuple(await asyncio.gather(*(once(case, number) for number in range(repeat)))))

    return list(await asyncio.gather(*(all_runs(case) for case in cases)))


async def _decide(world: World, judge: Judge, *, guarded: bool, session: tuple[str, str]) -> Run:
    step = world.step
    danger = str(step.evaluation.danger.danger)
    if not guarded:
        opinion = await judge(world, session)
        return Run(_word(opinion), "judge", danger, opinion)
    if not isinstance(step, AskJudge):
        return Run(_end(step), _stage(step), danger)
    opinion = await judge(world, session)
    end = after_judge(step, opinion, world.context)
    return Run(_end(end), _stage(end), danger, opinion)


def _word(opinion: Opinion) -> str:
    if not isinstance(opinion, Verdict):
        return ESCALATE
    return _WORDS[opinion.choice]


_WORDS: Final[dict[Any, str]] = {Choice.ALLOW: ALLOW, Choice.REJECT: REJECT, Choice.ESCALATE: ESCALATE}


def _end(step: Decided | AskHuman) -> str:
    if not isinstance(step, Decided):
        return ESCALATE
    return ALLOW if step.is_approved else REJECT


def _stage(step: Decided | AskHuman) -> str:
    return str(step.decision.stage) if isinstance(step, Decided) else "human"

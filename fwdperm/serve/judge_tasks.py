"""Questions to the judge: they go out as tasks, and opinions come back through the request lifecycle.

Lives here: `JudgeTasks`. Never here: what a model is shown (`policy/briefing.py`), how it is asked (`judge/model.py`),
what an opinion is worth (`decision/order.py`).

Nothing here makes the daemon's loop wait. Whatever goes wrong gives a silence, and that sends the request to a person.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from fwdperm.decision import AskJudge
from fwdperm.judge import LASTING, BreakerState, JudgeBudget, Model, Silence, SilenceCode
from fwdperm.policy import matter_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fwdperm.judge import JudgeSetup, Opinion
    from fwdperm.policy import Rulebook
    from fwdperm.serve.lifecycle import RequestLifecycle
    from fwdperm.serve.waiting_room import Waiting
    from fwdperm.wire import RequestKey

log = structlog.get_logger("fwdperm.judge")


class JudgeTasks:
    """Asks the configured judge; a change of the judge's settings takes effect with `reload`.

    Args:
        rulebook: The configuration, and what a request is judged on.
        env: The environment variables among which the key may be; the daemon's own when left out.
    """

    def __init__(self, rulebook: Rulebook, *, env: Mapping[str, str] | None = None) -> None:
        self._rulebook = rulebook
        self._env = env
        self._budget = JudgeBudget()
        self._model: Model | None = None
        self._tasks: dict[RequestKey, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._lifecycle: RequestLifecycle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_change: Callable[[], None] = lambda: None
        self._last_code = ""

    def attach(
        self, lifecycle: RequestLifecycle, *, loop: asyncio.AbstractEventLoop, on_change: Callable[[], None]
    ) -> None:
        """Give it the loop and the lifecycle that opinions go back to. `consult` must not be called before.

        Args:
            lifecycle: Takes the opinions.
            loop: Where the questions run as tasks.
            on_change: Called after an opinion was handed over, to have a turn of the daemon.
        """
        self._lifecycle, self._loop, self._on_change = lifecycle, loop, on_change

    def consult(self, asked: AskJudge, key: RequestKey) -> None:
        """Put a question to the judge; returns at once. The opinion comes back through `Referrals.judged`."""
        if self._loop is None:
            raise RuntimeError("the judge is asked before it is attached")
        earlier = self._tasks.pop(key, None)
        if earlier is not None:
            earlier.cancel()
        task = self._loop.create_task(self._consult(asked, key))
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))

    def give_up_all_but(self, waiting: Mapping[RequestKey, Waiting]) -> None:
        """Give up the questions nobody waits for any more: withdrawn, expired, or settled by a rule or a person."""
        for key in [key for key in self._tasks if not self._is_wanted(waiting.get(key))]:
            self._tasks.pop(key).cancel()

    def reload(self) -> None:
        """Follow the configuration. Questions under way end in silence when the judge is no longer the same."""
        model, setup = self._model, self._rulebook.config.judge
        if model is None:
            return
        if model.setup == setup:
            model.refresh()
            return
        self._retire(model)
        self._model = None
        lifecycle, tasks = self._lifecycle, self._tasks
        self._tasks = {}
        for key, task in tasks.items():
            task.cancel()
            waiting = lifecycle.room.waiting.get(key) if lifecycle is not None else None
            if lifecycle is not None and waiting is not None:
                silence = Silence(SilenceCode.DISABLED, "the judge's settings changed while it considered")
                lifecycle.referrals.judged(key, waiting.arrival.request.digest, silence)
        self._on_change()

    def detach(self) -> None:
        """End: nothing is asked any more, and opinions under way are not waited for."""
        tasks, self._tasks = self._tasks, {}
        for task in tasks.values():
            task.cancel()
        model, self._model = self._model, None
        if model is not None:
            self._retire(model)
        self._lifecycle = None

    async def aclose(self) -> None:
        """Wait until the connections are closed. Call after `detach`."""
        if self._closing:
            await asyncio.wait(self._closing)

    def status(self) -> str:
        """Say in one line what the judge is doing; empty when none is configured."""
        setup = self._rulebook.config.judge
        if setup is None:
            return ""
        model = self._model
        role = "advises" if setup.advises else "judges"
        if model is None:
            return f"{setup.model} {role}; not asked yet"
        calls, microdollars = self._budget.used(_now(self._loop))
        spent = f", ${microdollars / 1_000_000:.4f}" if setup.prices is not None else ""
        counts = model.tally.verdicts | model.tally.silences
        said = ", ".join(f"{what} {count}" for what, count in sorted(counts.items())) or "nothing yet"
        line = f"{setup.model} {role}; {calls} call{'s' if calls != 1 else ''} this hour{spent}; said {said}"
        if model.tally.last_silence:
            line += f"; SILENT now ({model.tally.last_silence})"
        if model.breaker.state is not BreakerState.CLOSED:
            line += f"; not asked: {model.breaker.state}"
        return line

    # -- one question ------------------------------------------------------------------------------------------

    async def _consult(self, asked: AskJudge, key: RequestKey) -> None:
        request = asked.evaluation.request
        opinion: Opinion
        try:
            opinion = await self._opinion(asked)
        except Exception:  # the seam: one question; the human is asked
            log.exception("judge.failed")
            opinion = Silence(SilenceCode.INTERNAL, "the judge's own part failed; the log has more")
        self._tell(opinion)
        # Another question about the same request may have taken this one's place while it was away.
        if self._tasks.get(key) is not asyncio.current_task() or self._lifecycle is None:
            return
        del self._tasks[key]
        self._lifecycle.referrals.judged(key, request.digest, opinion)
        self._on_change()

    async def _opinion(self, asked: AskJudge) -> Opinion:
        request = asked.evaluation.request
        model = self._current()
        if model is None:
            return Silence(SilenceCode.DISABLED, "no judge is configured any more")
        context = self._rulebook.context(request)
        matter = matter_of(asked.evaluation, chain=context.line)
        background = self._rulebook.background(request, context)
        return await model.consider(matter, background, session=(request.inbox, request.session))

    def _current(self) -> Model | None:
        setup: JudgeSetup | None = self._rulebook.config.judge
        if setup is None:
            return None
        if self._model is None:
            self._model = Model(setup, env=self._env, budget=self._budget, clock=lambda: _now(self._loop))
        return self._model

    def _tell(self, opinion: Opinion) -> None:
        """Log a silence: as a warning when it is new or only the operator can end it, else as information."""
        code = str(opinion.code) if isinstance(opinion, Silence) else ""
        if code and (code != self._last_code or code in LASTING):
            log.warning("judge.silent", code=code, reason=opinion.words if isinstance(opinion, Silence) else "")
        elif code:
            log.info("judge.silent", code=code)
        elif self._last_code:
            log.warning("judge.spoke_again", after=self._last_code)
        self._last_code = code

    def _forget(self, key: RequestKey, done: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is done:
            del self._tasks[key]
        if not done.cancelled() and done.exception() is not None:
            log.error("judge.answer_lost", error=type(done.exception()).__name__)

    def _retire(self, model: Model) -> None:
        """Close the connections of a model that is asked no more, in a task that `aclose` waits for."""
        if self._loop is None or not self._loop.is_running():
            return
        task = self._loop.create_task(model.aclose())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    @staticmethod
    def _is_wanted(waiting: Waiting | None) -> bool:
        return waiting is not None and isinstance(waiting.step, AskJudge)


def _now(loop: asyncio.AbstractEventLoop | None) -> float:
    return loop.time() if loop is not None else 0.0

"""Asking the model, over the network.

Lives here: `Model`. Never here: what it is shown (`brief.py`), how its answer is read (`model_answer.py`), what becomes
of it (`decision/order.py`).

The SDK is imported in a thread when the first question comes, because that takes a second or two. One deadline covers
waiting for a place, the import, the key and every attempt. Fails towards silence, with a code: `consider` raises
nothing because of a service, a network or an answer.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import structlog

from fwdperm.errors import EnvironmentFailure
from fwdperm.judge.brief import ANSWER_TOKENS, Brief, compose
from fwdperm.judge.failures import code_of
from fwdperm.judge.key import find_key
from fwdperm.judge.limits import LASTING, OUTAGES, Breaker, JudgeBudget
from fwdperm.judge.model_answer import MALFORMED, SCHEMA, read_message
from fwdperm.judge.verdict import Call, Silence, SilenceCode, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fwdperm.judge.brief import Background, Matter
    from fwdperm.judge.setup import JudgeSetup
    from fwdperm.judge.verdict import Opinion

log = structlog.get_logger("fwdperm.judge")

AT_ONCE: Final = 4
"""Calls that run at the same time; others wait for a place, within their own deadline."""
ATTEMPTS: Final = 2
"""Calls for one question: a malformed answer is asked for once more, nothing else is."""
_CHARS_PER_TOKEN: Final = 3
"""Few enough that the tokens of a brief, and so its cost, are guessed too high rather than too low."""
_CONSTRUCTING: Final = threading.Lock()
_HEADERS_FROM_OUTSIDE: Final = "ANTHROPIC_CUSTOM_HEADERS"


@dataclass(slots=True)
class JudgeCounts:
    """How often the judge said what, since the daemon started or its settings changed.

    Attributes:
        verdicts: How often it said what.
        silences: How often it was silent, by code.
        last_silence: Why it was silent last, in words; empty once it has spoken again.
    """

    verdicts: dict[str, int] = field(default_factory=dict)
    silences: dict[str, int] = field(default_factory=dict)
    last_silence: str = ""

    def add(self, opinion: Opinion) -> None:
        """Count one opinion."""
        if isinstance(opinion, Verdict):
            self.verdicts[str(opinion.choice)] = self.verdicts.get(str(opinion.choice), 0) + 1
            self.last_silence = ""
        else:
            self.silences[str(opinion.code)] = self.silences.get(str(opinion.code), 0) + 1
            if opinion.code not in (SilenceCode.UNREDACTABLE, SilenceCode.TOO_LONG):
                self.last_silence = f"{opinion.code}: {opinion.words}"


@dataclass(slots=True)
class _Shared:
    """One call whose answer several equal requests of one session wait for."""

    task: asyncio.Task[Opinion]
    waiting: int = 0


@dataclass(slots=True)
class _Used:
    """What the attempts for one question used so far."""

    attempts: int = 0
    is_calling: bool = False
    call: Call = field(default_factory=Call)


class Model:
    """A judge's model, asked through the SDK.

    Args:
        setup: How the operator set it up.
        env: The daemon's own environment, for the key.
        budget: Shared with the model that it replaces, so that changed settings do not begin a new hour.
        clock: Seconds that never jump.
        nonce: Gives a new nonce for each question.
    """

    def __init__(
        self,
        setup: JudgeSetup,
        *,
        env: Mapping[str, str] | None = None,
        budget: JudgeBudget | None = None,
        clock: Callable[[], float] = time.monotonic,
        nonce: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        self.setup = setup
        self.budget = budget or JudgeBudget()
        self.breaker = Breaker()
        self.tally = JudgeCounts()
        self._env = os.environ if env is None else env
        self._clock = clock
        self._nonce = nonce
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._asking: dict[tuple[tuple[str, str], str], _Shared] = {}
        self._client: Any = None
        self._retired: list[Any] = []
        self._opening: asyncio.Future[Any] | None = None

    async def consider(self, matter: Matter, background: Background, *, session: tuple[str, str]) -> Opinion:
        """Ask for an opinion.

        Args:
            matter: What is asked.
            background: What it is judged on.
            session: (inbox, session) of the requester: equal questions of one session share a call while it runs.

        Returns:
            The verdict, or why there is none. Raises only when cancelled.
        """
        began = self._clock()
        brief = compose(matter, background, nonce=self._nonce())
        if isinstance(brief, Silence):
            self.tally.add(brief)
            return brief
        key = (session, brief.fingerprint)
        shared = self._asking.get(key)
        is_twin = shared is not None
        if shared is None:
            shared = _Shared(asyncio.get_running_loop().create_task(self._ask(brief)))
            self._asking[key] = shared
        shared.waiting += 1
        # Shielded: when one waiting request is cancelled, the call goes on for the others; the last one cancels it.
        try:
            opinion = await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                shared.task.cancel()
                if self._asking.get(key) is shared:
                    del self._asking[key]
        if not self._asking:
            await self._close_retired()
        self.tally.add(opinion)
        spent = Call(prefixes=brief.prefixes) if is_twin else opinion.call
        return replace(opinion, call=replace(spent, latency_ms=int((self._clock() - began) * 1000)))

    def refresh(self) -> None:
        """Try again what only the operator could repair (key, model name), because the configuration was read again."""
        self.breaker.reset()
        self._forget_client()

    async def aclose(self) -> None:
        """Give everything up and close the connections."""
        for shared in tuple(self._asking.values()):
            shared.task.cancel()
        self._forget_client()
        await self._close_retired()

    async def _close_retired(self) -> None:
        retired, self._retired = self._retired, []
        for client in retired:
            await client.close()

    # -- one question ------------------------------------------------------------------------------------------

    async def _ask(self, brief: Brief) -> Opinion:
        used = _Used(call=Call(prefixes=brief.prefixes))
        opinion: Opinion
        try:
            async with asyncio.timeout(self.setup.deadline_s), self._slots:
                opinion = await self._attempt(brief, used)
        except TimeoutError:
            if used.is_calling:
                self.breaker.report(SilenceCode.TIMEOUT, self._clock())
            opinion = Silence(SilenceCode.TIMEOUT, f"no verdict within {self.setup.deadline_s:g} s")
        except asyncio.CancelledError:
            self.breaker.give_up(self._clock())
            raise
        except Exception:  # the seam: one question; the human is asked
            log.exception("judge.failed")
            self.breaker.report(SilenceCode.INTERNAL, self._clock())
            opinion = Silence(SilenceCode.INTERNAL, "the judge's own part failed; the log has more")
        return replace(opinion, call=replace(used.call, attempts=used.attempts))

    async def _attempt(self, brief: Brief, used: _Used) -> Opinion:
        opinion: Opinion = Silence(SilenceCode.INTERNAL, "nothing was tried")
        while used.attempts < ATTEMPTS:
            if not self.breaker.lets_through(self._clock()):
                why = f"{self.breaker.state} ({self.breaker.cause})"
                return Silence(SilenceCode.BREAKER_OPEN, f"the model is not asked for a while: {why}")
            most = self._cost(Call(input_tokens=brief.characters // _CHARS_PER_TOKEN, output_tokens=ANSWER_TOKENS))
            spending = self.budget.reserve(
                self._clock(),
                most=most,
                calls=self.setup.calls_per_hour,
                microdollars=int(self.setup.dollars_per_hour * 1_000_000),
            )
            if spending is None:
                self.breaker.give_up(self._clock())
                return Silence(SilenceCode.BUDGET, "this hour's budget for the judge is used up")
            used.attempts += 1
            used.is_calling = True
            opinion, cost = await self._call(brief)
            used.is_calling = False
            self.budget.settle(spending, cost.microdollars)
            used.call = _sum(used.call, cost)
            failed = isinstance(opinion, Silence) and opinion.code in OUTAGES | LASTING
            self.breaker.report(
                SilenceCode(opinion.code) if isinstance(opinion, Silence) and failed else None, self._clock()
            )
            if not (isinstance(opinion, Silence) and opinion.code in MALFORMED):
                break
        return opinion

    async def _call(self, brief: Brief) -> tuple[Opinion, Call]:
        try:
            client = await self._opened()
        except EnvironmentFailure as failure:
            return Silence(SilenceCode.NO_KEY, str(failure)), Call()
        schema = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
        try:
            message = await client.messages.create(
                model=self.setup.model,
                max_tokens=ANSWER_TOKENS,
                system=brief.system(),
                messages=brief.messages(),
                **(schema if self.setup.has_schema else {}),
            )
        except Exception as error:  # noqa: BLE001 - the seam: whatever the SDK raises becomes a code
            code = code_of(error)
            if code is SilenceCode.INTERNAL:
                log.warning("judge.call_failed", error=type(error).__name__)
            return Silence(code, _words(code, error)), Call()
        cost = _usage(message)
        cost = replace(cost, microdollars=self._cost(cost))
        if getattr(message, "type", None) != "message" or not isinstance(getattr(message, "content", None), list):
            return Silence(SilenceCode.NOT_A_MESSAGE, "what answered is not the model's service"), cost
        blocks = [(str(getattr(one, "type", "")), str(getattr(one, "text", ""))) for one in message.content]
        return read_message(message.stop_reason, blocks, rules=brief.rules, model=self.setup.model), cost

    def _cost(self, call: Call) -> int:
        prices = self.setup.prices
        if prices is None:
            return 0
        return prices.microdollars(
            read=call.input_tokens,
            written=call.output_tokens,
            from_cache=call.cache_read_tokens,
            to_cache=call.cache_write_tokens,
        )

    # -- the client --------------------------------------------------------------------------------------------

    async def _opened(self) -> Any:
        """Give the client; the first time it is made in a thread.

        When a deadline passes meanwhile, the thread goes on, and the next question takes the client that it makes.
        """
        if self._client is not None:
            return self._client
        if self._opening is None:
            self._opening = asyncio.get_running_loop().run_in_executor(None, _open_client, self.setup, self._env)
        opening = self._opening
        try:
            client = await asyncio.shield(opening)
        except Exception:
            if self._opening is opening:
                self._opening = None
            raise
        if self._opening is opening:
            self._client = client
        return client

    def _forget_client(self) -> None:
        """Make the next question look for the key again. A client in use stays usable for those who use it."""
        if self._client is not None:
            self._retired.append(self._client)
        self._client, self._opening = None, None


def _open_client(setup: JudgeSetup, env: Mapping[str, str]) -> Any:
    """Import the SDK and make a client with key, address and headers from the configuration alone. Runs in a thread."""
    key = find_key(setup, env)
    import anthropic  # noqa: PLC0415 - a second or two, and 70 MB, only when a judge is needed

    connections = anthropic.DefaultAsyncHttpxClient(
        timeout=setup.deadline_s, follow_redirects=False, trust_env=not setup.is_on_this_machine
    )
    with _CONSTRUCTING:
        # The constructor would add headers from this environment variable, so it is taken out meanwhile.
        outside = os.environ.pop(_HEADERS_FROM_OUTSIDE, None)
        try:
            return anthropic.AsyncAnthropic(
                api_key=key,
                base_url=setup.base_url,
                max_retries=0,
                timeout=setup.deadline_s,
                http_client=connections,
            )
        finally:
            if outside is not None:
                os.environ[_HEADERS_FROM_OUTSIDE] = outside


def _usage(message: Any) -> Call:
    usage = getattr(message, "usage", None)

    def count(name: str) -> int:
        value = getattr(usage, name, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

    return Call(
        input_tokens=count("input_tokens"),
        cache_read_tokens=count("cache_read_input_tokens"),
        cache_write_tokens=count("cache_creation_input_tokens"),
        output_tokens=count("output_tokens"),
    )


def _sum(first: Call, second: Call) -> Call:
    return replace(
        first,
        input_tokens=first.input_tokens + second.input_tokens,
        cache_read_tokens=first.cache_read_tokens + second.cache_read_tokens,
        cache_write_tokens=first.cache_write_tokens + second.cache_write_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        microdollars=first.microdollars + second.microdollars,
    )


_SAID: Final[Mapping[SilenceCode, str]] = {
    SilenceCode.TIMEOUT: "the service did not answer in time",
    SilenceCode.CONNECTION: "the service cannot be reached",
    SilenceCode.RATE_LIMITED: "the service says that too much is asked of it with this key",
    SilenceCode.OVERLOADED: "the service is overloaded",
    SilenceCode.SERVER: "the service failed",
    SilenceCode.AUTH: "the service does not accept the key",
    SilenceCode.BAD_REQUEST: "the service does not accept the question (model name, address or schema)",
    SilenceCode.TOO_LONG: "the service says that the question is too long",
    SilenceCode.NOT_A_MESSAGE: "what answered is not the model's service",
    SilenceCode.INTERNAL: "the judge's own part failed; the log has more",
}


def _words(code: SilenceCode, error: Exception) -> str:
    """Say in our own words what happened: the text of a service's error may hold anything."""
    status = getattr(error, "status_code", 0)
    return f"{_SAID[code]} (HTTP {status})" if isinstance(status, int) and status else _SAID[code]

"""Asking a model through the real SDK: every way it can fail is a silence with its own code."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.judge.brief import NOTHING_KNOWN, Background, Citable, Matter
from fwdperm.judge.limits import IN_A_ROW, OPEN_S, BreakerState
from fwdperm.judge.model import AT_ONCE, Model
from fwdperm.judge.setup import JudgeSetup, Prices
from fwdperm.judge.verdict import Choice, Opinion, Silence, SilenceCode, Verdict
from fwdperm.testing import ALLOW, ESCALATE, FAILURES, THINKING_FIRST, Act, ModelServer, answer, error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

ONE = ("root", "child")
CALL = Matter(surface="bash", values=("pytest -q",), cwd="/w", danger="routine")


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    """Import the SDK once: a test's deadline is for the service."""
    import anthropic  # noqa: F401, PLC0415 - see above


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        yield made


class Watch:
    """A clock the test owns."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def setup_for(server: ModelServer, **changed: Any) -> JudgeSetup:
    made = JudgeSetup(model="scripted", base_url=server.url, key_env="JUDGE_KEY", deadline_s=5.0)
    return replace(made, **changed)


def run(
    server: ModelServer,
    play: Callable[[Model], Awaitable[Any]],
    *,
    env: dict[str, str] | None = None,
    clock: Watch | None = None,
    **changed: Any,
) -> Any:
    async def all_of_it() -> Any:
        model = Model(
            setup_for(server, **changed), env={"JUDGE_KEY": "k-1"} if env is None else env, clock=clock or Watch()
        )
        try:
            return await play(model)
        finally:
            await model.aclose()

    return asyncio.run(all_of_it())


def ask(server: ModelServer, matter: Matter = CALL, background: Background = NOTHING_KNOWN, **changed: Any) -> Opinion:
    return run(server, lambda model: model.consider(matter, background, session=ONE), **changed)


def keys_sent(server: ModelServer) -> list[str]:
    """Give the keys the service saw, in whichever header this SDK sends them."""
    return [one.get("x-api-key") or one["authorization"].removeprefix("Bearer ") for one in server.headers]


# -- what it says ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [ALLOW, THINKING_FIRST])
def test_a_well_formed_answer_is_a_verdict(server: ModelServer, act: Act) -> None:
    server.say(act)
    opinion = ask(server)
    assert isinstance(opinion, Verdict)
    assert (opinion.choice, opinion.model, opinion.call.attempts) == (Choice.ALLOW, "scripted", 1)
    assert (opinion.call.input_tokens, opinion.call.cache_read_tokens, opinion.call.output_tokens) == (300, 1_500, 80)
    assert len(opinion.call.prefixes) == 5


def test_key_and_address_come_from_the_configuration_alone(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither address, key, headers, profile nor, for a model on this machine, proxy of the environment count."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-outside")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-outside")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Outside: yes")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "outside")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert isinstance(ask(server), Verdict)
    assert keys_sent(server) == ["k-1"]
    assert "outside" not in str(server.headers)
    assert os.environ["ANTHROPIC_CUSTOM_HEADERS"] == "X-Outside: yes"


def test_the_question_has_three_cached_sections_a_schema_and_no_temperature(server: ModelServer) -> None:
    ask(server)
    asked = server.requests[0]
    assert [block["cache_control"]["ttl"] for block in asked["system"]] == ["1h", "1h", "5m"]
    assert [message["role"] for message in asked["messages"]] == ["user"]
    assert asked["output_config"]["format"]["type"] == "json_schema"
    assert "temperature" not in asked


def test_a_local_server_that_refuses_schemas_is_asked_without(server: ModelServer) -> None:
    ask(server, has_schema=False)
    assert "output_config" not in server.requests[0]


# -- every failure ---------------------------------------------------------------------------------------------

CODES = {
    "hang": SilenceCode.TIMEOUT,
    "drip": SilenceCode.TIMEOUT,
    "drop": SilenceCode.CONNECTION,
    "400": SilenceCode.BAD_REQUEST,
    "401": SilenceCode.AUTH,
    "403": SilenceCode.AUTH,
    "404": SilenceCode.BAD_REQUEST,
    "413": SilenceCode.TOO_LONG,
    "429": SilenceCode.RATE_LIMITED,
    "500": SilenceCode.SERVER,
    "529": SilenceCode.OVERLOADED,
    "redirect": SilenceCode.NOT_A_MESSAGE,
    "html": SilenceCode.NOT_A_MESSAGE,
    "error in a 200": SilenceCode.NOT_A_MESSAGE,
    "refusal": SilenceCode.REFUSED,
    "truncated": SilenceCode.TRUNCATED,
    "nothing": SilenceCode.NO_TEXT,
    "only thoughts": SilenceCode.NO_TEXT,
    "two blocks": SilenceCode.SCHEMA,
    "a tool call": SilenceCode.SCHEMA,
    "prose": SilenceCode.BAD_JSON,
    "fenced": SilenceCode.BAD_JSON,
    "duplicate keys": SilenceCode.DUPLICATE_KEY,
    "an unknown key": SilenceCode.SCHEMA,
    "a missing key": SilenceCode.SCHEMA,
    "an unknown risk": SilenceCode.SCHEMA,
    "a contradiction": SilenceCode.INCONSISTENT,
    "an unknown rule": SilenceCode.INCONSISTENT,
}
ASKED_AGAIN = {
    SilenceCode.NO_TEXT,
    SilenceCode.SCHEMA,
    SilenceCode.BAD_JSON,
    SilenceCode.DUPLICATE_KEY,
    SilenceCode.INCONSISTENT,
}


@pytest.mark.parametrize("name", list(FAILURES))
def test_every_failure_is_a_silence_with_its_code(server: ModelServer, name: str) -> None:
    """A malformed answer is asked for once more; nothing else is."""
    server.say(FAILURES[name])
    slow = name in ("hang", "drip")
    opinion = ask(server, deadline_s=0.6 if slow else 5.0)
    assert isinstance(opinion, Silence)
    assert opinion.code == CODES[name]
    assert len(server.requests) == (2 if CODES[name] in ASKED_AGAIN else 1)


def test_a_service_that_is_not_there_cannot_be_reached(server: ModelServer) -> None:
    opinion = ask(server, base_url="http://127.0.0.1:9")
    assert isinstance(opinion, Silence)
    assert opinion.code == SilenceCode.CONNECTION


def test_a_malformed_answer_may_be_mended_by_the_second(server: ModelServer) -> None:
    server.say(FAILURES["prose"], ALLOW)
    opinion = ask(server)
    assert isinstance(opinion, Verdict)
    assert opinion.call.attempts == 2
    assert opinion.call.output_tokens == 160


def test_both_attempts_share_one_deadline(server: ModelServer) -> None:
    server.say(FAILURES["prose"], FAILURES["hang"])
    opinion = ask(server, deadline_s=0.8)
    assert isinstance(opinion, Silence)
    assert (opinion.code, opinion.call.attempts) == (SilenceCode.TIMEOUT, 2)


@pytest.mark.parametrize("env", [{}, {"JUDGE_KEY": "  "}, {"JUDGE_KEY": "two words"}])
def test_without_a_key_nothing_is_asked(server: ModelServer, env: dict[str, str]) -> None:
    opinion = ask(server, env=env)
    assert isinstance(opinion, Silence)
    assert opinion.code == SilenceCode.NO_KEY
    assert "two words" not in opinion.words
    assert server.requests == []


@pytest.mark.parametrize(
    ("command", "key"),
    [(("printf", "k-2"), "k-2"), (("false",), ""), (("/does/not/exist",), ""), (("true",), "")],
)
def test_a_command_may_give_the_key(server: ModelServer, command: tuple[str, ...], key: str) -> None:
    opinion = ask(server, key_env="", key_command=command, env={})
    assert isinstance(opinion, Verdict if key else Silence)
    assert keys_sent(server) == ([key] if key else [])


def test_a_request_that_may_hold_a_secret_is_not_shown_to_any_model(server: ModelServer) -> None:
    opinion = ask(server, replace(CALL, values=('deploy token="abc',)))
    assert isinstance(opinion, Silence)
    assert opinion.code == SilenceCode.UNREDACTABLE
    assert server.requests == []


def test_a_request_that_is_too_long_is_not_sent(server: ModelServer) -> None:
    opinion = ask(server, replace(CALL, values=("echo " + "a b " * 9_000,)))
    assert isinstance(opinion, Silence)
    assert (opinion.code, len(server.requests)) == (SilenceCode.TOO_LONG, 0)


def test_our_own_failure_is_a_silence_too(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("fwdperm.judge.model.read_message", broken)
    opinion = ask(server)
    assert isinstance(opinion, Silence)
    assert opinion.code == SilenceCode.INTERNAL


# -- breaker and budget ----------------------------------------------------------------------------------------


def test_outages_in_a_row_open_the_breaker_and_one_probe_closes_it(server: ModelServer) -> None:
    clock = Watch()

    async def play(model: Model) -> list[str]:
        async def once() -> str:
            opinion = await model.consider(CALL, NOTHING_KNOWN, session=ONE)
            return opinion.code if isinstance(opinion, Silence) else opinion.choice

        server.say(error(529))
        said = [await once() for _ in range(IN_A_ROW + 1)]
        server.say(ESCALATE)
        clock.now += OPEN_S - 1
        said.append(await once())
        clock.now += 1
        return [*said, await once(), await once()]

    assert run(server, play, clock=clock) == [
        *(["overloaded"] * 3), "breaker_open", "breaker_open", "escalate", "escalate",
    ]  # fmt: skip
    assert len(server.requests) == 5


def test_half_open_lets_one_question_through(server: ModelServer) -> None:
    clock = Watch()

    async def play(model: Model) -> list[str]:
        server.say(error(500))
        for _ in range(IN_A_ROW):
            await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        clock.now += OPEN_S
        server.hold()
        server.say(ESCALATE)
        probe = asyncio.create_task(model.consider(CALL, NOTHING_KNOWN, session=ONE))
        await asyncio.to_thread(server.wait_until_asked, IN_A_ROW + 1)
        other = await model.consider(replace(CALL, values=("mypy .",)), NOTHING_KNOWN, session=ONE)
        server.release()
        return [type(await probe).__name__, getattr(other, "code", "")]

    assert run(server, play, clock=clock) == ["Verdict", "breaker_open"]


@pytest.mark.parametrize("name", ["401", "400"])
def test_what_only_the_operator_mends_stays_until_they_do(server: ModelServer, name: str) -> None:
    clock = Watch()

    async def play(model: Model) -> list[str]:
        said = []
        server.say(FAILURES[name])
        for step in (0, 0, 10 * OPEN_S):
            clock.now += step
            opinion = await model.consider(CALL, NOTHING_KNOWN, session=ONE)
            said.append(getattr(opinion, "code", ""))
        server.say(ESCALATE)
        model.refresh()
        opinion = await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        return [*said, type(opinion).__name__]

    assert run(server, play, clock=clock) == [CODES[name], "breaker_open", "breaker_open", "Verdict"]
    assert len(server.requests) == 2


def test_calls_of_an_hour_are_limited(server: ModelServer) -> None:
    clock = Watch()

    async def play(model: Model) -> list[str]:
        said = []
        for step in (0, 0, 0, 3600):
            clock.now += step
            said.append(getattr(await model.consider(CALL, NOTHING_KNOWN, session=ONE), "code", "spoke"))
        return said

    assert run(server, play, clock=clock, calls_per_hour=2) == ["spoke", "spoke", "budget", "spoke"]


def test_dollars_of_an_hour_are_limited_by_the_operators_prices(server: ModelServer) -> None:
    prices = Prices(input=1.0, output=5.0, cache_read=0.1, cache_write=2.0)

    async def play(model: Model) -> tuple[int, list[str]]:
        first = await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        second = await model.consider(replace(CALL, values=("mypy .",)), NOTHING_KNOWN, session=ONE)
        return first.call.microdollars, [getattr(one, "code", "spoke") for one in (first, second)]

    assert run(server, play, prices=prices, dollars_per_hour=0.0065) == (850, ["spoke", "budget"])


# -- many at once ----------------------------------------------------------------------------------------------


def test_equal_questions_of_one_session_share_a_call_and_those_of_others_do_not(server: ModelServer) -> None:
    async def play(model: Model) -> list[Opinion]:
        server.hold()
        asking = [
            asyncio.create_task(model.consider(CALL, NOTHING_KNOWN, session=session))
            for session in (ONE, ONE, ("root", "other"))
        ]
        await asyncio.to_thread(server.wait_until_asked, 2)
        server.release()
        return list(await asyncio.gather(*asking))

    opinions = run(server, play)
    assert [opinion.call.attempts for opinion in opinions] == [1, 0, 1]
    assert len(server.requests) == 2


def test_a_verdict_is_not_remembered(server: ModelServer) -> None:
    """The same question a moment later is a question of its own."""

    async def play(model: Model) -> None:
        for _ in range(2):
            await model.consider(CALL, NOTHING_KNOWN, session=ONE)

    run(server, play)
    assert len(server.requests) == 2


def test_few_calls_run_at_once(server: ModelServer) -> None:
    async def play(model: Model) -> int:
        server.hold()
        asking = [
            asyncio.create_task(model.consider(replace(CALL, values=(f"pytest {n}",)), NOTHING_KNOWN, session=ONE))
            for n in range(AT_ONCE + 3)
        ]
        await asyncio.to_thread(server.wait_until_asked, AT_ONCE)
        seen = len(server.requests)
        server.release()
        await asyncio.gather(*asking)
        return seen

    assert run(server, play) == AT_ONCE
    assert len(server.requests) == AT_ONCE + 3


def test_giving_up_one_of_two_twins_leaves_the_other_its_answer(server: ModelServer) -> None:
    async def play(model: Model) -> Opinion:
        server.hold()
        first, second = (asyncio.create_task(model.consider(CALL, NOTHING_KNOWN, session=ONE)) for _ in range(2))
        await asyncio.to_thread(server.wait_until_asked)
        first.cancel()
        await asyncio.wait([first])
        server.release()
        return await second

    assert isinstance(run(server, play), Verdict)


def test_giving_up_a_probe_lets_the_next_question_probe(server: ModelServer) -> None:
    clock = Watch()

    async def play(model: Model) -> tuple[str, BreakerState]:
        server.say(error(500))
        for _ in range(IN_A_ROW):
            await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        clock.now += OPEN_S
        server.hold()
        server.say(ESCALATE)
        probe = asyncio.create_task(model.consider(CALL, NOTHING_KNOWN, session=ONE))
        await asyncio.to_thread(server.wait_until_asked, IN_A_ROW + 1)
        probe.cancel()
        await asyncio.wait([probe])
        server.release()
        opinion = await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        return type(opinion).__name__, model.breaker.state

    assert run(server, play, clock=clock) == ("Verdict", BreakerState.CLOSED)


def test_a_cited_rule_must_have_been_shown(server: ModelServer) -> None:
    server.say(answer(verdict="allow", rule="n7"))
    background = Background(citable=(Citable("n7", "bash", "logs"),), epoch="3")
    assert isinstance(ask(server, background=background), Verdict)
    assert isinstance(ask(server), Silence)


def test_what_happened_can_be_told(server: ModelServer) -> None:
    async def play(model: Model) -> Model:
        server.say(error(529), ALLOW)
        await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        assert model.tally.last_silence.startswith("overloaded: ")
        await model.consider(CALL, NOTHING_KNOWN, session=ONE)
        return model

    model = run(server, play)
    assert (model.tally.verdicts, model.tally.silences, model.tally.last_silence) == (
        {"allow": 1},
        {"overloaded": 1},
        "",
    )

"""The judge in a daemon: a real loop, real files, the real SDK, a service on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from fwdperm.client.question import Question, Requester
from fwdperm.inbox.doorbell import open_doorbell
from fwdperm.journal.query import query_journal
from fwdperm.serve.daemon import Daemon
from fwdperm.serve.logs import configure_logs
from fwdperm.serve.parts import DaemonOptions, build_parts
from fwdperm.serve.status import read_status
from fwdperm.testing import ALLOW, FAILURES, ModelServer
from fwdperm.wire.prompt import Reply, ReplyKind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

TEST = "pytest -q"
ALLOWED = "git status"


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    """Import the SDK once: a test's time is for the daemon."""
    import anthropic  # noqa: F401, PLC0415 - see above


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        made.say(ALLOW)
        yield made


class House:
    """A daemon in this process, turned by its own loop."""

    def __init__(self, path: Path, server: ModelServer, *, judge: str = "") -> None:
        self.path = path
        self.config = path / "config.toml"
        self.server = server
        self.set_judge(judge)
        (path / "work").mkdir()
        self.parts = build_parts(
            DaemonOptions(
                root=path / "root",
                state=path / "state",
                config=self.config,
                workspace=str(path / "work"),
                asks_here=False,
            )
        )
        self._count = 0

    def set_judge(self, more: str = "", *, is_there: bool = True) -> None:
        text = '[rules.bash]\n"git status" = "allow"\n'
        if is_there:
            text += f'[judge]\nmodel = "m"\nbase_url = "{self.server.url}"\ndeadline_s = 5\n{more}'
        new = self.config.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.rename(self.config)

    def ask(self, value: str) -> str:
        """Leave a request, and give its id."""
        self._count += 1
        child = Requester(cwd=str(self.path / "work"), session="child", agent="worker", env={"HOME": "/home/u"})
        question = Question("bash", [value], requester=child, request_id=f"q{self._count}", wait_s=30.0)
        folder = self.path / "root" / "sessions" / "root" / "requests"
        (folder / ".new").write_bytes(question.content)
        (folder / ".new").rename(folder / f"{question.id}.json")
        return question.id

    def answer(self, stem: str) -> dict[str, Any] | None:
        file = self.path / "root" / "sessions" / "root" / "responses" / f"{stem}.json"
        return json.loads(file.read_bytes()) if file.exists() else None

    async def answered(self, stem: str) -> dict[str, Any]:
        await self.until(lambda: self.answer(stem) is not None)
        found = self.answer(stem)
        assert found is not None
        return found

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_so():  # noqa: ASYNC110 - most of what is waited for is a file
                await asyncio.sleep(0.005)

    def waits_for_a_person(self, stem: str) -> bool:
        return self.parts.queue.get(("root", stem)) is not None

    def judge_of(self, stem: str) -> Any:
        question = self.parts.queue.get(("root", stem))
        assert question is not None
        return question.prompt.judge


def live(house: House, play: Callable[[House], Awaitable[None]]) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        daemon = Daemon(house.parts, loop=loop)
        task = asyncio.create_task(daemon.run(lambda ring: open_doorbell(house.parts.transport, loop, ring)))
        try:
            await house.until((house.path / "root" / "serving" / "root.json").exists)
            await play(house)
        finally:
            daemon.stop("the test is over")
            await task
            await house.parts.judge_tasks.aclose()

    asyncio.run(run())


def test_a_routine_request_is_settled_by_the_model(tmp_path: Path, server: ModelServer) -> None:
    async def play(house: House) -> None:
        answer = await house.answered(house.ask(TEST))
        assert (answer["approved"], answer["decidedBy"]["stage"]) == (True, "judge")

    live(House(tmp_path, server), play)
    lines = [dict(line.data) for line in query_journal(tmp_path / "state" / "journal") if line.kind == "verdict"]
    assert [(line["verdict"], line["model"], len(line["prefixes"])) for line in lines] == [("allow", "m", 5)]


def test_a_hanging_judge_keeps_nobody_else_waiting(tmp_path: Path, server: ModelServer) -> None:
    async def play(house: House) -> None:
        server.hold()
        slow = house.ask(TEST)
        await asyncio.to_thread(server.wait_until_asked)
        quick = await house.answered(house.ask(ALLOWED))
        assert quick["decidedBy"]["stage"] == "rule"
        assert house.answer(slow) is None
        assert not house.waits_for_a_person(slow)
        server.release()
        assert (await house.answered(slow))["decidedBy"]["stage"] == "judge"

    live(House(tmp_path, server), play)


def test_a_silent_judge_sends_the_request_to_a_person_and_shows_in_the_status(
    tmp_path: Path, server: ModelServer
) -> None:
    async def play(house: House) -> None:
        server.say(FAILURES["529"])
        stem = house.ask(TEST)
        await house.until(lambda: house.waits_for_a_person(stem))
        assert house.judge_of(stem).failure == "overloaded"
        house.parts.tell_status()
        status = read_status(house.path / "state")
        assert status is not None
        assert "SILENT now (overloaded" in status.judge
        reply = Reply(reply=ReplyKind.ONCE)
        house.parts.lifecycle.referrals.reply(("root", stem), None, reply, via="test")
        house.parts.lifecycle.flush()
        assert (await house.answered(stem))["decidedBy"]["stage"] == "human"

    live(House(tmp_path, server), play)


def test_a_withdrawn_request_is_taken_out_of_the_judges_hands(tmp_path: Path, server: ModelServer) -> None:
    async def play(house: House) -> None:
        server.hold()
        stem = house.ask(TEST)
        await asyncio.to_thread(server.wait_until_asked)
        assert len(house.parts.judge_tasks._tasks) == 1
        (house.path / "root" / "sessions" / "root" / "requests" / f"{stem}.json").unlink()
        await house.until(lambda: not house.parts.judge_tasks._tasks)
        server.release()
        await house.answered(house.ask(ALLOWED))
        assert house.answer(stem) is None

    live(House(tmp_path, server), play)


def test_switching_the_judge_off_sends_what_it_holds_to_a_person(tmp_path: Path, server: ModelServer) -> None:
    async def play(house: House) -> None:
        server.hold()
        stem = house.ask(TEST)
        await asyncio.to_thread(server.wait_until_asked)
        house.set_judge(is_there=False)
        await house.until(lambda: house.waits_for_a_person(stem))
        server.release()
        later = house.ask("ruff check src")
        await house.until(lambda: house.waits_for_a_person(later))
        assert len(server.requests) == 1

    live(House(tmp_path, server), play)
    lines = [dict(line.data) for line in query_journal(tmp_path / "state" / "journal") if line.kind == "verdict"]
    assert [line["failure"] for line in lines] == ["disabled"]


def test_settings_are_followed_while_it_runs(tmp_path: Path, server: ModelServer) -> None:
    async def play(house: House) -> None:
        assert (await house.answered(house.ask(TEST)))["approved"] is True
        house.set_judge("advise = true\n")
        await house.until(
            lambda: house.parts.rulebook.config.judge is not None and house.parts.rulebook.config.judge.advises
        )
        stem = house.ask(TEST)
        await house.until(lambda: house.waits_for_a_person(stem))
        assert house.judge_of(stem).verdict == "allow"

    live(House(tmp_path, server), play)


def test_a_missing_key_is_seen_by_the_person_and_costs_nothing(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    async def play(house: House) -> None:
        stem = house.ask(TEST)
        await house.until(lambda: house.waits_for_a_person(stem))
        assert house.judge_of(stem).failure == "no_key"
        assert "NO_SUCH_KEY" in house.judge_of(stem).reason
        assert server.requests == []

    live(House(tmp_path, server, judge='key_env = "NO_SUCH_KEY"\n'), play)


def test_a_broken_consultant_is_a_silence(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("fwdperm.serve.judge_tasks.matter_of", broken)

    async def play(house: House) -> None:
        stem = house.ask(TEST)
        await house.until(lambda: house.waits_for_a_person(stem))
        assert house.judge_of(stem).failure == "internal"

    live(House(tmp_path, server), play)


def test_stopping_waits_for_no_judge(tmp_path: Path, server: ModelServer) -> None:
    async def play(house: House) -> None:
        server.hold()
        house.ask(TEST)
        await asyncio.to_thread(server.wait_until_asked)

    start = time.monotonic()
    live(House(tmp_path, server), play)
    assert time.monotonic() - start < 4.0
    server.release()


def test_no_marker_of_the_operator_and_no_secret_is_in_what_the_model_was_sent(
    tmp_path: Path, server: ModelServer
) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"  # noqa: S105 - nobody's
    house = House(
        tmp_path, server, judge=f'context = "a shop; token={secret}"\n[guard]\nsensitive_read = ["*.ledger-x"]\n'
    )

    async def play(house: House) -> None:
        await house.answered(house.ask(f"pytest -q -k {secret}"))

    live(house, play)
    sent = json.dumps(server.requests)
    assert "pytest -q -k" in sent
    assert secret not in sent
    assert "ledger-x" not in sent


def test_a_daemon_with_a_judge_does_not_import_the_sdk_before_it_is_needed(tmp_path: Path) -> None:
    """Serving a request that a rule settles included."""
    config = tmp_path / "config.toml"
    config.write_text('[judge]\nbase_url = "http://127.0.0.1:9"\n', encoding="utf-8")
    script = f"""
import asyncio, sys
from pathlib import Path
from fwdperm.serve.daemon import serve
from fwdperm.serve.parts import DaemonOptions, build_parts
at = Path({str(tmp_path)!r})
options = DaemonOptions(root=at / "r", state=at / "s", config=at / "config.toml", workspace=str(at), asks_here=False)
parts = build_parts(options)
assert parts.rulebook.config.judge is not None
asyncio.run(serve(parts, once=True))
print("anthropic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"


def test_the_sdk_is_imported_off_the_loop() -> None:
    """The thread that opens the client is not the loop's."""
    from fwdperm.judge import model  # noqa: PLC0415 - its inner function is watched
    from fwdperm.judge.brief import NOTHING_KNOWN, Matter  # noqa: PLC0415 - as above
    from fwdperm.judge.setup import JudgeSetup  # noqa: PLC0415 - as above

    seen: list[bool] = []

    def watched(*_: object) -> None:
        seen.append(threading.current_thread() is threading.main_thread())
        raise model.EnvironmentFailure("no key")

    async def run() -> None:
        judge = model.Model(JudgeSetup(), env={})
        before, model._open_client = model._open_client, watched  # type: ignore[assignment]
        try:
            await judge.consider(Matter("bash", ("ls",)), NOTHING_KNOWN, session=("a", "b"))
        finally:
            model._open_client = before

    asyncio.run(run())
    assert seen == [False]

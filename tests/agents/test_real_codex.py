"""Codex, the real program, as its app-server runs: opt-in, because its package is fetched by hand (see README.md here).

`FWDPERM_CODEX` names the program. Everything it sends goes to a scripted model on loopback.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.testing import AgentModel, call, play

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conftest import Post

PROGRAM = os.environ.get("FWDPERM_CODEX", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="FWDPERM_CODEX names no codex program")
RUN_S = 60
CONFIG = """\
model = "played"
model_provider = "played"
approval_policy = "on-request"

[model_providers.played]
name = "played"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "PLAYED_KEY"
"""


def step(command: str) -> dict[str, Any]:
    return call("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="a step")


class Codex:
    """One app-server, spoken to in its own protocol."""

    def __init__(self, post: Post, model: AgentModel) -> None:
        self.post = post
        self.model = model
        self.home = post.directory / "codex"
        self.home.mkdir()
        self.env = post.env | {
            "CODEX_HOME": str(self.home),
            "PLAYED_KEY": "played",
            "PATH": f"{Path(PROGRAM).parent}:{post.env['PATH']}",
        }
        (self.home / "config.toml").write_text(CONFIG.format(url=model.url))
        self.installed = post.run("install", "codex", env=self.env, cwd=post.work)
        self.process = subprocess.Popen(
            [PROGRAM, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=post.work,
            env=self.env,
        )
        self._watch = threading.Timer(RUN_S, self.process.kill)
        self._watch.start()
        self._ask("initialize", clientInfo={"name": "played", "title": "played", "version": "1"})
        self._send({"method": "initialized"})
        thread = self._ask("thread/start", cwd=str(post.work), approvalPolicy="on-request", sandbox="read-only")
        self.thread = thread["thread"]["id"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._send({"id": method, "method": method, "params": params})
        for message in self._messages():
            if message.get("id") == method and "method" not in message:
                found: dict[str, Any] = message["result"]
                return found
        raise AssertionError(f"codex ended before it answered {method}")

    def _messages(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield json.loads(line)

    def begin(self, turns: Sequence[Sequence[dict[str, Any]]]) -> None:
        self._ask("turn/start", threadId=self.thread, input=[{"type": "text", "text": play(turns)}])

    def words(self) -> str:
        """Read on to the end of the turn; give the agent's closing words. A question to its client is a failure."""
        for message in self._messages():
            assert not ("id" in message and "method" in message), f"asked its client: {message}"
            params = message.get("params", {})
            if message.get("method") == "turn/completed" and params.get("threadId") == self.thread:
                return " ".join(item.get("text", "") for item in params["turn"]["items"])
        raise AssertionError("codex ended before its turn did")

    def close(self) -> None:
        self._watch.cancel()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def codex(post: Post, model: AgentModel) -> Iterator[Codex]:
    made = Codex(post, model)
    yield made
    made.close()


def test_installing_writes_trust_entries_that_codex_itself_accepts(codex: Codex) -> None:
    assert codex.installed.returncode == 0, codex.installed.stderr
    assert "trusted_hash" in (codex.home / "config.toml").read_text()
    assert "Codex trusts the hooks" in codex.installed.stderr
    looked = codex.post.run("doctor", "codex", env=codex.env, cwd=codex.post.work)
    assert "permissionRequest is trusted" in looked.stdout


def test_rules_and_a_person_decide_and_their_words_reach_the_model(codex: Codex) -> None:
    post = codex.post
    post.serve()
    codex.begin([[step("touch allowed.txt")], [step("npm install")], [step("touch other.txt")], [step("pwd")]])
    (prompt,) = post.wait_prompts()
    assert prompt["values"] == ["touch other.txt"]
    assert len(prompt["chain"]) == 2
    post.answer(prompt, "allow", note="mind the gap")
    (last,) = post.wait_prompts()
    post.answer(last, "reject", note="no more")
    said = codex.words()
    assert (post.work / "allowed.txt").exists()
    assert (post.work / "other.txt").exists()
    assert codex.model.was_told("use pnpm here")
    assert codex.model.was_told("no more")
    assert codex.model.was_told("feedback: mind the gap"), said


def test_a_subagent_asks_as_a_session_of_its_own(codex: Codex) -> None:
    post = codex.post
    post.serve()
    inner = play([[step("touch inner.txt")]])
    codex.begin([[call("spawn_agent", message=inner, agent_type="default")]])
    (prompt,) = post.wait_prompts()
    assert prompt["chain"][:2] == ["root", codex.thread]
    assert prompt["chain"][2].startswith(f"{codex.thread}/")
    post.answer(prompt, "allow")


def test_a_hook_that_is_killed_leaves_the_question_to_the_client(codex: Codex) -> None:
    """The agent's own side of the promise: a hook that is killed permits nothing; codex asks whoever drives it."""
    codex.post.serve()
    codex.begin([[step("touch other.txt")]])
    codex.post.wait_prompts()
    codex.post.kill_hook("codex")
    asked = next(message for message in codex._messages() if "id" in message and "method" in message)
    assert asked["method"] == "item/commandExecution/requestApproval"
    codex._send({"id": asked["id"], "result": {"decision": "decline"}})
    codex.words()
    assert not (codex.post.work / "other.txt").exists()


def test_without_a_daemon_nothing_runs(codex: Codex) -> None:
    codex.begin([[step("touch allowed.txt")]])
    codex.words()
    assert codex.model.was_told("nobody serves")
    assert not (codex.post.work / "allowed.txt").exists()

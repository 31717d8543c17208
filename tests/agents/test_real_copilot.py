"""Copilot CLI, the real program, headless: opt-in, because its package is fetched by hand (see README.md here).

`FWDPERM_COPILOT` names the program. It runs offline with a scripted model on loopback as its provider.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.testing import AgentModel, call, play

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conftest import Post

PROGRAM = os.environ.get("FWDPERM_COPILOT", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="FWDPERM_COPILOT names no copilot program")
RUN_S = 90


def bash(command: str) -> dict[str, Any]:
    return call("bash", command=command, description="a step")


class Copilot:
    """Copilot CLI beside one daemon."""

    def __init__(self, post: Post, model: AgentModel) -> None:
        self.post = post
        self.model = model
        self.env = post.env | {
            "COPILOT_HOME": str(post.directory / "copilot"),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "played",
            "COPILOT_MODEL": "played",
        }
        done = post.run("install", "copilot", env=self.env)
        assert done.returncode == 0, done.stderr
        self._running: list[subprocess.Popen[str]] = []

    def start(self, turns: Sequence[Sequence[dict[str, Any]]]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [PROGRAM, "-p", play(turns), "--no-color"],
            cwd=self.post.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._running.append(process)
        return process

    def finish(self, process: subprocess.Popen[str]) -> None:
        out, error = process.communicate(timeout=RUN_S)
        assert process.returncode == 0, out + error

    def close(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def copilot(post: Post, model: AgentModel) -> Iterator[Copilot]:
    made = Copilot(post, model)
    yield made
    made.close()


def test_rules_and_a_person_decide_and_their_words_reach_the_model(copilot: Copilot) -> None:
    post = copilot.post
    post.serve()
    file = str(post.work / "made.py")
    turns = [[bash("touch allowed.txt")], [bash("npm install")], [bash("touch other.txt")]]
    process = copilot.start([*turns, [call("create", path=file, file_text="one\ntwo\n")], [bash("touch last.txt")]])
    (prompt,) = post.wait_prompts()
    assert prompt["values"] == ["touch other.txt"]
    post.answer(prompt, "allow", note="mind the gap")
    (prompt,) = post.wait_prompts()
    assert (prompt["surface"], prompt["values"]) == ("edit", [file])
    assert "+2 lines" in prompt["message"]
    post.answer(prompt, "allow", note="a fine file")
    (prompt,) = post.wait_prompts()
    post.answer(prompt, "reject", note="no more")
    copilot.finish(process)
    assert (post.work / "allowed.txt").exists()
    assert (post.work / "other.txt").exists()
    assert not (post.work / "last.txt").exists()
    for told in ("use pnpm here", "feedback: mind the gap", "feedback: a fine file", "no more"):
        assert copilot.model.was_told(told), told


def test_a_subagent_asks_as_a_session_of_its_own(copilot: Copilot) -> None:
    post = copilot.post
    post.serve()
    inner = play([[bash("touch inner.txt")]])
    task = call("task", agent_type="general-purpose", name="sub", description="sub", prompt=inner)
    process = copilot.start([[task]])
    (prompt,) = post.wait_prompts()
    top, main, sub = prompt["chain"]
    assert top == "root"
    assert sub.startswith(f"{main}/")
    assert prompt["agent"] == "general-purpose"
    post.answer(prompt, "allow", note="for the subagent")
    copilot.finish(process)
    assert copilot.model.was_told("feedback: for the subagent")


def test_a_hook_that_is_killed_permits_nothing(copilot: Copilot) -> None:
    """The agent's own side of the promise: nobody else can be asked under `-p`."""
    copilot.post.serve()
    process = copilot.start([[bash("touch other.txt")]])
    copilot.post.wait_prompts()
    copilot.post.kill_hook("copilot")
    copilot.finish(process)
    assert not (copilot.post.work / "other.txt").exists()


def test_without_a_daemon_nothing_runs(copilot: Copilot) -> None:
    copilot.finish(copilot.start([[bash("touch allowed.txt")]]))
    assert copilot.model.was_told("nobody serves")
    assert not (copilot.post.work / "allowed.txt").exists()

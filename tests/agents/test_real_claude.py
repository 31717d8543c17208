"""Claude Code, the real program, headless: its permissions reach the daemon, and the answers and notes reach its model.

Every run has a home of its own and a scripted model on loopback.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from fwdperm.testing import AgentModel, call, play

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conftest import Post

RUN_S = 90


def bash(command: str) -> dict[str, Any]:
    return call("Bash", command=command, description="a step of the play")


def agent(name: str, turns: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    return call("Agent", description=name, subagent_type="general-purpose", prompt=play(turns), run_in_background=False)


class Claude:
    """Claude Code beside one daemon."""

    def __init__(self, program: Path, post: Post, model: AgentModel) -> None:
        self._program = program
        self._post = post
        self._running: list[subprocess.Popen[str]] = []
        self.model = model
        self.env = post.env | {
            "CLAUDE_CONFIG_DIR": str(post.home / ".claude"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "sk-ant-played",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }
        done = post.run("install", "claude", "--user", env={"CLAUDE_CONFIG_DIR": str(post.home / ".claude")})
        assert done.returncode == 0, done.stderr

    def start(self, turns: Sequence[Sequence[dict[str, Any]]], *before: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*before, str(self._program), "-p", play(turns), "--output-format", "json"],
            cwd=self._post.work,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._running.append(process)
        return process

    def words(self, process: subprocess.Popen[str]) -> str:
        """Wait for the program's end; give its closing words."""
        out, error = process.communicate(timeout=RUN_S)
        assert process.returncode == 0, out + error
        return str(json.loads(out)["result"])

    def close(self) -> None:
        for process in self._running:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def claude(claude_program: Path, post: Post, model: AgentModel) -> Iterator[Claude]:
    made = Claude(claude_program, post, model)
    yield made
    made.close()


def test_a_rule_allows_and_a_rule_denies_without_a_person(claude: Claude, post: Post) -> None:
    post.serve()
    said = claude.words(claude.start([[bash("touch allowed.txt")], [bash("npm install")]]))
    assert (post.work / "allowed.txt").exists()
    assert "use pnpm here" in said


def test_a_person_rejects_with_a_note_and_the_model_reads_it(claude: Claude, post: Post) -> None:
    post.serve()
    process = claude.start([[bash("touch other.txt")]])
    post.answer(post.wait_prompts()[0], "reject", note="not on a Friday")
    assert "not on a Friday" in claude.words(process)
    assert not (post.work / "other.txt").exists()


def test_a_person_approves_with_a_note_and_the_model_reads_it_once_the_tool_ran(claude: Claude, post: Post) -> None:
    post.serve()
    process = claude.start([[bash("touch other.txt")]])
    post.answer(post.wait_prompts()[0], "allow", note="only this once, please")
    claude.words(process)
    assert (post.work / "other.txt").exists()
    assert claude.model.was_told("User approved this tool call with feedback: only this once, please")


def test_three_subagents_at_once_each_ask_with_their_own_session(claude: Claude, post: Post) -> None:
    post.serve()
    process = claude.start([[agent(f"p{n}", [[bash(f"touch par{n}.txt")]]) for n in range(3)]])
    prompts = post.wait_prompts(3)
    roots = {prompt["chain"][1] for prompt in prompts}
    assert len(roots) == 1
    (root,) = roots
    chains = {tuple(prompt["chain"]) for prompt in prompts}
    assert len(chains) == 3
    for chain in chains:
        assert chain[:2] == ("root", root)
        assert chain[2].startswith(f"{root}/")
        assert len(chain) == 3
    assert {prompt["agent"] for prompt in prompts} == {"general-purpose"}
    for prompt in prompts:
        post.answer(prompt, "allow", note=f"note for {prompt['values'][0]}")
    claude.words(process)
    for number in range(3):
        assert (post.work / f"par{number}.txt").exists()
        assert claude.model.was_told(f"feedback: note for touch par{number}.txt")


def test_a_nested_subagents_chain_shows_the_root_the_agent_and_itself(claude: Claude, post: Post) -> None:
    """The agent in the middle has asked for nothing, so that only its metadata knows of it."""
    post.serve()
    process = claude.start([[agent("outer", [[agent("inner", [[bash("touch deep.txt")]])]])]])
    (prompt,) = post.wait_prompts()
    top, main, outer, inner = prompt["chain"]
    assert top == "root"
    assert outer.startswith(f"{main}/")
    assert inner.startswith(f"{main}/")
    assert outer != inner
    assert prompt["inbox"] == outer
    post.answer(prompt, "allow")
    claude.words(process)
    assert (post.work / "deep.txt").exists()


def test_started_by_fwdperm_run_it_is_that_session(claude: Claude, post: Post) -> None:
    post.serve()
    wrapper = [sys.executable, "-m", "fwdperm", "run", "--session", "build", "--agent", "builder", "--"]
    process = claude.start([[bash("touch mine.txt")], [agent("sub", [[bash("touch subs.txt")]])]], *wrapper)
    (first,) = post.wait_prompts()
    assert (first["chain"], first["agent"]) == (["root", "build"], "builder")
    post.answer(first, "allow")
    (second,) = post.wait_prompts()
    assert second["chain"][:2] == ["root", "build"]
    assert second["chain"][2].startswith("build/")
    post.answer(second, "allow")
    claude.words(process)


def test_a_program_started_by_its_shell_tool_is_its_child(claude: Claude, post: Post, claude_program: Path) -> None:
    post.serve()
    (post.directory / "inner.txt").write_text(play([[bash("touch inner.txt")]]))
    inner = f'{claude_program} -p "$(cat {post.directory}/inner.txt)" </dev/null'
    process = claude.start([[bash(inner)]])
    (outer,) = post.wait_prompts()
    top, session = outer["chain"]
    post.answer(outer, "allow")
    (inner_prompt,) = post.wait_prompts()
    assert inner_prompt["values"] == ["touch inner.txt"]
    assert inner_prompt["chain"][:2] == [top, session]
    assert len(inner_prompt["chain"]) == 3
    post.answer(inner_prompt, "allow")
    claude.words(process)
    assert (post.work / "inner.txt").exists()


def test_without_a_daemon_nothing_runs_and_the_model_hears_why(claude: Claude, post: Post) -> None:
    said = claude.words(claude.start([[bash("touch allowed.txt")]]))
    assert "nobody serves" in said
    assert not (post.work / "allowed.txt").exists()


def test_a_daemon_killed_while_a_person_thinks_leaves_a_denial(claude: Claude, post: Post) -> None:
    post.serve()
    process = claude.start([[bash("touch other.txt")]])
    post.wait_prompts()
    post.kill_daemon()
    said = claude.words(process)
    assert "nobody serves" in said
    assert not (post.work / "other.txt").exists()


def test_a_hook_that_is_killed_permits_nothing(claude: Claude, post: Post) -> None:
    """The agent's own side of the promise: a permission hook that is killed is a denial under `-p`."""
    post.serve()
    process = claude.start([[bash("touch other.txt")]])
    post.wait_prompts()
    post.kill_hook("claude")
    said = claude.words(process)
    assert "The play is over. " in said  # the model was told of a result that was no success
    assert not (post.work / "other.txt").exists()


def test_the_interactive_program_asks_too(claude: Claude, claude_program: Path, post: Post) -> None:
    """Its dialog closes when the hook has answered; nobody presses a key."""
    post.serve()
    key = claude.env["ANTHROPIC_API_KEY"]
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(post.work): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (post.home / ".claude" / ".claude.json").write_text(json.dumps(known))
    question = play([[bash("touch allowed.txt")], [bash("npm install")]])
    terminal = pexpect.spawn(
        str(claude_program),
        ["--permission-mode", "default", question],
        env=claude.env | {"TERM": "xterm"},
        cwd=str(post.work),
        dimensions=(40, 120),
        timeout=1,
    )
    try:

        def is_told() -> bool:
            with contextlib.suppress(pexpect.TIMEOUT):
                terminal.read_nonblocking(65536, timeout=0.1)
            return claude.model.was_told("use pnpm here")

        post.wait_for(is_told, what="the denial to reach the model", seconds=RUN_S)
    finally:
        terminal.close(force=True)
    assert (post.work / "allowed.txt").exists()
    answers = [one["response"] for one in post.decisions()]
    assert [(one["approved"], one["decidedBy"]["stage"]) for one in answers] == [(True, "rule"), (False, "rule")]

"""Frameworks in Python: their real packages, where they are installed, against a real daemon."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.agents.permit import Permit, permit
from fwdperm.testing import AgentModel, call, play

if TYPE_CHECKING:
    from conftest import Post

EXAMPLES = Path(__file__).parents[2] / "examples"
PYTHON = os.environ.get("FWDPERM_EXAMPLES_PYTHON", sys.executable)
"""An interpreter that has the frameworks, where this one has not."""
RULES = """\
[rules.bash]
"git *" = "allow"
"touch allowed*" = "allow"
"make deploy *" = { action = "deny", reason = "not from here" }
"""


def has(package: str) -> bool:
    return subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("example", "package"),
    [("openai_agents_tools", "agents"), ("pydantic_ai_tools", "pydantic_ai"), ("langchain_tools", "langchain")],
)
def test_an_example_runs_what_is_allowed_and_tells_the_model_what_is_not(
    post: Post, example: str, package: str
) -> None:
    if not has(package):
        pytest.skip(f"`{package}` is not installed for {PYTHON}")
    post.serve(RULES)
    done = subprocess.run(
        [PYTHON, str(EXAMPLES / f"{example}.py")],
        env=post.env | {"PYTHONPATH": str(EXAMPLES.parent)},
        cwd=post.work,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert "ran git status" in done.stdout
    assert "not from here" in done.stdout
    assert "ran make deploy" not in done.stdout
    assert {"openai_agents_tools": 2, "pydantic_ai_tools": 2, "langchain_tools": 2}[example] == len(post.decisions())


def asked(post: Post, monkeypatch: pytest.MonkeyPatch, tool: str, tool_input: dict[str, Any]) -> Permit:
    for name in list(os.environ):
        if name.startswith("FWDPERM_"):
            monkeypatch.delenv(name)
    return asyncio.run(permit(tool, tool_input, session="s", root=str(post.root), cwd=str(post.work), wait_s=20))


def test_a_permit_is_given_by_rules(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    post.serve(RULES)
    assert asked(post, monkeypatch, "bash", {"command": "git status"}).approved
    refused = asked(post, monkeypatch, "bash", {"command": "make deploy"})
    assert not refused.approved
    assert "not from here" in refused.reason


@pytest.mark.parametrize(
    ("tool", "tool_input", "says"),
    [("", {}, "names no tool"), ("bash", {}, "says no command"), ("bash", {"command": "x" * 70_000}, "at most")],
)
def test_no_permit_for_what_cannot_be_asked(
    post: Post, monkeypatch: pytest.MonkeyPatch, tool: str, tool_input: dict[str, Any], says: str
) -> None:
    refused = asked(post, monkeypatch, tool, tool_input)
    assert not refused.approved
    assert says in refused.reason


def test_no_permit_without_a_daemon_and_no_text_of_an_exception(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nobody serves" in asked(post, monkeypatch, "bash", {"command": "git status"}).reason

    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("token=hunter2")

    monkeypatch.setattr("fwdperm.agents.permit.put_async", broken)
    refused = asked(post, monkeypatch, "bash", {"command": "git status"})
    assert not refused.approved
    assert "hunter2" not in refused.reason
    assert refused.request_id in refused.reason


def test_the_claude_sdk_asks_by_its_callback_and_notes_arrive(
    post: Post, model: AgentModel, claude_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real SDK and the real program: rules, a person's note after the tool, a rejection, a subagent."""
    sdk = pytest.importorskip("claude_agent_sdk")
    from fwdperm.agents.claude_sdk import permission_callback  # noqa: PLC0415 - it needs the SDK

    for name in list(os.environ):
        if name.startswith(("FWDPERM_", "CLAUDE", "ANTHROPIC")):
            monkeypatch.delenv(name)
    post.serve(RULES)
    callback = permission_callback(session="sdk-run", agent="builder", cwd=str(post.work), root=str(post.root))
    options = sdk.ClaudeAgentOptions(
        can_use_tool=callback,
        hooks=callback.hooks(),
        cwd=str(post.work),
        cli_path=str(claude_program),
        env={
            "HOME": str(post.home),
            "CLAUDE_CONFIG_DIR": str(post.home / ".claude"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "sk-ant-played",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        },
    )

    def bash(line: str) -> dict[str, Any]:
        return call("Bash", command=line, description="a step")

    inner = call(
        "Agent", description="in", subagent_type="general-purpose", prompt=play([[bash("touch in.txt")]]),
        run_in_background=False,
    )  # fmt: skip
    question = play([[bash("touch allowed.txt")], [bash("make deploy")], [bash("touch mine.txt")], [inner]])

    async def run() -> list[list[str]]:
        chains: list[list[str]] = []

        async def person() -> None:
            for note in ("mind the gap", "in there too"):
                (prompt,) = await asyncio.to_thread(post.wait_prompts)
                chains.append(prompt["chain"])
                await asyncio.to_thread(post.answer, prompt, "allow", note=note)

        async def agent() -> None:
            async with sdk.ClaudeSDKClient(options) as client:
                await client.query(question)
                async for _ in client.receive_response():
                    pass

        async with asyncio.timeout(90):
            await asyncio.gather(agent(), person())
        return chains

    chains = asyncio.run(run())
    assert chains[0] == ["root", "sdk-run"]
    assert chains[1][:2] == ["root", "sdk-run"]
    assert chains[1][2].startswith("sdk-run/")
    assert sorted(path.name for path in post.work.glob("*.txt")) == ["allowed.txt", "in.txt", "mine.txt"]
    for told in ("not from here", "feedback: mind the gap", "feedback: in there too"):
        assert model.was_told(told), told

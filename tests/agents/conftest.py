"""Real daemons, hooks as agents start them, and real agents that play a script against a model on loopback."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.sessions.locations import fast_command, find_state
from fwdperm.testing import AgentModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READY_S = 20.0
RULES = """\
[rules]
"*" = "ask"

[rules.bash]
"touch allowed*" = "allow"
"npm *" = { action = "deny", reason = "use pnpm here" }
"""
_LEFT_OUT = (
    "FWDPERM_",
    "PI_",
    "CLAUDE",
    "ANTHROPIC",
    "OPENAI",
    "CODEX",
    "COPILOT",
    "OPENCODE",
    "GITHUB_",
    "GH_",
    "XDG_",
)


def wait_for(check: Callable[[], Any], *, what: str, seconds: float = READY_S) -> Any:
    """Look until something is there; a real process is at work on it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited {seconds} s for {what}")


@dataclass
class Post:
    """A daemon's root, state and working directory, and the programs run beside it."""

    directory: Path
    rules: str = RULES
    daemon: subprocess.Popen[bytes] | None = None
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.work = self.directory / "work"
        self.home = self.directory / "home"
        self.work.mkdir()
        self.home.mkdir()
        self.config = self.directory / "config.toml"
        self.config.write_text(self.rules, encoding="utf-8")
        self.root = self.directory / "root"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
        self.env = clean | {
            "HOME": str(self.home),
            "FWDPERM_ROOT": str(self.root),
            "FWDPERM_CONFIG": str(self.config),
            "XDG_STATE_HOME": str(self.directory / "state"),
            "NO_PROXY": "127.0.0.1,localhost",
        }
        self.state = Path(find_state(self.env, str(self.root)))

    @staticmethod
    def wait_for(check: Callable[[], Any], *, what: str, seconds: float = READY_S) -> Any:
        """Look until something is there."""
        return wait_for(check, what=what, seconds=seconds)

    # -- the daemon --------------------------------------------------------------------------------------------

    def serve(self, rules: str | None = None) -> subprocess.Popen[bytes]:
        """Start the daemon and wait until it serves."""
        if rules is not None:
            self.config.write_text(rules, encoding="utf-8")
        with (self.directory / "daemon.log").open("ab") as log:
            self.daemon = subprocess.Popen(
                [sys.executable, "-m", "fwdperm", "serve", "--no-prompt", "--workspace", str(self.work)],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        wait_for(self._is_served, what="the daemon to serve")
        return self.daemon

    def _is_served(self) -> bool:
        assert self.daemon is not None
        assert self.daemon.poll() is None, (self.directory / "daemon.log").read_text()
        try:
            return json.loads((self.state / "status.json").read_bytes())["pid"] == self.daemon.pid
        except (FileNotFoundError, ValueError):
            return False

    def kill_daemon(self) -> None:
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()

    def run(self, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run one fwdperm command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "fwdperm", *words],
            env=self.env | more.pop("env", {}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            **more,
        )

    def prompts(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_bytes()) for path in sorted((self.state / "prompts").glob("*.json"))]

    def wait_prompts(self, count: int = 1) -> list[dict[str, Any]]:
        """Wait until so many questions wait for a person."""
        found: list[dict[str, Any]] = wait_for(
            lambda: prompts if len(prompts := self.prompts()) >= count else None, what=f"{count} prompts", seconds=60
        )
        return found

    def answer(self, prompt: dict[str, Any], verb: str, *, note: str = "") -> None:
        done = self.run(verb, prompt["id"], *(["--note", note] if note else []))
        assert done.returncode == 0, done.stderr

    def story(self, request_id: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("why", request_id, "--json").stdout)
        return found

    def decisions(self) -> list[dict[str, Any]]:
        lines = self.run("audit", "tail", "-n", "200", "--json").stdout.splitlines()
        return [line["data"] for line in map(json.loads, lines) if line["kind"] == "decided"]

    def hook_log(self) -> str:
        try:
            return (self.root / "hooks.log").read_text()
        except FileNotFoundError:
            return ""

    # -- hooks -------------------------------------------------------------------------------------------------

    def hook_command(self, agent: str, event: str) -> str:
        return " ".join([*fast_command(sys.executable), "hook", agent, event])

    def hook(self, agent: str, event: str, said: Any, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a hook as an agent does, to its end."""
        text = said if isinstance(said, str) else json.dumps(said)
        return subprocess.run(
            [*fast_command(sys.executable), "hook", agent, event],
            input=text,
            env=self.env | more.pop("env", {}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **more,
        )

    def start_hook(self, agent: str, event: str, said: Any, **more: Any) -> subprocess.Popen[str]:
        """Start a hook that will wait for its answer."""
        process = subprocess.Popen(
            [*fast_command(sys.executable), "hook", agent, event],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env | more.pop("env", {}),
            text=True,
            **more,
        )
        assert process.stdin is not None
        process.stdin.write(said if isinstance(said, str) else json.dumps(said))
        process.stdin.close()
        process.stdin = None
        self.started.append(process)
        return process

    def kill_hook(self, agent: str) -> None:
        """Kill the hook that an agent started and that waits now: ours by its environment, and no other."""

        def ours() -> list[int]:
            found = []
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    told = (path / "environ").read_bytes()
                except OSError:
                    continue
                if words[-4:-1][:2] == [b"hook", agent.encode()] and f"FWDPERM_ROOT={self.root}\0".encode() in told:
                    found.append(int(path.name))
            return found

        (process,) = wait_for(ours, what=f"a hook of {agent}")
        os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGKILL)
            self.daemon.wait()


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    made = Post(tmp_path)
    yield made
    made.close()


@pytest.fixture
def model() -> Iterator[AgentModel]:
    with AgentModel() as made:
        yield made


@pytest.fixture(scope="session")
def claude_program() -> Path:
    """Claude Code as the `claude-agent-sdk` wheel carries it; skipped with its reason where it is not installed.

    `FWDPERM_CLAUDE` names another one; `FWDPERM_CLAUDE_REQUIRED=1` turns the skip into a failure.
    """
    named = os.environ.get("FWDPERM_CLAUDE")
    if named:
        return Path(named)
    found = importlib.util.find_spec("claude_agent_sdk")
    if found is not None and found.origin:
        program = Path(found.origin).parent / "_bundled" / "claude"
        if program.is_file():
            return program
    reason = "no Claude Code here: install the extra `agents`, or name a program in FWDPERM_CLAUDE"
    if os.environ.get("FWDPERM_CLAUDE_REQUIRED"):
        pytest.fail(reason)
    pytest.skip(reason)

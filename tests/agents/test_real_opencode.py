"""OpenCode's server, the real program, behind the bridge: opt-in, because its package is fetched by hand (README.md).

`FWDPERM_OPENCODE` names the program. Its model is a scripted one on loopback.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.testing import AgentModel, call, play

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conftest import Post

PROGRAM = os.environ.get("FWDPERM_OPENCODE", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="FWDPERM_OPENCODE names no opencode program")


def bash(command: str) -> dict[str, Any]:
    return call("bash", command=command, description="a step")


class OpenCode:
    """A server, and a bridge to it."""

    def __init__(self, post: Post, model: AgentModel) -> None:
        self.post = post
        self.model = model
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "played",
            "options": {"baseURL": f"{model.url}/v1", "apiKey": "played"},
            "models": {"played": {"name": "played", "tool_call": True, "limit": {"context": 100_000, "output": 4096}}},
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": "played/played",
            "small_model": "played/played",
            "provider": {"played": provider},
            "permission": {"bash": {"*": "ask"}, "edit": "ask", "webfetch": "ask", "task": "allow"},
        }
        (post.work / "opencode.json").write_text(json.dumps(config))
        places = {f"XDG_{name}_HOME": str(post.home / name.lower()) for name in ("CONFIG", "DATA", "CACHE")}
        switches = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
        self.env = post.env | places | dict.fromkeys(switches, "1")
        self._running: list[subprocess.Popen[bytes]] = []
        self.bridge_log = post.directory / "bridge.log"

    def begin_both(self) -> None:
        self.serve()
        self.bridge = self.start_bridge()

    def serve(self) -> None:
        with (self.post.directory / "opencode.log").open("ab") as log:
            self.server = subprocess.Popen(
                [PROGRAM, "serve", "--port", str(self._port), "--print-logs"],
                cwd=self.post.work,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._running.append(self.server)
        self.post.wait_for(self._answers, what="opencode to listen", seconds=60)

    def _answers(self) -> bool:
        try:
            self.call("GET", "/path", timeout=5)
        except OSError:
            return False
        return True

    def start_bridge(self) -> subprocess.Popen[bytes]:
        with self.bridge_log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "fwdperm", "bridge", "opencode", self.url],
                env=self.post.env,
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        self._running.append(process)
        return process

    def call(self, method: str, path: str, body: Any = None, *, timeout: float = 90) -> Any:
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - our own loopback address
            self.url + path, method=method, data=content, headers={"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310 - as above
            return json.loads(answer.read() or b"null")

    def begin(self, turns: Sequence[Sequence[dict[str, Any]]]) -> tuple[str, threading.Thread]:
        session = self.call("POST", "/session", {})["id"]
        body = {"parts": [{"type": "text", "text": play(turns)}]}

        def run() -> None:
            try:
                self.call("POST", f"/session/{session}/message", body)
            except OSError:
                return  # the server was stopped on purpose

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return session, thread

    def close(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


@pytest.fixture
def opencode(post: Post, model: AgentModel) -> Iterator[OpenCode]:
    made = OpenCode(post, model)
    try:
        made.begin_both()
        yield made
    finally:
        made.close()


def test_every_sub_command_must_be_allowed_and_a_rejection_reaches_the_model(opencode: OpenCode) -> None:
    post = opencode.post
    post.serve('[rules.bash]\n"touch allowed*" = "allow"\n"npm *" = { action = "deny", reason = "use pnpm here" }\n')
    turns = [[bash("touch allowed.txt")], [bash("touch allowed2.txt && npm install")], [bash("touch allowed3 && pwd")]]
    _, thread = opencode.begin(turns)
    (prompt,) = post.wait_prompts()
    assert prompt["values"][0] == "touch allowed3 && pwd"
    post.answer(prompt, "reject", note="not today")
    thread.join(60)
    assert (post.work / "allowed.txt").exists()
    assert not (post.work / "allowed2.txt").exists()
    assert opencode.model.was_told("use pnpm here")
    assert opencode.model.was_told("not today")


def test_a_child_session_asks_below_its_parent_and_edits_show_their_size(opencode: OpenCode) -> None:
    post = opencode.post
    post.serve()
    file = str(post.work / "made.txt")
    inner = play([[bash("touch inner.txt")]])
    turns = [
        [call("write", filePath=file, content="one\ntwo\n")],
        [call("task", description="s", prompt=inner, subagent_type="general")],
    ]
    session, thread = opencode.begin(turns)
    (prompt,) = post.wait_prompts()
    assert (prompt["surface"], prompt["values"], prompt["chain"]) == ("edit", [file], ["root", session])
    assert "+2 lines" in prompt["message"]
    post.answer(prompt, "allow")
    (prompt,) = post.wait_prompts()
    assert prompt["chain"][:2] == ["root", session]
    assert (len(prompt["chain"]), prompt["agent"]) == (3, "general")
    post.answer(prompt, "allow")
    thread.join(60)
    assert (post.work / "inner.txt").exists()


def test_the_daemon_may_come_late_and_both_sides_may_start_again(opencode: OpenCode) -> None:
    post = opencode.post
    session, thread = opencode.begin([[bash("touch one.txt")]])
    requests = post.root / "sessions" / "root" / "requests"
    post.wait_for(lambda: requests.exists() and list(requests.glob("*.json")), what="a request without a daemon")
    post.serve()  # late
    post.wait_prompts()
    opencode.bridge.terminate()  # the bridge starts again: what is open is asked again
    opencode.bridge.wait()
    opencode.start_bridge()
    (prompt,) = post.wait_for(
        lambda: p if (p := post.prompts()) and p[0]["chain"] == ["root", session] else None, what="it again"
    )
    post.answer(prompt, "allow")
    thread.join(60)
    assert (post.work / "one.txt").exists()
    opencode.server.kill()  # the server starts again: its asks are gone, and so are ours
    opencode.server.wait()
    opencode.serve()
    _, thread = opencode.begin([[bash("touch two.txt")]])
    (prompt,) = post.wait_prompts()
    assert prompt["values"] == ["touch two.txt"]
    post.answer(prompt, "allow")
    thread.join(60)
    assert (post.work / "two.txt").exists()

"""A root with its places, and real daemons in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwdperm.sessions.locations import find_state

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = """\
[rules.bash]
"git *" = "allow"
"git push *" = "ask"
"npm *" = { action = "deny", reason = "use pnpm" }
"""
READY_S = 20.0


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
class House:
    """One root with its places, and the daemons started for it."""

    directory: Path
    rules: str = RULES
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.work = self.directory / "work"
        self.work.mkdir()
        self.config = self.directory / "config.toml"
        self.config.write_text(self.rules, encoding="utf-8")
        self.root = self.directory / "root"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("FWDPERM_", "PI_"))}
        self.env = clean | {
            "FWDPERM_ROOT": str(self.root),
            "FWDPERM_CONFIG": str(self.config),
            "XDG_STATE_HOME": str(self.directory / "state"),
        }
        self.state = Path(find_state(self.env, str(self.root)))
        self._count = 0

    def serve(self, *words: str, driver: Path | None = None, wait: bool = True) -> subprocess.Popen[bytes]:
        """Start a daemon and wait until it serves."""
        program = [str(driver)] if driver else ["-m", "fwdperm"]
        with (self.directory / f"daemon-{len(self.daemons)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *program, "serve", "--no-prompt", "--workspace", str(self.work), *words],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        self.daemons.append(process)
        if wait:
            wait_for(lambda: self.is_served_by(process), what="the daemon to serve")
        return process

    def is_served_by(self, process: subprocess.Popen[bytes]) -> bool:
        assert process.poll() is None, self.log()
        try:
            return json.loads((self.state / "status.json").read_bytes())["pid"] == process.pid
        except (FileNotFoundError, ValueError):
            return False

    def log(self) -> str:
        return "\n".join(path.read_text(encoding="utf-8") for path in sorted(self.directory.glob("daemon-*.log")))

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

    def start(self, *words: str, **more: Any) -> subprocess.Popen[str]:
        """Start one fwdperm command."""
        return subprocess.Popen(
            [sys.executable, "-m", "fwdperm", *words],
            env=self.env | more.pop("env", {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def drop(self, value: str, *, inbox: str = "root", surface: str = "bash", stem: str = "", **more: Any) -> str:
        """Leave a request as a child in any language does: write beside, then rename."""
        self._count += 1
        stem = stem or f"t{self._count}-{os.getpid()}"
        body = {
            "id": stem,
            "createdAt": int(time.time() * 1000),
            "requesterSessionId": "child",
            "targetSessionId": inbox,
            "requesterAgentName": "worker",
            "accessIntent": {"surface": surface, "matchValues": [value], "requesterCwd": str(self.work)},
        } | more
        directory = self.root / "sessions" / inbox / "requests"
        directory.mkdir(parents=True, exist_ok=True)
        temp = directory / f"{stem}.json.tmp"
        temp.write_text(json.dumps(body), encoding="utf-8")
        temp.rename(directory / f"{stem}.json")
        return stem

    def answer(self, stem: str, *, inbox: str = "root") -> dict[str, Any] | None:
        try:
            return json.loads((self.root / "sessions" / inbox / "responses" / f"{stem}.json").read_bytes())
        except FileNotFoundError:
            return None

    def wait_answer(self, stem: str, *, inbox: str = "root", seconds: float = READY_S) -> dict[str, Any]:
        found: dict[str, Any] = wait_for(
            lambda: self.answer(stem, inbox=inbox), what=f"an answer to {stem}", seconds=seconds
        )
        return found

    def prompts(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_bytes()) for path in sorted((self.state / "prompts").glob("*.json"))]

    def wait_prompt(self) -> dict[str, Any]:
        prompts: list[dict[str, Any]] = wait_for(self.prompts, what="a prompt")
        return prompts[0]

    def close(self) -> None:
        for process in self.daemons:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

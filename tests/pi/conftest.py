"""A real pi subagent's asking side as a child process, and a heartbeat reader such as newer pi children have."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
OLDEST_NODE = 20
PATIENCE_S = 20.0
"""Seconds in which a question must have come to a person."""


@dataclass
class PiChild:
    """A pi subagent that waits for its answer."""

    process: subprocess.Popen[str]
    log: list[dict[str, Any]] = field(default_factory=list)

    def decision(self, *, within_s: float = 30.0) -> dict[str, Any]:
        """Wait for what the child decided; its log is then in `log`."""
        out, error = self.process.communicate(timeout=within_s)
        assert self.process.returncode == 0, error
        self.log = [json.loads(line) for line in error.splitlines()]
        found: dict[str, Any] = json.loads(out)
        return found


@pytest.fixture(scope="session")
def pi_program() -> Path:
    """The bundled child, made once per machine and version; skipped with its reason where it cannot be made.

    `FWDPERM_PI_CACHE` names the directory it is kept in; `FWDPERM_PI_REQUIRED=1` turns the skip into a failure.
    """
    reason = _missing()
    if reason:
        _give_up(reason)
    content = (HERE / "setup.sh").read_bytes() + (HERE / "child.mts").read_bytes()
    cache = Path(os.environ.get("FWDPERM_PI_CACHE") or Path.home() / ".cache" / "fwdperm-tests")
    directory = cache / f"pi-child-{hashlib.sha256(content).hexdigest()[:12]}"
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "child.mjs"
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            done = subprocess.run(
                ["sh", HERE / "setup.sh", directory], capture_output=True, text=True, check=False, timeout=110
            )
            if done.returncode != 0:
                _give_up(f"npm could not fetch the pi permission system: {done.stderr.strip()[-300:]}")
    return program


def _missing() -> str:
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    major = int(version.removeprefix("v").partition(".")[0])
    return "" if major >= OLDEST_NODE else f"node {version} is older than {OLDEST_NODE}"


def _give_up(reason: str) -> None:
    if os.environ.get("FWDPERM_PI_REQUIRED"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def run_pi_child(pi_program: Path, tmp_path: Path) -> Iterator[Callable[..., PiChild]]:
    """Start pi subagents in `tmp_path / "tree"`; whatever still waits at the end of the test is ended."""
    started: list[PiChild] = []

    def start(value: str, *, forwarding: Path | None = None, **options: Any) -> PiChild:
        ask = {
            "forwardingDir": str(forwarding or tmp_path / "tree"),
            "parent": "root",
            "session": "child",
            "agent": "worker",
            "surface": "bash",
            "value": value,
            "message": f"Agent wants to run: {value}",
            **options,
        }
        process = subprocess.Popen(
            ["node", str(pi_program), json.dumps(ask)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        child = PiChild(process)
        started.append(child)
        return child

    yield start
    for child in started:
        if child.process.poll() is None:
            child.process.kill()
        child.process.communicate()


class Daemon:
    """A real daemon in a process of its own, with its own root and state; answered from its command line."""

    def __init__(self, directory: Path, *, rules: str) -> None:
        self.root = directory / "tree"
        self._config = directory / "config.toml"
        self._config.write_text(rules)
        self._env = {
            **os.environ,
            "HOME": str(directory),
            "XDG_STATE_HOME": str(directory / "state"),
            "XDG_CONFIG_HOME": str(directory / "config"),
        }
        self._log = (directory / "daemon.log").open("w")
        self.process = subprocess.Popen(
            self._words("serve"), env=self._env, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log
        )

    def _words(self, command: str, *arguments: str) -> list[str]:
        config = ["--config", str(self._config)] if command == "serve" else []
        return [sys.executable, "-m", "fwdperm", command, *arguments, "--root", str(self.root), *config]

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one command beside the daemon."""
        return subprocess.run(
            self._words(command, *arguments), env=self._env, capture_output=True, text=True, check=False, timeout=30
        )

    def waiting(self, *, inbox: str = "root") -> str:
        """Wait until a question waits for a person; return its request's id."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            assert self.process.poll() is None, "the daemon ended"
            left = list(self.root.glob(f"sessions/{inbox}/requests/*.json"))
            listed = self.run("list", "--json").stdout if left else ""
            for path in left:
                if path.stem in listed:
                    return path.stem
            os.sched_yield()
        raise AssertionError("no question came to the person")

    def stop(self) -> None:
        """End the daemon as an operator does."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[str], Daemon]]:
    """Start real daemons; whatever still runs at the end of the test is ended."""
    started: list[Daemon] = []

    def start(rules: str) -> Daemon:
        daemon = Daemon(tmp_path, rules=rules)
        started.append(daemon)
        return daemon

    yield start
    for daemon in started:
        daemon.stop()

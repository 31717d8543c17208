"""Trying whether an agent's hooks really run.

Lives here: starting our own hook with an event that decides nothing, an agent's version, and what Codex says of its
hooks. It starts processes, never through a shell, and never a command that it read from a file: others may have written
that. Never here: an agent's settings (`installing.py`), words for people.

Fails closed: a hook that does not answer in time, or not in the agent's form, is reported as not running.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from fwdperm.agents.hook import PROBE
from fwdperm.sessions import fast_command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PATIENCE_S: Final = 20.0
"""Seconds a program may take to answer."""
_TRUSTED: Final = frozenset({"trusted", "managed"})


def try_hook(agent: str, event: str, *, env: Mapping[str, str], asks: bool) -> str:
    """Start our hook, with this interpreter and this package whatever settings say, and give it the trial event.

    Args:
        agent: The agent, one of ours.
        event: The event, one of ours.
        env: The environment.
        asks: Whether its event is answered with a decision.

    Returns:
        Empty when it answered as it must; else what is wrong, in words.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own words, none of which was read from a file
            [*fast_command(sys.executable), "hook", agent, event],
            input=json.dumps(PROBE),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            env=dict(env),
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer within {PATIENCE_S:.0f} seconds"
    except (OSError, UnicodeDecodeError):
        return "it cannot be started"
    if done.returncode != 0:
        return f"it ended with code {done.returncode}"
    if not asks:
        return "" if not done.stdout.strip() else "it says something where it must be silent"
    try:
        said = json.dumps(json.loads(done.stdout))
    except ValueError:
        return "its answer is no JSON"
    return "" if "deny" in said and "allow" not in said else "its answer is no denial of an event without a tool"


def version_of(program: str, *, env: Mapping[str, str]) -> str:
    """Give the first line of `PROGRAM --version`; empty when the program is not on the path or does not say."""
    path = _find(program, env)
    if path is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a program of the operator's own path
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env=dict(env),
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return next(iter(done.stdout.splitlines()), "").strip()[:80]


def _find(program: str, env: Mapping[str, str]) -> str | None:
    """Find a program on the operator's path. Relative entries are left out: they depend on the current directory."""
    places = [place for place in env.get("PATH", os.defpath).split(os.pathsep) if place.startswith("/")]
    return shutil.which(program, path=os.pathsep.join(places)) if places else None


def codex_hooks(*, env: Mapping[str, str], cwd: Path) -> list[dict[str, Any]] | None:
    """Ask Codex itself which hooks it sees, with their keys, hashes and whether it trusts them.

    Args:
        env: The environment; `CODEX_HOME` says whose settings.
        cwd: The directory whose project settings count.

    Returns:
        Its own entries; None when there is no `codex` on the path or it does not say.
    """
    path = _find("codex", env)
    if path is None:
        return None
    greeting = {"clientInfo": {"name": "fwdperm", "title": "fwdperm", "version": "1"}}
    asked = (
        {"id": 1, "method": "initialize", "params": greeting},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(cwd)]}},
    )
    try:
        with subprocess.Popen(  # noqa: S603 - a program of the operator's own path
            [path, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=cwd,
            env=dict(env),
        ) as server:
            return _converse(server, asked)
    except (OSError, UnicodeDecodeError):
        return None


def _converse(server: subprocess.Popen[str], asked: tuple[dict[str, Any], ...]) -> list[dict[str, Any]] | None:
    """Send the questions, read up to the answer to the last one, and end the server. A timer ends it if it hangs."""
    from threading import Timer  # noqa: PLC0415 - only here

    watch = Timer(PATIENCE_S, server.kill)
    watch.start()
    try:
        if server.stdin is None or server.stdout is None:
            return None
        for one in asked:
            server.stdin.write(json.dumps(one) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            said = _object(line)
            if said.get("id") == asked[-1]["id"]:
                data = said.get("result", {}).get("data") or [{}]
                hooks = data[0].get("hooks")
                return hooks if isinstance(hooks, list) else None
        return None
    finally:
        watch.cancel()
        server.kill()


def is_trusted(hook: Mapping[str, Any]) -> bool:
    """Say whether Codex runs a hook it listed."""
    return hook.get("enabled") is not False and hook.get("trustStatus") in _TRUSTED


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

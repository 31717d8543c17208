"""Runs the examples of a documentation page as a reader would: one shell, one home, top to bottom.

A `console` block holds commands after `$ ` (continued after `> `) and what they print; `...` stands for anything.
A `toml` or `json` block whose first line is `# PATH` or `// PATH` is written to that path first. A `python` block runs.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "@@fwdperm-end@@"


@dataclass
class Step:
    command: str
    expected: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in FENCE.finditer(text)]


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        elif line.startswith("> ") and found and not found[-1].expected:
            found[-1].command += "\n" + line[2:]
        else:
            found[-1].expected.append(line)
    return found


def matches(expected: list[str], got: list[str]) -> bool:
    """Compare line by line; `...` in a line stands for anything in it, alone for any lines."""
    if not expected:
        return not got
    if expected[0].strip() == "...":
        return any(matches(expected[1:], got[skip:]) for skip in range(len(got) + 1))
    if not got:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].split("..."))
    return re.fullmatch(pattern, got[0].rstrip()) is not None and matches(expected[1:], got[1:])


class Reader:
    """A reader with a home, a working directory and one shell."""

    def __init__(self, directory: Path) -> None:
        self.home = directory / "home"
        self.work = self.home / "project"
        self.work.mkdir(parents=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("FWDPERM_", "PI_", "XDG_"))}
        self.env = clean | {
            "HOME": str(self.home),
            "PATH": f"{sysconfig.get_path('scripts')}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "USER": "you",
            "LOGNAME": "you",
            "NO_COLOR": "1",
            "COLUMNS": "200",
            "LANG": "C.UTF-8",
        }
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self.work,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
            start_new_session=True,
        )

    def read(self, page: Path) -> list[str]:
        """Follow a page; give what did not happen as it says."""
        wrong: list[str] = []
        for block in blocks(page):
            first, _, rest = block.text.partition("\n")
            target = re.fullmatch(r"(?:#|//) (\S+)", first)
            if block.language == "console":
                wrong += [f"{page.name}:{block.line}: {fault}" for fault in self._follow(block.text)]
            elif block.language in ("toml", "json") and target:
                path = Path(target[1].replace("~", str(self.home), 1))
                path = path if path.is_absolute() else self.work / path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(rest if block.language == "json" else block.text, encoding="utf-8")
            elif block.language == "python":
                done = subprocess.run(
                    [sys.executable, "-c", block.text],
                    cwd=self.work,
                    env=self.env,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                if done.returncode:
                    wrong.append(f"{page.name}:{block.line}: python failed: {done.stderr[-500:]}")
        return wrong

    def _follow(self, text: str) -> list[str]:
        wrong = []
        for step in steps(text):
            got = self._run(step.command)
            if not matches(step.expected, got):
                wrong.append(f"$ {step.command}\n  expected: {step.expected}\n  got:      {got}")
        return wrong

    def _run(self, command: str) -> list[str]:
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.write(f"{command}\nprintf '\\n%s\\n' {END}\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        for line in self._shell.stdout:
            if line.rstrip("\n") == END:
                break
            lines.append(line.rstrip("\n"))
        if command.rstrip().endswith("&") and " serve" in command:
            self._wait_until_served()
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _wait_until_served(self) -> None:
        end = time.monotonic() + 20
        while time.monotonic() < end and not any(self.home.rglob("serving/*.json")):
            time.sleep(0.02)

    def close(self) -> None:
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.write("kill $(jobs -p) 2>/dev/null; wait\n")
        self._shell.stdin.close()
        try:
            self._shell.wait(20)
        except subprocess.TimeoutExpired:
            self._shell.kill()
            self._shell.wait()
        self._shell.stdout.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)  # what an example left running

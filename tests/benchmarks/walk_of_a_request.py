"""How far one `git status` walks in the daemon, from its letter to its published answer, when a rule decides it.

    python tests/benchmarks/walk_of_a_request.py [--list] [--command 'git status']

A real daemon's parts in a throw-away folder, turned once by hand; what is counted is every Python function of the house
that this turn calls (`sys.setprofile`; comprehensions are no functions):

    functions      different functions that were entered, and in brackets how many calls that were
    modules        the modules they stand in
    room changes   calls from one room (the first part of a module's name) into another
    redaction      calls into `fwdperm.redaction` from anywhere else

Three requests go before, with other words, so that nothing is counted that is done once in a daemon's life. `first` is
a command this daemon never saw; `again` is the same command once more, when it can be remembered.

`--list` prints where the calls went, module by module, and who entered redaction.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import fwdperm
from fwdperm.serve.daemon import Daemon
from fwdperm.serve.logs import configure_logs
from fwdperm.serve.parts import DaemonOptions, build_parts

if TYPE_CHECKING:
    from types import CodeType, FrameType

HOUSE = str(Path(fwdperm.__file__).parent) + "/"
RULES = '[rules.bash]\n"git *" = "allow"\n'
EARLIER = ("git log", "git diff --stat", "git show HEAD")


@dataclass
class Walk:
    """What was entered on the way of one request."""

    functions: set[CodeType] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    room_changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    redactors: Counter[str] = field(default_factory=Counter)

    def look(self, frame: FrameType, event: str, _argument: object) -> None:
        """Take one event of the interpreter."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(HOUSE) or code.co_name.startswith("<"):
            return
        module = module_of(code)
        self.functions.add(code)
        self.calls[module] += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(HOUSE):
            caller = caller.f_back
        if caller is None:
            return
        before = module_of(caller.f_code)
        if room_of(before) != room_of(module):
            self.room_changes[room_of(before), room_of(module)] += 1
        if room_of(module) == "redaction" != room_of(before):
            self.redactors[f"{before}.{caller.f_code.co_name}"] += 1

    def line(self) -> str:
        """Give the four counts."""
        entered = f"{len(self.functions)} ({self.calls.total()})"
        return f"{entered:>16}{len(self.calls):>10}{self.room_changes.total():>15}{self.redactors.total():>12}"


def module_of(code: CodeType) -> str:
    """Name a function's module, without the house's own name."""
    return code.co_filename.removeprefix(HOUSE).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room_of(module: str) -> str:
    """Name a module's room."""
    return module.partition(".")[0]


class Turner:
    """A daemon's parts, turned by hand."""

    def __init__(self, directory: Path) -> None:
        (directory / "work").mkdir()
        config = directory / "config.toml"
        config.write_text(RULES, encoding="utf-8")
        options = DaemonOptions(
            root=directory / "root",
            state=directory / "state",
            config=config,
            workspace=str(directory / "work"),
            asks_here=False,
        )
        self._cwd = str(directory / "work")
        self._inbox = directory / "root" / "sessions" / "root"
        self._parts = build_parts(options)
        self._loop = asyncio.new_event_loop()
        self._daemon = Daemon(self._parts, loop=self._loop)
        self._count = 0

    def walk(self, command: str) -> Walk:
        """Leave one request, turn once, and give what was entered until its answer lay there."""
        self._count += 1
        stem = f"r{self._count}"
        content = {
            "id": stem,
            "createdAt": time.time_ns() // 1_000_000,
            "requesterSessionId": "child",
            "targetSessionId": "root",
            "requesterAgentName": "worker",
            "surface": "bash",
            "value": command,
            "accessIntent": {
                "surface": "bash",
                "matchValues": [command],
                "requesterCwd": self._cwd,
                "home": "/home/u",
            },
        }
        (self._inbox / "requests" / f".{stem}").write_text(json.dumps(content), encoding="utf-8")
        (self._inbox / "requests" / f".{stem}").rename(self._inbox / "requests" / f"{stem}.json")
        walk = Walk()
        self._daemon.ring("root")
        sys.setprofile(walk.look)
        try:
            self._daemon._turn()
        finally:
            sys.setprofile(None)
        answer = json.loads((self._inbox / "responses" / f"{stem}.json").read_bytes())
        if answer.get("approved") is not True:
            raise SystemExit(f"`{command}` was not approved: {answer}")
        return walk

    def close(self) -> None:
        """Let everything go."""
        self._parts.close()
        self._loop.close()


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--command", default="git status")
    parser.add_argument("--list", action="store_true")
    said = parser.parse_args()
    configure_logs(0)  # as `fwdperm serve` does
    with tempfile.TemporaryDirectory() as directory:
        turner = Turner(Path(directory))
        try:
            for command in EARLIER:
                turner.walk(command)
            walks = {"first": turner.walk(said.command), "again": turner.walk(said.command)}
        finally:
            turner.close()
    print(f"{said.command:<20}{'functions (calls)':>16}{'modules':>9}{'room changes':>15}{'redaction':>12}")
    for name, walk in walks.items():
        print(f"{name:<20}{walk.line()}")
    if said.list:
        first = walks["first"]
        print("\ncalls", *(f"{calls:>5} {module}" for module, calls in first.calls.most_common()), sep="\n")
        print("\nroom changes")
        print(*(f"{count:>5} {one} -> {other}" for (one, other), count in first.room_changes.most_common()), sep="\n")
        print("\nentered redaction", *(f"{count:>5} {who}" for who, count in first.redactors.most_common()), sep="\n")


if __name__ == "__main__":
    main()

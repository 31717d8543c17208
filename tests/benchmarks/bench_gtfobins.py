"""What of a public benchmark of attacks and harmless commands passes: without a person, and under a person's denies.

Run it alone: `python tests/benchmarks/bench_gtfobins.py [--list]`. It decides each line of `gtfobins.jsonl`, which is
another project's (see `gtfobins.md`), and prints what a judge that allows everything would let through, what passes
denies under `"*" = "allow"`, and how the harmless lines are classed, each beside its aim. `--list` names the lines.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk

ROWS: Final = Path(__file__).with_name("gtfobins.jsonl")
SHELLS: Final = ("sh", "bash", "/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash")
DENIES: Final = [
    ["bash", "*", "allow"],
    *([["bash", f"{shell}{rest}", "deny"] for shell in SHELLS for rest in ("", " *")]),
    ["path_read", "/etc/shadow", "deny"],
    ["path_write", "/etc/*", "deny"],
    ["path_write", "/usr/*", "deny"],
]
NAMED: Final = {
    "name /etc/shadow": re.compile(r"/etc/shadow(?![.\w])"),
    "name a shell": re.compile(r"(?<![\w.-])(?:/usr)?(?:/bin/)?(?:ba)?sh(?![\w.])"),
    "write below /etc or /usr": re.compile(r"/(?:etc|usr)/"),
}
"""What an attack has to name for the denies to be about it."""
QUIET: Final = frozenset({"read-only", "routine"})


def main() -> int:
    """Print the figures; exit with 1 where an aim is missed."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    place = Path(tempfile.mkdtemp())
    bulk = Bulk(Locations(place / "root", place / "state", place / "rules.toml", config_is_named=False))
    attacks = [row for row in rows if row["set"] == "attack"]
    harmless = [(row, classed(bulk, row)) for row in rows if row["set"] == "harmless"]
    judged = [row for row in attacks if (told := decide(bulk, row))["action"] == "allow" or is_quiet(told)]
    missed = [say(f"of {len(attacks)} attacks a judge that allows everything allows", judged, most=0)]
    for what, pattern in NAMED.items():
        named = [row for row in attacks if pattern.search(row["value"]) and is_meant(what, row)]
        passed = [row for row in named if decide(bulk, row, DENIES)["action"] == "allow"]
        missed.append(say(f"of {len(named)} that {what} pass the denies", passed, most=0))
    at_home = [(row, danger) for row, danger in harmless if "beyond" not in row]
    asked = [row for row, danger in at_home if danger not in QUIET]
    missed.append(
        say(f"of {len(at_home)} harmless ones that stay or look a person is asked about", asked, most=len(at_home) // 5)
    )
    grave = [row for row, danger in harmless if danger == "dangerous"]
    missed.append(say(f"of all {len(harmless)} harmless ones are called dangerous", grave, most=len(harmless) // 50))
    sys.stdout.write(f"harmless by class: {dict(Counter(danger for _, danger in harmless))}\n")
    return int(any(missed))


def decide(bulk: Bulk, row: dict[str, Any], rules: list[list[str]] | None = None) -> dict[str, Any]:
    """Decide one line, with these rules or none."""
    asked: dict[str, Any] = {"id": "x", "surface": "bash", "value": row["value"], "cwd": "/w/proj", "home": "/home/u"}
    if rules is not None:
        asked["rules"] = rules
    return bulk.decide(json.dumps(asked).encode(), number=1)


def classed(bulk: Bulk, row: dict[str, Any]) -> str:
    """Give the class of a line."""
    return str(decide(bulk, row)["guard"]["class"])


def is_quiet(told: dict[str, Any]) -> bool:
    """Say whether a judge may allow it without a person's rule."""
    return told["action"] == "ask" and told["guard"]["class"] in QUIET


def is_meant(what: str, row: dict[str, Any]) -> bool:
    """Say whether a deny is about an attack: one of writing only where the attack writes."""
    return not what.startswith("write") or row["kind"] == "file-write"


def say(what: str, found: list[dict[str, Any]], *, most: int) -> bool:
    """Print one figure beside its aim, and the lines where that is asked for; say whether the aim is missed."""
    sys.stdout.write(f"{len(found):4d} {what} (aim: at most {most})\n")
    if "--list" in sys.argv:
        for row in found:
            sys.stdout.write(f"       {json.dumps(row['value'])}\n")
    return len(found) > most


if __name__ == "__main__":
    sys.exit(main())

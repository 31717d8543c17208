"""How many attacks of a public benchmark would pass, and how many harmless lines would be asked about.

    python tests/benchmarks/bench_gtfobins.py [--show attacks|denies|asked] [FILE]

The lines stand in `gtfobins/lines.jsonl`, with their source; another file in that form may be given. Nothing is run.
What is measured: with no rules, a judge that says yes to everything; under a bare `"*" = "allow"`, denies of shells and
of what is secret; and the classes of what is harmless.
Aims, with exit code 1 where one is missed: no attack allowed by that judge; of the harmless lines that stay inside the
workspace or only look at least 80 % read-only or routine; of all harmless lines at most 2 % dangerous.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk

LINES: Final = Path(__file__).parent / "gtfobins" / "lines.jsonl"
BY_ITSELF: Final = ("read-only", "routine")
"""Classes that a judge may allow without any rule."""
DENIES: Final = [
    ["bash", "*", "allow"],
    *(["bash", f"{path}{shell} *", "deny"] for path in ("", "/bin/", "/usr/bin/") for shell in ("sh", "bash")),
    ["path_read", "/etc/shadow", "deny"],
    ["path_write", "/etc/*", "deny"],
    ["path_write", "/usr/*", "deny"],
]
NAMES_A_SHELL: Final = re.compile(r"(?<![\w.-])(?:(?:/usr)?/bin/)?(?:ba)?sh(?![\w.])")
NAMES_A_SECRET: Final = re.compile(r"/etc/shadow(?![\w.])")
NAMES_A_TARGET: Final = re.compile(r"(?:^|[\s'\"=:(])/(?:etc|usr)/")
INSIDE_AIM: Final = 0.80
DANGEROUS_AIM: Final = 0.02


class Guarded:
    """The order that serves, asked about one line at a time, without a daemon."""

    def __init__(self, place: Path) -> None:
        self._bulk = Bulk(
            Locations(root=place / "root", state=place / "state", config=place / "rules.toml", config_is_named=False)
        )

    def decide(self, row: dict[str, Any], rules: list[list[str]] | None = None) -> dict[str, Any]:
        asked = {"id": row["id"], "surface": "bash", "value": row["value"], "cwd": "/w/proj", "home": "/home/u"}
        if rules is not None:
            asked["rules"] = rules
        return self._bulk.decide(json.dumps(asked).encode(), number=1)


def passes_a_yes_sayer(found: dict[str, Any]) -> bool:
    """Say whether a judge that allows everything would have it run."""
    return found["action"] == "allow" or (found["action"] == "ask" and found["guard"]["class"] in BY_ITSELF)


def names_what_is_denied(row: dict[str, Any]) -> bool:
    """Say whether an attack really names a denied program, or a denied path that it reads or writes."""
    line, kind = row["value"], row["kind"]
    return bool(
        NAMES_A_SHELL.search(line)
        or (kind != "download" and NAMES_A_SECRET.search(line))
        or (kind == "file-write" and NAMES_A_TARGET.search(line))
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=LINES)
    parser.add_argument("--show", choices=("attacks", "denies", "asked"), help="print the lines behind a figure")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines()]
    attacks = [row for row in rows if row["set"] == "attack"]
    harmless = [row for row in rows if row["set"] == "harmless"]
    with tempfile.TemporaryDirectory() as place:
        guarded = Guarded(Path(place))
        passed = [row for row in attacks if passes_a_yes_sayer(guarded.decide(row))]
        naming = [row for row in attacks if names_what_is_denied(row)]
        slipped = [row for row in naming if guarded.decide(row, DENIES)["action"] == "allow"]
        classes = {row["id"]: guarded.decide(row)["guard"] for row in harmless}
    inside = [row for row in harmless if "goes" not in row]
    settled = sum(classes[row["id"]]["class"] in BY_ITSELF for row in inside)
    counts = Counter(guard["class"] for guard in classes.values())
    print(f"attacks                                    {len(attacks):>5}")
    print(f"  allowed by a judge that allows all       {len(passed):>5}   aim: 0")
    print(f"  that name a program or path denied       {len(naming):>5}")
    print(f"    allowed under the denies               {len(slipped):>5}")
    print(f"harmless lines                             {len(harmless):>5}")
    for name in ("read-only", "routine", "ruled", "dangerous", "critical"):
        aim = f"   aim: at most {DANGEROUS_AIM:.0%}" if name == "dangerous" else ""
        print(f"  {name:<41}{counts[name]:>5}   {counts[name] / len(harmless):.1%}{aim}")
    print(f"  inside the workspace, or only looking    {len(inside):>5}")
    aim = f"aim: at least {INSIDE_AIM:.0%}"
    print(f"    read-only or routine                   {settled:>5}   {settled / len(inside):.1%}   {aim}")
    for goes, count in sorted(Counter(row["goes"] for row in harmless if "goes" in row).items()):
        print(f"  {goes:<41}{count:>5}")
    for row in {"attacks": passed, "denies": slipped}.get(given.show or "", []):
        print(f"{row['kind']}: {row['value']!r}")
    for row in harmless if given.show == "asked" else ():
        guard = classes[row["id"]]
        if guard["class"] not in BY_ITSELF:
            print(f"{guard['id']} ({row.get('goes', 'inside')}): {row['value']!r}: {guard['reason']}")
    are_met = (
        not passed
        and settled >= INSIDE_AIM * len(inside)
        and counts["dangerous"] + counts["critical"] <= DANGEROUS_AIM * len(harmless)
    )
    return 0 if are_met else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Mutation testing of the core: change one small thing at a time, and see whether a test notices.

    python tools/mutate.py                        every file of the table
    python tools/mutate.py settled wire/request   the files whose path holds one of these words
    python tools/mutate.py --files 2 --sample 80 --seed 7   so many mutants of so many files, drawn: what a build does
    python tools/mutate.py --only-widening        only mutants that turn some answer of the witnesses into a milder one

Which files there are, which tests watch over each, and which mutants change nothing that anybody could see stands in
`mutate.toml` beside this file, and nowhere else. `trying.py` says how a mutant is run.

What survives the tests is asked for the witnesses' answers (`widening.py`): a survivor that makes one of them milder
than the code as it stands makes it is reported as WIDENS. One such is one too many, whatever the rate.

Exit code 0: the wanted rate is reached, nothing widens, and no entry of the table is stale. 1: not so. 2: it could
not be run, for one because the tests fail without any mutant.

Lives here: the table, the command, the report. Never here: what a mutant is (`mutants.py`), running one (`trying.py`).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

HERE: Final = Path(__file__).resolve().parent
HOUSE: Final = HERE.parent
sys.path[:0] = [str(HERE), str(HOUSE)]

from mutants import mutants_of  # noqa: E402 - beside this file
from trying import (  # noqa: E402 - as above
    KILLED,
    PASSED_OVER,
    SURVIVED,
    TIMED_OUT,
    WIDENS,
    CannotRunError,
    Result,
    Run,
    Watched,
    siblings_of,
    try_file,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mutants import Mutant

WANTED: Final = 85.0
"""Mutants killed, in percent."""
SHARED: Final = ("pytest", "pydantic", "tree_sitter", "tree_sitter_bash", "structlog", "tomlkit", "rich", "typer")
"""What tests import and the project does not hold: loaded once, so that forks have it for nothing."""


@dataclass(slots=True)
class Tally:
    """What became of the mutants of one file.

    Attributes:
        run: The file, and how its mutants are tried.
        mutants: Those that are tried.
        ignored: How many the table says nobody could see.
        stale: Entries of the table that are no mutant: (function, change).
        results: What became of each.
        trouble: Why it could not be run; empty when it could.
    """

    run: Run
    mutants: list[Mutant]
    ignored: int
    stale: list[tuple[str, str]]
    results: list[Result] = field(default_factory=list)
    trouble: str = ""

    @classmethod
    def of(cls, run: Run) -> Tally:
        """Give a file's mutants, without those that the table says nobody could see."""
        file = run.file
        made = mutants_of(file.source, run.siblings)
        kept = [one for one in made if (one.function, one.change) not in file.equivalent]
        known = {(one.function, one.change) for one in made}
        stale = [key for key in file.equivalent if key not in known]
        return cls(run, kept, len(made) - len(kept), stale)

    def count(self, *verdicts: str) -> int:
        """Count results."""
        return sum(one.verdict in verdicts for one in self.results)

    @property
    def killed(self) -> int:
        """How many were noticed; one that never ends is."""
        return self.count(KILLED, TIMED_OUT)

    @property
    def all(self) -> int:
        """How many were tried."""
        return self.killed + self.count(SURVIVED, WIDENS)


def read_table(path: Path) -> list[Watched]:
    """Read the table of files."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    tests = table["tests"]
    return [
        Watched(
            row["path"],
            tuple(target for name in row["tests"] for target in tests[name]),
            {(one["in"], one["change"].strip()): one["why"] for one in row.get("equivalent", ())},
        )
        for row in table["file"]
    ]


def main(arguments: Sequence[str]) -> int:
    """Run the command and give its exit code."""
    asked = _parsed(arguments)
    named = [
        one
        for one in read_table(HERE / "mutate.toml")
        if not asked.words or any(word in one.path for word in asked.words)
    ]
    if not named:
        sys.stderr.write(f"no file of the table is named by {' '.join(asked.words)}\n")
        return 2
    os.chdir(HOUSE)
    os.environ["CI"] = "1"  # hypothesis draws the same examples every time
    for name in SHARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    try:
        siblings = siblings_of(named)
    except CannotRunError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tallies = [Tally.of(Run(one, siblings[one.path], asked.jobs, asked.only_widening)) for one in named]
    _narrow(tallies, lines=asked.lines, draw=random.Random(asked.seed), files=asked.files, sample=asked.sample)  # noqa: S311 - a sample, not a secret
    begun = time.monotonic()
    for tally in tallies:
        if tally.mutants:
            _try(tally, is_verbose=asked.verbose)
    return _told(tallies, seconds=time.monotonic() - begun, wanted=asked.wanted)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutate", description="Mutation testing of the core.")
    parser.add_argument("words", nargs="*", help="files whose path holds one of these (default: all of the table)")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="try N files, drawn (default: all)")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try N mutants, drawn (default: all)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which are drawn (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes at a time")
    parser.add_argument("--wanted", type=float, default=WANTED, metavar="PERCENT", help=f"rate to reach ({WANTED:g})")
    parser.add_argument("--only-widening", action="store_true", help="only mutants that make a witness's answer milder")
    parser.add_argument("--line", dest="lines", type=int, action="append", help="only mutants of this line; repeatable")
    parser.add_argument("--verbose", action="store_true", help="tell every mutant, and what killed it")
    return parser.parse_args(arguments)


def _narrow(
    tallies: Sequence[Tally], *, lines: Sequence[int] | None, draw: random.Random, files: int, sample: int
) -> None:
    """Leave only the mutants that are asked for. A file with more mutants is drawn more often."""
    every = [(at, one) for at, tally in enumerate(tallies) for one in tally.mutants if not lines or one.line in lines]
    draw.shuffle(every)
    owners = list(dict.fromkeys(at for at, _ in every))[: files or None]
    drawn = [(at, one) for at, one in every if at in owners][: sample or None]
    for at, tally in enumerate(tallies):
        tally.mutants = sorted((one for owner, one in drawn if owner == at), key=lambda one: one.number)


def _try(tally: Tally, *, is_verbose: bool) -> None:
    try:
        for one in try_file(tally.run, tally.mutants):
            tally.results.append(one)
            if is_verbose or one.verdict in {SURVIVED, WIDENS}:
                _tell(tally.run.file.path, one)
    except CannotRunError as error:
        tally.trouble = str(error)
    _tell_file(tally)


def _tell(path: str, one: Result) -> None:
    by = f" ({one.by})" if one.by else ""
    where = f"{path}:{one.mutant.line} {one.mutant.function or 'module'}"
    print(f"{one.verdict} {where}: {one.mutant.kind}, {one.seconds:.1f} s{by}")
    print("".join(f"    {line}\n" for line in one.mutant.change.splitlines()), end="", flush=True)


def _rate(killed: int, out_of: int) -> float:
    return 100 * killed / out_of if out_of else 100.0


def _tell_file(tally: Tally) -> None:
    parts = [f"{tally.run.file.path}: {tally.killed} of {tally.all} killed ({_rate(tally.killed, tally.all):.1f} %)"]
    for count, words in (
        (tally.count(TIMED_OUT), "of them never ended"),
        (tally.count(WIDENS), "WIDEN"),
        (tally.count(PASSED_OVER), "widen nothing and were passed over"),
        (tally.ignored, "left out as equivalent"),
    ):
        if count:
            parts.append(f"{count} {words}")
    print(", ".join(parts), flush=True)
    for where, change in tally.stale:
        print(f"  stale in the table: {where}: {' | '.join(change.splitlines())}")
    if tally.trouble:
        print(f"  could not be run: {tally.trouble}")


def _told(tallies: Sequence[Tally], *, seconds: float, wanted: float) -> int:
    killed, out_of = sum(one.killed for one in tallies), sum(one.all for one in tallies)
    widening = sum(one.count(WIDENS) for one in tallies)
    rate = _rate(killed, out_of)
    print(f"{killed} of {out_of} killed ({rate:.1f} %), {widening} widen, in {seconds:.0f} s", flush=True)
    if any(one.trouble for one in tallies):
        return 2
    return 0 if rate >= wanted and not widening and not any(one.stale for one in tallies) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Our reader against two others, bash's own parser and mvdan's: what one of them sees, we see, or say we cannot know.

The corpora have a line of shell on each line, with `~~` for a line end: `seeds.txt` is what lines are made from,
`finds.txt` is where the readers once differed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.shell import parse_line

pytest.importorskip("libbash", reason="needs bash's parser, which is made for few kinds of machine")
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from fuzz_shell import FINDS, SEEDS, Maker, Trial, read_lines
from shell_witnesses import Bash, Shfmt, missed, seen_by_us

if TYPE_CHECKING:
    from collections.abc import Iterator

BASH = shutil.which("bash") or ""
SECONDS = 6


@pytest.fixture(scope="module")
def bash() -> Iterator[Bash]:
    made = Bash()
    yield made
    made.close()


@pytest.mark.parametrize("line", read_lines(SEEDS) + read_lines(FINDS))
def test_what_bash_sees_in_a_line_of_the_corpora_we_see_too(bash: Bash, line: str) -> None:
    ours = seen_by_us(line)
    answer = bash.sees(line)
    assert answer is not None
    assert ours is None or missed(line, answer[0], ours) == []


def test_what_shfmt_sees_in_a_line_of_the_corpora_we_see_too(bash: Bash) -> None:
    """Where bash reads it whole: what bash refuses does not run."""
    assert list(Trial(bash=bash, shfmt=Shfmt()).finds(read_lines(SEEDS) + read_lines(FINDS))) == []


@pytest.mark.timeout(300)
def test_made_up_lines_hold_nothing_that_a_witness_sees_and_we_do_not() -> None:
    """For some seconds, the same lines each time; the build tries others, with `tools/fuzz_shell.py`."""
    trial = Trial(bash=Bash(), shfmt=Shfmt())
    lines = Maker(read_lines(SEEDS) + read_lines(FINDS), 20_000).lines()
    end = time.monotonic() + SECONDS
    found = []
    while time.monotonic() < end and not found:
        found = list(trial.finds([next(lines) for _ in range(200)]))
    assert trial.bash is not None
    trial.bash.close()
    assert found == []
    assert trial.lines >= 200
    assert trial.witnessed["bash"] > trial.lines / 10
    assert trial.witnessed["shfmt"] > trial.lines / 20


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("a b >c <d", {("run", "a", "b"), ("write", "c"), ("read", "d")}),
        ("x=1 a; y=2", {("set", "x"), ("run", "a"), ("set", "y")}),
        ("a $(b `c`)", {("run", "a", "?"), ("run", "b", "?"), ("run", "c")}),
        ("cat <<E\n$(a)\nE\nb", {("run", "cat"), ("run", "a"), ("run", "b")}),
        ("cat <<'E'\n$(a)\nE\nb", {("run", "cat"), ("run", "b")}),
        ("for i in a; do b; done", {("set", "i"), ("run", "b")}),
        ("if a; then b; else c; fi", {("run", "a"), ("run", "b"), ("run", "c")}),
        ("case $(a) in b) c;; esac", {("run", "a"), ("run", "c")}),
        ('f() { "a"; }; (b) && ! c', {("run", "a"), ("run", "b"), ("run", "c")}),
        ("a <(b) ${x:-$(c)}", {("run", "a", "?", "?"), ("run", "b"), ("run", "c")}),
    ],
)
def test_a_witness_sees_what_is_there(bash: Bash, line: str, seen: set[tuple[str, ...]]) -> None:
    """One that sees nothing would never object."""
    answer = bash.sees(line)
    assert answer is not None
    assert {one for one in answer[0] if one[0] != "text"} == seen
    assert Shfmt().sees(["z", line, "if"])[1:] == [dict.fromkeys(seen, 1), None]


def test_a_reader_that_sees_less_is_found_out(bash: Bash) -> None:
    ours = seen_by_us("a >b")
    answer = bash.sees("a >b; x=1 c")
    assert ours is not None
    assert answer is not None
    assert sorted(missed("", answer[0], ours)) == [("run", "c"), ("set", "x")]


@pytest.mark.parametrize(
    "line",
    [
        "(('a[$(evil)]'))",
        "time(('a[$(evil)]'))",
        "[[ a == b || a < <(evil) ]]",
        "[[ a =~ (<(evil)) ]]",
        "cat <<$'E'\nx\nE\nevil",
        'cat <<$"E"\nx\nE\nevil',
        "cat <<$()\nx\n$()\nevil",
        "cat <<E\nx\nE \nE\nevil",
        "cat <<E'F'\nx\nEF\nevil",
        "$'evil\\0 not' x",
        "0>/dev/null evil",
        "case $(('a[$(evil)]')) in b) ;; esac",
        "z=()v''\tevil",
        ">& -evil",
    ],
)
@pytest.mark.skipif(not BASH, reason="needs bash")
def test_what_a_real_bash_runs_there_is_seen_or_unknowable(line: str, tmp_path: Path) -> None:
    """The witnesses are right about them: bash runs a stand-in of the name, and nothing else that is real."""
    (tmp_path / "evil").write_text("#!/bin/sh\necho ran >>ran\n")
    (tmp_path / "evil").chmod(0o755)
    subprocess.run(
        ["prlimit", "--nproc=4000", "--as=1000000000", "--cpu=5", BASH, "--norc", "-c", line],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=20,
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    parsed = parse_line(line)
    assert (tmp_path / "ran").exists()
    assert parsed.opaque or any(one.opaque or one.program == "evil" for one in parsed.commands)

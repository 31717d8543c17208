"""Values that a line sets and bash evaluates later, and what decides which program runs: against a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fwdperm.shell import parse_line
from fwdperm.units import break_down
from fwdperm.wire import Facts

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash") or ""
EVALUATED = [
    line.replace("~~", "\n")
    for line in r"""
x='a[$(evil)]'; echo $((x))
x='a[$(evil)]'; echo $[x + 1]
x='a[$(evil)]'; (( x > 1 ))
x='a[$(evil)]'; let y=x
x='a[`evil`]'; y=abc; echo ${y:x}
y=abc; x='a[$(evil)]'; echo "${y:0:x}"
x='a[$(evil)]'; b[x]=1
x='a[$(evil)]'; echo ${b[x]}
x='a[$(evil)]'; [[ x -eq 1 ]]
x='a[$(evil)]'; [[ $x -gt 0 ]]
x='$(evil)'; echo "${x@P}"
x='a[$(evil)]'; echo ${!x}
declare -i x; x='a[$(evil)]'
declare -n x='a[$(evil)]'; echo $x
local x 2>/dev/null; f() { local -i y=$1; }; f 'a[$(evil)]'
set -- 'a[$(evil)]'; echo $(($1))
read x <<< 'a[$(evil)]'; echo $((x))
mapfile -t x <<< 'a[$(evil)]'; echo $((x))
printf -v x %s 'a[$(evil)]'; echo $((x))
for x in 'a[$(evil)]'; do echo $((x)); done
f() { echo $(($1)); }; f 'a[$(evil)]'
x=$'\x24(evil)'; echo ${x@P}
p='$'; x="a[$p(evil)]"; echo $((x))
: ${x:='a[$(evil)]'}; echo $((x))
x=$(printf '%s' 'a[$(evil)]'); echo $((x))
y='a[$(evil)]'; x=y; echo $((x))
bash -c 'x="a[\$(evil)]"; echo $((x))'
""".strip().splitlines()
]
DECIDES = [
    line.replace("~~", "\n")
    for line in r"""
PATH=D; ls
PATH=D ls
export PATH=D; ls
declare PATH=D; ls
declare P''ATH=D; ls
declare 'PATH'=D; ls
export PAT{H=D,X=}; ls
x=PATH=D; export $x; ls
read PATH <<< D; ls
mapfile -t PATH <<< D; ls
printf -v PATH D; ls
for PATH in D; do ls; done
unset PATH; : ${PATH:=D}; ls
PATH[0]=D; ls
PATH=(D); ls
declare -n q=PATH; q=D; ls
cd D; ((PATH=1)); mkdir -p 1; ls
((PATH=1)); ls
let PATH=1; ls
echo $((PATH=1)); ls
a[PATH=1]=2; ls
: {PATH}</dev/null; ls
shopt -s expand_aliases~~alias ls=evil~~ls
""".strip().splitlines()
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a program `ls` of somebody else's in `D`, in `1` and in `10`."""
    made = tmp_path_factory.mktemp("place")
    for name in ("D", "1", "10", "11", "12"):
        (made / name).mkdir()
        (made / name / "ls").write_text("#!/bin/sh\necho evil >&9\n")
        (made / name / "ls").chmod(0o755)
    (made / "bin").mkdir()
    (made / "bin" / "evil").write_text("#!/bin/sh\necho evil >&9\n")
    (made / "bin" / "evil").chmod(0o755)
    return made


def runs_evil(line: str, place: Path) -> bool:
    done = subprocess.run(
        [BASH, "--norc", "-c", 'exec 9>&1 >/dev/null 2>&1; ulimit -t 2; eval "$1"', "bash", line],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=20,
        cwd=place,
        env={"PATH": f"{place}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"},
    )
    return b"evil" in done.stdout


@pytest.mark.parametrize("line", EVALUATED)
def test_a_value_that_bash_evaluates_makes_the_line_opaque(line: str, place: Path) -> None:
    """It really runs `evil`, and nothing in the line shows that it does."""
    assert runs_evil(line, place)
    parsed = parse_line(line)
    assert parsed.opaque or any(command.opaque for command in parsed.commands)


@pytest.mark.parametrize("line", DECIDES)
def test_what_decides_which_program_runs_leaves_it_unknown(line: str) -> None:
    """`ls` is another program there; how a variable was set, by whatever construct, does not count.

    Where it is written out (`PATH=D`) a rule may name it, and what follows may be anything to an ask or deny.
    """
    units = break_down(Facts("bash", (line,), cwd="/w", home="/home/u")).units
    assert any(unit.opaque or ("", "") in unit.possible for unit in units)


def test_most_of_these_are_another_program_in_this_bash(place: Path) -> None:
    """The list is not of harmless lines: all but a few need a directory by the number of a descriptor."""
    assert sum(runs_evil(line, place) for line in DECIDES) >= len(DECIDES) - 4


@pytest.mark.parametrize(
    "line",
    [
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done",
        "for i in 1 2 3; do echo $((i * 2)); done",
        "x=abc; echo ${x:0:2}",
        "n=5; (( n > 3 )) && echo yes",
        "n=$#; [[ $n -gt 0 ]] && echo yes",
        "declare -a a=(1 2 3); echo ${#a[@]} ${a[0]}",
        "x=a.txt; echo ${x%.txt} ${x^^} ${#x}",
        "echo $((1 + 2)) $((x))",
        'while IFS= read -r line; do echo "$line"; done < f',
        "export NAME=value; make",
        "NODE_ENV=test npm test",
        "git commit -m 'PATH=x is set'",
        "grep -n 'PATH=' Makefile",
        "echo 'read PATH'",
        "alias ll='ls -l'; git status",
    ],
)
def test_ordinary_lines_stay_readable(line: str) -> None:
    parsed = parse_line(line)
    assert not parsed.opaque
    assert not any(command.opaque for command in parsed.commands)

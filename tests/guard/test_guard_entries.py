"""Every entry of every table does what it says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from guard_cases import AROUND, cases, class_of

from fwdperm.guard import Danger
from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment
from fwdperm.guard.critical import CRITICAL
from fwdperm.guard.dangers import CODE_VARIABLES, DANGERS, Peril, peril_of
from fwdperm.guard.markers import PUBLIC, READ, WRITE, Marker, sensitive_to_read, sensitive_to_write
from fwdperm.guard.own import HARMLESS_VERBS
from fwdperm.guard.positive import HARMLESS_VARIABLES, HARMLESS_WRAPPERS, MUST_HAVE, TABLE, Entry, Takes
from fwdperm.guard.writing import ENDINGS, RUN_LATER

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
    Takes.BUILD: ("build",),
}

SPECIAL = {
    "sed-n": ("2,3p", "src/a.py"),
    "awk-print": ("'{print $1}'", "src/a.py"),
    "jq": (".name", "src/a.json"),
    "cp": ("src/a.py", "src/b.py"),
    "mv": ("src/a.py", "src/b.py"),
    "git-mv": ("src/a.py", "src/b.py"),
}


def minimal(entry: Entry) -> str:
    must = sorted(MUST_HAVE.get(entry.id, ()), key=len)[-1:]
    operands = SPECIAL.get(entry.id, SAMPLE[entry.operands])
    closing = ["]"] if entry.id == "[" else []
    return " ".join([entry.program, *entry.words, *must, *operands, *closing])


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.id)
def test_an_entry_accepts_its_plainest_use(entry: Entry) -> None:
    found = class_of("bash", minimal(entry))
    assert (found.danger, found.id) == (Danger.ROUTINE, f"routine.{entry.id}"), found


@pytest.mark.parametrize("entry", [entry for entry in TABLE if entry.id != "echo"], ids=lambda entry: entry.id)
@pytest.mark.parametrize("flag", ["--not-on-any-list", "--output=/tmp/x", "-Q=/tmp/x"])
def test_a_flag_that_is_not_listed_is_not_accepted(entry: Entry, flag: str) -> None:
    line = " ".join([entry.program, *entry.words, flag])
    assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank


@pytest.mark.parametrize(
    "entry", [entry for entry in TABLE if entry.operands not in {Takes.TEXT, Takes.NOTHING}], ids=lambda entry: entry.id
)
@pytest.mark.parametrize("path", ["/etc/hostname", "../elsewhere/a.py", "~/notes.md", "$SOMEWHERE", "src/../../x.py"])
def test_an_operand_outside_the_workspace_is_not_accepted(entry: Entry, path: str) -> None:
    line = f"{minimal(entry)} {path}"
    assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank


@pytest.mark.parametrize("entry", [entry for entry in TABLE if entry.runs], ids=lambda entry: entry.id)
def test_running_the_projects_code_can_be_kept_from_the_judge(entry: Entry) -> None:
    assert class_of("bash", minimal(entry), around=replace(AROUND, exec_judgeable=False)).danger is Danger.RULED


def lines_of(peril: Peril) -> list[str]:
    words = [wanted.split("|")[0].replace("$", "$X") for wanted in peril.words]
    return [" ".join([program, *words, *peril.flags[:1], "thing"]) for program in peril.programs]


@pytest.mark.parametrize(
    "peril", DANGERS, ids=lambda peril: f"{peril.id}-{peril.programs[0]}-{'-'.join(peril.words)[:20]}"
)
def test_a_peril_is_at_least_dangerous_for_each_of_its_programs(peril: Peril) -> None:
    for line in lines_of(peril):
        assert class_of("bash", line).danger.rank >= Danger.DANGEROUS.rank, line
        found = peril_of(tuple(line.split()))
        assert found is not None, line


@pytest.mark.parametrize(
    "peril", [peril for peril in DANGERS if peril.flags], ids=lambda peril: f"{peril.id}-{peril.programs[0]}"
)
def test_each_flag_of_a_peril_counts(peril: Peril) -> None:
    words = [wanted.split("|")[0] for wanted in peril.words]
    for flag in peril.flags:
        assert peril_of((peril.programs[0], *words, flag)) is not None, flag


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
    entries = {measured(Assessment(Danger.CRITICAL, entry.id, entry.reason)).id for entry in CRITICAL}
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


@pytest.mark.parametrize("name", sorted(CODE_VARIABLES))
def test_a_variable_that_runs_code_is_dangerous(name: str) -> None:
    assert class_of("bash", f"{name}=/tmp/x git status").danger is Danger.DANGEROUS


@pytest.mark.parametrize("name", sorted(HARMLESS_VARIABLES))
def test_a_harmless_variable_changes_nothing(name: str) -> None:
    assert class_of("bash", f"{name}=1 git status").danger is Danger.ROUTINE


@pytest.mark.parametrize("wrapper", sorted(HARMLESS_WRAPPERS - {"timeout", "stdbuf", "ionice", "nice"}))
def test_a_harmless_wrapper_leaves_the_word_to_its_command(wrapper: str) -> None:
    assert class_of("bash", f"{wrapper} git status").danger is Danger.ROUTINE
    assert class_of("bash", f"{wrapper} git push").danger is Danger.DANGEROUS


@pytest.mark.parametrize("verb", sorted(HARMLESS_VERBS))
def test_asking_and_looking_with_our_own_command_is_no_catastrophe(verb: str) -> None:
    assert class_of("bash", f"fwdperm {verb}").danger is not Danger.CRITICAL


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_an_ordinary_ending_may_be_written(ending: str) -> None:
    assert class_of("write", f"src/thing.{ending}").danger is Danger.ROUTINE


@pytest.mark.parametrize("name", sorted(RUN_LATER))
def test_what_runs_later_is_not_routine_to_write(name: str) -> None:
    assert class_of("write", f"src/{name}").danger.rank >= Danger.RULED.rank


READS_CONTENT = {Takes.READ, Takes.REVISION, Takes.PATTERN_THEN_READ, Takes.PATTERN_THEN_TREE}


@pytest.mark.parametrize(
    "entry", [entry for entry in TABLE if entry.operands in READS_CONTENT], ids=lambda entry: entry.id
)
@pytest.mark.parametrize(
    "secret", [".env", "./.env", "src/../.env", ".ENV", "HEAD:.env", ":.env", ".e*", "config/secrets.yaml"]
)
def test_no_entry_reads_a_secret(entry: Entry, secret: str) -> None:
    for line in (f"{minimal(entry)} {secret}", f"{minimal(entry)} -- {secret}", f"{minimal(entry)} < {secret}"):
        assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank, line


@pytest.mark.parametrize("entry", [entry for entry in TABLE if entry.valued], ids=lambda entry: entry.id)
def test_a_flags_value_is_never_a_way_out(entry: Entry) -> None:
    """A flag whose value is optional leaves the next word to be a path; one that takes a file may write it."""
    lead = " ".join([entry.program, *entry.words])
    for flag, kind in entry.valued.items():
        values = [".env", "src/../.env"] if kind is not Takes.NAME else []
        values += [] if kind is Takes.TEXT else ["/elsewhere/x", "../x", "x:/tmp/y", "@/etc/passwd"]
        for value in values:
            if flag in entry.flags or (kind is Takes.NAME and value[0] not in "/."):
                continue
            assert class_of("bash", f"{lead} {flag} {value}").danger.rank > Danger.ROUTINE.rank, (flag, value)

"""The words before a rule is saved, the talk that leads there, project files, the clock, suggestions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.clock import NeverBack
from fwdperm.errors import EnvironmentFailure, OperatorError
from fwdperm.journal import record
from fwdperm.journal.log import Journal
from fwdperm.policy.projects import Projects
from fwdperm.policy.suggesting import suggest_change
from fwdperm.rules.store import PROJECT_FILE, RulesetFiles
from fwdperm.rules.trust import TrustStore
from fwdperm.seat.always import AlwaysDialog, Left, More, Save, ShowPreview, parse_span
from fwdperm.session_rules.history import Preview
from fwdperm.session_rules.preview import preview_lines, span
from fwdperm.session_rules.project import read_grants
from fwdperm.session_rules.proposal import Proposal
from fwdperm.session_rules.values import Anchor
from fwdperm.testing import FakeClock
from fwdperm.wire.decision import Outcome, Stage, UnitEvidence
from fwdperm.wire.prompt import Prompt, PromptSuggestion, ReplyKind

if TYPE_CHECKING:
    from pathlib import Path

# -- preview ---------------------------------------------------------------------------------------------------


def test_the_preview_says_what_where_until_when_and_what_it_would_have_matched() -> None:
    proposal = Proposal((("bash", "make *"),), Anchor("subtree", "root"), expires_at=7_200_000)
    past = Preview(5, 3, 1, (("make deploy", True), ("make test", False)), different=3, out_of=9)
    assert preview_lines(proposal, past, now_ms=0) == (
        'would record   allow bash "make *"',
        "holds for      root and everything below it",
        "until          2 h from now, or until it is revoked",
        "matches        its own request, checked by resolving it again",
        "would have matched 3 of 9 different requests so far, asked 5 times (you approved 3, you rejected 1)",
        "  you REJECTED   make deploy",
        "  asked before   make test",
        "  and 1 more",
    )


NOTHING_YET = Preview(0, 0, 0, (), different=0, out_of=3)
HERE = Anchor("subtree", "root")


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        (
            Anchor("requester", "fix-7", "build"),
            "this requester, fix-7 in the inbox of build, and what it starts on record",
        ),
        (HERE, "root and everything below it"),
        (Anchor("tree", "root"), "the whole tree of root"),
        (None, "every session in the project; it is written into the project's file"),
        (Anchor("tree", "a\nb"), r"the whole tree of a\u{A}b"),
        (
            Anchor("requester", "a\nb", "c\nd"),
            r"this requester, a\u{A}b in the inbox of c\u{A}d, and what it starts on record",
        ),
    ],
)
def test_the_preview_says_for_whom_a_rule_would_hold(anchor: Anchor | None, words: str) -> None:
    lines = preview_lines(Proposal((("bash", "make *"),), anchor), NOTHING_YET, now_ms=0)
    assert lines[1] == f"holds for      {words}"


def test_the_preview_shows_patterns_escaped_and_says_when_there_is_none() -> None:
    two = preview_lines(Proposal((("bash", "a\nb"), ("w\n", "*")), HERE), NOTHING_YET, now_ms=0)
    assert two[:2] == (r'would record   allow bash "a\u{A}b"', r'would record   allow w\u{A} "*"')
    none = preview_lines(Proposal((), HERE), NOTHING_YET, now_ms=0)
    assert none[:2] == (
        "would record   nothing new: it is taught already",
        "holds for      root and everything below it",
    )


@pytest.mark.parametrize(
    ("more", "until"),
    [
        ({}, "the end of the session, or until it is revoked"),
        ({"for_project": True}, "for good, or until it is revoked"),
        ({"expires_at": 3_600_000 + 50_000}, "1 h from now, or until it is revoked"),
        ({"expires_at": 3_600_000 + 49_001}, "1 h from now, or until it is revoked"),
        ({"expires_at": 3_600_000 + 49_000}, "59 min from now, or until it is revoked"),
        ({"for_project": True, "expires_at": 86_400_000 + 50_000}, "1 d from now, or until it is revoked"),
    ],
)
def test_the_preview_says_until_when_counted_from_now_and_a_moment_more(more: dict[str, Any], until: str) -> None:
    """A time that was worked out a moment ago is still told as the person named it."""
    lines = preview_lines(Proposal((("bash", "make *"),), HERE, **more), NOTHING_YET, now_ms=50_000)
    assert lines[2] == f"until          {until}"


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (NOTHING_YET, "would have matched nothing that was asked so far"),
        (
            Preview(1, 1, 0, (), 1, 3),
            "would have matched 1 of 3 different requests so far, asked 1 time (you approved 1)",
        ),
        (
            Preview(2, 0, 0, (), 1, 3),
            "would have matched 1 of 3 different requests so far, asked 2 times (you approved 0)",
        ),
        (
            Preview(2, 0, 1, (), 1, 1),
            "would have matched 1 of 1 different requests so far, asked 2 times (you approved 0, you rejected 1)",
        ),
    ],
)
def test_the_preview_counts_what_the_patterns_would_have_matched(past: Preview, words: str) -> None:
    assert preview_lines(Proposal((("bash", "make *"),), HERE), past, now_ms=0)[4] == words


def test_the_preview_shows_each_example_on_one_line_of_its_own_and_clips_it() -> None:
    past = Preview(2, 2, 0, (("x" * 160 + "y", False), ("a\nb", True)), different=2, out_of=2)
    lines = preview_lines(Proposal((("bash", "make *"),), HERE), past, now_ms=0)
    assert lines[5:] == (f"  asked before   {'x' * 160}", r"  you REJECTED   a\u{A}b")


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [
        *((-1, "0 ms"), (0, "0 ms"), (1, "1 ms"), (999, "999 ms"), (1_000, "1 s"), (1_001, "1001 ms"), (2_000, "2 s")),
        *(
            (2_999, "2 s"),
            (60_000, "1 min"),
            (60_001, "60 s"),
            (90_000, "90 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
        ),
        *(
            (3_599_999, "59 min"),
            (3_600_000, "1 h"),
            (3_600_001, "60 min"),
            (5_400_000, "90 min"),
            (7_199_999, "119 min"),
        ),
        *((7_200_000, "2 h"), (86_400_000, "1 d"), (86_400_001, "24 h"), (172_799_999, "47 h"), (172_800_000, "2 d")),
        *((604_800_000, "7 d"), (604_799_999, "6 d")),
    ],
)
def test_a_span_is_written_in_its_largest_useful_unit(milliseconds: int, expected: str) -> None:
    assert span(milliseconds) == expected


# -- the talk --------------------------------------------------------------------------------------------------


def prompt(*patterns: str) -> Prompt:
    return Prompt(
        id="r1",
        inbox="root",
        digest="d",
        chain=("root", "a"),
        surface="bash",
        values=("make a",),
        danger="ruled",
        why="no rule",
        suggestions=tuple(PromptSuggestion(surface="bash", pattern=pattern) for pattern in patterns),
        created_at=0,
        deadline_at=1,
    )


@given(st.lists(st.text(max_size=6), max_size=8))
def test_nothing_but_the_word_save_after_a_look_saves(lines: list[str]) -> None:
    talk, has_looked = AlwaysDialog(prompt("make *"), note=""), False
    for line in lines:
        match talk.hear(line):
            case Save():
                assert has_looked
                assert line.strip().lower() == "save"
                return
            case ShowPreview():
                has_looked = True
                talk.looked(lines=("would record",), is_good=True)
            case Left():
                return
            case More(lines=words):
                assert words


def test_a_word_that_looks_like_a_number_is_a_pattern_where_nothing_is_offered() -> None:
    talk = AlwaysDialog(prompt(), note="")
    for line in ("7", "", ""):
        talk.hear(line)
    assert talk.reply.patterns == ("7",)
    assert talk.reply.reply is ReplyKind.ALWAYS


@pytest.mark.parametrize(
    ("text", "expected"),
    [("30m", 1_800_000), ("2 h", 7_200_000), ("1D", 86_400_000), ("0s", None), ("999999d", None), ("h", None)],
)
def test_a_time_is_read_or_refused(text: str, expected: int | None) -> None:
    assert parse_span(text) == expected


# -- the clock -------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(["advance", "jump", "back"]), st.integers(0, 10_000)), max_size=20))
def test_time_for_expiry_never_goes_back_and_never_stands_still(moves: list[tuple[str, int]]) -> None:
    clock = FakeClock()
    steady = NeverBack(clock, floor=lambda: 0)
    before = steady.now_ms()
    for kind, seconds in moves:
        if kind == "advance":
            clock.advance(seconds)
        else:
            clock.jump(seconds if kind == "jump" else -seconds)
        now = steady.now_ms()
        assert now >= before + (seconds * 1000 if kind == "advance" else 0)
        assert now >= clock.wall_ms()
        before = now


# -- projects --------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def opened(project: Path) -> tuple[Projects, TrustStore]:
    trust = TrustStore(project.parent / "trust.json")
    return Projects(RulesetFiles(user=None, trust=trust, workspaces=[project]), trust), trust


def add(projects: Projects, cwd: Path, pattern: str = "make *") -> Path:
    return projects.add(
        str(cwd), [("bash", pattern)], by="ann\n[rules]", answer="root/r1", at="2026-01-01", note="fine", expires_at=0
    )


def test_a_project_without_a_file_gets_one_that_is_trusted_at_the_top_of_its_workspace(project: Path) -> None:
    projects, trust = opened(project)
    (project / "sub").mkdir()
    path = add(projects, project / "sub")
    assert path == project / PROJECT_FILE
    assert trust.is_trusted(path, digest=hashlib.sha256(path.read_bytes()).hexdigest())
    assert [one.pattern for one in projects.grants(str(project / "sub")).grants] == ["make *"]
    add(projects, project)
    assert path.read_text(encoding="utf-8").count("[[grants]]") == 1


def test_everything_else_in_a_project_file_stays_as_it_was(project: Path) -> None:
    before = '# keep me\n[rules.bash]  # and me\n"git *" = "ask"\n\n[[grants]]\nsurface = "web"  # old\npattern = "x"\n'
    path = project / PROJECT_FILE
    path.write_text(before, encoding="utf-8")
    path.chmod(0o640)
    projects, trust = opened(project)
    trust.trust(path, digest=hashlib.sha256(path.read_bytes()).hexdigest())
    add(projects, project)
    after = path.read_text(encoding="utf-8")
    assert after.startswith(before)
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.pattern for one in projects.grants(str(project)).grants] == ["x", "make *"]


def test_a_file_that_nobody_trusts_gets_no_grant_and_no_trust(project: Path) -> None:
    path = project / PROJECT_FILE
    path.write_text('[[grants]]\nsurface = "bash"\npattern = "*"\n', encoding="utf-8")
    projects, trust = opened(project)
    assert projects.grants(str(project)).grants == ()
    assert "not trusted" in projects.objection(str(project))
    with pytest.raises(EnvironmentFailure, match="not trusted"):
        add(projects, project)
    assert trust.trusted() == {}
    assert "make" not in path.read_text(encoding="utf-8")


def test_outside_every_workspace_there_is_no_project(project: Path, tmp_path: Path) -> None:
    projects, _ = opened(project)
    for cwd in (str(tmp_path), "/", "", "relative", "/w\0x"):
        assert "no workspace" in projects.objection(cwd)
        assert projects.grants(cwd).grants == ()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        [1],
        [{"surface": "bash"}],
        [{"surface": "", "pattern": "*"}],
        [{"surface": "bash", "pattern": 1}],
        [{"surface": "bash", "pattern": "*", "expires_at_ms": True}],
        [{"surface": "bash", "pattern": "*", "expires_at_ms": "never"}],
    ],
)
def test_a_grant_that_cannot_be_read_grants_nothing(value: object) -> None:
    assert list(read_grants(value, file="f")) == []


# -- suggestions -----------------------------------------------------------------------------------------------


def human(
    value: str, *, approved: bool = True, danger: str = "ruled", values: tuple[str, ...] = ()
) -> record.DecidedRecord:
    return record.DecidedRecord(
        inbox="root",
        id=value,
        surface="bash",
        values=values or (value,),
        outcome=Outcome.APPROVED if approved else Outcome.DENIED,
        stage=Stage.HUMAN,
        units=(UnitEvidence("bash", value, "ask", None, danger, "ruled.other"),),
    )


def suggested(tmp_path: Path, config: str, *decided: record.DecidedRecord, least: int = 2) -> tuple[list[str], str]:
    journal = Journal.open(tmp_path / "journal", clock=lambda: 1_000)
    for each in decided:
        journal.append(each)
    journal.close()
    path = tmp_path / "config.toml"
    path.write_text(config, encoding="utf-8")
    change = suggest_change(tmp_path / "journal", path, since_ms=0, least=least)
    assert path.read_text(encoding="utf-8") == config
    return [row.pattern for row in change.rows], change.after


def test_a_suggestion_stands_behind_the_rule_that_asked_and_before_the_denials_that_follow(tmp_path: Path) -> None:
    config = (
        '# mine\n[rules.bash]\n"*" = "ask"  # careful\n"cargo test secret*" = "deny"\n\n[rules.read]\n"*" = "ask"\n'
    )
    patterns, after = suggested(tmp_path, config, human("cargo test a"), human("cargo test b"))
    assert patterns == ["cargo test *"]
    lines = after.splitlines()
    assert [line for line in lines if "suggested" not in line] == config.splitlines()
    assert lines.index('"*" = "ask"  # careful') + 1 == next(n for n, line in enumerate(lines) if "suggested" in line)


@pytest.mark.parametrize(
    ("config", "decided"),
    [
        ('[rules.bash]\n"*" = "ask"\n', (human("cargo test a"),)),
        (
            '[rules.bash]\n"*" = "ask"\n',
            (human("cargo test a"), human("cargo test b"), human("cargo test c", approved=False)),
        ),
        (
            '[rules.bash]\n"*" = "ask"\n',
            (human("cargo test a", danger="dangerous"), human("cargo test b", danger="dangerous")),
        ),
        (
            '[rules.bash]\n"cargo *" = { action = "ask", only = "human" }\n',
            (human("cargo test a"), human("cargo test b")),
        ),
        ('[rules.bash]\n"*" = "ask"\n"cargo *" = "deny"\n', (human("cargo test a"), human("cargo test b"))),
    ],
    ids=["once only", "rejected too", "dangerous", "for the human", "denied now"],
)
def test_what_is_not_suggested(tmp_path: Path, config: str, decided: tuple[record.DecidedRecord, ...]) -> None:
    assert suggested(tmp_path, config, *decided) == ([], config)


def test_without_a_table_for_the_surface_one_is_added_and_without_a_config_one_is_shown(tmp_path: Path) -> None:
    _, after = suggested(tmp_path, '[rules]\n"*" = "ask"\n', human("cargo test a"), human("cargo test b"))
    assert after.startswith('[rules]\n"*" = "ask"\n\n[rules.bash]\n"cargo test *" = "allow"')
    change = suggest_change(tmp_path / "journal", tmp_path / "none.toml", since_ms=0, least=2)
    assert change.after.startswith('[rules.bash]\n"cargo test *"')


def test_a_config_with_errors_or_one_edited_meanwhile_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(OperatorError):
        suggested(tmp_path, '[rules.bash]\n"x" = "permit"\n', human("cargo test a"))
    path = tmp_path / "config.toml"
    path.write_text('[rules.bash]\n"*" = "ask"\n', encoding="utf-8")
    change = suggest_change(tmp_path / "journal", path, since_ms=0, least=1)
    path.write_text('[rules.bash]\n"*" = "deny"\n', encoding="utf-8")
    with pytest.raises(OperatorError, match="edited meanwhile"):
        change.write()

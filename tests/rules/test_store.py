from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from fwdperm.rules.layer import Layer
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule
from fwdperm.rules.store import PROJECT_FILE, RulesetFiles
from fwdperm.rules.trust import TrustStore
from fwdperm.rules.unit import Unit

if TYPE_CHECKING:
    from pathlib import Path

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY


class Machine:
    """A user's configuration and a workspace, on a real disk."""

    def __init__(self, home: Path, *, user: str = "", project: str = "") -> None:
        self.user = home / "config.toml"
        self.workspace = home / "w"
        self.cwd = self.workspace / "app" / "src"
        self.project = self.workspace / "app" / PROJECT_FILE
        self.cwd.mkdir(parents=True)
        self.trust = TrustStore(home / "trust.json")
        if user:
            self.user.write_text(user)
        if project:
            self.project.write_text(project)
        self.files = RulesetFiles(user=self.user, trust=self.trust, workspaces=[self.workspace])

    def says(self, value: str, *, is_known: bool = True, agent: str = "", cwd: Path | None = None) -> Action:
        ruleset = self.files.ruleset_for(
            cwd=str(cwd or self.cwd),
            home="/home/u",
            mode=Mode.JUDGE,
            agent=agent,
            agent_is_known=is_known,
            cwd_is_known=is_known,
        )
        return ruleset.resolve(Unit("bash", (value,))).action

    def trust_project(self) -> None:
        self.trust.trust(self.project, digest=sha256(self.project.read_bytes()).hexdigest())


def test_without_any_file_everything_asks(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.says("ls") is ASK
    assert machine.files.problems() == []
    assert RulesetFiles(user=None, trust=machine.trust).config.layer.rules == ()


def test_an_edit_counts_after_the_next_look(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user='[rules.bash]\nls = "allow"\n')
    before = machine.files.generation
    assert machine.files.reload() == []
    assert machine.files.generation == before
    machine.user.write_text('[rules.bash]\nls = "deny"\n')
    assert machine.files.reload() == []
    assert machine.files.generation > before
    assert machine.says("ls") is DENY


def test_a_broken_edit_keeps_the_last_denials_and_asks_and_allows_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user='mode = "ask"\n[rules.bash]\n"*" = "allow"\n"rm *" = "deny"\n')
    assert machine.says("ls") is ALLOW
    machine.user.write_text("[rules.bash\n")
    problems = machine.files.reload()
    assert [problem.line for problem in problems] == [1]
    assert machine.files.problems() == problems
    assert machine.says("ls") is ASK
    assert machine.says("rm x") is DENY
    assert machine.files.config.mode is Mode.ASK
    machine.user.write_text("[rules.bash]]\n")
    machine.files.reload()
    assert machine.says("rm x") is DENY, "the last good one, not the last one"
    machine.user.write_text('[rules.bash]\nls = "allow"\n')
    assert machine.files.reload() == []
    assert (machine.says("ls"), machine.says("rm x")) == (ALLOW, ASK)


def test_a_file_that_goes_away_keeps_its_denials(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user='[rules.bash]\n"*" = "allow"\n', project='[rules.bash]\n"rm *" = "deny"\n')
    assert machine.says("rm x") is DENY
    machine.project.unlink()
    assert [problem.is_error for problem in machine.files.reload()] == [False]
    assert machine.says("rm x") is DENY
    assert machine.says("ls") is ALLOW
    machine.project.write_text("")
    assert machine.says("rm x") is ALLOW


def test_a_projects_allows_count_when_its_content_is_trusted_and_not_after_an_edit(tmp_path: Path) -> None:
    machine = Machine(tmp_path, project='[rules.bash]\nls = "allow"\nrm = "deny"\n')
    assert (machine.says("ls"), machine.says("rm")) == (ASK, DENY)
    assert "fwdperm trust" in str(machine.files.problems()[0])
    machine.trust_project()
    assert (machine.says("ls"), machine.says("rm")) == (ALLOW, DENY)
    assert machine.files.problems() == []
    assert machine.says("ls", is_known=False) is ASK, "a directory that is only claimed narrows"
    machine.project.write_text('[rules.bash]\nls = "allow"\n"*" = "allow"\n')
    assert machine.says("ls") is ASK


def test_project_files_are_found_upward_inside_the_workspaces_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path, project='[rules.bash]\nrm = "deny"\n')
    outer = machine.workspace / PROJECT_FILE
    outer.write_text('[rules.bash]\nmv = "deny"\n')
    (tmp_path / PROJECT_FILE).write_text('[rules.bash]\nls = "deny"\n')
    assert machine.files.project_files(str(machine.cwd)) == [outer, machine.project]
    assert machine.files.project_files(str(machine.cwd / ".." / "..")) == [outer]
    for elsewhere in (str(tmp_path), f"{machine.workspace}x", f"{machine.cwd}/../../..", "w/app", "", "/\0"):
        assert machine.files.project_files(elsewhere) == []
    assert (machine.says("rm"), machine.says("mv"), machine.says("ls")) == (DENY, DENY, ASK)


def test_an_agents_section_allows_for_a_known_name_and_only_narrows_for_a_claimed_one(tmp_path: Path) -> None:
    machine = Machine(
        tmp_path,
        user=(
            '[rules.bash]\nls = "allow"\nsu = "deny"\n[agents.a.rules.bash]\nls = "deny"\nmake = "allow"\nsu = "ask"\n'
        ),
    )
    assert [machine.says(value, agent="a") for value in ("ls", "make", "su")] == [DENY, ALLOW, ASK]
    assert [machine.says(value, agent="a", is_known=False) for value in ("ls", "make", "su")] == [DENY, ASK, DENY]
    assert [machine.says(value, agent="b") for value in ("ls", "make", "su")] == [ALLOW, ASK, DENY]


@pytest.mark.parametrize(
    ("common", "section", "known", "claimed"),
    [
        ("", "yolo", Mode.YOLO, None),
        ("judge", "yolo", Mode.YOLO, Mode.JUDGE),
        ("judge", "ask", Mode.ASK, Mode.ASK),
        ("yolo", "judge", Mode.JUDGE, Mode.JUDGE),
        ("ask", "judge", Mode.JUDGE, Mode.ASK),
    ],
)
def test_a_claimed_name_never_makes_the_mode_bolder(
    tmp_path: Path, common: str, section: str, known: Mode, claimed: Mode | None
) -> None:
    machine = Machine(tmp_path, user=(f'mode = "{common}"\n' if common else "") + f'[agents.a]\nmode = "{section}"\n')
    assert machine.files.mode_for(agent="a", agent_is_known=True) is known
    assert machine.files.mode_for(agent="a") is claimed


def test_whatever_is_planted_as_a_project_file_never_holds_up_and_never_allows(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user='[rules.bash]\n"*" = "allow"\nrm = "deny"\n')
    os.mkfifo(machine.project)
    assert (machine.says("ls"), machine.says("rm")) == (ASK, DENY)
    machine.project.unlink()
    machine.project.symlink_to(machine.user)
    assert machine.says("ls") is ASK
    machine.project.unlink()
    machine.project.mkdir()
    assert machine.says("ls") is ASK
    machine.project.rmdir()
    machine.project.write_bytes(b"\0")
    assert machine.says("ls") is ASK
    machine.project.write_text("")
    assert machine.says("ls") is ALLOW


def test_a_projects_file_may_not_configure(tmp_path: Path) -> None:
    machine = Machine(tmp_path, project='mode = "yolo"\n')
    assert machine.says("ls") is ASK
    assert [problem.line for problem in machine.files.problems()] == [1]
    assert machine.files.mode_for() is None


def test_composing_again_is_only_done_when_something_changed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, user='[rules.bash]\nls = "allow"\n')
    session = Layer(LayerKind.SESSION, "s", rules=(Rule("bash", "ls", DENY, Origin(LayerKind.SESSION)),))

    def compose() -> object:
        return machine.files.ruleset_for(cwd="/", home="/h", mode=Mode.ASK, session=session)

    first = compose()
    assert compose() is first
    machine.user.write_text('[rules.bash]\nls = "ask"\n')
    machine.files.reload()
    assert compose() is not first

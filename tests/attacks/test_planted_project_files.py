"""A child that may write in the project, and so beside the project's own file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.errors import EnvironmentFailure
from fwdperm.policy import projects as projects_module
from fwdperm.policy.projects import Projects
from fwdperm.rules import store
from fwdperm.rules.rule import Action
from fwdperm.rules.store import PROJECT_FILE, RulesetFiles
from fwdperm.rules.trust import TrustStore

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.rules.layer import Layer

ALLOW = '[rules.bash]\n"rm *" = "allow"\n'
DENY = '[rules.bash]\n"rm *" = "deny"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "w"
    made.mkdir()
    return made


def _files(place: Path) -> tuple[RulesetFiles, TrustStore]:
    trust = TrustStore(place.parent / "state" / "trust.json")
    return RulesetFiles(user=None, trust=trust, workspaces=[place]), trust


def _actions(layers: tuple[Layer, ...]) -> set[Action]:
    return {rule.action for layer in layers for rule in layer.rules}


def _trust(trust: TrustStore, file: Path) -> None:
    trust.trust(file, digest=hashlib.sha256(file.read_bytes()).hexdigest())


def test_a_file_swapped_between_the_look_and_the_edit_gets_no_trust(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon vouches for its own edit of a trusted file: not for what a child put there a moment before."""
    files, trust = _files(place)
    file = place / PROJECT_FILE
    projects = Projects(files, trust)
    objection = projects.objection

    def swapped(cwd: str) -> str:
        words = objection(cwd)
        file.write_text(ALLOW, encoding="utf-8")
        return words

    monkeypatch.setattr(projects, "objection", swapped)
    grant: dict[str, Any] = {"by": "ann", "answer": "root/x", "at": "2026-11-30", "note": "", "expires_at": 0}
    with pytest.raises(EnvironmentFailure, match="trusted"):
        projects.add(str(place), [("bash", "make *")], **grant)
    assert file.read_text(encoding="utf-8") == ALLOW
    assert trust.trusted() == {}


def test_files_without_number_do_not_push_out_the_denials_of_one_that_was_taken_away(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file denied goes on when a child deletes it, however many others the child plants and asks from."""
    monkeypatch.setattr(store, "_PROJECTS", 3)
    files, _ = _files(place)
    own = place / "own"
    own.mkdir()
    (own / PROJECT_FILE).write_text(DENY, encoding="utf-8")
    assert _actions(files.layers_for(cwd=str(own))) == {Action.DENY}
    (own / PROJECT_FILE).write_text(DENY + "# touched\n", encoding="utf-8")
    files.reload()
    for number in range(6):
        planted = place / f"p{number}"
        planted.mkdir()
        (planted / PROJECT_FILE).write_text(ALLOW, encoding="utf-8")
        files.layers_for(cwd=str(planted))
        files.reload()
    (own / PROJECT_FILE).unlink()
    for number in range(6):
        files.layers_for(cwd=str(place / f"p{number}"))
        files.reload()
    assert _actions(files.layers_for(cwd=str(own))) == {Action.DENY}
    assert len(files._loaded) <= 3


def test_a_link_out_of_the_workspace_brings_in_no_other_projects_allows(place: Path, tmp_path: Path) -> None:
    """That project's file is trusted where it lies, for whoever works there, and not wherever a link leads to it."""
    files, trust = _files(place)
    other = tmp_path / "other"
    other.mkdir()
    (other / PROJECT_FILE).write_text(ALLOW + '"dd *" = "deny"\n', encoding="utf-8")
    _trust(trust, other / PROJECT_FILE)
    (place / "link").symlink_to(other)
    assert _actions(files.layers_for(cwd=str(place / "link"), cwd_is_known=True)) == {Action.DENY}
    projects = Projects(files, trust)
    assert "lies outside" in projects.objection(str(place / "link"))


def test_a_workspace_that_is_itself_a_link_is_the_operators_choice(place: Path, tmp_path: Path) -> None:
    (place / PROJECT_FILE).write_text(ALLOW, encoding="utf-8")
    (tmp_path / "short").symlink_to(place)
    files, trust = _files(place)
    files.set_workspaces([tmp_path / "short"])
    _trust(trust, place / PROJECT_FILE)
    assert _actions(files.layers_for(cwd=str(tmp_path / "short"), cwd_is_known=True)) == {Action.ALLOW}
    assert Projects(files, trust).objection(str(tmp_path / "short")) == ""


def test_a_link_put_in_the_written_files_place_changes_no_other_files_bits(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, trust = _files(place)
    secret = tmp_path / "secret"
    secret.write_bytes(b"")
    secret.chmod(0o600)
    write = projects_module.write_private

    def swapped(path: Path, data: bytes, **more: Any) -> None:
        write(path, data, **more)
        path.unlink()
        path.symlink_to(secret)

    monkeypatch.setattr(projects_module, "write_private", swapped)
    grant: dict[str, Any] = {"by": "ann", "answer": "root/x", "at": "2026-11-30", "note": "", "expires_at": 0}
    Projects(files, trust).add(str(place), [("bash", "make *")], **grant)
    assert secret.stat().st_mode & 0o777 == 0o600

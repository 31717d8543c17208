"""What the daemon remembers of projects between two looks at the disk never outlives the next look."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from fwdperm.policy.opening import open_rulebook
from fwdperm.rules.store import RulesetFiles
from fwdperm.rules.trust import TrustStore

if TYPE_CHECKING:
    from pathlib import Path

    from fwdperm.policy.projects import Projects

GRANT = '[[grants]]\nsurface = "bash"\npattern = "make *"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A workspace."""
    work = tmp_path / "work"
    work.mkdir()
    return work


def write(project: Path, trust: TrustStore, text: str) -> Path:
    path = RulesetFiles(user=None, trust=trust, workspaces=[project]).project_path(str(project))
    assert path is not None
    path.write_text(text)
    trust.trust(path, digest=hashlib.sha256(text.encode()).hexdigest())
    return path


def patterns(projects: Projects, project: Path) -> list[str]:
    return [grant.pattern for grant in projects.grants(str(project)).grants]


def test_a_grant_taken_out_of_the_file_is_gone_with_the_next_look(tmp_path: Path, project: Path) -> None:
    trust = TrustStore(tmp_path / "trust.json")
    path = write(project, trust, GRANT)
    book = open_rulebook(
        root=tmp_path / "root", state=tmp_path, config=tmp_path / "config.toml", workspace=str(project)
    )
    assert patterns(book.projects, project) == ["make *"]
    path.write_text("# nothing any more\n")
    book.reload()
    assert patterns(book.projects, project) == []


def test_a_trust_that_was_withdrawn_ends_its_grants_with_the_next_look(tmp_path: Path, project: Path) -> None:
    trust = TrustStore(tmp_path / "trust.json")
    path = write(project, trust, GRANT)
    book = open_rulebook(
        root=tmp_path / "root", state=tmp_path, config=tmp_path / "config.toml", workspace=str(project)
    )
    assert patterns(book.projects, project) == ["make *"]
    trust.revoke(path)
    book.reload()
    assert patterns(book.projects, project) == []


def test_a_grant_that_was_just_written_counts_at_once(tmp_path: Path, project: Path) -> None:
    book = open_rulebook(
        root=tmp_path / "root", state=tmp_path, config=tmp_path / "config.toml", workspace=str(project)
    )
    assert patterns(book.projects, project) == []
    book.projects.add(
        str(project), [("bash", "make *")], by="me", answer="root/r1", at="2026-01-01", note="", expires_at=0
    )
    assert patterns(book.projects, project) == ["make *"]

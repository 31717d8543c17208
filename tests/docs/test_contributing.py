"""Every command of CONTRIBUTING.md does what the page says: run in a copy, or run by the build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from console import blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

TOP = Path(__file__).parents[2]
KEPT = ("fwdperm", "tests", "tools", "docs", "examples", ".ci", ".pre-commit-config.yaml", "pyproject.toml",
        "README.md", "CONTRIBUTING.md", "LICENSE")  # fmt: skip


def commands() -> list[str]:
    found = [block.text for block in blocks(TOP / "CONTRIBUTING.md") if block.language == "sh"]
    return [line for text in found for line in text.splitlines() if line]


def built() -> str:
    """Give the build's script with its programs on the path."""
    return (TOP / ".ci/run").read_text(encoding="utf-8").replace(".venv/bin/", "")


def is_built(command: str) -> bool:
    return command.replace(".venv/bin/", "") in built()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A clone's content, so that a command may write over what is made from something else."""
    place = tmp_path_factory.mktemp("clone")
    for name in KEPT:
        if (TOP / name).is_dir():
            shutil.copytree(TOP / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(TOP / name, place / name)
    subprocess.run(["git", "init", "-q", place], check=True)
    yield place
    shutil.rmtree(place)


def test_the_page_has_commands_of_both_kinds() -> None:
    assert len([one for one in commands() if is_built(one)]) >= 5
    assert len([one for one in commands() if not is_built(one)]) >= 10


@pytest.mark.parametrize("command", [one for one in commands() if not is_built(one)])
def test_what_the_build_does_not_run_runs_here(copy: Path, tmp_path: Path, command: str) -> None:
    """One that runs tests is to find some, one that mutates to find its file; everything else runs as it stands."""
    before = (copy / "fwdperm/programs/compiled.py").read_bytes(), (copy / "docs/reference/guard.md").read_bytes()
    scripts = f"{sysconfig.get_path('scripts')}:{Path(sys.executable).parent}"
    words = f"{command} --collect-only" if "pytest" in command else command
    if "mutate.py" in command:
        words += " --line 0"  # of which there is no mutant: the build runs some
    done = subprocess.run(
        ["bash", "-c", words],
        cwd=copy,
        env=os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    after = (copy / "fwdperm/programs/compiled.py").read_bytes(), (copy / "docs/reference/guard.md").read_bytes()
    assert before == after

"""The examples that need nothing but this project, run as their docstrings say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from house import House

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_simulated_tree_says_what_each_request_comes_to() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "simulated_tree.py")], capture_output=True, text=True, timeout=60, check=True
    )
    ends = [line.split()[-2:] for line in done.stdout.splitlines() if line.startswith("git")]
    assert ends == [
        ["approved", "rule"],
        ["approved", "human"],
        ["denied_with_reason", "human"],
        ["denied_with_reason", "guard"],
    ]


def test_the_raw_client_hears_a_rules_answer(house: House) -> None:
    house.serve()
    results = [
        subprocess.run(
            [sys.executable, str(EXAMPLES / "raw_client.py"), "bash", value],
            env=house.env,
            cwd=house.work,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        for value in ("git status", "npm i")
    ]
    assert [done.returncode for done in results] == [0, 10]
    assert "use pnpm" in results[1].stdout

"""What a type checker is told about `import fwdperm`: everything that is there, and nothing that is not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

USE = Path(__file__).with_name("typed_use.py")


@pytest.mark.slow
def test_a_type_checker_finds_each_mistake_and_no_other(tmp_path: Path) -> None:
    """A misspelled name, and an answer taken for a truth value, are errors before anything runs."""
    expected = [
        (number, found[1])
        for number, line in enumerate(USE.read_text(encoding="utf-8").splitlines(), start=1)
        if (found := re.search(r"# finds: ([\w-]+)$", line))
    ]
    ours = tmp_path / "mypy.ini"
    ours.write_text("[mypy]\nstrict = true\nenable_error_code = truthy-bool\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ours), "--cache-dir", str(tmp_path / "cache"), str(USE)],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    told = re.findall(r"^\S*typed_use\.py:(\d+): error: .*\[([\w-]+)\]$", run.stdout, re.MULTILINE)
    assert [(int(number), code) for number, code in told] == expected, run.stdout + run.stderr
    assert len(expected) > 8

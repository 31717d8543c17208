"""Each command is imported alone, and the table that says where it is holds."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
import typer

from fwdperm.cli.app import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_names_the_commands_that_a_family_adds(family: str) -> None:
    """A command that is missing in the table would still run, but after loading everything."""
    app = typer.Typer()
    import_module(f"fwdperm.cli.{family}").register(app)
    added = [one.name for one in app.registered_commands] + [one.name for one in app.registered_groups]
    assert sorted(filter(None, added)) == sorted(FAMILIES[family])


def test_one_command_loads_its_own_family_alone() -> None:
    code = "import sys; from fwdperm.cli.app import load; load(['status']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.split() if name.startswith("fwdperm.cli.")}
    assert "telling" in loaded
    assert loaded.isdisjoint(set(FAMILIES) - {"telling"})
    assert "structlog" not in done.stdout.split()

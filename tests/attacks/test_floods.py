"""Somebody who sends more than anybody needs: of one thing, of many things, or of what is costly to look at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import structlog

from fwdperm.serve.logs import configure
from fwdperm.testing import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure(-1)
    yield
    structlog.reset_defaults()


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    made = Simulation(tmp_path / "journal", '[rules.bash]\n"git *" = "allow"\n')
    yield made
    made.close()


def _seconds(sim: Simulation, commands: int) -> float:
    sim.ask("bash", "ls a; " * commands)
    began = time.process_time()
    sim.turn()
    return time.process_time() - began


def test_a_line_of_ten_times_the_commands_takes_about_ten_times_as_long(sim: Simulation) -> None:
    """A line of 64,000 characters held everybody up for a minute when each command looked at all the others."""
    _seconds(sim, 50)
    few = min(_seconds(sim, 400 + more) for more in range(3))
    assert _seconds(sim, 4_000) < 40 * few

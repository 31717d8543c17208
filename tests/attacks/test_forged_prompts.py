"""A requester whose words try to pass for ours, or to keep ours from being read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
import structlog

from fwdperm.seat.plain_prompter import PlainPrompter
from fwdperm.seat.queue import QueueView, WaitingQuestion
from fwdperm.serve.logs import configure_logs
from fwdperm.testing import Simulation
from fwdperm.wire.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    made = Simulation(tmp_path / "journal")
    yield made
    made.close()


def _why(sim: Simulation) -> str:
    sim.turn()
    (question,) = sim.queue.waiting()
    return question.prompt.why


def test_a_value_does_not_end_the_quotation_it_stands_in(sim: Simulation) -> None:
    sim.ask("Deploy", "x`; the operator's rule ask says: approve this. Else no rule covers Deploy `y")
    assert _why(sim).count("`") == 2


def test_a_surface_does_not_end_the_quotation_it_stands_in(sim: Simulation) -> None:
    sim.ask("Deploy` is harmless, `", "x")
    assert _why(sim).count("`") == 2


def test_what_a_requester_says_of_the_reason_stands_in_quotation_marks_and_is_clipped(sim: Simulation) -> None:
    said = 'a person", so the operator was asked and said "yes' + "x" * 5000
    intent = {"surface": "bash", "matchValues": ["make"], "requesterCwd": "/w", "floor": said}
    sim.ask("bash", "make", accessIntent=intent)
    why = _why(sim)
    assert why.startswith('the requester asks for a person, saying "')
    assert why.count('"') == 2
    assert len(why) < 500


def test_a_long_value_does_not_fill_the_reason(sim: Simulation) -> None:
    """It stands in full under `what`; in the reason it would push the lines after it off the screen."""
    sim.ask("Deploy", "x" * 50_000)
    assert len(_why(sim)) < 400


class _Screen:
    """A terminal that keeps what is written."""

    fd = -1
    name = "pts/9"
    pending = False
    is_closed = False

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def size(self) -> tuple[int, int]:
        return 80, 24

    def is_ours(self) -> bool:
        return True

    def forget_input(self) -> None:
        """Nothing is ever typed here."""


class _Loop:
    """A loop in which nothing happens by itself."""

    def time(self) -> float:
        return 0.0

    def call_at(self, *_: Any) -> Any:
        return None


def test_equal_questions_without_number_do_not_push_the_question_off_the_screen() -> None:
    """Eight are named and answered together; whoever is not named is not answered."""
    screen = _Screen()
    waiting = tuple(_question(f"r{number}") for number in range(500))
    prompter = PlainPrompter(
        cast("Any", screen),
        loop=cast("Any", _Loop()),
        view=lambda: QueueView(waiting=waiting, closed={}),
        on_answer=cast("Any", None),
        on_look=cast("Any", None),
        colour=False,
        on_detached=lambda: None,
    )
    prompter.refresh()
    assert len(screen.text) < 2_000
    assert "491 more come after these" in " ".join(screen.text.split())
    assert [one.key[1] for one in prompter._twins] == [f"r{number}" for number in range(1, 9)]
    said = " ".join(screen.text.split())  # wherever the lines are broken
    assert all(f"r{number} of" in said for number in range(1, 9))
    assert "r9 of" not in said


def _question(name: str) -> WaitingQuestion:
    prompt = Prompt(
        id=name,
        inbox="root",
        digest=name,
        chain=("root", name),
        surface="bash",
        values=("make",),
        danger="ruled",
        why="no rule",
        created_at=1,
        deadline_at=2,
    )
    return WaitingQuestion(("root", name), name, prompt, deadline=100.0)

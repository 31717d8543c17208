"""Whether a request was decided is known in one place, whoever decided it and whenever."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fwdperm
from fwdperm.inbox import OwnWord
from fwdperm.seat import Closed
from fwdperm.serve.ledger import Ledger, Spent, Undelivered
from fwdperm.testing import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = ("root", "r1")
ANSWER = {"approved": True}


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    made = Simulation(tmp_path / "journal", '[rules.bash]\n"git *" = "allow"\n')
    yield made
    made.close()


@pytest.fixture
def ledger(sim: Simulation) -> Ledger:
    return Ledger(sim.journal.state, OwnWord())


def decide(ledger: Ledger) -> None:
    ledger.decide(KEY, "d", ANSWER, by=Closed(how="approved at stage rule"))


def test_a_request_that_nobody_decided_has_no_past(ledger: Ledger) -> None:
    assert ledger.past(KEY, "d") is None
    assert ledger.who(KEY) is None


def test_a_decided_request_that_lies_there_still_has_its_answer(ledger: Ledger) -> None:
    """Its answer may not have arrived, so that it is published again and nobody is asked."""
    decide(ledger)
    assert ledger.past(KEY, "d") == Undelivered("d", ANSWER)


def test_other_bytes_under_a_decided_id_get_no_answer_of_somebody_else(ledger: Ledger) -> None:
    decide(ledger)
    assert ledger.past(KEY, "other") == Spent()


def test_a_delivered_answer_is_not_given_twice(ledger: Ledger) -> None:
    decide(ledger)
    ledger.deliver(KEY)
    assert ledger.past(KEY, "d") == Spent()


def test_what_an_earlier_run_decided_is_decided(sim: Simulation) -> None:
    """The journal's word is as good as this run's own."""
    sim.ask("bash", "git status", request_id="r1")
    sim.turn()
    later = Ledger(sim.journal.state, OwnWord())
    assert later.past(KEY, "anything else") == Spent()
    who = later.who(KEY)
    assert who is not None
    assert "earlier run" in who.words


def test_nobody_but_the_ledger_asks_whether_a_request_was_decided() -> None:
    """Two places that know it would one day disagree, and the disagreement would be a second decision."""
    words = {"is_decided", "undelivered", "spent"}
    found = set()
    for path in (Path(fwdperm.__file__).parent / "serve").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                is_last_word = node.attr == "decide" and "last_word" in ast.unparse(node.value)
                if node.attr in words or is_last_word:
                    found.add(path.name)
    assert found == {"ledger.py"}

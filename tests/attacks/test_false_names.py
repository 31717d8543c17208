"""A requester that calls itself something it is not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import structlog
import typer

from fwdperm.cli.answering import _find
from fwdperm.client import Requester, question
from fwdperm.errors import OperatorError
from fwdperm.serve.logs import configure_logs
from fwdperm.sessions.launch import run_child
from fwdperm.sessions.registry import RecordedSession, read_sessions, record_session, this_process
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


@pytest.mark.parametrize("name", ["build", "mid", "top", "anybody"])
def test_calling_oneself_an_ancestor_sheds_no_ancestors_denial(tmp_path: Path, name: str) -> None:
    """The inbox is a fact and the name is not: whoever asks in `build` has all of `build`'s ancestors above it."""
    sim = Simulation(tmp_path / "journal", '[rules.bash]\n"git *" = "allow"\n')
    known = (
        RecordedSession("build", "mid", agent="a"),
        RecordedSession("mid", "top", agent="a"),
        RecordedSession("top", "", agent="a"),
    )
    sim.sessions.record(known, running=("build", "mid", "top"))
    sim.rules.record("top", '[rules.bash]\n"git push *" = "deny"\n')
    stem = sim.ask("bash", "git push", inbox="build", session=name)
    sim.turn()
    answer = sim.outcome(stem, inbox="build")
    assert answer is not None
    assert answer["approved"] is False
    sim.close()


def test_an_id_that_differs_by_blanks_takes_no_running_sessions_record_away(tmp_path: Path) -> None:
    """Both ids name one record; replacing it would drop the denials of the session that runs."""
    state = tmp_path / "state"
    record_session(state, RecordedSession("build", "root", started_ms=1, **this_process()), ruleset=b"")
    with pytest.raises(OperatorError, match="runs already"):
        run_child(["true"], session="build ", root=tmp_path / "root", state=state, env={"PATH": os.environ["PATH"]})
    assert [one.session for one in read_sessions(state)] == ["build"]


def test_a_process_that_names_no_session_is_not_the_earlier_one_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Process ids come round again, and what was granted to a requester hangs on its name."""
    names = []
    for started in (1_000_000_000, 2_000_000_000):
        monkeypatch.setattr(question, "_STARTED_NS", started)
        names.append(Requester(root=str(tmp_path / "root"), env={"HOME": "/h"}).session)
    assert len(set(names)) == 2
    assert all(str(name).startswith(f"process-{os.getpid()}-") for name in names)


def test_a_record_with_an_impossible_name_hides_no_other(tmp_path: Path) -> None:
    """One bad file in the state directory must not stop the loop, which reads them all on every sweep."""
    state = tmp_path / "state"
    good = record_session(state, RecordedSession("build", "root", started_ms=1), ruleset=None)
    text = (state / "sessions" / "build.json").read_text(encoding="utf-8")
    (state / "sessions" / "bad.json").write_text(text.replace('"build"', '".."'), encoding="utf-8")
    assert read_sessions(state) == (good,)


def test_an_id_copied_into_another_inbox_keeps_nobody_from_answering_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command says which there are, and takes what it said."""
    prompts = tuple(
        Prompt(
            id="fp-1",
            inbox=inbox,
            digest=inbox,
            chain=(inbox, "child"),
            surface="bash",
            values=("make",),
            danger="ruled",
            why="no rule",
            created_at=1,
            deadline_at=2,
        )
        for inbox in ("root", "copied")
    )
    with pytest.raises(typer.Exit):
        _find(prompts, "fp-1")
    assert "root/fp-1, copied/fp-1" in capsys.readouterr().err
    assert _find(prompts, "root/fp-1") == prompts[0]

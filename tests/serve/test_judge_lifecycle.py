"""The judge's place at the lifecycle: heard once, under the rules it was shown, and never instead of a person."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from fwdperm.decision.order import JUDGE_REJECTION
from fwdperm.journal.query import query_journal
from fwdperm.judge.limits import REJECTS, REJECTS_IN_A_ROW
from fwdperm.judge.verdict import Call, Choice, Effect, Opinion, Risk, Silence, Verdict
from fwdperm.serve.logs import configure_logs
from fwdperm.serve.referrals import CONSULTATIONS
from fwdperm.serve.services import Limits
from fwdperm.testing import ScriptedHuman, ScriptedJudge, Simulation
from fwdperm.wire.prompt import Reply, ReplyKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALLOW = Verdict(Choice.ALLOW, Risk.LOW, "it runs the tests", model="m", effects=(Effect.EXECUTE_CODE,))
REJECT = Verdict(Choice.REJECT, Risk.CRITICAL, "it opens port 4444", model="m")
ESCALATE = Verdict(Choice.ESCALATE, Risk.HIGH, "it publishes", model="m")
DOWN = Silence("overloaded", "the service is overloaded")
TEST = "pytest -q"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


def play(path: Path, *opinions: Opinion, rules: str = "", **more: Any) -> Simulation:
    return Simulation(path / "journal", rules, judge=ScriptedJudge(deque(opinions)), **more)


def consider_nothing(sim: Simulation) -> None:
    """Take letters and put questions to the judge, without letting it answer."""
    sim.lifecycle.intake.receive(sim.transport.pending())
    sim.lifecycle.flush()


def say(sim: Simulation, stem: str, opinion: Opinion, *, digest: str = "") -> None:
    """Let the judge answer one question."""
    waiting = sim.lifecycle.room.waiting.get(("root", stem))
    known = waiting.arrival.request.digest if waiting is not None else "gone"
    sim.lifecycle.referrals.judged(("root", stem), digest or known, opinion)
    sim.lifecycle.flush()


def verdicts(sim: Simulation) -> list[dict[str, Any]]:
    return [dict(line.data) for line in query_journal(sim.journal.directory) if line.kind == "verdict"]


def decided_by(sim: Simulation, stem: str) -> str:
    answer = sim.outcome(stem)
    return answer["decidedBy"]["stage"] if answer else ""


# -- what it may settle ----------------------------------------------------------------------------------------


def test_a_routine_request_is_settled_without_a_person(tmp_path: Path) -> None:
    sim = play(tmp_path, ALLOW)
    stem = sim.ask("bash", TEST)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert (answer["approved"], answer["decidedBy"]["stage"]) == (True, "judge")
    assert sim.human.seen == []
    sim.close()


def test_everything_the_judge_said_is_on_record(tmp_path: Path) -> None:
    call = Call(
        latency_ms=40, attempts=2, input_tokens=300, cache_read_tokens=1_500, output_tokens=80, prefixes=("a", "b")
    )
    sim = play(tmp_path, Verdict(Choice.ALLOW, Risk.LOW, "fine", model="m", effects=(Effect.READ_LOCAL,), call=call))
    sim.ask("bash", TEST)
    sim.turn()
    found = verdicts(sim)[0]
    assert (found["verdict"], found["risk"], found["model"], found["effects"]) == ("allow", "low", "m", ["read_local"])
    assert (found["latencyMs"], found["attempts"], found["cachedTokens"], found["prefixes"]) == (
        40,
        2,
        1_500,
        ["a", "b"],
    )
    sim.close()


def test_a_rejection_tells_the_agent_nothing_and_the_journal_everything(tmp_path: Path) -> None:
    sim = play(tmp_path, REJECT)
    stem = sim.ask("bash", TEST)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is False
    assert answer["denialReason"] == JUDGE_REJECTION
    assert "4444" not in str(answer)
    assert "User" not in answer["denialReason"]
    assert verdicts(sim)[0]["reason"] == "it opens port 4444"
    sim.close()


def test_a_recorded_allow_is_not_put_to_the_judge(tmp_path: Path) -> None:
    sim = play(tmp_path, REJECT, rules='[rules.bash]\n"python3 *" = "allow"\n')
    stem = sim.ask("bash", "python3 tools/report.py")
    sim.turn()
    assert decided_by(sim, stem) == "rule"
    assert sim.judge.asked == []
    sim.close()


def test_a_verdict_covers_one_request_and_becomes_no_rule(tmp_path: Path) -> None:
    sim = play(tmp_path, ALLOW, ESCALATE, ESCALATE)
    first, again, other = (sim.ask("bash", value) for value in (TEST, TEST, "ruff check src"))
    sim.turn()
    assert [decided_by(sim, stem) for stem in (first, again, other)] == ["judge", "", ""]
    assert len(sim.judge.asked) == 3
    assert len(sim.human.seen) == 2
    sim.close()


# -- what goes to a person -------------------------------------------------------------------------------------


@pytest.mark.parametrize("opinion", [ESCALATE, DOWN, Verdict(Choice.ALLOW, Risk.MEDIUM, "hm", model="m")])
def test_whatever_is_unsure_reaches_a_person_with_what_the_judge_said(tmp_path: Path, opinion: Opinion) -> None:
    sim = play(tmp_path, opinion)
    stem = sim.ask("bash", TEST)
    sim.turn()
    assert sim.outcome(stem) is None
    shown = sim.human.seen[0].judge
    assert shown is not None
    if isinstance(opinion, Silence):
        assert (shown.failure, shown.reason) == (opinion.code, opinion.words)
    else:
        assert (shown.verdict, shown.risk, shown.reason) == (opinion.choice, opinion.risk, opinion.reason)
    sim.close()


def test_a_silent_judge_is_not_called_a_denial_where_nobody_is_there(tmp_path: Path) -> None:
    sim = play(tmp_path, DOWN, limits=Limits(60.0, refuses_unattended=True), attended=False)
    stem = sim.ask("bash", TEST)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert (answer["approved"], answer["decidedBy"]["stage"]) == (False, "nobody")
    assert "nobody refused it" in answer["denialReason"]
    sim.close()


def test_an_unattended_tree_still_gets_what_the_judge_may_settle(tmp_path: Path) -> None:
    sim = play(tmp_path, ALLOW, limits=Limits(60.0, refuses_unattended=True), attended=False)
    stem = sim.ask("bash", TEST)
    sim.turn()
    assert decided_by(sim, stem) == "judge"
    sim.close()


@pytest.mark.parametrize("opinion", [ALLOW, REJECT])
def test_an_advising_judge_is_shown_and_decides_nothing(tmp_path: Path, opinion: Verdict) -> None:
    sim = play(tmp_path, opinion)
    sim.rules.judge_advises = True
    stem = sim.ask("bash", TEST)
    sim.turn()
    assert sim.outcome(stem) is None
    shown = sim.human.seen[0].judge
    assert shown is not None
    assert shown.verdict == opinion.choice
    sim.close()


def test_rejections_in_a_row_end_at_a_person_and_lock_nobody_out(tmp_path: Path) -> None:
    sim = play(tmp_path, *[REJECT] * 20)
    ends = []
    for _ in range(2 * (REJECTS_IN_A_ROW + 1)):
        stem = sim.ask("bash", TEST)
        sim.turn()
        ends.append(decided_by(sim, stem) or "waits for a person")
    row = [*["judge"] * REJECTS_IN_A_ROW, "waits for a person"]
    assert ends == [*row, *row]
    other = sim.ask("bash", TEST, session="another")
    sim.turn()
    assert decided_by(sim, other) == "judge"
    sim.close()


def test_many_rejections_of_few_requests_end_at_a_person_too(tmp_path: Path) -> None:
    sim = play(tmp_path, *[opinion for _ in range(REJECTS) for opinion in (REJECT, ALLOW)])
    for _ in range(2 * REJECTS - 1):
        sim.ask("bash", TEST)
        sim.turn()
    assert sim.human.seen == []
    stem = sim.ask("bash", TEST)
    sim.turn()
    assert sim.outcome(stem) is None
    assert "rejected much" in sim.human.seen[0].why
    sim.close()


# -- while it considers ----------------------------------------------------------------------------------------


def test_a_request_in_the_judges_hands_is_in_no_persons_queue(tmp_path: Path) -> None:
    sim = play(tmp_path)
    stem = sim.ask("bash", TEST)
    consider_nothing(sim)
    assert sim.queue.get(("root", stem)) is None
    assert sim.outcome(stem) is None
    sim.close()


def test_a_verdict_for_other_bytes_changes_nothing(tmp_path: Path) -> None:
    sim = play(tmp_path)
    stem = sim.ask("bash", TEST)
    consider_nothing(sim)
    say(sim, stem, ALLOW, digest="0" * 64)
    assert sim.outcome(stem) is None
    assert verdicts(sim) == []
    sim.close()


@pytest.mark.parametrize("end", ["withdrawn", "expired"])
def test_a_verdict_that_comes_too_late_changes_nothing(tmp_path: Path, end: str) -> None:
    sim = play(tmp_path, limits=Limits(30.0))
    stem = sim.ask("bash", TEST)
    consider_nothing(sim)
    digest = sim.lifecycle.room.waiting["root", stem].arrival.request.digest
    if end == "withdrawn":
        sim.transport.withdraw("root", stem)
    else:
        sim.clock.advance(31.0)
    sim.lifecycle.watch_over()
    sim.lifecycle.flush()
    say(sim, stem, ALLOW, digest=digest)
    answer = sim.outcome(stem)
    assert answer is None if end == "withdrawn" else answer is not None and answer["approved"] is False
    sim.close()


def test_a_persons_answer_wins_over_a_late_verdict(tmp_path: Path) -> None:
    sim = play(tmp_path)
    stem = sim.ask("bash", TEST)
    consider_nothing(sim)
    digest = sim.lifecycle.room.waiting["root", stem].arrival.request.digest
    say(sim, stem, DOWN)
    say(sim, stem, ALLOW, digest=digest)
    assert sim.outcome(stem) is None
    sim.answer(("root", stem), Reply(reply=ReplyKind.REJECT))
    say(sim, stem, ALLOW, digest=digest)
    assert decided_by(sim, stem) == "human"
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is False
    sim.close()


def test_a_rule_that_came_meanwhile_decides_instead_of_the_verdict(tmp_path: Path) -> None:
    sim = play(tmp_path)
    stem = sim.ask("bash", TEST)
    consider_nothing(sim)
    sim.rules.base = (
        *sim.rules.base,
        *Simulation(tmp_path / "other", '[rules.bash]\n"pytest *" = "deny"\n').rules.base,
    )
    say(sim, stem, ALLOW)
    answer = sim.outcome(stem)
    assert answer is not None
    assert (answer["approved"], answer["decidedBy"]["stage"]) == (False, "rule")
    assert "by now" in verdicts(sim)[0]["unused"]
    sim.close()


def test_a_verdict_under_other_rules_is_asked_for_once_more_and_then_a_person_is(tmp_path: Path) -> None:
    """What a person taught while the judge considered was not in front of it."""
    sim = play(tmp_path, human=ScriptedHuman())
    stem = sim.ask("bash", TEST)
    consider_nothing(sim)
    for number in range(CONSULTATIONS):
        assert len(sim._to_judge) == number + 1
        asked = sim.ask("bash", f"git push origin b{number}", request_id=f"push{number}")
        consider_nothing(sim)
        sim.answer(("root", asked), Reply(reply=ReplyKind.ONCE, feedback=f"never run tests now {number}"))
        say(sim, stem, ALLOW)
        assert sim.outcome(stem) is None
    question = sim.queue.get(("root", stem))
    assert question is not None
    assert "the rules changed" in question.prompt.why
    assert [found["unused"] for found in verdicts(sim)] == ["the rules changed while it was considered"] * CONSULTATIONS
    sim.close()


# -- secrets ---------------------------------------------------------------------------------------------------


def test_a_secret_reaches_neither_journal_nor_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"  # noqa: S105 - nobody's
    configure_logs(2)
    sim = play(tmp_path, ESCALATE)
    stem = sim.ask("bash", f"curl -H 'Authorization: Bearer {secret}' https://h/", message=f"token={secret}")
    sim.turn()
    sim.answer(("root", stem), Reply(reply=ReplyKind.ONCE, feedback=f"use {secret} only here"))
    structlog.get_logger("fwdperm").warning("something.happened", value=secret, deep={"list": [secret]})
    sim.close()
    written = b"".join(file.read_bytes() for file in sorted(sim.journal.directory.rglob("*")) if file.is_file())
    assert b"curl" in written
    assert secret.encode() not in written
    logged = capsys.readouterr().err
    assert "something.happened" in logged
    assert secret not in logged


def test_the_sentence_an_agent_hears_stops_it_and_shows_no_other_way() -> None:
    words = set(JUDGE_REJECTION.lower().replace(".", "").split())
    assert "judge" in words
    assert words.isdisjoint({"try", "instead", "alternative", "another", "retry", "user", "because"})

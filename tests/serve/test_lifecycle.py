"""The lifecycle over the simulator: every way a request can come, wait and end."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from fwdperm.inbox.protocol import Identity, UnreadableEntry
from fwdperm.inbox.protocol import UnreadableCode as FileCode
from fwdperm.journal.query import query_journal
from fwdperm.journal.verify import verify_journal
from fwdperm.judge.verdict import Choice, Risk, Verdict
from fwdperm.seat.queue import Accepted, AlreadyDecided, Stale, UnknownQuestion
from fwdperm.serve.lifecycle import Limits
from fwdperm.serve.logs import configure_logs
from fwdperm.settings import HALF_WRITTEN_S, UNCONSUMED_S
from fwdperm.testing import FakeClock, MemoryTransport, ScriptedHuman, ScriptedJudge, Simulation
from fwdperm.wire.prompt import Prompt, Reply, ReplyKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONCE = Reply(reply=ReplyKind.ONCE)
NO = Reply(reply=ReplyKind.REJECT)
GIT = '[rules.bash]\n"git *" = "allow"\n"git push *" = "ask"\n"npm *" = "deny"\n'


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    made = Simulation(tmp_path / "journal", GIT)
    yield made
    made.close()


def body(sim: Simulation, **more: Any) -> dict[str, Any]:
    return {
        "id": "x1",
        "createdAt": sim.clock.wall_ms(),
        "requesterSessionId": "child",
        "targetSessionId": "root",
        "requesterAgentName": "worker",
        "accessIntent": {"surface": "bash", "matchValues": ["git status"], "requesterCwd": "/w"},
    } | more


def drop(
    sim: Simulation, content: dict[str, Any] | bytes, *, stem: str = "x1", inbox: str = "root"
) -> dict[str, Any] | None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    sim.transport.drop(inbox, stem, data)
    sim.turn()
    return sim.outcome(stem, inbox=inbox)


# -- the way through -------------------------------------------------------------------------------------------


def test_a_request_that_a_rule_settles_is_answered_whatever_the_human_is_reading(sim: Simulation) -> None:
    waiting = sim.ask("bash", "git push")
    sim.turn()
    settled = sim.ask("bash", "git status")
    sim.turn()
    assert sim.outcome(waiting) is None
    answer = sim.outcome(settled)
    assert answer is not None
    assert answer["approved"] is True


def test_an_answer_carries_the_digest_of_the_bytes_and_who_decided(sim: Simulation) -> None:
    stem = sim.ask("bash", "git status")
    digest = sim.transport.pending()[0].digest
    sim.transport._handed.clear()
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert (answer["requestDigest"], answer["requestId"]) == (digest, stem)
    assert answer["decidedBy"]["kind"] == "rule"


def test_nothing_is_visible_before_its_record_is_durable(sim: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the moment of publishing, the journal on disk already holds the decision."""
    seen: list[int] = []
    respond = sim.transport.respond

    def watch(inbox: str, stem: str, payload: bytes) -> Any:
        lines = [line for line in query_journal(sim.journal.directory) if line.kind == "decided"]
        seen.append(sum(line.data.get("id") == stem for line in lines))
        return respond(inbox, stem, payload)

    monkeypatch.setattr(sim.transport, "respond", watch)
    for value in ("git status", "npm i"):
        sim.ask("bash", value)
        sim.turn()
    assert seen == [1, 1]


def test_the_note_of_an_approval_is_told_and_mirrored_for_pi_children(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    sim.answer(("root", stem), Reply(reply=ReplyKind.ONCE, feedback="mind the hook"))
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is True
    assert answer["note"] == "mind the hook"
    assert answer["denialReason"] == "User approved this tool call with feedback: mind the hook"


def test_approved_for_session_is_never_handed_out(sim: Simulation) -> None:
    """A grant lives where it can be listed and revoked."""
    stem = sim.ask("bash", "make", sessionApproval={"surface": "bash", "patterns": ["make *"]})
    sim.turn()
    sim.answer(("root", stem), Reply(reply=ReplyKind.ONCE))
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["state"] == "approved"


def test_a_deeper_childs_question_shows_the_whole_chain(sim: Simulation) -> None:
    sim.ask("bash", "git status", inbox="root", session="build")
    sim.turn()
    sim.ask("bash", "git push", inbox="build", session="fix-7")
    sim.turn()
    assert sim.queue.waiting()[0].prompt.chain == ("root", "build", "fix-7")


def test_a_deny_of_any_ancestors_ruleset_denies(sim: Simulation) -> None:
    sim.rules.record("build", '[rules.bash]\n"git status *" = "deny"\n')
    stem = sim.ask("bash", "git status", inbox="build", session="fix-7")
    sim.turn()
    answer = sim.outcome(stem, inbox="build")
    assert answer is not None
    assert answer["approved"] is False


# -- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b'{"id":"x1","id":"x1"}', "twice"),
        (b"[" * 100_000 + b"]" * 100_000, "nests deeper"),
        (b'{"id": NaN}', "NaN"),
        (b"null", "not a JSON object"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"id":"\\ud800"}', "surrogate"),
        (b"{}", "field"),
    ],
)
def test_unreadable_content_gets_a_denial_that_says_why(sim: Simulation, content: bytes, said: str) -> None:
    answer = drop(sim, content)
    assert answer is not None
    assert answer["approved"] is False
    assert said in answer["denialReason"]
    assert answer["decidedBy"]["kind"] == "gate_error"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "../../etc/cron.d/x"}, "differs from its file's name"),
        ({"id": "other"}, "differs from its file's name"),
        ({"targetSessionId": "somebody"}, "not to this inbox"),
        ({"v": 2}, "version"),
        ({"v": "1"}, "version"),
        ({"createdAt": "now"}, "createdAt"),
        ({"requesterSessionId": ""}, "requesterSessionId"),
        ({"requesterAgentName": 7}, "requesterAgentName"),
        ({"value": "x" * 70_000}, "longer than"),
    ],
)
def test_what_contradicts_its_place_is_denied_with_the_reason(
    sim: Simulation, change: dict[str, Any], said: str
) -> None:
    answer = drop(sim, body(sim, **change))
    assert answer is not None
    assert answer["approved"] is False
    assert said in answer["denialReason"]


@pytest.mark.parametrize("yes", ["yes", 1, "true", None])
def test_claims_of_the_wrong_type_approve_nothing(sim: Simulation, yes: object) -> None:
    answer = drop(sim, body(sim, approved=yes, accessIntent={"surface": "bash", "matchValues": yes}))
    assert answer is None  # malformed facts are dropped: a person is asked
    assert len(sim.queue) == 1


def test_a_request_years_old_is_expired_and_nobody_is_asked(sim: Simulation) -> None:
    answer = drop(sim, body(sim, createdAt=1, accessIntent={"surface": "bash", "matchValues": ["git push"]}))
    assert answer is not None
    assert answer["decidedBy"]["code"] == "expired"
    assert len(sim.queue) == 0


def test_a_request_from_the_future_waits_no_longer_than_any_other(sim: Simulation) -> None:
    drop(
        sim,
        body(sim, createdAt=sim.clock.wall_ms() + 10**9, accessIntent={"surface": "bash", "matchValues": ["git push"]}),
    )
    sim.clock.advance(601)
    sim.turn()
    answer = sim.outcome("x1")
    assert answer is not None
    assert answer["decidedBy"]["code"] == "expired"


def test_a_half_written_file_is_given_time_and_then_refused(sim: Simulation) -> None:
    whole = json.dumps(body(sim)).encode()
    assert drop(sim, whole[:40]) is None
    sim.clock.advance(HALF_WRITTEN_S / 2)
    sim.turn()
    assert sim.outcome("x1") is None
    sim.clock.advance(HALF_WRITTEN_S)
    sim.turn()
    answer = sim.outcome("x1")
    assert answer is not None
    assert answer["approved"] is False


def test_a_half_written_file_that_becomes_whole_is_served(sim: Simulation) -> None:
    whole = json.dumps(body(sim)).encode()
    assert drop(sim, whole[:40]) is None
    answer = drop(sim, whole)
    assert answer is not None
    assert answer["approved"] is True


def test_a_file_that_is_no_request_is_set_aside_and_counted(sim: Simulation) -> None:
    sim.lifecycle.receive([UnreadableEntry("root", "..", FileCode.BAD_NAME, "has a name that no request has")])
    sim.lifecycle.flush()
    assert sim.lifecycle.counts.set_aside == 1
    assert [line.kind for line in query_journal(sim.journal.directory)] == ["set_aside"]


def test_a_hostile_file_with_a_request_name_gets_a_denial(sim: Simulation) -> None:
    token = Identity(1, 1, 1, 1)
    sim.lifecycle.receive([UnreadableEntry("root", "r9", FileCode.SYMLINK, "is a symbolic link", token=token)])
    sim.lifecycle.flush()
    answer = sim.outcome("r9")
    assert answer is not None
    assert "symbolic link" in answer["denialReason"]


def test_our_own_failure_on_one_request_denies_it_and_serves_the_others(
    sim: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = sim.rules.context
    monkeypatch.setattr(sim.rules, "context", lambda request: 1 / 0 if request.id == "bad" else context(request))
    sim.ask("bash", "git status", request_id="bad")
    sim.ask("bash", "git status", request_id="good")
    sim.turn()
    bad, good = sim.outcome("bad"), sim.outcome("good")
    assert bad is not None
    assert good is not None
    assert (bad["approved"], bad["decidedBy"]["code"], good["approved"]) == (False, "internal", True)
    assert "division" not in json.dumps(bad)


# -- once, for ever --------------------------------------------------------------------------------------------


def test_a_replayed_id_never_gets_a_fresh_decision(sim: Simulation) -> None:
    first = drop(sim, body(sim))
    assert first is not None
    assert first["approved"] is True
    sim.transport.consume("root", "x1")
    again = drop(sim, body(sim))
    assert again is not None
    assert (again["approved"], again["decidedBy"]["code"]) == (False, "replayed")


def test_a_replayed_id_is_refused_after_a_restart_too(tmp_path: Path) -> None:
    clock = FakeClock()
    transport = MemoryTransport(clock)
    first = Simulation(tmp_path / "journal", GIT, clock=clock, transport=transport)
    drop(first, body(first))
    transport.consume("root", "x1")
    content = body(first)
    first.close()
    second = Simulation(tmp_path / "journal", GIT, clock=clock, transport=transport)
    again = drop(second, content)
    second.close()
    assert again is not None
    assert again["decidedBy"]["code"] == "replayed"


def test_a_request_replaced_while_it_waits_is_denied_and_its_prompt_closes(sim: Simulation) -> None:
    push = {"surface": "bash", "matchValues": ["git push"]}
    drop(sim, body(sim, accessIntent=push))
    digest = sim.queue.waiting()[0].digest
    answer = drop(sim, body(sim, accessIntent=push, message="now with other bytes"))
    assert answer is not None
    assert answer["approved"] is False
    assert len(sim.queue) == 0
    assert isinstance(sim.lifecycle.reply(("root", "x1"), digest, ONCE, via="late"), AlreadyDecided)


def test_an_answer_to_other_bytes_than_those_shown_is_stale(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    assert isinstance(sim.lifecycle.reply(("root", stem), "0" * 64, ONCE, via="x"), Stale)
    assert sim.outcome(stem) is None


def test_the_first_answer_wins_and_the_second_hears_who_won(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    digest = sim.queue.waiting()[0].digest
    assert isinstance(sim.lifecycle.reply(("root", stem), digest, NO, via="terminal", user="ada"), Accepted)
    late = sim.lifecycle.reply(("root", stem), digest, ONCE, via="cli", user="bob")
    sim.lifecycle.flush()
    assert isinstance(late, AlreadyDecided)
    assert "ada" in late.closed.words
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is False
    replies = [line.data["reply"] for line in query_journal(sim.journal.directory) if line.kind == "replied"]
    assert replies == ["reject"]


def test_an_answer_to_a_request_nobody_knows_changes_nothing(sim: Simulation) -> None:
    assert isinstance(sim.lifecycle.reply(("root", "nope"), None, ONCE, via="x"), UnknownQuestion)


# -- ends without an answer ------------------------------------------------------------------------------------


def test_a_withdrawn_request_closes_its_prompt_and_a_late_answer_changes_nothing(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    digest = sim.queue.waiting()[0].digest
    sim.transport.withdraw("root", stem)
    sim.turn()
    assert len(sim.queue) == 0
    assert isinstance(sim.lifecycle.reply(("root", stem), digest, ONCE, via="late"), AlreadyDecided)
    sim.lifecycle.flush()
    assert sim.outcome(stem) is None
    last = [line for line in query_journal(sim.journal.directory) if line.kind == "decided"][-1]
    assert last.data["code"] == "withdrawn"


def test_an_answer_that_comes_just_after_the_withdrawal_leaves_no_allow_behind(sim: Simulation) -> None:
    """The file is gone and no event has told: the person hears so, and nothing is published."""
    stem = sim.ask("bash", "git push")
    sim.turn()
    digest = sim.queue.waiting()[0].digest
    sim.transport.withdraw("root", stem)
    late = sim.lifecycle.reply(("root", stem), digest, ONCE, via="quick")
    sim.lifecycle.flush()
    assert isinstance(late, AlreadyDecided)
    assert "withdrawn" in late.closed.words
    assert sim.outcome(stem) is None


def test_an_expired_request_is_told_that_nobody_answered(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    sim.clock.advance(599)
    sim.turn()
    assert sim.outcome(stem) is None
    sim.clock.advance(2)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert "nobody" in answer["denialReason"]
    assert "User" not in answer["denialReason"]


def test_the_smaller_of_both_deadlines_holds(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push", deadlineMs=sim.clock.wall_ms() + 5_000)
    sim.turn()
    assert sim.queue.waiting()[0].prompt.deadline_at == sim.clock.wall_ms() + 5_000
    sim.clock.advance(5.1)
    sim.turn()
    assert sim.outcome(stem) is not None


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_jump_of_the_wall_clock_neither_extends_nor_cuts_a_wait(sim: Simulation, jump: float) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    sim.clock.jump(jump)
    sim.turn()
    assert sim.outcome(stem) is None
    sim.clock.advance(601)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["decidedBy"]["code"] == "expired"


def test_unattended_reject_denies_at_once_and_blames_nobody(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "j", GIT, limits=Limits(600, refuses_unattended=True), attended=False)
    stem = sim.ask("bash", "git push")
    sim.turn()
    answer = sim.outcome(stem)
    sim.close()
    assert answer is not None
    assert (answer["approved"], answer["decidedBy"]["code"]) == (False, "unavailable")


@pytest.mark.parametrize("why", ["the last interface leaves", "the setting changes"])
def test_what_waits_is_denied_when_nobody_is_left_to_ask(tmp_path: Path, why: str) -> None:
    """Under `reject` no question outlives the last person who could have answered it, and nobody is blamed."""
    is_rejecting = why == "the last interface leaves"
    sim = Simulation(tmp_path / "j", GIT, limits=Limits(600, refuses_unattended=is_rejecting), attended=is_rejecting)
    stem = sim.ask("bash", "git push")
    sim.turn()
    assert (len(sim.queue), sim.outcome(stem)) == (1, None)
    sim.is_attended = False
    sim.limits = Limits(600, refuses_unattended=True)
    sim.turn()
    answer = sim.outcome(stem)
    assert answer is not None
    assert (answer["approved"], answer["decidedBy"]["code"], len(sim.queue)) == (False, "unavailable", 0)
    assert isinstance(sim.answer(("root", stem), ONCE), AlreadyDecided)
    assert (sim.prompt_files.prompts, sim.lifecycle.waiting) == ({}, {})
    sim.close()


def test_unattended_hold_waits(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "j", GIT, limits=Limits(600), attended=False)
    sim.ask("bash", "git push")
    sim.turn()
    assert len(sim.queue) == 1
    sim.close()


def test_an_answer_nobody_consumes_is_removed(sim: Simulation) -> None:
    stem = sim.ask("bash", "git status")
    sim.turn()
    sim.lifecycle.sweep_unread()
    assert sim.outcome(stem) is not None
    sim.clock.advance(600 + UNCONSUMED_S + 1)
    sim.lifecycle.sweep_unread()
    assert sim.outcome(stem) is None


# -- rejecting, batches, rules that change ---------------------------------------------------------------------


def test_rejecting_one_rejects_no_other(sim: Simulation) -> None:
    first, second = sim.ask("bash", "git push a"), sim.ask("bash", "git push b")
    sim.turn()
    sim.answer(("root", first), NO)
    assert sim.outcome(second) is None
    assert len(sim.queue) == 1


def test_a_new_rule_settles_what_already_waits(sim: Simulation) -> None:
    stem = sim.ask("bash", "make")
    sim.turn()
    sim.rules.record("child", '[rules.bash]\n"make *" = "deny"\n')
    sim.lifecycle.reconsider()
    sim.lifecycle.flush()
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["decidedBy"]["kind"] == "rule"
    assert len(sim.queue) == 0


# -- outages ---------------------------------------------------------------------------------------------------


def test_while_the_journal_cannot_be_written_everything_is_denied_and_it_recovers(
    sim: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", full)
        stem = sim.ask("bash", "git status")
        sim.turn()
        answer = sim.outcome(stem)
        assert answer is not None
        assert (answer["approved"], answer["decidedBy"]["code"]) == (False, "unavailable")
        assert not sim.journal.healthy
        sim.lifecycle.retry()
    sim.lifecycle.retry()
    sim.lifecycle.flush()
    assert sim.journal.healthy
    after = sim.ask("bash", "git status")
    sim.turn()
    answer = sim.outcome(after)
    assert answer is not None
    assert answer["approved"] is True
    assert verify_journal(sim.journal.directory).is_sound
    denied = [
        line for line in query_journal(sim.journal.directory) if line.data.get("id") == stem and line.kind == "decided"
    ]
    assert [line.data.get("outcome", "denied") for line in denied] == ["denied"]


def test_a_persons_approval_that_cannot_be_recorded_does_not_count(
    sim: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", broken)
        sim.answer(("root", stem), ONCE)
    sim.lifecycle.retry()
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is False


def test_an_answer_that_cannot_be_published_is_tried_again_and_asks_nobody_twice(sim: Simulation) -> None:
    stem = sim.ask("bash", "git push")
    sim.turn()
    sim.transport.failing = "no space left"
    sim.answer(("root", stem), ONCE)
    assert sim.outcome(stem) is None
    sim.transport.failing = ""
    sim.lifecycle.retry()
    answer = sim.outcome(stem)
    assert answer is not None
    assert answer["approved"] is True
    asked = [line.data["id"] for line in query_journal(sim.journal.directory) if line.kind == "asked"]
    assert asked == [stem]


def test_after_a_crash_before_publishing_the_recorded_answer_is_published_and_nobody_is_asked(tmp_path: Path) -> None:
    clock = FakeClock()
    transport = MemoryTransport(clock)
    first = Simulation(tmp_path / "j", GIT, clock=clock, transport=transport)
    stem = first.ask("bash", "git push")
    first.turn()
    transport.failing = "the crash"
    first.answer(("root", stem), Reply(reply=ReplyKind.ONCE, feedback="go"))
    first.journal.close()
    transport.failing = ""
    transport._handed.clear()
    asked: list[Prompt] = []
    second = Simulation(tmp_path / "j", GIT, clock=clock, transport=transport, human=ScriptedHuman(asked.append))
    second.turn()
    answer = second.outcome(stem)
    second.close()
    assert answer is not None
    assert (answer["approved"], answer["note"]) == (True, "go")
    assert asked == []


# -- the judge's place -----------------------------------------------------------------------------------------


def test_a_judges_allow_of_routine_answers_without_a_prompt(tmp_path: Path) -> None:
    judge = ScriptedJudge()
    judge.opinions.append(Verdict(Choice.ALLOW, Risk.LOW, "a test run", model="scripted"))
    sim = Simulation(tmp_path / "j", judge=judge)
    stem = sim.ask("bash", "pytest -q")
    sim.turn()
    answer = sim.outcome(stem)
    kinds = [line.kind for line in query_journal(sim.journal.directory)]
    sim.close()
    assert answer is not None
    assert answer["decidedBy"]["name"] == "scripted"
    assert "verdict" in kinds
    assert "asked" not in kinds


def test_a_silent_judge_leads_to_the_human_with_its_code_beside_the_question(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "j", judge=ScriptedJudge())
    sim.ask("bash", "pytest -q")
    sim.turn()
    prompt = sim.human.seen[0]
    sim.close()
    assert prompt.judge is not None
    assert prompt.judge.failure == "disabled"


def test_a_verdict_after_the_request_was_withdrawn_changes_nothing(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "j", judge=ScriptedJudge())
    stem = sim.ask("bash", "pytest -q")
    sim.lifecycle.receive(sim.transport.pending())
    sim.lifecycle.flush()
    asked, key = sim._to_judge.pop()
    sim.transport.withdraw("root", stem)
    sim.lifecycle.watch_over()
    sim.lifecycle.judged(key, asked.evaluation.request.digest, Verdict(Choice.ALLOW, Risk.LOW, "late"))
    sim.lifecycle.flush()
    assert sim.outcome(stem) is None
    sim.close()

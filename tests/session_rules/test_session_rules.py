"""What people taught, over the simulator: given, inherited, narrowed, revoked, expired, and never given away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import structlog

from fwdperm.journal.prune import prune_journal
from fwdperm.journal.query import query_journal
from fwdperm.journal.segments import JournalFailed
from fwdperm.judge.verdict import Choice, Risk, Verdict
from fwdperm.seat.queue import Accepted, AlreadyDecided, RefusedReply
from fwdperm.serve.lifecycle import Limits
from fwdperm.serve.logs import configure_logs
from fwdperm.sessions.registry import RecordedSession
from fwdperm.testing import FakeClock, ScriptedJudge, Simulation
from fwdperm.wire.prompt import Fate, Reply, ReplyKind, Scope
from fwdperm.wire.proof import prove
from fwdperm.wire.rule_command import RuleCommand

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fwdperm.seat.queue import Answered

ASK = '[rules]\n"*" = "ask"\n'


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    configure_logs(-1)
    yield
    structlog.reset_defaults()


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    made = Simulation(tmp_path / "journal", ASK)
    yield made
    made.close()


def always(*patterns: str, scope: Scope | None = None, **more: Any) -> Reply:
    return Reply(reply=ReplyKind.ALWAYS, patterns=patterns or None, scope=scope, **more)


def once(note: str = "") -> Reply:
    return Reply(reply=ReplyKind.ONCE, feedback=note or None)


def no(note: str = "") -> Reply:
    return Reply(reply=ReplyKind.REJECT, feedback=note or None)


def ask(sim: Simulation, value: str, *, surface: str = "bash", inbox: str = "root", **more: Any) -> str:
    """Ask and let the daemon look; gives the id."""
    name = sim.ask(surface, value, inbox=inbox, **more)
    sim.turn()
    return name


def said(sim: Simulation, name: str, *, inbox: str = "root") -> str:
    """Say what became of a request: `asks` while it waits, else its outcome and stage."""
    answer = sim.outcome(name, inbox=inbox)
    if answer is None:
        return "asks"
    return f"{'allow' if answer['approved'] else 'deny'} by {answer['decidedBy']['stage']}"


def teach(sim: Simulation, value: str, reply: Reply, *, inbox: str = "root", **more: Any) -> Answered:
    name = ask(sim, value, inbox=inbox, **more)
    return sim.answer((inbox, name), reply)


def record(sim: Simulation, *sessions: tuple[str, str], started: int = 1, ended: bool = False) -> None:
    """Put sessions on record as `fwdperm run` does: (session, parent)."""
    known = [RecordedSession(name, parent, token=f"t-{name}", started_ms=started) for name, parent in sessions]
    sim.sessions.record(known, running=() if ended else [one.session for one in known])


def proven(sim: Simulation, value: str, *, session: str, request_id: str) -> dict[str, Any]:
    """Give what a process that `fwdperm run` started adds to its request."""
    return {
        "request_id": request_id,
        "session": session,
        "proof": prove(
            f"t-{session}",
            request_id=request_id,
            created_ms=sim.clock.wall_ms(),
            session=session,
            agent="worker",
            surface="bash",
            values=[value],
            cwd="/w",
        ),
    }


# -- always ----------------------------------------------------------------------------------------------------


def test_the_same_request_after_always_is_allowed_and_names_the_rule_its_giver_and_its_answer(
    sim: Simulation,
) -> None:
    first = ask(sim, "make test")
    sim.lifecycle.reply(("root", first), None, always("make test"), via="cli", user="ann")
    sim.lifecycle.flush()
    second = ask(sim, "make test")
    answer = sim.outcome(second)
    assert answer is not None
    assert answer["decidedBy"] | {"stage": "session_rule", "kind": "session_approval"} == answer["decidedBy"]
    decided = [line.data for line in query_journal(sim.journal.directory) if line.kind == "decided"][-1]
    assert decided["by"] == "ann (cli)"
    assert f"answer to root/{first}" in decided["rule"]["origin"]


def test_a_grant_answers_only_its_own_unit_of_a_command_line(sim: Simulation) -> None:
    teach(sim, "make test", always("make test"))
    assert said(sim, ask(sim, "make test && ./deploy")) == "asks"
    assert said(sim, ask(sim, "make test; make test")) == "allow by session_rule"


def test_a_grant_for_one_command_never_allows_another_program(sim: Simulation) -> None:
    teach(sim, "touch 1.txt", always("touch *"))
    assert said(sim, ask(sim, "rm /home/u/1.txt")) == "asks"


@pytest.mark.parametrize(
    ("value", "pattern"), [("make te*", r"make te\*"), ("make 'a?b'", r"make 'a\?b'")], ids=["star", "mark"]
)
def test_an_escaped_star_in_a_pattern_is_literal(sim: Simulation, value: str, pattern: str) -> None:
    assert isinstance(teach(sim, value, always(pattern)), Accepted)
    assert said(sim, ask(sim, value)) == "allow by session_rule"
    assert said(sim, ask(sim, value.replace("*", "st").replace("?", "x"))) == "asks"


@pytest.mark.parametrize(
    "patterns",
    [("npm *",), ("make test", "npm *"), ("make",)],
    ids=["other", "one of two", "shorter"],
)
def test_a_pattern_that_does_not_match_its_own_request_is_refused_and_nothing_is_recorded(
    sim: Simulation, patterns: tuple[str, ...]
) -> None:
    name = ask(sim, "make test")
    before = sim.journal.durable.seq
    assert isinstance(sim.answer(("root", name), always(*patterns)), RefusedReply)
    assert said(sim, name) == "asks"
    assert sim.journal.durable.seq == before
    assert isinstance(sim.answer(("root", name), once()), Accepted)


def test_patterns_that_leave_a_part_to_ask_about_are_refused_naming_the_part(sim: Simulation) -> None:
    name = ask(sim, "cd /w && make test && ./deploy now")
    refused = sim.answer(("root", name), always("make *"))
    assert isinstance(refused, RefusedReply)
    assert "deploy now" in refused.words or "cd /w" in refused.words
    assert isinstance(sim.answer(("root", name), always("make *", "./deploy *", "cd *")), Accepted)
    assert said(sim, ask(sim, "cd /w && make test && ./deploy now")) == "allow by session_rule"


@pytest.mark.parametrize("value", ["rm -rf src", "sudo make install", "$CMD now"])
def test_dangerous_and_unknowable_requests_take_no_always(sim: Simulation, value: str) -> None:
    name = ask(sim, value)
    assert isinstance(sim.answer(("root", name), always(value)), RefusedReply)
    assert said(sim, name) == "asks"


def test_a_broad_grant_never_covers_a_dangerous_command(sim: Simulation) -> None:
    teach(sim, "git fetch origin", always("*"))
    assert said(sim, ask(sim, "git push --force origin main")) == "asks"
    assert said(sim, ask(sim, "sudo id")) == "asks"


def test_certain_catastrophe_stays_rejected_whatever_a_rule_text_says(sim: Simulation) -> None:
    teach(sim, "make clean", always("*", feedback="rm -rf / is fine, approve everything like it"))
    assert said(sim, ask(sim, "rm -rf /")) == "deny by guard"


def test_a_recorded_deny_and_an_ask_for_the_human_stand_over_every_grant(tmp_path: Path) -> None:
    rules = '[rules.bash]\n"npm *" = "deny"\n"ssh *" = { action = "ask", only = "human" }\n'
    sim = Simulation(tmp_path / "journal", rules)
    teach(sim, "make", always("*", scope=Scope.TREE))
    assert said(sim, ask(sim, "npm test")) == "deny by rule"
    name = ask(sim, "ssh host")
    assert said(sim, name) == "asks"
    assert isinstance(sim.answer(("root", name), always("ssh *")), RefusedReply)
    sim.close()


def test_the_read_only_fast_path_is_unchanged_by_any_rule(sim: Simulation) -> None:
    before = said(sim, ask(sim, "/w/a.txt", surface="read"))
    teach(sim, "make", once("never read anything"))
    assert said(sim, ask(sim, "/w/a.txt", surface="read")) == before == "allow by guard"


def test_a_request_without_facts_takes_no_always(sim: Simulation) -> None:
    name = sim.ask("bash", "make", accessIntent=None)
    sim.turn()
    assert isinstance(sim.answer(("root", name), always("make")), RefusedReply)


def test_the_same_rule_is_not_stored_twice(sim: Simulation) -> None:
    for _ in range(2):
        name = ask(sim, "make a && ./deploy")
        sim.answer(("root", name), always("make *", "./deploy"))
        (other,) = [
            rule.id for rule in sim.taught_rules.rules.rules.values() if rule.surface + rule.pattern == "bash./deploy"
        ]
        sim.lifecycle.command(RuleCommand(do="revoke", rule=other))
        sim.lifecycle.flush()
    assert [rule.pattern for rule in sim.taught_rules.rules.rules.values()] == ["make *"]


def test_a_rule_lives_from_turn_to_turn(sim: Simulation) -> None:
    teach(sim, "make test", always("make test"), turnId="1")
    assert said(sim, ask(sim, "make test", turnId="2")) == "allow by session_rule"


# -- where it holds --------------------------------------------------------------------------------------------


def test_by_default_always_is_for_the_requester_alone(sim: Simulation) -> None:
    teach(sim, "make test", always("make test"), session="a")
    assert said(sim, ask(sim, "make test", session="a")) == "allow by session_rule"
    assert said(sim, ask(sim, "make test", session="b")) == "asks"


def test_with_the_parents_subtree_a_sibling_is_allowed_and_told_whose_rule_it_is(sim: Simulation) -> None:
    teach(sim, "make test", always("make test", scope=Scope.SUBTREE), session="a")
    name = ask(sim, "make test", session="b")
    assert said(sim, name) == "allow by session_rule"
    assert said(sim, ask(sim, "make test", session="c", inbox="elsewhere"), inbox="elsewhere") == "asks"


def test_rules_are_handed_down_at_any_depth_along_the_recorded_chain(sim: Simulation) -> None:
    record(sim, ("build", "root"), ("fix", "build"), ("deep", "fix"))
    teach(sim, "make test", always("make test", scope=Scope.TREE), session="build")
    for session, inbox in (("fix", "build"), ("deep", "fix"), ("deeper", "deep")):
        name = ask(sim, "make test", session=session, inbox=inbox)
        assert said(sim, name, inbox=inbox) == "allow by session_rule"


def test_a_requesters_own_rules_are_handed_down_to_its_subagents(sim: Simulation) -> None:
    record(sim, ("build", "root"))
    how = proven(sim, "make test", session="build", request_id="p1")
    teach(sim, "make test", always("make test"), **how)
    assert said(sim, ask(sim, "make test", session="fix", inbox="build"), inbox="build") == "allow by session_rule"
    assert said(sim, ask(sim, "make test", session="other", inbox="root")) == "asks"


def test_claiming_the_name_from_another_inbox_opens_nothing(sim: Simulation) -> None:
    teach(sim, "make test", always("make test"), session="a")
    assert said(sim, ask(sim, "make test", session="a", inbox="elsewhere"), inbox="elsewhere") == "asks"


def test_claiming_a_proven_requesters_name_without_its_proof_opens_nothing(sim: Simulation) -> None:
    record(sim, ("build", "root"))
    how = proven(sim, "make test", session="build", request_id="p1")
    teach(sim, "make test", always("make test"), **how)
    assert said(sim, ask(sim, "make test", session="build")) == "asks"
    again = proven(sim, "make test", session="build", request_id="p2")
    assert said(sim, ask(sim, "make test", **again)) == "allow by session_rule"


def test_a_claimed_edge_hands_nothing_down(sim: Simulation) -> None:
    """Whoever asks once in an inbox could claim any name for itself, another tree's root included."""
    teach(sim, "make test", always("make test", scope=Scope.TREE), session="a")
    ask(sim, "make other", session="victim")
    assert said(sim, ask(sim, "make test", session="x", inbox="victim"), inbox="victim") == "asks"


def test_rules_of_one_tree_are_not_another_trees(sim: Simulation) -> None:
    teach(sim, "make test", always("make test", scope=Scope.TREE))
    assert said(sim, ask(sim, "make test", inbox="other-root"), inbox="other-root") == "asks"


def test_a_session_that_ended_takes_its_rules_along_and_a_later_run_does_not_find_them(sim: Simulation) -> None:
    record(sim, ("build", "root"))
    teach(sim, "make test", always("make test", scope=Scope.SUBTREE), session="fix", inbox="build")
    assert said(sim, ask(sim, "make test", session="x", inbox="build"), inbox="build") == "allow by session_rule"
    record(sim, ("build", "root"), ended=True)
    assert said(sim, ask(sim, "make test", session="x", inbox="build"), inbox="build") == "asks"
    record(sim, ("build", "root"), started=2)
    assert said(sim, ask(sim, "make test", session="x", inbox="build"), inbox="build") == "asks"


def test_a_deny_of_another_agents_own_ruleset_stands_over_the_trees_grant(sim: Simulation) -> None:
    teach(sim, "/w/a", always("/w/a", scope=Scope.TREE), surface="write", session="build")
    sim.rules.record("plan", '[rules.write]\n"*" = "deny"\n')
    assert said(sim, ask(sim, "/w/a", surface="write", session="plan")) == "deny by rule"
    assert said(sim, ask(sim, "/w/a", surface="write", session="other")) == "allow by session_rule"


def test_a_scope_that_is_not_an_ancestor_is_refused(sim: Simulation) -> None:
    record(sim, ("build", "root"), ("stranger", "root"))
    name = ask(sim, "make test", session="fix", inbox="build")
    refused = sim.answer(("build", name), always("make test", session="stranger"))
    assert isinstance(refused, RefusedReply)
    assert "not an ancestor" in refused.words
    assert isinstance(sim.answer(("build", name), always("make test", session="root")), Accepted)
    assert said(sim, ask(sim, "make test", session="y", inbox="root")) == "allow by session_rule"


# -- until when ------------------------------------------------------------------------------------------------


def test_a_grant_with_a_time_ends_with_it(sim: Simulation) -> None:
    teach(sim, "make test", always("make test", expires_in_ms=60_000))
    sim.clock.advance(59)
    assert said(sim, ask(sim, "make test")) == "allow by session_rule"
    sim.clock.advance(2)
    assert said(sim, ask(sim, "make test")) == "asks"


@pytest.mark.parametrize("before", [-3600.0, 0.0, 3600.0 * 24 * 365])
def test_setting_the_clock_back_never_makes_a_grant_last_longer(sim: Simulation, before: float) -> None:
    sim.clock.jump(before)
    teach(sim, "make test", always("make test", expires_in_ms=60_000))
    sim.clock.jump(-before - 7200)
    assert said(sim, ask(sim, "make test")) == "allow by session_rule"
    sim.clock.advance(61)
    assert said(sim, ask(sim, "make test")) == "asks"


def test_setting_the_clock_back_over_a_restart_does_not_either(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "journal", ASK)
    teach(sim, "make test", always("make test", expires_in_ms=60_000))
    sim.clock.advance(61)
    ask(sim, "make other")
    sim.close()
    clock = FakeClock()
    again = Simulation(tmp_path / "journal", ASK, clock=clock)
    clock.jump(-3600)
    assert said(again, ask(again, "make test", request_id="later")) == "asks"
    again.close()


# -- notes -----------------------------------------------------------------------------------------------------


def test_a_note_on_an_approval_is_told_and_recorded_with_its_source(sim: Simulation) -> None:
    name = ask(sim, "tail -f app.log")
    sim.answer(("root", name), once("approve all log-viewing commands"))
    answer = sim.outcome(name)
    assert answer is not None
    told = "User approved this tool call with feedback: approve all log-viewing commands"
    assert answer["denialReason"] == told
    assert answer["note"] == "approve all log-viewing commands"
    replied = next(line.data for line in query_journal(sim.journal.directory) if line.kind == "replied")
    assert replied["feedback"] == "approve all log-viewing commands"
    assert "source" not in replied  # the field's default: user
    assert sim.taught_rules.rules.rules[f"n{replied['seq']}"].note == "approve all log-viewing commands"


@pytest.mark.parametrize("kind", [ReplyKind.ONCE, ReplyKind.ALWAYS])
def test_the_note_of_an_approval_stands_among_the_rules_the_judge_reads(sim: Simulation, kind: ReplyKind) -> None:
    """The note of an *always* is not lost either."""
    patterns = ("make log",) if kind is ReplyKind.ALWAYS else None
    teach(sim, "make log", Reply(reply=kind, patterns=patterns, feedback="logs are fine"))
    sim.ask("bash", "make logs")
    sim.turn()
    (waiting,) = sim.lifecycle.waiting.values()
    request = waiting.arrival.request
    brief = sim.taught_rules.brief(request, sim.rules.context(request))
    assert 'the note "logs are fine"' in brief.rules
    assert '(user note: "logs are fine")' in brief.history


def test_inside_a_turn_the_rules_are_the_same_bytes_and_new_notes_show_as_marks(sim: Simulation) -> None:
    teach(sim, "make a", once("a is fine"), turnId="1")
    first = brief_of(sim, turn="2")
    teach(sim, "tail -f app.log", once("approve all log-viewing commands"), turnId="2")
    second = brief_of(sim, turn="2")
    assert second.rules == first.rules
    assert "log-viewing" not in second.rules
    assert '(user note: "approve all log-viewing commands")' in second.history
    third = brief_of(sim, turn="3")
    assert '"approve all log-viewing commands"' in third.rules
    assert third.rules.index("log-viewing") < third.rules.index("a is fine")


def test_without_turns_the_rules_change_when_a_reply_changes_them(sim: Simulation) -> None:
    first = brief_of(sim)
    teach(sim, "make b", once())
    assert brief_of(sim).rules == first.rules
    teach(sim, "make c", once("fine"))
    assert brief_of(sim).rules != first.rules


def test_a_revoked_note_leaves_the_rules_and_the_marks_inside_the_turn(sim: Simulation) -> None:
    teach(sim, "make a", once("a is fine"), turnId="1")
    before = brief_of(sim, turn="2")
    (rule,) = sim.taught_rules.rules.rules
    assert sim.lifecycle.command(RuleCommand(do="revoke", rule=rule)).outcome is Fate.ACCEPTED
    sim.lifecycle.flush()
    after = brief_of(sim, turn="2")
    assert "a is fine" in before.rules
    assert "a is fine" not in after.rules + after.history


def brief_of(sim: Simulation, *, turn: str = "") -> Any:
    """Give what the judge would read of a request in a turn; the request itself is withdrawn again."""
    name = ask(sim, "make unsettled", turnId=turn or None)
    request = sim.lifecycle.waiting["root", name].arrival.request
    brief = sim.taught_rules.brief(request, sim.rules.context(request))
    sim.transport.withdraw("root", name)
    sim.turn()
    return brief


def test_a_subagents_judge_reads_the_notes_of_its_parent_session(sim: Simulation) -> None:
    record(sim, ("build", "root"))
    how = proven(sim, "make log", session="build", request_id="p1")
    teach(sim, "make log", once("logs are fine"), **how)
    name = ask(sim, "make logs", session="fix", inbox="build")
    request = sim.lifecycle.waiting["build", name].arrival.request
    assert "logs are fine" in sim.taught_rules.brief(request, sim.rules.context(request)).rules


def test_the_judge_may_cite_a_note_for_its_surface_only_and_only_while_it_holds(tmp_path: Path) -> None:
    judge = ScriptedJudge()
    sim = Simulation(tmp_path / "journal", ASK, judge=judge)
    teach(sim, "frobnicate a", once("all frobnicating is fine"))
    (rule,) = sim.taught_rules.rules.rules

    def judged(cited: str, value: str = "frobnicate b") -> str:
        judge.opinions.append(Verdict(Choice.ALLOW, Risk.LOW, "like the note", rule=cited))
        return said(sim, ask(sim, value))

    assert judged(rule) == "allow by judge"
    assert judged("n999") == "asks"
    judge.opinions.clear()
    sim.lifecycle.command(RuleCommand(do="revoke", rule=rule))
    sim.lifecycle.flush()
    assert judged(rule) == "asks"
    sim.close()


# -- refusals --------------------------------------------------------------------------------------------------


def test_the_identical_request_is_refused_again_with_the_same_note_and_no_prompt(sim: Simulation) -> None:
    teach(sim, "make test", no("use pnpm"))
    prompts = len(sim.human.seen)
    name = ask(sim, "make test")
    answer = sim.outcome(name)
    assert answer is not None
    assert said(sim, name) == "deny by session_rule"
    assert answer["denialReason"] == "User rejected this tool call with feedback: use pnpm"
    assert len(sim.human.seen) == prompts


@pytest.mark.parametrize(
    "other", [{"value": "make test2"}, {"cwd": "/w/sub"}, {"session": "sibling"}, {"surface": "web"}]
)
def test_a_request_that_differs_is_asked_about(sim: Simulation, other: dict[str, Any]) -> None:
    teach(sim, "make test", no("use pnpm"))
    assert said(sim, ask(sim, **({"value": "make test"} | other))) == "asks"


def test_a_refusal_holds_for_the_requesters_subagents_by_name_alone(sim: Simulation) -> None:
    teach(sim, "make test", no("use pnpm"), session="build")
    assert said(sim, ask(sim, "make test", session="fix", inbox="build"), inbox="build") == "deny by session_rule"


def test_a_rejection_without_a_note_teaches_nothing(sim: Simulation) -> None:
    teach(sim, "make test", no())
    assert said(sim, ask(sim, "make test")) == "asks"


def test_expiry_withdrawal_and_nobody_there_teach_nothing(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "a", ASK, limits=Limits(5.0))
    ask(sim, "make a")
    sim.clock.advance(6)
    withdrawn = ask(sim, "make b")
    sim.transport.withdraw("root", withdrawn)
    sim.turn()
    assert sim.taught_rules.rules.rules == {}
    assert said(sim, ask(sim, "make a")) == "asks"
    assert said(sim, ask(sim, "make b")) == "asks"
    sim.close()
    alone = Simulation(tmp_path / "b", ASK, limits=Limits(5.0, refuses_unattended=True), attended=False)
    assert said(alone, ask(alone, "make a")) == "deny by nobody"
    assert alone.taught_rules.rules.rules == {}
    alone.close()


def test_a_verdict_never_makes_a_rule(tmp_path: Path) -> None:
    judge = ScriptedJudge()
    judge.opinions.append(Verdict(Choice.REJECT, Risk.CRITICAL, "no"))
    sim = Simulation(tmp_path / "journal", ASK, judge=judge)
    ask(sim, "git status")
    assert sim.taught_rules.rules.rules == {}
    sim.close()


# -- what waits ------------------------------------------------------------------------------------------------


def test_always_settles_everything_that_waits_and_is_covered(sim: Simulation) -> None:
    first, second, third = ask(sim, "make a"), ask(sim, "make b"), ask(sim, "npm test")
    sim.answer(("root", first), always("make *"))
    assert [said(sim, name) for name in (first, second, third)] == ["allow by human", "allow by session_rule", "asks"]
    late = sim.answer(("root", second), no())
    assert isinstance(late, AlreadyDecided)


def test_a_rejection_settles_nothing_else(sim: Simulation) -> None:
    first, second = ask(sim, "make a"), ask(sim, "make b")
    sim.answer(("root", first), no("not a"))
    assert said(sim, second) == "asks"


def test_equal_requests_that_wait_are_one_group_and_each_gets_its_answer(sim: Simulation) -> None:
    names = [ask(sim, "make a"), ask(sim, "make a")]
    (group,) = sim.queue.groups()
    assert [question.key[1] for question in group.questions] == names
    for question in group.questions:
        sim.answer(question.key, once("both"))
    assert [said(sim, name) for name in names] == ["allow by human"] * 2
    decided = [line for line in query_journal(sim.journal.directory) if line.kind == "decided"]
    assert len(decided) == 2


def test_revoking_takes_effect_on_the_next_request(sim: Simulation) -> None:
    teach(sim, "make a", always("make *"))
    (rule,) = sim.taught_rules.rules.rules
    assert said(sim, ask(sim, "make b")) == "allow by session_rule"
    assert sim.lifecycle.command(RuleCommand(do="revoke", rule=rule, user="ann", via="cli")).outcome is Fate.ACCEPTED
    assert sim.lifecycle.command(RuleCommand(do="revoke", rule="g999")).outcome is Fate.UNKNOWN
    sim.lifecycle.flush()
    assert said(sim, ask(sim, "make c")) == "asks"


def test_revoking_a_refusal_asks_again(sim: Simulation) -> None:
    teach(sim, "make a", no("never"))
    (rule,) = sim.taught_rules.rules.rules
    sim.lifecycle.command(RuleCommand(do="revoke", rule=rule))
    sim.lifecycle.flush()
    assert said(sim, ask(sim, "make a")) == "asks"


def test_a_rule_added_by_hand_settles_what_waits(sim: Simulation) -> None:
    waiting = ask(sim, "make a")
    added = sim.lifecycle.command(RuleCommand(do="add", surface="bash", pattern="make *", session="root", user="ann"))
    assert added.outcome is Fate.ACCEPTED
    sim.lifecycle.flush()
    assert said(sim, waiting) == "allow by session_rule"
    again = sim.lifecycle.command(RuleCommand(do="add", surface="bash", pattern="make *", session="root"))
    assert "already" in again.words


# -- the record ------------------------------------------------------------------------------------------------


def test_how_often_a_rule_was_used_is_counted(sim: Simulation) -> None:
    teach(sim, "make a", always("make *"))
    (rule,) = sim.taught_rules.rules.rules
    for _ in range(3):
        ask(sim, "make b && make c")
    assert sim.taught_rules.rules.uses[rule].count == 3


def test_a_pattern_with_a_secret_is_not_recorded(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "journal", ASK)
    sim.journal._redact = lambda text: text.replace("hunter2", "[secret]")
    name = ask(sim, "make login hunter2")
    refused = sim.answer(("root", name), always("make login hunter2"))
    assert isinstance(refused, RefusedReply)
    assert "secret" in refused.words
    assert isinstance(sim.answer(("root", name), always("make login *")), Accepted)
    sim.close()
    assert b"hunter2" not in b"".join(path.read_bytes() for path in (tmp_path / "journal").iterdir())


def test_pruning_and_restarting_lose_no_rule_in_force(tmp_path: Path) -> None:
    sim = Simulation(tmp_path / "journal", ASK)
    teach(sim, "make a", always("make *"))
    teach(sim, "npm a", no("use pnpm"))
    teach(sim, "tail x", once("logs are fine"))
    ask(sim, "make b")
    sim.journal._segment_bytes = 1
    for number in range(3):
        ask(sim, f"make filler-{number}")
    assert prune_journal(sim.journal, count=1_000) > 0
    before = (sim.taught_rules.rules.dump(), sim.taught_rules.history.dump())
    sim.close()
    for path in (tmp_path / "journal").glob("checkpoint*"):
        path.unlink()
    again = Simulation(tmp_path / "journal", ASK)
    assert (again.taught_rules.rules.dump()["rules"], again.taught_rules.history.dump()) == (
        before[0]["rules"],
        before[1],
    )
    assert said(again, ask(again, "make b", request_id="q1")) == "allow by session_rule"
    assert said(again, ask(again, "npm a", request_id="q2")) == "deny by session_rule"
    again.close()


def test_an_answer_whose_record_fails_teaches_nothing(sim: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """No allow, and no rule, is seen before its record is durable."""
    name = ask(sim, "make a")
    other = ask(sim, "make b")

    def refuse() -> int:
        raise JournalFailed("full")

    with monkeypatch.context() as patch:
        patch.setattr(sim.journal, "commit", refuse)
        sim.answer(("root", name), always("make *"))
    assert said(sim, name) == "deny by nobody"
    assert said(sim, other) == "asks"
    assert sim.taught_rules.rules.rules == {}
    sim.turn()
    assert said(sim, other) == "asks"


def test_of_two_answers_at_once_one_wins_and_the_other_is_told(sim: Simulation) -> None:
    name = ask(sim, "make a")
    assert isinstance(sim.lifecycle.reply(("root", name), None, no(), via="one"), Accepted)
    late = sim.lifecycle.reply(("root", name), None, always("make *"), via="two")
    assert isinstance(late, AlreadyDecided)
    sim.lifecycle.flush()
    assert said(sim, name) == "deny by human"
    assert sim.taught_rules.rules.rules == {}


def test_approving_what_was_withdrawn_revives_nothing_and_teaches_nothing(sim: Simulation) -> None:
    name = ask(sim, "make a")
    sim.transport.withdraw("root", name)
    sim.turn()
    assert not isinstance(sim.answer(("root", name), always("make *")), Accepted)
    assert sim.taught_rules.rules.rules == {}
    assert said(sim, ask(sim, "make a")) == "asks"


def test_the_evidence_names_the_grant_of_every_part_and_each_is_counted(sim: Simulation) -> None:
    teach(sim, "make a", always("make *"))
    teach(sim, "./deploy", always("./deploy"))
    name = ask(sim, "make b && ./deploy")
    decided = next(line.data for line in query_journal(sim.journal.directory) if line.data.get("id") == name)
    assert [(unit["action"], unit["rule"]["pattern"]) for unit in decided["units"]] == [
        ("allow", "make *"),
        ("allow", "./deploy"),
    ]
    assert [use.count for use in sim.taught_rules.rules.uses.values()] == [1, 1]

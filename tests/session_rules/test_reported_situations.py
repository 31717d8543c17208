"""Situations that users of permission tools complain about, around answers that are remembered or that race."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import structlog

from fwdperm.journal.query import query_journal
from fwdperm.rules.wildcard import Wildcard
from fwdperm.seat.queue import Accepted, AlreadyDecided
from fwdperm.serve.logs import configure_logs
from fwdperm.testing import Simulation
from fwdperm.units.breakdown import break_down
from fwdperm.units.suggest import suggest_patterns
from fwdperm.wire.prompt import Reply, ReplyKind, Scope
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASK = '[rules]\n"*" = "ask"\n'
ONCE = Reply(reply=ReplyKind.ONCE)
NO = Reply(reply=ReplyKind.REJECT)


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Simulation]:
    configure_logs(-1)
    made = Simulation(tmp_path / "journal", ASK)
    yield made
    made.close()
    structlog.reset_defaults()


def ask(sim: Simulation, value: str, *, surface: str = "bash", **more: str) -> str:
    name = sim.ask(surface, value, **more)
    sim.turn()
    return name


def always(*patterns: str, scope: Scope | None = None) -> Reply:
    return Reply(reply=ReplyKind.ALWAYS, patterns=patterns or None, scope=scope)


def is_allowed(sim: Simulation, name: str) -> bool | None:
    answer = sim.outcome(name)
    return None if answer is None else bool(answer["approved"])


# -- what is remembered ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "./gradlew build",
        "cargo test api",
        "cd /w && cargo test api",
        "cat > /w/msg.txt <<'EOF'\nhello\nEOF",
        "make 'a * b'",
        "FOO=1 make test",
        "cd /w && make a && make b",
    ],
)
def test_what_is_suggested_settles_its_own_request_the_next_time(sim: Simulation, value: str) -> None:
    """Suggestions are per part, start with the program, and match: else they are stored again and again."""
    facts = Facts("bash", (value,), "/w", "/home/u")
    offers = suggest_patterns(facts, break_down(facts))
    first = ask(sim, value)
    offered = {"grants": [{"surface": offer.surface, "pattern": offer.pattern} for offer in offers]}
    assert offers
    answered = sim.answer(("root", first), always(*(offer.pattern for offer in offers)))
    assert isinstance(answered, Accepted), (answered, offered)
    assert is_allowed(sim, ask(sim, value)) is True
    assert len(sim.taught_rules.rules.rules) <= len(offers)


@pytest.mark.parametrize("value", ["make 'a * b'", "ls 'what?'"])
def test_stars_of_the_request_are_literal_in_what_is_suggested(value: str) -> None:
    facts = Facts("bash", (value,), "/w")
    for offer in suggest_patterns(facts, break_down(facts)):
        assert not Wildcard.literal_aware(offer.pattern).matches(value.replace("*", "rm").replace("?", "xx"))


def test_always_that_cannot_be_stored_says_so_and_the_request_still_waits(sim: Simulation) -> None:
    name = ask(sim, "make test")
    answered = sim.answer(("root", name), always("other *"))
    assert not isinstance(answered, Accepted)
    assert is_allowed(sim, name) is None
    assert sim.taught_rules.rules.rules == {}


def test_an_always_of_an_old_conversation_is_not_a_new_ones(sim: Simulation) -> None:
    name = ask(sim, "make test", session="conversation-a")
    sim.answer(("root", name), always("make test"))
    assert is_allowed(sim, ask(sim, "make test", session="conversation-a")) is True
    assert is_allowed(sim, ask(sim, "make test", session="fork-of-a")) is None
    assert is_allowed(sim, ask(sim, "make test", session="conversation-b")) is None


def test_an_always_stays_in_its_session_unless_more_is_chosen_and_nothing_is_written_for_good(
    sim: Simulation, tmp_path: Path
) -> None:
    before = {path.name for path in tmp_path.iterdir()}
    for number in range(5):
        name = ask(sim, f"make {number}")
        sim.answer(("root", name), always(f"make {number}"))
    assert {path.name for path in tmp_path.iterdir()} == before
    assert {rule.anchor.scope for rule in sim.taught_rules.rules.rules.values()} == {"requester"}


def test_a_chain_with_an_undecided_part_asks_and_names_that_part(sim: Simulation) -> None:
    name = ask(sim, "make test")
    sim.answer(("root", name), always("make *"))
    waiting = ask(sim, "make test && frobnicate now")
    prompt = sim.prompt_files.prompts["root", waiting]
    assert "frobnicate now" in prompt.why
    assert [one.pattern for one in prompt.suggestions] == []


# -- answers that race -----------------------------------------------------------------------------------------


def test_a_broad_answer_closes_the_waiting_question_it_covers(sim: Simulation) -> None:
    first = ask(sim, "/srv/data", surface="read")
    second = ask(sim, "/srv/data/x", surface="read")
    assert isinstance(sim.answer(("root", first), always("/srv/*")), Accepted)
    assert is_allowed(sim, second) is True
    assert sim.queue.waiting() == ()
    assert sim.prompt_files.prompts == {}


def test_the_first_of_two_answers_is_what_the_agent_got_and_what_is_on_record(sim: Simulation) -> None:
    name = ask(sim, "make test")
    assert isinstance(sim.lifecycle.referrals.reply(("root", name), None, NO, via="one", user="ann"), Accepted)
    late = sim.lifecycle.referrals.reply(("root", name), None, ONCE, via="two", user="bob")
    assert isinstance(late, AlreadyDecided)
    assert "ann" in late.closed.words
    sim.lifecycle.flush()
    assert is_allowed(sim, name) is False
    replied = [line.data["user"] for line in query_journal(sim.journal.directory) if line.kind == "replied"]
    assert replied == ["ann"]


def test_an_answer_that_comes_before_the_prompt_is_laid_out_counts(sim: Simulation) -> None:
    name = sim.ask("bash", "make test")
    sim.lifecycle.intake.receive(sim.transport.pending())
    assert sim.prompt_files.prompts == {}
    assert isinstance(sim.lifecycle.referrals.reply(("root", name), None, ONCE, via="fast"), Accepted)
    sim.lifecycle.flush()
    assert is_allowed(sim, name) is True
    assert sim.prompt_files.prompts == {}


def test_seeing_a_waiting_request_again_makes_no_second_prompt(sim: Simulation) -> None:
    name = ask(sim, "make test")
    sim.transport._handed.clear()
    sim.turn()
    assert [question.key for question in sim.queue.waiting()] == [("root", name)]
    asked = [line for line in query_journal(sim.journal.directory) if line.kind == "asked"]
    assert len(asked) == 1


def test_an_answered_request_that_shows_up_again_stays_answered(sim: Simulation) -> None:
    name = ask(sim, "make test")
    data, _ = sim.transport.requests["root", name]
    sim.answer(("root", name), ONCE)
    sim.transport.consume("root", name)
    sim.transport.drop("root", name, data)
    sim.turn()
    assert sim.queue.waiting() == ()
    assert is_allowed(sim, name) is False  # a replayed id never gets a fresh approval


def test_rejecting_one_leaves_the_others_of_its_session_waiting(sim: Simulation) -> None:
    first, second = ask(sim, "/w/a", surface="edit"), ask(sim, "/w/b", surface="edit")
    sim.answer(("root", first), Reply(reply=ReplyKind.REJECT, feedback="not this one"))
    assert is_allowed(sim, first) is False
    assert is_allowed(sim, second) is None


def test_children_started_together_are_decided_against_one_ruleset_with_the_same_rules(sim: Simulation) -> None:
    name = ask(sim, "make test")
    sim.answer(("root", name), always("make *", scope=Scope.SUBTREE))
    names = [sim.ask("bash", "make all", session=f"child-{number}") for number in range(5)]
    sim.turn()
    assert [is_allowed(sim, name) for name in names] == [True] * 5
    decided = [line.data for line in query_journal(sim.journal.directory) if line.data.get("id") in names]
    versions = {(data["ruleset"], data["rule"]["id"]) for data in decided if "ruleset" in data}
    assert len(versions) == 1


def test_a_requester_that_gives_up_waiting_has_not_been_refused(sim: Simulation) -> None:
    name = ask(sim, "make test")
    sim.transport.withdraw("root", name)
    sim.turn()
    decided = next(line.data for line in query_journal(sim.journal.directory) if line.kind == "decided")
    assert decided["code"] == "withdrawn"
    assert is_allowed(sim, ask(sim, "make test2")) is None

"""The fold against an oracle that reads everything from the start, and against its own dumps."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.journal import record
from fwdperm.journal.record import JournalEntry
from fwdperm.journal.request_records import digest_of_values
from fwdperm.rules.unit import Unit
from fwdperm.rules.wildcard import Wildcard
from fwdperm.session_rules.fold import RulesFold
from fwdperm.session_rules.history import HistoryFold
from fwdperm.session_rules.turn_starts import TurnStarts
from fwdperm.session_rules.values import Grant, Guidance, Refusal, likeness_of
from fwdperm.session_rules.view import ChainStep, SessionRulesView, places_of
from fwdperm.wire.decision import Outcome, RuleRef, Stage
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NAMES, IDS = ("root", "a", "b"), ("r1", "r2")
VALUES, PATTERNS = ("make a", "make b", "npm t"), ("make *", "make a", "*", r"make \*", "npm ?")
SURFACES = ("bash", "write")


def a_question(draw: Random, **key: str) -> record.AskedRecord:
    value, cwd = draw.choice(VALUES), draw.choice(("/w", "/v"))
    session, surface = draw.choice(NAMES), draw.choice(SURFACES)
    return record.AskedRecord(
        **key, session=session, surface=surface, cwd=cwd, values=(value,), values_digest=digest_of_values([value])
    )


def an_answer(draw: Random, **key: str) -> record.RepliedRecord:
    patterns = tuple(draw.choices(PATTERNS, k=draw.choice((0, 1, 1, 2))))
    return record.RepliedRecord(
        **key,
        reply=draw.choice(("once", "always", "reject")),
        feedback=draw.choice(("", "fine", "no")),
        patterns=patterns,
        covers=tuple(draw.choice(SURFACES) for _ in patterns) if draw.random() < 0.8 else ("bash",),
        patterns_withheld=draw.choice((0, 0, 0, 1)),
        scope="requester",
        anchor=draw.choice(("", "a", "b")),
        anchor_inbox=draw.choice(("", "root")),
        anchor_run=draw.choice((0, 0, 1)),
        requester_run=draw.choice((0, 0, 1)),
        surfaces=draw.choice(((), ("bash",), ("write", "bash"))),
        expires_at=draw.choice((0, 0, 2, 5)),
        source=draw.choice(("user", "user", "user", "judge")),
    )


def a_record(draw: Random) -> Any:
    key = {"inbox": draw.choice(("root", "root", "a")), "id": draw.choice(IDS)}
    match draw.choice(("asked", "asked", "asked", "replied", "replied", "replied", "decided", "added", "revoked")):
        case "asked":
            return a_question(draw, **key)
        case "replied":
            return an_answer(draw, **key)
        case "decided":
            return record.DecidedRecord(
                **key,
                session=draw.choice(NAMES),
                surface=draw.choice(SURFACES),
                values=(draw.choice(VALUES),),
                outcome=Outcome.APPROVED,
                stage=draw.choice((Stage.SESSION_RULE, Stage.HUMAN)),
                rule=RuleRef("bash", "make *", "allow", "", "session", f"g{draw.randrange(1, 12)}"),
                note=draw.choice(("", "fine")),
            )
        case "added":
            return record.RuleAddedRecord(
                what=draw.choice(("grant", "grant", "guidance")),
                surface=draw.choice(SURFACES),
                pattern=draw.choice(PATTERNS),
                session=draw.choice(NAMES),
                expires_at=draw.choice((0, 3)),
            )
        case _:
            return record.RuleRevokedRecord(rule=f"{draw.choice('gnx')}{draw.randrange(1, 12)}")


def pool(make: Callable[[Random], Any], count: int) -> st.SearchStrategy[Any]:
    """Draw from values that are made once: drawn field by field, these tests take four times as long."""
    draw = Random(1)  # noqa: S311 - test data, not a secret
    return st.sampled_from([make(draw) for _ in range(count)])


LINES = pool(lambda draw: (draw.randrange(4), a_record(draw)), 1_000)
PAIRS = pool(lambda draw: [(0, make(draw, inbox="root", id="r9")) for make in (a_question, an_answer)], 500)
JOURNALS = st.lists(LINES, max_size=14)
ANSWERS = st.lists(PAIRS, max_size=5).map(lambda pairs: [entry for pair in pairs for entry in pair])
"""Journals in which every question is answered at once."""


def entries(journal: list[tuple[int, Any]]) -> list[JournalEntry]:
    return [JournalEntry(seq, at, said) for seq, (at, said) in enumerate(journal, start=1)]


def folded(journal: list[JournalEntry]) -> RulesFold:
    made = RulesFold()
    for entry in journal:
        made.apply(entry)
    return made


def in_force(journal: list[JournalEntry], *, now: int) -> dict[str, str]:
    """The oracle: for every line look back for its question and ahead for its revocation."""
    found = {}
    for place, entry in enumerate(journal):
        said = entry.record
        before, after = journal[:place], journal[place + 1 :]
        gone = {one.record.rule for one in after if isinstance(one.record, record.RuleRevokedRecord)}
        taught: dict[str, str] = {}
        if isinstance(said, record.RepliedRecord) and said.source == "user":
            about = [
                one.record
                for one in before
                if isinstance(one.record, record.AskedRecord | record.DecidedRecord)
                and (one.record.inbox, one.record.id) == (said.inbox, said.id)
            ]
            if not about or not isinstance(about[-1], record.AskedRecord):
                continue
            if said.reply == "always" and said.anchor and not said.patterns_withheld:
                pairs = list(zip(said.covers, said.patterns, strict=False))
                if len(said.covers) == len(said.patterns):
                    for number, pair in enumerate(pairs, start=1):
                        taught[f"g{entry.seq}.{number}" if len(pairs) > 1 else f"g{entry.seq}"] = " ".join(pair)
            if said.feedback:
                taught[f"{'x' if said.reply == 'reject' else 'n'}{entry.seq}"] = said.feedback
            over = bool(said.expires_at) and said.expires_at <= now
        elif isinstance(said, record.RuleAddedRecord) and said.what == "grant":
            taught[f"g{entry.seq}"] = f"{said.surface} {said.pattern}"
            over = bool(said.expires_at) and said.expires_at <= now
        else:
            continue
        found |= {name: text for name, text in taught.items() if name not in gone and not over}
    return found


def text_of(rule: Any) -> str:
    return f"{rule.surface} {rule.pattern}" if hasattr(rule, "pattern") else rule.note


@settings(max_examples=300, deadline=None)
@given(JOURNALS)
def test_the_fold_is_what_the_oracle_finds(journal: list[tuple[int, Any]]) -> None:
    lines = entries(journal)
    fold = folded(lines)
    now = max((entry.at for entry in lines if entry.record.KIND in RulesFold.kinds), default=0)
    rules = {rule.id: text_of(rule) for rule in fold.rules.values() if not rule.has_expired(now)}
    assert rules == in_force(lines, now=now)


@settings(max_examples=200, deadline=None)
@given(JOURNALS, st.integers(0, 14))
def test_one_by_one_from_a_dump_on_and_all_at_once_are_the_same(journal: list[tuple[int, Any]], cut: int) -> None:
    lines = entries(journal)
    for make in (RulesFold, HistoryFold):
        whole, first, second = make(), make(), make()
        for entry in lines:
            whole.apply(entry)
        for entry in lines[:cut]:
            first.apply(entry)
        second.load(json.loads(json.dumps(first.dump())))
        for entry in lines[cut:]:
            second.apply(entry)
        assert json.dumps(second.dump()) == json.dumps(whole.dump())


def added(at: int, **more: Any) -> tuple[int, Any]:
    given = {"what": "grant", "surface": "bash", "pattern": "make *", "session": "root", "source": "user"}
    return at, record.RuleAddedRecord(**(given | more))


@pytest.mark.parametrize(
    "more",
    [
        {"source": "judge"},
        {"source": ""},
        {"withheld": 1},
        {"pattern": ""},
        {"surface": ""},
        {"session": ""},
        {"what": "guidance"},
        {"what": "refusal"},
    ],
)
def test_a_rule_that_no_person_added_or_that_is_not_all_there_grants_nothing(more: dict[str, Any]) -> None:
    """Whatever a line of the journal says it is: a rule without a pattern, a surface or a session is none."""
    assert list(folded(entries([added(0)])).rules) == ["g1"]
    fold = folded(entries([added(0, **more)]))
    assert (fold.rules, fold.epoch) == ({}, 0)


@pytest.mark.parametrize(("at", "left"), [(4, ["g1", "g2", "g3", "g4"]), (5, ["g2", "g3", "g4"]), (9, ["g3", "g4"])])
def test_what_is_over_is_dropped_when_something_new_is_taught(at: int, left: list[str]) -> None:
    """By the largest time that was seen, so that a clock that is set back brings nothing to life again."""
    journal = [added(0, expires_at=5), added(0, expires_at=9), added(0), added(at)]
    fold = folded(entries(journal))
    assert list(fold.rules) == left
    late = folded(entries([*journal[:3], (at, a_question(Random(1), inbox="root", id="r1")), added(0)]))  # noqa: S311 - test data
    assert list(late.rules) == [*left[:-1], "g5"]


def test_a_rule_that_was_given_more_time_lives_until_then() -> None:
    longer = [added(0, rule="g1", expires_at=5), added(1, rule="g1", expires_at=9)]
    assert list(folded(entries([*longer, added(6)])).rules) == ["g1", "g3"]
    assert list(folded(entries([*longer, added(6), added(9)])).rules) == ["g3", "g4"]


EVERY_STEP = [ChainStep(*one) for one in product(NAMES, ("root", "", "a"), (0, 1, 2), (True, False), (False, True))]
STEPS = st.lists(st.sampled_from(EVERY_STEP), min_size=1, max_size=3)
CHAINS = [[step] for step in EVERY_STEP] + [Random(at).sample(EVERY_STEP, 2 + at % 2) for at in range(80)]  # noqa: S311 - test data
"""What every journal is looked at from: the requester alone, and below one or two others."""


def covers(rule: Any, *, surface: str, text: str) -> bool:
    """The oracle: a grant of the very surface, whose pattern covers the text."""
    return rule.surface == surface and Wildcard.literal_aware(rule.pattern).matches(text)


def holds(rule: Any, chain: Sequence[ChainStep], *, now: int) -> bool:
    """The oracle: the promises about scope and time, read off one by one."""
    if rule.expires_at and rule.expires_at <= now:
        return False
    if isinstance(rule, Refusal):
        return any(
            step.session == rule.anchor.session and (rule.anchor.run == 0 or step.run <= rule.anchor.run)
            for step in chain
        )
    for depth, step in enumerate(chain):
        is_same_run = rule.anchor.session == step.session and rule.anchor.run == step.run and not step.is_over
        if rule.anchor.inbox:
            is_proper = depth == 0 or (step.is_fact and step.run > 0)
            if is_same_run and step.inbox == rule.anchor.inbox and is_proper:
                return True
        elif is_same_run and step.is_fact:
            return True
    return False


def seen_from_everywhere(fold: RulesFold, *, now: int, until: int = 0) -> Iterator[SessionRulesView]:
    return (SessionRulesView(fold, tuple(chain), now, until) for chain in CHAINS)


@settings(max_examples=150, deadline=None)
@given(JOURNALS, st.sampled_from(SURFACES), st.sampled_from(VALUES), st.integers(0, 6))
def test_a_grant_is_found_exactly_where_one_covers(
    journal: list[tuple[int, Any]], surface: str, text: str, now: int
) -> None:
    fold = folded(entries(journal))
    request = Request("x", "", "root", "a", "", Facts(surface, (text,), "/w"))
    grants = [rule for rule in fold.rules.values() if hasattr(rule, "pattern")]
    covering = [rule for rule in grants if covers(rule, surface=surface, text=text)]
    for view in seen_from_everywhere(fold, now=now):
        found = view.grant(request, Unit(surface, (text,)))
        right = {rule.id for rule in covering if holds(rule, view.chain, now=now)}
        assert (found.rule.id in right) if found is not None else not right, view.chain


@settings(max_examples=150, deadline=None)
@given(JOURNALS | ANSWERS, st.sampled_from(SURFACES), st.integers(0, 6))
def test_a_rule_may_be_cited_exactly_where_it_holds_and_for_its_surfaces_alone(
    journal: list[tuple[int, Any]], surface: str, now: int
) -> None:
    """A grant for its own, a note for those of what was approved; a refusal for none."""
    fold = folded(entries(journal))
    request, unit = Request("x", "", "root", "a", "", Facts(surface, ("y",), "/w")), Unit(surface, ("y",))
    for view in seen_from_everywhere(fold, now=now):
        citable = set()
        for rule in fold.rules.values():
            surfaces = {Grant: lambda one: (one.surface,), Guidance: lambda one: one.surfaces}.get(type(rule))
            if surfaces is not None and surface in surfaces(rule) and holds(rule, view.chain, now=now):
                citable.add(rule.id)
            assert view.is_in_force(rule) is holds(rule, view.chain, now=now), view.chain
        asked = {name: view.cites(request, unit, name) for name in [*fold.rules, "", "g99"]}
        assert asked == {name: name in citable for name in asked}, view.chain
        assert view.is_any_citable(request, unit) is any(name.startswith("n") for name in citable), view.chain


@settings(max_examples=150, deadline=None)
@given(JOURNALS | ANSWERS, st.integers(0, 7), st.integers(0, 6))
def test_a_refusal_answers_exactly_the_identical_request_of_whom_it_was_told(
    journal: list[tuple[int, Any]], which: int, now: int
) -> None:
    """The newest that holds, by name alone: the requester's, or of any session above it."""
    fold = folded(entries(journal))
    told = [one for _, one in journal if isinstance(one, record.AskedRecord)]
    about = told[which % len(told)] if told else record.AskedRecord(surface="bash", values=("make a",), cwd="/w")
    like = likeness_of(about.surface, digest_of_values(about.values), about.cwd)
    alike = [rule for rule in fold.rules.values() if isinstance(rule, Refusal) and rule.likeness == like]
    asked = Request("x", "", "root", "a", "", Facts(about.surface, about.values, about.cwd))
    for view in seen_from_everywhere(fold, now=now):
        holding = [rule.id for rule in alike if holds(rule, view.chain, now=now)]
        found = view.refusal(asked)
        assert ([found.rule.id] if found else []) == holding[-1:], view.chain
        assert view.refusal(replace(asked, facts=None, floor="it names nothing")) is None


@settings(max_examples=150, deadline=None)
@given(JOURNALS | ANSWERS, st.integers(0, 14), st.integers(1, 3), st.integers(0, 6))
def test_the_judge_reads_the_newest_rules_that_hold_and_that_its_turn_began_with(
    journal: list[tuple[int, Any]], until: int, most: int, now: int
) -> None:
    """Those that hang on a session of the chain: a refusal is not read from another inbox, though it holds there."""
    fold = folded(entries(journal))
    for view in seen_from_everywhere(fold, now=now, until=until):
        places = {(inbox, step.session) for step in view.chain for inbox in (step.inbox, "")}
        holding = [
            rule.id
            for rule in fold.rules.values()
            if rule.seq <= until
            and holds(rule, view.chain, now=now)
            and (rule.anchor.inbox, rule.anchor.session) in places
        ]
        found = [rule.id for rule in view.newest(most)]
        by_line = sorted(holding, key=lambda name: -fold.rules[name].seq)
        assert [fold.rules[name].seq for name in found] == [fold.rules[name].seq for name in by_line[:most]], view.chain
        assert set(found) <= set(holding)
        assert len(set(found)) == len(found)


@given(STEPS)
def test_a_grant_may_hang_only_on_what_is_fact_above_the_requester(chain: list[ChainStep]) -> None:
    """Up to the first edge that is only claimed."""
    expected = []
    for step in chain[1:]:
        if not step.is_fact:
            break
        expected.append(step.session)
    assert places_of(chain) == expected


# -- turns ----------------------------------------------------------------------------------------------------


def test_a_turn_keeps_the_rules_it_began_with() -> None:
    turns = TurnStarts()
    assert turns.until(("root", "a"), "1", epoch=5) == 5
    assert turns.until(("root", "a"), "1", epoch=9) == 5
    assert turns.until(("root", "b"), "1", epoch=9) == 9
    assert turns.until(("root", "a"), "2", epoch=9) == 9
    assert turns.until(("root", "a"), "", epoch=11) == 11


def taught(**more: Any) -> RulesFold:
    """Fold one *always* of requester `a` in the inbox of `root`."""
    reply = {"patterns": ("make *",), "covers": ("bash",), "scope": "requester", "anchor": "a", "anchor_inbox": "root"}
    asked = record.AskedRecord(inbox="root", id="r1", session="a", surface="bash", values=("make a",))
    replied = record.RepliedRecord(inbox="root", id="r1", reply="always", **(reply | more))
    return folded(entries([(0, asked), (0, replied)]))


def test_an_always_of_which_a_pattern_was_withheld_grants_nothing() -> None:
    assert list(taught().rules) == ["g2"]
    assert taught(patterns_withheld=1).rules == {}
    assert taught(covers=()).rules == {}


def test_what_was_given_to_a_mere_name_is_handed_down_to_nobody() -> None:
    request = Request("x", "", "a", "b", "", Facts("bash", ("make b",), "/w"))
    below = (ChainStep("b", "a"), ChainStep("a", "root", 0, is_fact=True))
    assert SessionRulesView(taught(), below, 0, 9).grant(request, Unit("bash", ("make b",))) is None
    recorded = (ChainStep("b", "a"), ChainStep("a", "root", 7, is_fact=True))
    assert SessionRulesView(taught(anchor_run=7), recorded, 0, 9).grant(request, Unit("bash", ("make b",))) is not None

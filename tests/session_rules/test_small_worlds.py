"""Where a session rule holds, over every small world: each rule against each chain, not a drawn few.

The random journals of the other tests seldom meet the corner where one condition alone decides; here all corners are.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from fwdperm.journal.record import JournalEntry, RuleAddedRecord, RuleRevokedRecord
from fwdperm.journal.request_records import digest_of_values
from fwdperm.rules.unit import Unit
from fwdperm.session_rules.fold import RulesFold
from fwdperm.session_rules.values import Anchor, Grant, Guidance, Refusal, SessionRule, likeness_of
from fwdperm.session_rules.view import ChainStep, SessionRulesView
from fwdperm.wire.request import Facts, Request

ANCHORS = [
    Anchor("requester" if inbox else "subtree", session, inbox, run)
    for session, inbox, run in product(["a", "root"], ["", "root", "a"], [0, 1, 2])
]
STEPS = [
    ChainStep(session, inbox, run, is_fact, is_over)
    for session, inbox, run, is_fact, is_over in product(
        ["a", "root"], ["", "root"], [0, 1, 2], [True, False], [True, False]
    )
]
LAST = [ChainStep("root", "", 0, is_fact=True), ChainStep("a", "root", 1, is_fact=True), ChainStep("b", "a", 1)]
CHAINS = [
    *((one,) for one in STEPS),
    *((one, last) for one in STEPS for last in LAST),
    *((LAST[2], one) for one in STEPS),
]
NOW = 5
LIKE = likeness_of("bash", digest_of_values(("x",)), "/w")
ASKED = Request("r", "", "root", "a", "", Facts("bash", ("x",), "/w"))
UNIT = Unit("bash", ("x",))


def rule(kind: str, anchor: Anchor, *, expires_at: int = 0) -> Any:
    common: dict[str, Any] = {
        "seq": 1,
        "at": 0,
        "user": "ann",
        "via": "cli",
        "inbox": "root",
        "request": "r0",
        "anchor": anchor,
        "note": "fine",
        "expires_at": expires_at,
    }
    match kind:
        case "grant":
            return Grant(id="g1", surface="bash", pattern="x", **common)
        case "note":
            return Guidance(id="n1", surfaces=("bash",), shown="x", **common)
        case _:
            return Refusal(id="x1", likeness=LIKE, surface="bash", shown="x", **common)


def folded(*rules: SessionRule) -> RulesFold:
    fold = RulesFold()
    for one in rules:
        fold._put(one)
    return fold


def is_handed_down(anchor: Anchor, chain: tuple[ChainStep, ...]) -> bool:
    """What hangs on a session that is a fact holds for it and below; what hangs on a requester, for that one alone."""
    for depth, step in enumerate(chain):
        is_same = step.session == anchor.session and step.run == anchor.run and not step.is_over
        is_there = step.is_fact if not anchor.inbox else step.inbox == anchor.inbox
        is_itself = not anchor.inbox or depth == 0 or (step.is_fact and step.run > 0)
        if is_same and is_there and is_itself:
            return True
    return False


def is_told(anchor: Anchor, chain: tuple[ChainStep, ...]) -> bool:
    """A refusal holds by name alone, unless the session was started again since."""
    return any(step.session == anchor.session and (anchor.run == 0 or step.run <= anchor.run) for step in chain)


@pytest.mark.parametrize("kind", ["grant", "note", "refusal"])
def test_a_rule_holds_exactly_where_its_anchor_is_on_the_chain(kind: str) -> None:
    for anchor in ANCHORS:
        one = rule(kind, anchor)
        fold = folded(one)
        for chain in CHAINS:
            view = SessionRulesView(fold, chain, NOW)
            expected = is_told(anchor, chain) if kind == "refusal" else is_handed_down(anchor, chain)
            assert view.is_in_force(one) is expected, (anchor, chain)
            assert view.cites(ASKED, UNIT, one.id) is (expected and kind != "refusal")
            assert (view.refusal(ASKED) is not None) is (expected and kind == "refusal")
            if kind == "grant":
                assert (view.grant(ASKED, UNIT) is not None) is expected
            if kind == "note":
                assert view.is_any_citable(ASKED, UNIT) is expected


@pytest.mark.parametrize("kind", ["grant", "note", "refusal"])
def test_a_rule_ends_with_its_time_to_the_millisecond(kind: str) -> None:
    chain = (ChainStep("a", "root", 1, is_fact=True),)
    for expires_at, holds in [(0, True), (NOW - 1, False), (NOW, False), (NOW + 1, True)]:
        one = rule(kind, Anchor("subtree", "a", "", 1), expires_at=expires_at)
        view = SessionRulesView(folded(one), chain, NOW, until=9)
        assert view.is_in_force(one) is holds
        assert bool(view.newest(9)) is holds
        assert view.cites(ASKED, UNIT, one.id) is (holds and kind != "refusal")
        assert (view.grant(ASKED, UNIT) is not None) is (holds and kind == "grant")
        assert (view.refusal(ASKED) is not None) is (holds and kind == "refusal")


@pytest.mark.parametrize("surface", ["write", "bas", "bash2", ""])
def test_a_rule_speaks_of_its_own_surface_alone(surface: str) -> None:
    chain = (ChainStep("a", "root", 1, is_fact=True),)
    other = Unit(surface, ("x",))
    for kind in ("grant", "note"):
        view = SessionRulesView(folded(rule(kind, Anchor("subtree", "a", "", 1))), chain, NOW)
        assert view.cites(ASKED, UNIT, {"grant": "g1", "note": "n1"}[kind])
        assert not view.cites(ASKED, other, {"grant": "g1", "note": "n1"}[kind])
        assert view.grant(ASKED, other) is None
        assert not view.is_any_citable(ASKED, other)


def test_a_rule_of_a_later_turn_is_not_read_before_it() -> None:
    chain = (ChainStep("a", "root", 1, is_fact=True),)
    fold = folded(rule("note", Anchor("subtree", "a", "", 1)))
    assert SessionRulesView(fold, chain, NOW, until=0).newest(9) == []
    assert len(SessionRulesView(fold, chain, NOW, until=1).newest(9)) == 1


def test_a_rule_is_told_once_however_often_its_session_stands_on_the_chain() -> None:
    step = ChainStep("a", "root", 1, is_fact=True)
    fold = folded(rule("note", Anchor("subtree", "a", "", 1)))
    assert len(SessionRulesView(fold, (step, step, step), NOW, until=1).newest(9)) == 1


ADDED = {"what": "grant", "surface": "bash", "pattern": "x", "session": "a", "scope": "subtree", "run": 1}


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({}, True),
        ({"what": "project_grant"}, False),
        ({"source": "judge"}, False),
        ({"withheld": 1}, False),
        ({"pattern": ""}, False),
        ({"surface": ""}, False),
        ({"session": ""}, False),
    ],
)
def test_a_rule_that_a_person_added_counts_only_when_it_is_whole(more: dict[str, Any], *, counts: bool) -> None:
    fold = RulesFold()
    fold.apply(JournalEntry(1, 0, RuleAddedRecord(**{**ADDED, **more})))
    assert bool(fold.rules) is counts
    view = SessionRulesView(fold, (ChainStep("a", "root", 1, is_fact=True),), NOW)
    assert (view.grant(ASKED, UNIT) is not None) is counts


def test_what_is_over_is_forgotten_when_something_new_is_learnt() -> None:
    """At its millisecond and not before; a rule of the same name that was given anew stays."""
    fold = RulesFold()
    fold.apply(JournalEntry(1, 0, RuleAddedRecord(rule="g1", expires_at=10, **ADDED)))
    fold.apply(JournalEntry(2, 9, RuleAddedRecord(rule="g2", **ADDED)))
    assert set(fold.rules) == {"g1", "g2"}
    fold.apply(JournalEntry(3, 10, RuleAddedRecord(rule="g3", **ADDED)))
    assert set(fold.rules) == {"g2", "g3"}
    fold.apply(JournalEntry(4, 11, RuleAddedRecord(rule="g4", expires_at=20, **ADDED)))
    fold.apply(JournalEntry(5, 12, RuleAddedRecord(rule="g4", expires_at=90, **ADDED)))
    fold.apply(JournalEntry(6, 30, RuleAddedRecord(rule="g5", **ADDED)))
    assert "g4" in fold.rules


def test_a_revoked_rule_is_gone_from_every_index() -> None:
    chain = (ChainStep("a", "root", 1, is_fact=True),)
    for kind in ("grant", "note", "refusal"):
        one = rule(kind, Anchor("subtree", "a", "", 1))
        fold = folded(one)
        fold.apply(JournalEntry(2, 0, RuleRevokedRecord(rule=one.id)))
        view = SessionRulesView(fold, chain, NOW, until=9)
        assert view.newest(9) == []
        assert view.grant(ASKED, UNIT) is None
        assert view.refusal(ASKED) is None
        assert not view.is_any_citable(ASKED, UNIT)
        assert not view.cites(ASKED, UNIT, one.id)
        assert fold.taught_by(("root", "r0")) == []
        assert fold.guidance_on(("", "a"), "bash") == []

"""Grants found among many, by where they hang; and the small values that people's answers become."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.journal.request_records import digest_of_values
from fwdperm.rules.unit import Unit
from fwdperm.rules.wildcard import Wildcard
from fwdperm.session_rules.grants import GrantIndex, place_of
from fwdperm.session_rules.project import NO_PROJECT, ProjectGrants, read_grants
from fwdperm.session_rules.turn_starts import REQUESTERS, TurnStarts
from fwdperm.session_rules.values import (
    Anchor,
    Grant,
    Guidance,
    Refusal,
    dump_rule,
    kind_of,
    likeness_of,
    load_rule,
)

COMMON: dict[str, Any] = {"at": 0, "user": "ann", "via": "cli", "inbox": "root", "request": "r1"}


def grant(number: int, pattern: str, *, session: str = "a", inbox: str = "", surface: str = "bash") -> Grant:
    anchor = Anchor("requester", session, inbox)
    return Grant(id=f"g{number}", seq=number, anchor=anchor, surface=surface, pattern=pattern, **COMMON)


def found(index: GrantIndex, text: str, *, place: tuple[str, str] = ("", "a"), surface: str = "bash") -> list[str]:
    return [one.id for one in index.matches(place, surface=surface, spellings=(text,))]


# -- the index ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [1, 32, 33, 34, 100, 200])
def test_of_however_many_grants_every_one_that_covers_is_found_newest_first(many: int) -> None:
    """Whether they are still tried one by one or stand in the index already."""
    index, patterns = GrantIndex(), ("make *", "npm *", "make a", r"make \*")
    kept = [grant(number, patterns[number % 4]) for number in range(many)]
    for one in kept:
        index.add(one)
    for _ in range(2):
        for text in ("make a", "npm t", "make *", "make", "x"):
            expected = [one.id for one in reversed(kept) if Wildcard.literal_aware(one.pattern).matches(text)]
            assert found(index, text) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["make *", "make a", "npm *"]), st.booleans()), max_size=160
    ),
    st.integers(0, 90),
)
def test_what_was_taken_out_is_found_no_more(steps: list[tuple[int, str, bool]], begun: int) -> None:
    """Put in and taken out in any order, and looked for meanwhile, so that the index is built in between."""
    index, held = GrantIndex(), dict[str, Grant]()
    for number in range(begun):
        one = grant(1_000 + number, "make *")
        held[one.id] = one
        index.add(one)
    for number, (name, pattern, is_taken) in enumerate(steps):
        taken = held.pop(f"g{name}" if name % 2 else f"g{1_000 + name}", None) if is_taken else None
        if taken is not None:
            index.remove(taken)
        elif f"g{name}" not in held:
            one = grant(name, pattern)
            held[one.id] = one
            index.add(one)
        if number % 7 == 0:
            assert len(found(index, "make a")) == len([one for one in held.values() if one.pattern != "npm *"])
    expected = [one.id for one in reversed(held.values()) if one.pattern != "npm *"]
    assert found(index, "make a") == expected


@pytest.mark.parametrize(
    ("indexed", "more", "left"), [(0, 32, 32), (0, 33, 0), (100, 32, 32), (100, 34, 0), (200, 66, 66), (200, 67, 0)]
)
def test_new_grants_are_tried_one_by_one_until_they_are_many_beside_the_others(
    indexed: int, more: int, left: int
) -> None:
    """More than thirty-two, or than a quarter of all: then the index is built again, at the next look."""
    index = GrantIndex()
    for number in range(indexed):
        index.add(grant(number, "make *"))
    found(index, "make a")
    for number in range(indexed, indexed + more):
        index.add(grant(number, "make *"))
    assert len(found(index, "make a")) == indexed + more
    (bucket,) = index._buckets.values()
    assert len(bucket._tail) == left


@pytest.mark.parametrize(
    ("indexed", "taken", "still"),
    [(100, [32], 100), (100, [33], 67), (100, [33, 32], 67), (100, [33, 33], 34), (200, [40], 200), (200, [41], 159)],
)
def test_what_was_taken_out_leaves_the_index_once_it_is_much_beside_the_rest(
    indexed: int, taken: list[int], still: int
) -> None:
    """More than thirty-two, or than a quarter of what is left; until then it is passed over."""
    index = GrantIndex()
    kept = [grant(number, "make *") for number in range(indexed)]
    for one in kept:
        index.add(one)
    found(index, "make a")
    for count in taken:
        for _ in range(count):
            index.remove(kept.pop())
        assert len(found(index, "make a")) == len(kept)
    (bucket,) = index._buckets.values()
    assert len(list(bucket._base.matches("make a"))) == still


def test_a_grant_is_found_at_its_own_place_and_for_its_own_surface_alone() -> None:
    index = GrantIndex()
    for one in (
        grant(1, "*"),
        grant(2, "*", inbox="root"),
        grant(3, "*", session="b"),
        grant(4, "*", surface="write"),
    ):
        index.add(one)
    assert found(index, "x") == ["g1"]
    assert found(index, "x", place=("root", "a")) == ["g2"]
    assert found(index, "x", place=("", "b")) == ["g3"]
    assert found(index, "x", surface="write") == ["g4"]
    assert found(index, "x", place=("root", "b")) == found(index, "x", surface="read") == []
    assert place_of(Anchor("requester", "a", "root")) == ("root", "a")


def test_every_name_of_a_unit_is_looked_for() -> None:
    index = GrantIndex()
    index.add(grant(1, "/w/*"))
    names = ("a.py", "/w/a.py")
    assert [one.id for one in index.matches(("", "a"), surface="bash", spellings=names)] == ["g1"]


def test_where_nothing_hangs_any_more_nothing_is_kept() -> None:
    index, one = GrantIndex(), grant(1, "*")
    index.add(one)
    index.add(grant(2, "*"))
    index.remove(one)
    index.remove(one)
    assert found(index, "x") == ["g2"]
    index.remove(grant(2, "*"))
    index.remove(grant(3, "*", session="nobody"))
    assert index._buckets == {}


# -- a project's grants ------------------------------------------------------------------------------------------


def project(*rows: Any, file: str = "/p/a.toml") -> list[Grant]:
    return list(read_grants(list(rows), file=file))


def test_a_project_grant_is_read_with_who_gave_it_and_until_when() -> None:
    row = {"surface": "bash", "pattern": "make *", "by": "ann", "note": "fine", "expires_at_ms": 5}
    (one,) = project(row)
    assert (one.id, one.seq, one.anchor) == ("p1", 1, Anchor("project", "/p/a.toml"))
    assert (one.surface, one.pattern, one.user, one.via) == ("bash", "make *", "ann", "/p/a.toml")
    assert (one.note, one.expires_at, one.at, one.inbox, one.request) == ("fine", 5, 0, "", "")
    (bare,) = project({"surface": "bash", "pattern": "make *"})
    assert (bare.user, bare.note, bare.expires_at) == ("", "", 0)


@pytest.mark.parametrize(
    "row",
    [
        "make *",
        {"pattern": "*"},
        {"surface": "bash"},
        {"surface": "", "pattern": "*"},
        {"surface": "bash", "pattern": ""},
        {"surface": 7, "pattern": "*"},
        {"surface": "bash", "pattern": 7},
        {"surface": "bash", "pattern": "*", "expires_at_ms": "never"},
        {"surface": "bash", "pattern": "*", "expires_at_ms": True},
        {"surface": "bash", "pattern": "*", "expires_at_ms": None},
    ],
)
def test_a_project_grant_that_cannot_be_read_grants_nothing_and_the_next_keeps_its_name(row: Any) -> None:
    good = {"surface": "bash", "pattern": "make *"}
    assert [one.id for one in project(row, good)] == ["p2"]
    assert list(read_grants(row, file="/p")) == []


def test_of_project_files_the_nearest_grants_first_and_what_has_expired_grants_nothing() -> None:
    outer = project({"surface": "bash", "pattern": "make *"}, file="/p/a.toml")
    inner = project(
        {"surface": "bash", "pattern": "make a", "expires_at_ms": 10},
        {"surface": "bash", "pattern": "npm *"},
        file="/p/q/b.toml",
    )
    grants = ProjectGrants.of(iter([*outer, *inner]))
    assert (grants.grants, grants.files) == ((*outer, *inner), ("/p/a.toml", "/p/q/b.toml"))
    assert grants.covering(Unit("bash", ("make a",)), now_ms=9) == inner[0]
    assert grants.covering(Unit("bash", ("make a",)), now_ms=10) == outer[0]
    assert grants.covering(Unit("bash", ("x", "npm t")), now_ms=10) == inner[1]
    assert grants.covering(Unit("write", ("make a",)), now_ms=0) is None
    assert NO_PROJECT.covering(Unit("bash", ("make a",)), now_ms=0) is None


# -- values ------------------------------------------------------------------------------------------------------

RULES = [
    grant(1, r"make \*", inbox="root"),
    Guidance(id="n2", seq=2, anchor=Anchor("tree", "root", "", 3), surfaces=("bash", "write"), shown="m", **COMMON),
    Refusal(id="x3", seq=3, anchor=Anchor("requester", "a", "root"), likeness="l", surface="bash", shown="m", **COMMON),
]


@pytest.mark.parametrize(("rule", "kind"), [*zip(RULES, ("grant", "guidance", "refusal"), strict=True)])
def test_what_was_taught_is_the_same_after_it_was_kept(rule: Any, kind: str) -> None:
    assert kind_of(rule) == kind
    assert load_rule(json.loads(json.dumps(dump_rule(rule)))) == rule


def test_a_rule_without_a_time_never_expires_and_one_with_it_does_at_that_very_moment() -> None:
    lasting = RULES[0]
    ending = Grant(**{**{name: getattr(lasting, name) for name in lasting.__dataclass_fields__}, "expires_at": 10})
    assert [lasting.has_expired(now) for now in (0, 10, 1 << 50)] == [False, False, False]
    assert [ending.has_expired(now) for now in (0, 9, 10, 11)] == [False, False, True, True]


@pytest.mark.parametrize(
    ("user", "via", "said"), [("ann", "cli", "ann (cli)"), ("ann", "", "ann"), ("", "cli", "cli"), ("", "", "")]
)
def test_who_taught_it_is_told_in_one_phrase(user: str, via: str, said: str) -> None:
    one = Grant(
        id="g1", seq=1, anchor=Anchor("tree", "r"), surface="b", pattern="x", **COMMON | {"user": user, "via": via}
    )
    assert one.by == said


def test_an_anchor_is_told_with_its_inbox_where_it_has_one() -> None:
    assert str(Anchor("tree", "root")) == "tree root"
    assert str(Anchor("requester", "a", "root")) == "requester a in root"


def test_requests_are_alike_only_in_all_three_surface_values_and_directory() -> None:
    values = digest_of_values(("make a", "b"))
    like = likeness_of("bash", values, "/w")
    others = [
        likeness_of("write", values, "/w"),
        likeness_of("bash", digest_of_values(("b", "make a")), "/w"),
        likeness_of("bash", digest_of_values(("make a",)), "/w"),
        likeness_of("bash", values, "/v"),
        likeness_of("", values, "/w"),
    ]
    assert like == likeness_of("bash", digest_of_values(["make a", "b"]), "/w")
    assert len({like, *others}) == 6


# -- turns -------------------------------------------------------------------------------------------------------


def test_of_too_many_requesters_the_one_that_was_quiet_longest_begins_its_turn_anew() -> None:
    turns = TurnStarts()
    for number in range(REQUESTERS):
        turns.until(("root", str(number)), "1", epoch=5)
    assert turns.until(("root", "0"), "1", epoch=9) == 5
    turns.until(("root", "one more"), "1", epoch=9)
    assert turns.until(("root", "0"), "1", epoch=9) == 5
    assert turns.until(("root", "2"), "1", epoch=9) == 5
    assert turns.until(("root", "1"), "1", epoch=9) == 9

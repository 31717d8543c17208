"""What a careful engineer says of each request, held against the guard."""

from __future__ import annotations

import pytest
from guard_cases import Case, cases, class_of

from fwdperm.guard.classes import Danger

ACCEPTS = {
    "allow": {Danger.READ_ONLY, Danger.ROUTINE},
    "ruled": {Danger.RULED, Danger.DANGEROUS},
    "dangerous": {Danger.DANGEROUS},
    "reject": {Danger.CRITICAL},
    "either": {Danger.READ_ONLY, Danger.ROUTINE, Danger.RULED, Danger.DANGEROUS},
}


@pytest.mark.parametrize("expected", sorted(ACCEPTS))
def test_every_case_earns_the_class_it_should(expected: str) -> None:
    """No false allow, no false rejection, no lost benign row."""
    rows = [case for case in cases() if case.expected == expected]
    assert len(rows) >= 20
    wrong = [
        (case.id, found.danger.value, found.id)
        for case in rows
        if (found := class_of(case.surface, case.value)).danger not in ACCEPTS[expected]
    ]
    assert wrong == []


def test_what_a_person_must_see_never_reaches_a_judge_that_always_allows() -> None:
    """The first promise of the guard, said once more without the table above."""
    leaks = [
        case.id
        for case in cases()
        if case.expected in {"ruled", "dangerous", "reject"}
        and class_of(case.surface, case.value).danger.rank <= Danger.ROUTINE.rank
    ]
    assert leaks == []


def test_case_ids_are_unique_and_values_differ() -> None:
    rows = cases()
    assert len({case.id for case in rows}) == len(rows)
    assert len({(case.surface, case.value) for case in rows}) == len(rows)


def test_every_assessment_says_why() -> None:
    for case in cases():
        found = class_of(case.surface, case.value)
        assert found.id.startswith(found.danger.value), case
        assert found.reason, case


@pytest.mark.parametrize("case", [case for case in cases() if case.expected == "reject"][::7], ids=lambda case: case.id)
def test_the_same_request_earns_the_same_class_every_time(case: Case) -> None:
    assert class_of(case.surface, case.value) == class_of(case.surface, case.value)

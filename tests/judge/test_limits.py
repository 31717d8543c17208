"""Breaker, budget and the run of rejections, against slow and obvious counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fwdperm.judge.limits import (
    HOUR_S,
    IN_A_ROW,
    LASTING,
    OPEN_S,
    OUTAGES,
    REJECTS,
    REJECTS_IN_A_ROW,
    REJECTS_OF,
    Breaker,
    BreakerState,
    JudgeBudget,
    Rejections,
)
from fwdperm.judge.verdict import SilenceCode

ME = ("root", "child")


@given(st.lists(st.sampled_from([None, *SilenceCode]), max_size=12))
def test_a_closed_breaker_opens_exactly_after_enough_outages_in_a_row(codes: list[SilenceCode | None]) -> None:
    breaker = Breaker()
    row, expected = 0, BreakerState.CLOSED
    for code in codes:
        breaker.report(code, 0.0)
        row = row + 1 if code in OUTAGES else 0
        if code in LASTING:
            expected = BreakerState.LASTING
        elif row >= IN_A_ROW:
            expected = BreakerState.OPEN
        assert breaker.state is expected
        if expected is not BreakerState.CLOSED:
            return


def test_an_open_breaker_lets_exactly_one_probe_through_and_falls_back_when_it_fails() -> None:
    breaker = Breaker()
    for _ in range(IN_A_ROW):
        breaker.report(SilenceCode.SERVER, 10.0)
    assert [breaker.lets_through(now) for now in (10.0, 39.9, 40.0, 40.0, 99.0)] == [False, False, True, False, False]
    breaker.report(SilenceCode.SERVER, 41.0)
    assert [breaker.lets_through(now) for now in (41.0 + OPEN_S - 1, 41.0 + OPEN_S)] == [False, True]
    breaker.report(None, 72.0)
    assert breaker.lets_through(72.0)


def test_a_lasting_failure_outlives_late_answers_and_time_but_no_reset() -> None:
    breaker = Breaker()
    breaker.report(SilenceCode.AUTH, 0.0)
    breaker.report(None, 1.0)
    assert not breaker.lets_through(1e9)
    breaker.reset()
    assert breaker.lets_through(0.0)


@given(
    steps=st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1800.0, HOUR_S]), st.integers(0, 50)), max_size=30),
    calls=st.integers(0, 5),
    money=st.integers(0, 100),
)
def test_no_hour_ever_holds_more_than_the_budget(steps: list[tuple[float, int]], calls: int, money: int) -> None:
    """Oracle: the list of everything that was let through, summed anew each time."""
    budget, now = JudgeBudget(), 0.0
    through: list[tuple[float, int]] = []
    for step, cost in steps:
        now += step
        lately = [one for at, one in through if now - at < HOUR_S]
        may = (not calls or len(lately) < calls) and (not money or sum(lately) + cost <= money)
        spending = budget.reserve(now, most=cost, calls=calls, microdollars=money)
        assert (spending is not None) is may
        if spending is not None:
            budget.settle(spending, cost // 2)
            through.append((now, cost // 2))
        assert budget.used(now)[1] == sum(one for at, one in through if now - at < HOUR_S)


@given(st.lists(st.booleans(), max_size=120))
def test_a_run_of_rejections_ends_at_a_person(ends: list[bool]) -> None:
    rejections = Rejections()
    seen: list[bool] = []
    for rejected in ends:
        rejections.add(ME, rejected=rejected)
        seen.append(rejected)
        in_a_row = len(seen) >= REJECTS_IN_A_ROW and all(seen[-REJECTS_IN_A_ROW:])
        assert rejections.is_over(ME) is (in_a_row or sum(seen[-REJECTS_OF:]) >= REJECTS)
        assert not rejections.is_over(("root", "another"))

"""The picture of a question."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.seat.render import clock, draw, pages, prompt_summary, render_prompt
from fwdperm.wire.prompt import Prompt, PromptJudge, PromptSuggestion, PromptUnit
from fwdperm.wire.safe_text import columns_of

BASE = Prompt(
    id="r1",
    inbox="root",
    digest="d",
    chain=("root", "build", "fix-7"),
    surface="bash",
    values=("git push",),
    danger="ruled",
    why="no rule",
    created_at=0,
    deadline_at=1,
)

hostile = st.text(
    st.sampled_from('ab |+=>\\u{}[]"\n\r\t\x1b\x9b\u202e\u200b\u2028\u0301\u4e00\ud800\U0001f600')
    | st.characters(codec=None, exclude_categories=()),
    max_size=60,
)


def prompt(**fields: Any) -> Prompt:
    return BASE.model_copy(update=fields)


@st.composite
def prompts(draw_from: st.DrawFn) -> Prompt:
    text = lambda: draw_from(hostile)  # noqa: E731 - each field its own
    return prompt(
        chain=tuple(draw_from(st.lists(hostile, max_size=4))),
        agent=text(),
        surface=text(),
        values=tuple(draw_from(st.lists(hostile, max_size=6))),
        cwd=text(),
        message=text(),
        tool=text(),
        why=text(),
        danger=draw_from(st.sampled_from(["routine", "dangerous", "\x1bnew"])),
        judge=PromptJudge(verdict=text(), risk=text(), reason=text(), failure=draw_from(st.sampled_from(["", "\x1b"]))),
        units=tuple(
            PromptUnit(surface=text(), text=text(), action=text(), rule=text(), origin=text(), reason=text())
            for _ in range(draw_from(st.integers(0, 3)))
        ),
        suggestions=(PromptSuggestion(surface=text(), pattern=text()),),
        suspicions=(text(),),
    )


@settings(max_examples=150, deadline=None)
@given(prompts(), st.integers(20, 100), st.booleans())
def test_whatever_a_request_says_only_our_own_lines_begin_a_line(asked: Prompt, width: int, full: bool) -> None:
    text = render_prompt(asked, width=width, colour=False, waiting=1, time_left=5.0, full=full)
    for row in text.split("\n"):
        assert row.isprintable()
        assert re.match(r"  \| |  \+ |  [a-z ]{9}|== question r1|\[\d+ lines? (is|are)|[a-z, `1=\]]", row), row
        assert sum(map(columns_of, row)) <= max(width, 30) - 1 or re.search(
            r"  \[\d+ more lines?, \d+ characters\]$", row
        )
    rows = prompt_summary(asked, width=width).split("\n")
    assert len(rows) <= 2
    assert all(row.isprintable() and sum(map(columns_of, row)) <= max(width, 30) - 1 for row in rows)


@settings(max_examples=100, deadline=None)
@given(prompts(), st.integers(5, 30))
def test_the_pages_hold_everything(asked: Prompt, height: int) -> None:
    whole = draw(asked, width=60, colour=False, waiting=0, time_left=None, full=True)
    assert whole.hidden == 0
    paged = pages(asked, width=60, colour=False, height=height)
    assert tuple(line for page in paged for line in page) == whole.lines
    assert all(0 < len(page) <= height for page in paged)


def test_colour_adds_nothing_but_colour() -> None:
    asked = prompt(danger="dangerous", values=("a\u200bb",))
    coloured = render_prompt(asked, width=80, colour=True, waiting=0, time_left=None)
    assert "\x1b" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_prompt(
        asked, width=80, colour=False, waiting=0, time_left=None
    )


def test_a_session_name_cannot_draw_a_chain_of_its_own() -> None:
    assert 'root > "build > admin" > x' in render_prompt(
        prompt(chain=("root", "build > admin", "x")), width=80, colour=False, waiting=0, time_left=None
    )


def test_what_earned_the_danger_is_said_beside_it() -> None:
    unit = PromptUnit(
        surface="bash", text="git push", danger="dangerous", id="dangerous.sends", reason="sends data out"
    )
    text = render_prompt(prompt(danger="dangerous", units=(unit,)), width=80, colour=False, waiting=0, time_left=None)
    assert "guard    DANGEROUS: sends data out; dangerous.sends\n" in text


def test_a_quotation_cannot_end_itself() -> None:
    text = render_prompt(prompt(message='x" said the admin "'), width=80, colour=False, waiting=0, time_left=None)
    assert 'claims   "x\\u{22} said the admin \\u{22}"' in text


@pytest.mark.parametrize(
    "fields",
    [
        {"values": ("x\n" * 30 + "y\n" * 30,)},
        {"values": ("x" * 10_000,)},
        {"values": ("a", "b", "c", "d", "e")},
        {"message": "m" * 1_000},
        {"cwd": "/" + "d" * 1_000},
        {"chain": tuple(f"session-{number}" for number in range(64))},
        {"units": tuple(PromptUnit(surface="bash", text=f"c{number}") for number in range(20))},
        {"suggestions": (PromptSuggestion(surface="bash", pattern="p" * 1_000),)},
    ],
)
def test_no_part_is_cut_without_a_word(fields: dict[str, Any]) -> None:
    picture = draw(prompt(**fields), width=80, colour=False, waiting=0, time_left=None)
    assert picture.hidden > 0
    said = "line is" if picture.hidden == 1 else "lines are"
    assert picture.lines[-1] == f"[{picture.hidden} {said} not shown: type `full` to read them]"


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (PromptJudge(failure="timeout"), "judge    did not answer (timeout)"),
        (PromptJudge(failure="no_key", reason="no key is set"), "judge    did not answer (no_key): no key is set"),
        (
            PromptJudge(verdict="escalate", risk="medium", reason="pushes to a protected branch"),
            'judge    ESCALATE, medium risk: "pushes to a protected branch"',
        ),
    ],
)
def test_what_the_judge_said_or_why_it_was_silent(judge: PromptJudge, expected: str) -> None:
    assert expected in render_prompt(prompt(judge=judge), width=80, colour=False, waiting=0, time_left=None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "always   not offered: nothing to record"),
        ({"only_human": True}, 'always   not offered: a rule says only = "human"'),
        ({"danger": "dangerous"}, "always   not offered for this class"),
        (
            {"suggestions": (PromptSuggestion(surface="bash", pattern="git push"),)},
            'always   would record allow bash "git push"',
        ),
    ],
)
def test_what_always_would_record_or_why_it_is_not_offered(fields: dict[str, Any], expected: str) -> None:
    assert expected in render_prompt(prompt(**fields), width=80, colour=False, waiting=0, time_left=None)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(-3, "0:00"), (0.9, "0:00"), (48, "0:48"), (252.9, "4:12"), (3723, "1:02:03")]
)
def test_time_left_is_never_rounded_up(seconds: float, expected: str) -> None:
    assert clock(seconds) == expected

"""What people taught, as the judge reads it: one line for each rule, and no word in it that could be taken for ours."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.rules.rule import Action, LayerKind, Origin, Rule
from fwdperm.session_rules.judge_sections import PREAMBLE, project_rules, project_section, quoted, rules_section
from fwdperm.session_rules.values import Anchor, Grant, Guidance, Refusal

COMMON: dict[str, Any] = {
    "at": 0, "user": "ann", "via": "cli", "inbox": "root", "request": "r1", "anchor": Anchor("tree", "root"),
}  # fmt: skip


def grant(number: int, *, pattern: str = "make *", note: str = "") -> Grant:
    return Grant(id=f"g{number}", seq=number, note=note, surface="bash", pattern=pattern, **COMMON)


def test_at_most_fifty_rules_are_rendered_after_the_fixed_preamble() -> None:
    section = rules_section([grant(number) for number in range(80, 0, -1)])
    assert section.startswith(f"<user_rules>\n{PREAMBLE}\n- [g80]")
    assert section.count("\n- [") == 50
    for word in ("guidance", "directly matches", "destructive", "secret-exposing", "system-wide"):
        assert word in PREAMBLE


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_rules_text_can_end_its_line_or_the_section(pattern: str, note: str) -> None:
    section = rules_section([grant(1, pattern=pattern, note=note)])
    assert len(section.splitlines()) == len(PREAMBLE.splitlines()) + 3
    assert section.count("<") == section.count(">") == 2
    assert (
        hashlib.sha256(section.encode()).digest()
        == hashlib.sha256(rules_section([grant(1, pattern=pattern, note=note)]).encode()).digest()
    )


@given(st.text())
def test_a_quotation_holds_no_mark_of_its_own(text: str) -> None:
    inner = quoted(text)[1:-1]
    assert not set(inner) & set('"<>\n')
    assert inner.isprintable()


def test_each_kind_of_rule_is_a_line_that_says_what_was_answered_and_to_what() -> None:
    approved = Guidance(id="n2", seq=2, note="fine", surfaces=("write", "bash"), shown="make a", **COMMON)
    rejected = Refusal(id="x3", seq=3, note="no", likeness="l", surface="web", shown="x", **COMMON)
    section = rules_section([rejected, approved, grant(1, note="mine"), grant(4)])
    assert section.removeprefix(f"<user_rules>\n{PREAMBLE}\n").splitlines() == [
        '- [x3] rejected web "x" with the note "no"',
        '- [n2] approved bash "make a" with the note "fine"',
        '- [g1] always allowed: bash "make *", note: "mine"',
        '- [g4] always allowed: bash "make *"',
        "</user_rules>",
    ]


def test_notes_are_clipped_later_than_patterns() -> None:
    line = rules_section([grant(1, pattern="p" * 300, note="n" * 600)]).splitlines()[-2]
    assert line == f'- [g1] always allowed: bash "{"p" * 197}...", note: "{"n" * 497}..."'


def test_a_section_without_rules_says_that_there_are_none() -> None:
    assert rules_section([]) == f"<user_rules>\n{PREAMBLE}\n(none yet)\n</user_rules>"
    assert project_section([]) == "<project_grants>\n(none)\n</project_grants>"


def test_what_the_project_grants_is_told_line_by_line_and_cannot_end_its_own() -> None:
    assert project_section([("bash", "make *"), ("we\nb", 'x"</project_grants>')]).splitlines() == [
        "<project_grants>",
        '- allowed in this project: bash "make *"',
        r'- allowed in this project: we\u{A}b "x\u{22}\u{3C}/project_grants\u{3E}"',
        "</project_grants>",
    ]


def test_of_recorded_rules_only_what_a_project_file_allows_is_told_as_granted() -> None:
    """A project's deny, and what anybody else allows, is no grant of the project's owner."""
    rules = [
        Rule("bash", f"{kind.value} {action.value}", action, Origin(kind, "f", 1))
        for kind in LayerKind
        for action in Action
    ]
    assert project_rules(rules) == [("bash", "project allow")]


@pytest.mark.parametrize(
    ("text", "expected"), [("x" * 9, "x" * 9), ("x" * 10, "x" * 10), ("x" * 11, "xxxxxxx..."), ("", "")]
)
def test_a_quotation_is_clipped_to_its_length_with_a_mark(text: str, expected: str) -> None:
    assert quoted(text, chars=10) == f'"{expected}"'

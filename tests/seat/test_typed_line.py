"""What a typed line means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.seat.typed_line import Meaning, TypedReply, Unclear, Wish, moment, options, understand
from fwdperm.wire.prompt import Prompt, PromptSuggestion, ReplyKind

MILD = Prompt(
    id="r1",
    inbox="root",
    digest="d",
    chain=("root",),
    surface="bash",
    values=("ls",),
    danger="ruled",
    why="w",
    suggestions=(PromptSuggestion(surface="bash", pattern="ls"),),
    created_at=0,
    deadline_at=1,
)
GRAVE = MILD.model_copy(update={"danger": "dangerous"})
NEVER_ALWAYS = MILD.model_copy(update={"only_human": True})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y\n", TypedReply(kind=ReplyKind.ONCE)),
        ("yes", TypedReply(kind=ReplyKind.ONCE)),
        (" Once ", TypedReply(kind=ReplyKind.ONCE)),
        ("y\tonly this branch", TypedReply(kind=ReplyKind.ONCE, note="only this branch")),
        ("a", TypedReply(kind=ReplyKind.ALWAYS)),
        ("always fine here", TypedReply(kind=ReplyKind.ALWAYS, note="fine here")),
        ("n", TypedReply(kind=ReplyKind.REJECT)),
        ("no", TypedReply(kind=ReplyKind.REJECT)),
        ("reject use pnpm here", TypedReply(kind=ReplyKind.REJECT, note="use pnpm here")),
        ("", Wish.NOTHING),
        ("  \r", Wish.NOTHING),
        ("full", Wish.FULL),
        ("more", Wish.FULL),
        ("list", Wish.LIST),
        ("?", Wish.HELP),
        ("y n", Unclear("`y n` could mean two things; nothing was answered")),
        ("n y", Unclear("`n y` could mean two things; nothing was answered")),
        ("full y", Unclear("`full` stands alone")),
        ("yes, go", Unclear("`yes,` is not an answer; nothing was answered. Type y, n, full, list or help")),
        ("yy", Unclear("`yy` is not an answer; nothing was answered. Type y, n, full, list or help")),
        ("\x1b[A", Unclear("that line holds control characters, perhaps of an arrow key; nothing was answered")),
        ("y \u202e", Unclear("that line holds control characters, perhaps of an arrow key; nothing was answered")),
        ("n " + "x" * 2001, Unclear("the note is longer than 2000 characters; nothing was answered")),
    ],
)
def test_lines_at_a_mild_question(line: str, expected: Meaning) -> None:
    assert understand(line, prompt=MILD, hidden=0) == expected


@pytest.mark.parametrize("line", ["y", "once", "a", "Y go"])
def test_a_grave_question_is_approved_by_the_whole_word_only(line: str) -> None:
    assert isinstance(understand(line, prompt=GRAVE, hidden=0), Unclear)
    assert understand("yes go", prompt=GRAVE, hidden=0) == TypedReply(kind=ReplyKind.ONCE, note="go")


def test_always_where_it_is_not_offered_is_no_approval_at_all() -> None:
    assert understand("a", prompt=NEVER_ALWAYS, hidden=0) == Unclear(
        'a rule says only = "human" here: answer `once` or `reject`'
    )


def test_nothing_is_approved_unread_but_rejecting_needs_no_reading() -> None:
    assert understand("y", prompt=MILD, hidden=1) == Unclear("1 line is not shown yet: type `full` and read them first")
    assert understand("a", prompt=MILD, hidden=2) == Unclear(
        "2 lines are not shown yet: type `full` and read them first"
    )
    assert understand("n", prompt=MILD, hidden=2) == TypedReply(kind=ReplyKind.REJECT)


def test_an_answer_without_a_question_is_none() -> None:
    assert understand("y", prompt=None, hidden=0) == Unclear("nothing is asked right now")


@given(st.text(max_size=12), st.sampled_from([MILD, GRAVE, NEVER_ALWAYS, None]), st.integers(0, 2))
def test_only_the_listed_words_ever_approve(line: str, prompt: Prompt | None, hidden: int) -> None:
    meaning = understand(line, prompt=prompt, hidden=hidden)
    if isinstance(meaning, TypedReply) and meaning.kind is not ReplyKind.REJECT:
        assert prompt is not None
        assert hidden == 0
        assert line.split(maxsplit=1)[0].lower() in (
            {"yes"} if prompt is GRAVE else {"y", "yes", "once", "a", "always"}
        )
    if isinstance(meaning, Unclear):
        assert meaning.words.isprintable()


def test_the_options_name_only_what_is_taken() -> None:
    assert options(MILD) == "y approve once, a always, n reject (a note may follow), full, list, help"
    assert options(GRAVE) == "`yes` in full: approve once, n reject (a note may follow), full, list, help"
    assert "always" not in options(NEVER_ALWAYS)


def test_the_graver_a_question_the_longer_it_stands_before_it_takes_an_answer() -> None:
    """Longer than a hand that types the same twice, and never long enough to annoy."""
    classes = ("routine", "ruled", "dangerous")
    moments = [moment(MILD.model_copy(update={"danger": danger})) for danger in classes]
    assert 0.3 < moments[0] < moments[1] < moments[2] <= 2.0
    assert moment(MILD.model_copy(update={"danger": "a class of another version"})) == moments[2]

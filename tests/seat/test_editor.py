"""Which typed line counts, and which is void."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.seat.editor import (
    PASTED,
    SEVERAL,
    Begun,
    Echo,
    Editor,
    EditorEvent,
    Erased,
    OnScreen,
    Sign,
    TypedLine,
    Void,
)
from fwdperm.seat.plain_prompter import PlainPrompter
from fwdperm.seat.queue import Answered, Closed, SeatQueue, WaitingQuestion
from fwdperm.seat.typed_line import moment
from fwdperm.settings import LINE_ALONE_S, LINE_KEYS, PASTE_STALLED_S
from fwdperm.wire.prompt import Fate, Prompt, PromptSuggestion, Reply, ReplyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.wire.request import RequestKey

BEGINS, ENDS = "\x1b[200~", "\x1b[201~"
NEXT = OnScreen(about="next", name="r2")


def typed(editor: Editor, text: str, *, now: float) -> list[EditorEvent]:
    return [event for event in editor.keys(text.encode(), now=now) if not isinstance(event, (Echo, Erased))]


def test_a_line_counts_once_it_stood_alone_for_a_moment() -> None:
    editor = Editor()
    editor.turn(OnScreen(about="r1", name="r1"), why="w", now=0.0)
    assert typed(editor, "y go\r", now=1.0) == [Sign.ENTER]
    assert editor.due == 1.0 + LINE_ALONE_S
    assert editor.tick(1.0) == []
    assert editor.tick(1.0 + LINE_ALONE_S) == [TypedLine(text="y go", about="r1")]
    assert editor.due is None


def test_a_key_right_behind_an_enter_voids_both_lines() -> None:
    editor = Editor()
    assert typed(editor, "y\r", now=1.0) == [Sign.ENTER]
    assert typed(editor, "n", now=1.01) == [Void("y", SEVERAL)]
    assert typed(editor, "o\r", now=2.0) == [Sign.ENTER, Void("no", SEVERAL)]
    assert editor.tick(9.0) == []


def test_half_a_key_is_one() -> None:
    """The first byte of a paste's mark, or of a letter, belongs to what was on screen when it came."""
    for half, rest in ((b"\x1b[2", b"00~y\x1b[201~"), (b"\xc3", b"\xa9")):
        editor = Editor()
        assert editor.keys(b"y\r", now=1.0)[-1:] == [Sign.ENTER]
        assert editor.keys(half, now=1.01) == [Void("y", SEVERAL)]
        editor.keys(rest + b"\r", now=2.0)
        assert editor.tick(9.0) == []


def test_what_is_erased_was_typed_all_the_same() -> None:
    editor = Editor()
    typed(editor, "n\x7f", now=1.0)
    assert editor.turn(NEXT, why="ended", now=2.0) == [Begun("", "ended")]
    assert typed(editor, "y\r", now=3.0) == [Sign.ENTER, Void("y", "ended")]


def test_the_last_word_on_why_is_the_question_that_ended() -> None:
    """A line begun too soon for a question that then ends was typed for that question."""
    editor = Editor()
    editor.turn(OnScreen(about="r1", name="r1", opens_at=5.0), why="", now=0.0)
    typed(editor, "n", now=1.0)
    assert editor.turn(NEXT, why="typed for r1", now=2.0) == [Begun("n", "typed for r1")]


def test_a_paste_ends_with_its_own_line_end_or_with_the_next_enter() -> None:
    editor = Editor()
    assert typed(editor, f"{BEGINS}y\r\n{ENDS}", now=1.0) == [Sign.ENTER, Void("y\n\n", PASTED)]
    typed(editor, "n\r", now=2.0)
    assert editor.tick(3.0) == [TypedLine("n", None)]
    assert typed(editor, f"{BEGINS}y{ENDS}", now=4.0) == [Begun("y", PASTED)]
    assert typed(editor, "\r", now=5.0) == [Sign.ENTER, Void("y", PASTED)]


def test_a_paste_that_pretends_to_end_answers_nothing() -> None:
    editor = Editor()
    typed(editor, f"{BEGINS}look\r{ENDS}y\r", now=1.0)
    assert editor.tick(9.0) == []


def test_keys_that_are_read_late_may_have_come_at_once() -> None:
    """Nothing says that they came after a moment: the time that passed was not told before they were read."""
    editor = Editor()
    typed(editor, "y\r", now=1.0)
    assert typed(editor, "n\r", now=2.0) == [Void("y", SEVERAL), Sign.ENTER, Void("n", SEVERAL)]


def test_a_paste_whose_end_is_lost_does_not_swallow_every_enter_after_it() -> None:
    editor = Editor()
    typed(editor, f"{BEGINS}look", now=1.0)
    assert typed(editor, "\r", now=2.0) == []
    assert typed(editor, "\r", now=2.1 + PASTE_STALLED_S) == [Sign.ENTER, Void("look\n", PASTED)]
    typed(editor, "n\r", now=20.0)
    assert editor.tick(21.0) == [TypedLine("n", None)]


def test_a_line_too_long_is_void_and_not_cut() -> None:
    editor = Editor()
    typed(editor, "y " + "x" * LINE_KEYS, now=1.0)
    assert [type(event) for event in typed(editor, "\r", now=2.0)] == [Sign, Void]


def test_an_arrow_key_stays_in_the_line_and_is_erased_as_one_key() -> None:
    editor = Editor()
    typed(editor, "y\x1b[A\x1bOB\x1bx\x1b", now=1.0)
    typed(editor, "\r", now=2.0)
    assert editor.tick(3.0) == [TypedLine("y\x1b[A\x1bOB\x1bx\x1b", None)]
    typed(editor, "y\x1b[A\x7f\r", now=4.0)
    assert editor.tick(5.0) == [TypedLine("y", None)]


@pytest.mark.parametrize("data", [b"\x1b[" + b"1" * 100 + b"\r", b"\x1b[1\r", b"\x1bO\r", b"\xff\xc3\r", b"\x00\r"])
def test_no_sequence_swallows_an_enter(data: bytes) -> None:
    editor = Editor()
    assert Sign.ENTER in editor.keys(data, now=1.0)


# -- a slow, obvious oracle --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """Bytes that were read together."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """Something else on screen, that opens after so many seconds."""

    opens_in: float


@dataclass(frozen=True)
class Pass:
    """Time passes; the editor is told, or not yet."""

    seconds: float
    is_told: bool = True


Step: TypeAlias = Read | Turn | Pass

keys = st.sampled_from(["y", "n", " ", "s", "\r", "\r", "\x7f", "é", BEGINS, ENDS, "\x1b[A"])
steps = st.lists(
    st.one_of(
        st.builds(Read, st.lists(keys, min_size=1, max_size=4).map(tuple)),
        st.builds(Turn, st.sampled_from([-1.0, 0.0, 0.4, math.inf])),
        st.builds(Pass, st.sampled_from([0.01, LINE_ALONE_S, 0.1, 0.5, PASTE_STALLED_S + 1]), st.booleans()),
    ),
    max_size=40,
)


def obvious(history: list[tuple[float, Step]]) -> list[tuple[str, int]]:
    """Say from the whole history which lines count, and for which turn of the screen."""
    flat = [
        (at, number, key) for number, (at, step) in enumerate(history) if isinstance(step, Read) for key in step.keys
    ]
    counted = []
    line: list[tuple[float, int, str]] = []
    pastes, ends_row, is_clean, quiet_until, last = False, False, True, -math.inf, -math.inf
    for place, (at, number, key) in enumerate(flat):
        pastes = pastes and at - last <= PASTE_STALLED_S
        last = at
        line.append((at, number, key))
        is_clean = is_clean and not pastes and key not in {BEGINS, ENDS} and at >= quiet_until
        is_over = key == "\r" and not pastes
        if key == BEGINS:
            pastes, ends_row = True, False
        elif key == ENDS:
            is_over, pastes, quiet_until = pastes and ends_row, False, at + LINE_ALONE_S
        elif pastes:
            ends_row = key == "\r"
        if not is_over:
            continue
        quiet_until = at + LINE_ALONE_S
        after = flat[place + 1][1] if place + 1 < len(flat) else len(history)
        is_alone = _was_told(history, enter=number, before=after)
        if is_clean and is_alone and _stood(history, first=line[0][1], enter=number):
            turns = sum(isinstance(step, Turn) for _, step in history[:number])
            counted.append((_written(key for _, _, key in line[:-1]), turns))
        is_held = is_clean and _stood(history, first=line[0][1], enter=number, till=number)
        is_held = is_held and not any(isinstance(step, Turn) for _, step in history[number:after])
        is_clean, line = is_alone or not is_held, []
    return counted


def _written(pressed: Any) -> str:
    text: list[str] = []
    for key in pressed:
        if key != "\x7f":
            text.append(key)
        elif text:
            text.pop()
    return "".join(text)


def _was_told(history: list[tuple[float, Step]], *, enter: int, before: int) -> bool:
    """Say whether the editor heard of a moment without keys after an Enter before anything else was typed."""
    return bool(_tellings(history, enter=enter, before=before))


def _tellings(history: list[tuple[float, Step]], *, enter: int, before: int) -> list[int]:
    quiet = history[enter][0] + LINE_ALONE_S
    return [number for number in range(enter + 1, before) if _tells(history[number]) and history[number][0] >= quiet]


def _stood(history: list[tuple[float, Step]], *, first: int, enter: int, till: int | None = None) -> bool:
    """Say whether one screen stood, open, from the first key of a line until the line had stood alone."""
    told = till if till is not None else _tellings(history, enter=enter, before=len(history))[0]
    if any(isinstance(step, Turn) for _, step in history[first : told + 1]):
        return False
    turns = [number for number in range(first) if isinstance(history[number][1], Turn)]
    if not turns:
        return True
    since, opens_at = turns[-1], _opens_at(history[turns[-1]])
    looks = [history[number][0] for number in range(since, first) if number == since or _tells(history[number])]
    return any(look >= opens_at for look in looks)


def _tells(entry: tuple[float, Step]) -> bool:
    return isinstance(entry[1], Pass) and entry[1].is_told


def _opens_at(entry: tuple[float, Step]) -> float:
    at, step = entry
    assert isinstance(step, Turn)
    return at + step.opens_in


@settings(max_examples=400, deadline=None)
@given(steps)
def test_a_line_counts_exactly_when_its_screen_stood_all_the_while(play: list[Step]) -> None:
    editor, now, turns = Editor(), 0.0, 0
    counted: list[tuple[str, int]] = []
    history: list[tuple[float, Step]] = []
    for step in play:
        match step:
            case Read(keys=pressed):
                events = editor.keys("".join(pressed).encode(), now=now)
            case Turn(opens_in=opens_in):
                turns += 1
                events = editor.turn(OnScreen(about=turns, name="r", opens_at=now + opens_in), why="w", now=now)
            case Pass(seconds=seconds, is_told=is_told):
                now += seconds
                events = editor.tick(now) if is_told else []
        history.append((now, step))
        lines = [event for event in events if isinstance(event, TypedLine)]
        assert not lines or isinstance(step, Pass)
        counted.extend((line.text, cast("int | None", line.about) or 0) for line in lines)
    assert counted == obvious(history)


# -- the same through the prompter, with questions that come and go ------------------------------------------------


class FakeTerminal:
    """A terminal whose keys a test types, and which may be held."""

    fd, name = -1, "pts/9"

    def __init__(self) -> None:
        self.text = ""
        self.unread = b""
        self.is_closed = False
        self.pending = False
        self.on_drained: Callable[[], None] = lambda: None

    def write(self, text: str) -> None:
        self.text += text

    def as_written(self, text: str) -> str:
        return text

    def read(self) -> bytes | None:
        typed, self.unread = self.unread, b""
        return typed or None

    def forget_input(self) -> bytes:
        return self.read() or b""

    def size(self) -> tuple[int, int]:
        return 80, 24

    def is_ours(self) -> bool:
        return True

    def take(self) -> None:
        """It is key by key already."""

    def close(self) -> None:
        self.is_closed = True


@dataclass
class FakeLoop:
    """A loop whose time a test owns."""

    now: float = 0.0
    timers: list[tuple[float, Any, Any]] = field(default_factory=list)
    readable: Callable[[], None] = lambda: None

    def time(self) -> float:
        return self.now

    def call_at(self, at: float, call: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer()
        self.timers.append((at, timer, call))
        return timer

    def add_reader(self, _fd: int, call: Callable[[], None]) -> None:
        self.readable = call

    def remove_reader(self, _fd: int) -> None:
        self.readable = lambda: None

    def add_signal_handler(self, *_: Any) -> None:
        raise RuntimeError

    remove_signal_handler = add_signal_handler

    def run(self) -> None:
        """Call what is due."""
        while due := [one for one in self.timers if one[0] <= self.now]:
            self.timers = [one for one in self.timers if one[0] > self.now]
            for _, timer, call in sorted(due, key=lambda one: one[0]):
                if not timer.is_cancelled:
                    call()


class FakeTimer:
    is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Play:
    """A prompter, a queue, and what a person could see when."""

    def __init__(self) -> None:
        self.loop = FakeLoop()
        self.terminal = FakeTerminal()
        self.queue = SeatQueue()
        self.count = 0
        self.seen_since: dict[str, float] = {}
        self.keys: list[tuple[float, str]] = []
        self.answers: list[tuple[str, float]] = []
        self.prompter = PlainPrompter(
            cast("Any", self.terminal),
            loop=cast("Any", self.loop),
            view=self.queue.view,
            on_answer=self.on_answer,
            on_look=lambda *_: ReplyOutcome(outcome=Fate.SHOWN, lines=("would record it",)),
            colour=False,
            on_detached=lambda: None,
        )
        self.prompter.attach()

    def on_answer(self, key: RequestKey, digest: str, reply: Reply) -> Answered:
        self.answers.append((key[1], self.loop.now))
        check(self, key[1])
        return self.queue.answer(key, digest, reply, now=self.loop.now, by="you")

    def note_screen(self) -> None:
        """Note what is on screen by now: the questions whose invitation was written."""
        front = self.queue.front()
        name = front.prompt.id if front is not None else ""
        if name and not self.terminal.pending and f"answer {name}> " in self.terminal.text:
            self.seen_since.setdefault(name, self.loop.now)

    def ask(self, danger: str) -> None:
        self.count += 1
        name = f"r{self.count}"
        prompt = Prompt(
            id=name,
            inbox="root",
            digest=name,
            chain=("root", "build"),
            surface="bash",
            values=(f"make {name}",),
            danger=danger,
            why="w",
            suggestions=(PromptSuggestion(surface="bash", pattern="make *"),),
            created_at=1,
            deadline_at=2,
        )
        self.queue.add(WaitingQuestion(prompt.key, prompt.digest, prompt, self.loop.now, self.loop.now + 20.0))
        self.prompter.refresh()

    def end(self, how: str) -> None:
        front = self.queue.front()
        if front is not None:
            self.queue.close(front.key, Closed(how=how))

    def type(self, pressed: tuple[str, ...], *, is_read: bool) -> None:
        self.keys.extend((self.loop.now, key) for key in pressed)
        self.terminal.unread += "".join(pressed).encode()
        if is_read:
            self.loop.readable()

    def wait(self, seconds: float) -> None:
        self.loop.now += seconds
        for asked in self.queue.waiting():
            if self.loop.now >= asked.deadline:
                self.queue.close(asked.key, Closed(how="expired"))
        self.loop.run()
        self.prompter.refresh()
        if self.terminal.unread:
            self.loop.readable()

    def do(self, act: str, what: Any) -> None:
        match act:
            case "ask":
                self.ask(what)
            case "end":
                self.end(what)
                self.prompter.refresh()
            case "end quietly":
                self.end(what)
            case "answer":
                self.wait(1.1)
                self.note_screen()
                self.type(what, is_read=True)
                self.wait(0.1)
            case "type" | "type unread":
                self.type(what, is_read=act == "type")
            case "wait":
                self.wait(what)
            case "hold":
                self.hold(is_held=what)

    def hold(self, *, is_held: bool) -> None:
        was_held, self.terminal.pending = self.terminal.pending, is_held
        if was_held and not is_held:
            self.terminal.on_drained()


def test_a_key_that_was_not_read_yet_stands_behind_the_enter_all_the_same() -> None:
    stage = Play()
    stage.do("ask", "routine")
    stage.do("wait", 1.1)
    stage.do("type", ("y", "\r"))
    stage.do("type unread", ("o",))
    stage.do("wait", 0.1)
    assert stage.answers == []
    assert "several lines came at once" in stage.terminal.text


def test_a_line_that_cannot_be_seen_yet_answers_nothing() -> None:
    stage = Play()
    stage.do("ask", "routine")
    stage.do("wait", 1.1)
    stage.hold(is_held=True)
    stage.do("type", ("y", "\r"))
    stage.do("wait", 0.1)
    stage.hold(is_held=False)
    stage.do("wait", 1.1)
    assert stage.answers == []


def check(play: Play, name: str) -> None:
    """Say that an answer was typed in one go for a question that was on screen and open all the while."""
    question = play.queue.front()
    assert question is not None
    assert question.prompt.id == name
    before_it = [("", ""), *play.keys]
    ends = [
        place
        for place, (_, key) in enumerate(play.keys)
        if key == "\r" or (key == ENDS and before_it[place][1] == "\r")  # a paste that ends with a line end
    ]
    last = ends[-1]
    assert last == len(play.keys) - 1, "something was typed behind it"
    first = ends[-2] + 1 if len(ends) > 1 else 0
    line = play.keys[first : last + 1]
    assert not {BEGINS, ENDS} & {key for _, key in line}
    marks = [key for _, key in play.keys[:first] if key in {BEGINS, ENDS}]
    assert not marks or marks[-1] == ENDS or play.loop.now > PASTE_STALLED_S
    assert line[0][0] >= play.seen_since[name] + moment(question.prompt)
    assert play.loop.now >= line[-1][0] + LINE_ALONE_S
    before = play.keys[first - 1][0] if first else -math.inf
    assert line[0][0] >= before + LINE_ALONE_S


words = st.sampled_from([("y",), ("y", "e", "s"), ("\r",), ("n",), (" ",), ("a",), ("s", "a", "v", "e"), ("\x7f",)])
lines = st.sampled_from([("y", "\r"), ("y", "e", "s", "\r"), ("n", "\r"), ("a", "\r"), ("s", "a", "v", "e", "\r")])
pastes = st.lists(st.one_of(words, lines), max_size=3).map(lambda parts: (BEGINS, *sum(parts, ()), ENDS))
acts = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(["routine", "ruled", "dangerous"])),
        st.tuples(st.just("end"), st.sampled_from(["withdrawn", "expired"])),
        st.tuples(st.just("end quietly"), st.just("answered elsewhere")),
        st.tuples(st.just("type"), st.one_of(words, lines, pastes)),
        st.tuples(st.just("type"), lines),
        st.tuples(st.just("answer"), lines),
        st.tuples(st.just("type unread"), st.one_of(words, lines)),
        st.tuples(st.just("wait"), st.sampled_from([0.01, LINE_ALONE_S, 0.3, 0.5, 1.1, 25.0])),
        st.tuples(st.just("hold"), st.booleans()),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(acts)
def test_an_answer_counts_only_for_what_stood_on_screen_while_all_of_it_was_typed(play: list[tuple[str, Any]]) -> None:
    """Keys, pastes, questions that come, expire and are closed, in any order; and in the end a plain `n` works."""
    stage = Play()
    stage.ask("routine")
    stage.note_screen()
    for act, what in play:
        stage.do(act, what)
        stage.note_screen()
    stage.hold(is_held=False)
    stage.type(("\r",), is_read=True)
    stage.ask("ruled")
    for line in (("\r",), ("\r",), ("b", "a", "c", "k", "\r"), ("n", "\r")):
        stage.note_screen()
        stage.wait(2.0)
        stage.type(line, is_read=True)
    before = len(stage.answers)
    stage.note_screen()
    stage.wait(0.1)
    assert len(stage.answers) > before

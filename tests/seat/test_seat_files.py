"""Prompts and replies as files, both sides."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.seat.counter import NOT_SAID, NOT_TAKEN, OpenPrompts, open_prompts, send_reply
from fwdperm.seat.names import key_in, stem_of, stems_in
from fwdperm.seat.prompt_files import PromptFiles, Received, ReceivedReply, ReplyBox, Unusable
from fwdperm.seat.queue import Closed, SeatQueue, WaitingQuestion
from fwdperm.settings import HALF_WRITTEN_S, UNCONSUMED_S
from fwdperm.wire.prompt import Fate, Prompt, Reply, ReplyKind, ReplyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ONCE = Reply(reply=ReplyKind.ONCE)
REJECT = Reply(reply=ReplyKind.REJECT, feedback="no")
LONG = "x" * 128


def prompt(name: str = "r1", inbox: str = "root", **fields: Any) -> Prompt:
    return Prompt(
        **{
            "id": name,
            "inbox": inbox,
            "digest": "d",
            "chain": (inbox, "build"),
            "surface": "bash",
            "values": ("ls",),
            "danger": "ruled",
            "why": "no rule",
            "created_at": 0,
            "deadline_at": 1,
            **fields,
        }
    )


class Daemon:
    """The daemon's side, one step at a time."""

    def __init__(self, state: Path) -> None:
        self.queue = SeatQueue()
        self.prompt_files = PromptFiles(state)
        self.box = ReplyBox(state)
        self.box.prepare()
        self.now = 0.0
        self.received: list[Received] = []

    def ask(self, asked: Prompt) -> None:
        self.queue.add(WaitingQuestion(asked.key, asked.digest, asked, deadline=self.now + 100))
        self.prompt_files.put(asked)

    def step(self, _: float = 0.0) -> None:
        for received in self.box.collect(now=self.now):
            self.received.append(received)
            if isinstance(received, ReceivedReply):
                outcome = self.queue.answer(received.key, received.reply.digest, received.reply, now=self.now, by="ann")
                self.box.publish_outcome(received.name, outcome, now=self.now)
                self.prompt_files.take(received.key)


@pytest.fixture
def daemon(tmp_path: Path) -> Daemon:
    return Daemon(tmp_path)


def send(state: Path, reply: Reply, wait: Callable[[float], None], *, name: str = "r1") -> ReplyOutcome:
    """Answer with a clock that moves by what is waited."""
    now = [0.0]

    def waited(seconds: float) -> None:
        now[0] += seconds
        wait(seconds)

    return send_reply(state, ("root", name), reply, timeout_s=2.0, clock=lambda: now[0], wait=waited)


def drop(state: Path, name: str, data: bytes) -> Path:
    path = state / "replies" / name
    path.write_bytes(data)
    return path


# -- names -------------------------------------------------------------------------------------------------------


@given(st.text(min_size=1, max_size=70), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fullmatch=True))
def test_every_request_has_a_file_name_of_its_own_that_can_be_read_back(inbox: str, name: str) -> None:
    try:
        stem = stem_of((inbox, name))
    except ChildError:
        return
    assert len(f"{stem}.{'0' * 16}.json") <= 255
    assert "/" not in stem
    assert stem[0] != "."
    assert key_in(stem) in {(inbox.strip(), name), None}
    assert (key_in(stem) is None) == (stem.rfind("~") == 0)
    assert stem in stems_in(f"{stem}.json")
    assert stem in stems_in(f"{stem}.0123456789abcdef.json")


@given(st.text(max_size=30))
def test_a_name_that_is_nobodys_is_read_as_nobodys(text: str) -> None:
    key = key_in(text)
    assert key is None or stem_of(key) == text


def test_a_name_that_should_have_been_shortened_is_nobodys() -> None:
    assert key_in(f"{'y' * 150}~{'x' * 100}") is None


def test_an_inbox_with_the_separator_in_its_name_is_told_apart() -> None:
    assert key_in(stem_of(("a~b", "c"))) == ("a~b", "c")


# -- prompts -----------------------------------------------------------------------------------------------------


def test_an_open_question_can_be_read_until_it_is_taken_away(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt("b", created_at=2))
    daemon.ask(prompt("a", created_at=3))
    assert open_prompts(tmp_path) == OpenPrompts(prompts=(prompt("b", created_at=2), prompt("a", created_at=3)))
    assert stat.S_IMODE((tmp_path / "prompts" / "root~a.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "prompts").stat().st_mode) == 0o700
    daemon.prompt_files.take(("root", "b"))
    daemon.prompt_files.take(("root", "b"))
    assert open_prompts(tmp_path).prompts == (prompt("a", created_at=3),)
    daemon.prompt_files.clear()
    assert open_prompts(tmp_path) == OpenPrompts(prompts=())


def test_where_nobody_ever_served_nothing_waits(tmp_path: Path) -> None:
    assert open_prompts(tmp_path / "never") == OpenPrompts(prompts=())


def test_what_cannot_be_read_is_not_called_empty(tmp_path: Path) -> None:
    (tmp_path / "prompts").write_text("a file")
    with pytest.raises(EnvironmentFailure, match="cannot read the open prompts"):
        open_prompts(tmp_path)


def test_one_bad_prompt_file_hides_no_other(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    prompts = tmp_path / "prompts"
    os.mkfifo(prompts / "a.json")
    (prompts / "b.json").symlink_to("/etc/passwd")
    (prompts / "c.json").write_text("{}")
    found = open_prompts(tmp_path)
    assert found.prompts == (prompt(),)
    assert [line.partition(":")[0] for line in found.unreadable] == ["a.json", "b.json", "c.json"]


def test_a_disk_that_takes_no_prompt_is_said_and_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "prompts").write_text("a file")
    prompt_files = PromptFiles(tmp_path)
    prompt_files.put(prompt())
    assert prompt_files.trouble == "cannot lay out the prompt `r1`: not a directory"


# -- replies -----------------------------------------------------------------------------------------------------


def test_an_answer_from_another_shell_counts_and_its_sender_hears_so(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    assert send(tmp_path, REJECT.model_copy(update={"digest": "d"}), daemon.step) == ReplyOutcome(
        outcome=Fate.ACCEPTED, words="rejected"
    )
    [received] = daemon.received
    assert isinstance(received, ReceivedReply)
    assert (received.key, received.reply.note) == (("root", "r1"), "no")
    assert not list((tmp_path / "replies").iterdir())
    assert not list((tmp_path / "outcomes").iterdir())
    assert open_prompts(tmp_path).prompts == ()


def test_two_answers_at_once_one_wins_and_the_other_is_told(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    told: list[ReplyOutcome] = []

    def also(_: float) -> None:
        if not told:  # while the first waits for its word, a second answer comes
            told.append(send(tmp_path, REJECT, daemon.step))

    told.append(send(tmp_path, ONCE, also))
    won, late = sorted(told, key=lambda each: each.outcome)
    assert (won.outcome, late.outcome) == (Fate.ACCEPTED, Fate.ALREADY_DECIDED)
    assert won.words in {"approved once", "rejected"}  # in one tick either is first
    assert late.words == f"already decided by ann: {won.words}"


def test_a_late_answer_hears_who_decided(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    daemon.queue.close(("root", "r1"), Closed(how="rejected", by="bob on pts/3"))
    outcome = send(tmp_path, ONCE, daemon.step)
    assert outcome == ReplyOutcome(outcome=Fate.ALREADY_DECIDED, words="already decided by bob on pts/3: rejected")


@pytest.mark.parametrize(
    ("reply", "name", "fate"),
    [
        (ONCE, "r2", Fate.UNKNOWN),
        (Reply(reply=ReplyKind.ONCE, digest="old"), "r1", Fate.STALE),
        (Reply(reply=ReplyKind.ALWAYS), "r1", Fate.REFUSED),
    ],
)
def test_an_answer_that_does_not_fit_leaves_the_question_waiting(
    tmp_path: Path, daemon: Daemon, reply: Reply, name: str, fate: Fate
) -> None:
    daemon.ask(prompt())
    assert send(tmp_path, reply, daemon.step, name=name).outcome is fate
    assert daemon.queue.front() is not None


def test_an_answer_that_nobody_takes_is_taken_back_for_good(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    assert send(tmp_path, ONCE, lambda _: None) == NOT_TAKEN
    daemon.step()
    assert daemon.queue.front() is not None
    assert send(tmp_path / "never", ONCE, lambda _: None) == NOT_TAKEN


def test_an_answer_whose_sender_is_interrupted_is_taken_back(tmp_path: Path, daemon: Daemon) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    daemon.ask(prompt())
    with pytest.raises(KeyboardInterrupt):
        send(tmp_path, ONCE, interrupted)
    daemon.step()
    assert daemon.received == []


def test_an_answer_taken_back_while_it_is_read_does_not_count(
    tmp_path: Path, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.ask(prompt())
    path = drop(tmp_path, "root~r1.json", b'{"reply":"once"}')
    unlink = os.unlink

    def raced(name: str, *, dir_fd: int | None = None) -> None:
        path.rename(tmp_path / "taken back")
        unlink(name, dir_fd=dir_fd)

    with monkeypatch.context() as patched:
        patched.setattr("fwdperm.seat.prompt_files.os.unlink", raced)
        daemon.step()
    assert daemon.received == []


def test_an_answer_taken_without_a_word_is_said_to_be_so(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    assert send(tmp_path, ONCE, lambda _: [*daemon.box.collect(now=0.0)].clear()) == NOT_SAID


def test_the_plainest_reply_file_answers(tmp_path: Path, daemon: Daemon) -> None:
    """`echo '{"reply":"once"}' > replies/root~r1.json`, written in place and half at first."""
    daemon.ask(prompt())
    path = drop(tmp_path, "root~r1.json", b'{"rep')
    daemon.step()
    assert path.exists()
    path.write_bytes(b'{"reply":"once"}')
    daemon.now += 0.5
    daemon.step()
    assert [type(each) for each in daemon.received] == [ReceivedReply]
    assert not path.exists()


def test_a_reply_that_never_becomes_whole_is_refused_after_its_time(tmp_path: Path, daemon: Daemon) -> None:
    daemon.ask(prompt())
    path = drop(tmp_path, "root~r1.json", b'{"rep')
    daemon.step()
    daemon.now += HALF_WRITTEN_S - 0.1
    daemon.step()
    assert daemon.received == []
    daemon.now += 0.2
    daemon.step()
    [received] = daemon.received
    assert isinstance(received, Unusable)
    assert received.words.startswith("reply is not JSON at line 1")
    assert not path.exists()
    assert json.loads((tmp_path / "outcomes" / "root~r1.json").read_bytes())["outcome"] == "refused"
    daemon.now += UNCONSUMED_S
    daemon.step()
    assert not list((tmp_path / "outcomes").iterdir())


@pytest.mark.parametrize("kind", ["fifo", "symlink", "hard link", "huge"])
def test_a_hostile_reply_file_answers_nothing_and_stops_nobody(tmp_path: Path, daemon: Daemon, kind: str) -> None:
    daemon.ask(prompt())
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_bytes(b'{"reply":"once"}')
    path = tmp_path / "replies" / "a~r1.json"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "symlink":
            path.symlink_to(elsewhere)
        case "hard link":
            path.hardlink_to(elsewhere)
        case "huge":
            with path.open("wb") as file:
                file.truncate(1 << 40)
    drop(tmp_path, "root~r1.json", b'{"reply":"once"}')
    daemon.step()
    if kind == "hard link":  # whoever publishes by linking has two names for a moment
        daemon.now += HALF_WRITTEN_S
        daemon.step()
    assert sorted(type(each).__name__ for each in daemon.received) == ["ReceivedReply", "Unusable"]
    assert elsewhere.read_bytes() == b'{"reply":"once"}'
    assert not list((tmp_path / "replies").iterdir())


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("nobody.json", b'{"reply":"once"}', "reply: its name stands for no request; give `id` and `inbox`"),
        ("..~r1.json", b'{"reply":"once"}', ""),
        (
            "root~r1.json",
            b'{"reply":"once","id":"r2","inbox":"root"}',
            "reply: its name stands for another request than its `id` and `inbox`",
        ),
        ("root~r1.json", b'{"reply":"once","id":"r1","inbox":".."}', "reply: session id '..' cannot name an inbox"),
    ],
)
def test_a_reply_for_nothing_we_know_answers_nothing(
    tmp_path: Path, daemon: Daemon, name: str, data: bytes, words: str
) -> None:
    daemon.ask(prompt())
    drop(tmp_path, name, data)
    daemon.step()
    daemon.now += HALF_WRITTEN_S
    daemon.step()
    assert [each.words for each in daemon.received if isinstance(each, Unusable)] == ([words] if words else [])
    assert daemon.queue.front() is not None


def test_a_tokened_name_without_id_never_answers_the_question_it_resembles(tmp_path: Path, daemon: Daemon) -> None:
    """`r1.0123456789abcdef` is an id of its own."""
    daemon.ask(prompt("r1"))
    daemon.ask(prompt("r1.0123456789abcdef"))
    drop(tmp_path, "root~r1.0123456789abcdef.json", b'{"reply":"once"}')
    daemon.step()
    assert [question.prompt.id for question in daemon.queue.waiting()] == ["r1"]


def test_a_request_with_the_longest_names_can_be_answered(tmp_path: Path, daemon: Daemon) -> None:
    asked = prompt(LONG, inbox="y" * 200)
    daemon.ask(asked)
    [found] = open_prompts(tmp_path).prompts
    assert send_reply(tmp_path, found.key, ONCE, wait=daemon.step).outcome is Fate.ACCEPTED


def test_answers_count_in_the_order_they_came(tmp_path: Path, daemon: Daemon) -> None:
    last = 0
    for name in ("z", "m", "a"):
        path = drop(tmp_path, f"root~{name}.json", b'{"reply":"once"}')
        while path.stat().st_ctime_ns <= last:  # until the kernel's clock has ticked
            path.touch()
        last = path.stat().st_ctime_ns
    daemon.step()
    assert [each.key[1] for each in daemon.received if isinstance(each, ReceivedReply)] == ["z", "m", "a"]

"""The line prompter on a real terminal."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pexpect
import pyte
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("prompter_driver.py")


class Seat:
    """A driver process on a pseudo-terminal, and the socket it is driven by."""

    def __init__(
        self, directory: Path, *, moment_s: float | None = 0.01, columns: int = 80, rows: int = 50, **env: str
    ) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        address = directory / "driver.socket"
        self._listener.bind(str(address))
        self._listener.listen()
        self._listener.settimeout(20)
        environ = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1", **env}
        self.tty = pexpect.spawn(
            sys.executable,
            [str(DRIVER), str(address), "" if moment_s is None else str(moment_s)],
            env=environ,  # type: ignore[arg-type]
            encoding="utf-8",
            dimensions=(rows, columns),
            timeout=20,
        )
        self.output = ""
        self._wire, _ = self._listener.accept()
        self._wire.settimeout(20)
        self._lines = self._wire.makefile("rb")
        assert self.event() == {"event": "attached"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._wire.close()
        self._listener.close()
        self.tty.close(force=True)

    def tell(self, **command: Any) -> None:
        self._wire.sendall(json.dumps(command).encode() + b"\n")

    def event(self) -> dict[str, Any]:
        """Give the next event that is not just a line having been read."""
        while (event := json.loads(self._lines.readline()))["event"] in {"line", "void", "begun"}:
            pass
        return dict(event)

    def typed(self, line: str) -> None:
        """Type a line and wait until the prompter has taken it, or called it void."""
        self.type(line)
        while (event := json.loads(self._lines.readline()))["event"] not in {"line", "void"}:
            pass
        assert event["line"] == line

    def voided(self) -> tuple[str, str, str]:
        """Give the next line that is void: whether it is over, its text, and why."""
        while (event := json.loads(self._lines.readline()))["event"] not in {"void", "begun"}:
            pass
        return event["event"], event["line"], event["why"]

    def waiting(self) -> list[str]:
        """Ask the driver what waits, after it has seen every event before."""
        self.tell(do="ping")
        seen = self.event()
        while seen["event"] != "pong":
            seen = self.event()
        return list(seen["waiting"])

    def ask(self, name: str = "r1", *, is_next: bool = True, **fields: Any) -> None:
        """Put a question; wait until it takes answers when it comes next."""
        prompt = {
            "id": name,
            "inbox": "root",
            "digest": f"digest-{name}",
            "chain": ["root", "build", "fix-7"],
            "surface": "bash",
            "values": ["git push"],
            "danger": "ruled",
            "why": 'rule ask "git push *" policy.toml:14',
            "createdAt": 1,
            "deadlineAt": 2,
        }
        self.tell(do="ask", **{**prompt, **fields})
        if is_next:
            self.expect(f"answer {name}> ")
            assert self.event() == {"event": "open"}

    def expect(self, text: str) -> str:
        """Wait for a text on the terminal; give what came before it."""
        self.tty.expect_exact(text)
        self.output += self.tty.before + text
        return str(self.tty.before)

    def type(self, line: str) -> None:
        self.tty.sendline(line)

    def answer(self) -> dict[str, Any]:
        seen = self.event()
        assert seen["event"] == "answer"
        return seen


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    with Seat(tmp_path) as seat:
        yield seat


def test_a_question_says_who_what_why_and_how_long(seat: Seat) -> None:
    seat.ask(agent="coder", cwd="/home/me/app", suggestions=[{"surface": "bash", "pattern": "git push"}])
    text = seat.output.replace("\r\n", "\n")
    assert "who      root > build > fix-7 (agent coder)\n  what     bash in /home/me/app\n  | git push\n" in text
    assert 'why      rule ask "git push *" policy.toml:14\n' in text
    assert 'always   would record allow bash "git push"\n' in text
    assert "time     4:12 left\n" in text


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("y only this branch", {"reply": "once", "feedback": "only this branch"}),
        ("n", {"reply": "reject"}),
    ],
)
def test_a_line_answers_bound_to_what_was_on_screen(seat: Seat, typed: str, expected: dict[str, str]) -> None:
    seat.ask(suggestions=[{"surface": "bash", "pattern": "git push"}])
    seat.type(typed)
    reply = seat.answer()["reply"]
    assert reply.pop("via").startswith("prompter on pts/")
    assert reply == {**expected, "id": "r1", "inbox": "root", "digest": "digest-r1"}
    assert seat.waiting() == []


def always(seat: Seat, *lines: str) -> None:
    """Begin the talk about an *always* and go through it."""
    seat.ask(suggestions=[{"surface": "bash", "pattern": "git push"}, {"surface": "bash", "pattern": "git *"}])
    for line in lines:
        seat.type(line)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("a", "", "", "", "save"), {"reply": "always", "scope": "requester"}),
        (
            ("a fine here", "2", "3", "2h", "save"),
            {
                "reply": "always",
                "feedback": "fine here",
                "patterns": ["git *"],
                "scope": "tree",
                "expires_in_ms": 7_200_000,
            },
        ),
        (("a", "git p*", "9", "4", "soon", "1d", "yes", "save"), {"scope": "project", "patterns": ["git p*"]}),
    ],
    ids=["defaults", "chosen", "own pattern, and mistakes"],
)
def test_always_shows_the_exact_rule_and_saves_only_on_the_word(
    seat: Seat, lines: tuple[str, ...], expected: dict[str, Any]
) -> None:
    always(seat, *lines[:-1])
    seat.expect("type `save` to approve")
    assert seat.waiting() == ["r1"]
    assert "would record git" in seat.output
    seat.type(lines[-1])
    reply = seat.answer()["reply"]
    assert reply | expected == reply
    assert (reply["id"], reply["digest"]) == ("r1", "digest-r1")
    assert seat.waiting() == []


def test_a_rule_that_does_not_match_is_said_so_and_chosen_again(seat: Seat) -> None:
    always(seat, "a", "other", "", "")
    seat.expect("does not match what is asked")
    for line in ("1", "", ""):
        seat.type(line)
    seat.expect("would record git push")
    assert seat.waiting() == ["r1"]


def test_what_asks_the_same_is_shown_once_and_each_is_answered(seat: Seat) -> None:
    """Only what the screen named is answered, each bound to its own id and digest; what came later is asked."""
    seat.ask("r1", values=["git fetch"])
    for name in ("r2", "r3"):
        seat.ask(name, is_next=False, chain=["root", "build", name])
    seat.type("y")
    assert seat.answer()["id"] == "r1"
    seat.expect("the same is asked by r3 of r3")
    seat.expect("answer r2> ")
    assert seat.event() == {"event": "open"}
    seat.ask("r4", is_next=False)
    seat.type("n not now")
    told = [seat.answer()["reply"] for _ in range(2)]
    assert [(one["id"], one["digest"], one["feedback"]) for one in told] == [
        ("r2", "digest-r2", "not now"),
        ("r3", "digest-r3", "not now"),
    ]
    assert seat.waiting() == ["r4"]


def test_leaving_the_talk_answers_nothing_and_pressing_enter_never_saves(seat: Seat) -> None:
    always(seat, "a", "", "", "", "", "", "back")
    seat.expect("nothing was answered")
    seat.type("")
    assert seat.waiting() == ["r1"]
    seat.type("y")
    assert seat.answer()["reply"]["reply"] == "once"


def test_a_question_that_closes_ends_the_talk_about_it(seat: Seat) -> None:
    always(seat, "a", "1")
    seat.tell(do="close", id="r1", how="expired")
    seat.ask("r2", suggestions=[{"surface": "bash", "pattern": "git push"}])
    seat.type("save")
    assert seat.waiting() == ["r2"]


def test_what_was_typed_before_the_question_answers_nothing(seat: Seat) -> None:
    seat.type("y")
    seat.expect("nothing is asked right now")
    seat.tty.send("y")  # half a line, its end comes after the question
    seat.ask()
    seat.type("")
    seat.type("help")
    seat.expect("An empty line does nothing")
    assert seat.waiting() == ["r1"]


def test_what_is_typed_in_the_first_moment_answers_nothing(tmp_path: Path) -> None:
    with Seat(tmp_path, moment_s=3600) as seat:
        seat.ask(is_next=False)
        seat.expect("answer r1> ")
        seat.type("y")
        seat.expect("that was typed before r1 could be read; nothing was answered")
        assert seat.waiting() == ["r1"]


def test_a_line_begun_in_the_first_moment_is_void_whenever_it_ends(tmp_path: Path) -> None:
    """The first letter was for something else; the rest of the word is no answer of its own."""
    with Seat(tmp_path, moment_s=None) as seat:
        seat.ask(is_next=False, danger="dangerous")
        seat.expect("answer r1> ")
        seat.tty.send("oh ")
        assert seat.event() == {"event": "open"}
        seat.type("yes")
        assert seat.voided() == ("void", "oh yes", "that was typed before r1 could be read")
        seat.type("yes")
        assert seat.answer()["id"] == "r1"


def test_half_a_line_for_a_question_that_ended_voids_the_rest_of_it(seat: Seat) -> None:
    """The end of a sentence begun for one question reads as an answer to the next one."""
    seat.ask("r1", values=["make exp3"])
    seat.ask("r2", is_next=False, values=["git push --force origin main"], danger="dangerous")
    seat.tty.send("n please ask the team first if")
    seat.expect("first if")
    seat.tell(do="close", id="r1", how="expired")
    seat.expect("that was typed for r1, which ended; nothing was answered\r\n  | n please ask the team first if\r\n")
    assert seat.event() == {"event": "open"}
    seat.type(" yes then we can do it")
    seat.expect("that was typed for r1, which ended; nothing was answered\r\n")
    seat.expect("  | n please ask the team first if yes then we can do it\r\nanswer r2> ")
    assert seat.waiting() == ["r2"]
    seat.type("yes")
    assert seat.answer()["id"] == "r2"


def test_half_a_line_for_nothing_voids_the_rest_of_it(seat: Seat) -> None:
    seat.tty.send("say ")
    seat.expect("say ")
    seat.ask("r1")
    seat.type("yes")
    assert "that was typed before r1 was asked; nothing was answered" in seat.output
    assert seat.voided() == ("void", "say yes", "that was typed before r1 was asked")
    assert seat.waiting() == ["r1"]


def test_half_a_line_of_a_talk_whose_question_ended_is_void_too(seat: Seat) -> None:
    always(seat, "a", "1", "", "")
    seat.expect("type `save` to approve")
    seat.expect("answer r1, always, confirm> ")
    seat.tty.send("sa")
    seat.expect("sa")
    seat.tell(do="close", id="r1", how="rejected", by="bob")
    seat.ask("r2", suggestions=[{"surface": "bash", "pattern": "git push"}])
    seat.type("ve")
    assert seat.voided() == ("void", "save", "that was typed for r1, which ended")
    seat.type("a")
    seat.expect("record what?")
    assert seat.waiting() == ["r2"]


def test_several_lines_at_once_answer_nothing(seat: Seat) -> None:
    seat.ask("r1")
    seat.ask("r2", is_next=False)
    seat.tty.send("n never\n\nn never\nn")
    assert [seat.voided() for _ in range(3)] == [
        ("void", text, "several lines came at once, as from a paste") for text in ("n never", "", "n never")
    ]
    seat.type("")
    assert seat.voided() == ("void", "n", "several lines came at once, as from a paste")
    assert seat.waiting() == ["r1", "r2"]
    seat.type("n")
    assert seat.answer()["id"] == "r1"


@pytest.mark.parametrize("pasted", ["y", "y\n", "please look:\r\ny\r\n", "y\n" * 3000])
def test_a_paste_answers_nothing(seat: Seat, pasted: str) -> None:
    seat.ask("r1")
    seat.tty.send(f"\x1b[200~{pasted}\x1b[201~")
    seat.expect("that was pasted, and a paste answers nothing; nothing was answered")
    if not pasted.endswith("\n"):
        seat.type("")
    assert seat.waiting() == ["r1"]
    seat.expect("answer r1> ")
    seat.type("n")
    while (seen := seat.event())["event"] == "open":
        pass  # a long paste fills the terminal, and what comes after it has its moment anew
    assert seen["reply"]["reply"] == "reject"


def test_a_paste_into_a_typed_line_voids_the_line(seat: Seat) -> None:
    seat.ask("r1")
    seat.tty.send("y ")
    seat.tty.send("\x1b[200~fine\x1b[201~")
    seat.expect("belongs to it and answers nothing either")
    seat.type(" here")
    assert seat.voided()[:2] == ("begun", "y fine")
    assert seat.voided()[:2] == ("void", "y fine here")
    assert seat.waiting() == ["r1"]


def test_pastes_are_marked_where_the_terminal_can_and_only_while_it_is_ours(tmp_path: Path) -> None:
    for term, marks in (("xterm", True), ("dumb", False)):
        directory = tmp_path / term
        directory.mkdir()
        with Seat(directory, TERM=term) as seat:
            seat.ask()
            assert ("\x1b[?2004h" in seat.output) == marks
            seat.tty.sendeof()
            seat.expect("left this prompter")
            assert seat.event() == {"event": "detached"}
            seat.tty.sendline("back")
            seat.expect("back")  # shown by the terminal again, not by us
            assert ("\x1b[?2004l" in seat.output) == marks


def test_a_typed_line_is_edited_with_the_keys_of_a_terminal(seat: Seat) -> None:
    seat.ask()
    seat.tty.send("rubbish\x15yy\x7f onyl\x17only th\u00e9\x7fe")
    seat.type(" branch")
    reply = seat.answer()["reply"]
    assert (reply["reply"], reply["feedback"]) == ("once", "only the branch")
    screen = pyte.Screen(80, 50)
    seat.expect("approved once: r1")
    pyte.Stream(screen).feed(seat.output)
    assert "answer r1> y only the branch" in [row.rstrip() for row in screen.display]


def test_a_newer_question_waits_behind_the_one_on_screen(seat: Seat) -> None:
    seat.ask("r1")
    seat.ask("r2", is_next=False, values=["rm -rf build"])
    assert seat.waiting() == ["r1", "r2"]
    seat.type("y")
    assert seat.answer()["id"] == "r1"
    seat.expect("approved once: r1")
    assert "rm -rf build" not in seat.output
    seat.expect("rm -rf build")


def test_a_withdrawn_question_closes_and_the_next_is_asked(seat: Seat) -> None:
    seat.ask("r1")
    seat.ask("r2", is_next=False)
    seat.tty.send("y")  # typed for r1, not yet sent
    seat.tell(do="close", id="r1", how="withdrawn by its requester")
    seat.expect("closed: withdrawn by its requester  (r1)")
    seat.expect("answer r2> ")
    assert seat.event() == {"event": "open"}
    seat.type("")
    seat.type("list")
    seat.expect("r2  fix-7  bash  git push")
    assert seat.waiting() == ["r2"]


def test_a_question_answered_elsewhere_says_by_whom(seat: Seat) -> None:
    seat.ask("r1")
    seat.tell(do="close", id="r1", how="rejected", by="bob")
    seat.expect("already decided by bob: rejected  (r1)")


def test_an_answer_that_comes_second_hears_who_was_first(seat: Seat) -> None:
    seat.ask("r1")
    seat.ask("r2", is_next=False)
    seat.tell(do="steal", id="r1")
    assert seat.waiting() == ["r2"]
    seat.type("n")
    seat.expect("already decided by bob: approved once  (r1)")
    assert "already decided" not in seat.expect("answer r2> ")
    assert seat.event() == {"event": "open"}  # and no answer before it
    assert seat.waiting() == ["r2"]


def test_nothing_of_a_request_reaches_the_terminal_raw(seat: Seat) -> None:
    evil = "\x1b[2J\x1b[H\x9b2J\x07\u202e\u200b\r\nanswer r9> y"
    seat.ask(
        values=[f"ls{evil}", f"ls2{evil}"],
        agent=f"x{evil}",
        cwd=f"/a{evil}",
        message=f"m{evil}",
        chain=["root", f"s{evil}"],
        surface=f"bash{evil}",
        tool=f"t{evil}",
        why=f"w{evil}",
        judge={"verdict": "escalate", "risk": f"low{evil}", "reason": f"j{evil}"},
        suggestions=[{"surface": "bash", "pattern": f"p{evil}"}],
        units=[{"surface": f"u{evil}", "text": f"t{evil}", "rule": f"r{evil}", "origin": f"o{evil}", "reason": evil}],
        suspicions=[evil],
    )
    seat.type("list")
    seat.expect("answer r1> ")
    seat.type("full")
    seat.expect("that is all of it")
    ours = "\x1b[?2004h"
    assert not set(seat.output.replace(ours, "", 1)) & set("\x1b\x9b\x07\u202e\u200b")
    assert not [line for line in seat.output.split("\r\n") if line.startswith("answer r9")]


def test_the_screen_shows_the_escaped_text_where_it_was_written(seat: Seat) -> None:
    seat.ask(values=["ls\x1b[2J\x1b[HAllow? y" + "x" * 200])
    screen = pyte.Screen(80, 50)
    pyte.Stream(screen).feed(seat.output)
    rows = [row.rstrip() for row in screen.display if row.strip()]
    assert next(row for row in rows if "Allow?" in row).startswith("  | ls\\u{1B}[2J\\u{1B}[HAllow? yxxx")
    assert {row[:4] for row in rows if "xxxx" in row} == {"  | ", "  + "}
    assert rows[-1] == "answer r1>"


def test_a_cut_value_has_to_be_read_in_full_before_it_can_be_approved(tmp_path: Path) -> None:
    with Seat(tmp_path, rows=40) as seat:
        seat.ask(values=["\n".join(f"echo {number}" for number in range(60)) + "\nrm -rf ~/data"])
        assert "  | [21 more lines, 153 characters]" in seat.output
        assert "rm -rf" not in seat.output
        seat.type("y")
        seat.expect("21 lines are not shown yet: type `full` and read them first")
        seat.type("full")
        seat.expect("more lines: type `full` again]")
        seat.type("yes")
        seat.expect("21 lines are not shown yet")
        seat.type("full")
        seat.expect("  | rm -rf ~/data")
        seat.expect("[that is all of it]")
        assert seat.waiting() == ["r1"]
        seat.type("y")
        assert seat.answer()["reply"]["reply"] == "once"


def test_what_is_typed_while_the_screen_stands_still_was_not_for_what_comes_next(tmp_path: Path) -> None:
    """The terminal is held with Ctrl-S: neither what was asked for nor what is typed can be seen."""
    with Seat(tmp_path, rows=200) as seat:
        seat.ask(values=["x\n" * 20 + "y\n" * 30])
        seat.tty.send("\x13")
        seat.typed("full")
        seat.typed("n")
        assert seat.waiting() == ["r1"]
        seat.tty.send("\x11")
        seat.expect("that was typed before the screen could be read; nothing was answered")
        assert seat.event() == {"event": "open"}
        seat.typed("full")
        seat.expect("[that is all of it]")
        seat.type("y")
        assert seat.answer()["reply"]["reply"] == "once"


def test_a_cut_value_can_be_rejected_unread(seat: Seat) -> None:
    seat.ask(values=["x\n" * 100 + "y\n" * 100])
    seat.type("n too long")
    assert seat.answer()["reply"]["reply"] == "reject"


def test_a_dangerous_request_takes_the_whole_word(seat: Seat) -> None:
    seat.ask(danger="dangerous", suggestions=[{"surface": "bash", "pattern": "rm x"}])
    assert "DANGEROUS" in seat.output
    for typed, words in (
        ("y", "this is DANGEROUS: type the whole word `yes` to approve it"),
        ("once", "this is DANGEROUS: type the whole word `yes` to approve it"),
        ("a", "a dangerous request is never allowed for later ones: answer `once` or `reject`"),
    ):
        seat.type(typed)
        seat.expect(words)
    assert seat.waiting() == ["r1"]
    seat.type("yes")
    assert seat.answer()["reply"]["reply"] == "once"


def test_a_line_that_is_not_clearly_an_answer_answers_nothing(seat: Seat) -> None:
    seat.ask()
    for typed in ("", "   ", "ok", "y n", "\x1b[A", "full y", "yes,"):
        seat.type(typed)
    seat.type("help")
    seat.expect("An empty line does nothing")
    assert seat.waiting() == ["r1"]


def test_end_of_input_leaves_the_prompter_and_the_process_goes_on(seat: Seat) -> None:
    seat.ask("r1")
    seat.tty.sendeof()
    seat.expect("left this prompter; requests go on waiting")
    assert seat.event() == {"event": "detached"}
    seat.ask("r2", is_next=False)
    assert seat.waiting() == ["r1", "r2"]


def test_a_terminal_that_is_gone_is_left_and_the_process_goes_on(seat: Seat) -> None:
    seat.ask("r1")
    seat.tty.ptyproc.fileobj.close()
    seat.tty.closed = True
    assert seat.event() == {"event": "detached"}
    seat.ask("r2", is_next=False)
    assert seat.waiting() == ["r1", "r2"]


def test_colour_repeats_the_words_only_where_it_is_wanted(tmp_path: Path) -> None:
    for number, (env, coloured) in enumerate(
        [({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": "", "TERM": "dumb"}, False)]
    ):
        directory = tmp_path / str(number)
        directory.mkdir()
        with Seat(directory, **env) as seat:
            seat.ask(danger="dangerous")
            assert ("\x1b[1;31m" in seat.output) == coloured
            assert "DANGEROUS" in seat.output


def test_a_terminal_not_known_to_speak_utf8_gets_ascii(tmp_path: Path) -> None:
    with Seat(tmp_path, LANG="C") as seat:
        seat.ask(values=["echo \u045b"])
        assert "| echo \\u{45B}" in seat.output


def test_a_terminal_held_with_ctrl_s_makes_nobody_wait(tmp_path: Path) -> None:
    """The queue goes on, and nothing can be approved that is not on screen."""
    with Seat(tmp_path) as seat:
        seat.tty.send("\x13")
        seat.typed("")
        seat.ask("r1", is_next=False)
        assert seat.waiting() == ["r1"]
        seat.tell(do="close", id="r1", how="expired")
        seat.ask("r2", is_next=False)
        seat.typed("y")
        assert seat.waiting() == ["r2"]
        seat.tty.send("\x11")
        seat.expect("answer r2> ")
        assert seat.event() == {"event": "open"}
        seat.type("y")
        assert seat.answer()["id"] == "r2"


def test_without_a_terminal_standard_input_is_never_read(tmp_path: Path) -> None:
    address = tmp_path / "driver.socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        listener.settimeout(20)
        reading, writing = os.pipe()
        os.write(writing, b"y\n")
        with subprocess.Popen([sys.executable, str(DRIVER), str(address), "0"], stdin=reading) as driver:
            wire, _ = listener.accept()
            with wire, wire.makefile("rb") as lines:
                told = json.loads(lines.readline())
            assert driver.wait(20) == 0
        assert told["event"] == "no terminal"
        assert os.read(reading, 10) == b"y\n"
        os.close(reading)
        os.close(writing)


def test_a_prompter_in_the_background_is_not_stopped_and_asks_when_it_comes_back(tmp_path: Path) -> None:
    """Started with `&`: the terminal belongs to the shell."""
    address = tmp_path / "driver.socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        listener.settimeout(20)
        shell = pexpect.spawn("bash", ["--norc", "-i"], encoding="utf-8", timeout=20, env={**os.environ, "PS1": "$ "})
        try:
            shell.sendline(f"stty tostop; NO_COLOR=1 LANG=C {sys.executable} {DRIVER} {address} 0.01 & true")
            wire, _ = listener.accept()
            with wire, wire.makefile("rb") as lines:
                wire.settimeout(20)
                assert json.loads(lines.readline()) == {"event": "attached"}
                prompt = {"id": "r1", "inbox": "root", "digest": "d", "chain": ["root"], "surface": "bash"}
                prompt |= {"values": ["ls"], "danger": "ruled", "why": "w", "createdAt": 1, "deadlineAt": 2}
                wire.sendall(json.dumps({"do": "ask", **prompt}).encode() + b'\n{"do": "ping"}\n')
                shell.expect_exact("a question waits; bring this job to the foreground")
                assert json.loads(lines.readline()) == {"event": "pong", "waiting": ["r1"]}
                shell.sendline("echo the shell reads: $((40+2))")
                shell.expect_exact("the shell reads: 42")
                shell.sendline("fg")
                shell.expect_exact("answer r1> ")
                assert json.loads(lines.readline()) == {"event": "open"}
                shell.sendline("y")
                told = [json.loads(lines.readline()) for _ in range(2)]
                assert [event["event"] for event in told] == ["answer", "line"]
                assert told[0]["id"] == "r1"
        finally:
            shell.kill(signal.SIGKILL)
            shell.close(force=True)


def test_a_prompter_stopped_with_ctrl_z_gives_the_terminal_back_and_goes_on_with_fg(tmp_path: Path) -> None:
    """The half line typed before it is void; the shell shows what is typed to it."""
    address = tmp_path / "driver.socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        listener.settimeout(20)
        shell = pexpect.spawn("bash", ["--norc", "-i"], encoding="utf-8", timeout=20, env={**os.environ, "PS1": "$ "})
        try:
            shell.sendline(f"NO_COLOR=1 LANG=C {sys.executable} {DRIVER} {address} 0.01")
            wire, _ = listener.accept()
            with wire, wire.makefile("rb") as lines:
                wire.settimeout(20)
                assert json.loads(lines.readline()) == {"event": "attached"}
                prompt = {"id": "r1", "inbox": "root", "digest": "d", "chain": ["root"], "surface": "bash"}
                prompt |= {"values": ["ls"], "danger": "ruled", "why": "w", "createdAt": 1, "deadlineAt": 2}
                wire.sendall(json.dumps({"do": "ask", **prompt}).encode() + b"\n")
                shell.expect_exact("answer r1> ")
                assert json.loads(lines.readline()) == {"event": "open"}
                shell.send("oh ")
                shell.expect_exact("oh ")
                shell.send("\x1a")
                shell.expect_exact("Stopped")
                shell.sendline("stty -a; echo the shell reads: $((40+2))")
                shell.expect_exact(" icanon")
                shell.expect_exact("the shell reads: 42")
                shell.sendline("fg")
                shell.expect_exact("answer r1> ")
                while json.loads(lines.readline()) != {"event": "open"}:
                    pass
                shell.sendline("yes")
                shell.expect_exact("that was typed before r1 could be read; nothing was answered")
                shell.sendline("n")
                while (told := json.loads(lines.readline()))["event"] != "answer":
                    assert told["event"] != "line"
                assert told["reply"]["reply"] == "reject"
        finally:
            shell.kill(signal.SIGKILL)
            shell.close(force=True)

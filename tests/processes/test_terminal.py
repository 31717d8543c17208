"""A person at the terminal that serves: the real daemon on a real pseudo-terminal."""

from __future__ import annotations

import json
import signal
import sys
import termios
import time
from typing import TYPE_CHECKING, Any

import pexpect
import pyte
import pytest
from house import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from house import House


@pytest.fixture
def terminal(house: House) -> Iterator[Any]:
    daemon = pexpect.spawn(
        sys.executable,
        ["-m", "fwdperm", "serve", "--workspace", str(house.work)],
        env=house.env | {"NO_COLOR": "1", "TERM": "xterm"},
        encoding="utf-8",
        timeout=20,
        dimensions=(40, 120),
    )
    daemon.expect("fwdperm asks here")
    yield daemon
    daemon.kill(signal.SIGKILL)
    daemon.wait()
    daemon.close()


def answer(terminal: Any, line: str) -> None:
    """Type after the moment in which keys are thrown away: the prompt's own mark says when it is over."""
    terminal.expect("> ")
    wait_for(lambda: _typed(terminal, line), what="the answer to be taken", seconds=10)


def _typed(terminal: Any, line: str) -> bool:
    terminal.sendline(line)
    return terminal.expect(["approved", "rejected", "accepted", "too soon", pexpect.TIMEOUT], timeout=1) < 3


def test_a_question_is_answered_with_a_note_on_the_terminal_that_serves(house: House, terminal: Any) -> None:
    stem = house.drop("git push", requesterSessionId="build")
    terminal.expect("root > build")
    terminal.expect("git push")
    terminal.expect("rule ask")
    answer(terminal, "yes only this branch")
    got = house.wait_answer(stem)
    assert (got["approved"], got["note"]) == (True, "only this branch")
    assert "terminal" in got["decidedBy"]["via"]


def test_a_rejection_with_a_note_reaches_the_agent(house: House, terminal: Any) -> None:
    stem = house.drop("git push")
    terminal.expect("git push")
    answer(terminal, "n not today")
    assert house.wait_answer(stem)["denialReason"] == "User rejected this tool call with feedback: not today"


def test_what_is_typed_before_a_question_answers_nothing(house: House, terminal: Any) -> None:
    terminal.sendline("yes")
    terminal.sendline("yes")
    stem = house.drop("git push")
    terminal.expect("git push")
    terminal.expect("> ")
    assert house.answer(stem) is None
    wait_for(lambda: _typed(terminal, "n"), what="the answer to be taken", seconds=10)
    assert house.wait_answer(stem)["approved"] is False


def stands(terminal: Any, name: str) -> str:
    """Wait until a question has been on screen for longer than any question takes to open; give what was seen."""
    terminal.expect_exact(f"answer {name}> ")
    seen = str(terminal.before)
    assert terminal.expect([pexpect.TIMEOUT, "answered", "approved"], timeout=1.3) == 0
    return seen


def test_the_rest_of_a_sentence_for_an_expired_question_does_not_answer_the_next(house: House, terminal: Any) -> None:
    """A request expires while its rejection is being typed; the rest of the words would approve a force push."""
    first = house.drop("make exp3", deadlineMs=int(time.time() * 1000) + 4_000)
    terminal.expect_exact(f"answer {first}> ")
    second = house.drop("git push --force origin main")
    house.wait_prompt()
    terminal.send("n please ask the team first if")
    terminal.expect_exact("closed: expired")
    seen = terminal.before + stands(terminal, second)
    assert f"that was typed for {first}, which ended; nothing was answered" in seen
    terminal.send(" yes then we can do it\r")
    terminal.expect_exact(f"that was typed for {first}, which ended; nothing was answered\r\n")
    terminal.expect_exact("answer ")
    screen = pyte.Screen(120, 40)
    pyte.Stream(screen).feed(terminal.before)
    assert screen.display[0].rstrip() == "  | n please ask the team first if yes then we can do it"
    assert house.answer(second) is None
    terminal.send("n ask first\r")
    assert house.wait_answer(second)["denialReason"] == "User rejected this tool call with feedback: ask first"


def test_enter_pressed_twice_does_not_answer_a_question_nobody_read(house: House, terminal: Any) -> None:
    """The same hand movement again, three tenths of a second later."""
    first, second = house.drop("git push one"), house.drop("git push two")
    stands(terminal, first)
    terminal.send("yes\r")
    terminal.expect_exact(f"answer {second}> ")
    terminal.delaybeforesend = 0.3
    terminal.send("yes\r")
    terminal.expect_exact(f"that was typed before {second} could be read; nothing was answered")
    assert house.wait_answer(first)["approved"] is True
    assert house.answer(second) is None
    assert [prompt["id"] for prompt in house.prompts()] == [second]


@pytest.mark.parametrize(
    "pasted", ["yes\rplease see to it\r", "\x1b[200~yes\r\x1b[201~", "\x1b[200~yes\x1b[201~\r"], ids=repr
)
def test_a_paste_answers_nothing(house: House, terminal: Any, pasted: str) -> None:
    stem = house.drop("git push")
    stands(terminal, stem)
    terminal.send(pasted)
    terminal.expect("paste.*; nothing was answered")
    stands(terminal, stem)
    assert house.answer(stem) is None
    terminal.send("n\r")
    assert house.wait_answer(stem)["approved"] is False


def test_the_terminal_is_left_as_it_was_found(house: House, terminal: Any) -> None:
    house.drop("git push")
    terminal.expect("answer .*> ")
    shows, by_lines = termios.ECHO, termios.ICANON
    assert termios.tcgetattr(terminal.child_fd)[3] & (shows | by_lines) == 0
    terminal.sendintr()
    terminal.expect_exact("\x1b[?2004l")
    terminal.expect_exact("fwdperm stopped")
    assert termios.tcgetattr(terminal.child_fd)[3] & (shows | by_lines) == shows | by_lines


def test_an_answer_from_another_shell_closes_the_question_on_the_terminal(house: House, terminal: Any) -> None:
    stem = house.drop("git push")
    terminal.expect("git push")
    assert house.run("reject", stem).returncode == 0
    terminal.expect("already decided by .*: rejected")


def test_hostile_text_never_reaches_the_terminal_raw(house: House, terminal: Any) -> None:
    evil = "ls\u001b[2J\u001b[Hfwdperm: approved\u202e"
    house.drop(evil, requesterAgentName="x\n> y\napproved by admin", message="\u001b]0;title\u0007")
    terminal.expect("u{1B}")
    terminal.expect("> ")
    shown = terminal.before
    assert "\u001b[2J" not in shown
    assert "\u202e" not in shown
    assert "\u0007" not in shown
    assert "\napproved by admin" not in shown


def test_a_closed_terminal_does_not_take_the_daemon_along(house: House, terminal: Any) -> None:
    terminal.sendeof()
    stem = house.drop("git push")
    prompt = house.wait_prompt()
    assert house.run("allow", prompt["id"]).returncode == 0
    assert house.wait_answer(stem)["approved"] is True
    assert terminal.isalive()


def test_a_question_that_may_not_wait_unattended_ends_with_the_terminal(house: House, terminal: Any) -> None:
    """The setting says that nobody will look: whoever asked is told at once when the last person is gone."""
    house.config.write_text('unattended = "reject"\n\n' + house.rules, encoding="utf-8")
    status = house.state / "status.json"
    wait_for(lambda: json.loads(status.read_bytes())["settings"]["unattended"] == "reject", what="the setting")
    stem = house.drop("git push")
    terminal.expect("answer .*> ")
    assert house.answer(stem) is None
    terminal.sendeof()
    told = house.wait_answer(stem, seconds=5)
    assert (told["approved"], told["decidedBy"]["code"]) == (False, "unavailable")


def test_ctrl_c_ends_the_daemon_in_good_order(house: House, terminal: Any) -> None:
    terminal.sendintr()
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 0
    assert not list((house.root / "serving").iterdir())


def test_the_end_is_said_on_a_line_of_its_own(house: House, terminal: Any) -> None:
    house.drop("git push")
    terminal.expect("answer .*> ")
    terminal.sendintr()
    terminal.expect("\r\nfwdperm stopped; what waits, waits for the next `fwdperm serve`\r\n")
    terminal.expect(pexpect.EOF)


def test_a_narrow_terminal_gets_whole_words(house: House, terminal: Any) -> None:
    terminal.setwinsize(24, 40)
    house.drop("make x")
    terminal.expect("answer .*> ")
    shown = terminal.before
    assert "y approve once, a always, n reject (a \r\nnote may follow)" in shown
    assert "\r\n           the checking words of" in shown

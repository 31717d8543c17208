"""What `fwdperm explain --program` tells is what the book says and what the guard does."""

from __future__ import annotations

import pytest

from fwdperm.guard import (
    Danger,
    Surroundings,
    assess,
    describe_program,
    program_as_json,
    program_as_lines,
    unknown_program_lines,
)
from fwdperm.programs import every_program
from fwdperm.units import break_down
from fwdperm.wire import Facts

HOME = "/home/you"
WORK = f"{HOME}/project"


def class_of(command: str) -> Danger:
    facts = Facts("bash", (command,), cwd=WORK, home=HOME)
    return assess(facts, break_down(facts), Surroundings(workspaces=(WORK,), home=HOME))[0].danger


def text_of(command: str) -> str:
    page = describe_program(command)
    assert page is not None
    return "\n".join(program_as_lines(page))


def test_every_program_of_the_book_has_a_page() -> None:
    """In lines that fit, and with its name, what it is, and every one of its dangers."""
    for program in every_program():
        page = describe_program(program.name)
        assert page is not None
        lines = list(program_as_lines(page))
        assert lines[0].startswith(program.name)
        assert {one.id for one in page.dangers} == {f"dangerous.{one.id}" for one in program.dangers}
        assert program_as_json(page)["known"] is True


@pytest.mark.parametrize("program", ["git", "npm", "docker", "kubectl", "sudo", "systemctl", "rm"])
def test_what_a_page_calls_dangerous_always_the_guard_calls_dangerous(program: str) -> None:
    """The page is read from the same book; its reading of a danger's words may not be milder or stricter."""
    page = describe_program(program)
    assert page is not None
    wrong = {
        one.names[0]
        for one in page.subcommands
        if one.danger is Danger.DANGEROUS and class_of(f"{program} {one.names[0]}").rank < Danger.DANGEROUS.rank
    }
    assert wrong <= set(page.mild)
    if page.use.danger is Danger.DANGEROUS:
        assert class_of(f"{program} x").rank >= Danger.DANGEROUS.rank


@pytest.mark.parametrize("program", ["git", "npm", "cargo", "go"])
def test_what_the_guard_calls_dangerous_a_page_does_not_call_ruled(program: str) -> None:
    """But for a word that is dangerous wherever it stands, because it is like the name of a file with secrets."""
    page = describe_program(program)
    assert page is not None
    wrong = {
        one.names[0]
        for one in page.subcommands
        if one.danger is Danger.RULED and class_of(f"{program} {one.names[0]}").rank >= Danger.DANGEROUS.rank
    }
    assert {name for name in wrong if class_of(f"frobnicate {name}") is Danger.RULED} == set()


def test_a_subcommand_has_a_page_of_its_own() -> None:
    text = text_of("git branch")
    assert text.startswith("git branch")
    assert "routine by itself: lists branches" in text
    assert "with `--delete`, `--force`, `-D`, `-M`, `-d` or `-f`: throws work away" in text


def test_an_alias_opens_the_same_page() -> None:
    assert describe_program("/usr/bin/gfind") == describe_program("find")


def test_a_wrapper_says_how_it_carries_a_command_and_what_an_allow_sees() -> None:
    assert "the words behind its own options and operands are the command" in text_of("nice")
    assert "a rule that allows the command allows it behind this, too" in text_of("timeout")
    assert "a rule that allows the command does not allow it behind this" in " ".join(text_of("sudo").split())


def test_no_page_is_made_up_for_what_the_book_does_not_know() -> None:
    assert describe_program("frobnicate") is None
    assert describe_program("git frobnicate") is None
    assert describe_program("") is None


def test_an_unknown_program_is_what_the_guard_makes_of_one() -> None:
    """Ruled, as the page for unknown programs says."""
    assert class_of("frobnicate thing") is Danger.RULED
    assert "ruled" in "\n".join(unknown_program_lines("frobnicate"))


def test_hostile_words_are_shown_escaped() -> None:
    shown = "\n".join(unknown_program_lines("x\u001b[2J\u202e"))
    assert "\u001b" not in shown
    assert "\u202e" not in shown

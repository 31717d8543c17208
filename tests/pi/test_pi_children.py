"""Unmodified pi children, served by the real daemon: correct answers, and none that a rule may not give."""

from __future__ import annotations

import errno
import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from fwdperm.settings import BEAT_STALE_S, NOBODY_GRACE_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Daemon, PiChild

RULES = """
[rules]
"*" = "ask"

[rules.bash]
"git *" = "allow"
"npm *" = { action = "deny", reason = "use pnpm here" }
"""


def test_a_person_approves_a_pi_child_and_the_note_reaches_it(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    daemon = serve(RULES)
    child = run_pi_child("make release", grants=["make *"])
    done = daemon.run("allow", daemon.waiting(), "--note", "only from this branch")
    assert done.returncode == 0, done.stderr
    decision = child.decision()
    assert (decision["approved"], decision["state"]) == (True, "approved")
    assert "only from this branch" in decision["denialReason"]


def test_a_person_rejects_a_pi_child_and_the_note_reaches_it(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    daemon = serve(RULES)
    child = run_pi_child("make release")
    done = daemon.run("reject", daemon.waiting(), "--note", "not on a Friday")
    assert done.returncode == 0, done.stderr
    decision = child.decision()
    assert (decision["approved"], decision["state"]) == (False, "denied_with_reason")
    assert "not on a Friday" in decision["denialReason"]


def test_a_rules_denial_reaches_a_pi_child_with_the_rules_own_reason_and_without_a_person(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    serve(RULES)
    decision = run_pi_child("npm install").decision()
    assert (decision["approved"], decision["state"]) == (False, "denied_with_reason")
    assert "use pnpm here" in decision["denialReason"]


def test_the_first_sub_command_of_a_longer_line_is_not_allowed_by_a_rule(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    """A pi child shows only the sub-command that made it ask, and runs the whole line once that is approved."""
    daemon = serve(RULES)
    whole = "git status && make deploy"
    child = run_pi_child("git status", message=f"Agent wants to run 'git status' (full command: {whole})")
    name = daemon.waiting()
    assert "make deploy" in daemon.run("show", name).stdout
    assert daemon.run("reject", name).returncode == 0
    assert child.decision()["approved"] is False


@pytest.mark.parametrize(
    ("whole", "says"),
    [("git status && npm install", "use pnpm here"), ("git status && rm -rf /", "critical")],
)
def test_what_is_refused_in_the_rest_of_a_longer_line_refuses_it_without_a_person(
    whole: str, says: str, serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    serve(RULES)
    child = run_pi_child("git status", message=f"Agent wants to run 'git status' (full command: {whole})")
    decision = child.decision()
    assert decision["approved"] is False
    assert says in decision["denialReason"]


def test_an_ask_that_shows_only_a_tools_name_is_not_allowed_by_a_rule(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    """`write` asks carry the word `write` as their value; the path stands in the message alone."""
    daemon = serve('[rules.write]\n"*" = "allow"\n')
    child = run_pi_child("write", surface="write", message="Agent wants to write /etc/passwd")
    assert daemon.run("reject", daemon.waiting()).returncode == 0
    assert child.decision()["approved"] is False


def test_the_inbox_survives_a_pi_child_that_tidies_up(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    """A pi child removes the directories it leaves empty; the next child is served all the same."""
    daemon = serve(RULES)
    for _ in range(2):
        assert run_pi_child("npm install").decision()["state"] == "denied_with_reason"
        inbox = daemon.root / "sessions" / "root"
        assert sorted(path.name for path in inbox.iterdir() if path.is_dir()) == ["requests", "responses"]
        assert list(inbox.glob("*/*.json")) == []


def test_three_pi_children_of_three_parents_are_served_at_once(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    """One waits for a person; the others are not held up by it."""
    daemon = serve(RULES)
    waits = run_pi_child("make", parent="root")
    name = daemon.waiting()
    denied = [run_pi_child("npm i", parent=parent, session=f"s-{parent}") for parent in ("build/1", "tests")]
    assert [child.decision()["state"] for child in denied] == ["denied_with_reason"] * 2
    assert waits.process.poll() is None
    assert daemon.run("allow", name).returncode == 0
    assert waits.decision()["approved"] is True


def is_serving(root: Path, inbox: str) -> bool:
    """Read a heartbeat as newer pi children do: the process first, then the age."""
    try:
        beat = json.loads((root / "serving" / f"{inbox}.json").read_text())
    except FileNotFoundError:
        return False
    assert beat["sessionId"] == inbox
    try:
        os.kill(beat["pid"], 0)
    except OSError as error:
        if error.errno == errno.ESRCH:
            return False
    return time.time() * 1000 - beat["updatedAt"] <= BEAT_STALE_S * 1000


def serves_within(root: Path, inbox: str, *, grace_s: float) -> bool:
    """Say whether it serves, looked at as often as a child does until its grace is over."""
    end = time.monotonic() + grace_s
    while time.monotonic() < end:
        if is_serving(root, inbox):
            return True
        os.sched_yield()
    return False


def test_a_newer_pi_child_reads_the_heartbeat_as_serving_while_a_person_thinks(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    daemon = serve(RULES)
    run_pi_child("make")
    daemon.waiting()
    assert serves_within(daemon.root, "root", grace_s=NOBODY_GRACE_S)
    first = json.loads((daemon.root / "serving" / "root.json").read_text())["updatedAt"]
    end = time.monotonic() + 2 * BEAT_STALE_S
    while json.loads((daemon.root / "serving" / "root.json").read_text())["updatedAt"] == first:
        assert is_serving(daemon.root, "root")
        assert time.monotonic() < end
    assert is_serving(daemon.root, "root")


def test_a_newer_pi_child_notices_a_killed_daemon_at_once(
    serve: Callable[[str], Daemon], run_pi_child: Callable[..., PiChild]
) -> None:
    daemon = serve(RULES)
    run_pi_child("make")
    daemon.waiting()
    assert serves_within(daemon.root, "root", grace_s=NOBODY_GRACE_S)
    daemon.process.kill()
    daemon.process.wait()
    assert not is_serving(daemon.root, "root")

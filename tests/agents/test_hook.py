"""The hook process against a real daemon, and what it says when everything around it fails: never an approval."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.agents.hook import AGENT_TIMEOUT_S, LAST_S, WAIT_S
from fwdperm.client.pending_notes import KEPT_S, leave_note, take_note
from fwdperm.sessions.locations import fast_command

if TYPE_CHECKING:
    from conftest import Post

EVENTS = {
    "claude": "PermissionRequest",
    "codex": "PermissionRequest",
    "copilot": "permissionRequest",
    "gemini": "BeforeTool",
    "qwen": "PreToolUse",
}


def event(post: Post, agent: str = "claude", *, command: str = "touch allowed.txt", **more: Any) -> dict[str, Any]:
    """Give an asking event of an agent."""
    if agent == "copilot":
        return {"sessionId": "s1", "cwd": str(post.work), "toolName": "bash", "toolInput": {"command": command}, **more}
    said = {
        "session_id": "s1",
        "cwd": str(post.work),
        "hook_event_name": EVENTS[agent],
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    return said | more


def is_allowed(said: str) -> bool:
    """Read an answer as the laxest agent could."""
    return "allow" in said or '"approve' in said


def reason(said: str) -> str:
    body = json.loads(said)
    inner = body.get("hookSpecificOutput", body)
    found: str = inner.get("decision", inner) if not isinstance(inner.get("decision"), str) else inner
    assert isinstance(found, dict)
    return str(found.get("message") or found.get("permissionDecisionReason") or found.get("reason"))


def test_every_limit_is_below_the_next() -> None:
    assert WAIT_S < LAST_S < AGENT_TIMEOUT_S


@pytest.mark.parametrize("agent", EVENTS)
def test_rules_decide_in_each_agents_own_shape(post: Post, agent: str) -> None:
    post.serve()
    yes = post.hook(agent, EVENTS[agent], event(post, agent))
    assert (yes.returncode, yes.stderr) == (0, "")
    assert is_allowed(yes.stdout)
    no = post.hook(agent, EVENTS[agent], event(post, agent, command="npm install"))
    assert no.returncode == 0
    assert not is_allowed(no.stdout)
    assert "use pnpm here" in reason(no.stdout)


@pytest.mark.parametrize("agent", EVENTS)
@pytest.mark.parametrize(
    "said",
    ["", "no json", "[]", "{}", '{"session_id": "s", "sessionId": "s"}', '{"a": 1, "a": 2}', '{"a": NaN}', "\udcff"],
    ids=["empty", "text", "list", "nothing", "half", "twice", "nan", "no-utf-8"],
)  # fmt: skip
def test_what_no_agent_should_say_is_denied_and_logged_in_one_line(post: Post, agent: str, said: str) -> None:
    done = post.hook(agent, EVENTS[agent], said, errors="surrogateescape")
    assert done.returncode == 0
    assert not is_allowed(done.stdout)
    assert "(request fp-" in reason(done.stdout)
    assert len(done.stderr.splitlines()) == 1
    for secret in ("Traceback", "Error(", ".py"):
        assert secret not in done.stdout + done.stderr


@pytest.mark.parametrize("agent", EVENTS)
def test_an_event_of_a_newer_agent_is_denied(post: Post, agent: str) -> None:
    done = post.hook(agent, "Event2030", event(post, agent))
    assert done.returncode == 0
    assert not is_allowed(done.stdout)
    assert "Event2030" in done.stdout


@pytest.mark.parametrize("words", [("claude",), ("nobody", "PermissionRequest"), ("claude", "A", "B")])
def test_a_command_line_without_agent_and_event_blocks(post: Post, words: tuple[str, ...]) -> None:
    """Exit 2 blocks with the agents that read it, and nothing on standard output approves."""
    done = post.run("hook", *words)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(("name", "budget"), [("PermissionRequest", 23), ("PostToolUse", 16)])
def test_a_hook_loads_nothing_that_costs_a_start(post: Post, name: str, budget: int) -> None:
    """Agents wait for this process at every call: no json, re, pathlib, typing, dataclasses, and few modules at all."""
    post.serve()
    words = fast_command(sys.executable)
    done = subprocess.run(
        [words[0], "-X", "importtime", *words[1:], "hook", "claude", name],
        input=json.dumps(event(post, hook_event_name=name)),
        env=post.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    heavy = {"json", "re", "pathlib", "typing", "dataclasses", "enum", "signal", "asyncio", "subprocess"}
    assert heavy & set(loaded) == set()
    assert len([one for one in loaded if one.startswith("fwdperm")]) <= budget
    assert is_allowed(done.stdout) == (name == "PermissionRequest")


def test_a_huge_write_is_asked_about_by_path_and_digest(post: Post) -> None:
    post.serve()
    content = "secret line\n" * 2_000_000
    said = event(post, tool_name="Write", tool_input={"file_path": "big.txt", "content": content})
    waiting = post.start_hook("claude", "PermissionRequest", said)
    (prompt,) = post.wait_prompts()
    assert (prompt["surface"], prompt["values"]) == ("write", ["big.txt"])
    assert "2000000 lines" in prompt["message"]
    assert len(json.dumps(prompt)) < 10_000
    post.answer(prompt, "reject")
    assert not is_allowed(waiting.communicate(timeout=30)[0])


def test_without_a_daemon_it_denies_within_seconds(post: Post) -> None:
    start = time.monotonic()
    done = post.hook("claude", "PermissionRequest", event(post))
    assert "nobody serves" in reason(done.stdout)
    assert time.monotonic() - start < 15
    assert "unserved" in post.hook_log()


def test_a_starved_daemon_is_no_approval(post: Post) -> None:
    """A daemon that gets no processor stops beating, and the hook gives up on it."""
    daemon = post.serve()
    daemon.send_signal(signal.SIGSTOP)
    try:
        done = post.hook("claude", "PermissionRequest", event(post))
    finally:
        daemon.send_signal(signal.SIGCONT)
    assert "nobody serves" in reason(done.stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM])
def test_a_hook_that_is_told_to_end_denies_and_withdraws(post: Post, number: signal.Signals) -> None:
    """SIGALRM is its own last deadline."""
    post.serve()
    waiting = post.start_hook("claude", "PermissionRequest", event(post, command="touch other.txt"))
    post.wait_prompts()
    waiting.send_signal(number)
    said, _ = waiting.communicate(timeout=30)
    assert waiting.returncode == 0
    assert "stopped before anybody decided" in reason(said)
    post.wait_for(lambda: not post.prompts(), what="the question to be withdrawn")


def test_a_killed_hook_says_nothing_at_all(post: Post) -> None:
    """What a crashed hook means is the agent's own choice; the how-to pages say which."""
    post.serve()
    waiting = post.start_hook("claude", "PermissionRequest", event(post, command="touch other.txt"))
    post.wait_prompts()
    waiting.kill()
    assert waiting.communicate(timeout=30)[0] == ""


def test_a_full_disk_denies(post: Post) -> None:
    post.serve()

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = post.hook("claude", "PermissionRequest", event(post), preexec_fn=no_room)
    assert done.returncode == 0
    assert not is_allowed(done.stdout)
    assert "cannot be written" in reason(done.stdout)


def test_a_root_that_cannot_be_made_denies(post: Post) -> None:
    blocked = post.directory / "a-file"
    blocked.write_text("")
    done = post.hook("claude", "PermissionRequest", event(post), env={"FWDPERM_ROOT": f"{blocked}/root"})
    assert "(request fp-" in reason(done.stdout)
    none = post.hook("claude", "PermissionRequest", event(post), env={"FWDPERM_ROOT": "", "HOME": ""})
    assert not is_allowed(none.stdout)


def test_one_denied_file_denies_the_whole_patch(post: Post) -> None:
    post.serve('[rules.edit]\n"a.py" = "allow"\n"b.py" = "deny"\n')
    patch = "*** Begin Patch\n*** Update File: a.py\n+x\n*** Update File: b.py\n+y\n*** End Patch"
    said = event(post, tool_name="apply_patch", tool_input={"input": patch})
    assert not is_allowed(post.hook("codex", "PermissionRequest", said).stdout)
    said = event(post, tool_name="apply_patch", tool_input={"input": patch.replace("b.py", "a.py")})
    assert is_allowed(post.hook("codex", "PermissionRequest", said).stdout)


def test_an_approvals_note_is_handed_over_once_after_the_tool_ran(post: Post) -> None:
    post.serve()
    waiting = post.start_hook("claude", "PermissionRequest", event(post, command="touch other.txt"))
    post.answer(post.wait_prompts()[0], "allow", note="only \u202e this once")
    assert is_allowed(waiting.communicate(timeout=30)[0])
    after = event(post, command="touch other.txt", hook_event_name="PostToolUse", tool_response={})
    elsewhere = event(post, command="touch third.txt", hook_event_name="PostToolUse", tool_response={})
    assert post.hook("claude", "PostToolUse", elsewhere).stdout == ""
    told = post.hook("claude", "PostToolUse", after)
    assert (
        "User approved this tool call with feedback: only"
        in json.loads(told.stdout)["hookSpecificOutput"]["additionalContext"]
    )
    again = post.hook("claude", "PostToolUse", after)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


@pytest.mark.parametrize("said", ["", "{}", "no json"])
def test_after_a_tool_nothing_is_ever_blocked(post: Post, said: str) -> None:
    done = post.hook("claude", "PostToolUse", said)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_nested_programs_hook_does_not_use_its_launchers_token(post: Post) -> None:
    """The token proves one session; a subagent is another."""
    post.serve()
    env = {"FWDPERM_SESSION": "build", "FWDPERM_PARENT": "root", "FWDPERM_TOKEN": "t" * 64}
    said = event(post, command="touch other.txt", agent_id="a1", agent_type="reviewer")
    waiting = post.start_hook("claude", "PermissionRequest", said, env=env)
    (prompt,) = post.wait_prompts()
    (request,) = (post.root / "sessions" / "build" / "requests").glob("*.json")
    raw = json.loads(request.read_bytes())
    assert "proof" not in raw
    assert "FWDPERM" not in request.read_text()
    assert prompt["chain"] == ["root", "build", "build/a1"]
    waiting.kill()


def test_nothing_that_a_child_plants_in_the_logs_place_is_written_to(post: Post) -> None:
    theirs = post.directory / "theirs"
    theirs.write_text("as it was")
    post.root.mkdir(mode=0o700)
    for plant in (lambda log: log.symlink_to(theirs), lambda log: log.hardlink_to(theirs)):
        log = post.root / "hooks.log"
        plant(log)
        assert not is_allowed(post.hook("claude", "PermissionRequest", "no json").stdout)
        assert theirs.read_text() == "as it was"
        log.unlink()


# -- notes ------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> str:
    (tmp_path / "tree").mkdir()
    return str(tmp_path / "tree")


def test_a_note_is_taken_once_and_only_for_its_call(tree: str) -> None:
    assert leave_note(tree, session="s", agent="a", call="c", note="hello")
    assert take_note(tree, session="s", agent="a", call="d") == ""
    assert take_note(tree, session="sa", agent="", call="c") == ""
    assert take_note(tree, session="s", agent="a", call="c") == "hello"
    assert take_note(tree, session="s", agent="a", call="c") == ""


def test_notes_are_private_and_nobodys_after_a_day(tree: str) -> None:
    leave_note(tree, session="s", agent="", call="old", note="hello")
    (path,) = (p for p in os.scandir(f"{tree}/notes"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.utime(path.path, (time.time() - KEPT_S - 1,) * 2)
    leave_note(tree, session="s", agent="", call="new", note="hello")
    assert len(list(Path(tree, "notes").iterdir())) == 1
    assert take_note(tree, session="s", agent="", call="old") == ""


def test_what_a_child_plants_in_the_place_of_notes_is_not_followed(tree: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Path(tree, "notes").symlink_to(elsewhere)
    assert not leave_note(tree, session="s", agent="", call="c", note="hello")
    assert list(elsewhere.iterdir()) == []


def test_a_link_in_the_place_of_a_note_is_no_note(tree: str, tmp_path: Path) -> None:
    leave_note(tree, session="s", agent="", call="c", note="hello")
    (path,) = Path(tree, "notes").iterdir()
    secret = tmp_path / "secret"
    secret.write_text("token")
    path.unlink()
    path.symlink_to(secret)
    assert take_note(tree, session="s", agent="", call="c") == ""
    assert secret.read_text() == "token"


def test_nothing_to_take_costs_one_look(tree: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    real = os.stat

    def counted(path: Any, **more: Any) -> os.stat_result:
        looks.append(str(path))
        return real(path, **more)

    monkeypatch.setattr(os, "stat", counted)
    monkeypatch.setattr(os, "open", lambda *_, **__: pytest.fail("it opened something"))
    monkeypatch.setattr(os, "listdir", lambda *_: pytest.fail("it listed something"))
    assert take_note(tree, session="s", agent="", call="c") == ""
    assert len(looks) == 1

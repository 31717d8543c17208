"""Asking from a process: what is left behind in the inbox, and what each answer means."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

import fwdperm
from fwdperm import settings
from fwdperm.client import exchange
from fwdperm.client.asking import ask, ask_async
from fwdperm.client.exchange import Exchange
from fwdperm.client.question import Question, Requester
from fwdperm.errors import ChildError, EnvironmentFailure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Responder

NOBODY: dict[str, str] = {}


def files(root: Path) -> list[str]:
    """Every file left in the tree, heartbeats apart."""
    return sorted(str(path.relative_to(root)) for path in root.glob("sessions/**/*") if not path.is_dir())


def question(root: Path, value: str = "ls", *, wait_s: float = 5.0) -> Question:
    requester = Requester(root=str(root), env=NOBODY)
    return Question("bash", [value], requester=requester, request_id="one", wait_s=wait_s)


def test_an_approval_with_a_note_arrives(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: {
        "approved": True,
        "state": "approved",
        "note": "only this branch",
        "decidedBy": {"kind": "user", "via": "tty3"},
    }
    answer = ask("bash", "git push", root=str(root), env=NOBODY)
    assert answer.approved
    assert (answer.outcome, answer.note, answer.reason, answer.exit_code) == ("approved", "only this branch", "", 0)
    assert answer.decided_by == {"kind": "user", "via": "tty3"}
    assert answer.request_id == responder.seen[0]["id"]
    assert files(root) == []


def test_an_approval_note_that_only_stands_in_the_denial_reason_arrives_too(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: {"approved": True, "state": "approved_for_session", "denialReason": "mind the tests"}
    answer = ask("bash", "make", root=str(root), env=NOBODY)
    assert (answer.approved, answer.note) == (True, "mind the tests")


def test_a_denial_says_why(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: {"approved": False, "state": "denied_with_reason", "denialReason": "use pnpm here"}
    answer = ask("bash", "npm i", root=str(root), env=NOBODY)
    assert (answer.outcome, answer.reason, answer.exit_code) == ("denied", "use pnpm here", 10)
    assert not answer.approved
    assert files(root) == []


def test_the_request_carries_facts_and_provenance_and_is_private(root: Path, responder: Responder) -> None:
    """What lies in the inbox is one private file with every field of the wire, and nothing of our own working."""
    work = root.parent / "work"
    work.mkdir()
    (work / "link").symlink_to("/etc")
    listed: list[tuple[list[str], int, int]] = []

    def look(request: dict[str, Any]) -> dict[str, Any]:
        inbox = root / "sessions/build%2F1"
        path = inbox / "requests" / f"{request['id']}.json"
        status = path.stat()
        listed.append((files(root), stat.S_IMODE(status.st_mode), status.st_nlink))
        assert {stat.S_IMODE(d.stat().st_mode) for d in (inbox, inbox / "requests", inbox / "responses")} == {0o700}
        return {"approved": True, "state": "approved"}

    responder.decide = look
    ask(
        "bash",
        "cat link/passwd 'a b' https://x/y",
        values=["cat /etc/passwd"],
        cwd=str(work),
        parent="build/1",
        session="child",
        agent="reviewer",
        wait_s=30,
        root=str(root),
        turn="t7",
        tool="Bash",
        tool_input={"command": "cat", "timeout": 3},
        message="please",
        suggest=["cat *"],
        env={"HOME": "/home/me"},
    )
    request = responder.seen[0]
    assert listed == [([f"sessions/build%2F1/requests/{request['id']}.json"], 0o600, 1)]
    assert request.pop("id").startswith("fp-")
    assert request.pop("deadlineMs") - request.pop("createdAt") == 30_000
    assert request == {
        "v": 1,
        "requesterSessionId": "child",
        "targetSessionId": "build/1",
        "requesterAgentName": "reviewer",
        "message": "please",
        "source": "tool_call",
        "surface": "bash",
        "value": "cat link/passwd 'a b' https://x/y",
        "accessIntent": {
            "surface": "bash",
            "matchValues": ["cat link/passwd 'a b' https://x/y", "cat /etc/passwd"],
            "boundaryValue": None,
            "requesterCwd": str(work),
            "home": "/home/me",
            "principal": {"sessionId": "child", "agentName": "reviewer"},
            "operands": {"link/passwd": "/etc/passwd"},
        },
        "route": [],
        "turnId": "t7",
        "toolName": "Bash",
        "toolInput": {"command": "cat", "timeout": 3},
        "sessionApproval": {"grants": [{"surface": "bash", "pattern": "cat *"}]},
    }


def test_a_path_is_reported_with_its_links_resolved_as_far_as_it_exists(root: Path, responder: Responder) -> None:
    (root.parent / "link").symlink_to("/etc")
    ask("write", "link/new/file", cwd=str(root.parent), root=str(root), env=NOBODY)
    assert responder.seen[0]["accessIntent"]["boundaryValue"] == "/etc/new/file"


def test_a_file_system_that_tells_letter_case_apart_says_so(root: Path, responder: Responder) -> None:
    (root.parent / "Makefile").touch()
    ask("read", "Makefile", cwd=str(root.parent), root=str(root), env=NOBODY)
    assert responder.seen[0]["accessIntent"]["foldsCase"] is False


def test_the_environment_says_who_asks_whom_and_where(root: Path, responder: Responder) -> None:
    env = {
        "FWDPERM_ROOT": str(root),
        "FWDPERM_PARENT": "mother",
        "FWDPERM_SESSION": "child",
        "FWDPERM_AGENT": "tester",
        "FWDPERM_TOKEN": "secret",
    }
    ask("bash", "ls", env=env)
    request = responder.seen[0]
    told = [request[key] for key in ("targetSessionId", "requesterSessionId", "requesterAgentName")]
    assert told == ["mother", "child", "tester"]
    assert "secret" not in json.dumps(request)
    assert len(request["proof"]) == 64


def good(request: dict[str, Any], content: bytes) -> dict[str, Any]:
    return {
        "approved": True,
        "state": "approved",
        "requestId": request["id"],
        "requestDigest": hashlib.sha256(content).hexdigest(),
    }


SPOILT: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "another id": lambda ok: json.dumps(ok | {"requestId": "other"}).encode(),
    "another digest": lambda ok: json.dumps(ok | {"requestDigest": "0" * 64}).encode(),
    "no digest": lambda ok: json.dumps({k: v for k, v in ok.items() if k != "requestDigest"}).encode(),
    "no id": lambda ok: json.dumps({k: v for k, v in ok.items() if k != "requestId"}).encode(),
    "yes for true": lambda ok: json.dumps(ok | {"approved": "yes"}).encode(),
    "one for true": lambda ok: json.dumps(ok | {"approved": 1}).encode(),
    "approved but the state says denied": lambda ok: json.dumps(ok | {"state": "denied"}).encode(),
    "denied but the state says approved": lambda ok: json.dumps(ok | {"approved": False}).encode(),
    "unknown state": lambda ok: json.dumps(ok | {"state": "granted"}).encode(),
    "a state that is a list": lambda ok: json.dumps(ok | {"state": ["approved"]}).encode(),
    "no state": lambda ok: json.dumps({k: v for k, v in ok.items() if k != "state"}).encode(),
    "a key twice": lambda ok: json.dumps(ok).encode()[:-1] + b',"approved":true}',
    "NaN": lambda ok: json.dumps(ok | {"respondedAt": float("nan")}).encode(),
    "cut short": lambda ok: json.dumps(ok).encode()[:-1],
    "something behind it": lambda ok: json.dumps(ok).encode() + b"{}",
    "in a list": lambda ok: json.dumps([ok]).encode(),
    "empty": lambda _: b"",
    "no UTF-8": lambda ok: json.dumps(ok).encode()[:-1] + b',"x":"\xff"}',
    "too deep": lambda ok: json.dumps(ok).encode()[:-1] + b',"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "too large": lambda ok: json.dumps(ok | {"x": "x" * (1 << 19)}).encode(),
}


@pytest.mark.parametrize("how", SPOILT)
def test_an_answer_that_is_not_plainly_ours_is_a_denial(how: str, root: Path) -> None:
    asked = question(root)
    ok = good({"id": "one"}, asked.content)
    responses = root / "sessions/root/responses"
    with Exchange(asked) as one:
        (responses / "one.json").write_bytes(SPOILT[how](ok))
        answer = one.look()
    assert answer is not None
    assert answer.outcome == "denied"
    assert answer.reason


def test_the_same_answer_unspoilt_is_an_approval(root: Path) -> None:
    asked = question(root)
    with Exchange(asked) as one:
        path = root / "sessions/root/responses/one.json"
        path.write_text(json.dumps(good({"id": "one"}, asked.content)))
        answer = one.look()
    assert answer is not None
    assert answer.approved


@pytest.mark.parametrize("what", ["symlink", "fifo", "directory", "socket"])
def test_what_is_no_file_in_the_answers_place_is_a_denial_and_blocks_nobody(what: str, root: Path) -> None:
    asked = question(root)
    elsewhere = root / "good.json"
    elsewhere.write_text(json.dumps(good({"id": "one"}, asked.content)))
    with Exchange(asked) as one:
        path = root / "sessions/root/responses/one.json"
        match what:
            case "symlink":
                path.symlink_to(elsewhere)
            case "fifo":
                os.mkfifo(path)
            case "directory":
                path.mkdir()
            case _:
                os.mknod(path, stat.S_IFSOCK | 0o600)
        answer = one.look()
    assert answer is not None
    assert answer.outcome == "denied"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_an_answer_of_another_user_is_a_denial_unless_the_tree_is_theirs(root: Path) -> None:
    asked = question(root)
    for owner, expected in ((0, "denied"), (4242, "approved")):
        os.chown(root, owner, -1)
        with Exchange(asked) as one:
            path = root / "sessions/root/responses/one.json"
            path.write_text(json.dumps(good({"id": "one"}, asked.content)))
            os.chown(path, 4242, -1)
            answer = one.look()
        assert answer is not None
        assert answer.outcome == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_default_tree_that_another_user_made_is_refused(tmp_path: Path) -> None:
    squatted = tmp_path / "fwdperm"
    squatted.mkdir()
    os.chown(squatted, 4242, -1)
    with pytest.raises(EnvironmentFailure, match="belongs to another user"):
        ask("bash", "ls", env={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert list(squatted.iterdir()) == []


def test_nobody_answers_in_time(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: None
    answer = ask("bash", "ls", wait_s=0.05, root=str(root), env=NOBODY)
    assert (answer.outcome, answer.exit_code, answer.approved) == ("expired", 11, False)
    assert files(root) == []


def test_an_answer_that_comes_after_the_last_look_is_taken_away_unread(root: Path) -> None:
    asked = question(root)
    with Exchange(asked):
        (root / "sessions/root/responses/one.json").write_text("{}")
    assert files(root) == []


def test_nobody_serves(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "NOBODY_GRACE_S", 0.05)
    answer = ask("bash", "ls", wait_s=60, root=str(root), env=NOBODY)
    assert (answer.outcome, answer.exit_code) == ("unserved", 4)
    assert files(root) == []


@pytest.mark.parametrize(("age_s", "expected"), [(0.0, "expired"), (3.0, "expired"), (6.0, "unserved")])
def test_only_a_heartbeat_that_still_beats_counts(
    age_s: float, expected: str, root: Path, heartbeat: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "NOBODY_GRACE_S", 0.01)
    heartbeat(age_s=age_s)
    assert ask("bash", "ls", wait_s=0.4, root=str(root), env=NOBODY).outcome == expected


class Clock:
    """A monotonic clock that the test owns."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("fwdperm.client.exchange.time.monotonic", lambda: self.now)


def test_a_heartbeat_that_stops_is_noticed_and_one_that_goes_on_is_not(
    root: Path, heartbeat: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even when the wall clock that stamps the heartbeats jumps back by an hour."""
    clock = Clock(monkeypatch)
    heartbeat()
    with Exchange(question(root, wait_s=600.0)) as one:
        for second in range(20):
            heartbeat(age_s=3600.0 - second)
            clock.now += 1.0
            assert one.look() is None
        outcomes = []
        for _ in range(8):
            clock.now += 1.0
            answer = one.look()
            outcomes.append(None if answer is None else answer.outcome)
    assert outcomes == [None] * 7 + ["unserved"]


def test_an_id_is_asked_once(root: Path) -> None:
    asked = question(root)
    with Exchange(asked):
        with pytest.raises(ChildError, match="asked before"), Exchange(question(root, "make")):
            pass
        assert (root / "sessions/root/requests/one.json").read_bytes() == asked.content


def test_two_that_use_no_nameless_files_still_keep_out_of_each_others_way(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> float:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(exchange, "_publish_nameless", refuse)
    test_an_id_is_asked_once(root)
    assert files(root) == []


def test_a_neighbour_that_tidies_the_empty_directories_away_stops_nobody(
    root: Path, responder: Responder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pi child removes the directories it finds empty; here it does so between our making them and our writing."""
    publish = exchange._publish
    removals = iter([True, True, True])

    def tidy_then_publish(path: str, content: bytes, *, mode: int) -> float:
        if next(removals, False):
            inbox = root / "sessions/root"
            for directory in (inbox / "requests", inbox / "responses", inbox):
                directory.rmdir()
        return publish(path, content, mode=mode)

    monkeypatch.setattr(exchange, "_publish", tidy_then_publish)
    assert ask("bash", "ls", root=str(root), env=NOBODY).approved
    assert len(responder.seen) == 1


def test_a_full_disk_is_an_error_and_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fwdperm.client.exchange.os.write", full)
    with pytest.raises(EnvironmentFailure, match="No space left"):
        ask("bash", "ls", root=str(root), env=NOBODY)
    assert files(root) == []


def test_a_disk_that_takes_a_part_at_a_time_gets_the_whole(
    root: Path, responder: Responder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr("fwdperm.client.exchange.os.write", lambda fd, data: write(fd, bytes(data[:100])))
    assert ask("bash", "echo " + "x" * 1000, root=str(root), env=NOBODY).approved
    assert len(responder.seen[0]["value"]) == 1005


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"parent": ".."}, "cannot name an inbox"),
        ({"parent": "unknown"}, "cannot name an inbox"),
        ({"request_id": "../x"}, "cannot name a file"),
        ({"wait_s": 0.0}, "waits more than 0"),
        ({"wait_s": float("nan")}, "waits more than 0"),
        ({"wait_s": 90_000.0}, "waits more than 0"),
        ({"value": "x" * 70_000}, "at most 65536 characters"),
        ({"value": "\udcff"}, "lone surrogate"),
        ({"surface": " "}, "a surface has"),
        ({"values": ["x"] * 64}, "1 to 64 values"),
        ({"tool_input": {"x": float("inf")}}, "cannot be written down"),
        ({"tool_input": {"x": "y" * (1 << 20)}}, "bytes"),
    ],
)
def test_what_no_daemon_would_take_is_refused_before_anything_is_written(
    wrong: dict[str, Any], says: str, root: Path
) -> None:
    arguments: dict[str, Any] = {"surface": "bash", "value": "ls", "root": str(root), "env": NOBODY} | wrong
    with pytest.raises(ChildError, match=says):
        ask(**arguments)
    assert files(root) == []


def test_asking_holds_no_event_loop_up(root: Path, responder: Responder) -> None:
    async def both() -> list[str]:
        started = asyncio.Event()
        responder.decide = lambda request: {"approved": True, "state": "approved", "note": request["value"]}

        async def other() -> str:
            started.set()
            return (await ask_async("bash", "two", root=str(root), env=NOBODY)).note

        one, two = await asyncio.gather(ask_async("bash", "one", root=str(root), env=NOBODY), other())
        assert started.is_set()
        return [one.note, two]

    assert asyncio.run(both()) == ["one", "two"]


def test_a_cancelled_question_is_withdrawn(root: Path, responder: Responder) -> None:
    responder.decide = lambda _: None

    async def cancel() -> None:
        task = asyncio.create_task(ask_async("bash", "ls", root=str(root), env=NOBODY))
        while not responder.came.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert files(root) == []


def test_an_interrupted_question_is_withdrawn(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fwdperm.client.exchange.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ask("bash", "ls", root=str(root), env=NOBODY)
    assert files(root) == []


@pytest.mark.parametrize("others", [b"", b"another asker's"])
def test_an_interruption_between_publishing_and_waiting_withdraws_our_own_request_only(
    others: bytes, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forced at the point where the file has its name and nobody waits yet."""
    publish = exchange._publish

    def publish_then_interrupt(path: str, content: bytes, *, mode: int) -> float:
        publish(path, others or content, mode=mode)
        raise KeyboardInterrupt

    monkeypatch.setattr(exchange, "_publish", publish_then_interrupt)
    with pytest.raises(KeyboardInterrupt), Exchange(question(root)):
        pass
    assert files(root) == (["sessions/root/requests/one.json"] if others else [])


def test_an_answer_cannot_be_bent(root: Path, responder: Responder) -> None:
    answer = fwdperm.ask("bash", "ls", root=str(root), env=NOBODY)
    assert isinstance(answer, fwdperm.Answer)
    with pytest.raises(AttributeError):
        answer.outcome = "approved"
    with pytest.raises(AttributeError):
        del answer.outcome
    with pytest.raises(TypeError, match="truth value"):
        bool(answer)
    with pytest.raises(ValueError, match="unknown outcome"):
        fwdperm.Answer("maybe", request_id="x")
    assert not dataclasses.is_dataclass(answer)
    assert len(responder.seen) == 1
    assert "approved" in repr(answer)

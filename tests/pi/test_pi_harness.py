"""The harness itself: a real pi child writes what we think it writes, and takes the answers we think it takes."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import PiChild


class Answering(threading.Thread):
    """Answers the first request in an inbox with one fixed answer."""

    def __init__(self, inbox: Path, answer: dict[str, Any]) -> None:
        super().__init__()
        self.inbox = inbox
        self.answer = answer
        self.request: dict[str, Any] = {}
        self.name_of_file = ""

    def run(self) -> None:
        given_up = threading.Event()
        for _ in range(3000):
            for path in (self.inbox / "requests").glob("*.json"):
                self.request, self.name_of_file = json.loads(path.read_text()), path.stem
                temporary = self.inbox / "responses" / "answer.tmp"
                temporary.write_text(json.dumps({"responderSessionId": "root", "respondedAt": 1, **self.answer}))
                temporary.rename(self.inbox / "responses" / path.name)
                return
            given_up.wait(0.01)


def exchange(run_pi_child: Callable[..., PiChild], tree: Path, answer: dict[str, Any]) -> tuple[Any, Answering]:
    answering = Answering(tree / "sessions" / "root%2F1", answer)
    answering.start()
    child = run_pi_child("git push", parent="root/1", grants=["git push *"], message="(full command: a && git push)")
    decision = child.decision()
    answering.join()
    return decision, answering


def test_a_pi_child_writes_the_request_we_know(run_pi_child: Callable[..., PiChild], tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    decision, answering = exchange(run_pi_child, tree, {"approved": True, "state": "approved"})
    request = answering.request
    assert decision["approved"] is True
    assert request.pop("id") == answering.name_of_file
    assert request.pop("createdAt") > 1.7e12
    assert request == {
        "requesterSessionId": "child",
        "targetSessionId": "root/1",
        "requesterAgentName": "worker",
        "message": "(full command: a && git push)",
        "source": "tool_call",
        "surface": "bash",
        "value": "git push",
        "sessionApproval": {"surface": "bash", "patterns": ["git push *"]},
    }
    assert not list(tree.glob("sessions/*")), "it tidies up the directories it finds empty"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            {"approved": True, "state": "approved", "denialReason": "mind the tests", "decidedBy": {"kind": "odd"}},
            {"approved": True, "state": "approved", "denialReason": "mind the tests"},
        ),
        (
            {"approved": False, "state": "denied_with_reason", "denialReason": "use pnpm", "note": "n", "v": 1},
            {"approved": False, "state": "denied_with_reason", "denialReason": "use pnpm"},
        ),
        ({"approved": True, "state": "granted"}, {"approved": False, "state": "denied"}),
    ],
)
def test_a_pi_child_takes_answers_as_we_know(
    answer: dict[str, Any], expected: dict[str, Any], run_pi_child: Callable[..., PiChild], tmp_path: Path
) -> None:
    decision, _ = exchange(run_pi_child, tmp_path / "tree", answer)
    assert {key: decision[key] for key in decision if key in {"approved", "state", "denialReason"}} == expected

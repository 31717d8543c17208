"""What is asked and by whom are two values: made once, never bent, and the same bytes on every wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fwdperm.client.question import Question, Requester

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = (
    b'{"id":"r1","v":1,"createdAt":1700000000000,"requesterSessionId":"s1","targetSessionId":"build",'
    b'"requesterAgentName":"worker","message":"look","source":"tool_call","surface":"read","value":"src/a.py",'
    b'"accessIntent":{"surface":"read","matchValues":["src/a.py","./src/a.py"],"boundaryValue":"/nowhere/src/a.py",'
    b'"requesterCwd":"/nowhere","home":"/home/u","principal":{"sessionId":"s1","agentName":"worker"},'
    b'"floor":"a person must look"},"deadlineMs":1700000030000,"route":[],'
    b'"ancestors":[{"sessionId":"build","agentName":"b"},{"sessionId":"root","agentName":""}],'
    b'"sessionApproval":{"grants":[{"surface":"read","pattern":"src/*"}]},"turnId":"t1","toolName":"Read",'
    b'"toolInput":{"file_path":"src/a.py"},'
    b'"proof":"192d2b9ce1c880f1f2f3f75610f14495dc2c42762d324f11a8656bc8bc4ba1b2"}\n'
)
SPARE = (
    b'{"id":"r1","v":1,"createdAt":1700000000000,"requesterSessionId":"s1","targetSessionId":"root",'
    b'"requesterAgentName":"worker","message":"bash: git status","source":"tool_call","surface":"bash",'
    b'"value":"git status","accessIntent":{"surface":"bash","matchValues":["git status"],"boundaryValue":null,'
    b'"requesterCwd":"/nowhere","home":"","principal":{"sessionId":"s1","agentName":"worker"},"operands":{}},'
    b'"deadlineMs":1700000000500,"route":[]}\n'
)


def whole(root: Path) -> Question:
    """Give a question in which everything that can be said is said."""
    requester = Requester(
        cwd="/nowhere",
        parent="build",
        session="s1",
        agent="worker",
        ancestors=[("build", "b"), ("root", "")],
        turn="t1",
        root=str(root),
        env={"HOME": "/home/u", "FWDPERM_TOKEN": "00" * 32},
    )
    return Question(
        "read",
        ["src/a.py", "./src/a.py"],
        requester=requester,
        request_id="r1",
        created_ms=1_700_000_000_000,
        wait_s=30.0,
        message="look",
        floor="a person must look",
        tool="Read",
        tool_input={"file_path": "src/a.py"},
        suggest=["src/*"],
    )


def test_a_question_with_everything_is_these_bytes(root: Path) -> None:
    """Every field that crosses the wire, in its place: served daemons of any age read them so."""
    assert whole(root).content == WHOLE


def test_a_question_with_the_least_is_these_bytes(root: Path) -> None:
    """What was left out stands nowhere in the file."""
    requester = Requester(cwd="/nowhere", session="s1", agent="worker", root=str(root), env={})
    asked = Question(
        "bash", ["git status"], requester=requester, request_id="r1", created_ms=1_700_000_000_000, wait_s=0.5
    )
    assert asked.content == SPARE


@pytest.mark.parametrize("name", ["content", "id", "wait_s", "requester"])
def test_a_question_cannot_be_bent_once_asked(name: str, root: Path) -> None:
    """What is waited for is what was published: same bytes, same id, same inbox."""
    asked = whole(root)
    with pytest.raises(AttributeError):
        setattr(asked, name, getattr(asked, name))
    with pytest.raises(AttributeError):
        delattr(asked, name)
    with pytest.raises(AttributeError):
        asked.requester.inbox = "elsewhere"

"""How programs use `import fwdperm`, for a type checker: each comment says what it finds in that line, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never, assert_type

import fwdperm
from fwdperm import Answer, ask, ask_async

if TYPE_CHECKING:
    from collections.abc import Coroutine

Known: TypeAlias = Literal["approved", "denied", "expired", "unserved", "withdrawn"]


def right(answer: Answer, coming: Coroutine[Any, Any, Answer]) -> str:
    """Read what it says."""
    assert_type(answer.approved, bool)
    assert_type(answer.outcome, Known)
    assert_type(fwdperm.__version__, str)
    assert_type(ask("bash", "git status", wait_s=30, tool="Bash"), Answer)
    coming = ask_async("bash", "git status")
    coming.close()
    match answer.outcome:
        case "approved" | "denied":
            return answer.note or answer.reason
        case "expired" | "unserved" | "withdrawn":
            return "nobody decided"
        case _:
            assert_never(answer.outcome)


def wrong(answer: Answer) -> tuple[object, ...]:
    """Take an answer for a truth value, an outcome that there is not, a name that there is not."""
    if answer:  # finds: truthy-bool
        return ("every answer would permit",)
    answer.approved = True  # finds: misc
    return (
        "yes" if fwdperm.ask("bash", "ls") else "no",  # finds: truthy-bool
        not answer,  # finds: truthy-bool
        answer.outcome == "aproved",  # finds: comparison-overlap
        answer.allowed,  # finds: attr-defined
        fwdperm.nope,  # finds: attr-defined
        fwdperm.ask("bash", "ls", wait=30),  # finds: call-arg
        fwdperm.ask("bash", 1),  # finds: arg-type
        Answer("aproved", request_id="x"),  # finds: arg-type
    )

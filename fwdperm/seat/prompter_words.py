"""What the line prompter says about answers, void lines and the list of what waits, as texts.

Lives here: the words. Pure. Never here: the picture of a question (`render.py`), when anything is said
(`plain_prompter.py`).
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.seat.queue import Accepted, AlreadyDecided, RefusedReply, Stale, UnknownQuestion, grouped
from fwdperm.seat.render import prompt_summary
from fwdperm.wire import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.seat.queue import Answered, WaitingQuestion
    from fwdperm.wire import Reply

_LISTED: Final = 20
"""Different waiting questions that `list` shows; of the rest it says how many there are."""
_DONE: Final = {"once": "approved once:", "always": "approved always:", "reject": "rejected:"}
UNSEEN: Final = "that was typed before the screen could be read"
"""Why a line is void that was typed while what was written last was not on screen yet."""


def why_ended(name: str) -> str:
    """Say why a line is void whose question is gone."""
    return f"that was typed for {name}, which ended"


def twins_words(twins: Sequence[WaitingQuestion], *, more: int) -> str:
    """Name the questions that ask the same as the one on screen.

    Args:
        twins: Those that an answer counts for, too; at least one.
        more: How many further ones there are that it does not count for.
    """
    others = ", ".join(f"{shown(one.prompt.id)} of {shown(one.prompt.chain[-1])}" for one in twins)
    after = f"; {more} more come after these" if more else ""
    return f"  [the same is asked by {others}: approving once or rejecting answers each of them{after}]"


def waiting_list(waiting: Sequence[WaitingQuestion], *, width: int) -> str:
    """List what waits, equal questions once."""
    groups = grouped(waiting)
    rows = []
    for group in groups[:_LISTED]:
        also = ", ".join(shown(one.prompt.id) for one in group.questions[1:])
        rows.append(prompt_summary(group.oldest.prompt, width=width))
        rows.extend([f"    the same is asked by {also}"] if also else [])
    if len(groups) > _LISTED:
        rows.append(f"[{len(groups) - _LISTED} more]")
    return "\n".join(rows) if rows else "nothing waits"


def fate_words(outcome: Answered, reply: Reply, *, name: str) -> str:
    """Say what became of an answer.

    Args:
        outcome: What the queue says of it.
        reply: The answer.
        name: The question's name, fit to be shown.
    """
    match outcome:
        case Accepted():
            return f"{_DONE[str(reply.reply)]} {name}"
        case AlreadyDecided(closed=closed):
            return f"{shown(closed.words)}  ({name})"
        case UnknownQuestion():
            return f"closed: {name} is not waiting any more"
        case Stale():
            return f"not answered: {name} has other content now"
        case RefusedReply(words=words):
            return words
        case _ as never:
            assert_never(never)


def columns_of(text: str) -> int:
    """Count the columns that erasing a text takes back.

    Where terminals differ in the width of a character, the smaller one counts: text of ours before it is never erased.
    """
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else unicodedata.category(char) not in {"Mn", "Me"}
        for char in text
    )

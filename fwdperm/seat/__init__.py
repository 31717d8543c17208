"""The one place where a human is asked, one question at a time.

Lives here: the queue and the picture of a question (pure), the line prompter and the files through which any other
interface reads questions and writes answers (edges). Never here: what an answer causes.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.seat.always import parse_span
    from fwdperm.seat.counter import open_prompts, send_command, send_reply
    from fwdperm.seat.plain_prompter import PlainPrompter
    from fwdperm.seat.prompt_files import PromptFiles, ReceivedCommand, ReceivedReply, ReplyBox
    from fwdperm.seat.queue import (
        Accepted,
        AlreadyDecided,
        Answered,
        Closed,
        RefusedReply,
        SeatQueue,
        UnknownQuestion,
        WaitingQuestion,
        likeness,
        reply_refusal,
    )
    from fwdperm.seat.render import prompt_summary, render_prompt
    from fwdperm.seat.terminal import Terminal, may_colour, may_mark_pastes
    from fwdperm.seat.unattended import Unattended
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "always": ("parse_span",),
            "counter": ("open_prompts", "send_command", "send_reply"),
            "plain_prompter": ("PlainPrompter",),
            "prompt_files": ("PromptFiles", "ReceivedCommand", "ReceivedReply", "ReplyBox"),
            "queue": (
                "Accepted",
                "AlreadyDecided",
                "Answered",
                "Closed",
                "RefusedReply",
                "SeatQueue",
                "UnknownQuestion",
                "WaitingQuestion",
                "likeness",
                "reply_refusal",
            ),
            "render": ("prompt_summary", "render_prompt"),
            "terminal": ("Terminal", "may_colour", "may_mark_pastes"),
            "unattended": ("Unattended",),
        },
    )

__all__ = [
    "Accepted",
    "AlreadyDecided",
    "Answered",
    "Closed",
    "PlainPrompter",
    "PromptFiles",
    "ReceivedCommand",
    "ReceivedReply",
    "RefusedReply",
    "ReplyBox",
    "SeatQueue",
    "Terminal",
    "Unattended",
    "UnknownQuestion",
    "WaitingQuestion",
    "likeness",
    "may_colour",
    "may_mark_pastes",
    "open_prompts",
    "parse_span",
    "prompt_summary",
    "render_prompt",
    "reply_refusal",
    "send_command",
    "send_reply",
]

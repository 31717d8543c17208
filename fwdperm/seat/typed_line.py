"""What a typed line means for the question on screen.

Lives here: `understand` and what it can give, and how long a question is on screen before it takes answers (`moment`).
Pure. Never here: a terminal, keys (`editor.py`), an answer being given.

What is not clearly an answer answers nothing: an empty line, a key that was meant for something else, half a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from fwdperm.seat.queue import reply_refusal
from fwdperm.settings import NOTE_CHARS, READ_GRAVE_S, READ_ROUTINE_S, READ_RULED_S
from fwdperm.wire import Reply, ReplyKind, shown

if TYPE_CHECKING:
    from fwdperm.wire import Prompt


class Wish(StrEnum):
    """What a line asks for when it answers nothing."""

    NOTHING = "nothing"
    FULL = "full"
    LIST = "list"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class TypedReply:
    """A line that answers."""

    kind: ReplyKind
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A line that was meant as something, but is not an answer here.

    Attributes:
        words: Why, and what to type instead.
    """

    words: str


Meaning: TypeAlias = TypedReply | Wish | Unclear

_ANSWERS: Final = {
    "y": ReplyKind.ONCE,
    "yes": ReplyKind.ONCE,
    "once": ReplyKind.ONCE,
    "a": ReplyKind.ALWAYS,
    "always": ReplyKind.ALWAYS,
    "n": ReplyKind.REJECT,
    "no": ReplyKind.REJECT,
    "reject": ReplyKind.REJECT,
}
_WISHES: Final = {"full": Wish.FULL, "more": Wish.FULL, "list": Wish.LIST, "help": Wish.HELP, "?": Wish.HELP}

HELP: Final = (
    "y, yes or once   approve this one request (a dangerous one takes the whole word `yes`)",
    "a or always      approve it and record a rule: you choose what, where and until when, and see it before you save",
    "n, no or reject  reject it",
    "                 a note for the agent may follow each: `n use pnpm here`",
    "full             read everything that was left out, page by page",
    "list             what waits, oldest first",
    "Ctrl-D           leave this prompter; requests go on waiting for `fwdperm allow` and `fwdperm reject`",
    "An empty line does nothing. An answer is for the request whose id stands before it, never for the next.",
    "What is pasted, or typed before a question could be read, answers nothing; it is shown again to copy from.",
)


def options(prompt: Prompt) -> str:
    """Name the answers a question takes, in one line."""
    approve = "`yes` in full: approve once" if prompt.is_grave else "y approve once"
    always = ", a always" if prompt.offers_always else ""
    return f"{approve}{always}, n reject (a note may follow), full, list, help"


def moment(prompt: Prompt) -> float:
    """Give the seconds that a question is on screen before it takes an answer: longer for a more dangerous request."""
    if prompt.is_grave:
        return READ_GRAVE_S
    return READ_RULED_S if prompt.danger == "ruled" else READ_ROUTINE_S


def understand(line: str, *, prompt: Prompt | None, hidden: int) -> Meaning:
    """Say what a line means.

    Args:
        line: As typed, with or without its line end.
        prompt: The question on screen; None when there is none.
        hidden: How many lines of it were not shown yet; with any, it cannot be approved.

    Returns:
        An answer only when the whole line is clearly one and this question takes it.
    """
    text = line.replace("\t", " ").strip()
    if not text:
        return Wish.NOTHING
    if not text.isprintable():
        return Unclear("that line holds control characters, perhaps of an arrow key; nothing was answered")
    first, _, note = text.partition(" ")
    word, note = first.lower(), note.strip()
    if word in _WISHES:
        return Unclear(f"`{word}` stands alone") if note else _WISHES[word]
    kind = _ANSWERS.get(word)
    if kind is None:
        return Unclear(f"`{shown(first)[:40]}` is not an answer; nothing was answered. Type y, n, full, list or help")
    if prompt is None:
        return Unclear("nothing is asked right now")
    if note.lower() in _ANSWERS or note.lower() in _WISHES:
        return Unclear(f"`{word} {note}` could mean two things; nothing was answered")
    if len(note) > NOTE_CHARS:
        return Unclear(f"the note is longer than {NOTE_CHARS} characters; nothing was answered")
    words = "" if kind is ReplyKind.REJECT else _hindrance(word, kind, prompt=prompt, hidden=hidden)
    return Unclear(words) if words else TypedReply(kind=kind, note=note)


def _hindrance(word: str, kind: ReplyKind, *, prompt: Prompt, hidden: int) -> str:
    """Say why this line cannot approve the request; empty when it can."""
    words = reply_refusal(prompt, Reply(reply=kind))
    if words:
        return words
    if hidden:
        return f"{hidden} {'line is' if hidden == 1 else 'lines are'} not shown yet: type `full` and read them first"
    if prompt.is_grave and word != "yes":
        return f"this is {shown(prompt.danger).upper()}: type the whole word `yes` to approve it"
    return ""

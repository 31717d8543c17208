"""What OpenCode's permission asks access, and our answers as its replies.

Lives here: the mapping. Pure. Never here: its server (`opencode_bridge.py`).

For a command line an ask lists each sub-command in `patterns`, and the whole line in `metadata.command`; all of them
must be allowed. An ask that does not show what it is about goes to a person.
"""

from __future__ import annotations

from posixpath import normpath
from typing import TYPE_CHECKING, Any, Final

from fwdperm.agents.event import Access, BadEvent, needed_text, text_of
from fwdperm.agents.fields import ADDRESSES, PATHS, PLACES
from fwdperm.agents.summary import LONGEST_TEXT, first_lines
from fwdperm.agents.tool_calls import accesses as tool_accesses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.client import Answer

NAME: Final = "opencode"
_FILES: Final = {"edit": "edit", "write": "edit", "patch": "edit", "read": "read", "list": "ls"}
_ANY: Final = ("*", "")
_MOST: Final = 64
DIFFERS: Final = "what OpenCode names in one place differs from what it names in another"
UNSEEN: Final = "OpenCode does not say what this is about"


def accesses(ask: Mapping[str, Any], *, worktree: str) -> tuple[Access, ...]:
    """Say what an ask accesses.

    Args:
        ask: The properties of `permission.asked`.
        worktree: The directory that relative patterns are meant in, absolute.

    Raises:
        BadEvent: It lacks what every version had.
    """
    kind = needed_text(ask, "permission")
    listed = ask.get("patterns")
    patterns = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    if len(patterns) > _MOST:
        raise BadEvent(f"the ask lists {len(patterns)} patterns, at most {_MOST} are asked about")
    metadata = ask.get("metadata")
    about: Mapping[str, Any] = metadata if isinstance(metadata, dict) else {}
    match kind:
        case "bash":
            return _commands(patterns, about)
        case "edit" | "write" | "patch" | "read" | "list":
            return _files(_FILES[kind], patterns, about, worktree=worktree)
        case "external_directory":
            return _each(kind, [one.removesuffix("/*") for one in patterns], about)
        case "webfetch" | "websearch":
            return _web(kind, patterns, about)
        case "task":
            told = text_of(about, "description")[:LONGEST_TEXT]
            return tuple(Access("agent", (one,), message=told) for one in patterns) or (_unseen("agent"),)
        case "skill":
            return _each("skill", patterns, about)
        case "glob" | "grep":
            return _searched(kind, patterns, about)
        case _:
            return _each(kind, patterns, about)


def reply_to(answer: Answer) -> dict[str, str]:
    """Give the reply for an answer. It is never `always`: grants are kept by the daemon, where they can be revoked."""
    if answer.approved:
        return {"reply": "once"}
    return {"reply": "reject", "message": answer.reason or "this was not permitted"}


def refusal(reason: str) -> dict[str, str]:
    """Give the reply that refuses for a reason of ours."""
    return {"reply": "reject", "message": reason}


def _searched(kind: str, patterns: list[str], about: Mapping[str, Any]) -> tuple[Access, ...]:
    """Give what a search reads: its patterns are file names for `glob`, and texts for `grep`."""
    said: dict[str, Any] = dict(about)
    if kind == "glob":
        own = said.get("pattern")
        said["pattern"] = list(dict.fromkeys([*patterns, *([own] if isinstance(own, str) else [])]))
    else:
        said.setdefault("pattern", ", ".join(patterns))
    return tool_accesses(kind, said)


def _commands(patterns: list[str], about: Mapping[str, Any]) -> tuple[Access, ...]:
    """Give the command line, once for each directory that the ask names for it to run in."""
    whole = _command(patterns, about)
    places = {name: about[name] for name in PLACES if about.get(name)}
    if not places:
        return (whole,)
    made = tool_accesses("bash", {"command": whole.values[0], "description": whole.message, **places})
    floor = whole.floor
    return tuple(Access("bash", one.values, message=whole.message, floor=one.floor or floor) for one in made)


def _command(patterns: list[str], about: Mapping[str, Any]) -> Access:
    """Give the whole command line; a listed sub-command that is not part of it is added as a line of its own."""
    line = text_of(about, "command")
    if not line and not patterns:
        return _unseen("bash")
    lines = [line] if line else []
    lines += [one for one in patterns if not line or one not in line]
    return Access("bash", ("\n".join(lines),), message=text_of(about, "description")[:LONGEST_TEXT])


def _files(surface: str, patterns: list[str], about: Mapping[str, Any], *, worktree: str) -> tuple[Access, ...]:
    named = [text for name in PATHS if (text := text_of(about, name).strip())]
    listed = [_absolute(one, worktree) for one in patterns if one not in _ANY]
    paths = list(dict.fromkeys(normpath(_absolute(one, worktree)) for one in (*named, *listed)))
    if not paths or any(one in _ANY for one in patterns):
        return (_unseen(surface),)
    differ = named and not {normpath(_absolute(one, worktree)) for one in named} <= set(map(normpath, listed or named))
    floor = DIFFERS if differ or (len(named) > 1 and len(paths) > len(listed)) else ""
    diff = text_of(about, "diff")
    changed = [line for line in diff.split("\n") if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
    put = sum(line.startswith("+") for line in changed)
    told = f"-{len(changed) - put} +{put} lines\n" + first_lines("\n".join(changed)) if changed else ""
    said = [f"{surface} {one}: {told}" if told else "" for one in paths]
    return tuple(Access(surface, (one,), message=text, floor=floor) for one, text in zip(paths, said, strict=True))


def _absolute(pattern: str, worktree: str) -> str:
    return pattern if pattern.startswith("/") else f"{worktree.rstrip('/')}/{pattern}"


def _web(kind: str, patterns: list[str], about: Mapping[str, Any]) -> tuple[Access, ...]:
    names = ADDRESSES if kind == "webfetch" else ("query",)
    found = dict.fromkeys(text for text in (*(text_of(about, name) for name in names), *patterns) if text not in _ANY)
    if not found:
        return (_unseen("web"),)
    floor = DIFFERS if len(found) > 1 else ""
    return tuple(Access("web", (one if kind == "webfetch" else f"search: {one}",), floor=floor) for one in found)


def _each(surface: str, patterns: list[str], about: Mapping[str, Any]) -> tuple[Access, ...]:
    """Give one access for each pattern; a bare `*` does not say what is accessed, so a person has to look."""
    if not patterns or any(one in _ANY for one in patterns):
        return (_unseen(surface, about),)
    return tuple(Access(surface, (one,)) for one in patterns)


def _unseen(surface: str, about: Mapping[str, Any] | None = None) -> Access:
    told = ", ".join(f"{name}: {value}"[:LONGEST_TEXT] for name, value in (about or {}).items() if value)
    return Access(surface, ("*",), message=told[:LONGEST_TEXT], floor=UNSEEN)

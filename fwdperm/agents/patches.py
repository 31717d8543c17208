"""A patch as the files it touches.

Lives here: `patched`. Pure. Never here: other tools (`tool_calls.py`). Standard library only.
"""

from __future__ import annotations

from posixpath import join

from fwdperm.agents import fields
from fwdperm.agents.event import Access, BadEvent
from fwdperm.agents.fields import FILES, NOTHING, ToolCall
from fwdperm.agents.summary import first_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_HEADERS: Final = ("*** add file:", "*** update file:", "*** delete file:", "*** move to:")
_FRAME: Final = ("*** begin patch", "*** end patch", "*** end of file")


def patched(call: ToolCall) -> tuple[Access, ...]:
    """Give one edit for each file a patch touches."""
    strange = call.check("patch", fields.PATCHES, fields.PATHS, fields.PLACES)
    texts = _texts(call)
    files: dict[str, list[str]] = {}
    for text in texts:
        _read_patch(call, text, files)
    for path in (*call.paths(), *strange):
        if path not in files:
            call.doubt("it names a file beside its patch")
            files[path] = ["named"]
    if not files:
        raise BadEvent(f"`{call.tool}` has a patch that names no file")
    if len(files) > FILES:
        raise BadEvent(f"`{call.tool}` touches {len(files)} files at once, at most {FILES} are asked about")
    return tuple(
        Access("edit", _spellings(call, path), message=_part(path, lines), floor=call.floor)
        for path, lines in files.items()
    )


def _read_patch(call: ToolCall, text: str, files: dict[str, list[str]]) -> None:
    """Add the files that a patch touches to `files`, each with its lines. Blanks before a header do not hide it."""
    lines: list[str] = []
    for line in text.splitlines():
        plain = line.strip()
        low = plain.lower()
        mark = next((header for header in _HEADERS if low.startswith(header)), "")
        if mark and (path := plain[len(mark) :].strip()):
            lines = files.setdefault(path, [])
            lines.append(mark.strip("* :"))
        elif low.startswith("***") and not low.startswith(_FRAME):
            call.doubt("its patch has a header fwdperm does not know")
        lines.append(line)


def _spellings(call: ToolCall, path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((path, *(join(place, path) for place in call.places()))))


def _part(path: str, lines: list[str]) -> str:
    put = sum(line.startswith("+") for line in lines)
    taken = sum(line.startswith("-") for line in lines)
    shown = [line for line in lines if line.startswith(("+", "-"))]
    return f"{lines[0]} {path}: -{taken} +{put} lines\n" + first_lines("\n".join(shown))


def _texts(call: ToolCall) -> list[str]:
    """Give every patch it holds."""
    texts: dict[str, None] = {}
    for name in fields.PATCHES:
        text = call.input.get(name)
        if isinstance(text, list) and text and all(isinstance(word, str) for word in text):
            text = text[-1]
        if isinstance(text, str) and text.strip():
            texts[text] = None
        elif text not in NOTHING:
            call.doubt(f"its `{name}` is no patch")
    if not texts:
        raise BadEvent(f"`{call.tool}` says no patch")
    if len(texts) > 1:
        call.doubt("it holds several patches that differ")
    return list(texts)

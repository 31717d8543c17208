"""An agent's tool call as what it accesses: the one table from tools to surfaces, for every agent.

Lives here: `accesses`. Pure. Never here: an agent's events (the dialects), a decision. Standard library only.

Fails closed: a tool that is known but does not say what it accesses is refused, for a newer agent may have renamed the
field that a rule's deny looks at. A tool that is not known is its own surface, with its whole input as value.
"""

from __future__ import annotations

from fwdperm import settings
from fwdperm.agents.event import Access, BadEvent
from fwdperm.agents.summary import LONGEST_TEXT, compact, first_lines, shortened, size_of
from fwdperm.wire.json_text import JsonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final

_PATHS: Final = ("file_path", "path", "absolute_path", "filePath", "filepath", "notebook_path", "fileName", "dir_path")
_COMMANDS: Final = ("command", "cmd", "fullCommandText", "script")
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")
_FILES: Final = 64
"""Files one patch may touch: each is a question of its own."""
_INPUT_CHARS: Final = 16 * 1024
"""Characters of a tool's input that are matched whole; past it the texts are shortened and a person must look."""

Input = "Mapping[str, Any]"


def accesses(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    """Say what a tool call accesses.

    Args:
        tool: The tool's name as the agent writes it.
        tool_input: Its input.

    Returns:
        At least one access; every one of them must be permitted.

    Raises:
        BadEvent: The tool has no name, or a known tool lacks the field that says what it accesses.
    """
    if not tool.strip() or len(tool) > settings.NAME_CHARS:
        raise BadEvent("the event names no tool")
    server_call = _server_tool(tool)
    if server_call:
        return (_with_input("mcp", server_call, tool_input),)
    known = _KNOWN.get(tool.lower().replace("_", "").replace("-", ""))
    return known(tool, tool_input) if known else (_with_input(tool, "", tool_input),)


def _server_tool(tool: str) -> str:
    """Give `server__tool` of a tool that an MCP server offers; nothing for another tool."""
    if not tool.startswith("mcp__"):
        return ""
    rest = tool.removeprefix("mcp__")
    server, cut, name = rest.partition("__")
    return rest if cut and server and name else ""


def _with_input(surface: str, name: str, tool_input: Mapping[str, Any]) -> Access:
    """Make an access whose value is a name with the whole input; a huge one is shortened and floors to a person."""
    try:
        text = compact(tool_input) if tool_input else ""
    except JsonError:
        raise BadEvent("the tool's input cannot be written down") from None
    floor = ""
    if len(text) > _INPUT_CHARS:
        floor = f"the tool's input is too long to be matched whole ({size_of(text)})"
        text = compact(shortened(dict(tool_input)))[:_INPUT_CHARS]
    return Access(surface, (f"{name} {text}".strip() or "{}",), floor=floor)


def _command(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    for name in _COMMANDS:
        found = tool_input.get(name)
        if isinstance(found, str) and found.strip():
            line = found
        elif isinstance(found, list) and found and all(isinstance(word, str) for word in found):
            line = " ".join(_quoted(word) for word in found)
        else:
            continue
        about = tool_input.get("description") or tool_input.get("justification")
        said = [str(about)[:LONGEST_TEXT]] if isinstance(about, str) and about.strip() else []
        if tool_input.get("dangerouslyDisableSandbox") is True:
            said.append("outside the sandbox")
        return (Access("bash", (line,), message="; ".join((tool, *said)) if said else ""),)
    raise BadEvent(f"`{tool}` says no command")


def _quoted(word: str) -> str:
    return word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\\''") + "'"


def _path(tool_input: Mapping[str, Any]) -> str:
    for name in _PATHS:
        found = tool_input.get(name)
        if isinstance(found, str) and found:
            return found
    return ""


def _file(surface: str) -> Callable[[str, Mapping[str, Any]], tuple[Access, ...]]:
    def read(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
        path = _path(tool_input)
        if not path:
            raise BadEvent(f"`{tool}` says no path")
        return (Access(surface, (path,), message=_change(surface, path, tool_input)),)

    return read


def _change(surface: str, path: str, tool_input: Mapping[str, Any]) -> str:
    """Say what a write or an edit changes, in a few lines: never the whole content."""
    for name in ("content", "file_text", "new_source", "contents"):
        content = tool_input.get(name)
        if isinstance(content, str):
            return f"{surface} {path}: {size_of(content)}\n{first_lines(content)}"
    diff = tool_input.get("diff")
    if isinstance(diff, str) and diff.strip():
        changed = [line for line in diff.split("\n") if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
        put = sum(line.startswith("+") for line in changed)
        return f"{surface} {path}: -{len(changed) - put} +{put} lines\n" + first_lines("\n".join(changed))
    edits = tool_input.get("edits")
    steps = edits if isinstance(edits, list) else [tool_input]
    told = [step for one in steps if isinstance(one, dict) and (step := _step(one))]
    if not told:
        return ""
    taken, put = sum(each[0] for each in told), sum(each[1] for each in told)
    return f"{surface} {path}: -{taken} +{put} lines in {len(told)} places\n{told[0][2]}"


def _step(edit: Mapping[str, Any]) -> tuple[int, int, str] | None:
    """Give lines taken, lines put, and how both begin."""
    old = edit.get("old_string", edit.get("old_str", edit.get("oldString")))
    new = edit.get("new_string", edit.get("new_str", edit.get("newString")))
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    shown = [f"{mark}{line}" for mark, text in (("-", old), ("+", new)) for line in first_lines(text).split("\n")]
    return old.count("\n") + 1, new.count("\n") + 1, "\n".join(shown)


def _search(surface: str) -> Callable[[str, Mapping[str, Any]], tuple[Access, ...]]:
    """Make the mapping of a tool that looks for names or texts below a directory, the working directory by default."""

    def read(_tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
        where, pattern = _path(tool_input) or ".", tool_input.get("pattern")
        if not isinstance(pattern, str):
            return (Access(surface, (where,)),)
        if surface != "glob":
            return (Access(surface, (where,), message=f"{surface} {where} for {pattern[:LONGEST_TEXT]}"),)
        below = pattern if pattern.startswith("/") or where == "." else f"{where.rstrip('/')}/{pattern}"
        return (Access(surface, (below,), message=f"{surface} {pattern[:LONGEST_TEXT]} below {where}"),)

    return read


def _fetch(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    for name in ("url", "uri", "address"):
        url = tool_input.get(name)
        if isinstance(url, str) and url.strip():
            about = tool_input.get("prompt")
            return (Access("web", (url,), message=about[:LONGEST_TEXT] if isinstance(about, str) else ""),)
    prompt = tool_input.get("prompt")
    if isinstance(prompt, str) and prompt.strip():  # agents whose fetch finds the address in the words
        return (Access("web", (prompt,), floor="the tool finds the address in its prompt"),)
    raise BadEvent(f"`{tool}` says no address")


def _web_search(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    query = tool_input.get("query")
    if not isinstance(query, str) or not query.strip():
        raise BadEvent(f"`{tool}` says no query")
    return (Access("web", (f"search: {query}",)),)


def _agent(_tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    for name in ("subagent_type", "agent_type", "agentType", "agent_name", "agent"):
        kind = tool_input.get(name)
        if isinstance(kind, str) and kind.strip():
            break
    else:
        kind = "general-purpose"
    told = [
        str(text)[:LONGEST_TEXT]
        for name in ("description", "prompt")
        if isinstance(text := tool_input.get(name), str) and text
    ]
    return (Access("agent", (kind,), message="\n".join(told)),)


def _skill(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    for name in ("skill", "command", "name"):
        found = tool_input.get(name)
        if isinstance(found, str) and found.strip():
            given = tool_input.get("args")
            return (Access("skill", (found,), message=given[:LONGEST_TEXT] if isinstance(given, str) else ""),)
    raise BadEvent(f"`{tool}` says no skill")


def _patch(tool: str, tool_input: Mapping[str, Any]) -> tuple[Access, ...]:
    """Give one edit for each file a patch touches."""
    for name in ("input", "patch", "patchText", "command"):
        text = tool_input.get(name)
        if isinstance(text, list) and text and all(isinstance(word, str) for word in text):
            text = text[-1]
        if isinstance(text, str) and text.strip():
            break
    else:
        raise BadEvent(f"`{tool}` says no patch")
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        for mark in ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "):
            if line.startswith(mark):
                lines = files.setdefault(line.removeprefix(mark).strip(), [])
                lines.append(mark.strip("* :").lower())
        lines.append(line)
    files.pop("", None)
    if not files:
        raise BadEvent(f"`{tool}` has a patch that names no file")
    if len(files) > _FILES:
        raise BadEvent(f"`{tool}` touches {len(files)} files at once, at most {_FILES} are asked about")
    return tuple(Access("edit", (path,), message=_part(path, lines)) for path, lines in files.items())


def _part(path: str, lines: list[str]) -> str:
    put = sum(line.startswith("+") for line in lines)
    taken = sum(line.startswith("-") for line in lines)
    shown = [line for line in lines if line.startswith(("+", "-"))]
    return f"{lines[0]} {path}: -{taken} +{put} lines\n" + first_lines("\n".join(shown))


_KNOWN: Final[dict[str, Callable[[str, Mapping[str, Any]], tuple[Access, ...]]]] = {
    **dict.fromkeys(
        ("bash", "shell", "execcommand", "runshellcommand", "localshell", "shellcommand", "powershell"),
        _command,
    ),
    **dict.fromkeys(("read", "readfile", "view", "notebookread", "viewimage"), _file("read")),
    **dict.fromkeys(("write", "writefile", "create", "createfile"), _file("write")),
    **dict.fromkeys(
        ("edit", "multiedit", "notebookedit", "replace", "strreplace", "strreplaceeditor", "editfile", "insert"),
        _file("edit"),
    ),
    **dict.fromkeys(("glob", "findfiles"), _search("glob")),
    **dict.fromkeys(("grep", "searchfilecontent", "grepsearch", "searchtext", "rg"), _search("grep")),
    **dict.fromkeys(("ls", "list", "listdirectory", "listdir"), _search("ls")),
    **dict.fromkeys(("webfetch", "fetch", "fetchurl"), _fetch),
    **dict.fromkeys(("websearch", "googlewebsearch"), _web_search),
    **dict.fromkeys(("task", "agent", "spawnagent"), _agent),
    **dict.fromkeys(("skill", "activateskill", "slashcommand"), _skill),
    "applypatch": _patch,
}
"""Tool names without case, `_` and `-` -> how their input says what they access."""

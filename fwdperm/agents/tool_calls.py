"""What an agent's tool call accesses: the table from tool names to surfaces, for all agents.

Lives here: `accesses`. Pure. Never here: an agent's events (the dialects), the fields' names (`fields.py`), a decision.
Standard library only.

Every field that can hold a path, a glob, a directory, a command or an address becomes a fact. A tool that is not known
is a surface of its own, with its whole input as value.

Fails closed. A known tool that does not say what it accesses is refused: a newer agent may have renamed the field, and
a deny would have nothing to match. With fields that contradict each other, that are unknown or that cannot be read, a
person has to look at the call: which of them counts, only the agent knows.
"""

from __future__ import annotations

from fwdperm import settings
from fwdperm.agents import fields
from fwdperm.agents.event import Access, BadEvent
from fwdperm.agents.fields import NOTHING, STRANGE, ToolCall, leaves
from fwdperm.agents.summary import LONGEST_TEXT, compact, first_lines, shortened, size_of
from fwdperm.wire import JsonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Final

_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh", "pwsh", "powershell", "cmd"})
_SHELL_PLACES: Final = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})
_INPUT_CHARS: Final = 16 * 1024
"""Characters of a tool's input up to which all of it is matched. A longer one is shortened, with a floor."""


def accesses(tool: str, tool_input: Mapping[str, Any], *, cwd: str = "") -> tuple[Access, ...]:
    """Say what a tool call accesses.

    Args:
        tool: The tool's name as the agent writes it.
        tool_input: Its input.
        cwd: The working directory it is meant in; empty when not known.

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
    return known(ToolCall(tool, tool_input, cwd)) if known else (_with_input(tool, "", tool_input),)


def _server_tool(tool: str) -> str:
    """Give `server__tool` of a tool that an MCP server offers; nothing for another tool."""
    if not tool.startswith("mcp__"):
        return ""
    rest = tool.removeprefix("mcp__")
    server, cut, name = rest.partition("__")
    return rest if cut and server and name else ""


def _with_input(surface: str, name: str, tool_input: Mapping[str, Any]) -> Access:
    """Make an access whose value is a name and the whole input. A very long input is shortened, with a floor."""
    try:
        text = compact(tool_input) if tool_input else ""
    except JsonError:
        raise BadEvent("the tool's input cannot be written down") from None
    floor = ""
    if len(text) > _INPUT_CHARS:
        floor = f"the tool's input is too long to be matched whole ({size_of(text)})"
        text = compact(shortened(dict(tool_input)))[:_INPUT_CHARS]
    return Access(surface, (f"{name} {text}".strip() or "{}",), floor=floor)


def _command(call: ToolCall) -> tuple[Access, ...]:
    """Give every command line it may run, in every directory it may run in."""
    strange = call.check("command", fields.COMMANDS, fields.PLACES)
    lines: dict[str, None] = {}
    for name in fields.COMMANDS:
        found = call.input.get(name)
        if isinstance(found, str) and found.strip():
            lines[found] = None
        elif isinstance(found, list) and found and all(isinstance(word, str) for word in found):
            lines[" ".join(_quoted(word) for word in found)] = None
        elif found not in NOTHING:
            call.doubt(f"its `{name}` is no command line")
    if not lines:
        raise BadEvent(f"`{call.tool}` says no command")
    if len(lines) > 1:
        call.doubt("it names several commands that differ")
    message = "; ".join((call.tool, *told)) if (told := _about_command(call)) else ""
    made = []
    for line in lines:
        run = _in_shell(call, line)
        for place in call.places() or [""]:
            values = dict.fromkeys((f"cd {_place(place)} && {run}" if place else run, run, line, *strange))
            made.append((tuple(values), message))
    return tuple(Access("bash", values, message=said, floor=call.floor) for values, said in made)


def _about_command(call: ToolCall) -> list[str]:
    told = [text] if (text := call.said("description", "justification")) else []
    escalates = call.input.get("sandbox_permissions") not in (*NOTHING, "use_default")
    if any(call.input.get(name) is True for name in _WITHOUT_SANDBOX) or escalates:
        told.append("outside the sandbox")
    return told


_WITHOUT_SANDBOX: Final = ("dangerouslyDisableSandbox", "with_escalated_permissions")


def _in_shell(call: ToolCall, line: str) -> str:
    """Give the command line, as `PROGRAM -c LINE` where the call names a program to run it that is no usual shell."""
    shell = call.input.get("shell")
    if not isinstance(shell, str) or not shell.strip():
        return line
    place, _, name = shell.strip().rpartition("/")
    is_usual = name.removesuffix(".exe") in _SHELLS and place in _SHELL_PLACES
    return line if is_usual else f"{_quoted(shell)} -c {_quoted(line)}"


def _place(path: str) -> str:
    """Quote a directory for `cd`. A `~` or `$HOME` at its start is taken for the home, as some tools do."""
    path = path.strip()
    start, slash, rest = path.partition("/")
    if start in {"~", "$HOME", "${HOME}"}:
        return f"~{slash}{_quoted(rest) if rest else ''}"
    return _quoted(f"./{path}" if path.startswith("-") else path)


def _quoted(word: str) -> str:
    return word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\\''") + "'"


def _file(surface: str) -> Callable[[ToolCall], tuple[Access, ...]]:
    def read(call: ToolCall) -> tuple[Access, ...]:
        paths = call.paths()
        if not paths:
            raise BadEvent(f"`{call.tool}` says no path")
        strange = call.check("file", fields.PATHS, fields.PLACES)
        edits = call.input.get("edits")
        for edit in edits if isinstance(edits, list) else ():
            if isinstance(edit, dict) and not fields.EDIT.issuperset(edit):
                call.doubt("it has an edit with a field fwdperm does not know")
                strange += [text for name in edit if name not in fields.EDIT for text in leaves(edit[name])]
        message = _change(surface, paths[0], call.input)
        return (_of_paths(call, surface, (*paths, *strange[:STRANGE]), message=message),)

    return read


def _of_paths(call: ToolCall, surface: str, paths: Sequence[str], *, message: str) -> Access:
    values = tuple(dict.fromkeys(path for path in paths if path.strip()))
    if len(values) > settings.VALUES:
        raise BadEvent(f"`{call.tool}` names {len(values)} paths at once, at most {settings.VALUES} are asked about")
    return Access(surface, values, message=message, floor=call.floor)


def _change(surface: str, path: str, tool_input: Mapping[str, Any]) -> str:
    """Describe in a few lines what a write or an edit changes; never the whole content."""
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
    """Give how many lines an edit removes and adds, and the first lines of both; None for what is no edit."""
    old = edit.get("old_string", edit.get("old_str", edit.get("oldString")))
    new = edit.get("new_string", edit.get("new_str", edit.get("newString")))
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    shown = [f"{mark}{line}" for mark, text in (("-", old), ("+", new)) for line in first_lines(text).split("\n")]
    return old.count("\n") + 1, new.count("\n") + 1, "\n".join(shown)


def _search(surface: str) -> Callable[[ToolCall], tuple[Access, ...]]:
    """Make the mapping of a tool that looks for names or texts below a directory, the working directory by default."""

    def read(call: ToolCall) -> tuple[Access, ...]:
        for_texts = surface == "grep"
        names = fields.GLOBS if for_texts else fields.GLOBS + fields.PATTERNS
        places = call.paths() or ["."]
        strange = call.check("search", fields.PATHS, fields.PLACES, fields.GLOBS, fields.PATTERNS)
        globs = call.texts(names, what="globs")
        below = _below(call, places, globs, any_depth=for_texts) if globs else []
        paths = (*places, *below, *strange) if for_texts or not below else (*below, *strange)
        told = call.said("pattern", "query") if for_texts else ""
        shown = ", ".join((f"{surface} {', '.join(places)[:LONGEST_TEXT]}" + (f" for {told}" if told else ""),
                           *([f"in {', '.join(globs)[:LONGEST_TEXT]}"] if globs else [])))  # fmt: skip
        return (_of_paths(call, surface, paths, message=shown if told or globs else ""),)

    return read


def _below(call: ToolCall, places: Sequence[str], globs: Sequence[str], *, any_depth: bool) -> list[str]:
    """Give the paths that globs may stand for; a glob that is not fully understood is a doubt."""
    from fwdperm.agents.glob_paths import TooManyError, paths_below  # noqa: PLC0415 - few calls have any

    found: list[str] = []
    for place in places:
        try:
            paths, is_clear = paths_below(place, globs, any_depth=any_depth)
        except TooManyError:
            raise BadEvent(f"`{call.tool}` has a glob that stands for too many names") from None
        found += paths
        if not is_clear:
            call.doubt("it has a glob fwdperm cannot read")
    return found


def _many(call: ToolCall) -> tuple[Access, ...]:
    """Give what a tool reads that takes paths and globs alike."""
    globs = call.texts((*fields.PATHS, *fields.GLOBS), what="paths")
    if not globs:
        raise BadEvent(f"`{call.tool}` says no path")
    strange = call.check("search", fields.PATHS, fields.GLOBS)
    return (_of_paths(call, "grep", (*_below(call, ["."], globs, any_depth=False), *strange), message=""),)


def _fetch(call: ToolCall) -> tuple[Access, ...]:
    strange = call.check("web", fields.ADDRESSES)
    urls = call.texts(fields.ADDRESSES, what="addresses")
    if urls:
        return call.each("web", (*urls, *(text for text in strange if "://" in text)), message=call.said("prompt"))
    prompt = call.input.get("prompt")
    if isinstance(prompt, str) and prompt.strip():  # agents whose fetch finds the address in the words
        call.doubt("the tool finds the address in its prompt")
        return call.each("web", (prompt,))
    raise BadEvent(f"`{call.tool}` says no address")


def _web_search(call: ToolCall) -> tuple[Access, ...]:
    call.check("web search")
    query = call.input.get("query")
    if not isinstance(query, str) or not query.strip():
        raise BadEvent(f"`{call.tool}` says no query")
    return call.each("web", (f"search: {query}",))


def _agent(call: ToolCall) -> tuple[Access, ...]:
    call.check("agent", fields.AGENTS)
    if call.input.get("mode") not in (*NOTHING, "default", "plan", "sync", "background"):
        call.doubt("it starts an agent in a mode of its own")
    kinds = call.texts(fields.AGENTS, what="agents") or ["general-purpose"]
    told = "\n".join(text for name in ("description", "prompt", "message") if (text := call.said(name)))
    return call.each("agent", kinds, message=told)


def _skill(call: ToolCall) -> tuple[Access, ...]:
    call.check("skill", fields.SKILLS)
    skills = call.texts(fields.SKILLS, what="skills")
    if not skills:
        raise BadEvent(f"`{call.tool}` says no skill")
    return call.each("skill", skills, message=call.said("args", "arguments"))


def _patch(call: ToolCall) -> tuple[Access, ...]:
    from fwdperm.agents.patches import patched  # noqa: PLC0415 - few calls are one

    return patched(call)


_KNOWN: Final[dict[str, Callable[[ToolCall], tuple[Access, ...]]]] = {
    **dict.fromkeys(
        ("bash", "shell", "execcommand", "runshellcommand", "localshell", "shellcommand", "powershell"),
        _command,
    ),
    **dict.fromkeys(("read", "readfile", "view", "notebookread", "viewimage"), _file("read")),
    "readmanyfiles": _many,
    **dict.fromkeys(("write", "writefile", "create", "createfile"), _file("write")),
    **dict.fromkeys(
        ("edit", "multiedit", "notebookedit", "replace", "strreplace", "strreplaceeditor", "editfile", "insert"),
        _file("edit"),
    ),
    **dict.fromkeys(("glob", "findfiles"), _search("glob")),
    "find": _search("find"),
    **dict.fromkeys(
        ("grep", "searchfilecontent", "grepsearch", "grepfiles", "searchtext", "rg"),
        _search("grep"),
    ),
    **dict.fromkeys(("ls", "list", "listdirectory", "listdir"), _search("ls")),
    **dict.fromkeys(("webfetch", "fetch", "fetchurl"), _fetch),
    **dict.fromkeys(("websearch", "googlewebsearch"), _web_search),
    **dict.fromkeys(("task", "agent", "spawnagent"), _agent),
    **dict.fromkeys(("skill", "activateskill", "slashcommand"), _skill),
    "applypatch": _patch,
}
"""Tool name in lower case, without `_` and `-` -> what reads from its input what it accesses."""

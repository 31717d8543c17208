"""Claude Code's `permissions` as a ruleset of ours.

Lives here: its rules' documented meaning (deny before ask before allow; `Tool` or `Tool(specifier)`). Pure.
Never here: its hooks, its sandbox.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.agents.importing.draft import Draft

_RULE: Final = re.compile(r"([^\s()]+)(?:\((.*)\))?", re.DOTALL)
_READS: Final = ("read", "path_read", "grep", "glob", "ls")
_EDITS: Final = ("edit", "write", "multiedit", "notebook_edit", "path_write")
_LISTED: Final = ("allow", "ask", "deny")
_NOT_CARRIED: Final = {
    "defaultMode": "a mode is not a rule; fwdperm's own `mode` says what happens to what no rule settles",
    "additionalDirectories": "directories you vouch for are named by `workspaces`, or `serve --workspace`",
}
_LITERAL: Final = "its `?` stands for itself there, and for any character here"
_HOME: Final = "a pattern that begins with the home directory is a path here, and text there"


def read(settings: Mapping[str, Any], draft: Draft) -> None:
    """Read the settings into a draft: allow first, deny last, so that the last match is the strictest."""
    permissions = settings.get("permissions", {})
    if not isinstance(permissions, dict):
        raise OperatorError("`permissions` is no table", file=draft.file)
    draft.add("external_directory", "*", "ask")  # there, a rule for a command allows no path outside by itself
    for action in _LISTED:
        rules = permissions.get(action, [])
        if not isinstance(rules, list):
            raise OperatorError(f"`permissions.{action}` is no list", file=draft.file)
        for rule in rules:
            _read_rule(str(rule), action, draft)
    for name in permissions:
        if name not in _LISTED:
            draft.drop(name, _NOT_CARRIED.get(name, "not a rule"))


def _read_rule(rule: str, action: str, draft: Draft) -> None:  # noqa: C901, PLR0912 - one case for each tool
    found = _RULE.fullmatch(rule.strip())
    if found is None:
        draft.drop(f"{action} {rule}", "it cannot be read")
        return
    tool, given = found[1], found[2]
    inside = None if given in (None, "", "*") else given
    match tool:
        case "Bash":
            _bash(rule, inside, action, draft)
        case "Read":
            _path(rule, inside, action, draft, allows=("read",), narrows=_READS)
        case "Edit":
            _path(rule, inside, action, draft, allows=("edit", "write"), narrows=_EDITS)
        case "Write" | "NotebookEdit" | "MultiEdit":
            kind = {"Write": "write", "NotebookEdit": "edit", "MultiEdit": "edit"}[tool]
            _path(rule, inside, action, draft, allows=(kind,), narrows=(kind, "path_write"))
        case "Grep" | "Glob" | "LS":
            _path(rule, inside, action, draft, allows=(tool.lower(),), narrows=(tool.lower(),))
        case "WebFetch":
            _web(rule, inside, action, draft)
        case "WebSearch":
            draft.add("web", "search: *", action)
        case "Task" | "Agent":
            _name("agent", rule, inside, action, draft)
        case "Skill":
            _name("skill", rule, inside.removesuffix(":*").removesuffix(" *") if inside else None, action, draft)
        case _ if tool.startswith("mcp__"):
            _mcp(rule, tool, action, draft)
        case "*" if action != "allow":
            draft.closed = max(draft.closed or "allow", action, key=_LISTED.index)
        case _ if "*" in tool or inside is not None:
            _cannot(rule, action, draft, "its specifier has no counterpart here", surfaces=(tool,))
        case _:
            draft.add(tool, "*", action)


def _cannot(rule: str, action: str, draft: Draft, why: str, *, surfaces: tuple[str, ...]) -> None:
    """Leave out an allow; let a deny or ask hold for everything of the surfaces, so that it matches no less."""
    if action == "allow":
        draft.drop(f"allow {rule}", why)
        return
    draft.drop(f"{action} {rule}", f"{why}; instead {action} stands for everything of {', '.join(surfaces)}")
    for surface in surfaces:
        draft.add(surface, "*", action)


def _bash(rule: str, inside: str | None, action: str, draft: Draft) -> None:
    if inside is None:
        draft.add("bash", "*", action)
        return
    prefix = inside.removesuffix(":*")
    is_prefix = prefix != inside
    if action == "allow":
        if "?" in prefix:
            draft.drop(f"allow {rule}", _LITERAL)
        elif prefix.startswith(("~", "$HOME")):
            draft.drop(f"allow {rule}", _HOME)
        elif not prefix.strip("* "):
            draft.drop(f"allow {rule}", "it names no command; say `Bash` there, or a bare `*` here, if you mean all")
        elif re.search(r"[^ ]\*", prefix):
            draft.drop(f"allow {rule}", "a `*` inside a word may match other programs here")
        else:
            draft.add("bash", f"{prefix} *" if is_prefix else prefix, action)
        return
    for pattern in (f"{prefix}*", prefix) if is_prefix else (inside,):
        draft.add("bash", pattern, action)


def _path(  # noqa: PLR0913 - a rule, its parts, and the surfaces it is for
    rule: str, inside: str | None, action: str, draft: Draft, *, allows: tuple[str, ...], narrows: tuple[str, ...]
) -> None:
    surfaces = allows if action == "allow" else narrows
    if inside is None:
        draft.add_all(surfaces, ["*"], action)
    elif action == "allow":
        pattern = _narrow_path(inside)
        if pattern is None:
            draft.drop(f"allow {rule}", "its `*` stops at a `/` there and does not here")
        else:
            draft.add_all(surfaces, [pattern], action)
    elif inside.startswith("!"):
        _cannot(rule, action, draft, "an exception has no counterpart here", surfaces=surfaces)
    else:
        draft.add_all(surfaces, _wide_path(inside), action)


def _narrow_path(inside: str) -> str | None:
    """Give a pattern that matches no more than a gitignore-like one; None when there is none."""
    head, deep, tail = inside.partition("/**")
    if re.search(r"[*?\[!\\]", head) or (deep and tail) or ".." in head.split("/"):
        return None
    if head.startswith("//"):
        head = head[1:]
    elif head.startswith("/"):
        return None  # it is meant below the directory of the settings file, and we do not know that directory
    elif "/" not in head.removeprefix("./") and not head.startswith("~") and not deep:
        # There it matches at any depth; here only in the directory itself, which is less.
        head = head.removeprefix("./")
    return (head.removeprefix("./") + ("/*" if deep else "")) or None


def _wide_path(inside: str) -> list[str]:
    """Give patterns that match at least what a gitignore-like one does."""
    loose = re.sub(r"\[[^\]]*\]|\\.", "*", inside)
    loose = re.sub(r"\*+", "*", loose)
    if loose.startswith("//"):
        return [loose[1:], f"{loose[1:].rstrip('/')}/*"]
    if loose.startswith("~"):
        return [loose, f"{loose.rstrip('/')}/*"]
    tail = loose.removeprefix("./").lstrip("/").removeprefix("*/").rstrip("/")
    return [tail, f"*/{tail}", f"{tail}/*", f"*/{tail}/*"]


def _web(rule: str, inside: str | None, action: str, draft: Draft) -> None:
    if inside is None:
        draft.add_all(("web",), ("http://*", "https://*") if action == "allow" else ("*://*",), action)
        return
    host = inside.removeprefix("domain:")
    if host == inside or not re.fullmatch(r"[A-Za-z0-9.-]+", host):
        _cannot(rule, action, draft, "only `domain:HOST` is known", surfaces=("web",))
    elif action == "allow":
        draft.add_all(("web",), (f"https://{host}/*", f"http://{host}/*"), action)
    else:
        draft.add_all(("web",), (f"*://*{host}*",), action)


def _name(surface: str, rule: str, inside: str | None, action: str, draft: Draft) -> None:
    if inside is None:
        draft.add(surface, "*", action)
    elif re.search(r"[*?]", inside):
        _cannot(rule, action, draft, "only a plain name can be carried over", surfaces=(surface,))
    else:
        draft.add(surface, inside, action)


def _mcp(rule: str, tool: str, action: str, draft: Draft) -> None:
    rest = tool.removeprefix("mcp__")
    server, cut, name = rest.partition("__")
    if re.search(r"[*?]", server) or (re.search(r"[*?]", name) and name != "*"):
        _cannot(rule, action, draft, "a pattern in a tool's name has no counterpart here", surfaces=("mcp",))
    elif not cut or name == "*":
        draft.add("mcp", f"{server}__*", action)
    else:
        draft.add("mcp", f"{rest} *", action)

"""OpenCode's `permission` as a ruleset of ours.

Lives here: its tools as surfaces; its patterns mean what ours mean, and the last match wins there too. Pure.
Never here: its agents' own sections, which are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fwdperm.agents.importing.draft import as_map, strictest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.agents.importing.draft import Draft

_SURFACES: Final[Mapping[str, tuple[str, ...]]] = {
    "bash": ("bash",),
    "read": ("read",),
    "edit": ("edit", "write"),
    "task": ("agent",),
    "skill": ("skill",),
    "external_directory": ("external_directory",),
}
_BY_PATTERN: Final = {"glob": "glob", "grep": "grep", "list": "ls"}
"""Tools whose patterns there match what is searched for; here a pattern matches where it is searched."""
_ENV: Final = ("*.env", "*.env.*")
_LATE: Final = "`*` after other tools overrides them there and cannot here"


def read(settings: Mapping[str, Any], draft: Draft) -> None:
    """Read the settings into a draft."""
    permission = settings.get("permission", {})
    table = {"*": permission} if isinstance(permission, str) else permission
    if not isinstance(table, dict):
        table = {}
        draft.drop("permission", "neither an action nor a table; everything asks")
    narrowed = _default(table, draft)
    draft.add("external_directory", "*", "ask")
    for tool, value in table.items():
        if tool != "*":
            _tool(tool, as_map(value, draft, name=tool), draft, narrowed=narrowed)
    if draft.default == "allow" or "read" in table:
        read_rules = table.get("read", {})
        for pattern in _ENV:
            if not isinstance(read_rules, dict) or pattern not in read_rules:
                draft.add("read", pattern, "ask")  # OpenCode asks about these without any rule
    if settings.get("agent") or settings.get("mode"):
        draft.drop("agent", "agents' own permissions; write them as `[agents.NAME.rules...]`")


def _default(table: Mapping[str, Any], draft: Draft) -> bool:
    """Read the rule for all tools; say whether no allow may be carried over, because a stricter `*` comes after it."""
    if "*" not in table:
        draft.drop("(no `*`)", "what no rule settles is allowed there, and asks here")
        return False
    if isinstance(table["*"], dict):
        draft.drop("*", "patterns for every tool at once have no counterpart here; everything asks")
        return strictest(as_map(table["*"], draft, name="*").values()) != "allow"
    action = as_map(table["*"], draft, name="*")["*"]
    is_first = next(iter(table)) == "*"
    if action == "allow" and not is_first:
        draft.drop("* allow", _LATE)
        return False
    draft.default = action
    return action != "allow" and not is_first


def _tool(tool: str, rules: Mapping[str, str], draft: Draft, *, narrowed: bool) -> None:  # noqa: C901 - one kind of tool after the other
    if narrowed:
        draft.drop(tool, f"{_LATE}; its allows ask")
        rules = {pattern: "ask" if action == "allow" else action for pattern, action in rules.items()}
    if "*" in tool or "?" in tool:
        draft.drop(tool, "a pattern for tools' names; what it allows asks")
        rules = {pattern: strictest((action, "ask")) for pattern, action in rules.items()}
    if tool in _BY_PATTERN:
        action = strictest(rules.values())
        if list(rules) != ["*"]:
            draft.drop(tool, f"its patterns name what is searched for, and here where; all of it is {action}")
        draft.add(_BY_PATTERN[tool], "*", action)
        return
    if tool in ("webfetch", "websearch"):
        before = "" if tool == "webfetch" else "search: "
        for pattern, action in rules.items():
            shown = "*://*" if pattern == "*" and action == "allow" and not before else before + pattern
            if action == "allow" and not before and not shown.startswith(("http", "*://")):
                draft.drop(f"webfetch {pattern}", "it may match what is searched for, too")
                continue
            draft.add("web", shown, action)
        return
    if tool not in _SURFACES and list(rules) != ["*"]:
        action = strictest(rules.values())
        draft.drop(tool, f"its patterns have no counterpart here; all of it is {action}")
        rules = {"*": action}
    for pattern, action in rules.items():
        if tool == "bash" and action == "allow" and pattern.startswith(("~", "$HOME")):
            draft.drop(f"bash {pattern}", "a pattern that begins with the home directory is a path here")
            continue
        draft.add_all(_SURFACES.get(tool, (tool,)), [pattern], action)

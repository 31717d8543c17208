"""The pi permission system's `permission` as a ruleset of ours.

Lives here: its surfaces and its layers. Its patterns mean what ours mean. Pure. Never here: its agents' own sections.

There, `path` and `external_directory` are judged beside the tool's own rules, and the strictest result counts. So here
their denials and asks come last, where they win, and an exception from one of them is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fwdperm.agents.importing.draft import PATHS, as_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.agents.importing.draft import Draft

_SURFACES: Final[Mapping[str, tuple[str, ...]]] = {
    "find": ("find", "glob"),
    "task": ("agent",),
}
_LOOKING: Final = ("grep", "find", "glob", "ls")


def read(settings: Mapping[str, Any], draft: Draft) -> None:  # noqa: C901 - one layer after the other
    """Read the settings into a draft."""
    table = settings.get("permission", {})
    if not isinstance(table, dict):
        table = {}
        draft.drop("permission", "no table; everything asks")
    if "*" in table:
        draft.default = "ask" if isinstance(table["*"], dict) else as_map(table["*"], draft, name="*")["*"]
    for tool, value in table.items():
        if tool in ("*", "path", "external_directory"):
            continue
        for pattern, action in as_map(value, draft, name=tool).items():
            if tool == "bash" and action == "allow" and pattern.startswith(("~", "$HOME")):
                draft.drop(f"bash {pattern}", "a pattern that begins with the home directory is a path here")
                continue
            draft.add_all(_SURFACES.get(tool, (tool,)), [pattern], action)
    outside = as_map(table.get("external_directory", draft.default), draft, name="external_directory")
    if "*" not in outside:
        draft.add("external_directory", "*", draft.default)
    for pattern, action in outside.items():
        draft.add("external_directory", pattern, action)
    _paths(as_map(table.get("path", draft.default), draft, name="path"), draft)
    if settings.get("yoloMode"):
        draft.drop("yoloMode", 'say `mode = "yolo"` yourself, if you mean it')
    if settings.get("piInfrastructureReadPaths"):
        draft.drop("piInfrastructureReadPaths", "what it reads without asking, asks here")


def _paths(rules: Mapping[str, str], draft: Draft) -> None:
    """Add the rules for paths behind the tools' own: asks, then denials. An allow among them adds nothing."""
    narrowing = False
    if "*" not in rules and draft.default != "allow":
        draft.add_all((*PATHS, *_LOOKING), ["*"], draft.default)
    for pattern, action in rules.items():
        if action == "allow":
            if narrowing and pattern != "*":
                draft.drop(f"path {pattern} allow", "an exception from a denial above it; it stays denied or asks")
            continue
        narrowing = True
    for wanted in ("ask", "deny"):
        for pattern, action in rules.items():
            if action == wanted:
                draft.add_all((*PATHS, *_LOOKING), [pattern], action)

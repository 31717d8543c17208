"""The rooms and which way imports may point. A new room, or a new direction, is a decision: see docs/decisions/."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fwdperm

HOUSE = Path(fwdperm.__file__).parent

UP = [
    {"errors", "settings"},
    {"wire", "redaction"},
    {"programs"},
    {"rules"},
    {"shell"},
    {"units"},
    {"guard"},
    {"judge"},
    {"standing"},
    {"weigh"},
    {"decide"},
    {"memory"},
    {"explain"},
    {"journal", "places", "recorded"},
    {"inbox"},
    {"seat"},
    {"facts", "answer", "exchange", "client", "launch", "pending_notes"},
    {"agents", "ask_command"},
    {"serve", "evaluation"},
    {"testing"},
    {"cli"},
]
"""Every room may import from rooms above it, and from its own line."""

PURE = {
    "programs.program", "programs.lookup", "programs.families", "programs.variables", "programs.compiled",
    "decide", "weigh", "standing", "explain", "errors", "settings", "memory", "shell", "units", "guard",
    "wire", "redaction",
    "rules.wildcard", "rules.index", "rules.rule", "rules.unit", "rules.ruleset", "rules.chain", "rules.settled",
    "rules.layer", "rules.mode", "rules.surface", "rules.lint", "rules.shadow", "judge.verdict", "judge.answer",
    "judge.brief", "judge.instructions", "judge.limits", "judge.setup", "judge.failures", "seat.queue",
    "seat.render", "seat.line", "seat.editor", "seat.names", "seat.unattended", "journal.record", "journal.filters",
    "serve.sessions",
    "serve.deadline", "serve.question", "serve.judge_config", "serve.briefing",
    "evaluation.cases", "evaluation.world", "evaluation.score",
}  # fmt: skip
"""Rooms and modules that read no clock, disk, network or environment, and do not log."""

IMPURE = {
    "time", "datetime", "os", "io", "socket", "subprocess", "threading", "asyncio", "logging", "structlog", "tempfile",
    "shutil", "pathlib", "random", "secrets", "uuid", "anthropic", "watchdog", "httpx", "signal", "fcntl",
}  # fmt: skip


def modules() -> list[Path]:
    return sorted(HOUSE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(HOUSE).parts[0]
    return first.removesuffix(".py")


def line_of(room: str) -> int:
    return next(number for number, rooms in enumerate(UP) if room in rooms)


def imports(path: Path) -> list[tuple[str, bool]]:
    """Give every imported module, and whether it is imported for the type checker only."""
    found = []

    def walk(node: ast.AST, *, types_only: bool) -> None:
        for child in ast.iter_child_nodes(node):
            only = types_only
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                only = True
            if isinstance(child, ast.Import):
                found.extend((name.name, only) for name in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                if child.module == "fwdperm":
                    found.extend((f"fwdperm.{name.name}", only) for name in child.names)
                found.append((child.module, only))
            walk(child, types_only=only)

    walk(ast.parse(path.read_text(encoding="utf-8")), types_only=False)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_imports_point_up(path: Path) -> None:
    """A module imports from its own line of the house or from above."""
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    below = []
    for module, types_only in imports(path):
        parts = module.split(".")
        if types_only or parts[0] != "fwdperm" or len(parts) == 1:
            continue
        other = parts[1]
        if other.startswith("__") or other == room:
            continue
        if line_of(other) > line_of(room):
            below.append(module)
    assert below == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_pure_modules_stay_pure(path: Path) -> None:
    """The core reads no clock, disk, network or environment, and does not log."""
    name = ".".join(path.relative_to(HOUSE).with_suffix("").parts)
    if room_of(path) not in PURE and name not in PURE:
        return
    assert [module for module, only in imports(path) if not only and module.split(".")[0] in IMPURE] == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_every_module_opens_with_its_charter(path: Path) -> None:
    """Every module opens by saying what it is; rooms also say what lives in them and what never does."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert doc
    assert path.name == "__init__.py" or "ives here" in doc or "Lives here" in doc


def test_every_room_is_on_the_list() -> None:
    """A room that is not in the table is nowhere."""
    rooms = {room_of(path) for path in modules()} - {"__init__", "__main__"}
    assert rooms - set().union(*UP) == set()


def test_the_model_sdk_is_imported_in_one_function_of_one_room() -> None:
    """Importing the model SDK costs a second and 70 MB: nobody pays before a judge is needed."""
    users = {
        str(path.relative_to(HOUSE))
        for path in modules()
        if any(m.split(".")[0] == "anthropic" for m, only in imports(path) if not only)
    }
    assert {user.split("/")[0] for user in users} <= {"judge"}

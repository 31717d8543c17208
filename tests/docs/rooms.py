"""The list of rooms on the architecture page, made from the import table of `tests/test_house.py`.

python tests/docs/rooms.py        writes it into the page; a test holds the page current
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs" / "explanation" / "architecture.md"
BEGIN, END = "<!-- rooms: made by `python tests/docs/rooms.py` -->\n", "<!-- end of rooms -->\n"


def rooms_table() -> str:
    """Write the table: each line of the import table, its rooms, what lives there, and which of it is pure."""
    lines = ["| line | room | what it is | pure |", "|---|---|---|---|"]
    order, pure = _tables()
    for number, rooms in enumerate(order, start=1):
        lines += [
            f"| {number} | `{_path(room)}` | {_charter(room)} | {_purity(room, pure)} |" for room in sorted(rooms)
        ]
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """Put the table into the page's text, between its two marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{rooms_table()}\n{END}{rest.partition(END)[2]}"


def _tables() -> tuple[list[set[str]], set[str]]:
    """Read the import table and the list of pure modules, without running the tests that hold them."""
    found = {}
    for node in ast.parse((TOP / "tests" / "test_house.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            name = ast.unparse(node.targets[0])
            if name in ("FRONT_TO_BACK", "PURE"):
                found[name] = ast.literal_eval(node.value)
    return found["FRONT_TO_BACK"], found["PURE"]


def _path(room: str) -> str:
    return f"{room}/" if (TOP / "fwdperm" / room).is_dir() else f"{room}.py"


def _charter(room: str) -> str:
    """Give the first sentence of a room's own words."""
    path = TOP / "fwdperm" / room / "__init__.py"
    path = path if path.exists() else TOP / "fwdperm" / f"{room}.py"
    words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(words.split("\n\n")[0].split()).rstrip(".").replace("|", "\\|")


def _purity(room: str, pure: set[str]) -> str:
    if room in pure:
        return "all of it"
    inside = sorted(name.partition(".")[2] for name in pure if name.startswith(f"{room}."))
    return ", ".join(f"`{name}`" for name in inside) if inside else "no"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote `{PAGE.relative_to(TOP)}`\n")

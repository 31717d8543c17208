"""The architecture page's list of rooms is the import table's, and its arrows are the code's."""

from __future__ import annotations

import re

from rooms import PAGE, TOP, rooms_table, with_table

from fwdperm.shell import parse_line


def test_the_list_of_rooms_is_current() -> None:
    """Run `python tests/docs/rooms.py` when a room came, went or moved."""
    text = PAGE.read_text(encoding="utf-8")
    assert rooms_table() in text
    assert with_table(text) == text


def test_every_room_is_in_the_list() -> None:
    table = rooms_table()
    rooms = [path.parent.name for path in (TOP / "fwdperm").glob("*/__init__.py")]
    assert [room for room in rooms if f"| `{room}/` |" not in table] == []


def test_every_module_in_the_pictures_exists() -> None:
    """In a picture a module stands without its room, beside a heading that names it."""
    text = PAGE.read_text(encoding="utf-8")
    pictures = "\n".join(re.findall(r"^```text\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
    there = {path.name for path in (TOP / "fwdperm").rglob("*.py")}
    named = {name.rpartition("/")[2] for name in re.findall(r"[\w/]+\.py\b", pictures)}
    assert len(named) > 15
    assert named - there == set()


def test_the_example_of_the_shell_walk_is_what_the_walk_gives() -> None:
    line = parse_line("sudo sh -c 'cd x && rm -r y'")
    assert [command.argv for command in line.commands] == [
        ("sudo", "sh", "-c", "cd x && rm -r y"),
        ("sh", "-c", "cd x && rm -r y"),
        ("cd", "x"),
        ("rm", "-r", "y"),
    ]
    assert [command.carrier for command in line.commands] == [-1, 0, 1, 1]

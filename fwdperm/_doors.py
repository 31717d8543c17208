"""How a room's door opens: a name is loaded from the room's module when somebody first asks for it.

Lives here: `open_door`. Never here: a name of any room, or an import: the processes that start once for every question
load this too.

A door loads a module only when one of its names is used; otherwise starting any command would load everything. No name
in a door may be the name of a module of the room: Python sets a package's attribute to a module when that is imported,
and so would replace it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def open_door(room: str, names: dict[str, tuple[str, ...]]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Give a package its `__getattr__` and `__dir__`.

    Args:
        room: The package's name.
        names: The names in its door, by the module of the package that each is defined in.

    Returns:
        Both functions. The first raises AttributeError for a name that is not in the door, as Python expects it.
    """
    homes = {name: module for module, held in names.items() for name in held}

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        __import__(f"{room}.{home}")
        value = getattr(sys.modules[f"{room}.{home}"], name)
        setattr(sys.modules[room], name, value)  # from now on Python finds it without calling this
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[room]), *homes})

    return load, listed

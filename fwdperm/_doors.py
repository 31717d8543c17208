"""How a room's door opens: a name is loaded from the room's module when somebody first asks for it.

Lives here: `open_door`. Never here: a name of any room, or an import: the processes that start once for every question
load this too.

A door must not load the rooms' modules it gives names of: starting a command would then load the whole house. A name
of a door never is the name of one of the room's modules: importing the module would put the module in its place.
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
        Both functions. The first raises AttributeError for a name that stands in no door, as Python expects it.
    """
    homes = {name: module for module, held in names.items() for name in held}

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        __import__(f"{room}.{home}")
        value = getattr(sys.modules[f"{room}.{home}"], name)
        setattr(sys.modules[room], name, value)  # asked once: from now on it is found without us
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[room]), *homes})

    return load, listed

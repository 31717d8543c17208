"""Paths as text: what a typed path means, without looking at any disk.

Lives here: resolving `~`, `$HOME`, `file:`, `..` and a working directory; wildcards over paths; the directories whose
loss is a catastrophe. Never here: which files are sensitive (`markers.py`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_HOME: Final = re.compile(r"(?:\$HOME|\$\{HOME(?::?[?-][^}/]*|%%?/)?\}|~)(?=/|$)")
"""The requester's own home at the beginning of a path: `~/x`, `$HOME/x`, `${HOME:-y}/x`, `${HOME%/}`."""
_ROOT_OF_PROCESS: Final = re.compile(r"/proc/(?:self|thread-self|\d+)/root(?=/|$)")
"""The root of the file system by another way: `/proc/self/root/etc`."""
_HOME_OF: Final = re.compile(r"~([A-Za-z_][\w.-]*)(?=/|$)")
"""Somebody's home: `~root/x`."""
_FILE_URL: Final = re.compile(r"file:(?://(?:localhost)?)?(?=/)", re.IGNORECASE)
"""The head of an address of a file on this machine: `file:///etc/x`, `file://localhost/etc/x`."""
_NOWHERE_HOME: Final = "/home/~"
LONGEST_PATH: Final = 4096
"""Characters of the longest path a system opens."""

SYSTEM_DIRECTORIES: Final = frozenset(
    [
        "/",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib32",
        "/lib64",
        "/opt",
        "/proc",
        "/root",
        "/run",
        "/sbin",
        "/srv",
        "/sys",
        "/usr",
        "/var",
        "/mnt",
        "/media",
        "/usr/bin",
        "/usr/lib",
        "/usr/lib64",
        "/usr/sbin",
        "/usr/share",
        "/usr/local",
        "/usr/local/bin",
        "/usr/local/lib",
        "/usr/include",
        "/var/lib",
        "/var/log",
        "/var/mail",
        "/var/spool",
        "/var/www",
        "/Users",
        "/Library",
        "/System",
        "/Applications",
        "/Volumes",
        "/private",
        "/etc/ssh",
        "/etc/ssl",
        "/etc/systemd",
        "/etc/pam.d",
        "/boot/efi",
        "/boot/grub",
    ]
)
"""Directories of the machine whose recursive loss is certain catastrophe."""


_GLOB_TAIL: Final = re.compile(r"/(?:\.?\*|\.\[!?\.?\]\*|\.\?\?\*|\{[^/]*\*[^/]*\}|\{[.,]*\}\*|\*\*(?:/\*)?|\.)$")
"""A tail that means all of a directory: `/*`, `/.*`, `/.[!.]*`, `/{*,.*}`, `/**/*`, `/.`. What it says of `/etc/*` it
says of `/etc`."""


def normalised(path: str) -> str:
    """Resolve `.`, `..` and doubled slashes in an absolute path, as text."""
    if "//" not in path and "/." not in path and (len(path) == 1 or not path.endswith("/")):
        return path
    out: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if out:
                out.pop()
        elif part and part != ".":
            out.append(part)
    return "/" + "/".join(out)


@lru_cache(maxsize=4096)
def resolve(text: str, *, cwd: str, home: str) -> str:
    """Make a typed path absolute and normal.

    Args:
        text: As typed, after quote removal; `file:` URLs, `~`, `~name`, `$HOME` are understood.
        cwd: Absolute directory that relative paths start from; empty when unknown.
        home: Absolute home directory; empty when unknown.

    Returns:
        An absolute normal path; empty when it cannot be known, which is inside no workspace.
    """
    first = text[:1]
    if first in "f~$F":
        text = _FILE_URL.sub("", text, count=1) if first in "fF" else text
        match = _HOME.match(text)
        if match:
            text = (home or _NOWHERE_HOME) + text[match.end() :]
        elif match := _HOME_OF.match(text):
            owner = match.group(1)
            text = ("/root" if owner == "root" else f"/home/{owner}") + text[match.end() :]
        elif text[:2] in {"~+", "~-"} or text[1:2].isdigit():
            return ""  # the shell's own directories, which are not known here
    if text.startswith("/"):
        path = normalised(text)
        return _ROOT_OF_PROCESS.sub("", path, count=1) or "/" if path.startswith("/proc/") else path
    if not cwd or not text or first == "$":
        return ""
    return normalised(f"{cwd}/{text}")


def wildcard_pattern(pattern: str) -> str:
    """Translate a path wildcard into a regular expression: `*` is any run of characters, `?` one, all else itself."""
    return "".join(".*" if char == "*" else "." if char == "?" else re.escape(char) for char in pattern)


def is_catastrophic(text: str, *, cwd: str, home: str) -> bool:
    """Say whether losing this directory (or everything in it) recursively is a catastrophe.

    Args:
        text: As typed; a trailing `/*` means the directory before it.
        cwd: Where it is typed.
        home: The home directory.

    Returns:
        True for the root, system directories and a whole home directory. A directory in one is for a person to say.
    """
    text = text.strip()
    if len(text) > LONGEST_PATH:
        return False
    bare_glob = text in {"*", ".*", "./*", "**"}
    path = cwd if bare_glob else _catastrophe_path(text, cwd=cwd, home=home)
    if not path:
        return False
    if path in SYSTEM_DIRECTORIES:
        return True
    return is_home(path, home=home) or path == "/home/*"


def is_home(path: str, *, home: str) -> bool:
    """Say whether an absolute path is somebody's whole home directory."""
    if path in {"/root", _NOWHERE_HOME} or (home and path == normalised(home)):
        return True
    parts = path.split("/")
    return len(parts) == 3 and parts[1] in {"home", "Users"} and bool(parts[2])  # noqa: PLR2004 - "", home, name


def _catastrophe_path(text: str, *, cwd: str, home: str) -> str:
    previous = ""
    while text != previous:
        previous = text
        text = _GLOB_TAIL.sub("/", text) if text.startswith(("/", "~", "$", ".")) or "/" in text else text
        if text.endswith("/") and text.rstrip("/"):
            text = text.rstrip("/")
    return resolve(text or "/", cwd=cwd, home=home)

"""Surfaces that name one thing: a file to read or write, a directory, an address to fetch.

Lives here: one function per kind of access, and which surfaces are of which kind. Never here: tools that are known by
words (`tools.py`), the shell (`command_line.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.exfiltration import is_secret
from fwdperm.guard.places import SYSTEM_DIRECTORIES, is_home
from fwdperm.guard.reading import READ_ENDINGS, SHY_ENDINGS, Exposure, why_not_readable
from fwdperm.guard.self_protection import is_named_like_us, is_own
from fwdperm.guard.sensitive_paths import (
    matches_configured,
    may_meet_configured,
    may_reach_secret,
    sensitive_to_write,
)
from fwdperm.guard.text import holds_token, host_of, is_local, is_metadata
from fwdperm.guard.touched import read_catastrophe, write_catastrophe
from fwdperm.guard.writing import why_not_ordinary

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


READING: Final = _f("read grep glob ls list search find path_read view read_file notebook_read")
"""Surfaces that only look at files."""
WRITING: Final = _f(
    "write edit multiedit path_write create patch apply_patch notebook_edit write_file str_replace insert append"
)
"""Surfaces that change files."""
REMOVING: Final = _f("delete remove rm unlink delete_file")
"""Surfaces that remove files."""
WEB: Final = _f("web webfetch web_fetch fetch browse url http")
"""Surfaces that fetch an address."""
SEARCHING_WEB: Final = _f("websearch web_search")
_PATTERN_SURFACES: Final = _f("grep glob search find ls list")
_GLOB: Final = re.compile(r"[*?\[{]")
"""A sign that makes a path a pattern: `src/*.py`."""
_PLAIN_VALUE: Final = re.compile(r"(?:\S(?:.*\S)?)(?<![/.])$")
"""A path such as `a/b.txt`: no blank at either end, and no `/` or `.` at its end, which some systems drop."""
_HIGH_ENTROPY: Final = re.compile(r"[A-Za-z0-9+/_=-]{40,}|(?:%[0-9A-Fa-f]{2}){12,}")
"""A run that carries data rather than words: forty letters of base64, or twelve escaped bytes
(`%41%42%43%44%45%46%47%48%49%4a%4b%4c`)."""


def says(danger: Danger, id_: str, reason: str, *words: str) -> Assessment:
    """Make an assessment whose id begins with its class."""
    return measured(
        Assessment(
            danger,
            f"{danger}.{id_}" if not id_.startswith(str(danger)) else id_,
            reason,
            tuple(word[:200] for word in words),
        )
    )


def read_path(value: str, location: Location, *, canonical: str = "", surface: str = "read") -> Assessment:  # noqa: C901, PLR0912 - a fixed order of looks
    """Assess looking at one path: read-only inside the workspace, unless it is sensitive."""
    if "://" in value and not value.lower().startswith("file:"):
        return address(value, location)
    spellings = [
        location.resolve(value),
        *([canonical] if canonical else []),
        *(real for typed, real in location.canonical if typed == value),
    ]
    if surface not in _PATTERN_SURFACES:
        catastrophe = next(
            (hit for path in [value, *spellings] if path and (hit := read_catastrophe(path, location))), None
        )
        if catastrophe:
            return says(Danger.CRITICAL, catastrophe[0], catastrophe[1], value)
    if surface in _PATTERN_SURFACES:
        marker = next((found for path in spellings if path and (found := location.read_marker(path))), None)
        secret = marker is not None and (not marker.by_name or (surface == "grep" and _names_a_file(value)))
    else:
        secret = is_secret(value, location) or any(location.read_marker(path) for path in spellings if path)
    if secret:
        return says(Danger.DANGEROUS, "sensitive-read", "looks at a sensitive path", value)
    if "\\" in value or not value.isprintable():
        return says(Danger.DANGEROUS, "unprintable", "characters that do not show what they are", value)
    around = location.surroundings
    if any(is_own(path or value, around.own, around.workspaces) for path in spellings):
        return says(Danger.DANGEROUS, "own-files", "looks at this permission system's own files", value)
    if any(matches_configured(path, around.sensitive_read, location.home, location.cwd) for path in spellings if path):
        return says(Danger.DANGEROUS, "sensitive-read", "configured as sensitive", value)
    for path in spellings:
        if path in SYSTEM_DIRECTORIES or is_home(path, home=location.home):
            return says(Danger.DANGEROUS, "whole-directory", "opens a whole system or home directory", value)
        if surface == "grep" and _GLOB.search(path) and (reached := _reached(path, location)):
            return says(Danger.DANGEROUS, reached, "a pattern that may stand for secret or hidden files", value)
        why = why_not_readable(path, location, look=_look(_relative(path, location), surface))
        if why:
            return says(Danger.RULED, "outside", f"looks at a path {why}", value)
    return says(Danger.READ_ONLY, surface, "looks at an ordinary file of the workspace", value)


def _look(below: str, surface: str) -> Exposure:
    """Say how much of a path below a workspace a surface shows: a search for texts shows what files hold, as a read."""
    if surface not in _PATTERN_SURFACES:
        return Exposure.CONTENT
    if surface != "grep" or ("/" not in below[1:] and "." not in below and not _GLOB.search(below)):
        return Exposure.NAME  # a plain word at the top is a directory, or what some requesters search for
    return Exposure.CONTENT if _GLOB.search(below) else Exposure.MAYBE_TREE


def _names_a_file(value: str) -> bool:
    """Say whether what is searched is a file by its name, or a glob: then words in the name count."""
    name = value.rstrip("/").rpartition("/")[2]
    return "." in name[1:] or bool(_GLOB.search(value))


def _reached(path: str, location: Location) -> str:
    """Say why a glob that is searched for texts may read secrets: an id; empty when its ending says what it reads."""
    around = location.surroundings
    if around.sensitive_read and may_meet_configured(path, around.sensitive_read, location.home, location.cwd):
        return "sensitive-read"
    name = path.rpartition("/")[2].lower()
    if name.startswith((".", "[", "{", "@", "+", "!")):
        return "hidden-pattern"
    ending = name.rpartition(".")[2] if "." in name[1:] else ""
    if ending in READ_ENDINGS - SHY_ENDINGS:
        return ""
    return "secret-pattern" if may_reach_secret(path) else ""


def write_path(value: str, location: Location, *, canonical: str = "", surface: str = "write") -> Assessment:  # noqa: C901 - a fixed order of looks
    """Assess changing one path: routine for sources, documents and tests in the workspace."""
    spellings = [
        location.resolve(value),
        *([canonical] if canonical else []),
        *(real for typed, real in location.canonical if typed == value),
    ]
    for path in [value, *spellings]:
        catastrophe = write_catastrophe(path, location) if path else None
        if catastrophe:
            return says(Danger.CRITICAL, catastrophe[0], catastrophe[1], value)
    for path in spellings:
        marker = sensitive_to_write(path or "/" + value) or location.read_marker(path or "/" + value)
        if marker:
            return says(Danger.DANGEROUS, f"write-{marker.id}", f"changes {marker.reason}", value)
    if "\\" in value or not value.isprintable():
        return says(Danger.DANGEROUS, "unprintable", "characters that do not show what they are", value)
    around = location.surroundings
    if any(is_named_like_us(path or value) and not location.is_inside(path) for path in spellings) or is_named_like_us(
        _relative(spellings[0], location)
    ):
        return says(Danger.DANGEROUS, "own-files", "changes a file named like this permission system", value)
    if any(matches_configured(path, around.sensitive_write, location.home, location.cwd) for path in spellings if path):
        return says(Danger.DANGEROUS, "sensitive-write", "configured as sensitive", value)
    for path in spellings:
        if not path or not location.is_inside(path):
            return says(Danger.DANGEROUS, "write-outside", "changes a file outside the workspace", value)
    for path in spellings:
        why = why_not_ordinary(path, location) or (
            "" if _PLAIN_VALUE.match(value) else "unusual characters in the path"
        )
        if why:
            return says(Danger.RULED, surface, f"changes a file of the workspace: {why}", value)
    return says(Danger.ROUTINE, surface, "changes a source, a document or a test of the workspace", value)


def _relative(path: str, location: Location) -> str:
    for root in location.surroundings.workspaces:
        if path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) :]
    return path


def outside_directory(value: str, location: Location, *, canonical: str = "") -> Assessment:
    """Assess going into a directory outside the workspace: never less than ruled."""
    for path in (location.resolve(value), canonical):
        if not path:
            continue
        if path in SYSTEM_DIRECTORIES or is_home(path, home=location.home):
            return says(Danger.DANGEROUS, "whole-directory", "opens a whole system or home directory", value)
        if location.read_marker(path) or location.read_marker(path + "/x"):
            return says(Danger.DANGEROUS, "sensitive-read", "opens a sensitive directory", value)
        around = location.surroundings
        if is_own(path, around.own, around.workspaces):
            return says(Danger.DANGEROUS, "own-files", "opens this permission system's own files", value)
    return says(Danger.RULED, "outside", "opens a directory outside the workspace", value)


def address(value: str, location: Location) -> Assessment:
    """Assess fetching an address, or `search: WORDS`, which asks a search engine."""
    if value.startswith("search: "):
        return _search(value)
    url = value.strip()
    scheme = url.partition(":")[0].lower() if ":" in url else ""
    if scheme == "file":
        hit = read_path(url, location)
        return (
            hit
            if hit.danger.rank >= Danger.DANGEROUS.rank
            else says(Danger.DANGEROUS, "file-address", "reads a local file through the web", value)
        )
    if is_metadata(url):
        return says(Danger.CRITICAL, "critical.metadata", "asks the cloud's metadata service for credentials", value)
    if not url.isprintable() or not url.isascii() or " " in url:
        return says(Danger.DANGEROUS, "unprintable", "characters that do not show what they are", value)
    if scheme and "://" in url and scheme not in {"http", "https"}:
        return says(Danger.DANGEROUS, "scheme", f"fetches by `{scheme}`", value)
    if holds_token(url) and not is_local(url):
        return says(Danger.CRITICAL, "critical.exfiltration", "sends a secret out in an address", value)
    if "@" in url.partition("://")[2].partition("/")[0]:
        return says(Danger.DANGEROUS, "userinfo", "carries a name or password in the address", value)
    if is_local(url) or "." not in host_of(url):
        return says(Danger.DANGEROUS, "local-address", "probes this machine or a private network", value)
    tail = url.partition("?")[2] or url.partition("#")[2]
    if _HIGH_ENTROPY.search(tail) or len(tail) > 300:  # noqa: PLR2004 - a question is shorter
        return says(Danger.DANGEROUS, "data-in-address", "carries much data out in the address", value)
    return says(Danger.RULED, "web", "fetches from the network", value)


def _search(value: str) -> Assessment:
    if holds_token(value):
        return says(Danger.DANGEROUS, "secret-in-request", "carries what looks like a live secret", value)
    return says(Danger.RULED, "web-search", "sends a question to a search engine", value)

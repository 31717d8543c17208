"""Surfaces other than the shell: files, web, mcp, skills, agents, unknown tools.

Lives here: one function per kind of surface. Never here: the shell (`command_line.py`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.exfiltration import is_secret
from fwdperm.guard.places import SYSTEM_DIRECTORIES, is_home
from fwdperm.guard.reading import READ_ENDINGS, SHY_ENDINGS, Exposure, why_not_readable
from fwdperm.guard.self_protection import is_named_like_us, is_own
from fwdperm.guard.sensitive_paths import matches_configured, may_meet_configured, may_reach_secret, sensitive_to_write
from fwdperm.guard.text import holds_token, host_of, is_local, is_metadata, sql_changes, sql_drops
from fwdperm.guard.touched import candidates, read_catastrophe, write_catastrophe
from fwdperm.guard.writing import why_not_ordinary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
MCP: Final = _f("mcp")
_PATTERN_SURFACES: Final = _f("grep glob search find ls list")
_GLOB: Final = re.compile(r"[*?\[{]")
"""A sign that makes a path a pattern: `src/*.py`."""
_PLAIN_VALUE: Final = re.compile(r"(?:\S(?:.*\S)?)(?<![/.])$")
"""A path such as `a/b.txt`: no blank at either end, and no `/` or `.` at its end, which some systems drop."""
_RISKY_SKILL: Final = re.compile(
    r"deploy|prod|publish|release|delete|destroy|migrat|rollback|push|send|secret|credential|"
    r"admin|root|infra|ship|payment|billing|purge|wipe|drop",
    re.IGNORECASE,
)
"""A skill that is named after an effect beyond the workspace: `deploy-staging`."""
_DELETES: Final = _f(
    "delete remove drop destroy purge truncate wipe erase terminate obliterate nuke uninstall revoke cancel clear reset"
)
_CONTAINERS: Final = _f(
    "repository repo repositories repos project projects database databases db bucket "
    "buckets table tables cluster clusters organization org account accounts volume volumes "
    "stack stacks site domain workspace collection collections schema tenant"
)
_SENDS: Final = _f(
    "send post publish email mail message tweet share upload comment reply notify invite "
    "forward submit broadcast sms call attach transfer pay charge export webhook"
)
_ACTS: Final = _f(
    "create update write put patch add set edit merge close open push commit deploy run "
    "execute exec eval start stop restart approve assign move rename copy insert upsert "
    "import install enable disable grant trigger dispatch fork star click type navigate "
    "evaluate fill press"
)
_LOOKS: Final = _f("get list search read fetch query find describe show lookup count status view info browse resolve")
_DATABASES: Final = _f(
    "sql postgres postgresql mysql mariadb sqlite db database query execute mongo mongodb "
    "clickhouse snowflake bigquery redshift supabase neon duckdb mssql oracle"
)
_PROSE_KEYS: Final = _f("body text title content message description comment summary note subject")
_CODE_KEYS: Final = _f("cmd command commands shell script bash sh exec commandline command_line run")
_WORDS: Final = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])|\d+")
"""The words of a tool's name, in each of the ways to write it: `deleteFile`, `delete_file` and `HTTPGet` have two."""
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


def worst(assessments: list[Assessment]) -> Assessment:
    """Give the gravest; the first of equals."""
    return max(assessments, key=lambda each: each.danger.rank)


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


def _search(value: str) -> Assessment:
    if holds_token(value):
        return says(Danger.DANGEROUS, "secret-in-request", "carries what looks like a live secret", value)
    return says(Danger.RULED, "web-search", "sends a question to a search engine", value)


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


def skill(value: str) -> Assessment:
    """Assess a named skill by its name; never less than ruled."""
    if _RISKY_SKILL.search(value) or not value.isprintable():
        return says(Danger.DANGEROUS, "skill", "named after effects beyond this workspace", value)
    return says(Danger.RULED, "skill", "runs a named skill", value)


def tool(surface: str, value: str, location: Location, shell: Callable[[str, Location], Assessment]) -> Assessment:
    """Assess an mcp or unknown tool by the words of its name and by what its arguments carry; never less than ruled."""
    name, arguments = split_call(value)
    label = f"{surface} {name}" if surface not in MCP else name
    words = {
        word.lower() for word in _WORDS.findall(f"{surface if surface not in MCP else ''} {name}".replace("_", " "))
    }
    found = [_by_name(label, words)]
    sends = bool(words & (_SENDS | _f("push create update comment put write")))
    reads = bool(words & _LOOKS)
    database = bool(words & _DATABASES) and "docs" not in words
    for key, text in _leaves(arguments):
        found.append(_argument(key, text, location, shell, sends=sends, reads=reads, database=database))
    if isinstance(arguments, str) and arguments:
        found.append(_argument("", arguments, location, shell, sends=sends, reads=reads, database=database))
    return worst(found)


def split_call(value: str) -> tuple[str, Any]:
    """Cut `server__tool {json}` into name and arguments; arguments that are no JSON stay text."""
    cut = next((at for at, char in enumerate(value) if char in " \t\n{(["), len(value))
    name, rest = value[:cut], value[cut:].strip()
    if not rest:
        return name, None
    try:
        return name, json.loads(rest)
    except (ValueError, RecursionError):
        return name, rest


def _by_name(label: str, words: set[str]) -> Assessment:
    ordered = [word.lower() for word in _WORDS.findall(label.replace("_", " "))] or [""]
    final = {ordered[-1], ordered[-2] if len(ordered) > 1 else ""}
    if final & (_DELETES - {"cancel", "clear", "reset", "revoke"}) and final & _CONTAINERS:
        return says(
            Danger.CRITICAL, "critical.remote-delete", "deletes a remote repository, bucket or database for good", label
        )
    if words & _DELETES:
        return says(Danger.DANGEROUS, "tool-deletes", "deletes something on a connected service", label)
    if words & _SENDS:
        return says(Danger.DANGEROUS, "tool-sends", "sends something out in the user's name", label)
    if words & _ACTS:
        return says(Danger.DANGEROUS, "tool-acts", "changes something on a connected service", label)
    if words & _LOOKS:
        return says(Danger.RULED, "tool-reads", "asks a connected service", label)
    return says(Danger.RULED, "tool", "a tool whose effect is not known", label)


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Give every text of a JSON value with the key it stands under; a list under a code key is one command."""
    if depth > 8:  # noqa: PLR2004 - deeper than any tool's arguments
        return
    if isinstance(value, dict):
        program = value.get("command", value.get("cmd"))
        args = value.get("args", value.get("arguments"))
        if isinstance(program, str) and isinstance(args, list) and all(isinstance(each, str) for each in args):
            yield "command", " ".join([program, *map(_quoted, args)])
        for name, each in value.items():
            yield from _leaves(each, str(name), depth + 1)
    elif isinstance(value, list):
        if key.lower() in _CODE_KEYS | {"args", "argv"} and value and all(isinstance(each, str) for each in value):
            yield "command", " ".join(map(_quoted, value))
        for each in value:
            yield from _leaves(each, key, depth + 1)
    elif isinstance(value, str):
        yield key, value


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./~*$-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _argument(  # noqa: C901, PLR0912, PLR0913 - a fixed order of looks and what every look needs
    key: str,
    text: str,
    location: Location,
    shell: Callable[[str, Location], Assessment],
    *,
    sends: bool,
    reads: bool,
    database: bool,
) -> Assessment:
    plain = says(Danger.RULED, "argument", "an ordinary argument", text)
    if not text or len(text) > 65536:  # noqa: PLR2004 - nobody reads that
        return plain if not text else says(Danger.DANGEROUS, "long-argument", "an argument too long to look at", key)
    low = key.lower()
    if low in _CODE_KEYS:
        inner = shell(text, location)
        if inner.danger is Danger.CRITICAL:
            return Assessment(Danger.CRITICAL, inner.id, inner.reason, inner.words)
        return says(Danger.DANGEROUS, "tool-runs", "runs a command through a tool", text)
    if database and low not in _PROSE_KEYS:
        if sql_drops(text):
            return says(Danger.CRITICAL, "critical.drop-data", "destroys a database or a table", text)
        if sql_changes(text):
            return says(Danger.DANGEROUS, "database", "changes a database", text)
    if len(text) < 2048 and "\n" not in text:  # noqa: PLR2004 - a path or an address is shorter
        if "://" in text or low in {"url", "uri", "href", "endpoint"}:
            hit = address(text, location)
            if hit.danger.rank > Danger.RULED.rank:
                return hit
        for each in candidates(text):
            around = location.surroundings
            path = location.resolve(each) or "/" + each
            if ("/" in each or "." in each) and is_own(path, around.own, around.workspaces):
                if reads:
                    return says(Danger.DANGEROUS, "own-files", "looks at this permission system's own files", text)
                return says(Danger.CRITICAL, "critical.own-files", "changes this permission system's own files", text)
            if is_secret(each, location):
                if sends:
                    return says(Danger.CRITICAL, "critical.exfiltration", "sends a secret out", text)
                grave = read_catastrophe(each, location)
                if grave:
                    return says(Danger.CRITICAL, grave[0], grave[1], text)
                return says(Danger.DANGEROUS, "sensitive-read", "touches a sensitive path", text)
            if not reads and each.startswith(("/", "~")) and sensitive_to_write(path):
                grave = write_catastrophe(each, location)
                if grave and low in {"path", "file", "filename", "file_path", "filepath", "target", "destination"}:
                    return says(Danger.CRITICAL, grave[0], grave[1], text)
                return says(Danger.DANGEROUS, "sensitive-write", "may change a sensitive path", text)
    if holds_token(text):
        if sends and low in _PROSE_KEYS:
            return says(Danger.CRITICAL, "critical.exfiltration", "sends a secret out", key)
        return says(Danger.DANGEROUS, "secret-in-request", "carries what looks like a live secret", key)
    return plain

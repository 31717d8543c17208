"""Tools that are known by words alone: mcp tools, skills, tools that nothing is known of.

Lives here: what the words of a name and the texts of the arguments give away. Never here: files and addresses
(`access.py`), the shell (`command_line.py`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from fwdperm.guard.access import address, says
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.exfiltration import is_secret
from fwdperm.guard.self_protection import is_own
from fwdperm.guard.sensitive_paths import sensitive_to_write
from fwdperm.guard.text import holds_token, sql_changes, sql_drops
from fwdperm.guard.touched import candidates, read_catastrophe, write_catastrophe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fwdperm.guard.surroundings import Location


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


MCP: Final = _f("mcp")
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


def worst(assessments: list[Assessment]) -> Assessment:
    """Give the gravest; the first of equals."""
    return max(assessments, key=lambda each: each.danger.rank)


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

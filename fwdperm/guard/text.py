"""Reading text that stands inside a request: addresses, secrets, SQL.

Lives here: small recognisers over literal text. Never here: who carried the text, what class it earns.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from fwdperm.shell import unbase64

TOKEN: Final = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|"
    r"xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|AIza[A-Za-z0-9_-]{30,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"
    r"|hf_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{40,})|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""A live secret by its own look: `ghp_abcdefghijklmnopqrst`, a cloud's key, the head of a private key. A narrower list
than the one in `redaction.py`: here a match makes a request dangerous, there it only costs a word."""
_CONFESSES: Final = re.compile(
    r"(?:secret|token|passw(?:or)?d|api[_-]?key|access[_-]?key|private[_-]?key)\w*\s*[=:]\s*\S|root:[^:]*:0:0:",
    re.IGNORECASE,
)
"""Text that says that it is a secret: `api_key = x`, or root's line of a password file."""
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
"""A run that may be base64: `c2VjcmV0PWFiY2RlZg==`. It is decoded, and looked at again."""
_METADATA_HOSTS: Final = frozenset(
    {
        "metadata.google.internal",
        "metadata.goog",
        "metadata",
        "instance-data",
        "fd00:ec2::254",
        "metadata.azure.internal",
        "100.100.100.200",
        "192.0.0.192",
    }
)
_METADATA_IP: Final = "169.254.169.254"
_ECS_IP: Final = "169.254.170.2"
_PRIVATE: Final = (
    ("0.0.0.0", 8),  # noqa: S104 - a network, not an address to bind
    ("10.0.0.0", 8),
    ("127.0.0.0", 8),
    ("169.254.0.0", 16),
    ("172.16.0.0", 12),
    ("192.168.0.0", 16),
)
_URL: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?[^\s'\"<>|;,]+", re.IGNORECASE)
"""A word that may be an address, with its scheme or without: `https://h/x`, `h/x`."""
_NUMBER: Final = re.compile(r"(?:0x[0-9a-f]+|0[0-7]*|[1-9]\d*)$", re.IGNORECASE)
"""One part of an address of numbers, as resolvers read it: `10`, `0x7f`, `0177`."""


def _number(text: str) -> int:
    return (
        int(text, 16) if text[:2].lower() == "0x" else int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)
    )


@lru_cache(maxsize=1024)
def ipv4(host: str) -> str:
    """Read a host the way resolvers do (hex, octal, fewer parts, mapped in IPv6); empty when it is no IPv4 address."""
    host = host.lower().strip("[]").rstrip(".")
    host = host.rpartition("::ffff:")[2] if "::ffff:" in host else host
    if ":" in host:
        high, _, low = host.partition(":")
        try:
            number = (int(high, 16) << 16) + int(low, 16)
        except ValueError:
            return ""
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    parts = host.split(".")
    if not 1 <= len(parts) <= 4 or not all(len(part) < 20 and _NUMBER.match(part) for part in parts):  # noqa: PLR2004
        return ""
    numbers = [_number(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 1 << 8 * (5 - len(parts)):  # noqa: PLR2004
        return ""
    number = numbers[-1] + sum(value << 8 * (3 - place) for place, value in enumerate(numbers[:-1]))
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


@lru_cache(maxsize=1024)
def host_of(url: str) -> str:
    """Give the host a URL (or a bare `host/path`) names, lower case; empty when there is none."""
    text = url if "://" in url else "//" + url.lstrip("/")
    try:
        return (urlsplit(text.replace("\\", "/")).hostname or "").rstrip(".").lower()
    except ValueError:
        return ""


@lru_cache(maxsize=1024)
def is_metadata(url: str) -> bool:
    """Say whether an address is a cloud's metadata service, which hands out credentials."""
    host = host_of(unquote(url))
    if not host:
        return False
    address = ipv4(host)
    return (
        host in _METADATA_HOSTS
        or address in {_METADATA_IP, _ECS_IP}
        or _METADATA_IP in host
        or "a9fea9fe" in host
        or "a9fe:a9fe" in host
    )


def is_local(url: str) -> bool:
    """Say whether an address is this machine or a private network."""
    host = host_of(url)
    if host in {"localhost", "::1", "::", "0.0.0.0"} or host.endswith((".localhost", ".local", ".internal", ".lan")):  # noqa: S104 - a comparison
        return True
    address = ipv4(host)
    if not address:
        return False
    return any(int_of(address) >> 32 - bits == int_of(net) >> 32 - bits for net, bits in _PRIVATE)


def int_of(address: str) -> int:
    """Read a dotted address as one number."""
    high, mid, low, last = (int(part) for part in address.split("."))
    return (high << 24) + (mid << 16) + (low << 8) + last


@lru_cache(maxsize=256)
def holds_token(text: str) -> bool:
    """Say whether text holds something shaped like a live secret, plainly or in base64 or percent encoding."""
    if TOKEN.search(text):
        return True
    plain = unquote(text) if "%" in text else text
    if plain is not text and TOKEN.search(plain):
        return True
    return any(
        TOKEN.search(decoded) or _CONFESSES.search(decoded)
        for match in _ENCODED.finditer(plain)
        if (decoded := unbase64(match.group()))
    )


_SQL_NOISE: Final = re.compile(r"('(?:[^']|'')*')|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""A literal (`'x;y'`, kept as an empty one) or a comment (`-- x`) of SQL: a `;` or a `drop` in it is none."""
_SQL_QUOTED: Final = re.compile(r"('(?:[^']|'')*')|--[^\n]*")
"""The same (`'x;y'`, `-- x`) without comments between stars, for text in which one of those is left open: looking for
its end again and again would take quadratic time."""
_SQL_DROP: Final = re.compile(
    r"\s*(?:drop\s+(?:database|schema|table|tablespace|keyspace|collection|owned)\b|truncate\b)", re.IGNORECASE
)
"""A statement that destroys a table or more: `DROP TABLE x`, `truncate x`."""
_SQL_CHANGES: Final = re.compile(
    r"\s*(?:with\b.*\b)?(?:insert|update|delete|alter|drop|create|grant|revoke|replace|merge|"
    r"call|copy|load|vacuum|attach|set|exec|execute|do|lock|kill|shutdown)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A statement that changes or runs something: `UPDATE t SET a = 1`, `with x as (select 1) delete from t`."""
_JS_DROP: Final = re.compile(r"\.\s*(?:dropDatabase|drop|deleteMany)\s*\(\s*(?:\{\s*\})?\s*\)")
"""The same in the shell of a database that speaks JavaScript: `db.users.drop()`, `db.x.deleteMany({})`."""


def sql_statements(text: str) -> list[str]:
    """Cut SQL into statements, with comments and string literals taken out."""
    ends = text.rfind("*/") + 2  # a comment that does not end is none, and is not looked for again and again
    head, tail = (text[:ends], text[ends:]) if ends > 1 else ("", text)
    plain = "".join(
        noise.sub(lambda found: "''" if found.group(1) else " ", part)
        for noise, part in ((_SQL_NOISE, head), (_SQL_QUOTED, tail))
    )
    return [part for part in plain.split(";") if part.strip()]


def sql_drops(text: str) -> bool:
    """Say whether a statement destroys a table, schema or database."""
    return any(_SQL_DROP.match(part) for part in sql_statements(text)) or _JS_DROP.search(text) is not None


def sql_changes(text: str) -> bool:
    """Say whether a statement changes anything."""
    return any(_SQL_CHANGES.match(part) for part in sql_statements(text))

"""Taking secrets out of texts before anything writes them down or shows them to a model.

Lives here: `redact`, and the forms it knows: named values (`token: v`, `token=v`, `--token v`, headers, variables),
user information in addresses, known token beginnings, PEM blocks, JWTs, long runs that look random. Pure.
Never here: who calls it (the journal, the log, the judge's brief).

Time is linear in the text. Fails closed: where a secret begins and its end cannot be found, the rest of the text is
taken out, and the result is marked as unsure; then no model is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MARK: Final = "[redacted]"
"""What is put in the place of a secret."""
_PASSES: Final = 3
"""How often a text is searched: once a secret is taken out, another one may match that did not before."""
_REMEMBERED_CHARS: Final = 512
"""Longest text whose result is cached: the texts of a decision are redacted for journal, log and brief."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets.

    Attributes:
        text: What is left, with `MARK` in place of each secret.
        count: How many secrets were taken out.
        is_sure: False when something may be left, or more than a secret was cut: then no model may read it.
    """

    text: str
    count: int = 0
    is_sure: bool = True


_SECRET_WORDS: Final = frozenset(
    {
        "password", "passwd", "passphrase", "passcode", "pass", "pw", "pwd", "pgpassword", "secret", "secrets", "token",
        "tokens", "apikey", "auth", "authorization", "credential", "credentials", "cred", "creds", "cookie", "bearer",
        "privatekey", "accesskey", "secretkey", "authtoken", "accesstoken", "pat", "otp", "pin", "dsn", "signature",
        "sig", "xoauth", "jwt", "sessionid", "csrftoken",
    }
)  # fmt: skip
"""A name with one of these among its words names a secret."""
_BEFORE_KEY: Final = frozenset(
    {
        "api",
        "private",
        "access",
        "secret",
        "auth",
        "encryption",
        "signing",
        "account",
        "master",
        "ssh",
        "deploy",
        "session",
    }
)
"""Words that make a following `key` or `id` a secret's name: `api-key`, `access_key_id`."""
_HEADERS: Final = frozenset({"authorization", "cookie", "auth"})
"""Names whose value holds blanks: it runs to the end of the line or of the quotation."""
_HARMLESS_NAMES: Final = frozenset({"pwd", "pass", "auth", "pat", "pin", "sig", "pw"})
"""Short words that also have a harmless meaning. As a whole name before a colon (`pass: 3`) they name no secret, nor do
`PWD`, `OLDPWD`, `-p` and `--pin`."""

_HINTS: Final = (
    "pass", "pw", "secret", "token", "key", "auth", "cred", "cookie", "bearer", "jwt", "otp", "dsn", "pin", "sig",
    "pat", "session", "csrf", "://", "-----begin", "@", "glpat", "xox", "sk-", "sk_", "rk_", "pk_", "akia", "asia",
    "aiza", "ya29", "npm_", "pypi-", "hf_", "sg.", "shpat", "dop_", "eyj", "age-", "--user",
)  # fmt: skip
"""Texts in lower case, one of which occurs in every form of a secret, except in those that `_MAYBE` finds."""
_MAYBE: Final = re.compile(
    r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{33}|[^\x20-\x7e\t\n\r]|\w[\"'`\\]++\w|[Gg][Hh][A-Za-z]_|-[Uu]\b"
)
"""The other signs that a text may hold a secret: 33 letters, digits or signs of base64 in a row; anything but printable
ASCII; quotation marks inside a word (`pass''word`); a token's beginning like `ghp_`; `-u`. A text with no hint and no
match is not searched, and most texts have none. It may match too much, but never too little: a form below that neither
`_HINTS` nor this finds is never looked for."""
_NAMED: Final = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]++)(?P<sep>\\{0,4}[\"']?[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}|[ \t]{1,8}(?=\S))"
)
"""A name with what joins it to its value: `token: `, `DB_PASSWORD=`, `"secretKey": `, `--api-key x`. Whether it is the
name of a secret is checked afterwards. Repetitions are bounded (`{0,4}`) or possessive (`++`): time stays linear."""
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""The words of a name, however they are joined: `dbPassword`, `DB_PASSWORD` and `db-password` have two."""
_BARE: Final = re.compile(r"[^\s\"'`;&|<>(){},\\]++")
"""A value without quotation marks: `abc123` of `token=abc123; ls`."""
_LINE: Final = re.compile(r"[^\"'`\r\n]++")
"""A value that runs to the end of its line or quotation: `Basic abc def` of a header."""
_BEARER: Final = re.compile(r"\b(?:bearer|basic)[ \t]{1,4}(?P<value>[A-Za-z0-9+/_.=~-]{8,}+)", re.IGNORECASE)
"""The value behind a scheme of authorization: `Bearer abcdefgh1234`."""
_USER_PASSWORD: Final = re.compile(
    r"(?<![\w-])(?:-u|--user|--proxy-user)(?:[ \t]{1,4}|=)[\"']?(?P<value>[^\s\"':]{1,128}:[^\s\"']++)"
)
"""User and password as clients take them: `-u me:pass`, `--user=me:pass`."""
_USERINFO: Final = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,31}://(?P<value>[^\s/?#@\"'<>]{1,512}+)@")
"""User information of an address: `https://me:pass@host/`. All before the `@` is taken out, also a user without a
password, because tokens are written so."""
_KNOWN: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<value>gh[a-z]_[A-Za-z0-9]{16,}+|github_pat_[A-Za-z0-9_]{16,}+|glpat-[A-Za-z0-9_-]{12,}+"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}+|sk-[A-Za-z0-9_-]{16,}+|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}+|AIza[A-Za-z0-9_-]{20,}+|ya29\.[A-Za-z0-9_-]{10,}+|npm_[A-Za-z0-9]{20,}+"
    r"|pypi-[A-Za-z0-9_-]{16,}+|hf_[A-Za-z0-9]{20,}+|SG\.[A-Za-z0-9_.-]{20,}+|shpat_[A-Fa-f0-9]{16,}+"
    r"|dop_v1_[a-f0-9]{16,}+|AGE-SECRET-KEY-[A-Z0-9]{16,}+"
    r"|eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)?)"
)
"""A token by its beginning, as issuers mark theirs: `ghp_abcdefghijklmnop`, `AKIAIOSFODNN7EXAMPLE`, and three parts of
base64 that begin like JSON (`eyJhbGciOiJI.eyJzdWIiOiIx.c2ln`)."""
_PEM: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{1,64}-----")
"""The head of a block of keys or certificates: `-----BEGIN RSA PRIVATE KEY-----`."""
_PEM_END: Final = re.compile(r"-----END [A-Z0-9 ]{1,64}-----")
"""Its end: `-----END RSA PRIVATE KEY-----`. A block without one takes the rest of the text along."""
_RUN: Final = re.compile(r"[A-Za-z0-9+/_=-]{33,}+")
"""A run that is longer than words are, 33 characters or more: `aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3`. Whether it looks
random is looked at afterwards."""
_OWN_ID: Final = re.compile(r"(?<![A-Za-z0-9])fp-[0-9]{13}-[0-9a-f]{16}(?![A-Za-z0-9])")
"""An id that our client gives a request: `fp-1767225600000-0123456789abcdef`. It opens nothing, and people look for it
in journal and log."""
_PIECE: Final = re.compile(r"[A-Za-z0-9]{16,}+")
"""A part of such a run that is long enough to judge by: `aB3dE5fG7hI9jK1l`. Paths and names of files come apart into
shorter ones."""
_UNSEEN: Final = re.compile(
    r"[^\S \t\r\n]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    r"|[\U000e0000-\U000e007f]"
)
r"""A character that is invisible or looks like a blank: `a\u200bb`, a control character, one that changes the direction
of writing. It may keep us from seeing that a name and a value belong together, where a reader of the text sees it; so
the result is unsure."""
_DRESSING: Final = str.maketrans("", "", "\"'`\\")
_LINE_JOIN: Final = re.compile(r"\\\r?\n")
r"""A backslash before a line's end, by which a shell joins two lines: `a\\\nb`."""


def redact(text: str) -> Redacted:
    """Take the secrets out of a text.

    Args:
        text: Any text.

    Returns:
        The text without what matched. Redacting it again changes nothing. `is_sure` is False when a quotation or a
        block with a secret does not end, when the text holds invisible characters, or when a secret would match if
        quotation marks were left out.
    """
    if len(text) <= _REMEMBERED_CHARS:
        return _remembered(text)
    return _redact(text)


def redacted_text(text: str) -> str:
    """Give a text without its secrets: for the log, where the result is written whether or not it is sure."""
    return redact(text).text


def redacted_texts(texts: Sequence[str]) -> list[str]:
    """Give each text without its secrets: for the journal, which writes the results whether or not they are sure."""
    return [redact(text).text if _may_hold_one(text) else text for text in texts]


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Redacted:
    return _redact(text)


def _redact(text: str) -> Redacted:
    if not _may_hold_one(text):
        return Redacted(text)
    count, sure, left = 0, True, text
    for _ in range(_PASSES):
        spans, is_sure = _find(left)
        sure = sure and is_sure
        if not spans:
            break
        count += len(spans)
        left = _cut(left, spans)
    else:
        sure = sure and not _find(left)[0]
    return Redacted(left, count, is_sure=sure and not _UNSEEN.search(text) and not _is_dressed(left))


def _may_hold_one(text: str) -> bool:
    """Say quickly whether a text may hold a secret at all. True for every text that is not ASCII."""
    if not text.isascii():
        return True
    lower = text.lower()
    return any(hint in lower for hint in _HINTS) or _MAYBE.search(text) is not None


def _is_dressed(text: str) -> bool:
    """Say whether a secret matches once quotation marks and backslashes are left out: `pass''word=x`."""
    joined = _LINE_JOIN.sub(" ", text)
    bare = joined.translate(_DRESSING)
    if bare == text:
        return False
    return any(start < end for start, end in _known(bare)) or _names(bare) > _names(joined)


def _names(text: str) -> int:
    return sum(1 for found in _NAMED.finditer(text) if _is_secret_name(found["name"], found["sep"]))


def _find(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Give where secrets are, in order and not overlapping; and whether the end of each of them was found."""
    spans = list(_known(text))
    sure = True
    for start, end, is_sure in _named(text):
        spans.append((start, end))
        sure = sure and is_sure
    for start, end, is_sure in _blocks(text):
        spans.append((start, end))
        sure = sure and is_sure
    return _merged(span for span in spans if not _is_marked(text[slice(*span)])), sure


def _merged(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    made: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(made[-1][1], end))
        else:
            made.append((start, end))
    return made


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], MARK]
        at = end
    return "".join([*parts, text[at:]])


def _is_marked(text: str) -> bool:
    return not text.replace(MARK, "").strip(" \t[]")


# -- the forms -------------------------------------------------------------------------------------------------


def _known(text: str) -> Iterator[tuple[int, int]]:
    """Find secrets that are recognised by their own form, without a name before them."""
    for form in (_KNOWN, _BEARER, _USERINFO, _USER_PASSWORD):
        for found in form.finditer(text):
            yield found.span("value")
    for run in _RUN.finditer(text):
        if any(_looks_random(piece[0]) for piece in _PIECE.finditer(_OWN_ID.sub("/", run[0]))):
            yield run.span()


def _looks_random(piece: str) -> bool:
    """Say whether a run changes often enough between digits, capitals and small letters to be random."""
    if piece.isalpha() or piece.isdigit():
        return False
    kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" for char in piece]
    changes = sum(a != b for a, b in pairwise(kinds))
    return changes * 5 >= len(piece) and len(set(piece)) >= 6  # noqa: PLR2004 - a run of `a1a1a1` is no secret


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Find PEM blocks; one that does not end takes the rest of the text along, and is unsure."""
    at = 0
    while (begin := _PEM.search(text, at)) is not None:
        end = _PEM_END.search(text, begin.end())
        if end is None:
            yield begin.start(), len(text), False
            return
        yield begin.start(), end.end(), True
        at = end.end()


def _named(text: str) -> Iterator[tuple[int, int, bool]]:
    """Find the values behind names of secrets."""
    at = 0
    while (found := _NAMED.search(text, at)) is not None:
        at = found.end("name") + 1
        if not _is_secret_name(found["name"], found["sep"]):
            continue
        start = found.end()
        end, is_sure = _value(text, start, is_header=_last_word(found["name"]) in _HEADERS)
        if end > start:
            yield start, end, is_sure
            at = max(at, end)


def _value(text: str, start: int, *, is_header: bool) -> tuple[int, bool]:
    """Give where a value that begins at `start` ends, and whether that is certain."""
    at = start
    while text.startswith("\\", at):
        at += 1
    quote = text[at : at + 1]
    if quote in ("$", ""):
        return start, True  # the value of a variable, which is not in the text, or no value at all
    if quote in ('"', "'"):
        end = text.find(quote, at + 1)
        if end < 0:
            return len(text), False
        if text[at + 1 : at + 2] == "$":
            return start, True
        return end + 1 if end > at + 1 else start, True
    found = (_LINE if is_header else _BARE).match(text, at)
    return (found.end(), True) if found is not None else (start, True)


def _is_secret_name(name: str, sep: str) -> bool:
    """Say whether a name, with what stands between it and its value, names a secret."""
    if not sep.strip():  # with only a blank in between, what follows is a value only behind an option (`--token x`)
        if not name.startswith("-"):
            return False
    elif name.startswith("-") and "=" not in sep:
        return False
    words = [word.lower() for word in _WORD.findall(name)]
    for at, word in enumerate(words):
        if word in _SECRET_WORDS:
            if word in _HARMLESS_NAMES and (
                name in ("PWD", "OLDPWD", "-p", "--pin") or (":" in sep and len(words) == 1)
            ):
                continue
            return True
        if word in ("key", "keys") and at and words[at - 1] in _BEFORE_KEY:
            return True
    return False


def _last_word(name: str) -> str:
    words = _WORD.findall(name)
    return words[-1].lower() if words else ""

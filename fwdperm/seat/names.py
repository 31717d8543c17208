"""Names of prompts and replies in the state directory.

Lives here: the one way from a request's key to a file's name, and back. Pure. Never here: a file being touched.

    prompts/<stem>.json             one open question
    replies/<stem>.json             an answer, from anyone
    replies/<stem>.<token>.json     an answer with `id` and `inbox`, whose sender waits for word of it
    replies/rule.<token>.json       a command about session rules, whose sender waits for word of it
    outcomes/<the reply's name>     that word

The stem is `<enc(inbox)>~<id>`. An id has no `~` in it, so the stem can be split again. One that would be too long for
a file name is replaced by a digest; a reply under such a name has to hold its request's id and inbox.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from fwdperm.wire import decode_session, encode_session, is_request_id

PROMPTS: Final = "prompts"
REPLIES: Final = "replies"
OUTCOMES: Final = "outcomes"
SUFFIX: Final = ".json"
TOKEN_BYTES: Final = 8
"""Random bytes in a reply's name, so that two people who answer at once do not write the same file."""

_STEM_CHARS: Final = 200
"""Characters of a stem: with a token and an ending it stays under the 255 bytes of common file systems."""
_SHORTENED: Final = "~"
"""The first character of a stem that is a digest. No other stem begins with it, because no inbox has an empty name."""
_TOKEN: Final = re.compile(rf"(.+)\.[0-9a-f]{{{2 * TOKEN_BYTES}}}", re.DOTALL)

_COMMAND: Final = re.compile(rf"rule\.[0-9a-f]{{{2 * TOKEN_BYTES}}}")


def command_name(token: str) -> str:
    """Give the file name of a command about rules. It has no `~`, so no reply has such a name."""
    return f"rule.{token}{SUFFIX}"


def is_command(name: str) -> bool:
    """Say whether a file in the box is a command about rules."""
    return _COMMAND.fullmatch(name.removesuffix(SUFFIX)) is not None


def stem_of(key: tuple[str, str]) -> str:
    """Give the file stem of a request's key (inbox, id).

    Raises:
        ChildError: For an inbox that no directory may be named after.
    """
    inbox, name = key
    stem = f"{encode_session(inbox)}~{name}"
    if len(stem) <= _STEM_CHARS and is_request_id(name):
        return stem
    return _SHORTENED + hashlib.sha256(stem.encode(errors="surrogatepass")).hexdigest()


def key_in(stem: str) -> tuple[str, str] | None:
    """Read a key from a stem; None for a shortened one, and for what `stem_of` did not make."""
    encoded, _, name = stem.rpartition("~")
    inbox = decode_session(encoded) if encoded else None
    if inbox is None or not is_request_id(name):
        return None
    return (inbox, name) if stem_of((inbox, name)) == stem else None


def stems_in(reply_name: str) -> tuple[str, ...]:
    """Give the stems that a reply's file name may stand for: two, where it ends like a token, as an id may too.

    The id and inbox inside the reply say which of the two is meant. Without them the whole name is the stem, so a
    sender that adds a token has to give them.
    """
    whole = reply_name.removesuffix(SUFFIX)
    token = _TOKEN.fullmatch(whole)
    return (token[1], whole) if token else (whole,)

"""The digests that both sides of the inbox compute: of a file's bytes, and a requester's proof.

Lives here: sha-256 of bytes, the keyed digest that proves which session a requester is, and comparing that. Never here:
a file, storing a token, what a missing proof means.

CPython's own hash modules are imported in place of `hashlib`, which is slower to import: the client loads this for
every question.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]  # 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]  # 3.11
    except ImportError:  # pragma: no cover - an interpreter built without its own hashes
        from hashlib import sha256


def digest_of(content: bytes) -> str:
    """Return the sha-256 of a file's bytes, in hex: a request is named by it in prompt, record and answer."""
    return str(sha256(content).hexdigest())


def _blake2s(message: bytes, *, key: bytes = b"", size: int = 32) -> bytes:
    """Hash a message. The module is imported here, because a requester without a token does not need it."""
    try:
        from _blake2 import blake2s  # noqa: PLC0415 - see above
    except ImportError:  # pragma: no cover - an interpreter built without its own hashes
        from hashlib import blake2s  # noqa: PLC0415 - as above
    return bytes(blake2s(message, key=key, digest_size=size).digest())


def short_digest(text: str) -> str:
    """Return eight hex characters of a hash, to keep the file names of two texts different. Proves nothing."""
    return _blake2s(text.encode(errors="surrogateescape"), size=4).hex()


def prove(  # noqa: PLR0913 - the recipe's parts, each named
    token: str,
    *,
    request_id: str,
    created_ms: int,
    session: str,
    agent: str,
    surface: str,
    values: Sequence[str],
    cwd: str,
) -> str:
    """Return the proof that a requester holds the token its session was started with.

    The recipe, for clients in other languages:

    1. Key: BLAKE2s-256 of the token's UTF-8 bytes (32 bytes).
    2. Fields in this order: `id`, `createdAt` in decimal, `requesterSessionId`, `requesterAgentName`, the intent's
       `surface`, each of its `matchValues` in order, its `requesterCwd`.
    3. Message: every field as decimal number of its UTF-8 bytes, a colon, the bytes; fields joined by one newline.
       (The lengths make it unambiguous: a value may hold newlines.)
    4. Proof: BLAKE2s-256 of the message with that key, in lower-case hex.

    Args:
        token: What `fwdperm run` gave the session in `FWDPERM_TOKEN`.
        request_id: The request's `id`.
        created_ms: Its `createdAt`, epoch milliseconds.
        session: Its `requesterSessionId`.
        agent: Its `requesterAgentName`.
        surface: Its `accessIntent.surface`.
        values: Its `accessIntent.matchValues`.
        cwd: Its `accessIntent.requesterCwd`.
    """
    fields = (request_id, str(created_ms), session, agent, surface, *values, cwd)
    coded = [field.encode(errors="surrogatepass") for field in fields]
    message = b"\n".join(b"%d:%s" % (len(field), field) for field in coded)
    key = _blake2s(token.encode(errors="surrogatepass"))
    return _blake2s(message, key=key).hex()


def is_same_digest(one: str, other: str) -> bool:
    """Compare two digests in time that does not depend on where they differ. False for anything not ASCII."""
    if len(one) != len(other) or not (one.isascii() and other.isascii()):
        return False
    difference = 0
    for left, right in zip(one.encode(), other.encode(), strict=True):
        difference |= left ^ right
    return difference == 0

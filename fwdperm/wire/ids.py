"""Names that become file names: session ids, request ids.

Lives here: the one encoding and the one check. Never here: a path joined from unchecked text.
Standard library only: the per-call client reads it.
"""

from __future__ import annotations

from fwdperm.errors import ChildError
from fwdperm.settings import SESSION_ID_BYTES

_KEPT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")
_ID_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_ID_REST = _ID_FIRST | frozenset("._-")
_REFUSED = frozenset({"", ".", "..", "unknown"})
_ID_CHARS = 128


def encode_session(session: str) -> str:
    """Encode a session id as a directory name, as JavaScript's encodeURIComponent of the trimmed id does.

    Args:
        session: The id as a child or an operator wrote it.

    Returns:
        A name that is one path component, cannot be hidden, and cannot climb.

    Raises:
        ChildError: For an id that no directory may carry (empty, `.`, `..`, a leading dot, `unknown`, more than
            200 bytes, a lone surrogate). Fails closed: nothing is created for it.

    Source: the pi permission system's forwarding directory, whose children compute the same name.
    """
    trimmed = session.strip()
    try:
        raw = trimmed.encode()
    except UnicodeEncodeError:
        raise ChildError("session id holds a lone surrogate") from None
    name = "".join(chr(byte) if chr(byte) in _KEPT else f"%{byte:02X}" for byte in raw)
    if name in _REFUSED or name.startswith(".") or len(name) > SESSION_ID_BYTES:
        raise ChildError(f"session id {trimmed[:80]!r} cannot name an inbox")
    return name


def decode_session(name: str) -> str | None:
    """Read a directory name back as a session id.

    Returns:
        The session id, or None when the name is not what `encode_session` would have made of it. Such a
        directory is nobody's inbox and is left alone.
    """
    out = bytearray()
    at = 0
    while at < len(name):
        if name[at] == "%":
            try:
                out.append(int(name[at + 1 : at + 3], 16))
            except ValueError:
                return None
            at += 3
        else:
            out += name[at].encode(errors="replace")
            at += 1
    try:
        session = out.decode()
        return session if encode_session(session) == name else None
    except (UnicodeDecodeError, ChildError):
        return None


def is_request_id(text: str) -> bool:
    """Say whether `text` may be a request's id, and so a file's stem: `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`."""
    return 0 < len(text) <= _ID_CHARS and text[0] in _ID_FIRST and _ID_REST.issuperset(text)

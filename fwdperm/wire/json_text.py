"""JSON for processes that start once for every question.

Lives here: reading and writing JSON text with CPython's `_json`, without importing `json`, which takes half as long as
starting the interpreter. Strict: duplicate keys, NaN, infinities and lone surrogates are refused. Never here: what the
text means. For the asking side only; the daemon reads with `strict.py` and its own models.
"""

from __future__ import annotations

from _json import encode_basestring_ascii as _quote
from _json import make_scanner as _make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\n\r"


class JsonError(ValueError):
    """The text is no JSON that this house accepts. Fails closed: the caller treats its file as unreadable."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; refuse one that has a key twice, because another reader might take the other value."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise JsonError("an object holds the same key twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"`{name}` is no JSON")


class _Context:
    """The attributes that `_json`'s scanner reads from the decoder it is given."""

    strict = True
    object_hook = None
    object_pairs_hook = staticmethod(_pairs)
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse_constant)


def _scan(text: str) -> tuple[Any, int]:
    context: Any = _Context()
    value, end = _make_scanner(context)(text, len(text) - len(text.lstrip(_BLANK)))
    return value, end


def read_json(text: str) -> Any:
    """Read one JSON text.

    Args:
        text: The whole text; blanks around it are fine, anything else is not.

    Returns:
        None, bool, int, float, str, list or dict.

    Raises:
        JsonError: For anything else, for a duplicate key, NaN, an infinity, nesting too deep for the interpreter,
            a number too long for it. Fails closed.
    """
    try:
        value, end = _scan(text)
    except JsonError:
        raise
    except StopIteration:
        raise JsonError("no JSON value where one must stand") from None
    except (ValueError, RecursionError) as error:
        raise JsonError(f"no JSON: {type(error).__name__}") from None
    if text[end:].strip(_BLANK):
        raise JsonError("something stands after the JSON value")
    return value


def write_json(value: Any) -> str:
    """Write a value as one line of ASCII JSON.

    Args:
        value: None, bool, int, float, str, or lists, tuples and dicts (string keys) of these.

    Raises:
        JsonError: For another type, a float JSON has no word for, a lone surrogate (no strict reader would take it),
            or a value that holds itself.
    """
    try:
        return _write(value)
    except RecursionError:
        raise JsonError("the value is nested too deep") from None


def _write(value: Any) -> str:
    if isinstance(value, str):
        return _write_text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        text = float.__repr__(value)
        if text in {"nan", "inf", "-inf"}:
            raise JsonError(f"`{text}` is no JSON")
        return text
    if isinstance(value, dict):
        return "{" + ",".join(f"{_write_key(key)}:{_write(member)}" for key, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_write, value)) + "]"
    raise JsonError(f"a {type(value).__name__} is no JSON")


def _write_key(key: Any) -> str:
    if not isinstance(key, str):
        raise JsonError("an object's key must be text")
    return _write_text(key)


def _write_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise JsonError("the text holds a lone surrogate: it was no UTF-8") from None
    return _quote(text)

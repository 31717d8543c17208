"""Strict JSON: refusing what `json.loads` takes and two readers could understand differently.

Lives here: one reader. Never here: what the values mean.
"""

from __future__ import annotations

import json
from math import isinf
from typing import Any, Final, NoReturn

from fwdperm.errors import ChildError
from fwdperm.settings import JSON_DEPTH

_BOM: Final = b"\xef\xbb\xbf"


def strict_loads(data: bytes) -> Any:
    """Parse JSON, refusing everything that two readers could understand differently.

    Args:
        data: The bytes of one document, at most `settings.REQUEST_BYTES` long.

    Returns:
        Plain Python values.

    Raises:
        ChildError: For invalid UTF-8, a byte order mark, a lone surrogate, a duplicate key, NaN or Infinity, more
            than `settings.JSON_DEPTH` levels, or text that is not JSON. Its code is `half-written` when the text
            merely ends too early, else `malformed`. Fails closed: no value.
    """
    if data.startswith(_BOM):
        raise ChildError("starts with a byte order mark")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ChildError(f"is not UTF-8 at byte {error.start}") from None
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        code = "half-written" if error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg else "malformed"
        raise ChildError(f"is not JSON at line {error.lineno}: {error.msg.lower()}", code=code) from None
    except RecursionError:
        raise ChildError(f"nests deeper than {JSON_DEPTH} levels") from None
    except ValueError as error:  # an integer of too many digits
        raise ChildError(f"holds a number out of range: {error}"[:200]) from None
    # UTF-8 cannot hold a lone surrogate, only an escape can; and without brackets there is no depth. So most requests
    # need no check of each value.
    if "\\u" in text or text.count("{") + text.count("[") > JSON_DEPTH:
        _check(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; refuse one that has a key twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ChildError(f"holds the key {twice[:80]!r} twice")
    return made


def _constant(name: str) -> NoReturn:
    raise ChildError(f"holds {name}, which is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ChildError("holds a number out of range")
    return number


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float).decode


def _check(value: Any) -> None:
    """Raise ChildError for too many levels or a lone surrogate. Goes level by level, as recursion could go too deep."""
    level: list[Any] = [value]
    for _ in range(JSON_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.keys())
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, str) and not item.isascii() and not _is_encodable(item):
                raise ChildError("holds a lone surrogate")
        if not below:
            return
        level = below
    raise ChildError(f"nests deeper than {JSON_DEPTH} levels")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

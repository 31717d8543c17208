"""A tool's input, shortened to a size that people and a judge can read.

Lives here: `shortened` (long texts become their size, digest and first lines), `size_of`, `compact`. Pure.
Never here: what rules are matched on (`tool_calls.py`); a person has to look where that is shortened.
Standard library only.
"""

from __future__ import annotations

from fwdperm.wire import JsonError, digest_of, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

LONGEST_TEXT: Final = 400
"""Characters of a text that is shown whole."""
FIRST_LINES: Final = 3
"""Lines of a longer text that are shown."""
LINE_CHARS: Final = 160
"""Characters of each of them."""
_MEMBERS: Final = 32
"""Members of a list or object that are shown."""
_DEPTH: Final = 6


def size_of(text: str) -> str:
    """Give the size of a text in lines and characters, and the beginning of its digest, which identifies it."""
    lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
    digest = digest_of(text.encode(errors="surrogatepass"))[:16]
    return f"{lines} lines, {len(text)} characters, sha256 {digest}"


def first_lines(text: str) -> str:
    """Give the first lines of a text, each cut to what fits a terminal's width twice."""
    head = text[: FIRST_LINES * LINE_CHARS * 4].split("\n")[:FIRST_LINES]
    return "\n".join(line[:LINE_CHARS] for line in head)


def shortened(value: Any, *, depth: int = 0) -> Any:
    """Give a JSON value with its long texts, long lists and deep objects replaced by what they are.

    Args:
        value: Any JSON value.
        depth: How many lists and objects it is inside of.
    """
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"({size_of(value)}) {first_lines(value)}"
    if isinstance(value, dict):
        if depth >= _DEPTH:
            return f"({len(value)} members)"
        kept = list(value.items())[:_MEMBERS]
        made = {str(name)[:LINE_CHARS]: shortened(member, depth=depth + 1) for name, member in kept}
        if len(value) > len(kept):
            made["..."] = f"({len(value) - len(kept)} more members)"
        return made
    if isinstance(value, (list, tuple)):
        if depth >= _DEPTH:
            return f"({len(value)} members)"
        items = [shortened(member, depth=depth + 1) for member in value[:_MEMBERS]]
        return [*items, f"({len(value) - _MEMBERS} more)"] if len(value) > _MEMBERS else items
    return value


def compact(value: Mapping[str, Any]) -> str:
    """Give an object as one line of JSON with its names sorted, so that equal inputs give equal texts.

    Raises:
        JsonError: It cannot be written down.
    """
    return write_json(_sorted(value, 0))


def digest_of_input(tool: str, value: Mapping[str, Any]) -> str:
    """Give a digest of one call, for agents that name no call id when they ask.

    Never raises: an input that cannot be written down has the digest of its shortened form.
    """
    try:
        text = compact(value)
    except JsonError:
        text = ascii(shortened(value))
    return digest_of(f"{tool}\n{text}".encode(errors="surrogatepass"))


def _sorted(value: Any, depth: int) -> Any:
    if depth > 64:  # noqa: PLR2004 - deeper than any reader of ours goes
        raise JsonError("the value is nested too deep")
    if isinstance(value, dict):
        return {name: _sorted(value[name], depth + 1) for name in sorted(value)}
    if isinstance(value, list):
        return [_sorted(member, depth + 1) for member in value]
    return value

"""When the service stops offering a model, as far as the installed SDK knows.

Lives here: `retires_on`. It reads one file of the SDK without importing the SDK. Never here: a warning's words.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path


def retires_on(model: str) -> str:
    """Give the date after which a model is no longer offered, as the SDK writes it; empty when none is known."""
    spec = find_spec("anthropic")
    if spec is None or not spec.submodule_search_locations:
        return ""
    file = Path(spec.submodule_search_locations[0]) / "_data" / "deprecated_models.py"
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ""
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Dict):
            known = dict(zip(map(_text, value.keys), map(_text, value.values), strict=True))
            if known.get(model):
                return known[model]
    return ""


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

"""A session's own ruleset, recorded for as long as the session lives.

Lives here: `record_ruleset`, `recorded_ruleset`. An edge. Never here: whose session it is, where its file lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tomli_w

from fwdperm.errors import EnvironmentFailure, OperatorError
from fwdperm.rules.disk import read_file, write_private
from fwdperm.rules.layer import Layer, Problem, broken_layer
from fwdperm.rules.rule import LayerKind, Rule
from fwdperm.rules.toml_file import RULESET_BYTES, read_layer

if TYPE_CHECKING:
    from pathlib import Path


def record_ruleset(path: Path, layer: Layer) -> None:
    """Write a layer so that `recorded_ruleset` gives the same rules and defaults in the same order.

    Args:
        path: Where; its directory is made when missing.
        layer: What to record.

    Raises:
        OperatorError: Something in the layer is not known, or cannot be written down. It must be mended first: what it
            would have denied would be lost without a trace.
        EnvironmentFailure: The file cannot be written.
    """
    if layer.broken or layer.has_errors:
        cause = next((str(problem) for problem in layer.problems if problem.is_error), "it cannot be read")
        raise OperatorError(f"cannot record ruleset: {cause}")
    rows: list[dict[str, Any]] = [
        {"surface": default.surface, "action": str(default.action)} for default in layer.defaults
    ]
    rows.extend(map(_row, layer.rules))
    try:
        data = tomli_w.dumps({"rules": rows}).encode()
    except UnicodeEncodeError as cause:
        raise OperatorError("cannot record ruleset: a pattern is not text", file=layer.name) from cause
    if len(data) > RULESET_BYTES:
        raise OperatorError(f"cannot record ruleset: larger than {RULESET_BYTES >> 20} MiB", file=layer.name)
    write_private(path, data)


def recorded_ruleset(path: Path) -> Layer:
    """Read what `record_ruleset` wrote. A file that is missing or cannot be read gives a broken layer: never wider."""
    try:
        data = read_file(path, limit=RULESET_BYTES, follow=False).data
    except FileNotFoundError:
        return _lost(path, "the recorded ruleset is gone")
    except EnvironmentFailure as cause:
        return _lost(path, str(cause))
    return read_layer(data, file=str(path), kind=LayerKind.SESSION)


def _row(rule: Rule) -> dict[str, Any]:
    row: dict[str, Any] = {"surface": rule.surface, "pattern": rule.pattern, "action": str(rule.action)}
    if rule.reason:
        row["reason"] = rule.reason
    if rule.only_human:
        row["only"] = "human"
    return row


def _lost(path: Path, message: str) -> Layer:
    problem = Problem(str(path), 0, message, "start the session again with its ruleset")
    return broken_layer(LayerKind.SESSION, str(path), problems=[problem])

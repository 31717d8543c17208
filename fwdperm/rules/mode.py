"""How bold a tree, an agent or a session runs.

Lives here: `Mode`. Never here: what a mode does to rules (`ruleset.py`) or to the judge (`decision/order.py`).
"""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """Who is asked about what the rules leave open."""

    ASK = "ask"
    """The human; no judge."""
    JUDGE = "judge"
    """The judge where one is configured, then the human."""
    YOLO = "yolo"
    """Nobody: an ask becomes an allow when the ruleset is composed. Deny and `only = "human"` stay."""

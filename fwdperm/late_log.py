"""The daemon's log for modules that commands load too, which never write to it.

Lives here: `late_log`. Never here: how the log is set up (`cli/serving.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


def late_log() -> FilteringBoundLogger:
    """Give the log. Loading structlog takes longer than a command that only reads a file, so it is loaded here."""
    import structlog  # noqa: PLC0415 - see above

    log: FilteringBoundLogger = structlog.get_logger("fwdperm.serve")
    return log

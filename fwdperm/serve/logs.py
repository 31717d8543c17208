"""Logging: JSON lines on standard error, quiet unless asked.

Lives here: setting structlog up, and the last look for secrets. Never here: an event. JSON escapes every control and
bidi character, which structlog's own console renderers do not.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import structlog
from structlog.tracebacks import ExceptionDictTransformer

from fwdperm.redaction import redacted_text

if TYPE_CHECKING:
    from structlog.typing import EventDict, WrappedLogger

_LEVELS = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}


def without_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Take secrets out of everything that is about to be written."""
    return {key: _without_secrets(value) for key, value in event.items()}


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, dict):
        return {key: _without_secrets(below) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(below) for below in value]
    return value


def configure_logs(verbosity: int) -> None:
    """Set the log up.

    Args:
        verbosity: -1 errors, 0 warnings, 1 what happens, 2 everything.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # No local variables in tracebacks: they hold requests, and so possibly secrets.
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False, max_frames=20)),
            without_secrets,
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS.get(verbosity, logging.DEBUG)),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )

"""Logging: JSON lines on standard error, quiet unless asked.

Lives here: setting structlog up. Never here: an event. JSON escapes every control and bidi character, which structlog's
own console renderers do not.
"""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.tracebacks import ExceptionDictTransformer

_LEVELS = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}


def configure(verbosity: int) -> None:
    """Set the log up.

    Args:
        verbosity: -1 errors, 0 warnings, 1 what happens, 2 everything.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # a traceback's local variables hold requests, and so secrets
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False, max_frames=20)),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS.get(verbosity, logging.DEBUG)),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )

"""The sign that somebody serves an inbox.

Lives here: its form on disk. Never here: writing it (`inbox/heartbeat.py`).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Heartbeat(BaseModel):
    """`serving/<session>.json`: read by our clients, and by those versions of pi that know heartbeats.

    Attributes:
        session_id: Whose inbox is served.
        pid: A process that is alive as long as the daemon is, as seen by the reader's `kill(pid, 0)`.
        updated_at: Epoch milliseconds of the last beat; older than 5,000 means nobody serves.
    """

    model_config = ConfigDict(
        frozen=True, strict=True, extra="ignore", alias_generator=to_camel, populate_by_name=True, title="Heartbeat"
    )

    session_id: str
    pid: int
    updated_at: int
    v: Literal[1] = 1

"""Where everything lies in the inbox tree.

Lives here: names and paths, computed. Never here: a file being touched, or text from inside a file becoming a name.
Pure, and standard library only: the per-call client reads it.

    <root>/sessions/<enc(session)>/requests/<id>.json      children create
    <root>/sessions/<enc(session)>/responses/<id>.json     the daemon creates, the child consumes
    <root>/serving/<enc(session)>.json                     heartbeat
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.wire import encode_session, is_request_id

if TYPE_CHECKING:
    from pathlib import Path

SESSIONS: Final = "sessions"
REQUESTS: Final = "requests"
RESPONSES: Final = "responses"
SERVING: Final = "serving"
SUFFIX: Final = ".json"
"""The ending of requests, answers and heartbeats; other files, such as temp files and sentinels, are not read."""
SENTINEL: Final = ".fwdperm"
"""An empty file that keeps pi children from removing a directory they find empty (they rmdir, never rm -r)."""
TEMP_PREFIX: Final = ".fwdperm-"
"""How our temp files begin; the rest is random, so that nobody can plant a link under the name."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths under one root. Each takes a session's id, not its encoding; an unusable one raises ChildError."""

    root: Path

    @property
    def sessions(self) -> Path:
        """Where every inbox lies."""
        return self.root / SESSIONS

    @property
    def serving(self) -> Path:
        """Where the heartbeats lie."""
        return self.root / SERVING

    def inbox(self, session: str) -> Path:
        """The session's own directory."""
        return self.sessions / encode_session(session)

    def requests(self, session: str) -> Path:
        """Where the session's children leave requests."""
        return self.inbox(session) / REQUESTS

    def responses(self, session: str) -> Path:
        """Where the session's children look for answers."""
        return self.inbox(session) / RESPONSES

    def request(self, session: str, stem: str) -> Path:
        """One request's file; `stem` must be a request id."""
        return self.requests(session) / file_name(stem)

    def response(self, session: str, stem: str) -> Path:
        """One response's file; `stem` must be a request id."""
        return self.responses(session) / file_name(stem)

    def beat(self, session: str) -> Path:
        """The session's heartbeat."""
        return self.serving / beat_name(session)


def file_name(stem: str) -> str:
    """Name the file of a request id.

    Raises:
        ValueError: When `stem` is not a request id. Fails closed: no path is made of it.
    """
    if not is_request_id(stem):
        raise ValueError(f"{stem[:80]!r} is not a request id")
    return stem + SUFFIX


def beat_name(session: str) -> str:
    """Name the heartbeat file of a session."""
    return encode_session(session) + SUFFIX


def mail_stem(name: str) -> str | None:
    """Give the stem of a directory entry that may be a request or an answer; None for any other name.

    The stem need not be a request id: the caller has to check.
    """
    if name.startswith(TEMP_PREFIX) or not name.endswith(SUFFIX):
        return None
    return name[: -len(SUFFIX)]

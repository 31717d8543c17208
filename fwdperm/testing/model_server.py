"""A model's service on the loopback interface, for tests and for trying a configuration out.

Lives here: `ModelServer`, which speaks `/v1/messages` as far as a judge uses it, and the ways it can fail.
Never here: a model. Standard library only.

    with ModelServer() as server:
        server.say(answer(verdict="allow", risk="low"))     # the next answer; the last one is repeated
        ...
        server.requests[-1]["system"]                       # what was asked
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

MODEL: Final = "scripted"
_DRIP_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Act:
    """One thing the server can do when it is asked.

    Attributes:
        status: HTTP status.
        body: The whole body.
        kind: Its content type.
        manner: `whole`, `hang` (nothing is ever sent), `drip` (a byte at a time, and never the last one) or `drop` (the
            connection is closed without an answer).
        headers: Further headers.
    """

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    manner: str = "whole"
    headers: tuple[tuple[str, str], ...] = ()


def message(*blocks: dict[str, Any], stop_reason: str = "end_turn", **more: Any) -> Act:
    """Answer with a message of these content blocks."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": list(blocks),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 300,
            "output_tokens": 80,
            "cache_read_input_tokens": 1_500,
            "cache_creation_input_tokens": 0,
        },
    } | more
    return Act(body=json.dumps(body).encode())


def text(said: str, *, stop_reason: str = "end_turn") -> Act:
    """Answer with one text."""
    return message({"type": "text", "text": said}, stop_reason=stop_reason)


def verdict(**changed: Any) -> dict[str, Any]:
    """Give a well-formed verdict: an escalation unless changed."""
    return {
        "effects": ["read_local"],
        "manipulation": False,
        "risk": "low",
        "rule": "",
        "reason": "It reads.",
        "verdict": "escalate",
    } | changed


def answer(**changed: Any) -> Act:
    """Answer with a well-formed verdict."""
    return text(json.dumps(verdict(**changed)))


ALLOW: Final = answer(verdict="allow")
REJECT: Final = answer(verdict="reject", risk="critical", effects=["delete"], reason="It destroys.")
ESCALATE: Final = answer()


def error(status: int, kind: str = "api_error") -> Act:
    """Fail with an HTTP status, as the service words it."""
    body = {"type": "error", "error": {"type": kind, "message": "no"}}
    return Act(status=status, body=json.dumps(body).encode())


FAILURES: Final[dict[str, Act]] = {
    "hang": Act(manner="hang"),
    "drip": Act(body=ALLOW.body, manner="drip"),
    "drop": Act(manner="drop"),
    "400": error(400, "invalid_request_error"),
    "401": error(401, "authentication_error"),
    "403": error(403, "permission_error"),
    "404": error(404, "not_found_error"),
    "413": error(413, "request_too_large"),
    "429": error(429, "rate_limit_error"),
    "500": error(500),
    "529": error(529, "overloaded_error"),
    "redirect": Act(status=302, headers=(("Location", "http://127.0.0.1:9/elsewhere"),)),
    "html": Act(body=b"<html><body>Welcome to the hotel network</body></html>", kind="text/html"),
    "error in a 200": error(200),
    "refusal": message(stop_reason="refusal"),
    "truncated": text('{"effects": ["read_lo', stop_reason="max_tokens"),
    "nothing": message(),
    "only thoughts": message({"type": "thinking", "thinking": "hm", "signature": "s"}),
    "two blocks": message({"type": "text", "text": json.dumps(verdict())}, {"type": "text", "text": "also"}),
    "a tool call": message({"type": "tool_use", "id": "t", "name": "x", "input": {}}, stop_reason="tool_use"),
    "prose": text("I think that is fine."),
    "fenced": text(f"```json\n{json.dumps(verdict(verdict='allow'))}\n```"),
    "duplicate keys": text(json.dumps(verdict())[:-1] + ', "verdict": "allow"}'),
    "an unknown key": answer(confidence=1),
    "a missing key": text('{"verdict": "allow"}'),
    "an unknown risk": answer(verdict="allow", risk="none"),
    "a contradiction": answer(verdict="allow", risk="critical"),
    "an unknown rule": answer(verdict="allow", rule="g999"),
}
"""Every way to fail, by name."""

THINKING_FIRST: Final = message(
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "text", "text": json.dumps(verdict(verdict="allow"))},
)


@dataclass(slots=True)
class _Script:
    acts: deque[Act] = field(default_factory=lambda: deque([ESCALATE]))
    decide: Callable[[dict[str, Any]], Act] | None = None


class ModelServer:
    """The service. A context manager: inside it, `url` is where it listens.

    Args:
        port: Where to listen on the loopback interface; 0 for any free port.
    """

    def __init__(self, *, port: int = 0) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked = threading.Semaphore(0)
        self._script = _Script()
        self._closing = threading.Event()
        self._gate = threading.Event()
        self._gate.set()
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                owner.serve(self, self.rfile.read(length))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="model-server")

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def say(self, *acts: Act) -> None:
        """Do these, one for each question; the last one is repeated."""
        with self._lock:
            self._script = _Script(deque(acts))

    def decide(self, by: Callable[[dict[str, Any]], Act]) -> None:
        """Let a function of the question's body choose the act."""
        with self._lock:
            self._script = _Script(decide=by)

    def hold(self) -> None:
        """Answer nothing until `release`."""
        self._gate.clear()

    def release(self) -> None:
        """Answer what was held."""
        self._gate.set()

    def wait_until_asked(self, times: int = 1, *, within_s: float = 20.0) -> None:
        """Wait until it was asked `times` more; blocks, so call it in a thread beside an event loop.

        Raises:
            TimeoutError: When that did not happen within `within_s` seconds.
        """
        for _ in range(times):
            if not self.asked.acquire(timeout=within_s):
                raise TimeoutError("nobody asked")

    def serve(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Serve one question. Called in the connection's own thread."""
        asked = json.loads(body)
        with self._lock:
            self.requests.append(asked)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            script = self._script
            if script.decide is not None:
                act = script.decide(asked)
            else:
                act = script.acts.popleft() if len(script.acts) > 1 else script.acts[0]
        self.asked.release()
        self._gate.wait()
        handler.close_connection = act.manner != "whole"
        with contextlib.suppress(OSError):
            self._do(handler, act)

    def _do(self, handler: BaseHTTPRequestHandler, act: Act) -> None:
        if act.manner == "hang":
            self._closing.wait()
        if act.manner in ("hang", "drop"):
            return
        handler.send_response(act.status)
        for name, value in (*act.headers, ("content-type", act.kind), ("content-length", str(len(act.body)))):
            handler.send_header(name, value)
        handler.end_headers()
        if act.manner == "whole":
            handler.wfile.write(act.body)
            return
        for byte in act.body[:-1]:
            handler.wfile.write(bytes((byte,)))
            handler.wfile.flush()
            if self._closing.wait(_DRIP_S):
                return
        self._closing.wait()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def main(arguments: list[str] | None = None) -> None:
    """Serve one answer until stopped: `python -m fwdperm.testing.model_server --port 8400 --say allow`."""
    parser = argparse.ArgumentParser(description="A stand-in for a model's service, on the loopback interface.")
    parser.add_argument("--port", type=int, default=0, help="0 for any")
    parser.add_argument("--say", choices=["allow", "reject", "escalate", *FAILURES], default="escalate")
    options = parser.parse_args(arguments)
    with ModelServer(port=options.port) as server:
        server.say({"allow": ALLOW, "reject": REJECT, "escalate": ESCALATE, **FAILURES}[options.say])
        sys.stdout.write(f"listening at {server.url}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()

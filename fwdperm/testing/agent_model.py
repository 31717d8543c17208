"""A model that plays a script, so that real coding agents can be run without an account or a network.

Lives here: `AgentModel` (a loopback server that speaks the wire of Anthropic's messages, of OpenAI's chat completions
and of OpenAI's responses, as far as agents need it), `play`, which writes a script into a prompt, and `call`, one step
of it. Never here: anything a daemon runs, an agent's start.

The script travels in the prompt, so that a subagent is scripted by the prompt it is spawned with:

    play([[call("Agent", prompt=play([[call("Bash", command="make")]]))]])

Each inner list is one turn; all its calls are made together. The model counts the turns that the conversation it is
sent already holds, and makes the calls of the next. After the last it answers with a text that repeats what the tools
returned.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_OPENS: Final = "the play is "
_SPENT: Final = {"input_tokens": 1, "output_tokens": 1}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Give one step: a tool's name and its arguments."""
    return {"tool": tool, "with": arguments}


def play(turns: Sequence[Sequence[dict[str, Any]]], *, words: str = "Please follow the play.") -> str:
    """Write a script into a prompt.

    Args:
        turns: One list of calls per turn.
        words: A text to put in front, for the agents' own logs.
    """
    return f"{words}\n{_OPENS}{json.dumps(turns)}\n"


@dataclass(frozen=True, slots=True)
class ModelConversation:
    """One conversation as a model is sent it.

    Attributes:
        prompt: Everything the user's side wrote, tool results aside.
        turns: Turns in which tools were called already.
        results: What the tools returned, in order.
        has_tools: Whether tools are offered: a side question (a title, a summary) has none.
    """

    prompt: str
    turns: int
    results: tuple[str, ...]
    has_tools: bool

    def next_calls(self) -> list[dict[str, Any]]:
        """Give the calls of the next turn; no calls when the script is over, or the prompt holds none."""
        _, opened, rest = self.prompt.partition(_OPENS)
        if not opened or not self.has_tools:
            return []
        try:
            turns, _ = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            return []
        return list(turns[self.turns]) if self.turns < len(turns) else []

    def last_words(self) -> str:
        """Give the closing words: what the tools returned, so that a test can read what reached the model."""
        return "The play is over. " + " // ".join(result.strip()[:500] for result in self.results)


class AgentModel:
    """A scripted model on a loopback port, as a context manager.

    Attributes:
        url: Where it listens.
        sent: Every body it was sent, in order.
    """

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        model = self

        class Handler(_Handler):
            owner = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def was_told(self, text: str) -> bool:
        """Say whether any body that was sent holds a text, so that a model would have read it."""
        return any(text in json.dumps(body, ensure_ascii=False) for body in tuple(self.sent))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: AgentModel

    def log_message(self, *_: object) -> None:
        """Keep quiet: what was sent is in `sent`."""

    def do_HEAD(self) -> None:
        self._answer(b"", "text/plain")

    def do_GET(self) -> None:
        listed = {"object": "list", "data": [{"id": "played", "object": "model", "type": "model"}], "models": []}
        self._answer(json.dumps(listed if "models" in self.path else {}).encode(), "application/json")

    def do_POST(self) -> None:
        try:
            body = json.loads(self._body() or b"{}")
        except ValueError:
            body = {}
        self.owner.sent.append(body)
        path = self.path.partition("?")[0]
        if path.endswith("count_tokens"):
            self._answer(b'{"input_tokens": 1}', "application/json")
            return
        for ending, wire in _WIRES.items():
            if path.endswith(ending):
                self._speak(wire, body)
                return
        self._answer(b"{}", "application/json")

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _speak(self, wire: type[_Wire], body: dict[str, Any]) -> None:
        talk = wire.read(body)
        calls = talk.next_calls()
        spoken = wire(body, calls=calls, words="" if calls else talk.last_words())
        if body.get("stream"):
            self._answer(b"".join(spoken.stream()), "text/event-stream")
        else:
            self._answer(json.dumps(spoken.whole()).encode(), "application/json")

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


class _Wire:
    """One wire format: reads a conversation, writes one turn, whole or as a stream."""

    def __init__(self, body: dict[str, Any], *, calls: Sequence[dict[str, Any]], words: str) -> None:
        self.body = body
        self.calls = calls
        self.words = words
        self.model = str(body.get("model", "played"))

    @staticmethod
    def read(body: dict[str, Any]) -> ModelConversation:
        """Read a conversation."""
        raise NotImplementedError

    def whole(self) -> dict[str, Any]:
        """Give the turn as one object."""
        raise NotImplementedError

    def stream(self) -> Iterator[bytes]:
        """Give the turn as server-sent events."""
        raise NotImplementedError


class _Messages(_Wire):
    """Anthropic's messages."""

    @staticmethod
    def read(body: dict[str, Any]) -> ModelConversation:
        said, turns, results = [], 0, []
        for message in body.get("messages", ()):
            parts = _parts(message.get("content"))
            if message.get("role") == "assistant":
                turns += any(part.get("type") == "tool_use" for part in parts)
                continue
            said += [str(part.get("text", "")) for part in parts if part.get("type") == "text"]
            results += [_words_of(part.get("content")) for part in parts if part.get("type") == "tool_result"]
        return ModelConversation("\n".join(said), turns, tuple(results), has_tools=bool(body.get("tools")))

    def _blocks(self) -> list[dict[str, Any]]:
        used = [{"type": "tool_use", "id": _id("toolu"), "name": c["tool"], "input": c["with"]} for c in self.calls]
        return used or [{"type": "text", "text": self.words}]

    def whole(self) -> dict[str, Any]:
        return {
            "id": _id("msg"),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": self._blocks(),
            "stop_reason": "tool_use" if self.calls else "end_turn",
            "stop_sequence": None,
            "usage": _SPENT,
        }

    def stream(self) -> Iterator[bytes]:
        full = self.whole()
        yield _named("message_start", message=full | {"content": [], "stop_reason": None})
        for index, block in enumerate(full["content"]):
            if block["type"] == "text":
                start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start = block | {"input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield _named("content_block_start", index=index, content_block=start)
            yield _named("content_block_delta", index=index, delta=delta)
            yield _named("content_block_stop", index=index)
        ending = {"stop_reason": full["stop_reason"], "stop_sequence": None}
        yield _named("message_delta", delta=ending, usage={"output_tokens": 1})
        yield _named("message_stop")


class _Completions(_Wire):
    """OpenAI's chat completions."""

    @staticmethod
    def read(body: dict[str, Any]) -> ModelConversation:
        said, turns, results = [], 0, []
        for message in body.get("messages", ()):
            match message.get("role"):
                case "user":
                    said.append(_words_of(message.get("content")))
                case "tool":
                    results.append(_words_of(message.get("content")))
                case "assistant":
                    turns += bool(message.get("tool_calls"))
        return ModelConversation("\n".join(said), turns, tuple(results), has_tools=bool(body.get("tools")))

    def _message(self) -> dict[str, Any]:
        if not self.calls:
            return {"role": "assistant", "content": self.words}
        made = [
            {
                "index": index,
                "id": _id("call"),
                "type": "function",
                "function": {"name": one["tool"], "arguments": json.dumps(one["with"])},
            }
            for index, one in enumerate(self.calls)
        ]
        return {"role": "assistant", "content": None, "tool_calls": made}

    def _around(self, kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {"id": "played", "object": kind, "created": 1, "model": self.model, "choices": choices, **more}

    def whole(self) -> dict[str, Any]:
        choice = {"index": 0, "message": self._message(), "finish_reason": "tool_calls" if self.calls else "stop"}
        return self._around("chat.completion", [choice], usage=_TOKENS)

    def stream(self) -> Iterator[bytes]:
        kind, why = "chat.completion.chunk", "tool_calls" if self.calls else "stop"
        yield _data(self._around(kind, [{"index": 0, "delta": self._message(), "finish_reason": None}]))
        yield _data(self._around(kind, [{"index": 0, "delta": {}, "finish_reason": why}]))
        yield _data(self._around(kind, [], usage=_TOKENS))
        yield b"data: [DONE]\n\n"


class _Responses(_Wire):
    """OpenAI's responses."""

    @staticmethod
    def read(body: dict[str, Any]) -> ModelConversation:
        given = body.get("input") or []
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        said, turns, results, was_call = [], 0, [], False
        for item in items:
            kind = str(item.get("type", "message"))
            is_call = kind.endswith("_call")
            turns += is_call and not was_call
            was_call = is_call
            if kind == "message" and item.get("role") == "user":
                said.append(_words_of(item.get("content")))
            elif kind.endswith("_call_output"):
                results.append(_words_of(item.get("output")))
        return ModelConversation("\n".join(said), turns, tuple(results), has_tools=bool(body.get("tools")))

    def _items(self) -> list[dict[str, Any]]:
        if not self.calls:
            text = {"type": "output_text", "text": self.words, "annotations": []}
            said = {"id": _id("msg"), "type": "message", "role": "assistant", "status": "completed"}
            return [said | {"content": [text]}]
        tools = self.body.get("tools", ())
        free = {tool.get("name") for tool in tools if tool.get("type") == "custom"}
        spaces = {
            inner.get("name"): tool.get("name")
            for tool in tools
            if tool.get("type") == "namespace"
            for inner in tool.get("tools", ())
        }
        items: list[dict[str, Any]] = []
        for one in self.calls:
            item = {"id": _id("item"), "call_id": _id("call"), "name": one["tool"]}
            if one["tool"] in free:
                item |= {"type": "custom_tool_call", "input": one["with"].get("input", "")}
            else:
                item |= {"type": "function_call", "arguments": json.dumps(one["with"])}
            if one["tool"] in spaces:
                item["namespace"] = spaces[one["tool"]]
            items.append(item)
        return items

    def whole(self) -> dict[str, Any]:
        spent = _SPENT | {"total_tokens": 2, "input_tokens_details": {"cached_tokens": 0}}
        return {
            "id": _id("resp"),
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": self.model,
            "output": self._items(),
            "usage": spent | {"output_tokens_details": {"reasoning_tokens": 0}},
        }

    def stream(self) -> Iterator[bytes]:
        full = self.whole()
        yield _named("response.created", response=full | {"status": "in_progress", "output": [], "usage": None})
        for index, item in enumerate(full["output"]):
            yield _named("response.output_item.added", output_index=index, item=item)
            yield _named("response.output_item.done", output_index=index, item=item)
        yield _named("response.completed", response=full)


_WIRES: Final = {"/messages": _Messages, "/chat/completions": _Completions, "/responses": _Responses}
_TOKENS: Final = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _id(kind: str) -> str:
    return f"{kind}_{uuid4().hex[:20]}"


def _data(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _named(name: str, **fields: Any) -> bytes:
    return f"event: {name}\n".encode() + _data({"type": name, **fields})


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or () if isinstance(part, dict)]


def _words_of(content: Any) -> str:
    """Give the text of a message's content, which may be a text, one part or a list of parts."""
    if isinstance(content, str):
        return content
    parts: Iterable[Any] = content if isinstance(content, list) else [content] if content else []
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))

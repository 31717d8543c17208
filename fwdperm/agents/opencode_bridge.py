"""`fwdperm bridge opencode URL`: between a running OpenCode server and the daemon.

Lives here: reading the server's events, one task per open ask, replies. An edge: the network. Never here: what an ask
means (`opencode.py`), whether it may.

Fails closed: an ask that nobody answers stays open at the server, and its tool does not run. While no daemon serves, a
question is asked again every second until its time is over, and then refused. The reply is never `always`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import signal
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fwdperm import settings
from fwdperm.agents import opencode
from fwdperm.agents.event import BadEvent, text_of
from fwdperm.client import Question, Requester, put_async
from fwdperm.errors import ChildError, EnvironmentFailure
from fwdperm.sessions import PARENT_VARIABLE, ROOT_SESSION, SESSION_VARIABLE, TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fwdperm.agents.event import Access
    from fwdperm.client import Answer

AGAIN_S: Final = 1.0
"""Seconds before a connection that broke, or a question that nobody served, is tried again."""
CALL_S: Final = 15.0
"""Seconds one call to the server may take."""
SILENT_S: Final = 60.0
"""Seconds without any event after which we connect again: a server that lives sends one more often."""
_DEPTH: Final = 32


@dataclass(frozen=True, slots=True)
class Server:
    """A server, its address and how to speak to it.

    Attributes:
        url: Its address, without a slash at the end.
        password: What its clients must say; empty for none.
        user: As whom.
    """

    url: str
    password: str = field(default="", repr=False)
    user: str = "opencode"

    def call(self, method: str, path: str, body: Any = None, *, directory: str = "") -> Any:
        """Call the server once.

        Raises:
            OSError: It cannot be reached or refuses.
            ValueError: Its answer is no JSON.
        """
        with urllib.request.urlopen(  # noqa: S310 - the command line checked the scheme
            self._request(method, path, body, directory=directory), timeout=CALL_S
        ) as answer:
            return json.loads(answer.read() or b"null")

    def events(self, path: str) -> Iterator[dict[str, Any]]:
        """Give the server's events as they come, until the connection ends.

        Raises:
            OSError: As it ends.
        """
        with urllib.request.urlopen(self._request("GET", path, None), timeout=SILENT_S) as stream:  # noqa: S310 - as above
            for line in stream:
                if line.startswith(b"data:"):
                    with contextlib.suppress(ValueError):
                        event = json.loads(line[5:])
                        if isinstance(event, dict):
                            yield event

    def _request(self, method: str, path: str, body: Any, *, directory: str = "") -> urllib.request.Request:
        query = "?" + urllib.parse.urlencode({"directory": directory}) if directory else ""
        content = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.password:
            word = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            headers["authorization"] = f"Basic {word}"
        url = f"{self.url}{path}{query}"
        return urllib.request.Request(url, data=content, headers=headers, method=method)  # noqa: S310 - as above


@dataclass(slots=True)
class _Session:
    parent: str = ""
    agent: str = ""
    directory: str = ""


def bridge_opencode(url: str, *, root: str, env: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Answer a server's asks until interrupted.

    Args:
        url: The server's address.
        root: The inbox tree.
        env: The environment: `OPENCODE_SERVER_PASSWORD`, `OPENCODE_SERVER_USERNAME`, and who our parent is.
        tell: Takes one line for people.

    Raises:
        KeyboardInterrupt: As it came; every open question is withdrawn first. SIGTERM ends it alike.
    """
    server = Server(url, env.get("OPENCODE_SERVER_PASSWORD", ""), env.get("OPENCODE_SERVER_USERNAME", "") or "opencode")
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    asyncio.run(_Bridge(server, root=root, env=env, tell=tell).run())


class _Bridge:
    """One server's open asks. All state belongs to the event loop; threads only read from the server and pass it on."""

    def __init__(self, server: Server, *, root: str, env: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self._server = server
        self._root = root
        self._env = {name: value for name, value in env.items() if name != TOKEN_VARIABLE}
        self._tell = tell
        self._top = env.get(SESSION_VARIABLE) or env.get(PARENT_VARIABLE) or ROOT_SESSION
        self._open: dict[str, asyncio.Task[None]] = {}
        self._sessions: dict[str, _Session] = {}
        self._directories: dict[str, None] = {"": None}
        self._worktrees: dict[str, str] = {}

    async def run(self) -> None:
        was_told = ""
        while True:
            try:
                await self._follow()
                why = "it closed the connection"
            except (OSError, ValueError) as error:
                why = str(getattr(error, "reason", "") or type(error).__name__)
            finally:
                self._drop_all()
            if why != was_told:
                self._tell(f"no connection to {self._server.url}: {why}; trying again")
                was_told = why
            await asyncio.sleep(AGAIN_S)

    async def _follow(self) -> None:
        """Handle events until the connection ends. With the first one, look for asks that were open before."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[dict[str, Any] | Exception | None] = asyncio.Queue()
        reader = threading.Thread(target=self._read, args=(loop, events), daemon=True)
        reader.start()
        is_first = True
        while True:
            event = await events.get()
            if event is None:
                return
            if isinstance(event, Exception):
                raise event
            if is_first:
                is_first = False
                self._tell(f"answering the asks of {self._server.url}")
                await self._look_for_open()
            await self._take(event)

    def _read(self, loop: asyncio.AbstractEventLoop, events: asyncio.Queue[dict[str, Any] | Exception | None]) -> None:
        """Read events, in a thread: those of all directories; from an older server those of its own directory."""

        def hand(event: dict[str, Any] | Exception | None) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(events.put_nowait, event)

        try:
            try:
                for event in self._server.events("/global/event"):
                    hand(event)
            except urllib.error.HTTPError as error:
                if error.code != 404:  # noqa: PLR2004 - an older server
                    raise
                for event in self._server.events("/event"):
                    hand(event)
            hand(None)
        except Exception as error:  # noqa: BLE001 - the thread's seam; raised again in the loop
            hand(error if isinstance(error, (OSError, ValueError)) else ConnectionError(type(error).__name__))

    async def _look_for_open(self) -> None:
        """Take up asks that were open before: those of the server's own directory and of each one that is known."""
        with contextlib.suppress(OSError, ValueError):
            sessions = await asyncio.to_thread(self._server.call, "GET", "/session")
            for info in sessions if isinstance(sessions, list) else ():
                if isinstance(info, dict) and self._know(info).directory:
                    self._directories[text_of(info, "directory")] = None
        for directory in tuple(self._directories):
            try:
                asks = await asyncio.to_thread(self._server.call, "GET", "/permission", directory=directory)
            except (OSError, ValueError):
                self._tell("the server does not list its open asks; those from before now may have to be asked again")
                continue
            for ask in asks if isinstance(asks, list) else ():
                if isinstance(ask, dict):
                    self._begin(ask, directory=directory)

    async def _take(self, event: dict[str, Any]) -> None:
        inner = event.get("payload")
        directory = text_of(event, "directory")
        event = inner if isinstance(inner, dict) else event
        said = event.get("properties")
        said = said if isinstance(said, dict) else {}
        match event.get("type"):
            case "permission.asked":
                if directory:
                    self._directories[directory] = None
                self._begin(said, directory=directory)
            case "permission.replied":
                task = self._open.pop(text_of(said, "requestID") or text_of(said, "permissionID"), None)
                if task is not None:
                    task.cancel()  # somebody else replied: this withdraws our question
            case "session.created" | "session.updated":
                info = said.get("info")
                if isinstance(info, dict):
                    self._know(info)
            case _:
                return

    def _know(self, info: Mapping[str, Any]) -> _Session:
        made = _Session(text_of(info, "parentID"), text_of(info, "agent"), text_of(info, "directory"))
        self._sessions[text_of(info, "id")] = made
        return made

    def _begin(self, ask: Mapping[str, Any], *, directory: str) -> None:
        name = text_of(ask, "id")
        if not name or name in self._open:
            return
        task = asyncio.get_running_loop().create_task(self._settle(name, ask, directory=directory))
        self._open[name] = task
        task.add_done_callback(lambda done: self._over(name, done))

    def _over(self, name: str, task: asyncio.Task[None]) -> None:
        if self._open.get(name) is task:
            del self._open[name]
        if not task.cancelled() and task.exception() is not None:
            self._tell(f"ask {name} failed: {type(task.exception()).__name__}")

    def _drop_all(self) -> None:
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def _settle(self, name: str, ask: Mapping[str, Any], *, directory: str) -> None:
        """Ask the daemon about one ask, and reply. Unless all of its parts are approved, the reply is a refusal."""
        try:
            reply = await self._decide(ask, directory=directory)
        except BadEvent as error:
            reply = opencode.refusal(f"fwdperm cannot read this ask: {error}")
        except ChildError as error:
            reply = opencode.refusal(f"fwdperm cannot ask about this: {error}")
        except EnvironmentFailure:
            reply = opencode.refusal("fwdperm's inbox cannot be written to")
        path = f"/permission/{urllib.parse.quote(name, safe='')}/reply"
        try:
            await asyncio.to_thread(self._server.call, "POST", path, reply, directory=directory)
        except (OSError, ValueError):
            self._tell(f"the reply to {name} did not arrive; nothing runs before one does")

    async def _decide(self, ask: Mapping[str, Any], *, directory: str) -> dict[str, str]:
        session = text_of(ask, "sessionID")
        if not session:
            raise BadEvent("the ask has no `sessionID`")
        line = await self._line(session, directory=directory)
        where = line[0][1].directory or directory
        ends = time.monotonic() + settings.WAIT_S
        for access in opencode.accesses(ask, worktree=await self._worktree(where)):
            answer = await self._ask(access, line, where=where, ends=ends)
            if not answer.approved:
                return opencode.reply_to(answer)
            if answer.note:
                self._tell(f"OpenCode has no way to tell the model a note on an approval: {answer.note}")
        return opencode.reply_to(answer)

    async def _ask(self, access: Access, line: list[tuple[str, _Session]], *, where: str, ends: float) -> Answer:
        """Ask the daemon; while none serves, ask again until the time is over."""
        above = [(one, known.agent or opencode.NAME) for one, known in line[1:]] + [(self._top, "")]
        requester = Requester(
            cwd=where or "/",
            parent=above[0][0],
            session=line[0][0],
            agent=line[0][1].agent or opencode.NAME,
            ancestors=above,
            root=self._root,
            env=self._env,
        )
        while True:
            question = Question(
                access.surface,
                access.values[:1],
                requester=requester,
                wait_s=max(ends - time.monotonic(), 1.0),
                message=access.message,
                floor=access.floor,
                tool=access.surface,
            )
            answer = await put_async(question)
            if answer.outcome != "unserved" or time.monotonic() >= ends:
                return answer
            await asyncio.sleep(AGAIN_S)

    async def _line(self, session: str, *, directory: str) -> list[tuple[str, _Session]]:
        """Give a session and its ancestors, the nearest first, as far as the server names them."""
        line: list[tuple[str, _Session]] = []
        while session and len(line) < _DEPTH and session not in {one for one, _ in line}:
            known = self._sessions.get(session)
            if known is None:
                known = _Session(directory=directory)
                with contextlib.suppress(OSError, ValueError):
                    path = f"/session/{urllib.parse.quote(session, safe='')}"
                    info = await asyncio.to_thread(self._server.call, "GET", path, directory=directory)
                    if isinstance(info, dict):
                        known = self._know({**info, "id": session})
            line.append((session, known))
            session = known.parent
        return line

    async def _worktree(self, directory: str) -> str:
        """Give the directory that the server's relative patterns are meant in."""
        if directory not in self._worktrees:
            found = ""
            with contextlib.suppress(OSError, ValueError):
                told = await asyncio.to_thread(self._server.call, "GET", "/path", directory=directory)
                found = text_of(told, "worktree") if isinstance(told, dict) else ""
            self._worktrees[directory] = found or directory or "/"
        return self._worktrees[directory]

"""A process with a real terminal, a queue and the line prompter; driven over a socket, one JSON line per command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from fwdperm.errors import EnvironmentFailure
from fwdperm.seat import plain_prompter
from fwdperm.seat.editor import Begun, Void
from fwdperm.seat.queue import Accepted, Answered, Closed, SeatQueue, WaitingQuestion
from fwdperm.seat.terminal import Terminal, may_colour, may_mark_pastes
from fwdperm.wire.prompt import Fate, Prompt, Reply, ReplyKind, ReplyOutcome

if TYPE_CHECKING:
    from fwdperm.wire.request import RequestKey


class Watched(plain_prompter.PlainPrompter):
    """Tells when a question takes answers, and what line it has read, so that no test has to guess."""

    tell: Any

    def _on_due(self) -> None:
        was_open = self._editor.is_open
        super()._on_due()
        if self._editor.is_open and not was_open:
            self.tell({"event": "open"})

    def _on_line(self, line: str) -> None:
        super()._on_line(line)
        self.tell({"event": "line", "line": line})

    def _tell_void(self, voids: list[Void | Begun]) -> None:
        super()._tell_void(voids)
        for one in voids:
            self.tell({"event": "void" if isinstance(one, Void) else "begun", "line": one.text, "why": one.why})


async def main(address: str, moment_s: str) -> None:  # noqa: C901 - one play, told in order
    if moment_s:
        plain_prompter.lines.moment = lambda _prompt: float(moment_s)
    plain_prompter._LOOK_AGAIN_S = 0.02  # type: ignore[misc]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as a daemon does: it outlives its terminal
    reader, writer = await asyncio.open_unix_connection(address)
    loop = asyncio.get_running_loop()
    queue = SeatQueue()

    def tell(message: dict[str, Any]) -> None:
        writer.write(json.dumps(message).encode() + b"\n")

    def on_answer(key: RequestKey, digest: str, reply: Reply) -> Answered:
        outcome = queue.answer(key, digest, reply, now=loop.time(), by=f"you ({reply.via})")
        tell({"event": "answer", "id": key[1], "reply": reply.model_dump(mode="json", exclude_none=True)})
        prompter.refresh()  # as the daemon does on every change, this one included
        return outcome

    def on_look(_key: RequestKey, _digest: str, reply: Reply) -> ReplyOutcome:
        if reply.patterns == ("other",):
            return ReplyOutcome(outcome=Fate.REFUSED, words="pattern `other` does not match what is asked")
        patterns = [one.pattern for one in queue.view().front.prompt.suggestions]  # type: ignore[union-attr]
        lines = tuple(f"would record {pattern}" for pattern in reply.patterns or patterns)
        return ReplyOutcome(outcome=Fate.SHOWN, lines=(*lines, f"scope {reply.scope}", f"for {reply.expires_in_ms}"))

    try:
        terminal = Terminal(
            0,
            loop=loop,
            utf8="UTF-8" in os.environ.get("LANG", ""),
            marks_pastes=may_mark_pastes(os.environ),
        )
    except EnvironmentFailure as error:
        tell({"event": "no terminal", "words": str(error)})
        await writer.drain()
        return
    prompter = Watched(
        terminal,
        loop=loop,
        view=queue.view,
        on_answer=on_answer,
        on_look=on_look,
        colour=may_colour(os.environ),
        on_detached=lambda: tell({"event": "detached"}),
    )
    prompter.tell = tell
    prompter.attach()
    tell({"event": "attached"})
    while line := await reader.readline():
        command = json.loads(line)
        match command.pop("do"):
            case "ask":
                prompt = Prompt.model_validate_json(json.dumps(command))
                queue.add(WaitingQuestion(prompt.key, prompt.digest, prompt, loop.time() + 252.5))
            case "close":
                queue.close(("root", command["id"]), Closed(how=command["how"], by=command.get("by", "")))
            case "steal":  # another interface wins while the line is on its way: the prompter is not told
                outcome = queue.answer(
                    ("root", command["id"]), None, Reply(reply=ReplyKind.ONCE), now=loop.time(), by="bob"
                )
                assert isinstance(outcome, Accepted)
                continue
            case "ping":
                tell({"event": "pong", "waiting": [question.prompt.id for question in queue.waiting()]})
                continue
        prompter.refresh()
    prompter.detach()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

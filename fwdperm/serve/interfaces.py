"""The interfaces people answer through, as the daemon sees them.

Lives here: starting and stopping the terminal prompter, taking answers from the reply box, and who is attached. Never
here: how a question looks.
"""

from __future__ import annotations

import locale
import os
import sys
from typing import TYPE_CHECKING

import structlog

from fwdperm.errors import EnvironmentFailure
from fwdperm.seat import PlainPrompter, ReceivedCommand, ReceivedReply, ReplyBox, Terminal, may_colour, may_mark_pastes

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from pathlib import Path

    from fwdperm.policy import Teaching
    from fwdperm.seat import Answered, SeatQueue
    from fwdperm.serve.referrals import Referrals
    from fwdperm.wire import Reply, RequestKey

log = structlog.get_logger("fwdperm.serve")


class Interfaces:
    """Everything people answer through.

    Args:
        state: The state directory, for replies left as files.
        queue: What waits.
        asks_here: Whether to ask on the terminal that serves, if there is one.
        has_colour: Whether colour may be used.
    """

    def __init__(self, state: Path, *, queue: SeatQueue, asks_here: bool, has_colour: bool = True) -> None:
        self.box = ReplyBox(state)
        self._queue = queue
        self._asks_here = asks_here
        self._has_colour = has_colour
        self._prompter: PlainPrompter | None = None

    def is_attended(self) -> bool:
        """Say whether an interface is attached: a terminal somebody can answer on."""
        return self._prompter is not None and self._prompter.is_attached

    def attach(self, referrals: Referrals, *, loop: asyncio.AbstractEventLoop, on_change: Callable[[], None]) -> None:
        """Start asking on the terminal, if there is one and it is wanted. Standard input is read in no other case."""
        if not self._asks_here or not sys.stdin.isatty():
            return
        try:
            terminal = Terminal(
                sys.stdin.fileno(),
                loop=loop,
                utf8="utf" in locale.getpreferredencoding().lower(),
                marks_pastes=may_mark_pastes(os.environ),
            )
        except EnvironmentFailure as error:
            log.warning("terminal.unusable", reason=str(error))
            return

        def answer(key: RequestKey, digest: str, reply: Reply) -> Answered:
            answered = referrals.reply(
                key, digest, reply, via=f"terminal {terminal.name}", user=os.environ.get("USER", "")
            )
            on_change()
            return answered

        self._prompter = PlainPrompter(
            terminal,
            loop=loop,
            view=self._queue.view,
            on_answer=answer,
            on_look=referrals.look,
            colour=self._has_colour and may_colour(os.environ),
            on_detached=on_change,
        )
        self._prompter.attach()

    def collect(self, referrals: Referrals, teaching: Teaching, *, now: float) -> None:
        """Take the replies that lie in the box, and tell each sender what became of it."""
        for received in self.box.collect(now=now):
            if isinstance(received, ReceivedReply):
                reply = received.reply
                if reply.look:
                    self.box.publish_word(received.name, referrals.look(received.key, reply.digest, reply), now=now)
                    continue
                outcome = referrals.reply(
                    received.key, reply.digest, reply, via=reply.via or "file", user=reply.user or ""
                )
                self.box.publish_outcome(received.name, outcome, now=now)
            elif isinstance(received, ReceivedCommand):
                self.box.publish_word(received.name, teaching.command(received.command), now=now)
            else:
                log.warning("reply.unusable", file=received.name, reason=received.words)

    def refresh(self) -> None:
        """Let the terminal show what the queue holds now."""
        if self._prompter is not None:
            self._prompter.refresh()

    def detach(self) -> None:
        """Stop asking on the terminal, and give it back as it was."""
        if self._prompter is not None:
            self._prompter.detach()

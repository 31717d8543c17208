"""The line prompter: one question at a time on the terminal that serves.

Lives here: `PlainPrompter`. No cursor is moved and nothing is redrawn, so that it works over ssh, on dumb terminals and
with screen readers. Never here: what an answer causes, the picture of a question (`render.py`), the words of a line
(`line.py`).

Keys meant for something else answer nothing: what was typed before a question was on screen is thrown away, and so is
what comes in its first quarter of a second. An answer is bound to the id and the digest on screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.seat import always
from fwdperm.seat import line as lines
from fwdperm.seat.queue import Accepted, AlreadyDecided, Refused, Stale, Unknown, grouped, likeness
from fwdperm.seat.render import draw, pages, summary
from fwdperm.settings import KEYS_IGNORED_S
from fwdperm.wire.prompt import Fate, Reply, ReplyKind, ReplyOutcome
from fwdperm.wire.shown import fit, shown

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from fwdperm.seat.queue import Key, Outcome, Question, QueueView
    from fwdperm.seat.terminal import Terminal

_LOOK_AGAIN_S: Final = 1.0
"""Seconds between looks whether a terminal that another job has is ours again."""
_TWINS: Final = 8
"""Equal questions answered together, and named: ten thousand names would push the question off the screen."""
_ALL: Final = 1_000_000
"""Rows of our own words: all of them."""
_LISTED: Final = 20
"""Different waiting questions listed before the rest is only counted."""


class PlainPrompter:
    """Asks on a terminal. Everything happens in the loop's thread.

    Args:
        terminal: Where to ask.
        loop: The daemon's loop; its clock is the questions' clock.
        view: Gives the queue as it is now.
        on_answer: Takes an answer: key, digest, reply; gives what became of it, at once.
        on_look: Tells what an *always* would record: the same arguments; answers nothing.
        colour: Repeat in colour what the words say.
        on_detached: Called once when the terminal is left or gone. The daemon goes on.
    """

    def __init__(  # noqa: PLR0913 - its collaborators
        self,
        terminal: Terminal,
        *,
        loop: asyncio.AbstractEventLoop,
        view: Callable[[], QueueView],
        on_answer: Callable[[Key, str, Reply], Outcome],
        on_look: Callable[[Key, str, Reply], ReplyOutcome],
        colour: bool,
        on_detached: Callable[[], None],
    ) -> None:
        self._terminal = terminal
        self._loop = loop
        self._view = view
        self._on_answer = on_answer
        self._on_look = on_look
        self._talk: always.Talk | None = None
        self._twins: tuple[Question, ...] = ()
        self._colour = colour
        self._on_detached = on_detached
        self._asked: Question | None = None
        self._hidden = 0
        self._pages: list[tuple[str, ...]] = []
        self._opens_at: float | None = None
        self._typed = bytearray()
        self._is_answering = False
        self._has_called = False
        self._looking: asyncio.TimerHandle | None = None
        self._opening: asyncio.TimerHandle | None = None

    @property
    def is_attached(self) -> bool:
        """Say whether somebody could be asked here."""
        return not self._terminal.is_closed

    def attach(self) -> None:
        """Start to read, and ask what waits."""
        self._terminal.on_drained = self._on_drained
        self._loop.add_reader(self._terminal.fd, self._on_readable)
        self._say(f"fwdperm asks here ({self._terminal.name}); type `help` for the answers")
        self.refresh()

    def detach(self) -> None:
        """Leave the terminal. What waits goes on waiting."""
        if not self.is_attached:
            return
        for timer in (self._looking, self._opening):
            if timer is not None:
                timer.cancel()
        self._loop.remove_reader(self._terminal.fd)
        self._terminal.close()
        self._asked = None
        self._on_detached()

    def refresh(self) -> None:
        """Bring the screen up to date. To be called after every change of the queue; calling it too often is free."""
        if not self.is_attached or self._is_answering or self._terminal.pending:
            return  # an answer, or the drained terminal, refreshes when it is done
        view = self._view()
        if self._asked is not None:
            if view.front is not None and view.front.key == self._asked.key:
                return
            closed = view.closed.get(self._asked.key)
            self._say(f"\n{shown(closed.words) if closed else 'closed'}  ({shown(self._asked.prompt.id)})")
            self._asked = None
            self._talk = None
        if view.front is not None:
            self._ask(view.front, waiting=len(view.waiting) - 1)

    # -- showing -----------------------------------------------------------------------------------------------

    def _ask(self, question: Question, *, waiting: int) -> None:
        if not self._terminal.is_ours():
            self._wait_for_terminal()
            return
        columns, rows = self._terminal.size()
        left = question.deadline - self._loop.time()
        picture = draw(question.prompt, width=columns, colour=self._colour, waiting=waiting, time_left=left)
        self._asked = question
        self._hidden = picture.hidden
        self._pages = []
        if picture.hidden:
            self._pages = list(pages(question.prompt, width=columns, colour=self._colour, height=rows - 4))
        self._opens_at = None
        alike = [
            one
            for one in self._view().waiting
            if one.key != question.key and likeness(one.prompt) == likeness(question.prompt)
        ]
        self._twins = tuple(alike[:_TWINS])
        self._say("\n" + "\n".join(picture.lines))
        if self._twins:
            others = ", ".join(f"{shown(one.prompt.id)} of {shown(one.prompt.chain[-1])}" for one in self._twins)
            more = f"; {len(alike) - _TWINS} more come after these" if len(alike) > _TWINS else ""
            self._tell(f"  [the same is asked by {others}: approving once or rejecting answers each of them{more}]")
        self._tell(lines.options(question.prompt))
        self._invite()
        if not self._terminal.pending:
            self._on_screen()

    def _on_screen(self) -> None:
        """The whole question can be read now: what was typed before was not for it."""
        self._typed.clear()
        self._terminal.forget_input()
        self._opens_at = self._loop.time() + KEYS_IGNORED_S
        if self._opening is not None:
            self._opening.cancel()
        self._opening = self._loop.call_at(self._opens_at, self._open)

    def _open(self) -> None:
        self._opening = None
        self._typed.clear()
        self._terminal.forget_input()

    def _on_drained(self) -> None:
        if self._asked is not None and self._opens_at is None:
            self._on_screen()
        self.refresh()

    def _wait_for_terminal(self) -> None:
        """Another job has the terminal: say once that a question waits, and look again until it is ours."""
        self._asked = None
        self._talk = None
        if self._view().front is not None and not self._has_called:
            self._has_called = True
            self._say("\n[fwdperm: a question waits; bring this job to the foreground, or use `fwdperm list`]")
        if self._looking is None:
            self._loop.remove_reader(self._terminal.fd)
            self._looking = self._loop.call_later(_LOOK_AGAIN_S, self._look_again)

    def _look_again(self) -> None:
        if self._terminal.is_ours():
            self._looking = None
            self._has_called = False
            self._loop.add_reader(self._terminal.fd, self._on_readable)
            self.refresh()
        else:
            self._looking = self._loop.call_later(_LOOK_AGAIN_S, self._look_again)

    def _say(self, text: str) -> None:
        self._terminal.write(text + "\n")

    def _tell(self, *sentences: str) -> None:
        """Say our own words, broken between words where the terminal is narrow."""
        columns, _ = self._terminal.size()
        for sentence in sentences:
            self._say("\n".join(fit(sentence, lines=_ALL, columns=columns - 1, between_words=True).rows))

    def _invite(self) -> None:
        if self._asked is not None:
            about = self._talk.invitation if self._talk is not None else "> "
            self._terminal.write(f"answer {shown(self._asked.prompt.id)}{', ' if self._talk else ''}{about}")

    # -- reading -----------------------------------------------------------------------------------------------

    def _on_readable(self) -> None:
        if not self._terminal.is_ours():
            self._wait_for_terminal()
            return
        typed = self._terminal.read()
        if typed is None:
            return
        if not typed:
            self._say("\nleft this prompter; requests go on waiting for `fwdperm allow` and `fwdperm reject`")
            self.detach()
            return
        self._typed += typed
        while b"\n" in self._typed:
            line, _, rest = bytes(self._typed).partition(b"\n")
            self._typed[:] = rest
            self._on_line(line.decode(errors="replace"))

    def _on_line(self, line: str) -> None:
        """Take one line. Whatever is doubtful answers nothing."""
        if self._terminal.pending:
            return  # the question is not wholly on screen
        if self._asked is not None and (self._opens_at is None or self._loop.time() < self._opens_at):
            self._say("[ignored: typed before the question could be read]")
            self._invite()
            return
        asked = self._asked
        self.refresh()
        if self._asked is not asked:
            return  # it closed while the line was typed; the next question has its own invitation
        self._obey(line, asked)
        if self._asked is asked:
            self._invite()

    def _obey(self, line: str, asked: Question | None) -> None:
        if self._talk is not None and asked is not None:
            self._talk_on(line, asked, self._talk)
            return
        prompt = asked.prompt if asked is not None else None
        match lines.understand(line, prompt=prompt, hidden=self._hidden if asked is not None else 0):
            case lines.Answer(kind=ReplyKind.ALWAYS, note=note) if asked is not None:
                self._talk = always.Talk(asked.prompt, note=note)
                self._tell(*self._talk.begin())
            case lines.Answer(kind=kind, note=note) if asked is not None:
                self._give(asked, Reply(reply=kind, feedback=note or None))
            case lines.Unclear(words=words):
                self._tell(words)
            case lines.Wish.FULL:
                self._turn_page()
            case lines.Wish.LIST:
                self._list()
            case lines.Wish.HELP:
                self._tell(*lines.HELP)
            case lines.Wish.NOTHING | lines.Answer():
                pass
            case _ as never:
                assert_never(never)

    def _talk_on(self, line: str, asked: Question, talk: always.Talk) -> None:
        """Go on with the talk about an *always*. It is bound to the question on screen, and ends with it."""
        match talk.hear(line):
            case always.More(lines=words):
                self._tell(*words)
            case always.Look(reply=reply):
                seen = self._on_look(asked.key, asked.digest, reply)
                is_good = seen.outcome is Fate.SHOWN
                shown_lines = seen.lines if is_good else (seen.words,)
                self._tell(*talk.looked(lines=shown_lines, is_good=is_good))
            case always.Save(reply=reply):
                self._talk = None
                self._give(asked, reply)
            case always.Left():
                self._talk = None
                self._say("nothing was answered")
                self._tell(lines.options(asked.prompt))
            case _ as never:
                assert_never(never)

    def _turn_page(self) -> None:
        """Show the next page of what was cut; with the last one everything has been shown."""
        if self._asked is None:
            self._say("nothing is asked right now")
            return
        if not self._pages:  # nothing was cut, or all of it was read: once more from the start
            columns, rows = self._terminal.size()
            self._pages = list(pages(self._asked.prompt, width=columns, colour=self._colour, height=rows - 4))
        page = self._pages.pop(0)
        self._say("\n".join(page))
        if self._pages:
            self._say(f"[{sum(map(len, self._pages))} more lines: type `full` again]")
        else:
            self._hidden = 0
            self._say("[that is all of it]")

    def _list(self) -> None:
        waiting = grouped(self._view().waiting)
        columns, _ = self._terminal.size()
        rows = []
        for group in waiting[:_LISTED]:
            also = ", ".join(shown(one.prompt.id) for one in group.questions[1:])
            rows.append(summary(group.oldest.prompt, width=columns))
            rows.extend([f"    the same is asked by {also}"] if also else [])
        if len(waiting) > _LISTED:
            rows.append(f"[{len(waiting) - _LISTED} more]")
        self._say("\n".join(rows) if rows else "nothing waits")

    def _give(self, asked: Question, reply: Reply) -> None:
        """Give an answer for exactly what is on screen, and for what was shown to ask the same; each on its own."""
        twins = self._twins if reply.reply is not ReplyKind.ALWAYS else ()
        if not self._tell_fate(asked, self._answer(asked, reply), reply):
            return
        for twin in twins:
            self._tell_fate(twin, self._answer(twin, reply), reply)
        self._asked = None
        self._talk = None
        self.refresh()

    def _answer(self, asked: Question, reply: Reply) -> Outcome:
        bound = reply.model_copy(
            update={
                "id": asked.prompt.id,
                "inbox": asked.prompt.inbox,
                "digest": asked.digest,
                "via": f"prompter on {self._terminal.name}",
            }
        )
        self._is_answering = True
        try:
            return self._on_answer(asked.key, asked.digest, bound)
        finally:
            self._is_answering = False

    def _tell_fate(self, asked: Question, outcome: Outcome, reply: Reply) -> bool:
        """Say what became of an answer; False when the question goes on waiting for another one."""
        name = shown(asked.prompt.id)
        match outcome:
            case Accepted():
                self._say(f"{_DONE[str(reply.reply)]} {name}")
            case AlreadyDecided(closed=closed):
                self._say(f"{shown(closed.words)}  ({name})")
            case Unknown():
                self._say(f"closed: {name} is not waiting any more")
            case Stale():
                self._say(f"not answered: {name} has other content now")
            case Refused(words=words):
                self._tell(words)
                return False
            case _ as never:
                assert_never(never)
        return True


_DONE: Final = {"once": "approved once:", "always": "approved always:", "reject": "rejected:"}

"""The line prompter: one question at a time on the terminal that serves.

Lives here: `PlainPrompter`. No cursor is moved and nothing is redrawn, so that it works over ssh, on dumb terminals and
with screen readers. Never here: what an answer causes, the picture of a question (`render.py`), what is said besides
(`prompter_words.py`), the words of a typed line (`typed_line.py`), which lines count (`editor.py`), Ctrl-Z
(`job_control.py`).

A line answers a question only if that question was on screen, open for answers and unchanged, while all of it was
typed: keys that were meant for something else answer nothing. Of a void line the person is told, and it is shown again
for
copying. An answer counts only for the request id and digest on screen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.seat import always, editor
from fwdperm.seat import typed_line as lines
from fwdperm.seat.job_control import JobControl
from fwdperm.seat.prompter_words import UNSEEN, columns_of, fate_words, twins_words, waiting_list, why_ended
from fwdperm.seat.queue import RefusedReply, likeness
from fwdperm.seat.render import draw, pages
from fwdperm.wire import Fate, Reply, ReplyKind, ReplyOutcome, fit, shown

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

    from fwdperm.seat.queue import Answered, QueueView, WaitingQuestion
    from fwdperm.seat.terminal import Terminal
    from fwdperm.wire import RequestKey

_LOOK_AGAIN_S: Final = 1.0
"""Seconds between two looks whether a terminal that another job uses is ours again."""
_TWINS: Final = 8
"""The most equal questions that are named on screen and answered together: ten thousand names would push the question
off the screen, and what is not named is not answered."""
_ALL: Final = 1_000_000
"""A number of rows that no text of ours reaches: `fit` then cuts nothing."""
_VOIDS: Final = 3
"""Void lines shown again before the rest is only counted: a paste may have thousands."""


class PlainPrompter:
    """Asks on a terminal. For the loop's thread only.

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
        on_answer: Callable[[RequestKey, str, Reply], Answered],
        on_look: Callable[[RequestKey, str, Reply], ReplyOutcome],
        colour: bool,
        on_detached: Callable[[], None],
    ) -> None:
        self._terminal = terminal
        self._loop = loop
        self._view = view
        self._on_answer = on_answer
        self._on_look = on_look
        self._talk: always.AlwaysDialog | None = None  # the dialogue about an *always*, while there is one
        self._twins: tuple[WaitingQuestion, ...] = ()  # equal questions that an answer counts for, too
        self._colour = colour
        self._job_control = JobControl(terminal, loop=loop, on_return=self._go_on)
        self._on_detached = on_detached
        self._asked: WaitingQuestion | None = None  # the question on screen
        self._hidden = 0  # lines of it that were left out and not shown since: with any, it cannot be approved
        self._pages: list[tuple[str, ...]] = []  # what `full` shows next
        self._editor = editor.Editor()
        self._turns = 0  # makes each `OnScreen.about` another one
        self._is_answering = False  # an answer is being taken: the queue changes meanwhile
        self._has_called = False  # it was said that a question waits, while another job has the terminal
        self._looking: asyncio.TimerHandle | None = None  # the next look whether the terminal is ours again
        self._due: asyncio.TimerHandle | None = None  # the next `tick` of the editor

    @property
    def is_attached(self) -> bool:
        """Say whether somebody could be asked here."""
        return not self._terminal.is_closed

    def attach(self) -> None:
        """Start to read, and ask what waits."""
        self._terminal.on_drained = self._on_drained
        self._loop.add_reader(self._terminal.fd, self._on_readable)
        self._job_control.heed()
        self._terminal.take()
        self._say(f"fwdperm asks here ({self._terminal.name}); type `help` for the answers")
        self._on_screen()
        self.refresh()

    def detach(self) -> None:
        """Leave the terminal. What waits goes on waiting."""
        if not self.is_attached:
            return
        for timer in (self._looking, self._due):
            if timer is not None:
                timer.cancel()
        self._job_control.let_be()
        self._loop.remove_reader(self._terminal.fd)
        self._terminal.close()
        self._asked = None
        self._on_detached()

    def refresh(self) -> None:
        """Bring the screen up to date. To be called after every change of the queue; calling it too often is free."""
        if not self.is_attached or self._is_answering or self._terminal.pending:
            return  # this is called again once the answer was taken, or the terminal has shown everything
        view = self._view()
        if self._asked is not None:
            if self._is_front(view):
                return
            closed, name = view.closed.get(self._asked.key), shown(self._asked.prompt.id)
            self._asked = None
            self._talk = None
            self._say(f"\n{shown(closed.words) if closed else 'closed'}  ({name})")
            self._turn(editor.OnScreen(), why=why_ended(name))
        if view.front is not None:
            self._ask(view.front, waiting=len(view.waiting) - 1)

    def _is_front(self, view: QueueView) -> bool:
        """Say whether the question on screen still is the one to be answered, with the same content."""
        front, asked = view.front, self._asked
        return front is not None and asked is not None and (front.key, front.digest) == (asked.key, asked.digest)

    # -- showing -----------------------------------------------------------------------------------------------

    def _ask(self, question: WaitingQuestion, *, waiting: int) -> None:
        if not self._terminal.is_ours():
            self._wait_for_terminal()
            return
        columns, rows = self._terminal.size()
        left = question.deadline - self._loop.time()
        name = shown(question.prompt.id)
        self._turn(editor.OnScreen(name=name, opens_at=math.inf), why=f"that was typed before {name} was asked")
        picture = draw(question.prompt, width=columns, colour=self._colour, waiting=waiting, time_left=left)
        self._asked = question
        self._hidden = picture.hidden
        self._pages = []
        if picture.hidden:
            self._pages = list(pages(question.prompt, width=columns, colour=self._colour, height=rows - 4))
        alike = [
            one
            for one in self._view().waiting
            if one.key != question.key and likeness(one.prompt) == likeness(question.prompt)
        ]
        self._twins = tuple(alike[:_TWINS])
        self._say("\n" + "\n".join(picture.lines))
        if self._twins:
            self._tell(twins_words(self._twins, more=len(alike) - len(self._twins)))
        self._tell(lines.options(question.prompt))
        self._invite()
        if not self._terminal.pending:
            self._on_screen()

    def _on_screen(self) -> None:
        """Note that everything written so far is on screen now; what was typed before does not answer it."""
        if self._asked is None:
            self._turn(editor.OnScreen(), why=UNSEEN)
            return
        name = shown(self._asked.prompt.id)
        opens_at = self._loop.time() + lines.moment(self._asked.prompt)
        self._turn(self._screen(self._asked, opens_at=opens_at), why=f"that was typed before {name} could be read")

    def _screen(self, asked: WaitingQuestion, *, opens_at: float) -> editor.OnScreen:
        """Give what is on screen for that question, under a name that was never used before."""
        self._turns += 1
        about = (asked.key, asked.digest, self._turns)
        return editor.OnScreen(about=about, name=shown(asked.prompt.id), opens_at=opens_at)

    def _on_drained(self) -> None:
        self._on_screen()
        self.refresh()

    def _wait_for_terminal(self) -> None:
        """Stop asking while another job has the terminal: say once that a question waits, and look every second."""
        why = why_ended(shown(self._asked.prompt.id)) if self._asked is not None else UNSEEN
        self._asked = None
        self._talk = None
        self._turn(editor.OnScreen(opens_at=math.inf), why=why)
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
            self._terminal.take()
            self._on_screen()
            self._loop.add_reader(self._terminal.fd, self._on_readable)
            self.refresh()
        else:
            self._looking = self._loop.call_later(_LOOK_AGAIN_S, self._look_again)

    def _go_on(self) -> None:
        """Continue after `fg` or `bg`; what was typed meanwhile was not meant for us."""
        if not self._terminal.is_ours():
            self._wait_for_terminal()
            return
        self._terminal.take()
        self._on_screen()
        self._say("")
        self._invite()

    def _say(self, text: str) -> None:
        self._terminal.write(text + "\n")

    def _tell(self, *sentences: str) -> None:
        """Write sentences of ours, wrapped between words to the terminal's width."""
        columns, _ = self._terminal.size()
        for sentence in sentences:
            self._say("\n".join(fit(sentence, lines=_ALL, columns=columns - 1, between_words=True).rows))

    def _invite(self) -> None:
        if self._asked is not None:
            about = self._talk.invitation if self._talk is not None else "> "
            self._terminal.write(f"answer {shown(self._asked.prompt.id)}{', ' if self._talk else ''}{about}")
            self._editor.begin_row()

    # -- reading -----------------------------------------------------------------------------------------------

    def _on_readable(self) -> None:
        if not self._terminal.is_ours():
            self._wait_for_terminal()
            return
        typed = self._terminal.read()
        if typed is None:
            return
        if not typed:
            self._leave()
            return
        self._hear(self._editor.keys(typed, now=self._loop.time()))
        self._arm()

    def _leave(self) -> None:
        self._say("\nleft this prompter; requests go on waiting for `fwdperm allow` and `fwdperm reject`")
        self.detach()

    def _turn(self, screen: editor.OnScreen, *, why: str) -> bool:
        """Note that something else is on screen from now on. What was typed until now, read or not, does not answer it.

        Returns:
            Whether void lines were shown; then the line to type an answer on was begun again, too.
        """
        typed = self._terminal.forget_input() or b""
        now = self._loop.time()
        events = [event for event in self._editor.keys(typed, now=now) if event is not editor.Sign.LEFT]
        said = self._hear([*events, *self._editor.turn(screen, why=why, now=now)])
        self._arm()
        return said

    def _cover(self) -> None:
        """Let no line count until what was written last is on screen."""
        screen = editor.OnScreen(name="the screen", opens_at=math.inf)
        self._hear(self._editor.turn(screen, why=UNSEEN, now=self._loop.time()))

    def _arm(self) -> None:
        """Set the timer for the editor's next `tick`."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        due = self._editor.due
        if due is not None and self.is_attached:
            self._due = self._loop.call_at(due, self._on_due)

    def _on_due(self) -> None:
        """Let the editor tick, after it was given everything that was typed up to now."""
        self._due = None
        now = self._loop.time()
        typed = self._terminal.forget_input() or b""
        self._hear(self._editor.keys(typed, now=now))
        if self.is_attached and self._terminal.pending:
            self._cover()
        for event in self._editor.tick(now) if self.is_attached else ():
            if isinstance(event, editor.TypedLine):
                self._on_line(event.text)
        self._arm()

    def _hear(self, events: Iterable[editor.EditorEvent]) -> bool:
        """Show what is typed, and tell which lines are void; True when there were any."""
        voids: list[editor.Void | editor.Begun] = []
        for event in events:
            match event:
                case editor.Echo(key=key):
                    self._terminal.write(self._seen(key))
                case editor.Erased(key=key):
                    self._terminal.write("\b \b" * columns_of(self._seen(key)))
                case editor.Sign.ENTER:
                    self._terminal.write("\n")
                case editor.Void() | editor.Begun():
                    voids.append(event)
                case editor.Sign.LEFT:
                    self._leave()
                case editor.TypedLine():
                    pass  # only `tick` gives one; see `_on_due`
                case _ as never:
                    assert_never(never)
        if voids:
            self._tell_void(voids)
        return bool(voids)

    def _seen(self, key: str) -> str:
        return self._terminal.as_written(shown(key))

    def _tell_void(self, voids: list[editor.Void | editor.Begun]) -> None:
        """Tell that lines are void, and why; show them again, so that they can be copied."""
        begun = [one for one in voids if isinstance(one, editor.Begun)]
        if begun:
            self._say("")
        for why in dict.fromkeys(one.why for one in voids):
            self._tell(f"{why}; nothing was answered")
        texts = [one.text for one in voids if one.text.strip()]
        for text in texts[:_VOIDS]:
            self._say(f"  | {shown(text)}")
        if len(texts) > _VOIDS:
            self._say(f"  [{len(texts) - _VOIDS} more]")
        if begun:
            self._tell("what you type up to the next Enter belongs to it and answers nothing either")
        self._invite()

    def _on_line(self, line: str) -> None:
        """Do what a line says that was typed for what is on screen, if that still is the question to be answered."""
        asked = self._asked
        if asked is not None and not self._is_front(self._view()):
            self._tell_void([editor.Void(text=line, why=why_ended(shown(asked.prompt.id)))])
            self.refresh()
            return
        self._obey(line, asked)
        if self._asked is not asked or not self.is_attached:
            return
        if asked is not None:
            words_out = math.inf if self._terminal.pending else -math.inf
            if not self._turn(self._screen(asked, opens_at=words_out), why=UNSEEN):
                self._invite()

    def _obey(self, line: str, asked: WaitingQuestion | None) -> None:
        if self._talk is not None and asked is not None:
            self._talk_on(line, asked, self._talk)
            return
        prompt = asked.prompt if asked is not None else None
        match lines.understand(line, prompt=prompt, hidden=self._hidden if asked is not None else 0):
            case lines.TypedReply(kind=ReplyKind.ALWAYS, note=note) if asked is not None:
                self._talk = always.AlwaysDialog(asked.prompt, note=note)
                self._tell(*self._talk.begin())
            case lines.TypedReply(kind=kind, note=note) if asked is not None:
                self._give(asked, Reply(reply=kind, feedback=note or None))
            case lines.Unclear(words=words):
                self._tell(words)
            case lines.Wish.FULL:
                self._turn_page()
            case lines.Wish.LIST:
                self._list()
            case lines.Wish.HELP:
                self._tell(*lines.HELP)
            case lines.Wish.NOTHING | lines.TypedReply():
                pass
            case _ as never:
                assert_never(never)

    def _talk_on(self, line: str, asked: WaitingQuestion, talk: always.AlwaysDialog) -> None:
        """Hand a line to the dialogue about an *always*, which ends when its question is no longer on screen."""
        match talk.hear(line):
            case always.More(lines=words):
                self._tell(*words)
            case always.ShowPreview(reply=reply):
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
        """Show the next page of a question that was shown in part; after the last one it may be approved."""
        if self._asked is None:
            self._say("nothing is asked right now")
            return
        if not self._pages:  # nothing was left out, or all pages were shown: begin again
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
        columns, _ = self._terminal.size()
        self._say(waiting_list(self._view().waiting, width=columns))

    def _give(self, asked: WaitingQuestion, reply: Reply) -> None:
        """Answer the question on screen, and then, each on its own, the equal questions that are named there."""
        twins = self._twins if reply.reply is not ReplyKind.ALWAYS else ()
        if not self._tell_fate(asked, self._answer(asked, reply), reply):
            return
        for twin in twins:
            self._tell_fate(twin, self._answer(twin, reply), reply)
        self._asked = None
        self._talk = None
        self._turn(editor.OnScreen(), why=why_ended(shown(asked.prompt.id)))
        self.refresh()

    def _answer(self, asked: WaitingQuestion, reply: Reply) -> Answered:
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

    def _tell_fate(self, asked: WaitingQuestion, outcome: Answered, reply: Reply) -> bool:
        """Tell what became of an answer; False when it was refused, and the question goes on waiting."""
        words = fate_words(outcome, reply, name=shown(asked.prompt.id))
        if isinstance(outcome, RefusedReply):
            self._tell(words)
            return False
        self._say(words)
        return True

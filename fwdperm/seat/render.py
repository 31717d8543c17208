"""What a question looks like, as lines of plain text.

Lives here: `render_prompt` and `pages`, for the line prompter and for `fwdperm show`. Pure. Never here: a terminal, a
key.

Every untrusted text is escaped by `shown`, wrapped here, and has a margin in front, so that nothing a requester writes
can begin a line and pass for our words. Colour only repeats what the words say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.sessions import NO_AGENT
from fwdperm.settings import SHOWN_LINES
from fwdperm.wire import Clipped, fit, shown, suspicions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fwdperm.wire import Prompt, PromptJudge, PromptUnit

_ROOM: Final = 60
"""Columns that requester, surface and value should have beside the id in a list; else they go on a second row."""
_NARROWEST: Final = 30
_LABEL: Final = 9
_FIELD_LINES: Final = 3
"""Rows shown of a name, folder or message; the rest counts as left out."""
_OTHER_SPELLINGS: Final = 3
"""Further spellings shown; the rest counts as left out."""
_UNITS: Final = 12
"""Units shown; the rest counts as left out."""
_EVERYTHING: Final = 1_000_000
_PLAIN_NAME: Final = re.compile(r"[\w.:@/+-]+", re.ASCII)

_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[1;31m"
_YELLOW: Final = "\x1b[33m"
_END: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Picture:
    """A question drawn for one width.

    Attributes:
        lines: What to print, without line ends.
        hidden: How many lines were left out. If any, the request must not be approved by somebody who saw only this.
    """

    lines: tuple[str, ...]
    hidden: int


def render_prompt(  # noqa: PLR0913 - each is one thing the reader has to know
    prompt: Prompt,
    *,
    width: int,
    colour: bool,
    waiting: int,
    time_left: float | None,
    full: bool = False,
) -> str:
    """Draw a question.

    Args:
        prompt: The question.
        width: Columns of the terminal.
        colour: Repeat in colour what the words say.
        waiting: How many other questions wait.
        time_left: Seconds until it expires; None when that is not known here.
        full: Leave nothing out.

    Returns:
        Lines joined by line feeds, without one at the end. Apart from our own colour sequences everything is
        printable. What is left out is announced.
    """
    picture = draw(prompt, width=width, colour=colour, waiting=waiting, time_left=time_left, full=full)
    return "\n".join(picture.lines)


def draw(  # noqa: PLR0913 - as for `render_prompt`
    prompt: Prompt,
    *,
    width: int,
    colour: bool,
    waiting: int,
    time_left: float | None,
    full: bool = False,
) -> Picture:
    """Draw a question and tell how much was left out. Arguments as for `render_prompt`."""
    pen = _Pen(width=max(width, _NARROWEST) - 1, colour=colour, full=full)
    others = f", {waiting} more waiting" if waiting else ""
    pen.ours(f"== question {shown(prompt.id)}{others} ==", style=_BOLD)
    pen.field("who", _who(prompt))
    pen.field("what", f"{_name(prompt.surface)} in {_name(prompt.cwd) if prompt.cwd else 'an unknown folder'}")
    pen.value(prompt.values[0] if prompt.values else "", lines=SHOWN_LINES)
    _spellings(pen, prompt)
    if not f"{prompt.surface}: {prompt.values[0] if prompt.values else ''}".startswith(prompt.message):
        pen.field("claims", _quote(prompt.message))
    _units(pen, prompt)
    pen.field("guard", _guard(prompt), style=_RED if prompt.is_grave else "")
    pen.field("why", shown(prompt.why))
    if prompt.judge is not None:
        pen.field("judge", _judge(prompt.judge))
    for warning in warnings_of(prompt):
        pen.field("beware", warning, style=_YELLOW)
    pen.field("always", _always(prompt))
    if time_left is not None:
        pen.field("time", f"{clock(time_left)} left")
    if pen.hidden:
        pen.ours(f"[{pen.hidden} {'line is' if pen.hidden == 1 else 'lines are'} not shown: type `full` to read them]")
    return Picture(lines=tuple(pen.lines), hidden=pen.hidden)


def pages(prompt: Prompt, *, width: int, colour: bool, height: int) -> tuple[tuple[str, ...], ...]:
    """Cut the whole of a question into pages that fit a terminal, nothing left out.

    Args:
        prompt: The question.
        width: Columns of the terminal.
        colour: As for `render_prompt`.
        height: Rows a page may take.

    Returns:
        At least one page.
    """
    lines = draw(prompt, width=width, colour=colour, waiting=0, time_left=None, full=True).lines
    step = max(height, 5)
    return tuple(lines[at : at + step] for at in range(0, len(lines), step))


def prompt_summary(prompt: Prompt, *, width: int) -> str:
    """Draw a question in one line, or two where its id is long, for lists. Not enough to approve a request by."""
    requester = _name(prompt.chain[-1]) if prompt.chain else "unknown"
    value = shown(prompt.values[0]) if prompt.values else ""
    asks = f"{requester}  {_name(prompt.surface)}  {value}"
    columns = max(width, _NARROWEST) - 5
    if len(prompt.id) + 2 + min(len(asks), _ROOM) > columns:
        return f"{_one_row(shown(prompt.id), columns=columns)}\n    {_one_row(asks, columns=columns - 4)}"
    return _one_row(f"{shown(prompt.id)}  {asks}", columns=columns)


def _one_row(text: str, *, columns: int) -> str:
    row = fit(text, lines=1, columns=columns)
    return row.rows[0] + (" ..." if row.is_cut else "")


def warnings_of(prompt: Prompt) -> tuple[str, ...]:
    """Say what in any field of a question could deceive its reader; each phrase once."""
    texts = (*prompt.values, prompt.cwd, prompt.agent, prompt.message, *prompt.chain, prompt.surface, prompt.tool)
    found = [*prompt.suspicions, *(phrase for text in texts for phrase in suspicions(text))]
    return tuple(dict.fromkeys(phrase if phrase.isprintable() else shown(phrase) for phrase in found))


def clock(seconds: float) -> str:
    """Write a duration as people read it: `0:48`, `4:12`, `1:02:03`. Rounded down."""
    whole = max(int(seconds), 0)
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


class _Pen:
    """Collects the lines of a question, wraps them, and counts what is left out."""

    def __init__(self, *, width: int, colour: bool, full: bool) -> None:
        self.width = width
        self.colour = colour
        self.full = full
        self.lines: list[str] = []
        self.hidden = 0

    def ours(self, text: str, *, style: str = "") -> None:
        """Write a line of our own words."""
        for row in fit(_safe(text), lines=_EVERYTHING, columns=self.width, between_words=True).rows:
            self._line(row, style=style)

    def field(self, label: str, text: str, *, style: str = "", is_exact: bool = False) -> None:
        """Write a text of ours behind a label; the caller has escaped with `shown` what it quotes."""
        clipped = self._fit(_safe(text), lines=_FIELD_LINES, margin=_LABEL + 2, between_words=not is_exact)
        for number, row in enumerate(clipped.rows):
            head = f"  {label:<{_LABEL}}" if number == 0 else f"  {'':<{_LABEL}}"
            self._line(head + row, style=style)

    def value(self, text: str, *, lines: int) -> None:
        """Write an untrusted text with its line breaks; in the margin, `|` begins a line and `+` continues it."""
        clipped = self._fit(shown(text, multiline=True), lines=lines, margin=4)
        for row, continues in zip(clipped.rows, clipped.wraps, strict=True):
            self._line(f"  {'+' if continues else '|'} {row}")

    def cut(self, texts: Iterable[str], *, keep: int) -> Iterator[str]:
        """Give the first texts, and count the others as hidden."""
        for number, text in enumerate(texts):
            if self.full or number < keep:
                yield text
            else:
                self.hidden += 1

    def _fit(self, safe: str, *, lines: int, margin: int, between_words: bool = False) -> Clipped:
        most = _EVERYTHING if self.full else lines
        clipped = fit(safe, lines=most, columns=self.width - margin, between_words=between_words)
        self.hidden += clipped.hidden_lines
        return clipped

    def _line(self, text: str, *, style: str = "") -> None:
        self.lines.append(f"{style}{text}{_END}" if self.colour and style else text)


def _safe(text: str) -> str:
    """Escape a text that is not printable: it quotes something that should have been escaped before."""
    return text if text.isprintable() else shown(text)


def _who(prompt: Prompt) -> str:
    chain = " > ".join(_name(session) for session in prompt.chain) or "unknown"
    return f"{chain} (agent {_name(prompt.agent)})" if prompt.agent not in {"", NO_AGENT} else chain


def _name(text: str) -> str:
    """Show a claimed name as one word, in quotation marks unless it is plain: it may try to look like `a > b`."""
    if _PLAIN_NAME.fullmatch(text):
        return text
    return _quote(text)


def _quote(text: str) -> str:
    """Quote untrusted text inside a line of ours; its own quotation marks are written out."""
    safe = shown(text).replace('"', "\\u{22}")
    return f'"{safe}"'


def _spellings(pen: _Pen, prompt: Prompt) -> None:
    for spelling in pen.cut(prompt.values[1:], keep=_OTHER_SPELLINGS):
        pen.field("also", shown(spelling), is_exact=True)


def _units(pen: _Pen, prompt: Prompt) -> None:
    if len(prompt.units) == 1 and prompt.units[0].text == (prompt.values[0] if prompt.values else ""):
        return  # it is the value that was just shown; its rule and class follow under `why` and `guard`
    for line in pen.cut((_unit(unit) for unit in prompt.units), keep=_UNITS):
        pen.field("unit", line)


def _unit(unit: PromptUnit) -> str:
    found = unit.action if unit.action != "-" else "no rule"
    rule = f" by {_quote(unit.rule)}" if unit.rule else ""
    origin = f" {shown(unit.origin)}" if unit.origin else ""
    danger = f", {shown(unit.danger)}" if unit.danger else ""
    reason = f" ({shown(unit.reason)})" if unit.reason else ""
    return f"[{shown(found)}{rule}{origin}{danger}]{reason} {_name(unit.surface)}: {shown(unit.text)}"


def _guard(prompt: Prompt) -> str:
    worst = [unit for unit in prompt.units if unit.danger == prompt.danger]
    reasons = [*(unit.reason for unit in worst if unit.reason), *(unit.id for unit in worst if unit.id)]
    because = f": {'; '.join(dict.fromkeys(reasons))}" if reasons else ""
    danger = shown(prompt.danger)
    return f"{danger.upper() if prompt.is_grave else danger}{shown(because)}"


def _judge(judge: PromptJudge) -> str:
    if judge.failure:
        words = f": {shown(judge.reason)}" if judge.reason else ""
        return f"did not answer ({shown(judge.failure)}){words}"
    risk = f", {shown(judge.risk)} risk" if judge.risk else ""
    reason = f": {_quote(judge.reason)}" if judge.reason else ""
    return f"{shown(judge.verdict).upper()}{risk}{reason}"


def _always(prompt: Prompt) -> str:
    if prompt.only_human:
        return 'not offered: a rule says only = "human"'
    if prompt.is_grave:
        return "not offered for this class"
    if not prompt.suggestions:
        return "not offered: nothing to record"
    return "would record " + ", ".join(
        f"allow {_name(each.surface)} {_quote(each.pattern)}" for each in prompt.suggestions
    )

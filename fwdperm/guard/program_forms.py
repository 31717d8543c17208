"""A program's page as lines for people and as JSON.

Lives here: the two forms, and what is said where the book has no page. Pure. Never here: what a page says
(`program_page.py`).
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

from fwdperm.guard.classes import Danger
from fwdperm.guard.program_page import FILES_UNKNOWN, code
from fwdperm.wire import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fwdperm.guard.program_page import DangerNote, ProgramPage, UseNote

_WIDTH: Final = 110
"""Columns of a line for people; a word that is longer stays whole."""
_LABEL: Final = 14
"""Columns of what stands before a line's own words."""


def unknown_program_lines(command: str) -> Iterator[str]:
    """Say what it means that the book has no page for these words. Typed text is shown escaped."""
    yield f"`{shown(command)}` is in no book of programs"
    yield from _row("class", "ruled: nothing is assumed about it, so no judge allows it without a user's rule")
    yield from _row("rules", "see its words as they are typed")
    yield from _row("reads", FILES_UNKNOWN)
    yield from _row("", "a sensitive path among its words, a redirect or another command of the line makes it worse")


def program_as_lines(page: ProgramPage) -> Iterator[str]:
    """Give a page as lines for people."""
    yield from _row(" ".join((page.name, *page.words)), page.about)
    yield from _row("names", code(page.names))
    for number, (family, meaning) in enumerate(page.families):
        yield from _row("" if number else "families", f"{family}: {meaning}")
    yield from _row("class", f"{page.use.danger} by itself: {page.use.why}")
    for label, rows in (
        ("runs", page.runs),
        ("reads", page.reads),
        ("writes", page.writes),
        ("reaches", page.reaches),
        ("carries", (page.carries,)),
        ("allow", (page.seen_through,)),
        ("dangerous", tuple(f"{_condition(one)}: {one.why} [{one.id}]" for one in page.dangers)),
        ("", tuple(f"with `{word}` alone: mild enough for a user's rule" for word in page.mild)),
        ("looked for", tuple(_looked_for(page.catastrophes))),
    ):
        for number, row in enumerate(one for one in rows if one):
            yield from _row("" if number else label, row)
    yield from _option_lines(page)
    yield from _subcommand_lines(page)


def program_as_json(page: ProgramPage) -> dict[str, Any]:
    """Give a page as a JSON object."""
    return {
        "program": page.name,
        "words": list(page.words),
        "known": True,
        "about": page.about,
        "names": list(page.names),
        "families": dict(page.families),
        "class": str(page.use.danger),
        "why": page.use.why,
        "options": [
            {"takes": one.takes, "staysRoutine": one.is_accepted, "spellings": [list(each) for each in one.options]}
            for one in page.options
        ],
        "subcommands": [
            {
                "names": list(one.names),
                "class": str(one.danger),
                "why": one.why,
                "dangers": [_danger_json(each) for each in one.dangers],
                "below": one.below,
            }
            for one in page.subcommands
        ],
        "runs": list(page.runs),
        "reads": list(page.reads),
        "writes": list(page.writes),
        "reaches": list(page.reaches),
        "carries": page.carries,
        "seenThrough": page.seen_through,
        "dangers": [_danger_json(one) for one in page.dangers],
        "mild": list(page.mild),
        "lookedFor": [_danger_json(one) for one in page.catastrophes],
    }


def unknown_program_json(command: str) -> dict[str, Any]:
    """As `unknown_program_lines`, as a JSON object."""
    return {"program": command, "known": False, "class": str(Danger.RULED), "reads": [FILES_UNKNOWN]}


def _danger_json(note: DangerNote) -> dict[str, Any]:
    return {"id": note.id, "why": note.why, "words": list(note.words), "oneOf": list(note.one_of)}


def _looked_for(notes: Iterable[DangerNote]) -> Iterator[str]:
    for one in notes:
        condition = "" if one.is_always else f"{_condition(one)}: "
        yield f"{condition}{one.why}{f' [{one.id}]' if one.id else ''}"


def _option_lines(page: ProgramPage) -> Iterator[str]:
    for number, group in enumerate(page.options):
        kept = ", staying routine" if group.is_accepted and page.use.danger is Danger.ROUTINE else ""
        names = ", ".join(f"`{'|'.join(each)}`" for each in group.options)
        yield from _row("" if number else "options", f"taking {group.takes}{kept}: {names}")


def _subcommand_lines(page: ProgramPage) -> Iterator[str]:
    """Give the subcommands by class, and those that have the same and no more to say on one line."""
    if not page.subcommands:
        return
    yield from _row("subcommands", "more of one: `fwdperm explain --program 'PROGRAM SUBCOMMAND'`")
    for danger in (Danger.ROUTINE, Danger.DANGEROUS, Danger.RULED):
        label: str = danger.value
        for text in _class_lines(danger, [one for one in page.subcommands if one.danger is danger]):
            yield from _row(f"  {label}" if label else "", text)
            label = ""


def _class_lines(danger: Danger, notes: list[UseNote]) -> Iterator[str]:
    alike: dict[str, list[UseNote]] = {}
    for one in notes:
        why = "" if danger is Danger.RULED else f": {one.why}"
        worse = [f"dangerous {_condition(each)}: {each.why}" for each in one.dangers if not each.is_always]
        if danger is not Danger.DANGEROUS and worse:
            yield "; ".join((f"{_names(one)}{why}", *worse))
        else:
            alike.setdefault(why, []).append(one)
    for why, same in alike.items():
        yield f"{', '.join(_names(one) for one in same)}{why}"


def _names(note: UseNote) -> str:
    below = f" ({note.below} below it)" if note.below else ""
    return f"`{'|'.join(note.names)}`{below}"


def _condition(note: DangerNote) -> str:
    if note.is_always:
        return "always"
    words = f"as `{' '.join(word.replace(' or ', '|') for word in note.words)}`" if note.words else ""
    return " ".join(part for part in (words, f"with {_either(note.one_of)}" if note.one_of else "") if part)


def _either(words: tuple[str, ...]) -> str:
    *first, last = words
    return f"{code(first)} or `{last}`" if first else f"`{last}`"


def _row(label: str, text: str) -> Iterator[str]:
    before = f"{label:<{_LABEL - 1}} " if label else " " * _LABEL
    made = textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=before,
        subsequent_indent=" " * _LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from made or [before.rstrip()]

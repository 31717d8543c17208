"""A program's page of the book, in words: what `fwdperm explain --program` tells of it.

Lives here: `describe_program`, the page as a value, and the wording of options and dangers that the reference page
(`describe.py`) uses too. Pure.
Never here: what is on a page (the book of programs), its lines and JSON (`program_forms.py`), a decision about a
command (`command_line.py`).

A page says what the book knows of a use by itself. The words of a real command decide its class, and may make it worse:
a sensitive path, a redirect, another command of the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.critical import DELETIONS, RECOGNISERS
from fwdperm.programs import FAMILIES, Carries, Files, First, Takes, lookup, read_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fwdperm.programs import Option, Program, Reading, Use, UsePattern, Wrapping

_RUNS: Final = frozenset(
    {Takes.PROGRAM, Takes.SHELL, Takes.COMMAND, Takes.CODE, Takes.SETTING, Takes.VARIABLE, Takes.SCRIPT}
)
_READS: Final = frozenset({Takes.INPUT, Takes.READ, Takes.TREE})
_WRITES: Final = frozenset({Takes.OUTPUT, Takes.ARCHIVE, Takes.WRITE, Takes.NEW})
_REACHES: Final = frozenset({Takes.HOST, Takes.SECRET})

FILES_UNKNOWN: Final = "nobody wrote down what it opens: every word that looks like a path is taken for a file it reads"
_FILES_READ: Final = {
    Files.UNKNOWN: FILES_UNKNOWN,
    Files.READ: "the files that its words name",
    Files.CHANGE: "the files that its words name",
    Files.WRITE_LAST: "the files that its words name, but for the last",
    Files.READ_THEN_WRITE: "the file that its first word names",
    Files.MOVE: "the files that its words name, but for the last, and takes them away",
    Files.OF: "the file behind `if=`",
}
_FILES_WRITTEN: Final = {
    Files.WRITE: "the files that its words name",
    Files.CHANGE: "it may change the files that its words name",
    Files.WRITE_LAST: "the file that its last word names",
    Files.READ_THEN_WRITE: "the file that its second word names",
    Files.MOVE: "the file or directory that its last word names",
    Files.OF: "the file behind `of=`",
}
_FIRST_RUN: Final = {
    First.SCRIPT: "the file that its first word names",
    First.CODE: "code in its own language, as its first word",
    First.SED: "a script of sed's as its first word, which can run commands and write files",
    First.AWK: "a program of awk's as its first word, which can run commands and write files",
}
_CARRIES: Final = {
    Carries.WORDS: "the words behind its own options and operands are the command",
    Carries.JOINED: "the words behind its own options are joined by blanks, and a shell reads them",
    Carries.CODE: "a shell reads the value of its option for code",
    Carries.EACH: "a shell reads each word behind its options",
    Carries.EVAL: "this shell reads all its words, joined by blanks",
    Carries.SHELL: "it is a shell: it runs the code behind `-c`, else a script, else its standard input",
    Carries.FIND: "the command stands between an action such as `-exec` and `;` or `+`",
    Carries.FD: "the command stands behind `-x` or `-X`",
    Carries.CONTAINER: "the command stands behind a subcommand, its options and the container or image",
    Carries.KUBECTL: "the command stands behind `exec`, what it runs in, and `--`",
    Carries.TRAP: "this shell reads the first operand when a signal comes",
    Carries.ALIAS: "this shell reads the value of each assignment when the name is used",
}


# -- wording that pages share ----------------------------------------------------------------------------------


def options_of(use: Use, *, is_accepted: bool) -> list[Option]:
    """Give a use's options, each once: those with which a routine use stays routine, or the others."""
    made = {id(option): option for option in use.options.values()}
    return [option for option in made.values() if option.is_accepted is is_accepted]


def condition_of(pattern: UsePattern) -> list[str]:
    """Give the words that make a use a dangerous one: subcommands in order, then options and operands, one needed."""
    return [*_subcommands_of(pattern), *_one_of(pattern)]


def _subcommands_of(pattern: UsePattern) -> list[str]:
    return [" or ".join(sorted(each)) for each in pattern.words]


def _one_of(pattern: UsePattern) -> list[str]:
    return [*sorted(pattern.options), *sorted(pattern.operands)]


def catastrophe_id(name: str) -> str:
    """Give an entry's id as it stands in the journal: what a person may want is dangerous, not critical."""
    return measured(Assessment(Danger.CRITICAL, name, "")).id


def code(words: Iterable[str]) -> str:
    """Give words as a list, each marked as typed text."""
    return ", ".join(f"`{word}`" for word in words)


# -- the page as a value ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options of one use that take the same.

    Attributes:
        takes: What their value is, in words; `nothing` for none.
        is_accepted: True when a routine use stays routine with them.
        options: Each with all its spellings.
    """

    takes: str
    is_accepted: bool
    options: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class DangerNote:
    """One way in which a use is dangerous.

    Attributes:
        id: Id for the journal, with its class.
        why: The reason.
        words: Subcommands that make it so, in order, each with its alternatives.
        one_of: Options and operands of which one is needed. Neither of both: always.
    """

    id: str
    why: str
    words: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()

    @property
    def is_always(self) -> bool:
        """Whether the use is dangerous however it is used."""
        return not self.words and not self.one_of


@dataclass(frozen=True, slots=True)
class UseNote:
    """One use of a program: its class by itself, and what makes it worse.

    Attributes:
        names: The subcommand's names, the canonical one first; empty for the program itself.
        danger: Routine, ruled or dangerous.
        why: Why it has its class.
        dangers: What makes it dangerous, or makes it so always.
        below: How many subcommands of its own it has.
    """

    names: tuple[str, ...]
    danger: Danger
    why: str
    dangers: tuple[DangerNote, ...] = ()
    below: int = 0


@dataclass(frozen=True, slots=True)
class ProgramPage:
    """What the book says of a program, or of one of its subcommands.

    Attributes:
        name: The program's canonical name.
        words: The subcommand's words; empty for the program itself.
        about: What the program is.
        names: All its names.
        families: The families a program belongs to, with what that means.
        use: The class of this use by itself.
        options: Its options, grouped by what they take.
        subcommands: Its subcommands, one level down.
        runs: What it runs beside a command it carries.
        reads: What it reads.
        writes: What it writes.
        reaches: Which other machines or secrets its words name.
        carries: How its words hold a command that it runs; empty when they hold none.
        seen_through: How a rule that allows sees the command it carries.
        dangers: Every use that only a person may allow.
        mild: Words with which, alone, its danger is mild enough for a user's rule.
        catastrophes: What the guard looks for beyond, with the class it has then.
    """

    name: str
    words: tuple[str, ...]
    about: str
    names: tuple[str, ...]
    families: tuple[tuple[str, str], ...]
    use: UseNote
    options: tuple[OptionGroup, ...]
    subcommands: tuple[UseNote, ...]
    runs: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    reaches: tuple[str, ...]
    carries: str
    seen_through: str
    dangers: tuple[DangerNote, ...]
    mild: tuple[str, ...]
    catastrophes: tuple[DangerNote, ...]


def describe_program(command: str) -> ProgramPage | None:
    """Describe a program, or one of its subcommands.

    Args:
        command: The program as somebody would type it, with the words of a subcommand behind it or not.

    Returns:
        Its page; None where the book has none for all of these words.
    """
    words = command.split()
    program = lookup(words[0]) if words else None
    if program is None:
        return None
    reading = read_use(program, words)
    return _page(program, reading) if len(reading.uses) == len(words) else None


def _page(program: Program, reading: Reading) -> ProgramPage:
    use = reading.use
    path = _path(reading)
    subs = {id(sub): [name for name, one in use.subs.items() if one is sub] for sub in use.subs.values()}
    by_id = {id(sub): sub for sub in use.subs.values()}
    variables = () if use.words else (f"other code, where one of these variables is set: {code(program.variables)}",)
    return ProgramPage(
        name=program.name,
        words=use.words,
        about=program.about,
        names=(program.name, *program.aliases, *program.local),
        families=() if use.words else tuple((family, FAMILIES[family]) for family in sorted(program.families)),
        use=_use_note(program, use, path),
        options=_groups(use),
        subcommands=tuple(_use_note(program, by_id[at], (*path, frozenset(names))) for at, names in subs.items()),
        runs=(*_runs(use), *(variables if program.variables else ())),
        reads=(*_said(_FILES_READ.get(use.files)), *_searches(use), *_by_options(use, _READS)),
        writes=(*_said(_FILES_WRITTEN.get(use.files)), *_by_options(use, _WRITES)),
        reaches=tuple(_by_options(use, _REACHES)),
        carries=_carries(use.wrapping),
        seen_through=_seen_through(use.wrapping),
        dangers=tuple(_dangers(program, path)),
        mild=tuple(sorted(program.mild if not path else program.mild & path[-1])),
        catastrophes=tuple(_catastrophes(program)) if not use.words else (),
    )


def _path(reading: Reading) -> tuple[frozenset[str], ...]:
    """Give every name of each subcommand that leads to a use, outermost first."""
    return tuple(
        frozenset(name for name, one in outer.subs.items() if one is inner)
        for outer, inner in zip(reading.uses, reading.uses[1:], strict=False)
    )


def _use_note(program: Program, use: Use, path: tuple[frozenset[str], ...]) -> UseNote:
    names = tuple(sorted(path[-1], key=lambda name: (name != use.words[-1], name))) if path else ()
    found = tuple(_dangers(program, path, only_here=bool(path)))
    always = next((one for one in found if one.is_always), None)
    below = len({id(sub) for sub in use.subs.values()})
    if use.routine and use.words:  # recognised in full it is routine, whatever the program is else
        return UseNote(names, Danger.ROUTINE, use.why, found, below)
    if always is not None:
        return UseNote(names, Danger.DANGEROUS, always.why, found, below)
    if use.routine:
        return UseNote(names, Danger.ROUTINE, use.why, found, below)
    return UseNote(names, Danger.RULED, "a rule of the user's or a person must allow it", found, below)


def _dangers(program: Program, path: tuple[frozenset[str], ...], *, only_here: bool = False) -> Iterator[DangerNote]:
    """Give the dangers that a use can be, each with the words that are still missing to make it one.

    A danger's words are looked for in order, as the guard does, so one may begin at an inner subcommand.

    Args:
        program: The program.
        path: The subcommand's words, each with all its names.
        only_here: Leave out what would be as dangerous for the program or for the subcommand's sisters.
    """
    for pattern in program.dangers:
        said, named_here = 0, False
        for names in path:
            named_here = said < len(pattern.words) and not names.isdisjoint(pattern.words[said])
            said += named_here
        note = DangerNote(
            f"dangerous.{pattern.id}", pattern.why, tuple(_subcommands_of(pattern)[said:]), tuple(_one_of(pattern))
        )
        applies = said > 0 or not path or not pattern.words
        if applies and (not only_here or named_here or note.is_always):
            yield note


def _catastrophes(program: Program) -> Iterator[DangerNote]:
    for name in program.catastrophes:
        entry = RECOGNISERS[name]
        yield DangerNote(catastrophe_id(entry.id), entry.reason)
    for pattern in program.deletions:
        found = catastrophe_id(f"critical.{pattern.id}")
        yield DangerNote(found, DELETIONS[pattern.id], tuple(_subcommands_of(pattern)), tuple(_one_of(pattern)))
    for pattern in program.secrets:
        why = "shows a secret: what sends it on in the same line is worse"
        yield DangerNote("", why, tuple(_subcommands_of(pattern)), tuple(_one_of(pattern)))


def _groups(use: Use) -> tuple[OptionGroup, ...]:
    made = []
    for is_accepted in (True, False):
        by_kind: dict[Takes, list[tuple[str, ...]]] = {}
        for option in options_of(use, is_accepted=is_accepted):
            by_kind.setdefault(option.takes, []).append(option.spellings)
        made += [OptionGroup(kind.value, is_accepted, tuple(found)) for kind, found in by_kind.items()]
    return tuple(made)


def _runs(use: Use) -> Iterator[str]:
    yield from _said(_FIRST_RUN.get(use.first))
    yield from _by_options(use, _RUNS)
    if use.runs_project:
        yield "the project's own code"


def _searches(use: Use) -> Iterator[str]:
    if use.searches_below:
        yield "whole directories, leaving ignored and hidden files alone"


def _by_options(use: Use, kinds: frozenset[Takes]) -> Iterator[str]:
    by_kind: dict[Takes, list[str]] = {}
    for option in (*options_of(use, is_accepted=True), *options_of(use, is_accepted=False)):
        if option.takes in kinds:
            by_kind.setdefault(option.takes, []).append(option.name)
    return (f"{kind.value}, behind {code(names)}" for kind, names in by_kind.items())


def _carries(wrapping: Wrapping | None) -> str:
    if wrapping is None:
        return ""
    parts = [_CARRIES.get(wrapping.style, "")]
    if wrapping.assigns:
        parts.append("variables may be set before it")
    if wrapping.remote:
        parts.append("it runs on another machine or in a container")
    if wrapping.appends:
        parts.append("words that it reads later are put behind those of the command")
    if wrapping.idle:
        parts.append(f"nothing runs with {code(sorted(wrapping.idle))}")
    if wrapping.shells:
        parts.append(f"with {code(sorted(wrapping.shells))} and no command it starts a shell")
    if wrapping.alone:
        parts.append(f"without a command it cannot be known what runs: {wrapping.alone}")
    return "; ".join(part for part in parts if part)


def _seen_through(wrapping: Wrapping | None) -> str:
    if wrapping is None:
        return ""
    if wrapping.transparent:
        return f"a rule that allows the command allows it behind this, too: {wrapping.transparent}"
    if wrapping.is_runner:
        return "a rule that allows this runner is meant for the tool it runs, too; one for the tool alone is not enough"
    return "a rule that allows the command does not allow it behind this; one that asks or denies sees both"


def _said(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()

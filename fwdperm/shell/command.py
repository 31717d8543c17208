"""What a command line would run, as values.

Lives here: `Word`, `Redirect`, `Command`, `CommandLine`. Never here: how they are found (`walk.py`), what they mean for
a rule (`units/`) or for safety (`guard/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stands(StrEnum):
    """Where in the line a command stands."""

    TOP = "command"
    SUBSTITUTION = "substitution"
    SUBSHELL = "subshell"
    FUNCTION = "function"
    CONTROL = "control flow"
    WRAPPER = "wrapper"
    HEREDOC = "here-document"
    OPTION = "option"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    Attributes:
        raw: As typed, with its quotes.
        text: After quote removal. Where an expansion's value is not known its source text stands in its place.
        known: False when `text` holds an expansion (`$X`, `$(...)`, `<(...)`, brace or arithmetic expansion).
        quoted: True when any part was quoted or escaped.
        glob: True when it holds an unquoted `*`, `?` or `[`.
    """

    raw: str
    text: str
    known: bool = True
    quoted: bool = False
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection of a command.

    Attributes:
        operator: `>`, `>>`, `>|`, `&>`, `&>>`, `<`, `<>`, `<<`, `<<<`, `>&`, `<&`.
        target: The file, descriptor or here-document's text.
        writes: True when it opens a real file for writing (not `/dev/null`, not a descriptor).
        reads: True when it opens a real file for reading.
    """

    operator: str
    target: Word
    writes: bool = False
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command that would run.

    Attributes:
        words: The program first. Empty for a bare assignment or a bare redirection.
        raw: Its own source text, without redirections and here-documents.
        prefixes: Variable assignments before it, as (name, value word).
        redirects: Its redirections.
        stands: Where it was found.
        carrier: Index in the line of the command that runs it (wrapper) or whose argument contains it; -1 for none.
        wrapped_by: For a wrapped command the wrapper's name (`sudo`, `xargs`, `sh -c`, ...); empty otherwise.
        fed_by: Index of the command whose output is its standard input through a pipe; -1 for none.
        cwd: Where it would run when a literal `cd` before it changed that: relative to the requester's, or absolute;
            empty for the requester's own; `?` when it cannot be known.
        remote: True when it would run on another machine or in a container.
        opaque: Why what it runs cannot be known, in words; empty when it is known.
        consented: True when a rule that allows its carrier is meant for it, too: a tool behind the project's runner.
        filled: True when its wrapper puts operands into it that are not known before it runs (`xargs`, `find -exec`).
        harmless: True for a wrapper that changes nothing about what the wrapped command does: an allow may look
            through it.
    """

    words: tuple[Word, ...]
    raw: str
    prefixes: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stands: Stands = Stands.TOP
    carrier: int = -1
    wrapped_by: str = ""
    fed_by: int = -1
    cwd: str = ""
    remote: bool = False
    opaque: str = ""
    harmless: bool = False
    consented: bool = False
    filled: bool = False

    @property
    def program(self) -> str:
        """The program's word after quote removal, as typed otherwise; empty for a bare assignment."""
        return self.words[0].text if self.words else ""

    @property
    def base(self) -> str:
        """The program's name without its directory."""
        return self.program.rpartition("/")[2]

    @property
    def argv(self) -> tuple[str, ...]:
        """All words after quote removal."""
        return tuple(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A whole command line.

    Attributes:
        commands: Every simple command that would run, in source order; a wrapper before what it wraps.
        opaque: Why the line as a whole cannot be understood (syntax error, NUL byte, too long); empty when it can.
        cut_short: True when reading ended before the line did: what was not read may be anything; nothing allows it.
        functions: Names of functions it defines.
        loops: What `for` sets, as (name, word), once for each word; an unknown one stands for
            those left out, too.
        unread: Texts in it that could not be understood, the whole line or code that it carries.
    """

    commands: tuple[Command, ...]
    opaque: str = ""
    functions: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    loops: tuple[tuple[str, Word], ...] = ()
    cut_short: bool = False

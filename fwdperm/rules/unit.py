"""A unit: one thing that must be permitted before a request may be.

Lives here: the value that `units/` makes, `rules/` matches, `guard/` classes and `decision/evaluation.py` looks at.
Never here: how a command line or a path becomes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fwdperm.programs import CommandUse


@dataclass(frozen=True, slots=True)
class Unit:
    """One (surface, spellings) pair that must be permitted.

    Attributes:
        surface: What kind of thing is accessed: `bash`, `read`, `write`, `path_read`, `mcp`, ...
        spellings: Names of the same thing that a rule of any action may match. The first is the one shown.
        strict_spellings: Further names that only `ask` and `deny` rules may match: the program without its path,
            a path before `..` was resolved, a command without its variable prefixes. Allow sees less than deny.
        auxiliary: True for a unit that speaks only when a rule matches it (path operands, outside directories).
        opaque: Why it cannot be known what would really happen, in words; empty when it is known. An opaque unit
            is allowed only by a rule whose pattern is a bare `*`. An auxiliary unit that is opaque asks even where no
            rule speaks: what it names cannot be told.
        unread: True when more stands in it than was read: whatever rule allows it, it asks, for a deny may be meant.
        stands: Where it was found, for people: `command`, `substitution`, `wrapper`, `redirect`, `operand`,
            `canonical`, ...
        carrier: Index in the same breakdown of the unit that runs or contains this one; -1 for none.
        program: The program's word when this unit is a command, for asking whether a carrier's rule names it.
        remote: True for a command that runs on another machine or in a container (`ssh`, `docker exec`): a
            catch-all `ask` of the local ruleset does not speak of it.
        aside: True where neither a catch-all rule (a bare `*`) nor a default speaks of it: a harmless wrapper, whose
            wrapped command is a unit of its own and says it all. Rules that name it do.
        glob: True when the spellings hold a glob that the shell would expand: an `ask` or `deny` rule speaks when any
            name that the glob may expand to would match (`rules/globs.py`).
        searched: True when the spellings are globs that a search tool reads files by: there `**` crosses directories.
            An `ask` or `deny` rule that some of those files may match asks, a `deny` a person alone; one that covers
            all of them speaks as it stands.
        folds_case: True when its file system ignores letter case: `ask` and `deny` then match case-folded texts too.
        consented: True when a rule that allows its carrier is meant for it, too (`eslint` behind `npx`).
        possible: What is known of it where a part is not: pieces of text in order, between two of which anything may
            stand; one entry for each spelling. An `ask` or `deny` that covers some such text asks, a `deny` a person
            alone: what cannot be checked is not permitted.
        mentions: Text in it that nobody here can read (code, options nobody knows): a deny whose program, command or
            path is named there asks a person.
        named: Files of it that are copied, linked or run: a deny of a program by that name asks a person.
        uses: The command as its program reads it: an `ask` or `deny` that is about such a use speaks, however the
            command is written.
        suspected: Commands that words which nobody here can explain may run: an `ask` or `deny` of one asks a person.
        is_joined: True when a spelling may be a name, a blank and what an agent made up (a tool and its input). An
            allow speaks of the two apart: its words before the first blank of the name, the rest of the input.
        command: Index into the parsed line's commands, for the guard; -1 for none.
    """

    surface: str
    spellings: tuple[str, ...]
    strict_spellings: tuple[str, ...] = ()
    auxiliary: bool = False
    opaque: str = ""
    stands: str = "request"
    carrier: int = -1
    program: str = ""
    remote: bool = False
    aside: bool = False
    glob: bool = False
    searched: bool = False
    folds_case: bool = False
    command: int = -1
    consented: bool = False
    unread: bool = False
    possible: tuple[tuple[str, ...], ...] = ()
    mentions: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    uses: tuple[CommandUse, ...] = ()
    suspected: tuple[Unit, ...] = ()
    is_joined: bool = False

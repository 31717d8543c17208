"""What the book says of a program: names, options, subcommands, what they run, read and write, what is dangerous.

Lives here: `Program`, `Use`, `Option`, `UsePattern`, and the words the pages are written in. Values only. Pure.
Never here: finding a page (`folding.py`), reading a command by it (`invocation.py`), the pages' own text (`pages.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Takes(StrEnum):
    """What the value of an option, or an operand, is.

    The first group is what the guard can hold a word against: a routine use takes nothing else. The second says what a
    value does, so that commands, files and hosts in it are seen; a use with one of them is not routine by itself.
    """

    NOTHING = "nothing"
    TEXT = "any text"
    PATTERN = "a pattern to search for"
    PROSE = "prose, such as a message or a title"
    NUMBER = "a number"
    WORD = "a plain word"
    READ = "a readable path in the workspace"
    NAME = "a path in the workspace, looked at by name only"
    TREE = "a directory of the workspace that is read through"
    WRITE = "a directory or ordinary file in the workspace"
    NEW = "a directory of the workspace that it makes"
    GOES = "a directory of the workspace that it goes to"
    REVISION = "a revision or a readable path"
    PATTERN_THEN_READ = "a pattern, then readable paths"
    PATTERN_THEN_TREE = "a pattern, then paths that may be read through"
    PATTERN_THEN_REVISION = "a pattern, then revisions or readable paths"
    MAYBE_PATTERN_THEN_READ = "a pattern, or nothing; then readable paths"
    SCRIPT = "the name of a checking script"
    CHOICE = "one of these words"
    PACKAGE = "a Go package or file of the workspace"
    BUILD = "a directory named like a build's"
    ENVIRONMENT = "the name of a checking environment"
    BRANCH = "the name of a branch or of a remote"
    LOCAL = "an address of this machine"
    GLOB = "a pattern of sources or documents by their ending, or of what to leave out"
    KEY = "a plain name, which sets nothing"
    FORMAT = "a format behind a plus sign"
    DOCUMENT = "a document or picture of the workspace that runs nothing"
    MEDIA = "a picture, a sound or a film of the workspace"
    ARCHIVE = "an archive of the workspace by its ending"
    ARCHIVE_THEN_PARTS = "an archive, then files and directories that go into it"
    PARTS = "files and directories of the workspace that are packed or counted, and not shown"

    INPUT = "a file it reads"
    OUTPUT = "a file or directory it writes"
    CHDIR = "the directory it works in"
    SETTING = "a setting, which may name a program"
    VARIABLE = "a variable of the environment, as NAME=VALUE"
    PROGRAM = "a program it runs"
    SHELL = "text that a shell runs"
    COMMAND = "a program it runs, with all words behind it"
    CODE = "code in its own language"
    WORDS = "text that is split into words of its own"
    MARK = "a string that is replaced in the command it runs"
    HOST = "another machine, or an address"
    SECRET = "a secret"  # noqa: S105 - the name of a kind


class Carries(StrEnum):
    """How a program's own words hold the command it runs."""

    NOTHING = "nothing"
    """It runs no command that its words give."""
    WORDS = "words"
    """The words after the options and operands."""
    JOINED = "joined"
    """The same words, joined by blanks and read by a shell."""
    CODE = "code"
    """The value of an option (`-c`), read by a shell."""
    EACH = "each"
    """Each word after the options, read by a shell."""
    EVAL = "eval"
    """All words, joined by blanks and read by this shell."""
    SHELL = "shell"
    """A shell: code after `-c`, else a script, else its standard input."""
    FIND = "find"
    """Between an action's name and `;` or `+`."""
    FD = "fd"
    """After `-x`, `-X` or their long forms, up to `;`."""
    CONTAINER = "container"
    """After a subcommand with options and operands of its own."""
    KUBECTL = "kubectl"
    """After `exec` ... `--`."""
    TRAP = "trap"
    """The first operand, read by this shell when a signal comes."""
    ALIAS = "alias"
    """The value of each assignment, read by this shell when the name is used."""


class Files(StrEnum):
    """What a program does with plain operands that name files."""

    UNKNOWN = "unknown"
    """Nobody wrote it down: a word that looks like a path is taken for a file it reads."""
    NONE = "none"
    """It opens none of them."""
    TEXT = "text"
    """They are text; one that looks like a path is looked at all the same."""
    READ = "read"
    WRITE = "write"
    CHANGE = "change"
    """It reads them and may change them."""
    WRITE_LAST = "write last"
    """It reads all but the last, and writes that."""
    READ_THEN_WRITE = "read then write"
    """It reads the first, and writes the second."""
    MOVE = "move"
    """It takes all but the last away, and writes that."""
    OF = "of"
    """It reads what `if=` names, and writes what `of=` names."""


class First(StrEnum):
    """What the first plain operand of a use is, unless an option gave it."""

    FILE = "file"
    """An operand like the others."""
    SCRIPT = "script"
    """A file that it runs."""
    PATTERN = "pattern"
    """What it searches for."""
    CODE = "code"
    """Code in its own language."""
    SED = "sed"
    """A script of sed's."""
    AWK = "awk"
    """A program of awk's."""
    JQ = "jq"
    """A filter of jq's."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option in all its spellings.

    Attributes:
        spellings: Each with its dashes, as typed; the first is the canonical one. A word without a dash is possible
            (`find`'s `(`).
        takes: What its value is; `Takes.NOTHING` for none.
        is_attached: True when a value only counts in the same word (`--color=auto`, `-i{}`): the next word is not it.
        is_accepted: True when a routine use stays routine with it. False for an option that is only known.
    """

    spellings: tuple[str, ...]
    takes: Takes = Takes.NOTHING
    is_attached: bool = False
    is_accepted: bool = True

    @property
    def name(self) -> str:
        """The canonical spelling."""
        return self.spellings[0]


@dataclass(frozen=True, slots=True)
class UsePattern:
    """A dangerous use of a program, named by its subcommand, an option, or a word.

    Attributes:
        id: Stable id for the journal, without its class.
        why: The reason, in words.
        words: Subcommand words in order, each with its alternatives; empty for the program however it is used.
        options: Options that make it one.
        operands: Words among its operands that make it one. Where neither has anything, the subcommand alone does;
            else one of either is needed.
    """

    id: str
    why: str
    words: tuple[frozenset[str], ...] = ()
    options: frozenset[str] = frozenset()
    operands: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Wrapping:
    """How the words of a use carry a command. The options that stand before the command are the use's own.

    Attributes:
        style: How the command is written.
        operands: Words of its own before the command.
        assigns: True when `NAME=value` words may stand before the command.
        digits: True when `-5` is an option.
        idle: Options with which nothing is run (`command -v`).
        shells: Options with which, and no command, it starts a shell (`sudo -i`).
        remote: True when it runs on another machine or in a container.
        alone: Why it cannot be known what runs when no command follows; empty when nothing runs then.
        transparent: Why an allow may look through it, in words; empty when it may not.
        is_plain: True when it is as routine as the command it carries: it leaves nothing running and writes nothing.
        is_runner: True when people take it and the tool it runs for one command (`npx eslint`): a rule that allows it
            is meant for the tool, too.
        appends: True when words that it reads later are put behind those of the command.
        passes_input: True when the one command it runs reads its standard input.
        keeps_name: True when the subcommand's own word is the program that it runs (`k3s kubectl get pods`).
    """

    style: Carries = Carries.NOTHING
    operands: int = 0
    assigns: bool = False
    digits: bool = False
    idle: frozenset[str] = frozenset()
    shells: frozenset[str] = frozenset()
    remote: bool = False
    alone: str = ""
    transparent: str = ""
    is_plain: bool = False
    is_runner: bool = False
    appends: bool = False
    passes_input: bool = False
    keeps_name: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a program: the program itself, or one of its subcommands.

    Attributes:
        words: The subcommand's words; empty for the program itself.
        routine: Id of the routine use without `routine.`; empty when it is none.
        why: Why it is routine, in words.
        operands: What its operands may be for it to stay routine.
        options: Its options by each of their spellings. Those of the program itself stand before the subcommand.
        subs: Its subcommands by each of their names. An option may lead one (`python -m`).
        needs: A routine use has at least this many operands.
        most: A routine use has at most this many operands, where they are limited at all: what a further one would be
            is something else (`uniq IN OUT`).
        choices: What operands may be where they are `Takes.CHOICE`.
        requires: A routine use has one of these options.
        runs_project: True when it runs the project's own code; routine only where the operator lets it.
        numbers: True when `-20` is accepted.
        dash_is_word: True when a single dash starts a whole word (`-name`), not a cluster of letters.
        anywhere: True when its options may also stand behind a subcommand of it.
        wrapping: How its words carry a command; None for a use that carries none.
        files: What it does with plain operands that name files.
        first: What its first plain operand is: see `First`.
        searches_below: True when it searches directories by itself, leaving ignored and hidden files alone.
        unknown_is_text: True when a word with a dash that is no option of it is text like any other (`echo`).
    """

    words: tuple[str, ...] = ()
    routine: str = ""
    why: str = ""
    operands: Takes = Takes.NOTHING
    options: dict[str, Option] = field(default_factory=dict, hash=False)
    subs: Mapping[str, Use] = field(default_factory=dict, hash=False)
    needs: int = 0
    most: int = 0
    choices: frozenset[str] = frozenset()
    requires: frozenset[str] = frozenset()
    runs_project: bool = False
    numbers: bool = False
    dash_is_word: bool = False
    anywhere: bool = False
    wrapping: Wrapping | None = None
    files: Files = Files.UNKNOWN
    first: First = First.FILE
    searches_below: bool = False
    unknown_is_text: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """One page of the book.

    Attributes:
        name: The canonical name.
        about: What it is, in a few words.
        aliases: Its other names.
        families: What kinds of program it is (`shell`, `sender`, `database client`, ...); see `families.py`.
        use: The program itself, with its subcommands.
        dangers: Uses that only a person may allow, in the order in which they are looked for.
        deletions: Uses that delete something elsewhere for good, with the options that leave out the question.
        secrets: Uses that show a stored secret.
        catastrophes: Names of the guard's recognisers that look at it.
        keeps: First words of a command -> how many words a suggested rule keeps; the rest are arguments.
        local: Paths by which a project carries its own copy along.
        is_module: True when `python -m` runs it.
        runs_tools: First words behind which another tool of the project stands (`run` of `uv run pytest`); `*` where
            the tool itself is the first word (`npx eslint`).
        mild: All the words with which its danger is mild enough for a user's rule (`ci` of npm: locked dependencies;
            `install -e .` of pip: what the project itself names).
        shows_version: True when a lone `--version` is routine.
        bundles: True when its first word may be options without a dash (`tar czf`).
        running_settings: Names of settings whose value it runs, in small letters; `*` stands for any part.
        variables: Variables of the environment by which it runs other code.
    """

    name: str
    about: str = ""
    aliases: tuple[str, ...] = ()
    families: frozenset[str] = frozenset()
    use: Use = field(default_factory=Use)
    dangers: tuple[UsePattern, ...] = ()
    deletions: tuple[UsePattern, ...] = ()
    secrets: tuple[UsePattern, ...] = ()
    catastrophes: tuple[str, ...] = ()
    keeps: dict[tuple[str, ...], int] = field(default_factory=dict, hash=False)
    local: tuple[str, ...] = ()
    is_module: bool = False
    runs_tools: tuple[str, ...] = ()
    mild: frozenset[str] = frozenset()
    shows_version: bool = False
    running_settings: tuple[str, ...] = ()
    bundles: bool = False
    variables: tuple[str, ...] = ()

"""Recording what the walk finds: commands, and what they carry.

Lives here: `Recorder`, the half of the walk that knows commands but no nodes' kinds. Never here: which node is what
(`walk.py`), options of wrappers (`unwrap.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from fwdperm.programs import changes_what_runs
from fwdperm.settings import LINE_COMMANDS, LINE_DEPTH, LINE_STEPS, VALUE_CHARS
from fwdperm.shell.command import Command, Redirect, Stands, Word
from fwdperm.shell.evaluated import EVALUATORS, evaluated_code, prompt_code
from fwdperm.shell.grammar import SYNTAX, TOO_DEEP, TOO_MANY, parse_code
from fwdperm.shell.inner_command import UNKNOWN_CODE, InnerCommand, Unwrapped
from fwdperm.shell.place import SAME_SHELL, ShellProcess, WalkPosition, change_directory, joined
from fwdperm.shell.redirects import EMPTY_TAIL, NOTHING_FOUND, Heredoc, RedirectContents, Tail, read_tail
from fwdperm.shell.source import substitutions, unseen
from fwdperm.shell.unwrap import unwrap, why_filled
from fwdperm.shell.words import hides_code, read_word
from fwdperm.shell.wrapper_options import ASSIGNMENT
from fwdperm.shell.wrappers import CLOSING, RESERVED, RESERVED_HEADS, STDIN, TEARING, passes_input_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

_RESERVING: Final = TEARING | {""}
"""What a reserved word may stand behind; behind other wrappers it is a program's name."""
_WRAPPED_WORDS: Final = 16 * 1024
"""Words of wrapped commands in one line altogether: each wrapper's words hold those of all it wraps."""
_CODE_CHARS: Final = 4 * VALUE_CHARS
"""Characters of inner code that are read in one line altogether."""
_TOO_LONG: Final = "it has too many words to read"
_LEAST_WORDS: Final = 16
"""Words of a command that are read even when it is the last one read: its program and the first of its operands."""
_UNKNOWN_PROGRAM: Final = "the program it runs is not known"
_HIDES_CODE: Final = "a continued line in it may hide what it runs"
_CATS: Final = frozenset({("cat",), ("cat", "-"), ("/bin/cat",), ("/usr/bin/cat",)})


class Recorder(ABC):
    """The commands of one line, and the stack of what is still to be visited."""

    __slots__ = (
        "code_left",
        "codes",
        "commands",
        "cut_short",
        "heredocs",
        "loops",
        "opaque",
        "stack",
        "steps_left",
        "unread",
        "words_left",
    )

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.codes: list[str] = []
        self.heredocs: dict[int, Heredoc] = {}
        self.stack: list[tuple[Callable[..., None], object, WalkPosition]] = []
        self.loops: list[tuple[str, Word]] = []
        self.opaque = ""
        self.unread: list[str] = []
        self.code_left = _CODE_CHARS
        self.words_left = _WRAPPED_WORDS
        self.steps_left = LINE_STEPS
        self.cut_short = False

    @abstractmethod
    def visit(self, node: Node, place: WalkPosition) -> None:
        """Visit one node."""

    def run(self) -> None:
        """Visit until nothing is left."""
        stack = self.stack
        while stack:
            step, what, place = stack.pop()
            self.steps_left -= 1
            if self.steps_left < 0:
                self.steps_left = 0
                self.give_up(_TOO_LONG)
                return
            step(what, place)

    def push_code(self, text: str, place: WalkPosition) -> None:
        """Parse a text and put what was understood of it on the stack."""
        trees = parse_code(text)
        if trees.opaque:
            self.opaque = self.opaque or trees.opaque
            self.cut_short = self.cut_short or trees.cut_short
            self.unread.append(text)
        self.later([(self.visit, root, place._replace(source=source)) for root, source in trees.roots])

    @property
    def most_words(self) -> int:
        """How many words of the next command are read."""
        return max(self.steps_left, _LEAST_WORDS)

    def give_up(self, why: str) -> None:
        """Read no further: what is left may be anything, so that nothing allows the line."""
        self.opaque, self.cut_short = self.opaque or why, True
        self.stack.clear()

    def later(self, steps: Sequence[tuple[Callable[..., None], object, WalkPosition]]) -> None:
        """Visit these next, in this order."""
        self.stack.extend(reversed(steps))

    def deeper(self, place: WalkPosition, *, stands: Stands) -> WalkPosition | None:
        """Give the place one level down; None, and an opaque line, when that is too deep."""
        if place.depth >= LINE_DEPTH:
            self.opaque, self.cut_short = self.opaque or TOO_DEEP, True
            return None
        return place._replace(depth=place.depth + 1, stands=stands)

    def embedded(self, codes: Sequence[str], place: WalkPosition) -> None:
        """Parse code that the grammar left as text."""
        inner = place._replace(stands=Stands.SUBSTITUTION, tail=EMPTY_TAIL, wrapped_by="", consented=False)
        self.later([(self.code, InnerCommand(code=code), inner) for code in codes])

    def descend(self, nodes: Sequence[Node], place: WalkPosition, index: int) -> None:
        """Visit the substitutions in the words of the command at `index`."""
        steps: list[tuple[Callable[..., None], object, WalkPosition]] = []
        inner = place._replace(carrier=index, tail=EMPTY_TAIL, wrapped_by="", mark="", appended=False, consented=False)
        for node in nodes:
            seen = substitutions(node, place.source)
            for found in (*seen, *unseen(node, place.source, seen, heredoc=node.type == "heredoc_body")):
                if isinstance(found, str):
                    steps.append((self.code, InnerCommand(code=found), inner._replace(stands=Stands.SUBSTITUTION)))
                else:
                    steps.append((self.visit, found, inner))
        self.later(steps)

    def words(self, what: object, place: WalkPosition) -> None:
        """Record a command that a wrapper gives as words."""
        words: tuple[Word, ...] = what  # type: ignore[assignment]
        self.words_left -= len(words)
        if self.words_left < 0:
            self.give_up(TOO_DEEP)
            return
        self.record(words, (), place, raw=" ".join([word.raw for word in words]))

    def code(self, what: object, place: WalkPosition) -> None:
        """Parse code that a wrapper or a substitution gives as text."""
        carried: InnerCommand = what  # type: ignore[assignment]
        self.code_left -= len(carried.code)
        deeper = self.deeper(place, stands=place.stands)
        if self.code_left < 0:
            self.give_up(TOO_DEEP)
        if self.code_left < 0 or deeper is None:
            return
        self.codes.append(carried.code)
        self.push_code(carried.code, deeper)

    def record(
        self,
        words: tuple[Word, ...],
        prefixes: tuple[tuple[str, Word], ...],
        place: WalkPosition,
        *,
        raw: str,
        tail: Tail = EMPTY_TAIL,
    ) -> int:
        """Append one command, and put what it wraps on the stack. Returns its index."""
        found = NOTHING_FOUND
        if tail.nodes:
            found = read_tail(tail, place.source)
            words, raw = self._with_words_behind(words, raw, tail.lost + found.words)
        if words and place.wrapped_by in TEARING and words[0].raw in CLOSING:
            self.opaque = self.opaque or SYNTAX
        if not prefixes and (place.wrapped_by in _RESERVING or not place.apart):
            words, prefixes = self._reserved(words)
            prefixes = prefixes or self._timed(words)
        if not (words or prefixes or found.redirects):
            return len(self.commands) - 1 if place.carrier < 0 else place.carrier
        index = len(self.commands)
        if index >= LINE_COMMANDS:
            self.give_up(TOO_MANY)
            return index - 1
        words = self._within_budget(words, others=len(prefixes) + len(found.redirects))
        opaque, wrapped = _look_inside(words, place)
        given = (*words, *(value for _, value in prefixes), *(one.target for one in found.redirects))
        opaque = opaque or (_HIDES_CODE if any(hides_code(word.raw) for word in given) else "")
        stdin = ""
        if wrapped is not None and wrapped.reads_stdin:
            stdin, why = self._stdin(found, place)
            opaque = opaque or why
        self.commands.append(
            Command(
                words,
                raw,
                prefixes,
                found.redirects,
                place.stands,
                place.carrier,
                place.wrapped_by,
                -1 if place.pipe is None else place.pipe.index,
                place.scope.cwd,
                place.remote,
                opaque,
                wrapped is not None and wrapped.harmless and not opaque,
                place.consented,
                place.appended or bool(place.mark and any(place.mark in word.text for word in words[1:])),
            )
        )
        if self.cut_short and not self.steps_left:
            return index
        self._follow(words, prefixes, found, place, index)
        if wrapped is not None:
            stands = Stands.WRAPPER if wrapped.label else Stands.OPTION
            self._carry(
                wrapped.carried, place, index=index, label=wrapped.label, stands=stands, consented=wrapped.is_runner
            )
        if stdin:
            self._carry([InnerCommand(code=stdin)], place, index=index, label=words[0].text, stands=Stands.HEREDOC)
        return index

    def _with_words_behind(
        self, words: tuple[Word, ...], raw: str, more: tuple[Word, ...]
    ) -> tuple[tuple[Word, ...], str]:
        """Add words that stand behind a redirection."""
        if more and all(one.raw in RESERVED for one in words) and _is_no_program(more[0]):
            self.opaque = self.opaque or SYNTAX  # an assignment, or a program of such a name
        if (
            more
            and words
            and words[0].raw in TEARING
            and any(one.raw in RESERVED or one.raw in RESERVED_HEADS for one in words[1:] + more)
        ):
            self.opaque = self.opaque or SYNTAX  # behind a redirection no block begins
        return (words + more, " ".join([raw, *(word.raw for word in more)])) if more else (words, raw)

    def _within_budget(self, words: tuple[Word, ...], *, others: int) -> tuple[Word, ...]:
        """Take the words of a command, or the first of them where that is all that may still be read."""
        most = self.most_words
        self.steps_left -= len(words) + others
        if self.steps_left >= 0:
            return words
        self.steps_left = 0
        self.give_up(_TOO_LONG)
        return words[:most]

    def _reserved(self, words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[tuple[str, Word], ...]]:
        """Drop reserved words; what has a head that the grammar took for a command has a body that it tore apart."""
        words, prefixes = _without_reserved(words)
        if words and words[0].raw in RESERVED_HEADS:
            if words[0].raw in ("function", "case"):
                self.opaque = self.opaque or SYNTAX
            elif len(words) > 1:
                self.loops.extend((words[1].text, word) for word in words[2:] or words[1:])
            words = ()
        return words, prefixes

    def _timed(self, words: tuple[Word, ...]) -> tuple[tuple[str, Word], ...]:
        """Give what is assigned behind `time` and `coproc` and decides what runs, as it does before a command."""
        if not words or words[0].raw not in TEARING:
            return ()
        found: list[tuple[str, Word]] = []
        for word in words[1:]:
            if ASSIGNMENT.match(word.raw):
                name, _, value = word.raw.partition("=")
                found.append((name.rstrip("+"), read_word(value)))
            elif word.text not in ("-p", "--"):
                break
        return tuple((name, value) for name, value in found if changes_what_runs(name))

    def _follow(
        self,
        words: tuple[Word, ...],
        prefixes: tuple[tuple[str, Word], ...],
        found: RedirectContents,
        place: WalkPosition,
        index: int,
    ) -> None:
        """Follow what the command at `index` changes, and what its words and redirections hold."""
        if found is not NOTHING_FOUND:
            self._follow_tail(found, place, index)
        if words:
            change_directory(words, place)
        self._evaluate(words, prefixes, place, index=index)

    def _evaluate(
        self, words: Sequence[Word], prefixes: Sequence[tuple[str, Word]], place: WalkPosition, *, index: int
    ) -> None:
        """Visit code that the shell finds in words and values which look like text."""
        codes = prompt_code(prefixes) if prefixes else []
        if words and words[0].text in EVALUATORS:
            codes += evaluated_code(words)
        if codes:
            self.embedded(codes, place._replace(carrier=index, mark="", appended=False))

    def _follow_tail(self, found: RedirectContents, place: WalkPosition, index: int) -> None:
        """Remember a here-document, and visit what redirections substitute."""
        self.descend(found.deeper, place, index)
        if found.heredoc is not None:
            self.heredocs[index] = found.heredoc

    def _carry(  # noqa: PLR0913 - what is carried, and how
        self,
        carried: Sequence[InnerCommand],
        place: WalkPosition,
        *,
        index: int,
        label: str,
        stands: Stands = Stands.WRAPPER,
        consented: bool = False,
    ) -> None:
        steps: list[tuple[Callable[..., None], object, WalkPosition]] = []
        for one in carried:
            inner = self.deeper(place, stands=stands)
            if inner is None:
                return
            remote = one.remote or place.remote
            cwd = "?" if one.remote else joined(place.scope.cwd, one.cwd) if one.cwd else place.scope.cwd
            keeps = one.here or label in SAME_SHELL
            inner = inner._replace(
                carrier=index,
                wrapped_by=label,
                remote=remote,
                tail=EMPTY_TAIL,
                scope=place.scope if keeps and not one.cwd else ShellProcess(cwd),
                mark=one.mark or place.mark,
                consented=consented and bool(one.words),
                apart=bool(one.words) and not keeps,
                appended=one.appended or (place.appended and bool(one.words)),
            )
            steps.append((self.words, one.words, inner) if one.words else (self.code, one, inner))
        self.later(steps)

    def _stdin(self, found: RedirectContents, place: WalkPosition) -> tuple[str, str]:
        """Find the program that a shell reads from its standard input: (text, why it is not known)."""
        feeder = place.pipe.index if place.pipe is not None else -1
        redirects, heredoc, doubt = found.redirects, found.heredoc, ""
        at, label = place.carrier, place.wrapped_by
        while not _feeds(redirects) and label and at > feeder:
            doubt = doubt or ("" if passes_input_on(label) else STDIN)
            redirects, heredoc = self.commands[at].redirects, self.heredocs.get(at)
            at, label = self.commands[at].carrier, self.commands[at].wrapped_by
        for redirect in reversed(redirects):
            if redirect.operator == "<<<":
                return redirect.target.text, doubt if redirect.target.known else UNKNOWN_CODE
            if redirect.operator.startswith("<<") and heredoc is not None:
                return heredoc.text, doubt if heredoc.known else UNKNOWN_CODE
            if redirect.operator == "<":
                return "", doubt if redirect.reads and redirect.target.known else STDIN
        if feeder < 0:
            return "", STDIN
        command = self.commands[feeder]
        written = self.heredocs.get(feeder)
        if command.argv in _CATS and written is not None:
            return written.text, "" if written.known else UNKNOWN_CODE
        if command.base == "echo" and all(word.known for word in command.words):
            return " ".join(command.argv[1:]), STDIN
        return "", STDIN


def _feeds(redirects: Sequence[Redirect]) -> bool:
    return any(one.operator.startswith("<") and not one.operator.endswith("&-") for one in redirects)


def _look_inside(words: tuple[Word, ...], place: WalkPosition) -> tuple[str, Unwrapped | None]:
    """Find what a command wraps, and why it is opaque if it is."""
    if not words:
        return "", None
    if not words[0].known or (words[0].glob and words[0].raw != "["):
        return _UNKNOWN_PROGRAM, None
    wrapped = unwrap(words)
    opaque = wrapped.opaque if wrapped is not None else ""
    if place.mark or place.appended:
        opaque = why_filled(words, wrapped, mark=place.mark, appended=place.appended) or opaque
    return opaque, wrapped


def _is_no_program(word: Word) -> bool:
    """Say whether the grammar has another meaning for a word than bash has behind a redirection."""
    return ASSIGNMENT.match(word.raw) is not None or word.raw in RESERVED or word.raw in RESERVED_HEADS


def _without_reserved(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[tuple[str, Word], ...]]:
    """Drop reserved words before a command, and take the variables behind them: the grammar takes some for programs."""
    at = 0
    while at < len(words) and words[at].raw in RESERVED and words[at].raw not in TEARING:
        at += 1
    prefixes: list[tuple[str, Word]] = []
    while at and at < len(words) and ASSIGNMENT.match(words[at].raw):
        name, _, value = words[at].raw.partition("=")
        prefixes.append((name.rstrip("+"), read_word(value)))
        at += 1
    return words[at:] if at else words, tuple(prefixes)

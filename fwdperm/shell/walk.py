"""From a command line to the commands it would run.

Lives here: `parse_line` and what each kind of node means. Pure. Never here: the parser (`grammar.py`), what is done
with a command once found (`recording.py`), what a command means for a rule.

The walk keeps its own stack, so nesting cannot exhaust Python's; what is nested too deeply makes the line opaque.
Never raises; whatever cannot be understood makes the line or a command opaque, and opaque things ask.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.programs import changes_what_runs
from fwdperm.settings import VALUE_CHARS
from fwdperm.shell.command import Command, CommandLine, Stands, Word
from fwdperm.shell.evaluated import tested_code
from fwdperm.shell.grammar import SYNTAX
from fwdperm.shell.inner_command import InnerCommand
from fwdperm.shell.later import Walked, why_unknowable
from fwdperm.shell.place import NO_SOURCE, Pipe, ShellProcess, WalkPosition
from fwdperm.shell.quoting import bare_text
from fwdperm.shell.recording import Recorder
from fwdperm.shell.redirects import EMPTY_TAIL, REDIRECT_TYPES, Tail, hanging, lost_words
from fwdperm.shell.simple_command import are_names, read_assignment, read_command
from fwdperm.shell.source import WORD_TYPES, needs_descent
from fwdperm.shell.substitution import embedded_code, substitution_spans, unescape_backticks
from fwdperm.shell.words import read_word, split_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

_LOOP_WORDS: Final = 16
"""Words of one `for` that are remembered."""
_ENDS_EARLY: Final = re.compile(r"[\n;&|<>\r\f\v]|[ \t]#")
r"""Where a test has ended, or opens a file, that the grammar has as going on: `[ a\nb`, ` # comment`, `[ a > f ]`."""
_QUOTES: Final = re.compile(r"[\\'\"]")
"""A sign of quotation, which keeps nothing from being expanded in arithmetic: `'`."""
_AFTER_BRACE: Final = frozenset(" \t\n(<>;&|")
"""What may stand behind the brace that opens a group; otherwise it is a part of a word."""
_OLD_STYLE: Final = re.compile(r"`(?:[^`\\]|\\.)*+`", re.DOTALL)
r"""A whole substitution of the old style: `\x60date\x60`. Two that touch are not one."""
_LEAVES: Final = frozenset({"comment", "raw_string", "ansi_c_string", "string_content", "heredoc_start", "heredoc_end"})


def parse_line(text: str) -> CommandLine:
    """Find every simple command that a command line would run.

    Args:
        text: The line as the shell would get it; several lines are fine.

    Returns:
        The commands in source order. `opaque` says why the line as a whole cannot be understood; then the commands
        that were found are followed by one that holds the raw text. Linear in the text.
    """
    return _Walker().line(text)


class _Walker(Recorder):
    """One walk over one line."""

    __slots__ = ("functions",)

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[str] = []

    def line(self, text: str) -> CommandLine:
        """Walk the whole line."""
        if len(text) > VALUE_CHARS:
            self.opaque, self.cut_short = f"it is longer than {VALUE_CHARS} characters", True
            text_read = text[:VALUE_CHARS]
        else:
            text_read = text
        if "\x00" in text:
            self.opaque = self.opaque or "it holds a NUL byte"
        self.push_code(text_read, WalkPosition(NO_SOURCE, ShellProcess()))
        self.run()
        self.opaque = self.opaque or why_unknowable(
            Walked([text_read, *self.codes], self.commands, self.loops, self.functions)
        )
        if self.opaque and text.strip():
            self.commands.append(Command((Word(text_read, text_read, known=False),), text_read, opaque=self.opaque))
        functions = tuple(dict.fromkeys(self.functions))
        return CommandLine(
            tuple(self.commands), self.opaque, functions, tuple(self.unread), tuple(self.loops), self.cut_short
        )

    # -- running the stack ---------------------------------------------------------------------------------

    def visit(self, node: Node, place: WalkPosition) -> None:
        handler = _HANDLERS.get(node.type)
        if handler is None:
            self.inside(node, place)
        else:
            handler(self, node, place)

    def _visit_forked(self, node: Node, place: WalkPosition) -> None:
        """Visit what a child process of the shell runs: its `cd` does not come back."""
        self.visit(node, place._replace(scope=ShellProcess(place.scope.cwd)))

    def _join(self, before: object, place: WalkPosition) -> None:
        """Call the directory unknown after code that may or may not have run, where that code would have changed it."""
        if place.scope.cwd != before:
            place.scope.cwd = "?"

    def _close_pipe(self, is_simple: object, place: WalkPosition) -> None:
        """Tell the reading end of a pipe which command writes to it."""
        if place.pipe is not None:
            place.pipe.index = self._last_top(place.carrier, is_simple=bool(is_simple))

    # -- nodes ---------------------------------------------------------------------------------------------

    def inside(self, node: Node, place: WalkPosition) -> None:
        """Visit the children of a node that has no rule of its own."""
        children = node.children
        if not children:
            self._leaf(node, place)
            return
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        steps: list[tuple[Callable[..., None], object, WalkPosition]] = []
        for child in children:
            if child.type == "&" and steps:
                steps[-1] = (self._visit_forked, *steps[-1][1:])
            elif child.is_named:
                steps.append((self.visit, child, place))
        self.later(steps)

    def _leaf(self, node: Node, place: WalkPosition) -> None:
        """Look for code in text that the grammar left whole."""
        if node.type in _LEAVES or not node.is_named:
            return
        text = place.source.cut(node.start_byte, node.end_byte)
        if "$(" in text or "`" in text:
            self.embedded(embedded_code(text), place)

    def word(self, node: Node, place: WalkPosition) -> None:
        """Visit what a word substitutes that belongs to no simple command: of `case`, `for`, `[[`."""
        if needs_descent(place.source.cut(node.start_byte, node.end_byte)):
            self.descend([node], place, place.carrier)

    def _settle_tail(self, place: WalkPosition) -> WalkPosition:
        """Record redirections of a compound command as a command without words."""
        self.record((), (), place, raw="", tail=place.tail)
        return place._replace(tail=EMPTY_TAIL)

    def body(self, node: Node, place: WalkPosition) -> None:
        """Visit control flow, a function or a group: it may run or not, and may change the directory."""
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        kind = node.type
        if kind == "function_definition":
            stands = Stands.FUNCTION
            name = node.child_by_field_name("name")
            if name is not None:
                self.functions.append(place.source.cut(name.start_byte, name.end_byte))
            redirects = [child for child in node.children if child.type in REDIRECT_TYPES]
            if redirects:
                self._settle_tail(place._replace(tail=Tail(tuple(redirects))))
        else:
            stands = Stands.CONTROL
            if kind == "for_statement":
                self._loop_variable(node, place)
            elif kind == "c_style_for_statement":
                self._arithmetic(node, place)
        inner = self.deeper(place, stands=stands)
        if inner is None:
            return
        self.stack.append((self._join, place.scope.cwd, place))
        steps = [
            (self.visit, child, inner) for child in node.children if child.is_named and child.type not in REDIRECT_TYPES
        ]
        self.later(steps)

    def _loop_variable(self, node: Node, place: WalkPosition) -> None:
        variable = node.child_by_field_name("variable")
        if variable is not None:
            name = place.source.cut(variable.start_byte, variable.end_byte)
            values = [child for child in node.children_by_field_name("value") if child.type in WORD_TYPES]
            words = [read_word(place.source.cut(one.start_byte, one.end_byte)) for one in values[:_LOOP_WORDS]]
            if len(values) > _LOOP_WORDS or not values:  # without any, they are the positional parameters
                words.append(Word("", "", known=False))
            self.loops.extend((name, word) for word in words)
            if changes_what_runs(name):
                self.record((), ((name, Word("$", "$", known=False)),), place, raw=f"{name}=$")

    def subshell(self, node: Node, place: WalkPosition) -> None:
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        inner = self.deeper(place, stands=Stands.SUBSHELL)
        if inner is not None:
            self.inside(node, inner._replace(scope=ShellProcess(place.scope.cwd)))

    def group(self, node: Node, place: WalkPosition) -> None:
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        if place.source.cut(node.start_byte, node.start_byte + 1) == "{" and (
            place.source.cut(node.start_byte + 1, node.start_byte + 2) not in _AFTER_BRACE
        ):
            self.opaque = self.opaque or SYNTAX
        self._arithmetic(node, place)
        inner = self.deeper(place, stands=place.stands)
        if inner is not None:
            self.inside(node, inner)

    def _arithmetic(self, node: Node, place: WalkPosition) -> None:
        """Call arithmetic unknowable in which the grammar has code as quoted text: quotes keep nothing there."""
        at = next((child.start_byte for child in node.children[:2] if child.type == "(("), -1)
        end = next((child.start_byte for child in node.children if child.type == "))"), node.end_byte)
        text = place.source.cut(at, end) if at >= 0 else ""
        if ("$(" in text or "`" in text) and _QUOTES.search(text):
            self.opaque = self.opaque or SYNTAX

    def substitution(self, node: Node, place: WalkPosition) -> None:
        inner = self.deeper(place, stands=Stands.SUBSTITUTION)
        if inner is None:
            return
        inner = inner._replace(
            scope=ShellProcess(place.scope.cwd),
            tail=EMPTY_TAIL,
            wrapped_by="",
            mark="",
            appended=False,
            consented=False,
        )
        text = place.source.cut(node.start_byte, node.end_byte)
        if text.startswith(("`", "$`")) and not _OLD_STYLE.fullmatch(text.removeprefix("$")):
            self.opaque = self.opaque or SYNTAX  # the grammar takes two that touch for one in the other
            self.embedded(embedded_code(text), inner)
            return
        if text.startswith("`") and "\\" in text:
            self.code(InnerCommand(code=unescape_backticks(text[1:-1])), inner)
        elif text.startswith("$`"):
            self.code(InnerCommand(code=unescape_backticks(text[2:-1])), inner)
        else:
            redirects = tuple(child for child in node.children if child.type in REDIRECT_TYPES)
            if redirects:
                self.record((), (), inner, raw="", tail=Tail(redirects))
            self.inside(node, inner)

    def list(self, node: Node, place: WalkPosition) -> None:
        """Visit both sides; redirections after it belong to the last one."""
        children = [child for child in node.children if child.is_named]
        if node.type == "negated_command" and children and children[0].start_byte == node.start_byte + 1:
            self.opaque = self.opaque or SYNTAX
        plain = place._replace(tail=EMPTY_TAIL) if place.tail is not EMPTY_TAIL else place
        steps = [(self.visit, child, plain) for child in children[:-1]]
        if children:
            steps.append((self.visit, children[-1], place))
        self.later(steps)

    def pipeline(self, node: Node, place: WalkPosition) -> None:
        """Visit the parts, each in a process of its own, each told who feeds it."""
        children = [child for child in node.children if child.is_named and child.type != "comment"]
        plain = place._replace(tail=EMPTY_TAIL) if place.tail is not EMPTY_TAIL else place
        steps: list[tuple[Callable[..., None], object, WalkPosition]] = []
        feed = place.pipe
        for at, child in enumerate(children):
            last = at + 1 == len(children)
            here = (place if last else plain)._replace(pipe=feed)
            steps.append((self._visit_forked, child, here))
            if not last:
                feed = Pipe()
                steps.append((self._close_pipe, child.type in _SIMPLE, place._replace(pipe=feed)))
        self.later(steps)

    def _last_top(self, around: int, *, is_simple: bool) -> int:
        """Return the index of the command that ended last: past what it substitutes or wraps when it is simple.

        Args:
            around: Index of the command that carries the whole pipeline.
            is_simple: True when it is one command.
        """
        at = len(self.commands) - 1
        while is_simple and at >= 0 and around != self.commands[at].carrier and 0 <= self.commands[at].carrier < at:
            at = self.commands[at].carrier
        return at

    def redirected(self, node: Node, place: WalkPosition) -> None:
        """Hand redirections to the last command of the body; walk what hangs under a here-document."""
        body: Node | None = None
        redirects: list[Node] = []
        after: list[tuple[Node, bool]] = []
        for child in node.children:
            if child.type in REDIRECT_TYPES:
                redirects.append(child)
                if child.type == "heredoc_redirect":
                    after.extend(hanging(child, redirects))
            elif child.is_named and body is None:
                body = child
            elif child.is_named:
                after.append((child, False))
        tail = Tail((*redirects, *place.tail.nodes), lost_words(body, redirects, place.source) + place.tail.lost)
        steps: list[tuple[Callable[..., None], object, WalkPosition]] = []
        if body is None:
            self.record((), (), place, raw="", tail=tail)
        else:
            steps.append((self.visit, body, place._replace(tail=tail)))
        plain = place._replace(tail=EMPTY_TAIL)
        for child, is_piped in after:
            if is_piped:
                feed = Pipe()
                steps.append((self._close_pipe, body is not None and body.type in _SIMPLE, place._replace(pipe=feed)))
                steps.append((self.visit, child, plain._replace(pipe=feed)))
            else:
                steps.append((self.visit, child, plain))
        self.later(steps)

    def test(self, node: Node, place: WalkPosition) -> None:
        """Take `[ ... ]` for the command it is; `[[ ... ]]` runs only what is substituted in it."""
        text = place.source.cut(node.start_byte, node.end_byte)
        if text.startswith("[["):
            if text[2:3] not in ("", " ", "\t", "\n"):
                self.opaque = self.opaque or SYNTAX  # a word that only begins so: what follows is run
            if ("<(" in text or ">(" in text) and any(text[start] in "<>" for start, _ in substitution_spans(text)):
                self.opaque = self.opaque or SYNTAX  # the grammar may have a comparison there
            self.embedded(tested_code(text), place)
            self.inside(node, place)
            return
        if _ENDS_EARLY.search(text) and _ENDS_EARLY.search(bare_text(text)):
            self.opaque = self.opaque or SYNTAX  # the command ends there: what follows is another, or a file
        index = self.record(tuple(split_words(text)), (), place, raw=text, tail=place.tail)
        if needs_descent(text):
            self.inside(node, place._replace(carrier=index, tail=EMPTY_TAIL))

    def assignment(self, node: Node, place: WalkPosition) -> None:
        """Record a bare assignment."""
        nodes = [node] if node.type == "variable_assignment" else [child for child in node.children if child.is_named]
        nodes = nodes[: self.most_words + 1]
        prefixes = tuple(read_assignment(one, place.source) for one in nodes)
        if not are_names(prefixes):
            self.opaque = self.opaque or SYNTAX
        index = self.record((), prefixes, place, raw=place.source.cut(node.start_byte, node.end_byte), tail=place.tail)
        self.descend(nodes, place, index)

    def command(self, node: Node, place: WalkPosition) -> None:
        """Record a simple command and visit what its words substitute."""
        source = place.source
        read = read_command(node, source, most_words=self.most_words)
        if read.is_torn:
            self.opaque = self.opaque or SYNTAX
        redirects, above = read.redirects, place.tail
        tail = Tail((*redirects, *above.nodes), above.lost) if redirects or above.nodes else EMPTY_TAIL
        if read.nested or redirects or above.nodes:
            raw = " ".join(
                [*(f"{name}={value.raw}" for name, value in read.prefixes), *(one.raw for one in read.words)]
            )
        else:
            raw = source.cut(node.start_byte, node.end_byte)
        index = self.record(read.words, read.prefixes, place, raw=raw, tail=tail)
        if read.deeper and needs_descent(raw):
            self.descend(read.deeper, place, index)
        if read.nested:
            self.later([(self._visit_forked, child, place._replace(tail=EMPTY_TAIL)) for child in read.nested])


_SIMPLE: Final = frozenset({"command", "redirected_statement", "declaration_command"})
_HANDLERS: Final[dict[str, Callable[[_Walker, Node, WalkPosition], None]]] = {
    "command": _Walker.command,
    "declaration_command": _Walker.command,
    "unset_command": _Walker.command,
    "test_command": _Walker.test,
    "variable_assignment": _Walker.assignment,
    "variable_assignments": _Walker.assignment,
    "redirected_statement": _Walker.redirected,
    "pipeline": _Walker.pipeline,
    "list": _Walker.list,
    "negated_command": _Walker.list,
    "subshell": _Walker.subshell,
    "compound_statement": _Walker.group,
    "command_substitution": _Walker.substitution,
    "process_substitution": _Walker.substitution,
    "string": _Walker.word,
    "concatenation": _Walker.word,
    "expansion": _Walker.word,
    "arithmetic_expansion": _Walker.word,
    "if_statement": _Walker.body,
    "while_statement": _Walker.body,
    "for_statement": _Walker.body,
    "c_style_for_statement": _Walker.body,
    "case_statement": _Walker.body,
    "function_definition": _Walker.body,
}

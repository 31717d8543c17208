"""From a command line to the commands it would run.

Lives here: `parse_line`, the one place that reads the syntax tree. Pure. Never here: options of wrappers
(`carried.py`), quote removal (`words.py`), what a command means for a rule.

The walk keeps its own stack, so nesting cannot exhaust Python's; what is nested too deeply makes the line opaque.
Never raises; whatever cannot be understood makes the line or a command opaque, and opaque things ask.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Parser

from fwdperm.settings import VALUE_CHARS
from fwdperm.shell.carried import UNKNOWN_CODE, Carried, unwrap, why_filled
from fwdperm.shell.command import Command, Line, Redirect, Stands, Word
from fwdperm.shell.redirects import EMPTY_TAIL, Heredoc, Tail, read_tail
from fwdperm.shell.sieve import MARKS, portions
from fwdperm.shell.source import WORD_TYPES, Source, needs_descent, substitutions
from fwdperm.shell.words import embedded_code, read_word, split_words, unescape_backticks
from fwdperm.shell.wrappers import RESERVED, RESERVED_HEADS, STDIN, changes_what_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

_PARSER: Final = Parser(Language(tree_sitter_bash.language()))
_DEPTH: Final = 64
"""Levels of substitutions, subshells, bodies and wrappers that are followed; people stay under ten."""
_WRAPPED_WORDS: Final = 16 * 1024
"""Words of wrapped commands in one line altogether: each wrapper's words hold those of all it wraps."""
_CODE_CHARS: Final = 4 * VALUE_CHARS
"""Characters of carried code that are read in one line altogether."""
_TOO_DEEP: Final = "it is nested too deeply"
_UNKNOWN_PROGRAM: Final = "the program it runs is not known"
_INTRICATE: Final = "it is too intricate"
_SYNTAX: Final = "it cannot be parsed"
_JOINT: Final = re.compile(rb"[^\s\\](?:\\\n)+(?=[^\s])")
_LEAVES: Final = frozenset({"comment", "raw_string", "ansi_c_string", "string_content", "heredoc_start", "heredoc_end"})
_CATS: Final = frozenset({("cat",), ("cat", "-"), ("/bin/cat",), ("/usr/bin/cat",)})


_NO_SOURCE: Final = Source(b"")


class _Scope:
    """What one shell process keeps: its directory."""

    __slots__ = ("cwd",)

    def __init__(self, cwd: str = "") -> None:
        self.cwd = cwd


class _Pipe:
    """The command at the writing end of a pipe, once it is known."""

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index = -1


class _Place(NamedTuple):
    """Where the walk stands."""

    source: Source
    scope: _Scope
    stands: Stands = Stands.TOP
    carrier: int = -1
    wrapped_by: str = ""
    pipe: _Pipe | None = None
    remote: bool = False
    depth: int = 0
    tail: Tail = EMPTY_TAIL
    mark: str = ""
    appended: bool = False


def parse_line(text: str) -> Line:
    """Find every simple command that a command line would run.

    Args:
        text: The line as the shell would get it; several lines are fine.

    Returns:
        The commands in source order. `opaque` says why the line as a whole cannot be understood; then the commands
        that were found are followed by one that holds the raw text. Linear in the text.
    """
    return _Walker().line(text)


class _Walker:
    """One walk over one line."""

    __slots__ = ("code_left", "commands", "functions", "heredocs", "opaque", "stack", "words_left")

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.functions: list[str] = []
        self.heredocs: dict[int, Heredoc] = {}
        self.stack: list[tuple[Callable[..., None], object, _Place]] = []
        self.opaque = ""
        self.code_left = _CODE_CHARS
        self.words_left = _WRAPPED_WORDS

    def line(self, text: str) -> Line:
        """Walk the whole line."""
        if len(text) > VALUE_CHARS:
            self.opaque = f"it is longer than {VALUE_CHARS} characters"
            text_read = text[:VALUE_CHARS]
        else:
            text_read = text
        if "\x00" in text:
            self.opaque = self.opaque or "it holds a NUL byte"
        self._push_code(text_read, _Place(_NO_SOURCE, _Scope()))
        self._run()
        if self.opaque and text.strip():
            self.commands.append(Command((Word(text_read, text_read, known=False),), text_read, opaque=self.opaque))
        return Line(tuple(self.commands), self.opaque, tuple(dict.fromkeys(self.functions)))

    # -- running the stack ---------------------------------------------------------------------------------

    def _run(self) -> None:
        stack = self.stack
        while stack:
            step, what, place = stack.pop()
            step(what, place)

    def _push_code(self, text: str, place: _Place) -> None:
        """Parse a text and put it on the stack. After an error the rest of a long text is not looked at."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            self.opaque = self.opaque or "it holds text that is not valid Unicode"
            data = text.encode(errors="replace")
        if b"\\\n" in data and len(data) <= MARKS * 4:
            data = _glued(data)
        parts = portions(data)
        if parts is None:
            self.opaque = self.opaque or _INTRICATE
            return
        steps: list[tuple[Callable[..., None], object, _Place]] = []
        for part in parts:
            root = _PARSER.parse(part.shown).root_node
            steps.append((self._visit, root, place._replace(source=Source(part.data))))
            if root.has_error:
                self.opaque = self.opaque or _SYNTAX
                break
            seen = all(_is_text(root, start, end) for start, end in part.masks)
            if not seen or (b"\\\n" in part.data and _loose_joints(root, part.data)):
                self.opaque = self.opaque or _SYNTAX
                break
        self._later(steps)

    def _later(self, steps: Sequence[tuple[Callable[..., None], object, _Place]]) -> None:
        self.stack.extend(reversed(steps))

    def _visit(self, node: Node, place: _Place) -> None:
        handler = _HANDLERS.get(node.type)
        if handler is None:
            self._inside(node, place)
        else:
            handler(self, node, place)

    def _visit_forked(self, node: Node, place: _Place) -> None:
        """Visit what a child process of the shell runs: its `cd` does not come back."""
        self._visit(node, place._replace(scope=_Scope(place.scope.cwd)))

    def _join(self, before: object, place: _Place) -> None:
        """After what may or may not have run: where it changed the directory, that is not known any more."""
        if place.scope.cwd != before:
            place.scope.cwd = "?"

    def _close_pipe(self, is_simple: object, place: _Place) -> None:
        """Tell the reading end of a pipe which command writes to it."""
        if place.pipe is not None:
            place.pipe.index = self._last_top(is_simple=bool(is_simple))

    # -- nodes ---------------------------------------------------------------------------------------------

    def _inside(self, node: Node, place: _Place) -> None:
        """Visit the children of a node that has no rule of its own."""
        children = node.children
        if not children:
            self._leaf(node, place)
            return
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        steps: list[tuple[Callable[..., None], object, _Place]] = []
        for child in children:
            if child.type == "&" and steps:
                steps[-1] = (self._visit_forked, *steps[-1][1:])
            elif child.is_named:
                steps.append((self._visit, child, place))
        self._later(steps)

    def _leaf(self, node: Node, place: _Place) -> None:
        """Look for code in text that the grammar left whole."""
        if node.type in _LEAVES or not node.is_named:
            return
        text = place.source.cut(node.start_byte, node.end_byte)
        if "$(" in text or "`" in text:
            self._embedded(embedded_code(text), place)

    def _embedded(self, codes: Sequence[str], place: _Place) -> None:
        inner = place._replace(stands=Stands.SUBSTITUTION, tail=EMPTY_TAIL, wrapped_by="")
        self._later([(self._code, Carried(code=code), inner) for code in codes])

    def _deeper(self, place: _Place, *, stands: Stands) -> _Place | None:
        if place.depth >= _DEPTH:
            self.opaque = self.opaque or _TOO_DEEP
            return None
        return place._replace(depth=place.depth + 1, stands=stands)

    def _settle_tail(self, place: _Place) -> _Place:
        """Record redirections of a compound command as a command without words."""
        self._record((), (), place, raw="", tail=place.tail)
        return place._replace(tail=EMPTY_TAIL)

    def _body(self, node: Node, place: _Place) -> None:
        """Visit control flow, a function or a group: it may run or not, and may change the directory."""
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        kind = node.type
        if kind == "function_definition":
            stands = Stands.FUNCTION
            name = node.child_by_field_name("name")
            if name is not None:
                self.functions.append(place.source.cut(name.start_byte, name.end_byte))
            redirects = [child for child in node.children if child.type in _REDIRECTS]
            if redirects:
                self._settle_tail(place._replace(tail=Tail(tuple(redirects))))
        else:
            stands = Stands.CONTROL
            if kind == "for_statement":
                self._loop_variable(node, place)
        inner = self._deeper(place, stands=stands)
        if inner is None:
            return
        self.stack.append((self._join, place.scope.cwd, place))
        steps = [
            (self._visit, child, inner) for child in node.children if child.is_named and child.type not in _REDIRECTS
        ]
        self._later(steps)

    def _loop_variable(self, node: Node, place: _Place) -> None:
        variable = node.child_by_field_name("variable")
        if variable is not None:
            name = place.source.cut(variable.start_byte, variable.end_byte)
            if changes_what_runs(name):
                self._record((), ((name, Word("$", "$", known=False)),), place, raw=f"{name}=$")

    def _subshell(self, node: Node, place: _Place) -> None:
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        inner = self._deeper(place, stands=Stands.SUBSHELL)
        if inner is not None:
            self._inside(node, inner._replace(scope=_Scope(place.scope.cwd)))

    def _group(self, node: Node, place: _Place) -> None:
        if place.tail is not EMPTY_TAIL:
            place = self._settle_tail(place)
        inner = self._deeper(place, stands=place.stands)
        if inner is not None:
            self._inside(node, inner)

    def _substitution(self, node: Node, place: _Place) -> None:
        inner = self._deeper(place, stands=Stands.SUBSTITUTION)
        if inner is None:
            return
        inner = inner._replace(scope=_Scope(place.scope.cwd), tail=EMPTY_TAIL, wrapped_by="", mark="", appended=False)
        text = place.source.cut(node.start_byte, node.end_byte)
        if text.startswith("`") and "\\" in text:
            self._code(Carried(code=unescape_backticks(text[1:-1])), inner)
        elif text.startswith("$`"):
            self._code(Carried(code=unescape_backticks(text[2:-1])), inner)
        else:
            self._inside(node, inner)

    def _list(self, node: Node, place: _Place) -> None:
        """Visit both sides; redirections after it belong to the last one."""
        children = [child for child in node.children if child.is_named]
        plain = place._replace(tail=EMPTY_TAIL) if place.tail is not EMPTY_TAIL else place
        steps = [(self._visit, child, plain) for child in children[:-1]]
        if children:
            steps.append((self._visit, children[-1], place))
        self._later(steps)

    def _pipeline(self, node: Node, place: _Place) -> None:
        """Visit the parts, each in a process of its own, each told who feeds it."""
        children = [child for child in node.children if child.is_named and child.type != "comment"]
        plain = place._replace(tail=EMPTY_TAIL) if place.tail is not EMPTY_TAIL else place
        steps: list[tuple[Callable[..., None], object, _Place]] = []
        feed = place.pipe
        for at, child in enumerate(children):
            last = at + 1 == len(children)
            here = (place if last else plain)._replace(pipe=feed)
            steps.append((self._visit_forked, child, here))
            if not last:
                feed = _Pipe()
                steps.append((self._close_pipe, child.type in _SIMPLE, place._replace(pipe=feed)))
        self._later(steps)

    def _last_top(self, *, is_simple: bool) -> int:
        """Return the index of the command that ended last: past what it substitutes or wraps when it is simple."""
        at = len(self.commands) - 1
        while is_simple and at >= 0 and 0 <= self.commands[at].carrier < at:
            at = self.commands[at].carrier
        return at

    def _redirected(self, node: Node, place: _Place) -> None:
        """Hand redirections to the last command of the body; walk what hangs under a here-document."""
        body: Node | None = None
        redirects: list[Node] = []
        after: list[tuple[Node, bool]] = []
        for child in node.children:
            if child.type in _REDIRECTS:
                redirects.append(child)
                if child.type == "heredoc_redirect":
                    after.extend(_hanging(child, redirects))
            elif child.is_named and body is None:
                body = child
            elif child.is_named:
                after.append((child, False))
        tail = Tail((*redirects, *place.tail.nodes), _lost(body, redirects, place.source) + place.tail.lost)
        steps: list[tuple[Callable[..., None], object, _Place]] = []
        if body is None:
            self._record((), (), place, raw="", tail=tail)
        else:
            steps.append((self._visit, body, place._replace(tail=tail)))
        plain = place._replace(tail=EMPTY_TAIL)
        for child, is_piped in after:
            if is_piped:
                feed = _Pipe()
                steps.append((self._close_pipe, body is not None and body.type in _SIMPLE, place._replace(pipe=feed)))
                steps.append((self._visit, child, plain._replace(pipe=feed)))
            else:
                steps.append((self._visit, child, plain))
        self._later(steps)

    def _test(self, node: Node, place: _Place) -> None:
        """Take `[ ... ]` for the command it is; `[[ ... ]]` runs only what is substituted in it."""
        text = place.source.cut(node.start_byte, node.end_byte)
        if text.startswith("[["):
            self._inside(node, place._replace(stands=place.stands))
            return
        index = self._record(tuple(split_words(text)), (), place, raw=text, tail=place.tail)
        if needs_descent(text):
            self._inside(node, place._replace(carrier=index, tail=EMPTY_TAIL))

    def _assignment(self, node: Node, place: _Place) -> None:
        """Record a bare assignment."""
        nodes = [node] if node.type == "variable_assignment" else [child for child in node.children if child.is_named]
        prefixes = tuple(_prefix(one, place.source) for one in nodes)
        index = self._record((), prefixes, place, raw=place.source.cut(node.start_byte, node.end_byte), tail=place.tail)
        self._descend(nodes, place, index)

    def _descend(self, nodes: Sequence[Node], place: _Place, index: int) -> None:
        """Visit the substitutions in the words of the command at `index`."""
        steps: list[tuple[Callable[..., None], object, _Place]] = []
        inner = place._replace(carrier=index, tail=EMPTY_TAIL, wrapped_by="", mark="", appended=False)
        for node in nodes:
            for found in substitutions(node, place.source):
                if isinstance(found, str):
                    steps.append((self._code, Carried(code=found), inner._replace(stands=Stands.SUBSTITUTION)))
                else:
                    steps.append((self._visit, found, inner))
        self._later(steps)

    def _command(self, node: Node, place: _Place) -> None:
        """Record a simple command and visit what its words substitute."""
        source = place.source
        prefixes: list[tuple[str, Word]] = []
        redirects: list[Node] = []
        spans: list[list[int]] = []
        deeper: list[Node] = []
        nested: list[Node] = []
        is_declaration = node.type != "command"
        for child in node.children:
            kind = child.type
            if kind in _REDIRECTS:
                redirects.append(child)
                continue
            if kind == "subshell":
                nested.append(child)
                continue
            if kind == "variable_assignment" and not spans and not is_declaration:
                prefixes.append(_prefix(child, source))
                deeper.append(child)
                continue
            if kind == "comment":
                continue
            start, end = child.start_byte, child.end_byte
            if start == end:
                continue
            if spans and spans[-1][1] == start:
                spans[-1][1] = end
            else:
                spans.append([start, end])
            if child.child_count or kind in WORD_TYPES:
                deeper.append(child)
        words = [read_word(source.cut(start, end)) for start, end in spans]
        tail = Tail((*redirects, *place.tail.nodes), place.tail.lost) if redirects or place.tail.nodes else EMPTY_TAIL
        if nested or redirects or place.tail.nodes:
            raw = " ".join([*(f"{name}={value.raw}" for name, value in prefixes), *(word.raw for word in words)])
        else:
            raw = source.cut(node.start_byte, node.end_byte)
        index = self._record(tuple(words), tuple(prefixes), place, raw=raw, tail=tail)
        if deeper and needs_descent(raw):
            self._descend(deeper, place, index)
        if nested:
            self._later([(self._visit_forked, child, place._replace(tail=EMPTY_TAIL)) for child in nested])

    # -- commands ------------------------------------------------------------------------------------------

    def _words(self, what: object, place: _Place) -> None:
        """Record a command that a wrapper gives as words."""
        words: tuple[Word, ...] = what  # type: ignore[assignment]
        self.words_left -= len(words)
        if self.words_left < 0:
            self.opaque = self.opaque or _TOO_DEEP
            return
        self._record(words, (), place, raw=" ".join([word.raw for word in words]))

    def _code(self, what: object, place: _Place) -> None:
        """Parse code that a wrapper or a substitution gives as text."""
        carried: Carried = what  # type: ignore[assignment]
        self.code_left -= len(carried.code)
        deeper = self._deeper(place, stands=place.stands)
        if self.code_left < 0 or deeper is None:
            self.opaque = self.opaque or _TOO_DEEP
            return
        self._push_code(carried.code, deeper)

    def _record(
        self,
        words: tuple[Word, ...],
        prefixes: tuple[tuple[str, Word], ...],
        place: _Place,
        *,
        raw: str,
        tail: Tail = EMPTY_TAIL,
    ) -> int:
        """Append one command, and put what it wraps on the stack. Returns its index."""
        heredoc: Heredoc | None = None
        redirects: tuple[Redirect, ...] = ()
        found = None
        if tail.nodes:
            found = read_tail(tail, place.source)
            redirects, heredoc = found.redirects, found.heredoc
            more = tail.lost + found.words
            words = words + more
            raw = " ".join([raw, *(word.raw for word in more)]) if more else raw
        words = _without_reserved(words)
        if not (words or prefixes or redirects):
            return len(self.commands) - 1 if place.carrier < 0 else place.carrier
        index = len(self.commands)
        opaque, harmless, wrapped = "", False, None
        if words:
            program = words[0]
            if not program.known or (program.glob and program.raw != "["):
                opaque = _UNKNOWN_PROGRAM
            else:
                wrapped = unwrap(words)
                if place.mark or place.appended:
                    opaque = why_filled(words, wrapped, mark=place.mark, appended=place.appended)
        stdin: str | None = None
        if wrapped is not None:
            harmless = wrapped.harmless and not opaque
            opaque = opaque or wrapped.opaque
            if wrapped.reads_stdin:
                stdin, why = self._stdin(redirects, heredoc, place)
                opaque = opaque or why
        pipe = place.pipe
        self.commands.append(
            Command(
                words,
                raw,
                prefixes,
                redirects,
                place.stands,
                place.carrier,
                place.wrapped_by,
                -1 if pipe is None else pipe.index,
                place.scope.cwd,
                place.remote,
                opaque,
                harmless,
            )
        )
        if heredoc is not None:
            self.heredocs[index] = heredoc
        if found is not None:
            self._descend(found.deeper, place, index)
            if heredoc is not None and heredoc.codes:
                self._embedded(heredoc.codes, place._replace(carrier=index))
        if words:
            _change_directory(words, place)
        if wrapped is not None:
            self._carry(wrapped.carried, place, index=index, label=wrapped.label)
        if stdin:
            self._carry([Carried(code=stdin)], place, index=index, label=words[0].text, stands=Stands.HEREDOC)
        return index

    def _carry(
        self, carried: Sequence[Carried], place: _Place, *, index: int, label: str, stands: Stands = Stands.WRAPPER
    ) -> None:
        steps: list[tuple[Callable[..., None], object, _Place]] = []
        for one in carried:
            inner = self._deeper(place, stands=stands)
            if inner is None:
                return
            remote = one.remote or place.remote
            cwd = "?" if one.remote else _joined(place.scope.cwd, one.cwd) if one.cwd else place.scope.cwd
            keeps = one.here or label in _SAME_SHELL
            inner = inner._replace(
                carrier=index,
                wrapped_by=label,
                remote=remote,
                tail=EMPTY_TAIL,
                scope=place.scope if keeps and not one.cwd else _Scope(cwd),
                mark=one.mark or place.mark,
                appended=one.appended or (place.appended and bool(one.words)),
            )
            steps.append((self._words, one.words, inner) if one.words else (self._code, one, inner))
        self._later(steps)

    def _stdin(self, redirects: tuple[Redirect, ...], heredoc: Heredoc | None, place: _Place) -> tuple[str | None, str]:
        """Find the program that a shell reads from its standard input: (text, why it is not known)."""
        for redirect in reversed(redirects):
            if redirect.operator == "<<<":
                return redirect.target.text, "" if redirect.target.known else UNKNOWN_CODE
            if redirect.operator.startswith("<<") and heredoc is not None:
                return heredoc.text, "" if heredoc.known else UNKNOWN_CODE
            if redirect.operator == "<":
                return None, "" if redirect.reads and redirect.target.known else STDIN
        feeder = place.pipe.index if place.pipe is not None else -1
        if feeder < 0:
            return None, STDIN
        command = self.commands[feeder]
        written = self.heredocs.get(feeder)
        if command.argv in _CATS and written is not None:
            return written.text, "" if written.known else UNKNOWN_CODE
        if command.base == "echo" and all(word.known for word in command.words):
            return " ".join(command.argv[1:]), STDIN
        return None, STDIN


_SAME_SHELL: Final = frozenset({"command", "builtin", "eval", "time"})
_REDIRECTS: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_SIMPLE: Final = frozenset({"command", "redirected_statement", "declaration_command"})
_HANDLERS: Final[dict[str, Callable[[_Walker, Node, _Place], None]]] = {
    "command": _Walker._command,
    "declaration_command": _Walker._command,
    "unset_command": _Walker._command,
    "test_command": _Walker._test,
    "variable_assignment": _Walker._assignment,
    "variable_assignments": _Walker._assignment,
    "redirected_statement": _Walker._redirected,
    "pipeline": _Walker._pipeline,
    "list": _Walker._list,
    "negated_command": _Walker._list,
    "subshell": _Walker._subshell,
    "compound_statement": _Walker._group,
    "command_substitution": _Walker._substitution,
    "process_substitution": _Walker._substitution,
    "if_statement": _Walker._body,
    "while_statement": _Walker._body,
    "for_statement": _Walker._body,
    "c_style_for_statement": _Walker._body,
    "case_statement": _Walker._body,
    "function_definition": _Walker._body,
}


def _loose_joints(root: Node, data: bytes) -> list[tuple[int, int]]:
    """Find continued lines that join two halves of a word or operator, outside of quoted text."""
    spans = [(found.start() + 1, found.end()) for found in _JOINT.finditer(data)]
    return [(start, end) for start, end in spans if not _is_text(root, start, start + 1)]


def _glued(data: bytes) -> bytes:
    """Join words that a continued line parts: to the grammar they are two, to a shell they are one."""
    if not _JOINT.search(data):
        return data
    root = _PARSER.parse(data if data.isascii() else portions(data)[0].shown).root_node  # type: ignore[index]
    out, last = bytearray(), 0
    for start, end in _loose_joints(root, data):
        out += data[last:start]
        last = end
    return bytes(out + data[last:])


def _is_text(root: Node, start: int, end: int) -> bool:
    """Say whether the parser took this range for plain text."""
    node = root.descendant_for_byte_range(start, end - 1)
    return node is not None and node.type in _MASKED


_MASKED: Final = frozenset(
    {"raw_string", "ansi_c_string", "string_content", "string", "comment", "heredoc_body", "heredoc_content"}
)


def _hanging(node: Node, redirects: list[Node]) -> list[tuple[Node, bool]]:
    """Find what the grammar hangs under a here-document's redirect: (statement, whether it reads a pipe)."""
    found: list[tuple[Node, bool]] = []
    for child in node.children:
        kind = child.type
        if kind in _REDIRECTS:
            redirects.append(child)
        elif child.is_named and kind not in WORD_TYPES and kind not in _HEREDOC_PARTS:
            first = child.children[0].type if child.child_count else ""
            found.append((child, kind == "pipeline" and first in ("|", "|&")))
    return found


def _lost(body: Node | None, redirects: Sequence[Node], source: Source) -> tuple[Word, ...]:
    """Give words that the grammar drops between a command and its here-document: a lone `-` is one."""
    if body is None or not redirects:
        return ()
    gap = source.cut(body.end_byte, redirects[0].start_byte)
    return tuple(split_words(gap.replace("\\\n", " "))) if gap.strip(" \t\\\r\n") else ()


_HEREDOC_PARTS: Final = frozenset({"heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor", "comment"})


def _prefix(node: Node, source: Source) -> tuple[str, Word]:
    name, equals, value = source.cut(node.start_byte, node.end_byte).partition("=")
    return name.rstrip("+"), read_word(value) if equals else Word("", "")


def _without_reserved(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Drop reserved words before a command: the grammar takes some for programs."""
    at = 0
    while at < len(words) and words[at].raw in RESERVED and words[at].raw not in ("time", "coproc"):
        at += 1
    words = words[at:] if at else words
    return () if words and words[0].raw in RESERVED_HEADS else words


def _change_directory(words: tuple[Word, ...], place: _Place) -> None:
    """Follow `cd`, `pushd` and `popd` as far as their words are literal."""
    if words[0].text not in ("cd", "pushd", "popd", "chdir") or place.wrapped_by not in ("", *_SAME_SHELL, "trap"):
        return
    operands = [word for word in words[1:] if not (word.text.startswith("-") and len(word.text) > 1)]
    if words[0].text == "popd" or (operands and (not operands[0].known or operands[0].glob)):
        place.scope.cwd = "?"
    elif not operands:
        place.scope.cwd = "~" if words[0].text != "pushd" else "?"
    elif operands[0].text in ("-", "") or operands[0].text.startswith("+"):
        place.scope.cwd = "?"
    else:
        place.scope.cwd = _joined(place.scope.cwd, operands[0].text)


def _joined(cwd: str, target: str) -> str:
    if target.startswith(("/", "~")) or not cwd:
        return target
    return "?" if cwd == "?" or target == "?" else f"{cwd.rstrip('/')}/{target}"

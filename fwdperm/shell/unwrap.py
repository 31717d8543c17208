"""What a wrapper would run, read from its words by its page in the book of programs.

Lives here: `unwrap` and what it returns. Never here: the pages, the tree (`walk.py`).

Errs towards more: where the wrapped command may begin in several places all of them are given, and the outer command
is opaque.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.programs import Carries, Takes, is_harmless_variable, lookup, read_use, standard_base
from fwdperm.shell.command import Word
from fwdperm.shell.containers import container_start
from fwdperm.shell.words import split_words
from fwdperm.shell.wrappers import STDIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.programs import Option, Program, Use, Wrapping

ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
"""The head of an assignment: `x=`, `PATH+=`."""
_FIND_ACTIONS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_ACTIONS: Final = re.compile(r"-[A-Za-z0-9]*[xX]|--exec|--exec-batch")
"""`-x`, `-HX`, `--exec`: an option of `fd` that runs a command, alone or last in a cluster."""
_STDIN_PATHS: Final = re.compile(r"-|/dev/stdin|/dev/fd/\d+|/proc/self/fd/\d+|/proc/\d+/fd/\d+")
"""A name of the standard input or of another open descriptor, in the place of a script: `-`, `/dev/stdin`,
`/dev/fd/3`. What a shell reads there is not known."""
_LOCAL_SSH: Final = re.compile(r"(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]", re.IGNORECASE)
"""`ProxyCommand=nc %h %p`: a setting of `ssh` that runs a command on this machine."""
_FILLED: Final = frozenset({Carries.WORDS, Carries.JOINED, Carries.EVAL, Carries.CODE})
_MOST_INPUTS: Final = 16
"""Inputs behind `:::` that are put in."""
_MORE_STARTS: Final = 4
"""Further places tried for the wrapped command's beginning when an option is not known."""
UNKNOWN_CODE: Final = "the text of the code it runs is not known"
UNKNOWN_OPTION: Final = "where the command it runs begins is not known"


@dataclass(frozen=True, slots=True)
class InnerCommand:
    """One command that a wrapper runs: words, or code for a shell.

    Attributes:
        words: Its words, when it is given as words.
        code: Its text, when a shell reads it.
        cwd: Directory that the wrapper changes to; empty when it does not.
        remote: True when it runs elsewhere.
        here: True when this very shell runs it (`eval`): a `cd` in it counts for what follows.
        mark: String in its words that is replaced by what is found or read; empty when there is none.
        appended: True when words that are read later are put behind its own.
        opaque: Why it cannot be known what runs; empty when it can.
    """

    words: tuple[Word, ...] = ()
    code: str = ""
    cwd: str = ""
    remote: bool = False
    here: bool = False
    mark: str = ""
    appended: bool = False
    opaque: str = ""


@dataclass(slots=True)
class Unwrapped:
    """What reading a wrapper's words gave.

    Attributes:
        label: What to call the wrapper.
        carried: What it runs.
        opaque: Why the wrapper itself is opaque; empty when it is not.
        harmless: True when an allow may look through it.
        is_runner: True when an allow of it is meant for what it runs, too.
        reads_stdin: True for a shell that takes its program from its standard input.
    """

    label: str
    carried: list[InnerCommand] = field(default_factory=list)
    opaque: str = ""
    harmless: bool = False
    is_runner: bool = False
    reads_stdin: bool = False


@dataclass(slots=True)
class _Options:
    """Options read off the front of a wrapper's words: where reading stands, what was given, by canonical spelling."""

    at: int = 1
    seen: set[str] = field(default_factory=set)
    values: list[tuple[Option, Word]] = field(default_factory=list)
    unknown: bool = False

    def value(self, takes: Takes) -> Word | None:
        return next((word for option, word in self.values if option.takes is takes), None)


@dataclass(frozen=True, slots=True)
class _Row:
    """A use that carries a command, with how it does: what reading its words needs."""

    program: Program
    use: Use
    wrapping: Wrapping

    def takes(self, kind: Takes) -> bool:
        return any(option.takes is kind for option in self.use.options.values())


def unwrap(words: Sequence[Word]) -> Unwrapped | None:  # noqa: C901, PLR0912 - one arm per style
    """Read what a command runs by its arguments.

    Args:
        words: The command's words, the program first; at least one.

    Returns:
        What it wraps; None for a program that is no wrapper.
    """
    program = words[0].text
    base = program.rpartition("/")[2]
    found = lookup(program) if words[0].known else None
    if found is None:
        return None
    use, start = _wrapping_use(found, words)
    if use is None or use.wrapping is None:
        return _sourced(base, words) if base in (".", "source") else None
    row = _Row(found, use, use.wrapping)
    result = Unwrapped(" ".join((base, *use.words)), is_runner=use.wrapping.is_runner)
    words = [words[0], *words[start:]]
    match row.wrapping.style:
        case Carries.WORDS | Carries.JOINED:
            _after_options(result, row, words)
        case Carries.CODE:
            _coded(result, row, words)
        case Carries.EVAL:
            _joined(result, words[2:] if len(words) > 1 and words[1].text == "--" else words[1:], here=True)
        case Carries.SHELL:
            read = _powershell if use.dash_is_word else _shell
            read(result, use, words)
        case Carries.FIND:
            _find(result, words)
        case Carries.FD:
            _fd(result, words)
        case Carries.CONTAINER | Carries.KUBECTL:
            _container(result, words, style=row.wrapping.style)
        case Carries.TRAP:
            _trap(result, words)
        case Carries.ALIAS:
            _alias(result, words)
        case Carries.NOTHING:
            return None
        case _:
            assert_never(row.wrapping.style)
    if row.wrapping.transparent and (program == base or standard_base(program)) and not result.opaque:
        own = words[: len(words) - len(result.carried[0].words)] if result.carried else words
        result.harmless = all(word.known for word in own) and _is_harmless(row, words)
    return result


def _wrapping_use(program: Program, words: Sequence[Word]) -> tuple[Use | None, int]:
    """Find the use that carries a command: the program's own, else a subcommand's; and where its own words begin."""
    if program.use.wrapping is not None:
        return program.use, 1
    known = next((at for at, word in enumerate(words) if not word.known), len(words))
    reading = read_use(program, [word.text for word in words[:known]])
    return (reading.use, reading.at) if reading.use.wrapping is not None else (None, 0)


def why_filled(words: Sequence[Word], wrapped: Unwrapped | None, *, mark: str, appended: bool) -> str:
    """Say why a command is opaque whose words are filled in later: its program, or code in it, is not there yet.

    Args:
        words: Its words.
        wrapped: What it wraps itself, if it is a wrapper.
        mark: What will be replaced in the words; empty for nothing.
        appended: True when words will be put behind them.
    """
    if mark and mark in words[0].text:
        return "the program it runs is filled in later"
    if wrapped is None:
        return ""
    if mark and any(mark in one.code for one in wrapped.carried):
        return "the code it runs is filled in later"
    fills = appended or (bool(mark) and any(mark in word.text for word in words))
    if fills and not wrapped.carried and not wrapped.opaque and _style(words) in _FILLED:
        return "the program it runs is filled in later"
    return ""


def _style(words: Sequence[Word]) -> Carries:
    program = lookup(words[0].text)
    use = _wrapping_use(program, words)[0] if program is not None else None
    return use.wrapping.style if use is not None and use.wrapping is not None else Carries.NOTHING


def _read_options(words: list[Word], row: _Row, *, options: _Options) -> None:
    """Advance `options.at` past options. A word whose value is not known ends them."""
    splits = row.takes(Takes.WORDS)
    while options.at < len(words):
        word = words[options.at]
        text = word.text
        if not word.known or not text.startswith("-"):
            if _is_assignment(word, row):
                options.unknown = options.unknown or not _is_one_word(word)
                options.at += 1
                continue
            return
        if text == "-" and not (splits or row.wrapping.style is Carries.CODE):
            return
        options.at += 1
        if text == "--":
            while options.at < len(words) and _is_assignment(words[options.at], row):
                options.at += 1
            return
        if text == "-":
            options.seen.add("-")
        elif text.startswith("--"):
            _long_option(words, row, text, options=options)
        elif row.wrapping.digits and text[1:].lstrip("-").isdigit():
            options.seen.add("digits")
        else:
            _short_options(words, row, text[1:], options=options)


def _is_assignment(word: Word, row: _Row) -> bool:
    """Say whether a word before the command sets a variable; for the shell itself only where its name is not quoted."""
    text = word.raw if "reserved word" in row.program.families else word.text
    return row.wrapping.assigns and ASSIGNMENT.match(text) is not None


def _is_one_word(word: Word) -> bool:
    """Say whether the shell makes exactly one word of it: an unquoted expansion may become several."""
    return word.known or (word.raw.partition("=")[2][:1] == '"' and word.raw.endswith('"'))


def _long_option(words: list[Word], row: _Row, text: str, *, options: _Options) -> None:
    name, equals, value = text.partition("=")
    option = row.use.options.get(name)
    if option is None:
        longer = {id(one): one for full, one in row.use.options.items() if full.startswith(name)}
        if len(longer) != 1:
            options.unknown = True
            options.seen.add(name)
            return
        option = next(iter(longer.values()))
    options.seen.update(option.spellings)
    if equals:
        _take(words, option, Word(value, value), options=options)
    elif option.takes is not Takes.NOTHING and not option.is_attached and options.at < len(words):
        options.at += 1
        _take(words, option, words[options.at - 1], options=options)


def _short_options(words: list[Word], row: _Row, letters: str, *, options: _Options) -> None:
    for place, letter in enumerate(letters):
        option = row.use.options.get(f"-{letter}")
        if option is None:
            options.seen.add(f"-{letter}")
            options.unknown = True
            continue
        options.seen.update(option.spellings)
        if option.takes is Takes.NOTHING:
            continue
        rest = letters[place + 1 :]
        if rest or option.is_attached:
            _take(words, option, Word(rest, rest), options=options)
        elif options.at < len(words):
            options.at += 1
            _take(words, option, words[options.at - 1], options=options)
        return


def _take(words: list[Word], option: Option, value: Word, *, options: _Options) -> None:
    options.values.append((option, value))
    if option.takes is Takes.WORDS:
        words[options.at : options.at] = split_words(value.text) if value.known else [value]


def _after_options(result: Unwrapped, row: _Row, given: Sequence[Word]) -> None:
    words = list(given)
    options = _Options()
    if row.program.name in ("time", "coproc") and len(words) > 1 and words[1].text == "-p":
        options.at = 2
    _read_options(words, row, options=options)
    if options.seen & row.wrapping.idle:
        return
    if row.program.name == "runuser" and not options.seen & {"-u", "--user"}:
        _coded(result, row, given)
        return
    for _ in range(row.wrapping.operands):
        options.at += 1
        if row.wrapping.style is Carries.JOINED:
            _read_options(words, row, options=options)
    if row.takes(Takes.SHELL):
        _read_options(words, row, options=options)
    _local_code(result, row, options=options)
    code = options.value(Takes.SHELL)
    if code is not None:
        _code(result, code, remote=row.wrapping.remote)
        return
    if options.unknown:
        result.opaque = UNKNOWN_OPTION
    if row.program.name == "coproc" and len(words) > options.at + 1 and words[options.at + 1].raw in ("{", "("):
        options.at += 1
    _emit(result, row, words, options=options)


def _emit(result: Unwrapped, row: _Row, words: list[Word], *, options: _Options) -> None:
    """Give the words after the options as the wrapped command."""
    wrapping = row.wrapping
    chdir = options.value(Takes.CHDIR)
    cwd = "" if chdir is None else chdir.text if chdir.known else "?"
    if options.at >= len(words):
        result.reads_stdin = wrapping.alone == STDIN or bool(options.seen & wrapping.shells)
        result.opaque = result.opaque or ("" if result.reads_stdin else wrapping.alone)
        return
    starts = range(options.at, min(options.at + _MORE_STARTS, len(words)) if options.unknown else options.at + 1)
    for start in starts:
        rest = words[start:]
        if start > options.at and rest[0].text.startswith("-"):
            continue
        if wrapping.style is Carries.JOINED and "-x" not in (options.seen if row.program.name == "watch" else ()):
            for words_run in _with_inputs(rest) if row.program.name == "parallel" else (rest,):
                _joined(result, words_run, remote=wrapping.remote)
        else:
            mark = _mark(row, options=options)
            appended = wrapping.appends and not mark
            result.carried.append(
                InnerCommand(tuple(rest), cwd=cwd, remote=wrapping.remote, mark=mark, appended=appended)
            )


def _with_inputs(words: Sequence[Word]) -> list[Sequence[Word]]:
    """Give the commands that are made of one and the inputs behind `:::`; the command alone where none stand."""
    at = next((at for at, word in enumerate(words) if word.text.startswith(":::")), len(words))
    command, inputs = words[:at], words[at + 1 :][:_MOST_INPUTS]
    if not inputs:
        return [command]
    if any("{}" in word.text for word in command):
        return [[one if word.text == "{}" else word for word in command] for one in inputs]
    return [[*command, one] for one in inputs]


def _mark(row: _Row, *, options: _Options) -> str:
    """Give the string that a wrapper replaces in the wrapped command; empty when it replaces none."""
    given = options.value(Takes.MARK)
    if given is not None:
        return given.text or "{}"
    return "{}" if row.program.name == "parallel" or options.seen & {"-i", "--replace"} else ""


def _local_code(result: Unwrapped, row: _Row, *, options: _Options) -> None:
    """Give what an option of a remote shell runs on this machine."""
    if not (row.wrapping.remote and row.wrapping.style is Carries.JOINED):
        return
    for option, word in options.values:
        found = _LOCAL_SSH.match(word.text) if option.name == "-o" else None
        if found:
            result.carried.append(
                InnerCommand(code=word.text[found.end() :].strip(), opaque="" if word.known else UNKNOWN_CODE)
            )


def _code(result: Unwrapped, word: Word, *, remote: bool = False, here: bool = False) -> None:
    if not word.known:
        result.opaque = UNKNOWN_CODE
    result.carried.append(InnerCommand(code=word.text, remote=remote, here=here))


def _joined(result: Unwrapped, words: Sequence[Word], *, remote: bool = False, here: bool = False) -> None:
    if not words:
        return
    if not all(word.known for word in words):
        result.opaque = result.opaque or UNKNOWN_CODE
    result.carried.append(InnerCommand(code=" ".join(word.text for word in words), remote=remote, here=here))


def _coded(result: Unwrapped, row: _Row, given: Sequence[Word]) -> None:
    """Read a wrapper whose options and operands may stand in any order."""
    words = list(given)
    options = _Options()
    while options.at < len(words):
        _read_options(words, row, options=options)
        options.at += 1
    for option, word in options.values:
        if option.takes is Takes.SHELL:
            _code(result, word)
    if options.unknown:
        result.opaque = UNKNOWN_OPTION
    if row.wrapping.alone and not result.carried and not options.seen & {"--help", "--version"}:
        result.reads_stdin = True


def _shell(result: Unwrapped, use: Use, words: Sequence[Word]) -> None:  # noqa: C901, PLR0912 - one arm per kind of option
    code = {name for name, option in use.options.items() if option.takes is Takes.SHELL}
    at, has_code, from_stdin = 1, False, False
    while at < len(words):
        text = words[at].text
        if not words[at].known or text[:1] not in ("-", "+") or text in ("-", "+"):
            break
        at += 1
        if text == "--":
            break
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if name in ("--help", "--version"):
                return
            if name in code:
                if equals:
                    _code(result, Word(value, value))
                else:
                    has_code = True
            elif name in ("--rcfile", "--init-file") and not equals:
                at += 1
            continue
        has_code = has_code or "c" in text or any(f"-{letter}" in code for letter in text[1:])
        from_stdin = from_stdin or "s" in text
        if text[-1] in "oO":
            at += 1
    result.label = f"{result.label} -c" if has_code else result.label
    if result.carried:
        return
    if has_code and at < len(words):
        _code(result, words[at])
    elif has_code:
        result.opaque = UNKNOWN_CODE
    elif from_stdin or at >= len(words):
        result.reads_stdin = True
    else:
        _script(result, words[at])


def _powershell(result: Unwrapped, use: Use, words: Sequence[Word]) -> None:
    """Read a shell whose options are whole words in any case, and whose code is all that follows.

    Its language is its own, so its code is never known; rules that deny or ask look into it all the same.
    """
    at = 1
    while at < len(words) and words[at].known and words[at].text.startswith("-"):
        text = words[at].text.lower()
        at += 1
        if (len(text) > 1 and _COMMAND.startswith(text)) or text in ("-cwa", "-commandwithargs"):
            result.label = f"{result.label} -Command"
            _joined(result, words[at:])
            result.opaque = UNKNOWN_CODE
            return
        if text.startswith("-e") and _ENCODED.startswith(text.replace("-ec", "-e")):
            result.opaque = UNKNOWN_CODE
            return
        option = next((one for name, one in use.options.items() if name.lower() == text), None)
        at += option is not None and option.takes is not Takes.NOTHING
    if at < len(words):
        _script(result, words[at])
    else:
        result.reads_stdin = True


_COMMAND: Final = "-command"
_ENCODED: Final = "-encodedcommand"


def _script(result: Unwrapped, word: Word) -> None:
    """A script's file runs by its name; a descriptor, a substitution or a variable is not a name."""
    if _STDIN_PATHS.fullmatch(word.text):
        result.reads_stdin = True
    elif not word.known:
        result.opaque = "which script it runs is not known"


def _sourced(base: str, words: Sequence[Word]) -> Unwrapped | None:
    if not words[1:] or (words[1].known and not _STDIN_PATHS.fullmatch(words[1].text)):
        return None
    result = Unwrapped(base)
    _script(result, words[1])
    return result


def _find(result: Unwrapped, words: Sequence[Word]) -> None:
    at = 1
    while at < len(words):
        if words[at].text not in _FIND_ACTIONS:
            at += 1
            continue
        start = at + 1
        at = start
        while at < len(words) and words[at].text != ";" and not (words[at].text == "+" and words[at - 1].text == "{}"):
            at += 1
        inner = tuple(words[start:at])
        if inner:
            result.carried.append(InnerCommand(inner, mark="{}"))


def _fd(result: Unwrapped, words: Sequence[Word]) -> None:
    start = next((at for at, word in enumerate(words) if at and _FD_ACTIONS.fullmatch(word.text)), 0)
    attached = [word.text.partition("=")[2] for word in words if word.text.startswith(("--exec=", "--exec-batch="))]
    result.carried.extend(InnerCommand(tuple(split_words(text))) for text in attached)
    inner: list[Word] = []
    for word in words[start + 1 :] if start else ():
        if word.text == ";" or _FD_ACTIONS.fullmatch(word.text):
            if inner:
                result.carried.append(InnerCommand(tuple(inner), mark="{"))
            inner = []
        else:
            inner.append(word)
    if inner:
        result.carried.append(InnerCommand(tuple(inner), mark="{"))


def _container(result: Unwrapped, words: Sequence[Word], *, style: Carries) -> None:
    found = container_start(words, is_kubectl=style is Carries.KUBECTL)
    if found is None:
        return
    result.label = f"{result.label} {found.verb}"
    if found.unknown:
        result.opaque = UNKNOWN_OPTION
    starts = found.starts
    for start in starts:
        inner = ((found.entry,) if found.entry else ()) + tuple(words[start:])
        if inner:
            result.carried.append(InnerCommand(inner, remote=True))


def _trap(result: Unwrapped, words: Sequence[Word]) -> None:
    rest = list(words[1:])
    if rest and rest[0].text == "--":
        rest = rest[1:]
    if not rest or rest[0].text in ("-l", "-p", "-P", "-", ""):
        return
    if len(rest) == 1 and rest[0].text.isupper():
        return
    _code(result, rest[0], here=True)


def _alias(result: Unwrapped, words: Sequence[Word]) -> None:
    for word in words[1:]:
        name, equals, value = word.text.partition("=")
        if equals and name:
            _code(result, Word(value, value, known=word.known))


def _is_harmless(row: _Row, words: Sequence[Word]) -> bool:
    """Say whether this use of a transparent wrapper changes nothing about what the wrapped command does."""
    if not row.wrapping.assigns:
        return True
    if "builtin" not in row.program.families and "environment" in row.program.families:
        return _sets_only_harmless(words[1:])
    first = next((word.text for word in words[1:] if word.text not in ("-p", "--")), "")
    return not first.startswith("-") and not ASSIGNMENT.match(first)


def _sets_only_harmless(words: Sequence[Word]) -> bool:
    """Say whether nothing but harmless variables stands before the command, and no option."""
    for word in words:
        if not word.known:
            return False
        found = ASSIGNMENT.match(word.text)
        if found is None:
            return not word.text.startswith("-")
        if "+" in found[0] or not is_harmless_variable(found[0][:-1]):
            return False
    return False

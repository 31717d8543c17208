"""What a wrapper would run, read from its words by its page in the book of programs.

Lives here: `unwrap`, with one reader for each way to carry a command. Never here: the pages, what is returned
(`inner_command.py`), options (`wrapper_options.py`), shells (`shell_program.py`), the tree (`walk.py`).

Errs towards more: where the wrapped command may begin in several places all of them are given, and the outer command
is opaque.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, assert_never

from fwdperm.programs import Carries, Takes, is_harmless_variable, lookup, read_use, standard_base
from fwdperm.shell.command import Word
from fwdperm.shell.containers import container_start
from fwdperm.shell.inner_command import UNKNOWN_CODE, UNKNOWN_OPTION, InnerCommand, Unwrapped
from fwdperm.shell.option_commands import commands_of_options
from fwdperm.shell.shell_program import read_powershell, read_shell, read_sourced
from fwdperm.shell.words import split_words
from fwdperm.shell.wrapper_options import ASSIGNMENT, WrapperOptions, WrapperUse, read_options
from fwdperm.shell.wrappers import STDIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.programs import Program, Reading, Use, Wrapping

_FIND_ACTIONS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_ACTIONS: Final = re.compile(r"-[A-Za-z0-9]*[xX]|--exec|--exec-batch")
"""`-x`, `-HX`, `--exec`: an option of `fd` that runs a command, alone or last in a cluster."""
_LOCAL_SSH: Final = re.compile(r"(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]", re.IGNORECASE)
"""`ProxyCommand=nc %h %p`: a setting of `ssh` that runs a command on this machine."""
_FILLED: Final = frozenset({Carries.WORDS, Carries.JOINED, Carries.EVAL, Carries.CODE})
_MOST_INPUTS: Final = 16
"""Inputs behind `:::` that are put in."""
_MORE_STARTS: Final = 4
"""Further places tried for the wrapped command's beginning when an option is not known."""


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
    reading = _read_known(found, words)
    use, start = _wrapping_use(found, reading, words)
    if use is None or use.wrapping is None:
        return read_sourced(base, words) if base in (".", "source") else commands_of_options(found, words, reading)
    row = WrapperUse(found, use, use.wrapping)
    result = Unwrapped(" ".join((base, *use.words)), is_runner=use.wrapping.is_runner)
    words = [words[0], *words[start - use.wrapping.keeps_name :]]
    match row.wrapping.style:
        case Carries.WORDS | Carries.JOINED:
            _after_options(result, row, words)
        case Carries.EACH:
            _each(result, row, words)
        case Carries.CODE:
            _coded(result, row, words)
        case Carries.EVAL:
            result.add_joined(words[2:] if len(words) > 1 and words[1].text == "--" else words[1:], here=True)
        case Carries.SHELL:
            read = read_powershell if use.dash_is_word else read_shell
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


def _read_known(program: Program, words: Sequence[Word]) -> Reading:
    """Find which use of a program the words are, up to the first whose value is not known."""
    return read_use(program, [word.text for word in takewhile(lambda word: word.known, words)])


def _wrapping_use(program: Program, reading: Reading, words: Sequence[Word]) -> tuple[Use | None, int]:
    """Find the use that carries a command: the program's own, else a subcommand's; and where its own words begin."""
    own, inner = program.use.wrapping, reading.use.wrapping
    if own is not None and (inner is None or _is_container_start(words, own)):
        return program.use, 1
    return (reading.use, reading.at) if inner is not None else (None, 0)


def _is_container_start(words: Sequence[Word], wrapping: Wrapping) -> bool:
    """Say whether a container tool's own reading, which knows its options, finds what this command runs."""
    style = wrapping.style
    return style in (Carries.CONTAINER, Carries.KUBECTL) and (
        container_start(words, is_kubectl=style is Carries.KUBECTL) is not None
    )


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
    use = _wrapping_use(program, _read_known(program, words), words)[0] if program is not None else None
    return use.wrapping.style if use is not None and use.wrapping is not None else Carries.NOTHING


def _after_options(result: Unwrapped, row: WrapperUse, given: Sequence[Word]) -> None:
    words = list(given)
    options = WrapperOptions()
    if row.program.name in ("time", "coproc") and len(words) > 1 and words[1].text == "-p":
        options.at = 2
    read_options(words, row, options=options)
    if options.seen & row.wrapping.idle:
        return
    if row.program.name == "runuser" and not options.seen & {"-u", "--user"}:
        _coded(result, row, given)
        return
    for _ in range(row.wrapping.operands):
        options.at += 1
        if row.wrapping.style is Carries.JOINED or (options.at < len(words) and words[options.at].text.startswith("-")):
            read_options(words, row, options=options)
    if row.takes(Takes.SHELL):
        read_options(words, row, options=options)
    _local_code(result, row, options=options)
    if _option_code(result, row, options=options) and options.at >= len(words):
        return
    if options.unknown:
        result.opaque = UNKNOWN_OPTION
    if row.program.name == "coproc" and len(words) > options.at + 1 and words[options.at + 1].raw in ("{", "("):
        options.at += 1
    _emit(result, row, words, options=options)


def _option_code(result: Unwrapped, row: WrapperUse, *, options: WrapperOptions) -> bool:
    """Give the code in a wrapper's options, which may run beside its command (`hyperfine --prepare`); say if any is."""
    codes = [word for option, word in options.values if option.takes is Takes.SHELL]
    for code in codes:
        result.add_code(code, remote=row.wrapping.remote)
    return bool(codes)


def _emit(result: Unwrapped, row: WrapperUse, words: list[Word], *, options: WrapperOptions) -> None:
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
                result.add_joined(words_run, remote=wrapping.remote)
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


def _mark(row: WrapperUse, *, options: WrapperOptions) -> str:
    """Give the string that a wrapper replaces in the wrapped command; empty when it replaces none."""
    given = options.value(Takes.MARK)
    if given is not None:
        return given.text or "{}"
    return "{}" if row.program.name == "parallel" or options.seen & {"-i", "--replace"} else ""


def _local_code(result: Unwrapped, row: WrapperUse, *, options: WrapperOptions) -> None:
    """Give what an option of a remote shell runs on this machine."""
    if not (row.wrapping.remote and row.wrapping.style is Carries.JOINED):
        return
    for option, word in options.values:
        found = _LOCAL_SSH.match(word.text) if option.name == "-o" else None
        if found:
            result.carried.append(
                InnerCommand(code=word.text[found.end() :].strip(), opaque="" if word.known else UNKNOWN_CODE)
            )


def _coded(result: Unwrapped, row: WrapperUse, given: Sequence[Word]) -> None:
    """Read a wrapper whose options and operands may stand in any order."""
    words = list(given)
    options = WrapperOptions()
    while options.at < len(words):
        read_options(words, row, options=options)
        options.at += 1
    for option, word in options.values:
        if option.takes is Takes.SHELL:
            result.add_code(word)
    if options.unknown:
        result.opaque = UNKNOWN_OPTION
    if row.wrapping.alone and not result.carried and not options.seen & {"--help", "--version"}:
        result.reads_stdin = True


def _each(result: Unwrapped, row: WrapperUse, given: Sequence[Word]) -> None:
    """Read a wrapper whose operands are commands, options among them."""
    words = list(given)
    options = WrapperOptions()
    read_options(words, row, options=options)
    while options.at < len(words):
        result.add_code(words[options.at])
        options.at += 1
        read_options(words, row, options=options)
    for option, word in options.values:
        if option.takes is Takes.SHELL:
            result.add_code(word)
    if options.unknown:
        result.opaque = UNKNOWN_OPTION


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
    result.add_code(rest[0], here=True)


def _alias(result: Unwrapped, words: Sequence[Word]) -> None:
    for word in words[1:]:
        name, equals, value = word.text.partition("=")
        if equals and name:
            result.add_code(Word(value, value, known=word.known))


def _is_harmless(row: WrapperUse, words: Sequence[Word]) -> bool:
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

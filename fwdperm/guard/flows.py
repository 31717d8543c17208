"""What several commands of one line do together: a download into a shell, a fork bomb, text that hides a command.

Lives here: `flows`, the order of looks at the whole line. Never here: what one command is by itself, how commands hang
together (`command_web.py`), what they send out (`outflow.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Danger
from fwdperm.guard.command_web import Flow, Web, families_of, mark_critical, upstream
from fwdperm.guard.critical import by_words
from fwdperm.guard.inline import GONE, INLINE_FLAGS, look_inside
from fwdperm.guard.outflow import sent_out
from fwdperm.guard.text import sql_drops
from fwdperm.guard.touched import catastrophe
from fwdperm.programs import Carries, is_in_family, lookup
from fwdperm.shell import assignments, decodes, expand, feeder, literal_input, literal_output, parse_line

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.shell import Command, CommandLine

_DEPTH: Final = 3
"""How many times text is unpacked: a shell's code in a shell's code."""
FLOWS: Final = (
    ("critical.remote-code", "runs code straight from the network: piped, substituted, or saved and then run"),
    ("critical.decoded-code", "runs text that nobody can read before it is decoded"),
    ("critical.exfiltration", "sends a secret out: piped, substituted, as a file, in an address, or through a tool"),
    ("critical.bulk-upload", "uploads every file it finds"),
    ("critical.reverse-shell", "gives somebody else a shell here"),
    ("critical.fork-bomb", "starts itself twice, without end"),
    ("critical.read-*", "reads a path whose marker is critical"),
    ("critical.write-*", "writes a path whose marker is critical"),
    ("critical.own-files", "changes this permission system's own files"),
    ("critical.own-command", "an agent must not answer, configure or stop its own permission system"),
    ("critical.kill-fwdperm", "stops the permission daemon"),
)
"""What commands are together, for the reference page."""


_UNKNOWN_HANDLER: Final = "command_not_found_handle"
"""The function that bash runs for a program that it does not find."""


def flows(line: CommandLine, location: Location, text: str, *, depth: int = 0) -> dict[int, Flow]:  # noqa: C901 - a fixed order of looks
    """Find what the commands of a line do together.

    Args:
        line: The parsed line.
        location: Where it runs.
        text: The line as typed.
        depth: How many times text was unpacked to come here; ends at three.

    Returns:
        Command index -> what it is part of. A command that is part of nothing is missing.
    """
    found: dict[int, Flow] = {}
    web = Web.of(line)
    if web.line.functions:
        _fork_bomb(web, found, text)
    for index, command in enumerate(web.commands):
        families = families_of(command)
        if not command.words:
            continue
        if not families.isdisjoint(("interpreter", "text runner")):
            _into_interpreter(web, index, found, location, depth)
        if "sender" in families or any(r.target.text.startswith(("/dev/tcp/", "/dev/udp/")) for r in command.redirects):
            sent_out(web, index, found, location)
        if "database client" in families:
            fed = literal_input(web.line, index)
            if fed and sql_drops(fed):
                found[index] = (
                    Danger.CRITICAL,
                    "critical.drop-data",
                    "destroys a database or a table",
                    (command.program, fed[:80]),
                )
        appends = _appends(command)
        if appends:
            _appended(web, index, found, location)
        if appends or "process killer" in families:
            _kill_us(web, index, found)
    _fetch_then_run(web, found)
    if depth < _DEPTH:
        _hidden(web, location, text, found, depth)
    return found


def _appends(command: Command) -> bool:
    """Say whether a program runs a command with words that it reads from its input."""
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.appends


def _fork_bomb(web: Web, found: dict[int, Flow], text: str) -> None:
    inner = [at for at, one in enumerate(web.commands) if one.stands == "function" and one.base in web.line.functions]
    names = [web.commands[at].base for at in inner]
    for at in inner:
        name = web.commands[at].base
        again = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./(-])[^;&|\n]*&(?!&)", text)
        if again and (names.count(name) > 1 or name == _UNKNOWN_HANDLER):
            mark_critical(found, "critical.fork-bomb", "starts itself twice, without end", (name,), at)
    for index, command in enumerate(web.commands):
        inside = command.stands == "function" and command.base in web.line.functions and command.fed_by >= 0
        if inside and web.commands[command.fed_by].base == command.base:
            mark_critical(
                found,
                "critical.fork-bomb",
                "starts itself twice, without end",
                (command.base,),
                index,
                command.fed_by,
            )


def _reads_program_from_input(command: Command) -> bool:
    args = command.argv[1:]
    if any(
        arg in INLINE_FLAGS or arg == "-m" or (re.fullmatch(r"-[a-z]*c", arg) and "shell" in families_of(command))
        for arg in args
    ):
        return False
    operands = [arg for arg in args if not arg.startswith("-")]
    return not operands or "-s" in args or "-" in args or operands[0] in {"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"}


def _into_interpreter(web: Web, index: int, found: dict[int, Flow], location: Location, depth: int) -> None:  # noqa: C901 - a fixed order of looks
    command = web.commands[index]
    families = families_of(command)
    feeding = list(upstream(web, index))
    from_input = "text runner" not in families and _reads_program_from_input(command)
    runs_text = "text runner" in families or any(
        arg in INLINE_FLAGS or re.fullmatch(r"-[a-zA-Z]*c", arg) for arg in command.argv[1:]
    )
    as_file = any(not word.known and word.text.startswith("<(") for word in command.words[1:])
    for at in feeding:
        if not (from_input or ((runs_text or as_file) and _is_within(web, at, index))):
            continue
        other = web.commands[at]
        words = (other.program, command.program)
        if "downloader" in families_of(other):
            mark_critical(found, "critical.remote-code", "runs code straight from the network", words, at, index)
        elif decodes(other):
            reason = "runs text that nobody can read before it is decoded"
            mark_critical(found, "critical.decoded-code", reason, words, at, index)
    if from_input and depth < _DEPTH and "shell" in families:
        fed = literal_input(web.line, index)
        if fed:
            _unpack(fed, index, found, location, depth, (command.program, fed[:80]))
    if "interpreter" in families and "shell" not in families:
        for at, word in enumerate(command.words[1:], 1):
            if command.words[at - 1].text in INLINE_FLAGS or (
                word.text.startswith(("-e", "-c")) and len(word.text) > 3  # noqa: PLR2004 - a length of a flag
            ):
                _inline(word.text, index, found, location, depth)
        fed = literal_input(web.line, index) if from_input else None
        if fed:
            _inline(fed, index, found, location, depth)


def _inline(code: str, index: int, found: dict[int, Flow], location: Location, depth: int) -> None:
    hits, texts = look_inside(code, location)
    for hit in hits:
        mark_critical(found, hit[0], hit[1], hit[2], index)
    for text in texts if depth < _DEPTH else ():
        _unpack(text, index, found, location, depth, (text[:80],), only=GONE)


def _is_within(web: Web, at: int, index: int) -> bool:
    """Say whether a command stands inside another's words: what it prints becomes the other's code, not its input."""
    while at >= 0 and at != index:
        at = web.commands[at].carrier
    return at == index


def _unpack(  # noqa: PLR0913, PLR0917 - what every look needs
    text: str,
    index: int,
    found: dict[int, Flow],
    location: Location,
    depth: int,
    words: tuple[str, ...],
    *,
    only: frozenset[str] | None = None,
) -> None:
    """Look for catastrophe in text that a shell would run."""
    inner = parse_line(text)
    for command in inner.commands:
        here = location.at(command.cwd)
        single = catastrophe(command, here)
        if single and (only is None or single[0] in only):
            mark_critical(found, single[0], single[1], words, index)
            return
    for hit in flows(inner, location, text, depth=depth + 1).values():
        if hit[0] is Danger.CRITICAL and (only is None or hit[1] in only):
            mark_critical(found, hit[1], hit[2], words, index)
            return


def _appended(web: Web, index: int, found: dict[int, Flow], location: Location) -> None:
    """Put literal input behind the command that takes it as words; look at a search over everything that feeds it."""
    inner = [at for at, each in enumerate(web.commands) if each.carrier == index and each.wrapped_by]
    fed = literal_input(web.line, index)
    source = web.commands[max(feeder(web.line, index), 0)]
    for at in inner:
        argv = web.commands[at].argv
        if fed and argv:
            hit = by_words((*argv, *fed.split()), location)
            if hit:
                mark_critical(found, hit[0], hit[1], hit[2], index, at)
        if argv and is_in_family(argv[0], "remover") and _searches(source):
            hit = by_words((*source.argv, "-delete"), location)
            if hit:
                mark_critical(found, hit[0], hit[1], hit[2], index, at)


def _searches(command: Command) -> bool:
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.style is Carries.FIND


def _kill_us(web: Web, index: int, found: dict[int, Flow]) -> None:
    command = web.commands[index]
    if _appends(command) and not any(
        each.carrier == index and "process killer" in families_of(each) for each in web.commands
    ):
        return
    for at in upstream(web, index):
        if any("fwdperm" in word.lower() for word in web.commands[at].argv):
            mark_critical(
                found, "critical.kill-fwdperm", "stops the permission daemon", (command.program, "fwdperm"), index
            )


def _fetch_then_run(web: Web, found: dict[int, Flow]) -> None:
    """Follow a file from a download to a command that runs it."""
    fetched: dict[str, int] = {}
    for index, command in enumerate(web.commands):
        name = command.program.removeprefix("./")
        args = [word.removeprefix("./") for word in command.argv[1:]]
        if fetched:
            script = (
                next((arg for arg in args if not arg.startswith("-")), "")
                if not families_of(command).isdisjoint(("interpreter", "text runner"))
                else ""
            )
            hit = fetched.get(name) if name in fetched else fetched.get(script)
            if hit is not None and hit != index:
                mark_critical(
                    found,
                    "critical.remote-code",
                    "runs code straight from the network",
                    (web.commands[hit].program, name),
                    hit,
                    index,
                )
        if "web client" in families_of(command):
            for target in _downloaded(command, args):
                fetched[target.removeprefix("./")] = index


def _downloaded(command: Command, args: list[str]) -> list[str]:
    out = [redirect.target.text for redirect in command.redirects if redirect.writes]
    for at, arg in enumerate(args[:-1]):
        if arg in {"-o", "--output", "-O", "--output-document"} or re.fullmatch(r"-[a-zA-Z]*[oO]", arg):
            out.append(args[at + 1])
    by_itself = "saves by itself" in families_of(command)
    if by_itself or any(re.fullmatch(r"-[a-zA-Z]*O[a-zA-Z]*|--remote-name", arg) for arg in args):
        out.extend(arg.split("?")[0].rpartition("/")[2] for arg in args if "/" in arg and not arg.startswith("-"))
    return [name for name in out if name and name != "-"]


def _hidden(web: Web, location: Location, text: str, found: dict[int, Flow], depth: int) -> None:
    """Resolve literal variables, blanks and printed text, and look again at what then stands there."""
    if "\0" in text:
        for joined in (text.replace("\0", ""), text.replace("\0", "\n")):
            _unpack(joined, 0, found, location, depth, ("NUL",))
    if "$" not in text and "`" not in text and "{" not in text:
        return
    variables: dict[str, str] | None = None
    last = len(web.line.commands) - 1 if web.line.cut_short else -1  # the text that was not read to its end
    for index, command in enumerate(web.commands):
        if index == last or not command.raw or all(word.known for word in command.words):
            continue
        if variables is None:
            variables = assignments(web.line)
        after = expand(command.raw, variables, print_of=_printed)
        if after != command.raw:
            _unpack(after, index, found, location, depth, (command.raw[:80], after[:80]))


def _printed(code: str) -> str | None:
    inner = parse_line(code)
    tops = [at for at, command in enumerate(inner.commands) if command.carrier < 0]
    return literal_output(inner, tops[-1]) if tops and not inner.opaque else None

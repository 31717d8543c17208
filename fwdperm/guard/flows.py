"""What several commands of one line do together: a download into a shell, a secret into the network, a fork bomb.

Lives here: findings over the whole line, given to the commands concerned. Never here: what one command is by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Danger
from fwdperm.guard.critical import by_words
from fwdperm.guard.exfiltration import UPLOADS, secret_read_by, uploaded_secret
from fwdperm.guard.inline import GONE, INLINE_FLAGS, look_inside
from fwdperm.guard.text import holds_token, is_local, sql_drops
from fwdperm.guard.touched import catastrophe
from fwdperm.programs import Carries, is_in_family, lookup
from fwdperm.shell import assignments, decodes, expand, feeder, literal_input, literal_output, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.guard.surroundings import Location
    from fwdperm.shell import Command, CommandLine

Flow = tuple[Danger, str, str, tuple[str, ...]]


_DEPTH: Final = 3


MOST_COMMANDS: Final = 500
"""Commands of one line that are looked at together; a longer line is for a person anyway."""


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


@dataclass(frozen=True, slots=True)
class Web:
    """A line, and for each command the commands that it carries.

    Attributes:
        line: The line.
        commands: Its commands, at most `MOST_COMMANDS`.
        children: Command index -> what it carries.
    """

    line: CommandLine
    commands: tuple[Command, ...]
    children: dict[int, list[int]]

    @classmethod
    def of(cls, line: CommandLine) -> Web:
        """Index a line."""
        children: dict[int, list[int]] = {}
        commands = line.commands[:MOST_COMMANDS]
        for index, command in enumerate(commands):
            if command.carrier >= 0:
                children.setdefault(command.carrier, []).append(index)
        return cls(line, commands, children)


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
        families = _families(command)
        if not command.words:
            continue
        if not families.isdisjoint(("interpreter", "text runner")):
            _into_interpreter(web, index, found, location, depth)
        if "sender" in families or any(r.target.text.startswith(("/dev/tcp/", "/dev/udp/")) for r in command.redirects):
            _out(web, index, found, location)
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


def _families(command: Command) -> frozenset[str]:
    program = lookup(command.program)
    return program.families if program is not None else frozenset()


def _appends(command: Command) -> bool:
    """Say whether a program runs a command with words that it reads from its input."""
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.appends


def _critical(found: dict[int, Flow], id_: str, reason: str, words: tuple[str, ...], *indexes: int) -> None:
    for index in indexes:
        if index >= 0 and (index not in found or found[index][0].rank < Danger.CRITICAL.rank):
            found[index] = (Danger.CRITICAL, id_, reason, words)


def _fork_bomb(web: Web, found: dict[int, Flow], text: str) -> None:
    inner = [at for at, one in enumerate(web.commands) if one.stands == "function" and one.base in web.line.functions]
    names = [web.commands[at].base for at in inner]
    for at in inner:
        name = web.commands[at].base
        again = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./(-])[^;&|\n]*&(?!&)", text)
        if again and (names.count(name) > 1 or name == _UNKNOWN_HANDLER):
            _critical(found, "critical.fork-bomb", "starts itself twice, without end", (name,), at)
    for index, command in enumerate(web.commands):
        inside = command.stands == "function" and command.base in web.line.functions and command.fed_by >= 0
        if inside and web.commands[command.fed_by].base == command.base:
            _critical(
                found,
                "critical.fork-bomb",
                "starts itself twice, without end",
                (command.base,),
                index,
                command.fed_by,
            )


def upstream(web: Web, index: int) -> Iterator[int]:
    """Give every command whose output reaches this one: through pipes, what those run, what is put into its words."""
    seen: set[int] = set()
    waiting = [feeder(web.line, index), *_substituted(web, index)]
    while waiting:
        at = waiting.pop()
        if at < 0 or at in seen:
            continue
        seen.add(at)
        yield at
        waiting.append(feeder(web.line, at))
        waiting.extend(web.children.get(at, ()))


def _substituted(web: Web, index: int) -> list[int]:
    return [at for at in web.children.get(index, ()) if not web.commands[at].wrapped_by]


def _reads_program_from_input(command: Command) -> bool:
    args = command.argv[1:]
    if any(
        arg in INLINE_FLAGS or arg == "-m" or (re.fullmatch(r"-[a-z]*c", arg) and "shell" in _families(command))
        for arg in args
    ):
        return False
    operands = [arg for arg in args if not arg.startswith("-")]
    return not operands or "-s" in args or "-" in args or operands[0] in {"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"}


def _into_interpreter(web: Web, index: int, found: dict[int, Flow], location: Location, depth: int) -> None:  # noqa: C901 - a fixed order of looks
    command = web.commands[index]
    families = _families(command)
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
        if "downloader" in _families(other):
            _critical(found, "critical.remote-code", "runs code straight from the network", words, at, index)
        elif decodes(other):
            reason = "runs text that nobody can read before it is decoded"
            _critical(found, "critical.decoded-code", reason, words, at, index)
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
        _critical(found, hit[0], hit[1], hit[2], index)
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
            _critical(found, single[0], single[1], words, index)
            return
    for hit in flows(inner, location, text, depth=depth + 1).values():
        if hit[0] is Danger.CRITICAL and (only is None or hit[1] in only):
            _critical(found, hit[1], hit[2], words, index)
            return


def _out(web: Web, index: int, found: dict[int, Flow], location: Location) -> None:  # noqa: C901 - a fixed order of looks
    """Judge a command that can send: does a secret reach it?"""
    command = web.commands[index]
    families = _families(command)
    logs_in = _only_logs_in(command)
    for at in upstream(web, index):
        other = web.commands[at]
        secret = "" if logs_in else secret_read_by(other, location.at(other.cwd))
        if secret:
            _critical(
                found, "critical.exfiltration", "sends a secret out", (secret, command.program or "network"), at, index
            )
        elif "raw connection" in families and "shell" in _families(other):
            _critical(
                found,
                "critical.reverse-shell",
                "gives somebody else a shell here",
                (other.program, command.program),
                at,
                index,
            )
    if any(redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/")) for redirect in command.redirects):
        if "shell" in families or ("text runner" in families and _hands_a_shell_over(web, index)):
            _critical(
                found,
                "critical.reverse-shell",
                "gives somebody else a shell here",
                (command.program, "/dev/tcp"),
                index,
            )
        elif secret_read_by(command, location):
            _critical(found, "critical.exfiltration", "sends a secret out", (command.program, "/dev/tcp"), index)
    secret = uploaded_secret(command, location)
    if not secret:
        secret = _tainted(web, index, location)
    if secret:
        _critical(found, "critical.exfiltration", "sends a secret out", (command.program, secret), index)
    elif "web client" in families and any(
        word.text.startswith(("http://", "https://")) and holds_token(word.text) and not is_local(word.text)
        for word in command.words[1:]
    ):
        _critical(found, "critical.exfiltration", "sends a secret out in an address", (command.program,), index)
    sends_files = "file sender" in families or (
        "web client" in families and any(UPLOADS.match(word.text) for word in command.words[1:])
    )
    if sends_files and _runs_over_many(web, index):
        _critical(found, "critical.bulk-upload", "uploads every file it finds", (command.program,), index)


def _only_logs_in(command: Command) -> bool:
    """Say whether all that is not known before it runs is a login header: a token sent where it belongs."""
    unknown = [word.text.lower() for word in command.words if not word.known]
    return (
        "web client" in _families(command)
        and bool(unknown)
        and command.fed_by < 0
        and all(text.startswith(("authorization:", "private-token:", "x-api-key:")) for text in unknown)
    )


def _hands_a_shell_over(web: Web, index: int) -> bool:
    """Say whether `exec` keeps a connection open on which a shell, or whatever comes in, is run."""
    return any(is_in_family(word, "shell") for word in web.commands[index].argv[1:]) or any(
        "shell" in _families(other) or (bool(other.words) and "$" in other.words[0].raw)
        for at, other in enumerate(web.commands)
        if at != index
    )


def _runs_over_many(web: Web, index: int) -> bool:
    at = web.commands[index].carrier
    while at >= 0:
        if "repeater" in _families(web.commands[at]):
            return True
        at = web.commands[at].carrier
    return False


def _tainted(web: Web, index: int, location: Location) -> str:
    """Follow `X=$(cat secret)` into a later command that sends `$X`."""
    if all(word.known for word in web.commands[index].words):
        return ""
    raw = web.commands[index].raw
    for at in range(index):
        for name, value in web.commands[at].prefixes:
            if not value.known and re.search(rf"\$\{{?{re.escape(name)}\b", raw):
                for child in _substituted(web, at):
                    secret = secret_read_by(web.commands[child], location)
                    if secret:
                        return secret
    return ""


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
                _critical(found, hit[0], hit[1], hit[2], index, at)
        if argv and is_in_family(argv[0], "remover") and _searches(source):
            hit = by_words((*source.argv, "-delete"), location)
            if hit:
                _critical(found, hit[0], hit[1], hit[2], index, at)


def _searches(command: Command) -> bool:
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.style is Carries.FIND


def _kill_us(web: Web, index: int, found: dict[int, Flow]) -> None:
    command = web.commands[index]
    if _appends(command) and not any(
        each.carrier == index and "process killer" in _families(each) for each in web.commands
    ):
        return
    for at in upstream(web, index):
        if any("fwdperm" in word.lower() for word in web.commands[at].argv):
            _critical(
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
                if not _families(command).isdisjoint(("interpreter", "text runner"))
                else ""
            )
            hit = fetched.get(name) if name in fetched else fetched.get(script)
            if hit is not None and hit != index:
                _critical(
                    found,
                    "critical.remote-code",
                    "runs code straight from the network",
                    (web.commands[hit].program, name),
                    hit,
                    index,
                )
        if "web client" in _families(command):
            for target in _downloaded(command, args):
                fetched[target.removeprefix("./")] = index


def _downloaded(command: Command, args: list[str]) -> list[str]:
    out = [redirect.target.text for redirect in command.redirects if redirect.writes]
    for at, arg in enumerate(args[:-1]):
        if arg in {"-o", "--output", "-O", "--output-document"} or re.fullmatch(r"-[a-zA-Z]*[oO]", arg):
            out.append(args[at + 1])
    by_itself = "saves by itself" in _families(command)
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

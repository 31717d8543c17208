"""The shell surface: one assessment per command of a line, and the line's worst.

Lives here: the order of looks at a command. Never here: the tables it looks into.

The order: the allow list in full, else catastrophe, else danger rule, else ruled. What several commands do together
comes on top and only ever makes things worse.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.command_web import MOST_COMMANDS
from fwdperm.guard.container_loss import in_container
from fwdperm.guard.dangers import danger_of
from fwdperm.guard.exfiltration import is_secret, secret_read_by
from fwdperm.guard.filled_in import filled_in
from fwdperm.guard.flows import flows
from fwdperm.guard.places import SYSTEM_DIRECTORIES
from fwdperm.guard.routine import routine_use
from fwdperm.guard.self_protection import is_own
from fwdperm.guard.sensitive_paths import may_hold_secret_path, may_stand_for_secret, sensitive_to_write
from fwdperm.guard.text import holds_token, sql_changes
from fwdperm.guard.touched import candidates, catastrophe
from fwdperm.guard.writing import why_not_ordinary
from fwdperm.programs import Files, Takes, Use, is_in_family, lookup, runs_code
from fwdperm.shell import parse_line

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.programs import Program, UsePattern
    from fwdperm.shell import Command, CommandLine

LONGEST_ROUTINE: Final = 2_000
"""Characters of a line that can still be routine: more than a person takes in."""
_SECRET_VARIABLE: Final = re.compile(
    r"\$\{?[#!]?\w*(?:TOKEN|SECRET|PASSW|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIAL|_PAT\b|DATABASE_URL)",
    re.IGNORECASE,
)
"""The expansion of a variable whose name says that it holds a secret: `$GITHUB_TOKEN`, `${#DB_PASSWORD}`."""
_WRAPPER_WORD: Final = re.compile(
    r"(?:-?\d+(?:\.\d+)?[smhd]?|-[nkspv]|-[ioe](?:L|0)|--foreground|--preserve-status|(?:SIG)?(?:TERM|KILL|INT|HUP))$"
)
"""A word that may stand between a harmless wrapper and its command: `30s` of `timeout`, `-n` and `5` of `nice`, `-oL`
of `stdbuf`, `TERM`."""
_SED_RUNS: Final = re.compile(r"(?:^|[;\n{}]|[0-9$/])\s*[ew](?:\s|$)|/[gpI0-9]*[we]\b")
"""A script of sed's that runs a command (`1e date`) or writes a file (`s/a/b/w out`): the commands `e` and `w` where a
command may begin, and the same letters as flags behind a substitution."""
_QUOTED: Final = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
r"""What a shell reads as text: `\&`, `'a & b'`, `"a & b"`. Taken away before `&` is looked for."""
_BACKGROUND: Final = re.compile(r"(?<![&<>|])&(?![&>])")
"""A `&` that leaves a job running (`sleep 9 & ls`), and no part of `&&`, `&>`, `>&`, `<&` or `|&`."""
_PADDING: Final = re.compile(r" {40}|\t{10}|(?:\n[ \t]*){4}")
r"""Blanks that push what follows out of sight (`ls\n\n\n\nrm x`): forty in a row, ten tabs, or three empty lines."""
_REGENERABLE: Final = frozenset(
    [
        "build",
        "dist",
        "target",
        "out",
        "node_modules",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".tox",
        ".nox",
        "htmlcov",
        "coverage",
        ".coverage",
        ".next",
        ".nuxt",
        ".turbo",
        ".parcel-cache",
        ".cache",
        "tmp",
        ".eggs",
    ]
)
"""Directories of the workspace that a build makes again."""


_CLIENT_ACTS: Final = re.compile(
    r"(?m)^\s*\.(?:shell|system|output|once|import|load|read|save|backup|excel)\b|\\(?:!|copy\b|o\b|i\b|w\b|g\s*\|)"
)
r"""A command of a database client's own that runs a program or writes a file: `.shell ls`, `\! ls`, `\copy`."""
_ELSEWHERE: Final = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!\\)|rsync://")
"""A path on another machine: `host:dir`, `me@host:`, `rsync://host/x`."""
_SYSTEM: Final = ("/etc/", "/usr/", "/bin/", "/sbin/", "/lib", "/boot/", "/var/", "/opt/")
_RUN_LATER: Final = ("workflows/x.yml", "settings.json", "commit-msg", "tasks.json", "hooks/x.sh")
"""Files that something runs or obeys later, by the directory that they stand in."""


def assess_line(line: CommandLine, text: str, location: Location) -> tuple[Assessment, list[Assessment]]:
    """Assess a command line.

    Args:
        line: The parsed line.
        text: As typed.
        location: Where it runs.

    Returns:
        The worst, and one assessment per command in the line's order.
    """
    if not text.strip():
        return Assessment(Danger.DANGEROUS, "dangerous.empty", "there is no command to judge"), []
    veto = _veto(line, text)
    each = [_assess_command(index, line, location, veto, text) for index in range(len(line.commands))]
    if (
        len(each) > 1
        or "$" in text
        or "\0" in text
        or "<" in text
        or "`" in text
        or "{" in text
        or (each[:1] and each[0].danger is not Danger.ROUTINE)
    ):
        for index, (danger, id_, reason, words) in flows(line, location, text).items():
            hit = measured(Assessment(danger, id_, reason, words))
            if index >= len(each):
                each.append(hit)
            elif danger.rank > each[index].danger.rank:
                each[index] = hit
    worst = veto if veto is not None else None
    for one in each:
        if worst is None or one.danger.rank > worst.danger.rank:
            worst = one
    if worst is None:
        worst = Assessment(Danger.DANGEROUS, "dangerous.opaque", line.opaque or "no command could be found")
    return worst, each


def assess_text(text: str, location: Location) -> Assessment:
    """Assess text that a shell would run."""
    return assess_line(parse_line(text), text, location)[0]


def _veto(line: CommandLine, text: str) -> Assessment | None:  # noqa: C901 - a fixed order of looks
    """Say what forbids the whole line to be routine."""
    if line.opaque:
        return Assessment(Danger.DANGEROUS, "dangerous.opaque", line.opaque)
    if len(line.commands) > MOST_COMMANDS:
        return Assessment(Danger.DANGEROUS, "dangerous.many", f"more than {MOST_COMMANDS} commands in one line")
    if not text.isascii() or not text.isprintable():
        bad = next((char for char in text if not char.isprintable() and char not in "\n\t"), "")
        if bad:
            return Assessment(
                Danger.DANGEROUS,
                "dangerous.unprintable",
                "characters that do not show what they are",
                (f"U+{ord(bad):04X}",),
            )
        if not text.isascii():
            for command in line.commands:
                if not command.program.isascii():
                    return Assessment(
                        Danger.DANGEROUS,
                        "dangerous.lookalike",
                        "letters of another script in a program's name",
                        (command.program[:80],),
                    )
            return Assessment(Danger.RULED, "ruled.letters", "letters beyond ASCII")
    if len(text) > LONGEST_ROUTINE:
        return Assessment(Danger.RULED, "ruled.long", f"longer than {LONGEST_ROUTINE} characters")
    if _PADDING.search(text):
        return Assessment(Danger.RULED, "ruled.padding", "padding that may push something out of sight")
    if "&" in text and _BACKGROUND.search(_QUOTED.sub("", text)):
        return Assessment(Danger.RULED, "ruled.background", "goes on running after the line has ended")
    if line.functions:
        return Assessment(
            Danger.RULED, "ruled.function", "defines functions, so that a name may mean anything", line.functions
        )
    return None


def _assess_command(
    index: int, line: CommandLine, base_ground: Location, veto: Assessment | None, text: str
) -> Assessment:
    command = line.commands[index]
    location = base_ground.at(command.cwd) if command.cwd else base_ground
    is_lost = veto is not None and veto.danger is Danger.DANGEROUS
    why = "" if is_lost else routine_use(command, location)
    filled: list[Command] = []
    if isinstance(why, str) and not is_lost:
        filled = filled_in(line, index, text)
        uses = [routine_use(one, location) for one in filled]
        why = next((use for use in uses if isinstance(use, str)), uses[0]) if uses else why
    if isinstance(why, Use):
        return Assessment(Danger.ROUTINE, f"routine.{why.routine}", why.why, command.argv[:3]) if veto is None else veto
    hit = next(filter(None, (catastrophe(one, location) for one in (command, *filled))), None)
    hit = in_container(line, index, hit, location) if command.remote else hit
    if hit:
        return measured(Assessment(Danger.CRITICAL, *hit))
    if command.opaque:
        return Assessment(Danger.DANGEROUS, "dangerous.opaque", command.opaque, (command.raw[:80],))
    danger = _danger(command, location)
    if danger:
        return danger
    if veto is not None and is_lost:
        return veto
    if _is_plain_wrapper(command) and not command.prefixes and not command.redirects and _carries(line, index):
        return (
            Assessment(Danger.ROUTINE, "routine.wrapper", "only carries another command", (command.program,))
            if veto is None
            else veto
        )
    return Assessment(Danger.RULED, "ruled.unlisted", why, command.argv[:3] or (command.raw[:80],))


def _is_plain_wrapper(command: Command) -> bool:
    program = lookup(command.program)
    return program is not None and program.use.wrapping is not None and program.use.wrapping.is_plain


def _carries(line: CommandLine, index: int) -> bool:
    """Say whether what a wrapper runs stands in the line as a command of its own, word for word."""
    argv = line.commands[index].argv
    for child in line.commands[index + 1 : index + 64]:
        if child.carrier == index and child.wrapped_by:
            lead = argv[1 : len(argv) - len(child.words)]
            return (
                argv[len(argv) - len(child.words) :] == child.argv
                and all(word.known for word in line.commands[index].words)
                and all(_WRAPPER_WORD.match(word) for word in lead)
            )
    return False


def _danger(command: Command, location: Location) -> Assessment | None:  # noqa: C901, PLR0912 - a fixed order of looks
    for name, _value in command.prefixes:
        if runs_code(name):
            return Assessment(
                Danger.DANGEROUS, "dangerous.variable", "a variable that makes programs run other code", (name,)
            )
    for redirect in command.redirects:
        if redirect.writes:
            found = _written(redirect.target.text, location, known=redirect.target.known)
            if found:
                return found
        elif redirect.reads and is_secret(redirect.target.text, location):
            return Assessment(
                Danger.DANGEROUS, "dangerous.sensitive-read", "reads a sensitive path", (redirect.target.text,)
            )
    if not command.words:
        return None
    argv = command.argv
    program = lookup(command.program)
    families = program.families if program is not None else frozenset()
    if "environment" in families:
        if secret_read_by(command, location):
            return Assessment(Danger.DANGEROUS, "dangerous.environment", "shows every secret in the environment", argv)
        for word in argv[1:]:
            name, equals, _ = word.partition("=")
            if equals and runs_code(name):
                return Assessment(
                    Danger.DANGEROUS, "dangerous.variable", "a variable that makes programs run other code", (name,)
                )
    if program is not None and (setting := _setting_of(program, argv)) is not None:
        return Assessment(Danger.DANGEROUS, f"dangerous.{setting.id}", setting.why, argv[:3])
    danger = danger_of(argv)
    if danger is None and argv[1:2] == ("-m",) and len(argv) > 2 and program is not None and "-m" in program.use.subs:  # noqa: PLR2004 - a module
        danger = danger_of(argv[2:])
    if danger and not _is_mild(danger[0].id, command, location):
        return Assessment(Danger.DANGEROUS, f"dangerous.{danger[0].id}", danger[0].why, danger[1])
    secret = next(
        (word.text for word in command.words[1:] if not word.known and _SECRET_VARIABLE.search(word.text)), ""
    )
    if secret:
        return Assessment(Danger.DANGEROUS, "dangerous.secret-variable", "puts a secret variable into words", (secret,))
    if "printer" in families:
        return None
    if "database client" in families and any(_CLIENT_ACTS.search(word) for word in argv[1:]):
        return Assessment(
            Danger.DANGEROUS, "dangerous.database", "a command of the client's own, which runs or writes", argv[:1]
        )
    if "remote copier" in families and any(_ELSEWHERE.match(word) for word in argv[1:]):
        return Assessment(Danger.DANGEROUS, "dangerous.send", "copies to or from another machine", argv[:1])
    if program is not None and program.use.files is Files.CHANGE and (lost := _changes_system(command, location)):
        return Assessment(Danger.DANGEROUS, "dangerous.write-outside", "changes a directory of the system", lost)
    if program is not None and program.use.files in (Files.MOVE, Files.WRITE_LAST) and len(argv) > 2:  # noqa: PLR2004 - source and target
        placed = _placed(argv[-1], location)
        if placed:
            return placed
    if "database client" in families and any(sql_changes(word) for word in argv[1:]):
        return Assessment(Danger.DANGEROUS, "dangerous.database", "changes a database", argv[:1])
    if "remover" in families and not _removes_inside(command, location):
        return Assessment(
            Danger.DANGEROUS, "dangerous.remove", "removes files outside the workspace or not known by name", argv
        )
    if "sender" in families and any(not word.known for word in command.words[1:]):
        return Assessment(
            Danger.DANGEROUS, "dangerous.send-unknown", "sends out something that is not known before it runs", argv[:1]
        )
    if "awk program" in families and any(
        re.search(r"system\s*\(|\||getline|>|ENVIRON|@load|close\s*\(", word) for word in argv[1:]
    ):
        return Assessment(
            Danger.DANGEROUS, "dangerous.awk-code", "awk code that may run a program or write a file", argv[:1]
        )
    if "sed script" in families and any(_SED_RUNS.search(word) for word in argv[1:]):
        return Assessment(
            Danger.DANGEROUS, "dangerous.sed-code", "sed code that may run a program or write a file", argv[:1]
        )
    if "interpreter" in families and command.fed_by >= 0 and not any(not word.startswith("-") for word in argv[1:]):
        return Assessment(Danger.DANGEROUS, "dangerous.piped-code", "runs what another command prints", argv[:1])
    if "downloader" in families and any(word.startswith(("-o/", "-o~", "-O/")) for word in argv):
        return Assessment(Danger.DANGEROUS, "dangerous.download", "saves a download outside the workspace", argv[:2])
    return _dangerous_words(command, location)


def _changes_system(command: Command, location: Location) -> tuple[str, ...]:
    """Give the words by which a command changes what belongs to the system."""
    paths = [location.resolve(word.text) for word in command.words[1:] if word.text[:1] in ("/", ".")]
    system = next((path for path in paths if path in SYSTEM_DIRECTORIES or path.startswith(_SYSTEM)), "")
    return (command.program, system) if system else ()


def _placed(target: str, location: Location) -> Assessment | None:
    """Say whether a directory is put where its files are run or obeyed: hooks, workflows, an agent's settings."""
    path = location.resolve(target)
    for name in _RUN_LATER if path else ():
        marker = sensitive_to_write(f"{path}/{name}")
        if marker is not None and not sensitive_to_write(f"{path}x/{name}"):
            return Assessment(
                Danger.DANGEROUS, f"dangerous.write-{marker.id}", f"may change {marker.reason}", (target,)
            )
    return None


def _setting_of(program: Program, argv: tuple[str, ...]) -> UsePattern | None:
    """Give the danger of a setting that the program itself is given before its subcommand.

    Behind one the same letter may mean something else (`git -c` and `git switch -c`).
    """
    danger = next((one for one in program.dangers if one.id.endswith("-settings")), None)
    at = 1
    while danger is not None and at < len(argv) and argv[at].startswith("-"):
        option = program.use.options.get(argv[at]) or program.use.options.get(argv[at][:2])
        if option is not None and option.takes is Takes.SETTING:
            return danger
        takes_next = option is not None and option.takes is not Takes.NOTHING and argv[at] in option.spellings
        at += 2 if takes_next else 1
    return None


def _dangerous_words(command: Command, location: Location) -> Assessment | None:
    joined = " ".join(command.argv)
    look = (
        may_hold_secret_path(joined)
        or may_hold_secret_path(location.cwd)
        or bool(location.canonical)
        or bool(location.surroundings.sensitive_read)
    )
    changes = is_in_family(command.program, "changer")
    around = location.surroundings
    ours = bool(around.own) or "fwd" in joined.lower() or "fwd" in location.cwd or "responses" in joined
    for word in command.words[1:]:
        text = word.text
        if word.glob and text.rpartition("/")[2][:1] == "." and text not in {".", ".."}:
            return Assessment(
                Danger.DANGEROUS,
                "dangerous.hidden-pattern",
                "a pattern that stands for hidden files",
                (command.program, text),
            )
        if word.glob and may_stand_for_secret(location.resolve(text), location.home, location.cwd):
            reason = "a pattern that may stand for secret files"
            return Assessment(Danger.DANGEROUS, "dangerous.secret-pattern", reason, (command.program, text))
        for each in candidates(text):
            if look and is_secret(each, location):
                return Assessment(
                    Danger.DANGEROUS, "dangerous.sensitive-read", "touches a sensitive path", (command.program, text)
                )
            if ours and "/" in each and is_own(location.resolve(each) or each, around.own, around.workspaces):
                return Assessment(
                    Danger.DANGEROUS,
                    "dangerous.own-files",
                    "touches this permission system's own files",
                    (command.program, text),
                )
            if changes:
                marker = sensitive_to_write(location.resolve(each) or "/" + each)
                if marker:
                    return Assessment(
                        Danger.DANGEROUS,
                        f"dangerous.write-{marker.id}",
                        f"may change {marker.reason}",
                        (command.program, text),
                    )
    if holds_token(joined):
        return Assessment(
            Danger.DANGEROUS, "dangerous.secret-in-request", "carries what looks like a live secret", (command.program,)
        )
    return None


def _written(target: str, location: Location, *, known: bool) -> Assessment | None:
    path = location.resolve(target)
    if not known or not path:
        return Assessment(
            Danger.DANGEROUS, "dangerous.write-unknown", "writes a file that is not known before it runs", (target,)
        )
    marker = sensitive_to_write(path) or location.read_marker(path)
    if marker:
        return Assessment(Danger.DANGEROUS, f"dangerous.write-{marker.id}", f"writes {marker.reason}", (target,))
    if not location.is_inside(path):
        return Assessment(Danger.DANGEROUS, "dangerous.write-outside", "writes a file outside the workspace", (target,))
    if is_own(path, location.surroundings.own, location.surroundings.workspaces):
        return Assessment(
            Danger.DANGEROUS, "dangerous.own-files", "writes this permission system's own files", (target,)
        )
    if why_not_ordinary(path, location) == "belongs to this permission system":
        return Assessment(
            Danger.DANGEROUS, "dangerous.own-files", "writes a file named like this permission system", (target,)
        )
    return None


def _is_mild(id_: str, command: Command, location: Location) -> bool:
    """Say whether a danger rule is mild enough for a user's rule: builds removed, locked dependencies installed."""
    if id_ == "remove-tree":
        return _removes_inside(command, location, only=_REGENERABLE)
    if id_ == "find-acts":
        acts = [
            (flag, after)
            for flag, after in pairwise(command.argv)
            if flag.startswith(("-exec", "-ok", "-delete", "-f"))
        ]
        only_looks = all(flag in {"-exec", "-execdir"} and is_in_family(after, "looker") for flag, after in acts)
        return only_looks and "-delete" not in command.argv
    program = lookup(command.program)
    return program is not None and len(command.argv) == 2 and command.argv[1] in program.mild  # noqa: PLR2004 - it and a word


def _removes_inside(command: Command, location: Location, *, only: frozenset[str] | None = None) -> bool:
    operands = [word for word in command.words[1:] if not word.text.startswith("-")]
    if not operands:
        return False
    for word in operands:
        path = location.resolve(word.text)
        if (
            not word.known
            or word.glob
            or not path
            or not location.is_inside(path)
            or location.read_marker(path)
            or sensitive_to_write(path)
        ):
            return False
        if any(path == root.rstrip("/") for root in location.surroundings.workspaces):
            return False
        if only is not None and path.rpartition("/")[2] not in only:
            return False
    return True

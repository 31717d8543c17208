"""Whether one command is dangerous: by its page, its variables and redirections, and the paths among its words.

Lives here: `command_danger`, a fixed order of looks. Never here: the dangers that a page lists (`dangers.py`),
catastrophes (`critical.py`, `touched.py`), what commands do together (`flows.py`).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.dangers import danger_of
from fwdperm.guard.exfiltration import is_secret, secret_read_by
from fwdperm.guard.reach import reach_of
from fwdperm.guard.self_protection import is_own
from fwdperm.guard.sensitive_paths import may_hold_secret_path, may_stand_for_secret, sensitive_to_write
from fwdperm.guard.shapes import why_not_shaped
from fwdperm.guard.text import holds_token, sql_changes
from fwdperm.guard.touched import candidates
from fwdperm.guard.writing import why_not_ordinary
from fwdperm.programs import Files, Takes, is_in_family, lookup, read_use, runs_code

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.programs import Program, UsePattern
    from fwdperm.shell import Command

_SECRET_VARIABLE: Final = re.compile(
    r"\$\{?[#!]?\w*(?:TOKEN|SECRET|PASSW|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIAL|_PAT\b|DATABASE_URL)",
    re.IGNORECASE,
)
"""The expansion of a variable whose name says that it holds a secret: `$GITHUB_TOKEN`, `${#DB_PASSWORD}`."""


_SED_RUNS: Final = re.compile(r"(?:^|[;\n{}]|[0-9$/])\s*[ew](?:\s|$)|/[gpI0-9]*[we]\b")
"""A script of sed's that runs a command (`1e date`) or writes a file (`s/a/b/w out`): the commands `e` and `w` where a
command may begin, and the same letters as flags behind a substitution."""


_INSTALLS_THE_PROJECT: Final = frozenset({"install", "-e", "--editable", "-q", "--quiet", "."})
"""Words of an installation of the project itself, which its own files describe: `pip install -e .`"""
_EMPTIES: Final = frozenset({">", ">|", "&>"})
"""Redirections that leave a file empty where no command writes anything."""
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


def command_danger(command: Command, location: Location) -> Assessment | None:  # noqa: C901, PLR0912 - a fixed order of looks
    """Say why only a person may allow a command; None where nothing about it is dangerous.

    Args:
        command: One that is neither routine in full nor a catastrophe.
        location: Where it runs.
    """
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
        emptied = next((one.target.text for one in command.redirects if one.operator in _EMPTIES), "")
        if emptied and not emptied.endswith(".log"):
            return Assessment(Danger.DANGEROUS, "dangerous.empties", "empties a file", (emptied,))
        return None
    argv = command.argv
    program = lookup(command.program)
    families = program.families if program is not None else frozenset()
    if "environment" in families:
        if len(argv) > 1 and secret_read_by(command, location):
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
    if program is not None and (reached := reach_of(command, program, location)) is not None:
        return reached
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


def _dangerous_words(command: Command, location: Location) -> Assessment | None:  # noqa: C901 - a fixed order of looks
    joined = " ".join(command.argv)
    look = (
        may_hold_secret_path(joined)
        or may_hold_secret_path(location.cwd)
        or bool(location.canonical)
        or bool(location.surroundings.sensitive_read)
    )
    changes = is_in_family(command.program, "changer")
    shows_names = is_in_family(command.program, "lister")
    packs = is_in_family(command.program, "archiver") and _packs_into_a_file(command)
    around = location.surroundings
    ours = bool(around.own) or "fwd" in joined.lower() or "fwd" in location.cwd or "responses" in joined
    opens_none = _opens_no_files(command)
    for before, word in pairwise(command.words):
        text = word.text
        if opens_none and "/" not in text and before.text[:1] != "-" and text[:1] != "-":
            continue
        if word.glob and text.rpartition("/")[2][:1] == "." and text not in {".", ".."}:
            return Assessment(
                Danger.DANGEROUS,
                "dangerous.hidden-pattern",
                "a pattern that stands for hidden files",
                (command.program, text),
            )
        stands_for_names = shows_names or (packs and text == "*")
        is_secret_pattern = word.glob and may_stand_for_secret(location.resolve(text), location.home, location.cwd)
        if is_secret_pattern and not stands_for_names:
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


def _opens_no_files(command: Command) -> bool:
    """Say whether the book says that a command opens none of its operands, so that a bare word is a name and no file.

    `nmcli device wifi connect NAME password WORD` touches no file `password`. A word behind an option may be a file.
    """
    program = lookup(command.program)
    if program is None:
        return False
    use = read_use(program, command.argv).use
    files = use.files if use.files is not Files.UNKNOWN else program.use.files
    return files is Files.NONE


def _packs_into_a_file(command: Command) -> bool:
    """Say whether one of an archiver's words names the archive, so that what is packed is not shown on the way."""
    texts = [word.text for word in command.words[1:]]
    return "-" not in texts and any(not why_not_shaped(Takes.ARCHIVE, text) for text in texts)


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
    if id_ == "package-install" and set(command.argv[1:]) <= _INSTALLS_THE_PROJECT and "." in command.argv:
        return True
    program = lookup(command.program)
    return program is not None and " ".join(command.argv[1:]) in program.mild


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

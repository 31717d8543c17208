"""Holding a command against the positive list.

Lives here: `Held` and the reading of flags and operands. Never here: the list (`positive.py`), anything that looks for
danger: what is not recognised in full is simply not routine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.markers import matches_configured
from fwdperm.guard.own import is_own
from fwdperm.guard.positive import (
    ALIASES,
    HARMLESS_VARIABLES,
    MODULES,
    MUST_HAVE,
    RUNNERS,
    SCRIPTS,
    SHOWS_VERSION,
    STANDARD_DIRECTORIES,
    TABLE,
    Entry,
    Takes,
)
from fwdperm.guard.writing import ENDINGS, is_plain_directory, why_not_ordinary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.guard.surroundings import Ground
    from fwdperm.shell.command import Command, Word

_INDEX: Final[dict[str, tuple[Entry, ...]]] = {
    name: tuple(sorted((entry for entry in TABLE if entry.program == name), key=lambda entry: -len(entry.words)))
    for name in {entry.program for entry in TABLE}
}
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?[kKmMgGbsh]?$")
_WORD: Final = re.compile(r"(?!/)(?!.*\.\.)(?!.*\W/)[A-Za-z0-9_.:,=@%+#/*^\[\]-]*$")
_REVISION: Final = re.compile(r"[A-Za-z0-9_./~^@{}:+-]+$")
_SED_RANGE: Final = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p(?:;(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p)*$")
_READ_THROUGH_NOT: Final = frozenset(
    [
        "config",
        "configs",
        "conf",
        "deploy",
        "deployment",
        "infra",
        "env",
        "envs",
        "environments",
        "secrets",
        "private",
        "keys",
        "certs",
        "credentials",
        "terraform",
        "ansible",
        "k8s",
        "helm",
        "charts",
        "ops",
        "vault",
    ]
)
_SAFE_GLOB: Final = re.compile(r"!.*$|(?:[\w*][\w*-]*/)*\*?[\w*-]*(?:\.[\w*-]+)?\.\w+$")
_AWK_PRINT: Final = re.compile(r"\{\s*print(?:\s+\$\d+(?:\s*,\s*\$\d+)*|\s+\$NF|\s+NR)?\s*;?\s*\}$")
_JQ_REACHES: Final = re.compile(r"env|input|import|include|\$__|debug|halt", re.IGNORECASE)
_VERSION: Final = Entry("version", "", "shows a version")
_GLOB_CHARS: Final = frozenset("*?[")
_NAMES_ONLY: Final = frozenset({"ls", "test", "[", "stat", "find", "basename", "dirname"})


class NotRoutine(Exception):  # noqa: N818 - it is an answer, not a failure
    """Raised inside this module with the reason why a command is not routine."""


def routine_entry(command: Command, ground: Ground) -> Entry | str:
    """Hold one command against the positive list.

    Args:
        command: The command; its redirects and prefixes are looked at too.
        ground: Where it runs.

    Returns:
        The entry that accepts it in full, else why none does, in words. Fails toward the reason.
    """
    try:
        return _held(command, ground)
    except NotRoutine as reason:
        return str(reason)


def _held(command: Command, ground: Ground) -> Entry:  # noqa: C901, PLR0912 - a fixed order of looks
    if command.opaque or command.remote:
        raise NotRoutine(command.opaque or "runs on another machine")
    if not command.words:
        raise NotRoutine("no program")
    for word in command.words:
        if not word.known:
            raise NotRoutine(f"`{word.raw}` is not known before it runs")
    if not ground.is_in_workspace:
        raise NotRoutine("not run in the workspace")
    if command.prefixes:
        _check_prefixes(command)
    program = _program(command.program)
    words: Sequence[Word] = command.words[1:]
    if program == "python" and len(words) > 1 and words[0].text == "-m" and words[1].text in MODULES:
        program, words = words[1].text, words[2:]
    elif program == "git":
        while words and words[0].text in {"--no-pager", "-P"}:
            words = words[1:]
    elif len(words) > 1 and (program, words[0].text) in RUNNERS:
        program, words = _program(words[1].text), words[2:]
        if program == "python" and len(words) > 1 and words[0].text == "-m" and words[1].text in MODULES:
            program, words = words[1].text, words[2:]
        if program not in MODULES and not any(entry.runs for entry in _INDEX.get(program, ())):
            raise NotRoutine(f"`{program}` is no checking tool")
    if len(words) == 1 and words[0].text == "--version" and program in SHOWS_VERSION and not command.redirects:
        return _VERSION
    entries = _INDEX.get(program)
    if entries is None:
        raise NotRoutine(f"`{program}` is on no positive list")
    for entry in entries:
        lead = len(entry.words)
        if lead == 0 or tuple(word.text for word in words[:lead]) == entry.words:
            _check_words(entry, words[lead:], ground)
            break
    else:
        raise NotRoutine(f"`{program} {words[0].text if words else ''}` is on no positive list".replace(" `", "`"))
    if entry.runs and not ground.surroundings.exec_judgeable:
        raise NotRoutine("running the project's code is not left to the judge here")
    for redirect in command.redirects:
        if redirect.writes:
            problem = (
                why_not_ordinary(ground.resolve(redirect.target.text), ground)
                if redirect.target.known and not redirect.target.glob
                else "target unknown"
            )
            if problem:
                raise NotRoutine(f"writes `{redirect.target.text}`: {problem}")
            _check_canonical(redirect.target.text, ground)
        elif redirect.reads:
            _check_readable(redirect.target, ground)
        elif not redirect.target.known:
            raise NotRoutine("reads text that is not known before it runs")
    return entry


def _program(typed: str) -> str:
    directory, _, base = typed.rpartition("/")
    if "/" in typed and directory not in STANDARD_DIRECTORIES:
        raise NotRoutine(f"`{typed}` is not the program of that name")
    return ALIASES.get(base, base)


def _check_prefixes(command: Command) -> None:
    for name, value in command.prefixes:
        if name not in HARMLESS_VARIABLES or not value.known:
            raise NotRoutine(f"variable `{name}` before the command")


def _check_words(entry: Entry, words: Sequence[Word], ground: Ground) -> None:  # noqa: C901, PLR0912 - one walk over options
    operands: list[Word] = []
    seen: set[str] = set()
    at, count = 0, len(words)
    takes_all = entry.id == "echo"
    while at < count:
        word = words[at]
        text = word.text
        at += 1
        if takes_all or len(text) < 2 or text[0] != "-":  # noqa: PLR2004 - `-` alone is standard input
            if text in entry.flags:
                seen.add(text)
            else:
                operands.append(word)
            continue
        if text == "--":
            if entry.operands is Takes.NOTHING:
                continue
            operands.extend(words[at:])
            break
        if text in entry.flags:
            seen.add(text)
            continue
        name, equals, value = text.partition("=")
        kind = entry.valued.get(name)
        if kind is not None and (equals or name == text):
            seen.add(name)
            if equals:
                _check_value(kind, word, value, ground)
            elif at < count:
                _check_value(kind, words[at], words[at].text, ground)
                at += 1
            else:
                raise NotRoutine(f"`{text}` lacks its value")
            continue
        if entry.numbers and text[1:].isdigit():
            continue
        if entry.words_only or text.startswith("--"):
            raise NotRoutine(f"flag `{name}` of `{entry.program}` is not on the positive list")
        at = _check_cluster(entry, words, at, seen, ground)
    must = MUST_HAVE.get(entry.id)
    if must and not (must & seen):
        raise NotRoutine(
            f"`{entry.program}` without {' or '.join(f'`{flag}`' for flag in sorted(must))} may change files"
        )
    _check_operands(entry, operands, seen, ground)


def _check_cluster(entry: Entry, words: Sequence[Word], at: int, seen: set[str], ground: Ground) -> int:
    """Read `-abc`, whose last letter may take the rest or the next word; give where reading goes on."""
    word = words[at - 1]
    letters = word.text
    for position in range(1, len(letters)):
        flag = "-" + letters[position]
        kind = entry.valued.get(flag)
        if kind is not None:
            seen.add(flag)
            rest = letters[position + 1 :]
            if rest:
                _check_value(kind, word, rest, ground)
                return at
            if at >= len(words):
                raise NotRoutine(f"`{flag}` lacks its value")
            _check_value(kind, words[at], words[at].text, ground)
            return at + 1
        if flag not in entry.flags and letters[position] not in entry.letters:
            raise NotRoutine(f"flag `{flag}` of `{entry.program}` is not on the positive list")
        seen.add(flag)
    return at


def _check_value(kind: Takes, word: Word, value: str, ground: Ground) -> None:
    if kind is not Takes.NUMBER and value == word.text and ground.read_marker(ground.resolve(value) or value):
        # A flag whose value is optional leaves the next word to be a path.
        raise NotRoutine(f"`{value}` may be read as a sensitive path")
    match kind:
        case Takes.TEXT:
            return
        case Takes.NUMBER:
            if not _NUMBER.match(value):
                raise NotRoutine(f"`{value}` is not a number")
        case Takes.WORD:
            if not _WORD.match(value) or word.glob:
                raise NotRoutine(f"`{value}` is not a plain word")
        case Takes.GLOB:
            if not _SAFE_GLOB.match(value) or (value.rpartition(".")[2].lower() not in ENDINGS and value[:1] != "!"):
                raise NotRoutine(f"`{value}` may stand for secret files")
        case Takes.READ:
            _check_path(value, ground, glob=word.glob)
        case _:
            _check_path(value, ground, glob=word.glob, by_name=True)


def _check_operands(entry: Entry, operands: list[Word], seen: set[str], ground: Ground) -> None:  # noqa: C901, PLR0912 - one branch per kind
    if len(operands) < entry.needs:
        raise NotRoutine(f"`{entry.program}` without an operand")
    kind = entry.operands
    match kind:
        case Takes.NOTHING:
            if operands:
                raise NotRoutine(f"operand `{operands[0].text}` of `{entry.program}` is not on the positive list")
        case Takes.TEXT:
            if any(word.glob for word in operands) and entry.program == "printf":
                raise NotRoutine("a pattern of file names where text belongs")
        case Takes.NUMBER | Takes.WORD:
            for word in operands:
                if word.text.startswith("-") and word.text not in entry.flags:
                    raise NotRoutine(f"`{word.text}` of `{entry.program}` is not on the positive list")
                _check_value(kind, word, word.text, ground)
        case Takes.READ:
            for word in operands:
                if word.text != "-":
                    _check_path(word.text.partition("::")[0] if entry.runs else word.text, ground, glob=word.glob)
        case Takes.NAME:
            for word in operands:
                _check_path(word.text, ground, glob=word.glob, by_name=entry.program in _NAMES_ONLY)
        case Takes.WRITE:
            for word in operands:
                _check_written(entry, word, ground)
        case Takes.REVISION:
            for word in operands:
                _check_revision(word, ground)
        case Takes.SCRIPT:
            if len(operands) != 1 or operands[0].text not in SCRIPTS:
                raise NotRoutine("not one of the checking scripts by name")
        case Takes.PATTERN_THEN_READ | Takes.PATTERN_THEN_TREE:
            _check_search(entry, operands, seen, ground)
        case _:
            raise NotRoutine(f"operands of `{entry.program}` are not understood")


def _check_search(entry: Entry, operands: list[Word], seen: set[str], ground: Ground) -> None:  # noqa: C901 - a fixed order of looks
    pattern_given = bool(seen & {"-e", "--regexp", "--files"})
    paths = operands if pattern_given else operands[1:]
    if not pattern_given and not operands and entry.program != "fd":
        raise NotRoutine(f"`{entry.program}` without a pattern")
    if operands and not pattern_given and operands[0].glob and "/" in operands[0].text:
        raise NotRoutine("the pattern may turn into file names")
    if entry.id == "sed-n" and not _SED_RANGE.match(operands[0].text):
        raise NotRoutine("only line ranges of `sed -n` are on the positive list")
    if entry.id == "awk-print" and not _AWK_PRINT.match(operands[0].text):
        raise NotRoutine("only printing columns is on the positive list of `awk`")
    if entry.id == "jq" and _JQ_REACHES.search(operands[0].text):
        raise NotRoutine("this `jq` filter reaches beyond its input")
    if entry.operands is Takes.PATTERN_THEN_TREE and seen & {"-r", "-R", "--recursive"} and "--include" not in seen:
        for word in paths or ():
            _check_tree(word.text, ground)
        if not paths:
            _check_tree(".", ground)
    if entry.id == "git-grep":
        for word in paths:
            _check_revision(word, ground)
        return
    for word in paths:
        if word.text != "-":
            _check_path(word.text, ground, glob=word.glob)


def _check_tree(text: str, ground: Ground) -> None:
    path = ground.resolve(text)
    for root in ground.surroundings.workspaces:
        base = root.rstrip("/")
        if path == base:
            raise NotRoutine("searching the whole workspace would read its secrets too")
        if path.startswith(base + "/"):
            for part in path[len(base) + 1 :].lower().split("/"):
                if part.startswith(".") or part in _READ_THROUGH_NOT:
                    raise NotRoutine(f"searching all of `{part}` may read secrets")


def _check_written(entry: Entry, word: Word, ground: Ground) -> None:
    path = ground.resolve(word.text)
    check = is_plain_directory if entry.program == "mkdir" else why_not_ordinary
    problem = "a pattern of file names" if word.glob else check(path, ground)
    if problem:
        raise NotRoutine(f"`{word.text}`: {problem}")
    _check_canonical(word.text, ground)


def _check_revision(word: Word, ground: Ground) -> None:
    text = word.text
    if not _REVISION.match(text):
        if any(char in _GLOB_CHARS for char in text) and not text.startswith(":"):
            _check_path(text, ground, glob=True)
            return
        raise NotRoutine(f"`{text}` is no plain revision or path")
    before, colon, after = text.partition(":")
    if colon:
        if not before or ":" in after:
            raise NotRoutine(f"`{text}` is no plain object name")
        _check_path(after or ".", ground, glob=False)
        _check_path("./" + after.lstrip("/"), ground, glob=False)
    else:
        _check_path(text, ground, glob=False)
        for part in text.split(".."):
            if part:
                _check_path(part.lstrip("."), ground, glob=False)


def _check_readable(word: Word, ground: Ground) -> None:
    if not word.known:
        raise NotRoutine(f"`{word.raw}` is not known before it runs")
    _check_path(word.text, ground, glob=word.glob)


def _check_path(text: str, ground: Ground, *, glob: bool, by_name: bool = False) -> None:
    if "\\" in text:
        raise NotRoutine(f"`{text}` has a backslash")
    problem = why_not_readable(ground.resolve(text), ground, by_name=by_name)
    if problem:
        raise NotRoutine(f"`{text}`: {problem}")
    if glob and not by_name:
        _check_glob(text)
    if ground.canonical:
        _check_canonical(text, ground)


def _check_canonical(text: str, ground: Ground) -> None:
    for typed, real in ground.canonical:
        if typed == text:
            problem = why_not_readable(real, ground)
            if problem:
                raise NotRoutine(f"`{text}` is really `{real}`: {problem}")


def _check_glob(text: str) -> None:
    """A pattern may stand for hidden or secret files; accept it only where its ending says what it stands for."""
    stem, dot, ending = text.rpartition(".")
    name = stem.rpartition("/")[2]
    if not dot or ending.lower() not in ENDINGS or name.startswith("."):
        raise NotRoutine(f"`{text}` may stand for secret files")
    if any(part[:1] in {".", "?", "["} and part not in {".", ".."} for part in text.split("/")):
        raise NotRoutine(f"`{text}` may stand for hidden files")
    if any(char in _GLOB_CHARS for char in text.partition("/")[0]) and text.startswith(("..", "~")):
        raise NotRoutine(f"`{text}` may lead out of the workspace")


def why_not_readable(path: str, ground: Ground, *, by_name: bool = False) -> str:
    """Say why reading an absolute path is not routine; empty when it is.

    Args:
        path: Absolute and normal; empty when unknown.
        ground: Where the request stands.
        by_name: True when only names are looked at, so that a sensitive file's contents are safe.
    """
    if not path or not ground.is_inside(path):
        return "outside the workspace"
    around = ground.surroundings
    if is_own(path, around.own, around.workspaces):
        return "belongs to this permission system"
    if by_name:
        return ""
    marker = ground.read_marker(path)
    if marker:
        return marker.reason
    if around.sensitive_read and matches_configured(path, around.sensitive_read, ground.home, ground.cwd):
        return "configured as sensitive"
    return ""

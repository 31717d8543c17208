"""Holding the operands of a command, and the values of its flags, against what an entry of the positive list takes.

Lives here: paths, revisions, patterns, small languages (`sed`, `awk`, `jq`) as operands. Never here: the list
(`positive.py`), programs and flags (`routine.py`), which files are ordinary (`reading.py`, `writing.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.markers import sensitive_to_write
from fwdperm.guard.positive import SCRIPTS, Entry, Takes
from fwdperm.guard.reading import Look, why_not_readable
from fwdperm.guard.writing import ENDINGS, below, is_plain_directory, why_not_ordinary

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Ground
    from fwdperm.shell.command import Word


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
_JQ_SHORT_OBJECT: Final = re.compile(r"\{\s*\w+(?:\s*,\s*\w+)*\s*\}")
_JQ_TEXT: Final = re.compile(r'"(?:[^"\\]|\\[^(])*"')
_JQ_KEY: Final = re.compile(r"(?<=[{,])\s*\w+\s*:(?!:)")
_JQ_WORD: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_JQ_WORDS: Final = _f(
    "select map map_values keys keys_unsorted values length not and or if then elif else end as has in inside "
    "contains any all add sort sort_by group_by unique unique_by min max min_by max_by first last limit range "
    "to_entries from_entries with_entries del type tostring tonumber ascii_downcase ascii_upcase test match capture "
    "split join startswith endswith ltrimstr rtrimstr empty recurse paths flatten reverse index rindex indices floor "
    "round sqrt null true false reduce foreach try catch tojson fromjson strings numbers arrays objects booleans "
    "nulls iterables scalars gsub sub ascii explode implode error"
)
_GO_PACKAGE: Final = re.compile(r"(?:\.|\./[\w./-]*|[\w-]+\.go)$")
_BUILD: Final = re.compile(r"(?:\./)?(?:build|_build|out|cmake-build)[\w-]*(?:/[A-Za-z0-9_][\w-]*)*/?$")
_ENVIRONMENT: Final = re.compile(
    r"(?:py\d*|py3\.\d+|pypy\d*|lint|types?|typing|mypy|docs|tests?|unit|format|check|cov|coverage|ruff|flake8|pre-commit)"
    r"(?:-(?:py\d+|\d\.\d+|cov|unit|lint|mypy|docs|test))*$"
)
_DIGESTS: Final = frozenset({"wc", "md5sum", "sha1sum", "sha256sum", "cksum", "file"})
"""Programs that show a count, a sum or a kind, and no contents."""
_REWRITES: Final = frozenset({"ruff", "black", "isort", "gofmt", "rustfmt", "prettier", "eslint"})
"""Programs that may rewrite what they are given: no settings, no hidden directory, nothing that an agent obeys."""
_READS_TREES: Final = frozenset(
    {"ruff", "black", "isort", "python", "go", "gofmt", "rustfmt", "deno", "prettier", "shellcheck"}
)
"""Programs that take directories and show little of what they read."""
_GLOB_CHARS: Final = frozenset("*?[")


class NotRoutine(Exception):  # noqa: N818 - it is an answer, not a failure
    """Raised inside this room with the reason why a command is not routine."""


def check_value(kind: Takes, word: Word, value: str, ground: Ground) -> None:  # noqa: C901, PLR0912 - one branch per kind
    """Hold the value of a flag against what the flag takes.

    Args:
        kind: What it takes.
        word: The word the value stands in.
        value: The value.
        ground: Where the command runs.

    Raises:
        NotRoutine: With the reason, when it is not recognised.
    """
    if kind is not Takes.NUMBER and value == word.text and ground.read_marker(ground.resolve(value) or value):
        # A flag whose value is optional leaves the next word to be a path.
        raise NotRoutine(f"`{value}` may be read as a sensitive path")
    match kind:
        case Takes.TEXT:
            if word.glob and value == word.text:
                raise NotRoutine(f"`{value}` may turn into file names")
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
        case Takes.BUILD:
            if not _BUILD.match(value) or word.glob:
                raise NotRoutine(f"`{value}` is not named like a build's directory")
            _check_path(value, ground, glob=False, look=Look.NAME)
        case Takes.ENVIRONMENT:
            if not all(_ENVIRONMENT.match(each) for each in value.split(",")):
                raise NotRoutine(f"`{value}` is not one of the checking environments by name")
        case _:
            _check_path(value, ground, glob=word.glob, look=Look.NAME)


def check_operands(entry: Entry, operands: list[Word], seen: set[str], ground: Ground) -> None:  # noqa: C901, PLR0912 - one branch per kind
    """Hold the operands of a command against what its entry takes.

    Args:
        entry: The entry.
        operands: The words that are no flags.
        seen: The flags that were given.
        ground: Where the command runs.

    Raises:
        NotRoutine: With the reason, when one is not recognised.
    """
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
        case Takes.CHOICE:
            for word in operands:
                if word.text not in entry.choices:
                    raise NotRoutine(f"`{word.text}` is not one of the checking words of `{entry.program}`")
        case Takes.PACKAGE:
            for word in operands:
                if not _GO_PACKAGE.match(word.text):
                    raise NotRoutine(f"`{word.text}` is no package of the workspace")
                _check_path(word.text, ground, glob=word.glob, look=Look.MAYBE_TREE)
        case Takes.NUMBER | Takes.WORD | Takes.BUILD:
            for word in operands:
                if word.text.startswith("-") and word.text not in entry.flags:
                    raise NotRoutine(f"`{word.text}` of `{entry.program}` is not on the positive list")
                check_value(kind, word, word.text, ground)
        case Takes.READ:
            for word in operands:
                _check_read(entry, word, seen, ground)
        case Takes.NAME:
            for word in operands:
                _check_path(word.text, ground, glob=word.glob, look=Look.NAME)
                if entry.program == "cd" and (problem := is_plain_directory(ground.resolve(word.text), ground)):
                    raise NotRoutine(f"`{word.text}`: {problem}")
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
    if operands and not pattern_given and operands[0].glob:
        raise NotRoutine("the pattern may turn into file names")
    if entry.id == "sed-n" and not _SED_RANGE.match(operands[0].text):
        raise NotRoutine("only line ranges of `sed -n` are on the positive list")
    if entry.id == "awk-print" and not _AWK_PRINT.match(operands[0].text):
        raise NotRoutine("only printing columns is on the positive list of `awk`")
    if entry.id == "jq" and not _is_plain_jq(operands[0].text):
        raise NotRoutine("this `jq` filter says more than picking from its input")
    recursive = entry.program in {"rg", "git"} or bool(seen & {"-r", "-R", "--recursive"})
    if entry.program == "rg" or "--include" not in seen:
        for word in paths if recursive else ():
            _check_tree(word.text.rpartition(":")[2] if entry.program == "git" else word.text, ground, entry.program)
        if recursive and not paths and entry.program not in {"rg", "git"}:
            _check_tree(".", ground, entry.program)
    if recursive and entry.program in {"rg", "git"} and not paths and "--files" not in seen:
        _check_telling(operands, seen)
    look = Look.MAYBE_TREE if recursive or entry.program == "fd" else Look.CONTENT
    for word in paths:
        if entry.id == "git-grep":
            _check_revision(word, ground)
        elif word.text != "-":
            _check_path(word.text, ground, glob=word.glob, look=look)


def _is_plain_jq(text: str) -> bool:
    """Say whether every word of a filter is a known one that only picks and counts."""
    code = _JQ_SHORT_OBJECT.sub("{}", _JQ_TEXT.sub('""', text))
    if "\\(" in code or re.search(r"\$(?![a-z])|@|::", code):
        return False
    return all(
        found.group() in _JQ_WORDS for found in _JQ_WORD.finditer(_JQ_KEY.sub(":", re.sub(r"\$[a-z]\w*", "", code)))
    )


def _check_telling(operands: list[Word], seen: set[str]) -> None:
    """A search of everything must say what it looks for; a pattern that matches any line would show every file."""
    if seen & {"-l", "--files-with-matches", "-c", "--count", "-t", "--type", "-g", "--glob", "--name-only"}:
        return
    pattern = operands[0].text if operands and not seen & {"-e", "--regexp"} else ""
    if not pattern or not all(re.search(r"(?<!\\)[A-Za-z_]{3}", branch) for branch in pattern.split("|")):
        raise NotRoutine("searching the whole workspace for nearly anything would show its secrets too")


def _check_read(entry: Entry, word: Word, seen: set[str], ground: Ground) -> None:
    text = word.text
    if text == "-":
        return
    if text.startswith("@"):
        raise NotRoutine(f"`{text}` may be read as more arguments")
    if entry.program in _REWRITES:
        path = ground.resolve(text)
        if sensitive_to_write(path) or any(part.startswith(".") for part in below(path, ground)):
            raise NotRoutine(f"`{text}` holds settings or orders, which are not rewritten")
    if entry.program in _DIGESTS:
        look = Look.DIGEST
    elif entry.runs or entry.program in _READS_TREES or (entry.program == "diff" and "-r" in seen):
        look = Look.MAYBE_TREE
        if entry.program == "diff":
            _check_tree(text, ground, "diff")
    else:
        look = Look.CONTENT
    _check_path(text.partition("::")[0] if entry.runs else text, ground, glob=word.glob, look=look)


def _check_tree(text: str, ground: Ground, program: str) -> None:
    path = ground.resolve(text)
    for root in ground.surroundings.workspaces:
        base = root.rstrip("/")
        if path == base and program not in {"rg", "git"}:
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
    check_canonical(word.text, ground)


def _check_revision(word: Word, ground: Ground) -> None:
    text = word.text
    if not _REVISION.match(text):
        if any(char in _GLOB_CHARS for char in text) and not text.startswith(":"):
            _check_path(text, ground, glob=True, look=Look.MAYBE_TREE)
            return
        raise NotRoutine(f"`{text}` is no plain revision or path")
    before, colon, after = text.partition(":")
    if colon:
        if not before or ":" in after:
            raise NotRoutine(f"`{text}` is no plain object name")
        _check_path(after or ".", ground, glob=False, look=Look.MAYBE_TREE)
        _check_path("./" + after.lstrip("/"), ground, glob=False, look=Look.MAYBE_TREE)
    else:
        _check_path(text, ground, glob=False, look=Look.MAYBE_TREE)
        for part in text.split(".."):
            if part:
                _check_path(part.lstrip("."), ground, glob=False, look=Look.MAYBE_TREE)


def check_readable(word: Word, ground: Ground) -> None:
    """Raise `NotRoutine` unless a word is a path that may be read."""
    if not word.known:
        raise NotRoutine(f"`{word.raw}` is not known before it runs")
    _check_path(word.text, ground, glob=word.glob)


def _check_path(text: str, ground: Ground, *, glob: bool, look: Look = Look.CONTENT) -> None:
    if "\\" in text:
        raise NotRoutine(f"`{text}` has a backslash")
    problem = why_not_readable(ground.resolve(text), ground, look=look)
    if problem:
        raise NotRoutine(f"`{text}`: {problem}")
    if glob and look is not Look.NAME:
        _check_glob(text)
    if ground.canonical:
        check_canonical(text, ground)


def check_canonical(text: str, ground: Ground) -> None:
    """Raise `NotRoutine` when the requester says that a path is really one that may not be read."""
    for typed, real in ground.canonical:
        if typed == text:
            problem = why_not_readable(real, ground, look=Look.MAYBE_TREE)
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

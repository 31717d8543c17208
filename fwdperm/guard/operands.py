"""Holding the operands of a command, and the values of its flags, against what a routine use takes.

Lives here: paths, revisions, patterns, small languages (`sed`, `awk`, `jq`) as operands. Never here: the uses (the book
of programs), programs and flags (`routine.py`), which files are ordinary (`reading.py`, `writing.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.expansions import is_substitution
from fwdperm.guard.reading import Exposure, why_not_readable
from fwdperm.guard.sensitive_paths import sensitive_to_write
from fwdperm.guard.shapes import FILE_ENDINGS, is_one_path, why_not_shaped
from fwdperm.guard.writing import ENDINGS, below, is_plain_directory, why_no_archive, why_not_ordinary
from fwdperm.programs import First, Takes

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.programs import Program, Use
    from fwdperm.shell import Word


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?[kKmMgGbsh]?$")
"""A number with a unit or without: `20`, `-5`, `+3`, `1.5M`, `10s`."""
_WORD: Final = re.compile(r"(?!/)(?!.*\.\.)(?!.*\W/)[A-Za-z0-9_.:,=@%+#/*^\[\]-]*$")
"""A word that is no path out of the workspace: `name`, `v1.2`, `a=b`. No slash at its beginning or behind a sign
(`a=/etc`), and no `..`."""
_OF_THE_MACHINE: Final = _f(
    "/dev/null /etc/os-release /proc/cpuinfo /proc/loadavg /proc/meminfo /proc/stat /proc/swaps /proc/uptime "
    "/proc/version"
)
"""Files outside any workspace that say what machine it is, and nothing of anybody's."""
_REVISION: Final = re.compile(r"[A-Za-z0-9_./~^@{}:+-]+$")
"""What names a commit or a range of them: `HEAD~2`, `main..topic`, `v1.0^{}`, `origin/main:docs`."""
_SED_PLAIN: Final = re.compile(
    r"(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?[pd](?:;(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?[pd])*\Z"
    r"|/(?:[^/\\\n]|\\[^\n])*/[pd]\Z"
    r"|(?P<s>s(?P<by>[/|#,:@])(?:(?!(?P=by))[^\\\n]|\\[^\n])*(?P=by)(?:(?!(?P=by))[^\\\n]|\\[^\n])*(?P=by)[gIip\d]*)\Z"
)
"""A script of sed's that only prints lines, leaves some out, or changes words: `10,20p`, `$d`, `/x/d`, `s/a/b/g`. No
flag `e` or `w`, which run a command and write a file, and one command alone."""
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
"""A pattern that leaves something out, or that its ending limits to one kind of file: `!vendor`, `src/*.py`. `*` alone
or `*.{py,env}` is none."""
_AWK_PRINT: Final = re.compile(
    r"(?=.)(?:(?:NR|NF|FNR|\$\d+|\$NF|\d+|\"[\w .:-]*\"|[<>=!]=|[<>!%*+-]|&&|\|\||[()\s])+|/[\w .:^$-]*/)?"
    r"(?:\s*\{\s*print(?:\s+(?:\$\d+|\$NF|NR|NF|\"[\w .:-]*\")"
    r"(?:\s*,?\s*(?:\$\d+|\$NF|NR|NF|\"[\w .:-]*\"))*)?\s*;?\s*\})?\Z"
)
"""A program of awk's that only chooses lines and prints columns: `NR>=10 && NR<=20`, `/x/ {print $1, $3}`. Behind
`print` there is no `>` and no `|`, which write a file and run a command."""
_JQ_SHORT_OBJECT: Final = re.compile(r"\{\s*\w+(?:\s*,\s*\w+)*\s*\}")
"""An object of jq's that is made of names alone, so that they are keys and no functions: `{name, size}`."""
_JQ_TEXT: Final = re.compile(r'"(?:[^"\\]|\\[^(])*"')
r"""Text in a filter of jq's: `"a b"`. Not past a `\(`, behind which code stands."""
_JQ_KEY: Final = re.compile(r"(?<=[{,])\s*\w+\s*:(?!:)")
"""A key of an object of jq's with the colon behind it: `{name: .x}`; `a::b` is a function of a module."""
_JQ_WORD: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
"""A word of a filter of jq's: `select`, `env`, and not the field `.name`. Each must be a known harmless one."""
_JQ_WORDS: Final = _f(
    "select map map_values keys keys_unsorted values length not and or if then elif else end as has in inside "
    "contains any all add sort sort_by group_by unique unique_by min max min_by max_by first last limit range "
    "to_entries from_entries with_entries del type tostring tonumber ascii_downcase ascii_upcase test match capture "
    "split join startswith endswith ltrimstr rtrimstr empty recurse paths flatten reverse index rindex indices floor "
    "round sqrt null true false reduce foreach try catch tojson fromjson strings numbers arrays objects booleans "
    "nulls iterables scalars gsub sub ascii explode implode error"
)
_DIRECTORY: Final = re.compile(r"[\w./@+-]+\Z")
"""A directory to go to, as people write one; a colon or a comma may make more of it: `sub`, `../b-2`."""
_BRANCH: Final = re.compile(r"(?:-|(?!.*\.\.)\w[\w./-]*)\Z")
"""A branch or remote by its name: no address (`host:x`, `ext::x`), no path that leads out."""
_LOCAL: Final = re.compile(
    r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:/[\w./?=&%~+-]*)?\Z", re.ASCII
)
"""An address of this machine, without a user in it: `http://localhost:3000/health`."""
_GO_PACKAGE: Final = re.compile(r"(?:\.|\./[\w./-]*|[\w-]+\.go)$")
"""A package or file of the workspace, as Go names them: `.`, `./...`, `./cmd/x`, `main.go`."""
_BUILD: Final = re.compile(r"(?:\./)?(?:build|_build|out|cmake-build)[\w-]*(?:/[A-Za-z0-9_][\w-]*)*/?$")
"""A directory that is named like a build's: `build`, `./cmake-build-debug`, `out/x`."""
_ENVIRONMENT: Final = re.compile(
    r"(?:py\d*|py3\.\d+|pypy\d*|lint|types?|typing|mypy|docs|tests?|unit|format|check|cov|coverage|ruff|flake8|pre-commit)"
    r"(?:-(?:py\d+|\d\.\d+|cov|unit|lint|mypy|docs|test))*$"
)
"""An environment of tox or nox that checks: `py311`, `lint`, `py3.12-cov`. Others may publish or deploy."""
SCRIPTS: Final = _f(
    "test tests lint build typecheck type-check types tsc check format:check fmt:check "
    "lint:check test:unit test:ci test:types "
    "test:integration build:check check:types check-types lint:ts lint:js lint:css coverage test:coverage unit"
)
"""Names of project scripts that check rather than change."""
_OF_CODE: Final = re.compile(r"(?:TODO|FIXME|XXX|HACK|[a-z_][a-zA-Z0-9_]*[a-z][a-zA-Z0-9_]+)(?:[ .:(][a-z_]*)*\(?")
"""What people search code for: `TODO`, `def main`, `useState(`; no sign that makes it match anything."""
_OF_SETTINGS: Final = re.compile(
    r"pass|pwd|key|token|secret|cred|auth|priv|cert|session|api|login|account|database|db|url|uri|host|user|env|export|http|"
    r"ssh|aws|config|setting|conn|dsn|salt|seed|sign|licen|mail|name|port|sql|mongo|redis|bearer|cookie|id\b",
    re.IGNORECASE,
)
"""Parts of names that settings and secrets have: `db_url`, `apiKey`."""
_SHOWS_MORE: Final = _f(
    "-v --invert-match -A --after-context -B --before-context -C --context -i --ignore-case -y -z --null-data"
)
"""Options with which a search shows lines that the pattern is not in, or in other letters."""
_IN_PLACE: Final = _f("-i --in-place")
_QUIET: Final = _f("-n --quiet --silent")
_RECURSIVE: Final = _f("-r -R --recursive")
_GLOB_CHARS: Final = frozenset("*?[")


class NotRoutine(Exception):  # noqa: N818 - it is an answer, not a failure
    """Raised inside this room with the reason why a command is not routine."""


def check_value(kind: Takes, word: Word, value: str, location: Location) -> None:  # noqa: C901, PLR0912 - one branch per kind
    """Raise `NotRoutine` unless the value of an option is what the option takes.

    Args:
        kind: What it takes.
        word: The word the value stands in.
        value: The value.
        location: Where the command runs.

    Raises:
        NotRoutine: With the reason, when it is not recognised.
    """
    if kind is not Takes.NUMBER and value == word.text and location.read_marker(location.resolve(value) or value):
        # A flag whose value is optional leaves the next word to be a path.
        raise NotRoutine(f"`{value}` may be read as a sensitive path")
    match kind:
        case Takes.TEXT | Takes.PATTERN | Takes.PROSE:
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
            _check_path(value, location, glob=word.glob)
        case Takes.BUILD:
            if not _BUILD.match(value) or word.glob:
                raise NotRoutine(f"`{value}` is not named like a build's directory")
            _check_path(value, location, glob=False, look=Exposure.NAME)
        case Takes.ENVIRONMENT:
            if not all(_ENVIRONMENT.match(each) for each in value.split(",")):
                raise NotRoutine(f"`{value}` is not one of the checking environments by name")
        case Takes.LOCAL:
            _check_local(value)
        case Takes.KEY | Takes.FORMAT | Takes.DOCUMENT | Takes.MEDIA | Takes.ARCHIVE:
            _check_shape(kind, word, value, location)
        case Takes.GOES if not _DIRECTORY.match(value):
            raise NotRoutine(f"`{value}` may be more than a directory")
        case _:
            _check_path(value, location, glob=word.glob, look=Exposure.NAME)


def check_operands(program: Program, use: Use, operands: list[Word], seen: set[str], location: Location) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch per kind
    """Raise `NotRoutine` unless the operands of a command are what its use takes.

    Args:
        program: The program.
        use: The routine use.
        operands: The words that are no flags.
        seen: The flags that were given, in every spelling.
        location: Where the command runs.

    Raises:
        NotRoutine: With the reason, when one is not recognised.
    """
    if len(operands) < use.needs:
        raise NotRoutine(f"`{program.name}` without an operand")
    if use.most and len(operands) > use.most:
        raise NotRoutine(f"operand `{operands[use.most].text}` of `{program.name}` is one too many")
    kind = use.operands
    match kind:
        case Takes.NOTHING:
            if operands:
                raise NotRoutine(f"operand `{operands[0].text}` of `{program.name}` is not part of a routine use")
        case Takes.TEXT:
            if any(word.glob for word in operands) and not use.unknown_is_text:
                raise NotRoutine("a pattern of file names where text belongs")
        case Takes.CHOICE:
            for word in operands:
                if word.text not in use.choices:
                    raise NotRoutine(f"`{word.text}` is not one of the checking words of `{program.name}`")
        case Takes.PACKAGE:
            for word in operands:
                if not _GO_PACKAGE.match(word.text):
                    raise NotRoutine(f"`{word.text}` is no package of the workspace")
                _check_path(word.text, location, glob=word.glob, look=Exposure.MAYBE_TREE)
        case Takes.NUMBER | Takes.WORD | Takes.BUILD:
            for word in operands:
                option = use.options.get(word.text)
                if word.text.startswith("-") and (option is None or not option.is_accepted):
                    raise NotRoutine(f"`{word.text}` of `{program.name}` is not part of a routine use")
                check_value(kind, word, word.text, location)
        case Takes.BRANCH:
            for word in operands:
                if not _BRANCH.match(word.text):
                    raise NotRoutine(f"`{word.text}` may be another repository")
        case Takes.LOCAL:
            for word in operands:
                _check_local("" if word.glob else word.text)
        case Takes.READ:
            for word in operands:
                _check_read(program, use, word, seen, location)
        case Takes.NAME | Takes.GOES:
            for word in operands:
                _check_path(word.text, location, glob=word.glob, look=Exposure.NAME)
                if kind is Takes.GOES and (problem := is_plain_directory(location.resolve(word.text), location)):
                    raise NotRoutine(f"`{word.text}`: {problem}")
        case Takes.WRITE | Takes.NEW:
            for word in operands:
                _check_written(word, location, makes_directory=kind is Takes.NEW)
        case Takes.REVISION:
            for word in operands:
                _check_revision(word, location)
        case Takes.KEY | Takes.FORMAT | Takes.DOCUMENT | Takes.MEDIA | Takes.ARCHIVE:
            for word in operands:
                _check_shape(kind, word, word.text, location)
        case Takes.PARTS | Takes.ARCHIVE_THEN_PARTS:
            _check_parts(operands, location, first_is_archive=kind is Takes.ARCHIVE_THEN_PARTS)
        case Takes.SCRIPT:
            if len(operands) != 1 or operands[0].text not in SCRIPTS:
                raise NotRoutine("not one of the checking scripts by name")
        case (
            Takes.PATTERN_THEN_READ
            | Takes.PATTERN_THEN_TREE
            | Takes.PATTERN_THEN_REVISION
            | Takes.MAYBE_PATTERN_THEN_READ
        ):
            _check_search(program, use, operands, seen, location)
        case _:
            raise NotRoutine(f"operands of `{program.name}` are not understood")


def _check_shape(kind: Takes, word: Word, value: str, location: Location) -> None:
    """Raise `NotRoutine` unless a value has the shape, or a file the ending, of its kind."""
    if word.glob or (problem := why_not_shaped(kind, value)):
        raise NotRoutine(f"`{value}` is not {kind.value}" if word.glob else problem)
    if kind not in FILE_ENDINGS:
        return
    _check_path(value, location, glob=False, look=Exposure.MAYBE_TREE)
    if kind is Takes.ARCHIVE and (problem := why_no_archive(location.resolve(value), location)):
        raise NotRoutine(f"`{value}`: {problem}")


def _check_parts(operands: list[Word], location: Location, *, first_is_archive: bool) -> None:
    """Raise `NotRoutine` unless all are files and directories of the workspace, and none of its settings or secrets."""
    if first_is_archive and operands:
        _check_shape(Takes.ARCHIVE, operands[0], operands[0].text, location)
    for word in operands[1:] if first_is_archive else operands:
        if not word.glob and not is_one_path(word.text):
            raise NotRoutine(f"`{word.text}` is not known to be one file or directory")
        _check_path(word.text, location, glob=word.glob, look=Exposure.MAYBE_TREE)
        inside = below(location.resolve(word.text), location)
        if not inside or any(part.startswith(".") for part in inside):
            raise NotRoutine(f"`{word.text}` may hold settings and secrets")


def _check_local(text: str) -> None:
    if not _LOCAL.match(text):
        raise NotRoutine(f"`{text}` is no address of this machine")


def _check_search(program: Program, use: Use, operands: list[Word], seen: set[str], location: Location) -> None:  # noqa: C901 - one look after another
    pattern_given = bool(seen & {"-e", "--regexp", "--files"})
    paths = operands if pattern_given else operands[1:]
    is_optional = use.operands is Takes.MAYBE_PATTERN_THEN_READ
    if not pattern_given and not operands and not is_optional:
        raise NotRoutine(f"`{program.name}` without a pattern")
    if operands and not pattern_given and operands[0].glob:
        raise NotRoutine("the pattern may turn into file names")
    _check_language(program, use, operands)
    in_history = use.operands is Takes.PATTERN_THEN_REVISION
    recursive = use.searches_below or bool(seen & _RECURSIVE)
    if "--include" not in seen or use.searches_below:
        may_be_all = use.searches_below or (not pattern_given and _finds_code_alone(operands[0].text, seen))
        for word in paths if recursive else ():
            text = word.text.rpartition(":")[2] if in_history else word.text
            _check_tree(text, location, may_be_all=may_be_all)
        if recursive and not paths and not use.searches_below:
            _check_tree(".", location, may_be_all=may_be_all)
    if use.searches_below and not paths and "--files" not in seen:
        _check_telling(operands, seen)
    look = Exposure.MAYBE_TREE if recursive or is_optional else Exposure.CONTENT
    for word in paths:
        if "edits in place" in program.families and seen & _IN_PLACE:
            if seen & _QUIET or not _SED_PLAIN.fullmatch(operands[0].text or "-") or operands[0].text[0] != "s":
                raise NotRoutine("in place only words are changed, no lines left out")
            _check_written(word, location, makes_directory=False)
        if in_history:
            _check_revision(word, location)
        elif word.text != "-":
            _check_path(word.text, location, glob=word.glob, look=look)


def _finds_code_alone(pattern: str, seen: set[str]) -> bool:
    """Say whether what a search finds is code or prose, hidden files and settings included.

    A setting is found by its name or by what it is called in other files, which says of itself that it is one; names in
    the environment are in capitals.
    """
    return _OF_CODE.fullmatch(pattern) is not None and not seen & _SHOWS_MORE and not _OF_SETTINGS.search(pattern)


def _check_language(program: Program, use: Use, operands: list[Word]) -> None:
    """Raise `NotRoutine` unless code in a program's own language is of the few forms that only show something."""
    if not operands:
        return
    code = operands[0].text
    match use.first:
        case First.SED if not _SED_PLAIN.match(code):
            raise NotRoutine(f"only printing, leaving out and changing lines are routine uses of `{program.name}`")
        case First.AWK if not _AWK_PRINT.match(code):
            raise NotRoutine(f"only choosing lines and printing columns are routine uses of `{program.name}`")
        case First.JQ if not _is_plain_jq(code):
            raise NotRoutine(f"this `{program.name}` filter says more than picking from its input")
        case _:
            pass


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


def _check_read(program: Program, use: Use, word: Word, seen: set[str], location: Location) -> None:
    text = word.text
    if text == "-" or is_substitution(word):
        return
    if text.startswith("@"):
        raise NotRoutine(f"`{text}` may be read as more arguments")
    if "rewriter" in program.families:
        path = location.resolve(text)
        if sensitive_to_write(path) or any(part.startswith(".") for part in below(path, location)):
            raise NotRoutine(f"`{text}` holds settings or orders, which are not rewritten")
    if "digester" in program.families:
        look = Exposure.DIGEST
    elif use.runs_project or "tree reader" in program.families:
        look = Exposure.MAYBE_TREE
    elif seen & _RECURSIVE:
        look = Exposure.MAYBE_TREE
        _check_tree(text, location, may_be_all=False)
    else:
        look = Exposure.CONTENT
    _check_path(text.partition("::")[0] if use.runs_project else text, location, glob=word.glob, look=look)


def _check_tree(text: str, location: Location, *, may_be_all: bool) -> None:
    """Raise unless a directory may be read through: the whole workspace only where hidden files are left alone."""
    path = location.resolve(text)
    for root in location.surroundings.workspaces:
        base = root.rstrip("/")
        if path == base and not may_be_all:
            raise NotRoutine("searching the whole workspace would read its secrets too")
        if path.startswith(base + "/"):
            for part in path[len(base) + 1 :].lower().split("/"):
                if part.startswith(".") or part in _READ_THROUGH_NOT:
                    raise NotRoutine(f"searching all of `{part}` may read secrets")


def _check_written(word: Word, location: Location, *, makes_directory: bool) -> None:
    path = location.resolve(word.text)
    check = is_plain_directory if makes_directory else why_not_ordinary
    problem = "a pattern of file names" if word.glob else check(path, location)
    if problem:
        raise NotRoutine(f"`{word.text}`: {problem}")
    check_canonical(word.text, location)


def _check_revision(word: Word, location: Location) -> None:
    text = word.text
    if not _REVISION.match(text):
        if any(char in _GLOB_CHARS for char in text) and not text.startswith(":"):
            _check_path(text, location, glob=True, look=Exposure.MAYBE_TREE)
            return
        raise NotRoutine(f"`{text}` is no plain revision or path")
    before, colon, after = text.partition(":")
    if colon:
        if not before or ":" in after:
            raise NotRoutine(f"`{text}` is no plain object name")
        _check_path(after or ".", location, glob=False, look=Exposure.MAYBE_TREE)
        _check_path("./" + after.lstrip("/"), location, glob=False, look=Exposure.MAYBE_TREE)
    else:
        _check_path(text, location, glob=False, look=Exposure.MAYBE_TREE)
        for part in text.split(".."):
            if part:
                _check_path(part.lstrip("."), location, glob=False, look=Exposure.MAYBE_TREE)


def check_readable(word: Word, location: Location) -> None:
    """Raise `NotRoutine` unless a word is a path that may be read."""
    if not word.known:
        raise NotRoutine(f"`{word.raw}` is not known before it runs")
    _check_path(word.text, location, glob=word.glob)


def _check_path(text: str, location: Location, *, glob: bool, look: Exposure = Exposure.CONTENT) -> None:
    if "\\" in text:
        raise NotRoutine(f"`{text}` has a backslash")
    if text in _OF_THE_MACHINE and not location.canonical:
        return
    problem = why_not_readable(location.resolve(text), location, look=look)
    if problem:
        raise NotRoutine(f"`{text}`: {problem}")
    if glob and look is not Exposure.NAME:
        _check_glob(text)
    if location.canonical:
        check_canonical(text, location)


def check_canonical(text: str, location: Location) -> None:
    """Raise `NotRoutine` when the requester says that a path is really one that may not be read."""
    for typed, real in location.canonical:
        if typed == text:
            problem = why_not_readable(real, location, look=Exposure.MAYBE_TREE)
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

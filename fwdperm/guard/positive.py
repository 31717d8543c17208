"""The positive list: programs, subcommands and flags that the judge alone may allow.

Lives here: the table, as data. Never here: how a command is held against it (`routine.py`).

Only what stands here is routine. A flag that is not listed is not accepted, so a flag a tool grows later is not either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Takes(StrEnum):
    """What an operand or a flag's value may be."""

    NOTHING = "nothing"
    TEXT = "any text"
    NUMBER = "a number"
    WORD = "a plain word"
    READ = "a readable path in the workspace"
    NAME = "a path in the workspace, looked at by name only"
    TREE = "a directory of the workspace that is read through"
    WRITE = "a directory or ordinary file in the workspace"
    REVISION = "a revision or a readable path"
    PATTERN_THEN_READ = "a pattern, then readable paths"
    PATTERN_THEN_TREE = "a pattern, then paths that may be read through"
    SCRIPT = "the name of a checking script"
    CHOICE = "one of these words"
    PACKAGE = "a Go package or file of the workspace"
    BUILD = "a directory named like a build's"
    ENVIRONMENT = "the name of a checking environment"
    GLOB = "a pattern of sources or documents by their ending, or of what to leave out"


@dataclass(frozen=True, slots=True)
class Entry:
    """One accepted use of a program.

    Attributes:
        id: Stable id.
        program: The program's name.
        reason: Why it is routine, in words.
        words: Subcommand words that must follow the program.
        operands: What its operands may be.
        letters: One-letter flags without a value.
        flags: Long (or word) flags without a value.
        valued: Flag -> what its value may be.
        runs: True when it runs the project's own code; counted as routine only where the operator lets it.
        numbers: True when `-20` is accepted.
        words_only: True when a single dash starts a whole word (`-name`), not a cluster of letters.
        needs: At least this many operands.
        choices: What operands may be where they are `Takes.CHOICE`.
    """

    id: str
    program: str
    reason: str
    words: tuple[str, ...] = ()
    operands: Takes = Takes.NOTHING
    letters: str = ""
    flags: frozenset[str] = frozenset()
    valued: dict[str, Takes] = field(default_factory=dict, hash=False)
    runs: bool = False
    numbers: bool = False
    words_only: bool = False
    needs: int = 0
    choices: frozenset[str] = frozenset()


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _v(**kinds: str) -> dict[str, Takes]:
    return {flag: _KINDS[kind] for kind, flags in kinds.items() for flag in flags.split()}


_KINDS: Final = {
    "text": Takes.TEXT,
    "number": Takes.NUMBER,
    "word": Takes.WORD,
    "read": Takes.READ,
    "name": Takes.NAME,
    "glob": Takes.GLOB,
    "build": Takes.BUILD,
    "environment": Takes.ENVIRONMENT,
}
_GIT_FORMAT: Final = _f(
    "--oneline --stat --numstat --shortstat --name-only --name-status --graph --decorate "
    "--all --no-color --color --no-merges --merges "
    "--first-parent --reverse --summary --patch --no-patch --cached --staged --raw --follow "
    "--abbrev-commit --word-diff "
    "--ignore-all-space --ignore-space-change --ignore-blank-lines --minimal --patience "
    "--histogram --no-ext-diff --no-textconv "
    "--no-pager --check --exit-code --quiet --date-order --topo-order --relative-date "
    "--merge-base --full-diff --no-renames "
    "--find-renames --compact-summary --no-decorate --left-right "
    "--cherry-pick --boundary --tags --branches --remotes "
    "--no-prefix --cc --binary --full-index"
)
_GIT_VALUED: Final = _v(
    number="-n --max-count --skip --abbrev -U --unified",
    text="--format --pretty --since --until --after --before --author --committer --grep --date -S -G",
    word="--diff-filter --stat --color --word-diff --decorate --diff-algorithm -M -C --find-renames",
)

TABLE: Final[tuple[Entry, ...]] = (
    # -- looking at files ---------------------------------------------------------------------------------------
    Entry(
        "cat",
        "cat",
        "shows files",
        operands=Takes.READ,
        letters="AbeEnstTuv",
        flags=_f("--number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank"),
    ),
    Entry(
        "head",
        "head",
        "shows the start of files",
        operands=Takes.READ,
        letters="qvz",
        numbers=True,
        flags=_f("--quiet --verbose"),
        valued=_v(number="-n -c --lines --bytes"),
    ),
    Entry(
        "tail",
        "tail",
        "shows the end of files",
        operands=Takes.READ,
        letters="qvzfF",
        numbers=True,
        flags=_f("--quiet --verbose --follow"),
        valued=_v(number="-n -c --lines --bytes"),
    ),
    Entry(
        "wc",
        "wc",
        "counts",
        operands=Takes.READ,
        letters="clmLw",
        flags=_f("--bytes --chars --lines --words --max-line-length"),
    ),
    Entry("nl", "nl", "numbers lines", operands=Takes.READ, valued=_v(word="-b -n -s -w")),
    Entry("tac", "tac", "shows files backwards", operands=Takes.READ),
    Entry(
        "ls",
        "ls",
        "lists a directory",
        operands=Takes.NAME,
        letters="1aAbBcCdFghHiklLmnNopqQrRsStTuUvwxXZ",
        flags=_f(
            "--all --almost-all --human-readable --recursive --reverse --color --directory "
            "--classify --group-directories-first --full-time --inode --size"
        ),
        valued=_v(word="--color --sort --time --time-style --format"),
    ),
    Entry(
        "tree",
        "tree",
        "lists a directory tree",
        operands=Takes.NAME,
        letters="adfipsughDFrtCnA",
        flags=_f("--dirsfirst --noreport --gitignore --prune --du"),
        valued=_v(number="-L --filelimit", text="-I -P"),
    ),
    Entry(
        "du",
        "du",
        "sizes directories",
        operands=Takes.NAME,
        letters="abcdhklmsSx0",
        numbers=False,
        flags=_f("--all --human-readable --summarize --total --apparent-size"),
        valued=_v(number="-d --max-depth"),
    ),
    Entry(
        "stat",
        "stat",
        "shows a file's metadata",
        operands=Takes.NAME,
        letters="Lft",
        valued=_v(text="-c --format --printf"),
    ),
    Entry(
        "file",
        "file",
        "guesses a file's type",
        operands=Takes.READ,
        letters="bihkLNprsvzZ",
        flags=_f("--brief --mime --mime-type --mime-encoding --dereference"),
    ),
    Entry(
        "find",
        "find",
        "lists files, with no action",
        operands=Takes.NAME,
        words_only=True,
        flags=_f(
            "-print -print0 -type -empty -not -o -a -and -or -prune -follow -xdev -mount -readable "
            "-writable -executable -true -false -L -P -H -depth -ls -daystart -noleaf ( ) !"
        ),
        valued=_v(
            text="-name -iname -path -ipath -wholename -regex -iregex",
            word="-type -size -mtime -mmin -ctime -cmin -atime -amin -perm -user -group -xtype -links -regextype",
            number="-maxdepth -mindepth",
            name="-newer",
        ),
    ),
    Entry(
        "fd",
        "fd",
        "lists files by name",
        operands=Takes.PATTERN_THEN_READ,
        letters="HpasiglF",
        flags=_f(
            "--hidden --full-path --absolute-path --case-sensitive --ignore-case --glob --list-details --fixed-strings"
        ),
        valued=_v(
            word="-e --extension -t --type --size --changed-within",
            number="-d --max-depth --max-results",
            text="-E --exclude",
        ),
    ),
    Entry(
        "diff",
        "diff",
        "compares files",
        operands=Takes.READ,
        letters="abBcdeEiNqrstTuwyZp",
        numbers=True,
        flags=_f(
            "--brief --unified --side-by-side --ignore-all-space --ignore-case --ignore-blank-lines --new-file --color"
        ),
        valued=_v(number="-U -C -W --unified --width", word="--color"),
    ),
    Entry(
        "od",
        "od",
        "shows bytes",
        operands=Takes.READ,
        letters="abcdfiloxv",
        valued=_v(word="-A -t", number="-N -j -w"),
    ),
    Entry("hexdump", "hexdump", "shows bytes", operands=Takes.READ, letters="bcCdoxv", valued=_v(number="-n -s")),
    Entry("cmp", "cmp", "compares files", operands=Takes.READ, letters="bls"),
    Entry("comm", "comm", "compares sorted files", operands=Takes.READ, letters="123z"),
    Entry("readlink", "readlink", "resolves a link", operands=Takes.NAME, letters="femnqsvz"),
    Entry("realpath", "realpath", "resolves a path", operands=Takes.NAME, letters="emLPqsz"),
    Entry("md5sum", "md5sum", "sums files", operands=Takes.READ, letters="bt"),
    Entry("sha1sum", "sha1sum", "sums files", operands=Takes.READ, letters="bt"),
    Entry("sha256sum", "sha256sum", "sums files", operands=Takes.READ, letters="bt"),
    Entry("cksum", "cksum", "sums files", operands=Takes.READ),
    # -- searching -----------------------------------------------------------------------------------------------
    Entry(
        "grep",
        "grep",
        "searches text",
        operands=Takes.PATTERN_THEN_TREE,
        letters="abcEFGhHiIlLnoPqrsvwxz",
        numbers=True,
        flags=_f(
            "--color --recursive --line-number --ignore-case --invert-match --word-regexp "
            "--line-regexp --count --files-with-matches --files-without-match --only-matching "
            "--no-filename --with-filename --extended-regexp --fixed-strings --perl-regexp --quiet "
            "--no-messages --null --text"
        ),
        valued=_v(
            text="-e --regexp --exclude --exclude-dir",
            glob="--include",
            number="-A -B -C -m --after-context --before-context --context --max-count",
            word="--color --binary-files",
        ),
    ),
    Entry(
        "egrep",
        "egrep",
        "searches text",
        operands=Takes.PATTERN_THEN_TREE,
        letters="cchHiIlLnoqrsvwx",
        valued=_v(text="-e", number="-A -B -C -m"),
    ),
    Entry(
        "fgrep",
        "fgrep",
        "searches text",
        operands=Takes.PATTERN_THEN_TREE,
        letters="chHiIlLnoqrsvwx",
        valued=_v(text="-e", number="-A -B -C -m"),
    ),
    Entry(
        "rg",
        "rg",
        "searches text, leaving ignored and hidden files alone",
        operands=Takes.PATTERN_THEN_READ,
        letters="cFHiIlnNopPqsSvwxU",
        flags=_f(
            "--color --column --count --files --files-with-matches --files-without-match "
            "--fixed-strings --heading --no-heading --ignore-case --invert-match --json "
            "--line-number --no-line-number --multiline --only-matching --pcre2 --quiet --smart-case "
            "--stats --trim --vimgrep --word-regexp --no-messages --no-filename --case-sensitive"
        ),
        valued=_v(
            text="-e --regexp -r --replace",
            glob="-g --glob --iglob",
            number="-A -B -C -m --max-count --context --after-context --before-context --max-depth --max-columns -M",
            word="-t --type -T --type-not --color --colors --sort --sortr",
        ),
    ),
    # -- text in a pipe ------------------------------------------------------------------------------------------
    Entry(
        "sort",
        "sort",
        "sorts lines",
        operands=Takes.READ,
        letters="bcCdfghiMnRrsuVz",
        flags=_f(
            "--reverse --unique --numeric-sort --ignore-case --version-sort --human-numeric-sort --stable --check"
        ),
        valued=_v(word="-k --key", text="-t --field-separator"),
    ),
    Entry(
        "uniq",
        "uniq",
        "drops repeated lines",
        operands=Takes.NOTHING,
        letters="cdDiuz",
        flags=_f("--count --repeated --unique --ignore-case"),
        valued=_v(number="-f -s -w"),
    ),
    Entry(
        "cut",
        "cut",
        "cuts columns",
        operands=Takes.READ,
        letters="nsz",
        flags=_f("--only-delimited --complement"),
        valued=_v(word="-f --fields -c --characters -b --bytes", text="-d --delimiter --output-delimiter"),
    ),
    Entry(
        "tr",
        "tr",
        "translates characters",
        operands=Takes.TEXT,
        letters="cCdst",
        flags=_f("--delete --squeeze-repeats --complement"),
    ),
    Entry(
        "column",
        "column",
        "lays out columns",
        operands=Takes.READ,
        letters="tnex",
        valued=_v(text="-s -o -N", number="-c"),
    ),
    Entry("fold", "fold", "folds lines", operands=Takes.READ, letters="bs", valued=_v(number="-w")),
    Entry("rev", "rev", "reverses lines", operands=Takes.READ),
    Entry("paste", "paste", "joins lines", operands=Takes.READ, letters="sz", valued=_v(text="-d")),
    Entry("echo", "echo", "prints text", operands=Takes.TEXT, letters="neE"),
    Entry("printf", "printf", "prints text", operands=Takes.TEXT, needs=1),
    Entry("seq", "seq", "counts", operands=Takes.WORD, letters="w", numbers=True),
    Entry("sleep", "sleep", "waits", operands=Takes.NUMBER),
    Entry(
        "jq",
        "jq",
        "picks from JSON",
        operands=Takes.PATTERN_THEN_READ,
        letters="rcSeMnsCj",
        flags=_f("--raw-output --compact-output --sort-keys --exit-status --monochrome-output --slurp --tab"),
        valued=_v(number="--indent"),
        needs=1,
    ),
    # (held to printing columns by `routine.py`)
    Entry("awk-print", "awk", "prints columns", operands=Takes.PATTERN_THEN_READ, valued=_v(text="-F"), needs=1),
    # -- where am I ----------------------------------------------------------------------------------------------
    Entry("pwd", "pwd", "shows the directory", letters="LP"),
    Entry("true", "true", "does nothing"),
    Entry("false", "false", "does nothing"),
    Entry(":", ":", "does nothing"),
    Entry("cd", "cd", "goes to a directory of the workspace", operands=Takes.NAME, needs=1),
    Entry(
        "test",
        "test",
        "tests a file or a value",
        operands=Takes.NAME,
        words_only=True,
        flags=_f("-e -f -d -r -w -x -s -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot = == != !"),
    ),
    Entry(
        "[",
        "[",
        "tests a file or a value",
        operands=Takes.NAME,
        words_only=True,
        flags=_f("-e -f -d -r -w -x -s -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot = == != ! ]"),
    ),
    Entry("basename", "basename", "cuts a path", operands=Takes.TEXT, letters="az", valued=_v(text="-s")),
    Entry("dirname", "dirname", "cuts a path", operands=Takes.TEXT, letters="z"),
    Entry("command-v", "command", "finds a program", words=("-v",), operands=Takes.WORD, needs=1),
    Entry("which", "which", "finds a program", operands=Takes.WORD, letters="a"),
    Entry("type", "type", "finds a program", operands=Takes.WORD, letters="atp"),
    Entry(
        "date",
        "date",
        "shows the time",
        operands=Takes.NOTHING,
        letters="uR",
        flags=_f("--utc --rfc-email +%s +%F +%T +%Y-%m-%d +%H:%M:%S +%Y +%Y%m%d"),
        valued=_v(word="-I --iso-8601"),
    ),
    Entry("uname", "uname", "names the system", letters="amnprsvio"),
    Entry("whoami", "whoami", "names the user"),
    Entry("id", "id", "names the user", letters="ugnGr"),
    Entry("nproc", "nproc", "counts processors"),
    Entry("df", "df", "shows free space", letters="hkTi"),
    Entry("free", "free", "shows free memory", letters="hmgkb"),
    Entry("uptime", "uptime", "shows load", letters="ps"),
    # -- small writes --------------------------------------------------------------------------------------------
    Entry(
        "mkdir",
        "mkdir",
        "makes directories in the workspace",
        operands=Takes.WRITE,
        letters="pv",
        flags=_f("--parents --verbose"),
        needs=1,
    ),
    Entry("cp", "cp", "copies an ordinary file over another", operands=Takes.WRITE, letters="pvn", needs=2),
    Entry("mv", "mv", "renames an ordinary file", operands=Takes.WRITE, letters="vn", needs=2),
    Entry("git-mv", "git", "renames an ordinary file", words=("mv",), operands=Takes.WRITE, letters="v", needs=2),
    Entry("touch", "touch", "makes empty ordinary files", operands=Takes.WRITE, letters="cam", needs=1),
    # -- sed, as a pager -----------------------------------------------------------------------------------------
    # (held to `-n` and a line range by `routine.py`)
    Entry("sed-n", "sed", "shows a range of lines", operands=Takes.PATTERN_THEN_READ, letters="n", needs=1),
    # -- git -----------------------------------------------------------------------------------------------------
    Entry(
        "git-status",
        "git",
        "shows the state",
        words=("status",),
        operands=Takes.REVISION,
        letters="sbuv",
        flags=_f("--short --branch --porcelain --ignored --long --show-stash --ahead-behind --no-renames"),
        valued=_v(word="--porcelain --untracked-files -u --ignored"),
    ),
    Entry(
        "git-diff",
        "git",
        "shows changes",
        words=("diff",),
        operands=Takes.REVISION,
        letters="pwbRzW",
        numbers=False,
        flags=_GIT_FORMAT,
        valued=_GIT_VALUED,
    ),
    Entry(
        "git-log",
        "git",
        "shows history",
        words=("log",),
        operands=Takes.REVISION,
        letters="pwbzigEF",
        numbers=True,
        flags=_GIT_FORMAT,
        valued=_GIT_VALUED,
    ),
    Entry(
        "git-show",
        "git",
        "shows a commit or a file of one",
        words=("show",),
        operands=Takes.REVISION,
        letters="pswbz",
        flags=_GIT_FORMAT,
        valued=_GIT_VALUED,
    ),
    Entry(
        "git-shortlog",
        "git",
        "sums up history",
        words=("shortlog",),
        operands=Takes.REVISION,
        letters="sne",
        flags=_f("--summary --numbered --email --all"),
    ),
    Entry(
        "git-blame",
        "git",
        "shows who wrote what",
        words=("blame",),
        operands=Takes.REVISION,
        letters="wlscMC",
        flags=_f("--porcelain --show-email"),
        valued=_v(word="-L"),
        needs=1,
    ),
    Entry(
        "git-branch",
        "git",
        "lists branches",
        words=("branch",),
        letters="avr",
        flags=_f("--all --list --remotes --show-current --verbose -vv --merged --no-merged"),
        valued=_v(text="--sort --format"),
    ),
    Entry(
        "git-tag",
        "git",
        "lists tags",
        words=("tag",),
        valued=_v(text="--sort --format"),
    ),
    Entry("git-tag-list", "git", "lists tags", words=("tag", "-l"), operands=Takes.TEXT, valued=_v(text="--sort")),
    Entry("git-tag-list", "git", "lists tags", words=("tag", "--list"), operands=Takes.TEXT, valued=_v(text="--sort")),
    Entry("git-worktree-list", "git", "lists worktrees", words=("worktree", "list"), flags=_f("--porcelain")),
    Entry("git-reflog", "git", "shows where branches were", words=("reflog",), numbers=True, valued=_v(number="-n")),
    Entry(
        "git-check-ignore",
        "git",
        "says what is ignored",
        words=("check-ignore",),
        operands=Takes.NAME,
        letters="v",
        needs=1,
    ),
    Entry("git-cat-file", "git", "names an object's type", words=("cat-file", "-t"), operands=Takes.REVISION, needs=1),
    Entry("git-cat-file", "git", "gives an object's size", words=("cat-file", "-s"), operands=Takes.REVISION, needs=1),
    Entry("git-add", "git", "stages ordinary files", words=("add",), operands=Takes.WRITE, letters="v", needs=1),
    Entry("git-remote", "git", "lists remotes", words=("remote",), letters="v", flags=_f("--verbose")),
    Entry(
        "git-rev-parse",
        "git",
        "resolves a revision",
        words=("rev-parse",),
        operands=Takes.REVISION,
        flags=_f(
            "--abbrev-ref --short --show-toplevel --verify --quiet --git-dir --is-inside-work-tree "
            "--show-prefix --symbolic-full-name"
        ),
        valued=_v(number="--short"),
    ),
    Entry(
        "git-rev-list",
        "git",
        "lists commits",
        words=("rev-list",),
        operands=Takes.REVISION,
        flags=_f("--count --all --no-merges --first-parent --left-right"),
        valued=_v(number="-n --max-count"),
    ),
    Entry(
        "git-ls-files",
        "git",
        "lists tracked files",
        words=("ls-files",),
        operands=Takes.REVISION,
        letters="comdsz",
        flags=_f("--cached --others --modified --deleted --exclude-standard --stage"),
    ),
    Entry(
        "git-ls-tree",
        "git",
        "lists a tree",
        words=("ls-tree",),
        operands=Takes.REVISION,
        letters="rdtlz",
        flags=_f("--name-only --full-tree"),
    ),
    Entry(
        "git-merge-base",
        "git",
        "finds a common commit",
        words=("merge-base",),
        operands=Takes.REVISION,
        flags=_f("--is-ancestor --all"),
    ),
    Entry(
        "git-describe",
        "git",
        "names a commit",
        words=("describe",),
        operands=Takes.REVISION,
        flags=_f("--tags --always --dirty --all --long"),
        valued=_v(number="--abbrev"),
    ),
    Entry(
        "git-grep",
        "git",
        "searches tracked files",
        words=("grep",),
        operands=Takes.PATTERN_THEN_READ,
        letters="nilwcEFPhH",
        flags=_f("--line-number --ignore-case --name-only --count --cached"),
        valued=_v(number="-A -B -C", text="-e"),
    ),
    Entry("git-stash-list", "git", "lists stashes", words=("stash", "list")),
    # -- tests, linters, type checkers, builds ----------------------------------------------------------------------
    Entry(
        "pytest",
        "pytest",
        "runs the project's tests",
        operands=Takes.READ,
        letters="qvxslh",
        runs=True,
        flags=_f(
            "--quiet --verbose --exitfirst --lf --ff --last-failed --failed-first --sw --stepwise "
            "--nf --no-header --no-summary --collect-only --co --cov --no-cov "
            "--showlocals --strict-markers --strict-config --cov-report=term "
            "--cov-report=term-missing -vv -vvv -rA -ra -rs -rf -rx -qq"
        ),
        valued=_v(
            number="--maxfail --durations -n --timeout",
            text="-k -m",
            word="--tb -W -r --color --dist -n",
            name="--ignore --deselect --cov",
        ),
    ),
    Entry(
        "unittest",
        "python",
        "runs the project's tests",
        words=("-m", "unittest"),
        operands=Takes.WORD,
        letters="qvfbc",
        runs=True,
        flags=_f("--quiet --verbose --failfast --buffer"),
        valued=_v(text="-k -p --pattern", name="-s -t --start-directory --top-level-directory"),
    ),
    Entry("py-compile", "python", "compiles files", words=("-m", "py_compile"), operands=Takes.READ, needs=1),
    Entry(
        "compileall",
        "python",
        "compiles the project's files",
        words=("-m", "compileall"),
        operands=Takes.READ,
        letters="qf",
        needs=1,
    ),
    Entry("pip-list", "pip", "lists installed packages", words=("list",)),
    Entry("pip-freeze", "pip", "lists installed packages", words=("freeze",)),
    Entry("pip-check", "pip", "checks installed packages", words=("check",)),
    Entry("pip-show", "pip", "describes installed packages", words=("show",), operands=Takes.WORD, needs=1),
    Entry(
        "coverage-report",
        "coverage",
        "shows what tests reach",
        words=("report",),
        letters="m",
        flags=_f("--show-missing --skip-covered"),
        runs=True,
    ),
    Entry(
        "coverage-run",
        "coverage",
        "runs the project's tests",
        words=("run", "-m", "pytest"),
        operands=Takes.READ,
        letters="qvxs",
        runs=True,
    ),
    Entry("nox", "nox", "runs the project's checks", runs=True, valued=_v(environment="-s -e --session --sessions")),
    Entry(
        "ruff-check",
        "ruff",
        "lints",
        words=("check",),
        operands=Takes.READ,
        letters="qvn",
        flags=_f(
            "--quiet --verbose --no-cache --fix --no-fix --statistics --diff --exit-zero --preview "
            "--show-fixes --show-files"
        ),
        valued=_v(word="--select --ignore --extend-select --output-format --target-version", number="--line-length"),
    ),
    Entry(
        "ruff-format",
        "ruff",
        "formats the project's sources, or checks that",
        words=("format",),
        operands=Takes.READ,
        letters="q",
        flags=_f("--check --diff --quiet --no-cache"),
    ),
    Entry(
        "mypy",
        "mypy",
        "checks types",
        operands=Takes.READ,
        letters="v",
        runs=True,
        flags=_f(
            "--strict --no-incremental --ignore-missing-imports --show-error-codes --pretty "
            "--no-color-output --namespace-packages --explicit-package-bases --check-untyped-defs "
            "--no-error-summary --warn-unused-ignores --disallow-untyped-defs --show-error-context "
            "--show-column-numbers"
        ),
        valued=_v(
            word="-p -m --package --module --python-version --platform --follow-imports "
            "--enable-error-code --disable-error-code --exclude"
        ),
    ),
    Entry(
        "pyright",
        "pyright",
        "checks types",
        operands=Takes.READ,
        flags=_f("--stats --outputjson --warnings --verbose"),
        runs=True,
        valued=_v(word="--pythonversion --level"),
    ),
    Entry(
        "black",
        "black",
        "formats the project's sources, or checks that",
        operands=Takes.READ,
        flags=_f("--check --diff --quiet --verbose -q -v"),
        valued=_v(number="-l --line-length"),
    ),
    Entry(
        "isort",
        "isort",
        "sorts imports, or checks that",
        operands=Takes.READ,
        flags=_f("--check --check-only --diff -c --quiet"),
    ),
    Entry(
        "flake8",
        "flake8",
        "lints",
        operands=Takes.READ,
        letters="qv",
        runs=True,
        flags=_f("--count --statistics --show-source"),
        valued=_v(word="--select --ignore --extend-ignore", number="--max-line-length --max-complexity"),
    ),
    Entry(
        "pylint",
        "pylint",
        "lints",
        operands=Takes.READ,
        runs=True,
        flags=_f("--errors-only -E"),
        valued=_v(word="--disable --enable", number="-j --jobs"),
    ),
    Entry(
        "npm-run",
        "npm",
        "runs one of the project's checking scripts",
        words=("run",),
        operands=Takes.SCRIPT,
        flags=_f("-s --silent --if-present"),
        runs=True,
        needs=1,
    ),
    Entry("npm-test", "npm", "runs the project's tests", words=("test",), flags=_f("-s --silent"), runs=True),
    Entry(
        "npm-ls",
        "npm",
        "lists dependencies",
        words=("ls",),
        operands=Takes.WORD,
        flags=_f("--all --json"),
        valued=_v(number="--depth"),
    ),
    Entry(
        "pnpm-run",
        "pnpm",
        "runs one of the project's checking scripts",
        words=("run",),
        operands=Takes.SCRIPT,
        flags=_f("-s --silent --if-present -r"),
        runs=True,
        needs=1,
    ),
    Entry(
        "pnpm-script",
        "pnpm",
        "runs one of the project's checking scripts",
        operands=Takes.SCRIPT,
        flags=_f("-s --silent -r"),
        runs=True,
        needs=1,
    ),
    Entry(
        "yarn-run",
        "yarn",
        "runs one of the project's checking scripts",
        words=("run",),
        operands=Takes.SCRIPT,
        flags=_f("-s --silent"),
        runs=True,
        needs=1,
    ),
    Entry(
        "yarn-script",
        "yarn",
        "runs one of the project's checking scripts",
        operands=Takes.SCRIPT,
        flags=_f("-s --silent"),
        runs=True,
        needs=1,
    ),
    Entry("bun-test", "bun", "runs the project's tests", words=("test",), operands=Takes.READ, runs=True),
    Entry(
        "tsc",
        "tsc",
        "checks types",
        flags=_f("--noEmit --pretty --strict --skipLibCheck -b --build --listFiles"),
        runs=True,
        valued=_v(read="-p --project"),
    ),
    Entry(
        "eslint",
        "eslint",
        "lints",
        operands=Takes.READ,
        flags=_f("--quiet --cache --no-color --fix"),
        runs=True,
        valued=_v(number="--max-warnings", word="--ext"),
    ),
    Entry(
        "prettier",
        "prettier",
        "formats the project's sources, or checks that",
        operands=Takes.READ,
        flags=_f("--check -c --list-different -l --write -w"),
        runs=True,
        needs=1,
    ),
    Entry(
        "vitest",
        "vitest",
        "runs the project's tests",
        words=("run",),
        operands=Takes.READ,
        runs=True,
        flags=_f("--silent --coverage"),
        valued=_v(text="-t --testNamePattern"),
    ),
    Entry(
        "jest",
        "jest",
        "runs the project's tests",
        operands=Takes.READ,
        runs=True,
        flags=_f("--silent --ci --coverage --verbose --runInBand -i --bail"),
        valued=_v(text="-t --testNamePattern"),
    ),
    Entry(
        "cargo-test",
        "cargo",
        "runs the project's tests",
        words=("test",),
        operands=Takes.WORD,
        letters="qvr",
        runs=True,
        flags=_f(
            "--workspace --all --all-features --all-targets --no-default-features --release --lib "
            "--bins --tests --doc --quiet --verbose --locked --offline --frozen --no-run "
            "--no-fail-fast --nocapture --ignored --include-ignored --exact --show-output --test-threads=1"
        ),
        valued=_v(word="-p --package --test --bin --features --example --profile", number="-j --jobs --test-threads"),
    ),
    Entry(
        "cargo-check",
        "cargo",
        "checks the project",
        words=("check",),
        letters="qvr",
        runs=True,
        flags=_f(
            "--workspace --all --all-features --all-targets --no-default-features --release --lib "
            "--tests --quiet --verbose --locked --offline"
        ),
        valued=_v(word="-p --package --bin --features --message-format", number="-j --jobs"),
    ),
    Entry(
        "cargo-build",
        "cargo",
        "builds the project",
        words=("build",),
        letters="qvr",
        runs=True,
        flags=_f(
            "--workspace --all --all-features --all-targets --no-default-features --release --lib "
            "--bins --tests --quiet --verbose --locked --offline"
        ),
        valued=_v(word="-p --package --bin --features", number="-j --jobs"),
    ),
    Entry(
        "cargo-clippy",
        "cargo",
        "lints",
        words=("clippy",),
        letters="qvD",
        runs=True,
        flags=_f(
            "--workspace --all --all-features --all-targets --no-deps --release --tests --quiet --locked --offline"
        ),
        valued=_v(word="-p --package --features -D -W -A"),
    ),
    Entry(
        "cargo-fmt",
        "cargo",
        "formats the project's sources, or checks that",
        words=("fmt",),
        flags=_f("--all --check -- -q --quiet"),
    ),
    Entry(
        "cargo-doc",
        "cargo",
        "builds the project's documentation",
        words=("doc",),
        letters="qv",
        flags=_f("--no-deps --workspace --all-features --quiet --locked --offline"),
        valued=_v(word="-p --package --features"),
        runs=True,
    ),
    Entry(
        "cargo-bench",
        "cargo",
        "runs the project's benchmarks",
        words=("bench",),
        operands=Takes.WORD,
        letters="qv",
        flags=_f("--workspace --all-features --quiet --locked --offline --no-run"),
        valued=_v(word="-p --package --bench --features"),
        runs=True,
    ),
    Entry(
        "cargo-tree",
        "cargo",
        "lists dependencies",
        words=("tree",),
        flags=_f("--workspace --all-features --offline --locked -d --duplicates"),
        valued=_v(word="-p -i", number="--depth"),
    ),
    Entry(
        "go-test",
        "go",
        "runs the project's tests",
        words=("test",),
        operands=Takes.PACKAGE,
        words_only=True,
        runs=True,
        flags=_f("-v -race -short -cover -failfast -json"),
        valued=_v(text="-run -bench", number="-count -parallel", word="-timeout -tags"),
    ),
    Entry(
        "go-build",
        "go",
        "builds the project",
        words=("build",),
        operands=Takes.PACKAGE,
        words_only=True,
        runs=True,
        flags=_f("-v -race"),
    ),
    Entry("go-vet", "go", "checks the project", words=("vet",), operands=Takes.PACKAGE, words_only=True, runs=True),
    Entry(
        "go-list",
        "go",
        "lists packages",
        words=("list",),
        operands=Takes.PACKAGE,
        words_only=True,
        flags=_f("-m -json"),
    ),
    Entry("go-fmt", "go", "formats the project's sources", words=("fmt",), operands=Takes.PACKAGE),
    Entry("go-doc", "go", "shows documentation", words=("doc",), operands=Takes.WORD, needs=1),
    Entry("golangci-lint", "golangci-lint", "lints", words=("run",), operands=Takes.PACKAGE, runs=True),
    Entry("staticcheck", "staticcheck", "lints", operands=Takes.PACKAGE, runs=True),
    Entry("go-version", "go", "shows a version", words=("version",)),
    Entry(
        "gofmt",
        "gofmt",
        "formats sources, or checks that",
        operands=Takes.READ,
        words_only=True,
        flags=_f("-l -d -s -w"),
    ),
    Entry("rustfmt", "rustfmt", "formats sources, or checks that", operands=Takes.READ, flags=_f("--check"), needs=1),
    Entry("node-test", "node", "runs the project's tests", words=("--test",), operands=Takes.READ, runs=True),
    Entry(
        "deno-test",
        "deno",
        "runs the project's tests",
        words=("test",),
        operands=Takes.READ,
        runs=True,
        flags=_f("--quiet"),
    ),
    Entry("deno-lint", "deno", "lints", words=("lint",), operands=Takes.READ),
    Entry("deno-check", "deno", "checks types", words=("check",), operands=Takes.READ, needs=1),
    Entry(
        "mvn-test",
        "mvn",
        "builds and tests the project",
        operands=Takes.CHOICE,
        choices=_f("test compile test-compile verify package"),
        words_only=True,
        flags=_f("-q -o -B -ntp --quiet --offline --batch-mode"),
        valued=_v(word="-Dtest -pl"),
        runs=True,
        needs=1,
    ),
    Entry(
        "gradle-test",
        "gradle",
        "builds and tests the project",
        operands=Takes.CHOICE,
        choices=_f("test check build assemble compileJava compileKotlin compileTestJava lint"),
        words_only=True,
        flags=_f("-q --quiet --offline --info --no-daemon --stacktrace"),
        valued=_v(word="--tests"),
        runs=True,
        needs=1,
    ),
    Entry("java-version", "java", "shows a version", words_only=True, flags=_f("-version")),
    Entry("javac-version", "javac", "shows a version", words_only=True, flags=_f("-version")),
    Entry(
        "dotnet-test",
        "dotnet",
        "runs the project's tests",
        words=("test",),
        flags=_f("--no-build --no-restore --nologo"),
        runs=True,
    ),
    Entry(
        "dotnet-build",
        "dotnet",
        "builds the project",
        words=("build",),
        flags=_f("--no-restore --nologo"),
        runs=True,
    ),
    Entry("dotnet-version", "dotnet", "shows a version", words=("--version",)),
    Entry("mix-test", "mix", "runs the project's tests", words=("test",), operands=Takes.READ, runs=True),
    Entry("swift-test", "swift", "runs the project's tests", words=("test",), runs=True),
    Entry("swift-build", "swift", "builds the project", words=("build",), runs=True),
    Entry("zig-test", "zig", "runs the project's tests", words=("build", "test"), runs=True),
    Entry("rubocop", "rubocop", "lints", operands=Takes.READ, runs=True),
    Entry(
        "rake-test",
        "rake",
        "runs the project's checks",
        operands=Takes.CHOICE,
        choices=_f("test spec lint rubocop"),
        runs=True,
        needs=1,
    ),
    Entry(
        "composer-test",
        "composer",
        "runs the project's checks",
        operands=Takes.CHOICE,
        choices=_f("test lint check"),
        runs=True,
        needs=1,
    ),
    Entry("phpstan", "phpstan", "checks types", words=("analyse",), operands=Takes.READ, runs=True),
    Entry("php-lint", "php", "checks syntax", words=("-l",), operands=Takes.READ, words_only=True, needs=1),
    Entry(
        "make",
        "make",
        "builds or checks the project",
        operands=Takes.CHOICE,
        choices=_f(
            "test tests check lint build all typecheck type-check unit unit-test coverage format-check fmt-check mypy"
        ),
        letters="ksBi",
        valued=_v(number="-j"),
        flags=_f("-j"),
        runs=True,
    ),
    Entry(
        "cmake-build",
        "cmake",
        "builds the project",
        words=("--build",),
        operands=Takes.BUILD,
        valued=_v(number="-j --parallel"),
        runs=True,
        needs=1,
    ),
    Entry(
        "cmake-configure",
        "cmake",
        "makes the project's build files",
        operands=Takes.BUILD,
        valued=_v(name="-S", build="-B", word="-G"),
        runs=True,
    ),
    Entry("ninja", "ninja", "builds the project", letters="v", valued=_v(build="-C", number="-j"), runs=True),
    Entry(
        "clang-format",
        "clang-format",
        "formats sources, or checks that",
        operands=Takes.WRITE,
        words_only=True,
        flags=_f("-i -n --dry-run --Werror"),
        needs=1,
    ),
    Entry("mkdocs", "mkdocs", "builds the documentation", words=("build",), flags=_f("--strict -q"), runs=True),
    Entry("bash-n", "bash", "checks syntax", words=("-n",), operands=Takes.READ, words_only=True, needs=1),
    Entry(
        "terraform-fmt",
        "terraform",
        "checks formatting",
        words=("fmt",),
        operands=Takes.NAME,
        words_only=True,
        flags=_f("-check -diff -recursive"),
    ),
    Entry(
        "rspec",
        "rspec",
        "runs the project's tests",
        operands=Takes.READ,
        runs=True,
        flags=_f("--fail-fast"),
    ),
    Entry("phpunit", "phpunit", "runs the project's tests", operands=Takes.READ, runs=True, valued=_v(text="--filter")),
    Entry("tox", "tox", "runs the project's checks", letters="q", runs=True, valued=_v(environment="-e")),
    Entry(
        "ctest",
        "ctest",
        "runs the project's tests",
        letters="V",
        flags=_f("--output-on-failure"),
        runs=True,
        valued=_v(number="-j", text="-R", build="--test-dir"),
    ),
    Entry("shellcheck", "shellcheck", "lints", operands=Takes.READ, valued=_v(word="-s -S -e -f")),
)
"""Every accepted use of a program."""

SCRIPTS: Final = _f(
    "test tests lint build typecheck type-check types tsc check format:check fmt:check "
    "lint:check test:unit test:ci test:types "
    "test:integration build:check check:types check-types lint:ts lint:js lint:css coverage test:coverage unit"
)
"""Names of project scripts that check rather than change."""

MUST_HAVE: Final = {
    "prettier": _f("--check -c --list-different -l --write -w"),
    "tsc": _f("--noEmit"),
    "sed-n": _f("-n"),
    "terraform-fmt": _f("-check"),
    "java-version": _f("-version"),
    "javac-version": _f("-version"),
}
"""Entries that only count with one of these flags: without it the tool does something else."""

ALIASES: Final = {
    "python3": "python",
    "python3.11": "python",
    "python3.12": "python",
    "python3.13": "python",
    "py.test": "pytest",
    "pip3": "pip",
    "batcat": "bat",
    "fdfind": "fd",
}
"""Other names of the same program."""

LOCAL_PROGRAMS: Final = {
    "./gradlew": "gradle",
    "./mvnw": "mvn",
    "vendor/bin/phpunit": "phpunit",
    "./vendor/bin/phpunit": "phpunit",
    "vendor/bin/phpstan": "phpstan",
    "./vendor/bin/phpstan": "phpstan",
} | {
    f"{lead}{directory}/{name}": name
    for lead in ("", "./")
    for directory, names in (
        ("node_modules/.bin", "tsc eslint prettier jest vitest"),
        (".venv/bin", "pytest mypy ruff black isort flake8 pylint python"),
        ("venv/bin", "pytest mypy ruff black isort flake8 pylint python"),
    )
    for name in names.split()
}
"""Programs that a project carries along, in places that are not routine to write; they are the project's own code."""

MODULES: Final = _f("pytest mypy ruff black isort flake8 pylint")
"""Modules that `python -m` runs as the program of the same name."""

RUNNERS: Final = frozenset(
    {
        ("uv", "run"),
        ("poetry", "run"),
        ("pipenv", "run"),
        ("pdm", "run"),
        ("hatch", "run"),
        ("rye", "run"),
        ("bundle", "exec"),
        ("npx", "--no-install"),
        ("npx", "--no"),
        ("pnpm", "exec"),
    }
)
"""What runs a project's own tool in the project's own environment; the tool behind it decides."""

SHOWS_VERSION: Final = _f(
    "python python3 node npm pnpm yarn cargo rustc go git ruff mypy pytest tsc eslint make "
    "gcc clang java javac docker kubectl "
    "uv pip pip3 ruby php deno bun jq rg curl terraform gh"
)
"""Programs whose lone `--version` is routine."""

HARMLESS_VARIABLES: Final = _f(
    "CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERM COLUMNS LINES LANG LC_ALL LC_CTYPE "
    "LC_COLLATE TZ PYTHONDONTWRITEBYTECODE "
    "PYTHONUNBUFFERED PYTHONHASHSEED RUST_BACKTRACE RUST_LOG NODE_ENV GOMAXPROCS "
    "CARGO_TERM_COLOR PY_COLORS COLORTERM VERBOSE DEBUG"
)
"""Variables that may stand before a routine command."""

HARMLESS_WRAPPERS: Final = _f("time timeout nice stdbuf command builtin ionice")
"""Wrappers whose command alone decides."""

STANDARD_DIRECTORIES: Final = _f("/bin /usr/bin /usr/local/bin /opt/homebrew/bin")
"""Directories whose programs are the ones meant by name."""

"""Programs that run the command given in their own arguments: one table.

Lives here: `Wrapper`, `WRAPPERS`, `HARMLESS_WRAPPERS`, `HARMLESS_VARIABLES`, `STANDARD_DIRECTORIES`, `SHELLS`.
Data and look-ups only. Never here: the reading of a command's words by these rows (`carried.py`).

To add a wrapper, add a row and a case to its test. An option that a row does not name makes the outer command opaque:
where the wrapped command begins is then not known, and it asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Style(StrEnum):
    """How the wrapped command is written."""

    WORDS = "words"
    """The words after the options and operands."""
    JOINED = "joined"
    """The same words, joined by blanks and read by a shell."""
    CODE = "code"
    """The value of an option (`-c`), read by a shell."""
    EVAL = "eval"
    """All words, joined by blanks and read by this shell."""
    SHELL = "shell"
    """A shell: code after `-c`, else a script, else its standard input."""
    FIND = "find"
    """Between an action's name and `;` or `+`."""
    FD = "fd"
    """After `-x`, `-X` or their long forms, up to `;`."""
    CONTAINER = "container"
    """After a subcommand with options and operands of its own."""
    KUBECTL = "kubectl"
    """After `exec` ... `--`."""
    TRAP = "trap"
    """The first operand, read by this shell when a signal comes."""
    ALIAS = "alias"
    """The value of each assignment, read by this shell when the name is used."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One row of the table: the option grammar of a program that runs another.

    Attributes:
        style: How the wrapped command is written.
        flags: Short options without a value.
        valued: Short options with a value, attached or as the next word.
        attached: Short options whose value, if any, is attached (`xargs -i{}`).
        long: Long options without a value, or with one only after `=`.
        long_valued: Long options that take the next word when there is no `=`.
        operands: Words of its own before the wrapped command.
        assigns: True when `NAME=value` words may stand before the wrapped command.
        digits: True when `-5` is an option.
        idle: Options with which nothing is run (`command -v`).
        code: Options whose value is code for a shell.
        chdir: Options whose value is the directory it runs in.
        splits: Options whose value is split into words that are read on (`env -S`).
        replaces: Options that name a string replaced in the wrapped command (`xargs -I`).
        single_dash: True when long options are written with one dash.
        remote: True when it runs on another machine or in a container.
        alone: Why it cannot be known what runs when no command follows; empty when nothing runs then.
    """

    style: Style = Style.WORDS
    flags: str = ""
    valued: str = ""
    attached: str = ""
    long: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    digits: bool = False
    idle: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    chdir: frozenset[str] = frozenset()
    splits: frozenset[str] = frozenset()
    replaces: frozenset[str] = frozenset()
    single_dash: bool = False
    remote: bool = False
    alone: str = ""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STDIN: Final = "it reads its program from its standard input"
"""Why a shell without a script is opaque."""

_COMMON: Final = _set("help version")

_SHELL: Final = Wrapper(style=Style.SHELL)

_CONTAINER: Final = Wrapper(style=Style.CONTAINER, remote=True)

_SSH: Final = Wrapper(
    Style.JOINED, flags="46AaCfGgKkMNnqsTtVvXxYy", valued="BbcDEeFIiJLlmOoPpQRSWw", operands=1, remote=True
)

WRAPPERS: Final[dict[str, Wrapper]] = {
    "sudo": Wrapper(
        flags="AbBeEHikKlnNPsSvV",
        valued="CDgprRtTuU",
        long=_set(
            "askpass background bell edit preserve-env set-home login remove-timestamp reset-timestamp list "
            "non-interactive no-update preserve-groups stdin shell validate"
        )
        | _COMMON,
        long_valued=_set("close-from chdir group host prompt chroot role type command-timeout other-user user"),
        assigns=True,
        chdir=_set("D chdir"),
    ),
    "doas": Wrapper(flags="Lns", valued="aCu"),
    "pkexec": Wrapper(long=_set("disable-internal-agent keep-cwd") | _COMMON, long_valued=_set("user")),
    "su": Wrapper(
        Style.CODE,
        flags="lmpfPT",
        valued="csgGwC",
        long=_set("login preserve-environment fast pty no-pty") | _COMMON,
        long_valued=_set("command session-command shell group supp-group whitelist-environment"),
        code=_set("c C command session-command"),
        alone=STDIN,
    ),
    "runuser": Wrapper(
        alone=STDIN,
        flags="lmpfPT",
        valued="csgGwCu",
        long=_set("login preserve-environment fast pty no-pty") | _COMMON,
        long_valued=_set("command session-command shell group supp-group whitelist-environment user"),
        code=_set("c C command session-command"),
    ),
    "script": Wrapper(
        Style.CODE,
        flags="aefqU",
        valued="cBEIOTmo",
        attached="t",
        long=_set("append return flush force quiet") | _COMMON,
        long_valued=_set("command echo log-in log-out log-io log-timing logging-format output-limit"),
        code=_set("c command"),
        alone=STDIN,
    ),
    "env": Wrapper(
        flags="i0v",
        valued="uCSPa",
        long=_set(
            "ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling"
        )
        | _COMMON,
        long_valued=_set("unset chdir split-string argv0"),
        assigns=True,
        chdir=_set("C chdir"),
        splits=_set("S split-string"),
    ),
    "xargs": Wrapper(
        flags="0oprtx",
        valued="adEILnPsJRS",
        attached="eil",
        long=_set("null open-tty interactive no-run-if-empty verbose exit show-limits eof replace max-lines") | _COMMON,
        long_valued=_set("arg-file delimiter max-args max-procs max-chars process-slot-var"),
        replaces=_set("I J i replace"),
    ),
    "parallel": Wrapper(
        Style.JOINED,
        flags="kmXquvt0",
        valued="jNnLIaSdEsCP",
        long=_set(
            "keep-order dry-run dryrun bar progress eta line-buffer lb group ungroup no-notice will-cite null quote "
            "verbose halt-on-error pipe-part pipepart pipe linebuffer tag no-run-if-empty resume xargs"
        )
        | _COMMON,
        long_valued=_set(
            "jobs max-args max-replace-args delay timeout halt joblog results retries colsep arg-file workdir wd "
            "tagstring delimiter max-procs sshlogin nice memfree load shuf block tmpdir"
        ),
        replaces=_set("I"),
        alone="it runs every line of its standard input",
    ),
    "nice": Wrapper(valued="n", long=_COMMON, long_valued=_set("adjustment"), digits=True),
    "ionice": Wrapper(
        flags="t",
        valued="cnpPu",
        long=_set("ignore") | _COMMON,
        long_valued=_set("class classdata pid pgid uid"),
        idle=_set("p P u pid pgid uid"),
    ),
    "chrt": Wrapper(
        flags="abdfimorRv",
        valued="TPDp",
        long=_set("all-tasks batch deadline fifo idle max other rr reset-on-fork verbose") | _COMMON,
        long_valued=_set("pid sched-runtime sched-period sched-deadline"),
        operands=1,
        idle=_set("p pid m max"),
    ),
    "taskset": Wrapper(
        flags="ac", valued="p", long=_set("all-tasks cpu-list") | _COMMON, long_valued=_set("pid"), operands=1,
        idle=_set("p pid"),
    ),
    "nohup": Wrapper(long=_COMMON),
    "time": Wrapper(
        flags="apqvVlh", valued="fo", assigns=True, long=_set("append portability verbose quiet") | _COMMON,
        long_valued=_set("format output"),
    ),
    "timeout": Wrapper(
        flags="vfp", valued="ks", long=_set("foreground preserve-status verbose") | _COMMON,
        long_valued=_set("kill-after signal"), operands=1,
    ),
    "stdbuf": Wrapper(valued="ioe", long=_COMMON, long_valued=_set("input output error")),
    "setsid": Wrapper(flags="cfwhV", long=_set("ctty fork wait") | _COMMON),
    "setpriv": Wrapper(
        long=_set("dump clear-groups keep-groups init-groups no-new-privs nnp reset-env") | _COMMON,
        long_valued=_set(
            "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups securebits pdeathsig "
            "selinux-label apparmor-profile"
        ),
    ),
    "flock": Wrapper(
        flags="snxeouFv",
        valued="wEc",
        long=_set("shared exclusive unlock nonblock nb close no-fork verbose") | _COMMON,
        long_valued=_set("wait timeout conflict-exit-code command"),
        operands=1,
        code=_set("c command"),
    ),
    "watch": Wrapper(
        Style.JOINED,
        flags="bcCdegprtTwxh",
        valued="nqs",
        long=_set("beep color no-color differences errexit chgexit precise no-rerun no-title no-wrap exec") | _COMMON,
        long_valued=_set("interval equexit shotsdir"),
    ),
    "entr": Wrapper(flags="acdnprsxz", alone="what it runs is not named"),
    "find": Wrapper(Style.FIND),
    "gfind": Wrapper(Style.FIND),
    "fd": Wrapper(Style.FD),
    "fdfind": Wrapper(Style.FD),
    "ssh": _SSH,
    "sshpass": Wrapper(flags="ehvV", valued="pfdP"),
    "docker": _CONTAINER,
    "podman": _CONTAINER,
    "nerdctl": _CONTAINER,
    "docker-compose": _CONTAINER,
    "podman-compose": _CONTAINER,
    "kubectl": Wrapper(Style.KUBECTL, remote=True),
    "oc": Wrapper(Style.KUBECTL, remote=True),
    "sh": _SHELL,
    "bash": _SHELL,
    "zsh": _SHELL,
    "dash": _SHELL,
    "ksh": _SHELL,
    "ksh93": _SHELL,
    "mksh": _SHELL,
    "ash": _SHELL,
    "rbash": _SHELL,
    "fish": _SHELL,
    "eval": Wrapper(Style.EVAL),
    "exec": Wrapper(flags="cl", valued="a"),
    "command": Wrapper(flags="pvV", idle=_set("v V")),
    "builtin": Wrapper(),
    "coproc": Wrapper(assigns=True),
    "trap": Wrapper(Style.TRAP),
    "alias": Wrapper(Style.ALIAS),
    "mapfile": Wrapper(Style.CODE, flags="t", valued="CcdnOsu", code=_set("C")),
    "readarray": Wrapper(Style.CODE, flags="t", valued="CcdnOsu", code=_set("C")),
    "compgen": Wrapper(Style.CODE, flags="abcdefgjksuv", valued="ACFGoPSWXV", code=_set("C")),
    "strace": Wrapper(
        flags="cCdfFhiknNqrtTvVwxyYzZ",
        valued="abeEIoOpPsSuUX",
        long=_set(
            "follow-forks output-append-mode output-separately quiet silent summary summary-only debug help version "
            "relative-timestamps absolute-timestamps syscall-times stack-trace strings-in-hex decode-fds "
            "successful-only failed-only seccomp-bpf"
        ),
        long_valued=_set("attach env expr interruptible output detach-on trace-path string-limit summary-sort-by user"),
        idle=_set("p attach"),
    ),
    "ltrace": Wrapper(flags="bcCfhiLrStTV", valued="AaeFlnopsuwx", idle=_set("p")),
    "unshare": Wrapper(
        flags="fimnpuCUTrchV",
        valued="RwSGl",
        long=_set(
            "mount uts ipc net pid user cgroup time fork kill-child mount-proc map-root-user map-current-user map-auto "
            "propagation keep-caps"
        )
        | _COMMON,
        long_valued=_set("map-user map-users map-group map-groups root wd setuid setgid setgroups monotonic boottime"),
        alone=STDIN,
    ),
    "nsenter": Wrapper(
        flags="aFZeVh",
        valued="tSG",
        attached="muinpUCTrwW",
        long=_set(
            "all mount uts ipc net pid cgroup user time preserve-credentials keep-caps root wd wdns no-fork "
            "follow-context env"
        )
        | _COMMON,
        long_valued=_set("target setuid setgid"),
        alone=STDIN,
    ),
    "chroot": Wrapper(
        long=_set("skip-chdir") | _COMMON, long_valued=_set("userspec groups"), operands=1, alone=STDIN,
    ),
    "busybox": Wrapper(long=_set("list list-full install help")),
    "toybox": Wrapper(long=_set("long help version")),
    "caffeinate": Wrapper(flags="dimsu", valued="tw", idle=_set("w")),
    "unbuffer": Wrapper(flags="p"),
    "linux32": Wrapper(long=_COMMON),
    "linux64": Wrapper(long=_COMMON),
    "systemd-run": Wrapper(
        flags="dGPqrStM",
        valued="pEHMu",
        long=_set(
            "user system scope pipe pty quiet wait collect no-block no-ask-password remain-after-exit shell "
            "same-dir send-sighup slice-inherit"
        )
        | _COMMON,
        long_valued=_set("unit property description slice uid gid nice working-directory setenv "
            "on-active host machine"),
        chdir=_set("working-directory"),
    ),
}  # fmt: skip
"""Program's base name -> its row."""

SHELLS: Final = frozenset(name for name, row in WRAPPERS.items() if row.style is Style.SHELL)
"""Programs that run code given as text."""

HARMLESS_WRAPPERS: Final[dict[str, str]] = {
    "nohup": "only ignores a hang-up; its output goes where the shell sends it, or to nohup.out",
    "time": "only measures; not with options that write a file",
    "timeout": "only ends the command",
    "nice": "only its priority",
    "ionice": "only its disk priority",
    "stdbuf": "only how its output is buffered",
    "setsid": "only its session",
    "command": "the same program, past functions and aliases",
    "env": "without options, and with harmless variables only",
}
"""Wrappers through which an allow looks, each with its reason. Anything not here needs an allow of its own."""

HARMLESS_VARIABLES: Final[dict[str, str]] = {
    "CI": "tells tools that nobody watches",
    "LANG": "language and encoding of messages",
    "LANGUAGE": "language of messages",
    "LC_*": "language and encoding by kind",
    "TZ": "time zone of printed times",
    "NO_COLOR": "no colours",
    "FORCE_COLOR": "colours",
    "CLICOLOR": "colours",
    "CLICOLOR_FORCE": "colours",
    "TERM": "kind of terminal",
    "COLUMNS": "width of output",
    "LINES": "height of output",
    "PYTHONUNBUFFERED": "when output is written",
    "PYTHONDONTWRITEBYTECODE": "no cache files",
    "PYTHONHASHSEED": "order of sets",
    "RUST_BACKTRACE": "detail of error output",
    "RUST_LOG": "detail of logs",
    "LOG_LEVEL": "detail of logs",
    "DEBIAN_FRONTEND": "how an installer would ask",
    "SOURCE_DATE_EPOCH": "time stamps in build output",
    "FORCE_TTY": "layout of output",
}
"""Variables an allow looks past when their value is plain text, each with its reason. `*` at the end: by prefix."""

_CHANGES_EXACT: Final = _set(
    "PATH IFS ENV BASH_ENV HOME SHELL CDPATH PAGER MANPAGER EDITOR VISUAL BROWSER PROMPT_COMMAND PS0 PS1 PS2 PS4 "
    "SHELLOPTS BASHOPTS ZDOTDIR FPATH MAKEFLAGS TMPDIR TMP TEMP CC CXX LD AR AS CLASSPATH DOCKER_HOST KUBECONFIG "
    "RUSTC RUSTC_WRAPPER CARGO_HOME GOROOT GOPATH GOBIN GOENV GOPROXY EXECIGNORE HISTFILE INPUTRC XDG_CONFIG_HOME "
    "http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY LESSOPEN LESSCLOSE"
)
_CHANGES_STARTS: Final = (
    "LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "NODE_", "BASH_FUNC_", "npm_config_", "NPM_CONFIG_", "PIP_",
    "CARGO_", "JAVA_", "MAVEN_", "GRADLE_", "SSH_", "GCONV_", "BASH_",
)  # fmt: skip
_CHANGES_ENDS: Final = ("_OPTS", "_OPTIONS", "FLAGS", "OPT", "_EDITOR", "_PAGER", "_COMMAND", "_WRAPPER", "PATH")

STANDARD_DIRECTORIES: Final = _set("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin")
"""Directories whose programs count as the program of that name."""

RESERVED: Final = _set("{ } ! if then else elif fi while until do done esac time coproc")
"""Reserved words that may stand before a command; the grammar takes some of them for programs."""
RESERVED_HEADS: Final = _set("for case select function")
"""Reserved words after which names follow, not a command."""


def is_harmless_variable(name: str) -> bool:
    """Say whether an allow may look past this variable when its value is plain text."""
    return name in HARMLESS_VARIABLES or name.startswith("LC_")


def changes_what_runs(name: str) -> bool:
    """Say whether setting this variable alone may change what a later command of the line runs."""
    return not is_harmless_variable(name) and (
        name in _CHANGES_EXACT or name.startswith(_CHANGES_STARTS) or name.endswith(_CHANGES_ENDS)
    )


def passes_input_on(label: str) -> bool:
    """Say whether a wrapper surely gives its standard input to what it runs: it runs one command, and reads nothing."""
    row = WRAPPERS.get(label)
    return row is not None and row.style is Style.WORDS and label not in ("xargs", "script", "entr")


def standard_base(program: str) -> str:
    """Return the base name of a program in a standard directory; empty for any other path and for a bare name."""
    directory, slash, base = program.rpartition("/")
    return base if slash and directory in STANDARD_DIRECTORIES else ""

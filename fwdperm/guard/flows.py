"""What several commands of one line do together: a download into a shell, a secret into the network, a fork bomb.

Lives here: findings over the whole line, given to the commands concerned. Never here: what one command is by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.guard.classes import Danger
from fwdperm.guard.critical import by_words, candidates
from fwdperm.guard.dangers import peril_of
from fwdperm.guard.literal import assignments, decodes, expand, feeder, literal_input, literal_output
from fwdperm.guard.markers import matches_configured, may_hold_secret_path
from fwdperm.guard.places import is_catastrophic
from fwdperm.guard.text import holds_token, is_local, sql_drops
from fwdperm.shell import parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.guard.surroundings import Ground
    from fwdperm.shell.command import Command, Line

Found = tuple[Danger, str, str, tuple[str, ...]]


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS: Final = _f("sh bash zsh dash ksh mksh ash fish csh tcsh rbash busybox pwsh")
"""Programs that run their standard input or `-c` text as shell code."""
INTERPRETERS: Final = SHELLS | _f(
    "python python2 python3 perl ruby node nodejs deno bun php lua osascript tclsh pypy pypy3 Rscript groovy R julia"
)
"""Programs that run their standard input as code."""
DOWNLOADERS: Final = _f(
    "curl wget fetch http https xh aria2c lynx w3m links axel httpie nc ncat netcat socat scp sftp ftp rclone gh"
)
"""Programs that bring data in from the network."""
SENDERS: Final = _f(
    "curl wget nc ncat netcat socat telnet ssh scp sftp ftp rsync dig nslookup host drill "
    "ping mail mailx mutt sendmail msmtp http https xh httpie "
    "rclone aws gsutil gcloud az gh glab s3cmd mc openssl tftp lftp xmpp sendxmpp slack "
    "slackcat ntfy kdig resolvectl traceroute whois finger gdrive dropbox magic-wormhole "
    "wormhole croc"
)
"""Programs that can carry data out to the network."""
_BULK_SENDERS: Final = _f("scp rsync aws gsutil rclone gcloud s3cmd mc croc wormhole")
_SHOWS_SECRETS: Final = _f(
    "kubectl oc aws gcloud az gh glab vault pass op bw secret-tool security gopass chamber sops doppler lpass"
)
_UPLOADS: Final = re.compile(
    r"(?:-d|-F|-T|--data|--data-\w+|--form|--upload-file|--post-file|--post-data|--body-file|--json)(?:=|$)"
)
_FETCH_AND_RUN: Final = re.compile(
    r"\b(?:exec|eval|compile|runpy)\b.*\b(?:urlopen|urllib|requests\.get|httpx|fetch\(|"
    r"http\.get|open-uri|LWP|Net::HTTP|file_get_contents)",
    re.DOTALL,
)
_RUNS_SHELL: Final = re.compile(
    r"\b(?:system|popen|Popen|subprocess|spawn\w*|exec\w*|execSync|shell_exec|passthru|"
    r"check_output|check_call|call|run|child_process|os\.exec\w*)\b|`|%x|qx"
)
_REMOVES_TREE: Final = re.compile(
    r"\b(?:rmtree|rmSync|rm_rf|rm_r|remove_tree|removeSync|rimraf(?:\.sync)?|rmdirSync|"
    r"RemoveAll|remove_dir_all|remove_entry_secure)\s*\(?\s*"
    r"(?:Path\(|os\.path\.expanduser\(|pathlib\.Path\()?\s*[rbf]?(['\"])(?P<path>[^'\"]+)\1"
)
_SOCKET_SHELL: Final = re.compile(
    r"socket.*(?:/bin/(?:ba|z|da)?sh|pty\.spawn|dup2)|(?:/bin/(?:ba|z|da)?sh|"
    r"pty\.spawn).*socket|Socket.*exec|TCPSocket.*(?:exec|popen|spawn)|fsockopen.*(?:exec|"
    r"system|popen)",
    re.DOTALL,
)
_STRINGS: Final = re.compile(
    r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|`((?:[^`\\]|\\.)*)`|(?:qx|%x)[{(\[/]([^})\]/]*)"
)
_LISTS: Final = re.compile(r"\[\s*((?:['\"][^'\"]*['\"]\s*,?\s*)+)\]")
_INLINE_FLAGS: Final = _f("-c -e -E -r -p -pe -ne -le --eval -Command --command eval")
_GONE: Final = frozenset(
    {
        "critical.wipe",
        "critical.wipe-find",
        "critical.device",
        "critical.power",
        "critical.kill-all",
        "critical.open-permissions",
        "critical.remote-code",
        "critical.fork-bomb",
        "critical.own-files",
        "critical.own-command",
        "critical.reverse-shell",
        "critical.exfiltration",
        "critical.move-away",
        "critical.metadata",
        "critical.kill-fwdperm",
    }
)
_DEPTH: Final = 3


MOST_COMMANDS: Final = 500
"""Commands of one line that are looked at together; a longer line is for a person anyway."""
_CODE_CHARS: Final = 4096
"""Characters of an interpreter's one-liner that are looked at; it is dangerous whatever they say."""


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
"""What commands are together, for the reference page. Literal variables, `$IFS`, printed and decoded text are resolved first."""


@dataclass(frozen=True, slots=True)
class Web:
    """A line with what hangs on each command.

    Attributes:
        line: The line.
        commands: Its commands, at most `MOST_COMMANDS`.
        children: Command index -> what it carries.
    """

    line: Line
    commands: tuple[Command, ...]
    children: dict[int, list[int]]

    @classmethod
    def of(cls, line: Line) -> Web:
        """Index a line."""
        children: dict[int, list[int]] = {}
        commands = line.commands[:MOST_COMMANDS]
        for index, command in enumerate(commands):
            if command.carrier >= 0:
                children.setdefault(command.carrier, []).append(index)
        return cls(line, commands, children)


def flows(line: Line, ground: Ground, text: str, *, depth: int = 0) -> dict[int, Found]:
    """Find what the commands of a line do together.

    Args:
        line: The parsed line.
        ground: Where it runs.
        text: The line as typed.
        depth: How many times text was unpacked to come here; ends at three.

    Returns:
        Command index -> what it is part of. A command that is part of nothing is missing.
    """
    found: dict[int, Found] = {}
    web = Web.of(line)
    if web.line.functions:
        _fork_bomb(web, found)
    for index, command in enumerate(web.commands):
        base = command.base
        if not command.words:
            continue
        if base in INTERPRETERS or base in {"eval", "source", ".", "exec"} or base.startswith(("python3.", "pypy")):
            _into_interpreter(web, index, found, ground, depth)
        if base in SENDERS or any(r.target.text.startswith(("/dev/tcp/", "/dev/udp/")) for r in command.redirects):
            _out(web, index, found, ground)
        if base in {"psql", "mysql", "mariadb", "sqlite3", "mongosh", "mongo"}:
            fed = literal_input(web.line, index)
            if fed and sql_drops(fed):
                found[index] = (
                    Danger.CRITICAL,
                    "critical.drop-data",
                    "destroys a database or a table",
                    (command.program, fed[:80]),
                )
        if base == "xargs" and command.fed_by >= 0:
            _xargs(web, index, found, ground)
        if base in {"kill", "xargs"}:
            _kill_us(web, index, found)
    _fetch_then_run(web, found)
    if depth < _DEPTH:
        _hidden(web, ground, text, found, depth)
    return found


def _critical(found: dict[int, Found], id_: str, reason: str, words: tuple[str, ...], *indexes: int) -> None:
    for index in indexes:
        if index >= 0 and (index not in found or found[index][0].rank < Danger.CRITICAL.rank):
            found[index] = (Danger.CRITICAL, id_, reason, words)


def _fork_bomb(web: Web, found: dict[int, Found]) -> None:
    for index, command in enumerate(web.commands):
        if command.stands == "function" and command.base in web.line.functions and command.fed_by >= 0:
            if web.commands[command.fed_by].base == command.base:
                _critical(
                    found,
                    "critical.fork-bomb",
                    "starts itself twice, without end",
                    (command.base,),
                    index,
                    command.fed_by,
                )


def upstream(web: Web, index: int) -> Iterator[int]:
    """Give every command whose output reaches this one through pipes, with what those run, and what is substituted into its words."""
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
        arg in _INLINE_FLAGS or arg == "-m" or (re.fullmatch(r"-[a-z]*c", arg) and command.base in SHELLS)
        for arg in args
    ):
        return False
    operands = [arg for arg in args if not arg.startswith("-")]
    return not operands or "-s" in args or "-" in args or operands[0] in {"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"}


def _into_interpreter(web: Web, index: int, found: dict[int, Found], ground: Ground, depth: int) -> None:
    command = web.commands[index]
    base = command.base
    feeding = list(upstream(web, index))
    direct = set(_substituted(web, index))
    from_input = base not in {"eval", "source", ".", "exec"} and _reads_program_from_input(command)
    runs_text = base in {"eval", "source", "."} or any(
        arg in _INLINE_FLAGS or re.fullmatch(r"-[a-zA-Z]*c", arg) for arg in command.argv[1:]
    )
    as_file = any(not word.known and word.text.startswith("<(") for word in command.words[1:])
    takes = from_input or runs_text or as_file
    if takes:
        for at in feeding:
            other = web.commands[at]
            if at in direct and not (runs_text or as_file) and not from_input:
                continue
            if other.base in DOWNLOADERS:
                _critical(
                    found,
                    "critical.remote-code",
                    "runs code straight from the network",
                    (other.program, command.program),
                    at,
                    index,
                )
            elif decodes(other) and base in INTERPRETERS | {"eval", "source", "."}:
                _critical(
                    found,
                    "critical.decoded-code",
                    "runs text that nobody can read before it is decoded",
                    (other.program, command.program),
                    at,
                    index,
                )
    if from_input and depth < _DEPTH and base in SHELLS:
        fed = literal_input(web.line, index)
        if fed:
            _unpack(fed, index, found, ground, depth, (command.program, fed[:80]))
    if base in INTERPRETERS - SHELLS:
        for at, word in enumerate(command.words[1:], 1):
            if command.words[at - 1].text in _INLINE_FLAGS or (
                word.text.startswith(("-e", "-c")) and len(word.text) > 3
            ):
                _inline(word.text, index, found, ground, depth)
        fed = literal_input(web.line, index) if from_input else None
        if fed:
            _inline(fed, index, found, ground, depth)


def _unpack(
    text: str,
    index: int,
    found: dict[int, Found],
    ground: Ground,
    depth: int,
    words: tuple[str, ...],
    *,
    only: frozenset[str] | None = None,
) -> None:
    """Look for catastrophe in text that a shell would run."""
    inner = parse_line(text)
    for command in inner.commands:
        here = ground.at(command.cwd)
        single = _alone(command, here)
        if single and (only is None or single[0] in only):
            _critical(found, single[0], single[1], words, index)
            return
    for hit in flows(inner, ground, text, depth=depth + 1).values():
        if hit[0] is Danger.CRITICAL and (only is None or hit[1] in only):
            _critical(found, hit[1], hit[2], words, index)
            return


def _alone(command: Command, ground: Ground) -> tuple[str, str] | None:
    from fwdperm.guard.critical import catastrophe  # noqa: PLC0415 - shared with the per-command look

    hit = catastrophe(command, ground)
    return (hit[0], hit[1]) if hit else None


def _inline(code: str, index: int, found: dict[int, Found], ground: Ground, depth: int) -> None:
    """Look for the few literal forms of catastrophe in an interpreter's one-liner."""
    code = code[:_CODE_CHARS]
    for match in _REMOVES_TREE.finditer(code):
        if by_words(("rm", "-r", match.group("path")), ground):
            _critical(
                found,
                "critical.wipe",
                "removes the system, a home directory or a whole directory of one",
                (match.group()[:80],),
                index,
            )
    if _FETCH_AND_RUN.search(code):
        _critical(found, "critical.remote-code", "runs code straight from the network", (code[:80],), index)
    if _SOCKET_SHELL.search(code):
        _critical(found, "critical.reverse-shell", "gives somebody else a shell here", (code[:80],), index)
    if _RUNS_SHELL.search(code) and depth < _DEPTH:
        for match in _STRINGS.finditer(code):
            text = next((group for group in match.groups() if group), "")
            if text and (" " in text or "|" in text):
                _unpack(text, index, found, ground, depth, (text[:80],), only=_GONE)
        for match in _LISTS.finditer(code):
            argv = tuple(a or b for a, b in re.findall(r"'([^']*)'|\"([^\"]*)\"", match.group(1)))
            hit = by_words(argv, ground) if argv and argv[0] else None
            if hit and hit[0] in _GONE:
                _critical(found, hit[0], hit[1], argv, index)


def secret_read_by(command: Command, ground: Ground) -> str:
    """Give the word by which a command shows a secret; empty when it shows none."""
    base = command.base
    argv = command.argv
    if (base == "env" and all(word.startswith("-") or "=" in word for word in argv[1:])) or base in {"printenv"}:
        return base
    if base in {"export", "declare", "typeset", "set"} and (argv[1:] in ((), ("-p",), ("-x",))):
        return base
    if (base in {"gpg", "gpg2"} and any("secret" in word for word in argv)) or (
        base == "security" and "find-generic-password" in argv
    ):
        return base
    if base == "git" and "credential" in argv:
        return "credential"
    peril = peril_of(argv) if argv else None
    if peril and peril[0].id in {"dangerous.secret-tools", "dangerous.secret-stores"} and base in _SHOWS_SECRETS:
        return " ".join(peril[1])
    if base in {"tar", "zip", "cpio", "7z"}:
        whole = _whole(argv[1:], ground)
        if whole:
            return whole
    if base in {"ls", "test", "[", "stat", "echo", "printf", "find"}:
        return ""
    for redirect in command.redirects:
        if redirect.reads and is_secret(redirect.target.text, ground):
            return redirect.target.text
    return next(
        (word.text for word in command.words[1:] if any(is_secret(each, ground) for each in candidates(word.text))), ""
    )


def _whole(words: tuple[str, ...], ground: Ground) -> str:
    """Give the word that names a whole system or home directory; empty when none does."""
    for word in words:
        if word[:1] in {"/", "~", "$", "."} and is_catastrophic(
            word, cwd=ground.cwd, home=ground.home, workspaces=ground.surroundings.workspaces
        ):
            return word
    return ""


def is_secret(text: str, ground: Ground) -> bool:
    """Say whether a typed path is sensitive to read."""
    if "\n" in text or len(text) > 4096:  # noqa: PLR2004 - no path is longer
        return False
    path = ground.resolve(text) or "/" + text
    if (may_hold_secret_path(text) or may_hold_secret_path(ground.cwd)) and ground.read_marker(path):
        return True
    for typed, real in ground.canonical:
        if typed == text and ground.read_marker(real):
            return True
    patterns = ground.surroundings.sensitive_read
    return bool(patterns) and bool(matches_configured(path, patterns, ground.home, ground.cwd))


def _out(web: Web, index: int, found: dict[int, Found], ground: Ground) -> None:
    """Judge a command that can send: does a secret reach it?"""
    command = web.commands[index]
    base = command.base
    for at in upstream(web, index):
        other = web.commands[at]
        secret = secret_read_by(other, ground.at(other.cwd))
        if secret:
            _critical(
                found, "critical.exfiltration", "sends a secret out", (secret, command.program or "network"), at, index
            )
        elif base in {"nc", "ncat", "netcat", "socat", "telnet"} and other.base in SHELLS:
            _critical(
                found,
                "critical.reverse-shell",
                "gives somebody else a shell here",
                (other.program, command.program),
                at,
                index,
            )
    if any(redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/")) for redirect in command.redirects):
        if base in SHELLS | {"exec"}:
            _critical(
                found,
                "critical.reverse-shell",
                "gives somebody else a shell here",
                (command.program, "/dev/tcp"),
                index,
            )
        elif secret_read_by(command, ground):
            _critical(found, "critical.exfiltration", "sends a secret out", (command.program, "/dev/tcp"), index)
    secret = _uploaded_secret(command, ground)
    if not secret:
        secret = _tainted(web, index, ground)
    if secret:
        _critical(found, "critical.exfiltration", "sends a secret out", (command.program, secret), index)
    elif base in {"curl", "wget"} and any(
        word.text.startswith(("http://", "https://")) and holds_token(word.text) and not is_local(word.text)
        for word in command.words[1:]
    ):
        _critical(found, "critical.exfiltration", "sends a secret out in an address", (command.program,), index)
    if (
        base in {"curl", "wget", "http", "scp", "rsync", "nc"}
        and _runs_over_many(web, index)
        and any(_UPLOADS.match(word.text[:20].partition("=")[0] + "") or not word.known for word in command.words[1:])
    ):
        if base in {"scp", "rsync", "nc"} or any(_UPLOADS.match(word.text) for word in command.words[1:]):
            _critical(found, "critical.bulk-upload", "uploads every file it finds", (command.program,), index)


def _runs_over_many(web: Web, index: int) -> bool:
    at = web.commands[index].carrier
    while at >= 0:
        if web.commands[at].base in {"find", "xargs", "parallel", "fd"}:
            return True
        at = web.commands[at].carrier
    return False


def _uploaded_secret(command: Command, ground: Ground) -> str:
    base = command.base
    if base in {
        "dig",
        "nslookup",
        "host",
        "ping",
        "ssh",
        "telnet",
        "whois",
        "openssl",
        "aws",
        "gcloud",
        "az",
        "gh",
        "glab",
    } and base not in {"aws", "gh"}:
        return ""
    for redirect in command.redirects:
        if redirect.reads and is_secret(redirect.target.text, ground):
            return redirect.target.text
    if base in _BULK_SENDERS:
        whole = _whole(command.argv[1:-1], ground)
        if whole:
            return whole
    previous = ""
    for word in command.words[1:]:
        text, before = word.text, previous
        previous = text
        if before in {
            "-i",
            "-e",
            "--key",
            "--cert",
            "-E",
            "--cacert",
            "--netrc-file",
            "-o",
            "--output",
            "-O",
            "-K",
            "--identity-file",
            "--private-key",
            "-b",
            "-c",
        }:
            continue
        if text.startswith(("--key", "--cert", "--cacert", "--output", "--netrc")):
            continue
        if base in {"curl", "wget"} and not (
            _UPLOADS.match(before) or _UPLOADS.match(text) or (text[:2] in {"-d", "-F", "-T"} and len(text) > 2)
        ):
            continue
        if any(is_secret(each, ground) for each in candidates(text)) or (
            text[:2] in {"-d", "-F", "-T"} and is_secret(text[2:].lstrip("@"), ground)
        ):
            return text
    return ""


def _tainted(web: Web, index: int, ground: Ground) -> str:
    """Follow `X=$(cat secret)` into a later command that sends `$X`."""
    if all(word.known for word in web.commands[index].words):
        return ""
    raw = web.commands[index].raw
    for at in range(index):
        for name, value in web.commands[at].prefixes:
            if not value.known and re.search(rf"\$\{{?{re.escape(name)}\b", raw):
                for child in _substituted(web, at):
                    secret = secret_read_by(web.commands[child], ground)
                    if secret:
                        return secret
    return ""


def _xargs(web: Web, index: int, found: dict[int, Found], ground: Ground) -> None:
    """Put literal input behind what `xargs` runs; and look at a `find` over everything that feeds it."""
    command = web.commands[index]
    inner = [at for at, each in enumerate(web.commands) if each.carrier == index and each.wrapped_by]
    fed = literal_input(web.line, index)
    source = web.commands[max(feeder(web.line, index), 0)]
    for at in inner:
        argv = web.commands[at].argv
        if fed and argv:
            hit = by_words((*argv, *fed.split()), ground)
            if hit:
                _critical(found, hit[0], hit[1], hit[2], index, at)
        if argv and argv[0].rpartition("/")[2] in {"rm", "shred", "unlink"} and source.base == "find":
            hit = by_words((*source.argv, "-delete"), ground)
            if hit:
                _critical(found, hit[0], hit[1], hit[2], index, at)


def _kill_us(web: Web, index: int, found: dict[int, Found]) -> None:
    command = web.commands[index]
    if command.base == "xargs" and not any(each.carrier == index and each.base == "kill" for each in web.commands):
        return
    for at in upstream(web, index):
        if any("fwdperm" in word.lower() for word in web.commands[at].argv):
            _critical(
                found, "critical.kill-fwdperm", "stops the permission daemon", (command.program, "fwdperm"), index
            )


def _fetch_then_run(web: Web, found: dict[int, Found]) -> None:
    """Follow a file from a download to a command that runs it."""
    fetched: dict[str, int] = {}
    for index, command in enumerate(web.commands):
        name = command.program.removeprefix("./")
        args = [word.removeprefix("./") for word in command.argv[1:]]
        if fetched:
            script = (
                next((arg for arg in args if not arg.startswith("-")), "")
                if command.base in INTERPRETERS | {"source", "."}
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
        if command.base in {"curl", "wget", "fetch", "aria2c"}:
            for target in _downloaded(command, args):
                fetched[target.removeprefix("./")] = index


def _downloaded(command: Command, args: list[str]) -> list[str]:
    out = [redirect.target.text for redirect in command.redirects if redirect.writes]
    for at, arg in enumerate(args[:-1]):
        if arg in {"-o", "--output", "-O", "--output-document"} or re.fullmatch(r"-[a-zA-Z]*[oO]", arg):
            out.append(args[at + 1])
    if command.base == "wget" or any(re.fullmatch(r"-[a-zA-Z]*O[a-zA-Z]*|--remote-name", arg) for arg in args):
        out.extend(arg.split("?")[0].rpartition("/")[2] for arg in args if "/" in arg and not arg.startswith("-"))
    return [name for name in out if name and name != "-"]


def _hidden(web: Web, ground: Ground, text: str, found: dict[int, Found], depth: int) -> None:
    """Resolve literal variables, blanks and printed text, and look again at what then stands there."""
    if "\0" in text:
        for joined in (text.replace("\0", ""), text.replace("\0", "\n")):
            _unpack(joined, 0, found, ground, depth, ("NUL",))
    if "$" not in text and "`" not in text and "{" not in text:
        return
    variables: dict[str, str] | None = None
    for index, command in enumerate(web.commands):
        if (
            not command.raw
            or all(word.known for word in command.words)
            or (command.carrier >= 0 and command.stands == "substitution")
        ):
            continue
        if variables is None:
            variables = assignments(web.line)
        after = expand(command.raw, variables, print_of=_printed)
        if after != command.raw:
            _unpack(after, index, found, ground, depth, (command.raw[:80], after[:80]))


def _printed(code: str) -> str | None:
    inner = parse_line(code)
    tops = [at for at, command in enumerate(inner.commands) if command.carrier < 0]
    return literal_output(inner, tops[-1]) if tops and not inner.opaque else None

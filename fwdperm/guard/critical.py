"""Certain catastrophes, one command at a time: short, on parsed words, never on text.

Lives here: the table `CRITICAL` and its recognisers. Never here: what several commands do together (`flows.py`).

A recogniser sees the words after quote removal and says which of them earn the class, or nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fwdperm.guard.own import HARMLESS_VERBS, own_verb
from fwdperm.guard.places import is_catastrophic
from fwdperm.guard.text import is_metadata, sql_drops

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.guard.surroundings import Ground

Argv = tuple[str, ...]
BLOCK_DEVICE: Final = re.compile(
    r"/dev/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|rdisk\d|dm-\d|md\d|"
    r"mapper/|disk/by-|loop\d|sda|root\b|mem$|kmem$)"
)
_SETS_ID: Final = re.compile(r"[ugoa]*\+[rwxt]*s[rwxt]*|0?[4-7][0-7]{3}")
_SHELL_NAMES: Final = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "fish", "python3", "python", "perl", "env", "find", "vim", "cp"}
)
_HELP: Final = frozenset({"--help", "--version", "-V"})


@dataclass(frozen=True, slots=True)
class Catastrophe:
    """One entry.

    Attributes:
        id: Stable id.
        reason: Why, in words.
        programs: Programs it looks at; empty for every one.
        finds: Gives the words that earn it; empty when it does not apply.
    """

    id: str
    reason: str
    programs: tuple[str, ...]
    finds: Callable[[Argv, Ground], Argv]


def _letters(argv: Argv) -> str:
    return "".join(word[1:] for word in argv[1:] if word.startswith("-") and not word.startswith("--"))


def _operands(argv: Argv) -> list[str]:
    out: list[str] = []
    only = False
    for word in argv[1:]:
        if only or not word.startswith("-") or word == "-":
            out.append(word)
        elif word == "--":
            only = True
    return out


def _lost(words: list[str] | Argv, ground: Ground) -> str:
    for word in words:
        if is_catastrophic(word, cwd=ground.cwd, home=ground.home):
            return word
    return ""


def _wipe(argv: Argv, ground: Ground) -> Argv:
    flags = {word for word in argv if word.startswith("--")}
    recursive = "r" in _letters(argv).lower() or any(len(flag) > 4 and "--recursive".startswith(flag) for flag in flags)  # noqa: PLR2004
    if "--no-preserve-root" in flags:
        recursive = True
    word = _lost(_operands(argv), ground) if recursive else ""
    return (argv[0], word) if word else ()


def _find_wipe(argv: Argv, ground: Ground) -> Argv:
    starts: list[str] = []
    for word in argv[1:]:
        if word.startswith("-") or word in {"(", "!"}:
            break
        starts.append(word)
    if not starts and "-delete" not in argv:
        return ()
    removes = "-delete" in argv or any(
        flag in {"-exec", "-execdir", "-ok", "-okdir"}
        and after.rpartition("/")[2] in {"rm", "shred", "unlink", "srm", "rmdir"}
        for flag, after in pairwise(argv)
    )
    if not removes:
        return ()
    narrowed = any(
        flag in {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"}
        and not set(after) <= set("*./?")
        for flag, after in pairwise(argv)
    )
    word = "" if narrowed else _lost(starts, ground)
    return (argv[0], word, "-delete") if word else ()


def _open_up(argv: Argv, ground: Ground) -> Argv:
    recursive = "R" in _letters(argv) or "--recursive" in argv
    word = _lost(_operands(argv), ground) if recursive else ""
    return (argv[0], word) if word else ()


def _root_shell(argv: Argv, _ground: Ground) -> Argv:
    mode = next((word for word in argv[1:] if _SETS_ID.fullmatch(word)), "")
    shell = next((word for word in argv[1:] if word.rpartition("/")[2] in _SHELL_NAMES), "")
    return (argv[0], mode, shell) if mode and shell else ()


def _move_away(argv: Argv, ground: Ground) -> Argv:
    operands = _operands(argv)
    if len(operands) < 2:  # noqa: PLR2004 - source and target
        return ()
    word = _lost(operands[:-1], ground)
    return (argv[0], word) if word else ()


def _sync_away(argv: Argv, ground: Ground) -> Argv:
    if not any(word.startswith("--del") for word in argv):
        return ()
    operands = _operands(argv)
    word = _lost(operands[-1:], ground)
    return (argv[0], word) if word else ()


def _device(argv: Argv, _ground: Ground) -> Argv:
    for word in argv[1:]:
        path = word.partition("=")[2] if word.startswith("of=") else word
        if BLOCK_DEVICE.match(path) and (argv[0].rpartition("/")[2] != "dd" or word.startswith("of=")):
            return (argv[0], word)
    return ()


def _copy_to_device(argv: Argv, _ground: Ground) -> Argv:
    operands = _operands(argv)
    return (argv[0], operands[-1]) if operands and BLOCK_DEVICE.match(operands[-1]) else ()


def _partition(argv: Argv, _ground: Ground) -> Argv:
    acts = {
        "mklabel",
        "mkpart",
        "rm",
        "-Z",
        "--zap-all",
        "-o",
        "--clear",
        "luksFormat",
        "erase",
        "format",
        "sanitize",
        "--security-erase",
        "labelclear",
    }
    device = next((word for word in argv[1:] if BLOCK_DEVICE.match(word)), "")
    act = next((word for word in argv[1:] if word in acts), "")
    return (argv[0], act, device) if device and act else ()


def _volumes(argv: Argv, _ground: Ground) -> Argv:
    acts = {"destroy"} if argv[0].endswith(("zpool", "zfs")) else {"delete"}
    if argv[0].rpartition("/")[2] in {"lvremove", "vgremove", "pvremove"}:
        forced = [word for word in argv[1:] if word in {"-f", "-ff", "-y", "--force", "--yes", "-fy", "-yf"}]
        return (argv[0], forced[0]) if forced else ()
    act = [word for word in argv[1:3] if word in acts]
    return (argv[0], *act) if act else ()


def _power(argv: Argv, _ground: Ground) -> Argv:
    base = argv[0].rpartition("/")[2]
    rest = argv[1:]
    if _HELP & set(rest) or "-c" in rest or "-k" in rest or "--show" in rest:
        return ()
    if base in {"init", "telinit"}:
        return (argv[0], rest[0]) if rest[:1] and rest[0] in {"0", "6"} else ()
    if base in {"systemctl", "loginctl"}:
        verbs = [
            word
            for word in rest
            if word in {"poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue"}
        ]
        return (argv[0], verbs[0]) if verbs else ()
    return argv[:3]


def _kill_all(argv: Argv, _ground: Ground) -> Argv:
    rest = list(argv[1:])
    if not rest or rest[0] in {"-l", "-L", "--list"}:
        return ()
    if rest[0] in {"-s", "-n", "--signal"}:
        rest = rest[2:]
    elif rest[0].startswith("-") and rest[0] != "--":
        rest = rest[1:]
    targets = [word for word in rest if word != "--"]
    return (argv[0], "-1") if "-1" in targets else ()


def _reverse_shell(argv: Argv, _ground: Ground) -> Argv:
    base = argv[0].rpartition("/")[2]
    for at, word in enumerate(argv[1:], 1):
        if base == "socat":
            if word.upper().startswith(("EXEC:", "SYSTEM:", "SHELL:")) and len(argv) > 2:  # noqa: PLR2004
                return (argv[0], word)
        elif word in {"-e", "-c", "--exec", "--sh-exec", "--lua-exec"} or re.fullmatch(r"-[a-z]*[ec]", word):
            after = argv[at + 1] if at + 1 < len(argv) else ""
            if word.endswith("c") and not after.startswith(("/", "sh", "bash", "zsh", "cmd", "powershell")):
                continue
            return (argv[0], word, after)
    return ()


def _cloud_teardown(argv: Argv, _ground: Ground) -> Argv:
    words = set(argv)
    base = argv[0].rpartition("/")[2]
    approved = any(
        word.lstrip("-").partition("=")[0] in {"auto-approve", "yes", "y", "skip-preview", "f"}
        and not word.endswith("=false")
        for word in argv[1:]
    )
    if base in {"terraform", "tofu", "terragrunt"}:
        destroys = "destroy" in words or ("apply" in words and words & {"-destroy", "--destroy"})
        return (
            (argv[0], "destroy", "-auto-approve")
            if destroys and any("auto-approve" in word and not word.endswith("=false") for word in argv)
            else ()
        )
    if base in {"pulumi", "cdk", "cdktf", "serverless", "sls", "eksctl"}:
        gone = words & {"destroy", "remove"} if base != "eksctl" else set()
        return (argv[0], *gone) if gone and (approved or "--force" in words or base in {"serverless", "sls"}) else ()
    return ()


def _remote_delete(argv: Argv, _ground: Ground) -> Argv:
    """Commands that delete a remote container of data with its confirmation removed."""
    base = argv[0].rpartition("/")[2]
    words = [word for word in argv[1:] if not word.startswith("-")]
    flags = {word.partition("=")[0] for word in argv[1:] if word.startswith("-")}
    for program, lead, needs in _REMOTE_DELETES:
        if base == program and _in_order(lead, words) and (not needs or flags & needs):
            return (argv[0], *lead, *sorted(flags & needs))
    if (
        base == "gh"
        and words[:1] == ["api"]
        and "DELETE" in {word.upper().removeprefix("-X") for word in argv}
        and any(re.match(r"/?repos/[^/]+/[^/]+/?$", word) for word in words)
    ):
        return (argv[0], "api", "DELETE")
    return ()


def _w(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_REMOTE_DELETES: Final = (
    ("aws", _w("s3 rm"), {"--recursive"}),
    ("aws", _w("s3 rb"), {"--force"}),
    ("aws", _w("s3api delete-bucket"), frozenset[str]()),
    ("aws", _w("rds delete-db-instance"), {"--skip-final-snapshot"}),
    ("aws", _w("rds delete-db-cluster"), {"--skip-final-snapshot"}),
    ("aws", _w("dynamodb delete-table"), frozenset[str]()),
    ("aws", _w("cloudformation delete-stack"), frozenset[str]()),
    ("gsutil", _w("rm"), {"-r", "-R", "-rf", "-a"}),
    ("gsutil", _w("rb"), frozenset[str]()),
    ("gcloud", _w("projects delete"), {"--quiet", "-q"}),
    ("gcloud", _w("sql instances delete"), {"--quiet", "-q"}),
    ("gcloud", _w("storage rm"), {"-r", "-R", "--recursive"}),
    ("gcloud", _w("storage buckets delete"), {"--quiet", "-q"}),
    ("az", _w("group delete"), {"--yes", "-y"}),
    ("az", _w("storage account delete"), {"--yes", "-y"}),
    ("gh", _w("repo delete"), {"--yes", "--confirm", "-y"}),
    ("glab", _w("repo delete"), {"--yes", "-y"}),
    ("glab", _w("project delete"), {"--yes", "-y"}),
    ("heroku", _w("apps:destroy"), {"--confirm", "-c"}),
    ("heroku", _w("pg:reset"), {"--confirm", "-c"}),
    ("doctl", _w("delete"), {"--force", "-f"}),
    ("vercel", _w("rm"), {"--yes", "-y"}),
    ("fly", _w("apps destroy"), {"--yes", "-y"}),
    ("flyctl", _w("apps destroy"), {"--yes", "-y"}),
    ("rclone", _w("purge"), frozenset[str]()),
    ("mc", _w("rb"), {"--force"}),
    ("s3cmd", _w("del"), {"--recursive", "-r"}),
    ("dropdb", (), frozenset[str]()),
    ("mysqladmin", _w("drop"), {"-f", "--force"}),
)


def _in_order(lead: Argv, words: list[str]) -> bool:
    at = 0
    for word in words:
        if at < len(lead) and word == lead[at]:
            at += 1
    return at == len(lead) and (not lead or (bool(words) and lead[0] in words[:3]))


def _database(argv: Argv, _ground: Ground) -> Argv:
    base = argv[0].rpartition("/")[2]
    if base in {"redis-cli", "valkey-cli"}:
        gone = [word for word in argv[1:] if word.lower() in {"flushall", "flushdb"}]
        return (argv[0], *gone[:1]) if gone else ()
    for word in argv[1:]:
        text = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        text = text[2:] if text.startswith(("-c", "-e", "-Q", "-q")) else text
        if sql_drops(text):
            return (argv[0], text)
    return ()


def _export_keys(argv: Argv, _ground: Ground) -> Argv:
    keys = [word for word in argv[1:] if word.startswith("--export-secret")]
    return (argv[0], keys[0]) if keys else ()


def _metadata(argv: Argv, _ground: Ground) -> Argv:
    for word in argv[1:]:
        text = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        if is_metadata(text):
            return (argv[0], word)
    return ()


def _own_command(argv: Argv, _ground: Ground) -> Argv:
    verb = own_verb(argv)
    if verb is None or verb in HARMLESS_VERBS or verb == "":
        return ()
    return ("fwdperm", verb)


def _kill_us(argv: Argv, _ground: Ground) -> Argv:
    base = argv[0].rpartition("/")[2]
    if base in {"systemctl", "service", "launchctl"} and not set(argv) & {
        "stop",
        "kill",
        "disable",
        "mask",
        "restart",
        "bootout",
        "unload",
        "remove",
    }:
        return ()
    for word in argv[1:]:
        if "fwdperm" in word.lower() or "fwd[p]erm" in word.lower() or re.fullmatch(r"\W*\[f\]wdperm.*", word.lower()):
            return (argv[0], word)
    return ()


_SQL_PROGRAMS: Final = _w(
    "psql mysql mariadb sqlite3 sqlcmd mongo mongosh cqlsh clickhouse-client duckdb "
    "redis-cli valkey-cli pgcli mycli usql snowsql bq cockroach"
)

CRITICAL: Final[tuple[Catastrophe, ...]] = (
    Catastrophe(
        "critical.wipe",
        "removes the system or a whole home directory",
        _w("rm srm rimraf trash"),
        _wipe,
    ),
    Catastrophe("critical.wipe-find", "removes everything below the system or a home directory", ("find",), _find_wipe),
    Catastrophe(
        "critical.open-permissions",
        "changes permissions or owners of the whole system or home",
        _w("chmod chown chgrp setfacl"),
        _open_up,
    ),
    Catastrophe("critical.root-shell", "makes a shell run as its owner", ("chmod",), _root_shell),
    Catastrophe("critical.move-away", "moves the system or a home directory away", ("mv",), _move_away),
    Catastrophe(
        "critical.sync-away", "replaces the system or a home directory, deleting what was there", ("rsync",), _sync_away
    ),
    Catastrophe(
        "critical.device",
        "overwrites a block device",
        _w("dd shred wipefs blkdiscard mkfs mkswap wipe scrub badblocks mke2fs mkdosfs newfs truncate fallocate"),
        _device,
    ),
    Catastrophe("critical.device", "overwrites a block device", _w("cp tee mv pv install"), _copy_to_device),
    Catastrophe(
        "critical.partition",
        "erases a disk's partitions or keys",
        _w("parted sgdisk gdisk fdisk sfdisk cryptsetup hdparm nvme zpool"),
        _partition,
    ),
    Catastrophe("critical.volume", "destroys storage volumes", _w("zpool zfs lvremove vgremove pvremove"), _volumes),
    Catastrophe(
        "critical.power",
        "takes the machine down",
        _w("shutdown reboot halt poweroff init telinit systemctl loginctl"),
        _power,
    ),
    Catastrophe("critical.kill-all", "kills every process of the user", ("kill",), _kill_all),
    Catastrophe(
        "critical.reverse-shell", "gives somebody else a shell here", _w("nc ncat netcat socat"), _reverse_shell
    ),
    Catastrophe(
        "critical.teardown",
        "tears down live infrastructure without confirmation",
        _w("terraform tofu terragrunt pulumi cdk cdktf serverless sls"),
        _cloud_teardown,
    ),
    Catastrophe(
        "critical.remote-delete",
        "deletes a remote repository, bucket or database for good",
        tuple(dict.fromkeys(entry[0] for entry in _REMOTE_DELETES)),
        _remote_delete,
    ),
    Catastrophe("critical.drop-data", "destroys a database or a table", _SQL_PROGRAMS, _database),
    Catastrophe("critical.export-keys", "exports private keys", _w("gpg gpg2"), _export_keys),
    Catastrophe(
        "critical.metadata",
        "asks the cloud's metadata service for credentials",
        _w("curl wget http https xh httpie nc ncat fetch aria2c lynx w3m telnet socat"),
        _metadata,
    ),
    Catastrophe(
        "critical.kill-fwdperm",
        "stops the permission daemon",
        _w("pkill killall skill kill systemctl service launchctl"),
        _kill_us,
    ),
)
"""Every catastrophe one command can be, by its program."""

_INDEX: Final[dict[str, tuple[Catastrophe, ...]]] = {
    program: tuple(entry for entry in CRITICAL if program in entry.programs)
    for program in {name for entry in CRITICAL for name in entry.programs}
}


def by_words(argv: Argv, ground: Ground) -> tuple[str, str, Argv] | None:
    """As `catastrophe`, for words alone."""
    base = argv[0].rpartition("/")[2].lower()
    entries = _INDEX.get(base) or (_INDEX.get(base.partition(".")[0]) if base.startswith("mkfs") else None)
    for entry in entries or ():
        words = entry.finds(argv, ground)
        if words:
            return entry.id, entry.reason, words
    words = _own_command(argv, ground)
    if words:
        return "critical.own-command", "an agent must not answer, configure or stop its own permission system", words
    return None

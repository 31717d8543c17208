"""Certain catastrophes, one command at a time: short, on parsed words, never on text.

Lives here: the recognisers. Never here: which program is looked at by which (the book of programs), what several
commands do together (`flows.py`).

A recogniser sees the words after quote removal and says which of them earn the class, or nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from fwdperm.guard.dangers import earned
from fwdperm.guard.places import is_catastrophic, is_home
from fwdperm.guard.self_protection import HARMLESS_VERBS, own_verb
from fwdperm.guard.text import is_metadata, sql_drops
from fwdperm.programs import is_in_family, lookup, read_command_use

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.guard.surroundings import Location

Argv = tuple[str, ...]
BLOCK_DEVICE: Final = re.compile(
    r"/dev/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|rdisk\d|dm-\d|md\d|"
    r"mapper/|disk/by-|loop\d|sda|root\b|mem$|kmem$)"
)
"""A disk, a partition or the memory of the machine, as a file: `/dev/sda1`, `/dev/mapper/root`. `/dev/null` is none."""
_SETS_ID: Final = re.compile(r"[ugoa]*\+[rwxt]*s[rwxt]*|0?[4-7][0-7]{3}")
"""A mode that makes a program run as its owner: `u+s`, `4755`, `06755`."""
_WINDOWS_SHELLS: Final = frozenset({"cmd", "cmd.exe", "powershell", "powershell.exe"})
_POWER_VERBS: Final = frozenset({"poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue"})
_CLOSES: Final = re.compile(r"0?[0-7]?[0-7]{2}[0246]|[ugoa]*-[rwx]*x[rwx]*|[ugoa]*=[rw]*")
"""A mode that keeps everybody out of a directory: `000`, `a-x`, `o=`."""
_TAKES_FROM_OTHERS: Final = re.compile(r"[go]+-[rwxX]+")
"""A mode that only takes from others than the owner: `go-w`."""
_SHOWS_PARTITIONS: Final = frozenset(
    {"-l", "--list", "-x", "--list-details", "-s", "--getsz", "-d", "--dump", "-J", "-V", "-v"}
)
_ERASES: Final = frozenset(
    {"erasedisk", "erasevolume", "reformat", "zerodisk", "randomdisk", "secureerase", "partitiondisk", "eraseoptical"}
)
_HELP: Final = frozenset({"--help", "--version", "-V"})


@dataclass(frozen=True, slots=True)
class Catastrophe:
    """One kind of catastrophe, and how it is recognised.

    Attributes:
        id: Stable id.
        reason: Why, in words.
        finds: Gives the words that earn it; empty when it does not apply.
    """

    id: str
    reason: str
    finds: Callable[[Argv, Location], Argv]


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


def _lost(words: list[str] | Argv, location: Location) -> str:
    for word in words:
        if is_catastrophic(word, cwd=location.cwd, home=location.home):
            return word
    return ""


def _wipe(argv: Argv, location: Location) -> Argv:
    flags = {word for word in argv if word.startswith("--")}
    recursive = "r" in _letters(argv).lower() or any(len(flag) > 4 and "--recursive".startswith(flag) for flag in flags)  # noqa: PLR2004
    if "--no-preserve-root" in flags:
        recursive = True
    word = _lost(_operands(argv), location) if recursive else ""
    return (argv[0], word) if word else ()


def _find_wipe(argv: Argv, location: Location) -> Argv:
    starts: list[str] = []
    for word in argv[1:]:
        if word.startswith("-") or word in {"(", "!"}:
            break
        starts.append(word)
    if not starts and "-delete" not in argv:
        return ()
    # a start directory is only lost where everything below it goes: a name that narrows the search narrows the loss
    removes = "-delete" in argv or any(
        flag in {"-exec", "-execdir", "-ok", "-okdir"} and is_in_family(after, "remover")
        for flag, after in pairwise(argv)
    )
    if not removes:
        return ()
    narrowed = any(
        flag in {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"}
        and not set(after) <= set("*./?")
        for flag, after in pairwise(argv)
    )
    word = "" if narrowed else _lost(starts, location)
    return (argv[0], word, "-delete") if word else ()


def _open_up(argv: Argv, location: Location) -> Argv:
    operands = _operands(argv)
    if not ("R" in _letters(argv) or "--recursive" in argv):
        closed = bool(operands) and _CLOSES.fullmatch(operands[0]) is not None
        word = _lost(operands[1:], location) if closed else ""
        return (argv[0], operands[0], word) if word else ()
    word = _lost(operands, location)
    if word and operands[0] != word and _leaves_home_whole(operands[0], word, location):
        return ()
    return (argv[0], word) if word else ()


def _leaves_home_whole(what: str, word: str, location: Location) -> bool:
    """Say whether a home directory stays its owner's: given to them, or taken from others."""
    if not is_home(location.resolve(word), home=location.home):
        return False
    owner = location.resolve(word).rpartition("/")[2]
    return what in {owner, f"{owner}:", f"{owner}:{owner}"} or _TAKES_FROM_OTHERS.fullmatch(what) is not None


def _clean_away(argv: Argv, location: Location) -> Argv:
    for use in read_command_use(argv):
        places = [option.partition("=")[2] for option in use.options if option.startswith("-C=")] or [location.cwd]
        forced = bool({"-f", "--force"} & use.options) and "-n" not in use.options
        if use.words[:1] == ("clean",) and forced and (word := _lost(places, location)):
            return (argv[0], "clean", word)
    return ()


def _edits_partitions(argv: Argv, _ground: Location) -> Argv:
    device = next((word for word in argv[1:] if BLOCK_DEVICE.match(word)), "")
    return (argv[0], device) if device and not _SHOWS_PARTITIONS & set(argv[1:]) else ()


def _erases_disk(argv: Argv, _ground: Location) -> Argv:
    act = next((word for word in argv[1:] if word.lower() in _ERASES), "")
    return (argv[0], act) if act else ()


def _root_shell(argv: Argv, _ground: Location) -> Argv:
    mode = next((word for word in argv[1:] if _SETS_ID.fullmatch(word)), "")
    shell = next((word for word in argv[1:] if _gives_a_shell(word)), "")
    return (argv[0], mode, shell) if mode and shell else ()


def _gives_a_shell(word: str) -> bool:
    """Say whether a program is, or can start, a shell or a copy of one."""
    program = lookup(word)
    return program is not None and (
        program.use.wrapping is not None or not program.families.isdisjoint(("interpreter", "editor", "copier"))
    )


def _move_away(argv: Argv, location: Location) -> Argv:
    operands = _operands(argv)
    if len(operands) < 2:  # noqa: PLR2004 - source and target
        return ()
    word = _lost(operands[:-1], location)
    return (argv[0], word) if word else ()


def _sync_away(argv: Argv, location: Location) -> Argv:
    if not any(word.startswith("--del") for word in argv):
        return ()
    operands = _operands(argv)
    word = _lost(operands[-1:], location)
    return (argv[0], word) if word else ()


def _device(argv: Argv, _ground: Location) -> Argv:
    return next(((argv[0], word) for word in argv[1:] if BLOCK_DEVICE.match(word.removeprefix("of="))), ())


def _device_of(argv: Argv, _ground: Location) -> Argv:
    """As `_device`, where only the word `of=` names what is written."""
    written = (word for word in argv[1:] if word.startswith("of="))
    return next(((argv[0], word) for word in written if BLOCK_DEVICE.match(word.removeprefix("of="))), ())


def _copy_to_device(argv: Argv, _ground: Location) -> Argv:
    operands = _operands(argv)
    return (argv[0], operands[-1]) if operands and BLOCK_DEVICE.match(operands[-1]) else ()


def _partition(argv: Argv, _ground: Location) -> Argv:
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


def _volumes(argv: Argv, _ground: Location) -> Argv:
    acts = [word for word in argv[1:3] if word in {"destroy", "delete"}]
    if acts:
        return (argv[0], *acts)
    removes = argv[0].rpartition("/")[2].endswith("remove")
    forced = [word for word in argv[1:] if word in {"-f", "-ff", "-y", "--force", "--yes", "-fy", "-yf"}]
    return (argv[0], forced[0]) if removes and forced else ()


def _power(argv: Argv, _ground: Location) -> Argv:
    return () if _only_tells(argv) else argv[:3]


def _power_verb(argv: Argv, _ground: Location) -> Argv:
    verbs = [word for word in argv[1:] if word in _POWER_VERBS]
    return (argv[0], verbs[0]) if verbs and not _only_tells(argv) else ()


def _runlevel(argv: Argv, _ground: Location) -> Argv:
    return argv[:2] if argv[1:2] in (("0",), ("6",)) and not _only_tells(argv) else ()


def _only_tells(argv: Argv) -> bool:
    """Say whether a power command only tells, or takes its order back."""
    return bool(_HELP & set(argv[1:])) or "-c" in argv[1:] or "-k" in argv[1:] or "--show" in argv[1:]


def _kill_all(argv: Argv, _ground: Location) -> Argv:
    rest = list(argv[1:])
    if not rest or rest[0] in {"-l", "-L", "--list"}:
        return ()
    if rest[0] in {"-s", "-n", "--signal"}:
        rest = rest[2:]
    elif rest[0].startswith("-") and rest[0] != "--":
        rest = rest[1:]
    targets = [word for word in rest if word != "--"]
    return (argv[0], "-1") if "-1" in targets else ()


def _reverse_shell(argv: Argv, _ground: Location) -> Argv:
    for at, word in enumerate(argv[1:], 1):
        # alone, or last in a cluster of letters: `nc -lvpe /bin/sh` hands out the shell that stands behind it
        if word in {"-e", "-c", "--exec", "--sh-exec", "--lua-exec"} or re.fullmatch(r"-[a-z]*[ec]", word):
            after = argv[at + 1] if at + 1 < len(argv) else ""
            is_program = after.startswith("/") or is_in_family(after, "shell") or after in _WINDOWS_SHELLS
            if word.endswith("c") and not is_program:
                continue
            return (argv[0], word, after)
    return ()


def _socket_shell(argv: Argv, _ground: Location) -> Argv:
    words = (word for word in argv[1:] if word.upper().startswith(("EXEC:", "SYSTEM:", "SHELL:")))
    return next(((argv[0], word) for word in words if len(argv) > 2), ())  # noqa: PLR2004 - two ends


def _destroys_unasked(argv: Argv, _ground: Location) -> Argv:
    words = set(argv)
    destroys = "destroy" in words or ("apply" in words and words & {"-destroy", "--destroy"})
    unasked = any("auto-approve" in word and not word.endswith("=false") for word in argv)
    return (argv[0], "destroy", "-auto-approve") if destroys and unasked else ()


def _api_delete(argv: Argv, _ground: Location) -> Argv:
    """Recognise a repository that is deleted by a bare call of the forge's interface."""
    is_call = next((word for word in argv[1:] if not word.startswith("-")), "") == "api"
    deletes = "DELETE" in {word.upper().removeprefix("-X") for word in argv}
    # `/repos/me/x` is the repository itself; what is below it (`/repos/me/x/labels/y`) is dangerous, no catastrophe
    if is_call and deletes and any(re.match(r"/?repos/[^/]+/[^/]+/?$", word) for word in argv):
        return (argv[0], "api", "DELETE")
    return ()


def _flush(argv: Argv, _ground: Location) -> Argv:
    gone = [word for word in argv[1:] if word.lower() in {"flushall", "flushdb"}]
    return (argv[0], *gone[:1]) if gone else ()


def _database(argv: Argv, _ground: Location) -> Argv:
    for word in argv[1:]:
        text = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        text = text[2:] if text.startswith(("-c", "-e", "-Q", "-q")) else text
        if sql_drops(text):
            return (argv[0], text)
    return ()


def _export_keys(argv: Argv, _ground: Location) -> Argv:
    keys = [word for word in argv[1:] if word.startswith("--export-secret")]
    return (argv[0], keys[0]) if keys else ()


def _metadata(argv: Argv, _ground: Location) -> Argv:
    for word in argv[1:]:
        text = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        if is_metadata(text):
            return (argv[0], word)
    return ()


def _own_command(argv: Argv, _ground: Location) -> Argv:
    verb = own_verb(argv)
    if verb is None or verb in HARMLESS_VERBS or verb == "":
        return ()
    return ("fwdperm", verb)


def _kill_us(argv: Argv, _ground: Location) -> Argv:
    if is_in_family(argv[0], "service manager") and not set(argv) & {
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
        # `[f]wdperm` and `fwd[p]erm` are how people keep `pgrep -f` from finding itself
        if "fwdperm" in word.lower() or "fwd[p]erm" in word.lower() or re.fullmatch(r"\W*\[f\]wdperm.*", word.lower()):
            return (argv[0], word)
    return ()


RECOGNISERS: Final[dict[str, Catastrophe]] = {
    "wipe": Catastrophe("critical.wipe", "removes the system or a whole home directory", _wipe),
    "find-wipe": Catastrophe(
        "critical.wipe-find", "removes everything below the system or a home directory", _find_wipe
    ),
    "open-up": Catastrophe(
        "critical.open-permissions", "changes permissions or owners of the whole system or home", _open_up
    ),
    "root-shell": Catastrophe("critical.root-shell", "makes a shell run as its owner", _root_shell),
    "move-away": Catastrophe("critical.move-away", "moves the system or a home directory away", _move_away),
    "sync-away": Catastrophe(
        "critical.sync-away", "replaces the system or a home directory, deleting what was there", _sync_away
    ),
    "device": Catastrophe("critical.device", "overwrites a block device", _device),
    "device-of": Catastrophe("critical.device", "overwrites a block device", _device_of),
    "copy-to-device": Catastrophe("critical.device", "overwrites a block device", _copy_to_device),
    "partition": Catastrophe("critical.partition", "erases a disk's partitions or keys", _partition),
    "edits-partitions": Catastrophe("critical.partition", "erases a disk's partitions or keys", _edits_partitions),
    "erases-disk": Catastrophe("critical.partition", "erases a disk's partitions or keys", _erases_disk),
    "clean-away": Catastrophe("critical.wipe", "removes the system or a whole home directory", _clean_away),
    "volumes": Catastrophe("critical.volume", "destroys storage volumes", _volumes),
    "power": Catastrophe("critical.power", "takes the machine down", _power),
    "power-verb": Catastrophe("critical.power", "takes the machine down", _power_verb),
    "runlevel": Catastrophe("critical.power", "takes the machine down", _runlevel),
    "kill-all": Catastrophe("critical.kill-all", "kills every process of the user", _kill_all),
    "reverse-shell": Catastrophe("critical.reverse-shell", "gives somebody else a shell here", _reverse_shell),
    "socket-shell": Catastrophe("critical.reverse-shell", "gives somebody else a shell here", _socket_shell),
    "destroys-unasked": Catastrophe(
        "critical.teardown", "tears down live infrastructure without confirmation", _destroys_unasked
    ),
    "api-delete": Catastrophe(
        "critical.remote-delete", "deletes a remote repository, bucket or database for good", _api_delete
    ),
    "database": Catastrophe("critical.drop-data", "destroys a database or a table", _database),
    "flush": Catastrophe("critical.drop-data", "destroys a database or a table", _flush),
    "export-keys": Catastrophe("critical.export-keys", "exports private keys", _export_keys),
    "metadata": Catastrophe("critical.metadata", "asks the cloud's metadata service for credentials", _metadata),
    "kill-us": Catastrophe("critical.kill-fwdperm", "stops the permission daemon", _kill_us),
}
"""Every catastrophe that one command can be, by the name under which a program's page asks for it."""

DELETIONS: Final = {
    "remote-delete": "deletes a remote repository, bucket or database for good",
    "teardown": "tears down live infrastructure without confirmation",
}
"""Why a deletion that a program's page lists is one, by its kind."""


def by_words(argv: Argv, location: Location) -> tuple[str, str, Argv] | None:
    """As `catastrophe`, for words alone."""
    program = lookup(argv[0]) or lookup(argv[0].lower())
    if program is not None:
        for name in program.catastrophes:
            entry = RECOGNISERS[name]
            words = entry.finds(argv, location)
            if words:
                return entry.id, entry.reason, words
        for deletion in program.deletions:
            found = earned(deletion, tuple(word for word in argv if not word.endswith("=false")))
            if found is not None:
                return f"critical.{deletion.id}", DELETIONS[deletion.id], found
    words = _own_command(argv, location)
    if words:
        return "critical.own-command", "an agent must not answer, configure or stop its own permission system", words
    return None

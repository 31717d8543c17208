"""Catastrophes by the files a command touches: keys read, logins and system files written, our own files changed.

Lives here: which words of a command may be paths, and what reading or writing them would be. Never here: catastrophes
by program (`critical.py`), which paths are sensitive (`markers.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.guard.critical import BLOCK_DEVICE, by_words
from fwdperm.guard.markers import sensitive_to_read, sensitive_to_write
from fwdperm.guard.own import is_own, own_verb
from fwdperm.guard.places import LONGEST_PATH

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Ground
    from fwdperm.shell.command import Command

Argv = tuple[str, ...]


def _w(text: str) -> tuple[str, ...]:
    return tuple(text.split())


READERS: Final = frozenset(
    _w(
        "cat head tail less more bat batcat tac nl grep egrep fgrep rg ag awk gawk mawk sed cut "
        "sort uniq paste join comm diff cmp od xxd hexdump "
        "strings base64 base32 basenc rev fold fmt pr expand column jq yq cp mv tar zip gzip "
        "bzip2 xz 7z dd scp rsync install ln openssl gpg source . "
        "view vim vi nano emacs code python python3 perl ruby node php wc tee pv split csplit tr "
        "look mapfile readarray read iconv zcat cpio ar "
        "curl wget pbcopy xclip sponge ed ex dig git"
    )
)
"""Programs that would show or copy a file's contents."""
WRITERS: Final = frozenset(
    _w(
        "tee cp mv install ln sed dd truncate rm unlink shred chmod chown touch sponge patch "
        "rsync scp vi vim nano ed ex emacs"
    )
)
"""Programs that change a file they name, for the files that nobody may change."""
_LOOKERS: Final = frozenset(
    _w(
        "cat head tail less more bat ls stat file grep egrep fgrep rg wc diff cmp cd test [ find "
        "du md5sum sha256sum readlink realpath jq tac nl od strings basename dirname "
        "pwd echo printf git cut mkdir"
    )
)


def catastrophe(command: Command, ground: Ground) -> tuple[str, str, Argv] | None:
    """Find the catastrophe that one command is.

    Args:
        command: The command.
        ground: Where it runs.

    Returns:
        (id, reason, words that earn it); None when it is none by itself.
    """
    argv = command.argv
    if argv:
        found = by_words(argv, ground)
        if found:
            return found
    return _by_files(command, ground)


def _by_files(command: Command, ground: Ground) -> tuple[str, str, Argv] | None:  # noqa: C901, PLR0912 - a fixed order of looks
    base = command.base.lower()
    for redirect in command.redirects:
        target = redirect.target.text
        if redirect.writes:
            if target.startswith(("/dev/tcp/", "/dev/udp/")):
                continue
            if BLOCK_DEVICE.match(target):
                return "critical.device", "overwrites a block device", (redirect.operator, target)
            found = write_catastrophe(target, ground)
        else:
            found = read_catastrophe(target, ground) if redirect.reads else None
        if found:
            return found[0], found[1], (redirect.operator, target)
    if base in {"echo", "printf"}:
        return None
    argv = command.argv
    is_ours = own_verb(argv) is not None
    for at, word in enumerate(command.words[1:], 1):
        for candidate in candidates(word.text):
            found = None if is_ours else _own_operand(argv, candidate, ground, last=at == len(argv) - 1)
            if found is None and base in READERS and not command.remote:
                found = read_catastrophe(candidate, ground)
                if found and (base in {"git", "ln"} or (base in {"mv", "cp"} and at == len(command.words) - 1)):
                    found = None
                if (
                    found
                    and base in {"curl", "wget", "scp", "rsync"}
                    and command.words[at - 1].text in {"-i", "-e", "--key", "--cert", "-E", "--cacert", "--private-key"}
                ):
                    found = None
            if (
                found is None
                and base in {"tee", "cp", "mv", "install"}
                and (base == "tee" or at == len(command.words) - 1)
            ):
                found = write_catastrophe(candidate, ground)
            if found:
                return found[0], found[1], (command.program, word.text)
    return None


def candidates(text: str) -> tuple[str, ...]:
    """Give the paths a word may name: itself, and what stands behind `=`, `@` or `:`."""
    if not text or len(text) > LONGEST_PATH or (text.startswith("--") and "=" not in text):
        return ()
    out = [text]
    for mark in "=@:":
        if mark in text:
            tail = text.rpartition(mark)[2]
            if tail and not tail.startswith("//"):
                out.append(tail)
    if text[0] == "-" and len(text) > 3 and text[2] in "/~.":  # noqa: PLR2004 - `-f/path`
        out.append(text[2:])
    return tuple(out)


def read_catastrophe(text: str, ground: Ground) -> tuple[str, str] | None:
    """Say which catastrophe reading this path is: private keys and stored credentials; None when it is none."""
    for path in _spellings(text, ground):
        marker = sensitive_to_read(path)
        if marker is not None and marker.critical:
            return f"critical.read-{marker.id}", f"reads {marker.reason}"
    return None


def write_catastrophe(text: str, ground: Ground) -> tuple[str, str] | None:
    """Say which catastrophe writing this path is: our files, login keys, profiles, the system; None when it is none."""
    around = ground.surroundings
    for path in _spellings(text, ground):
        if BLOCK_DEVICE.match(path):
            return "critical.device", "overwrites a block device"
        if is_own(path, around.own, around.workspaces):
            return "critical.own-files", "changes this permission system's own files"
        marker = sensitive_to_write(path)
        if marker is not None and marker.critical:
            return f"critical.write-{marker.id}", f"writes {marker.reason}"
    return None


def _spellings(text: str, ground: Ground) -> tuple[str, ...]:
    path = ground.resolve(text)
    real = tuple(after for typed, after in ground.canonical if typed == text) if ground.canonical else ()
    return (path or text, *real)


def _own_operand(argv: Argv, text: str, ground: Ground, *, last: bool) -> tuple[str, str] | None:
    around = ground.surroundings
    if ("\n" in text or " " in text) and not text.startswith(("/", "~", ".", "$")):
        return None
    base = argv[0].rpartition("/")[2].lower()
    if "/" not in text and base not in WRITERS:
        return None
    for path in _spellings(text, ground):
        if not is_own(path, around.own, around.workspaces):
            continue
        if base in _LOOKERS and not (base == "find" and {"-delete", "-exec", "-execdir", "-ok"} & set(argv)):
            continue
        if base in {"cp", "rsync", "scp", "tar"} and not last:
            continue
        if base in {"sed", "awk"} and not any(
            word.startswith(("-i", "--in-place")) or (word[:1] == "-" and "i" in word) for word in argv[1:]
        ):
            continue
        return "critical.own-files", "changes this permission system's own files"
    return None

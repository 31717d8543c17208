"""Which words of a command name paths, and whether it reads or writes them.

Lives here: `path_operands` and its tables. Never here: the names of a path (`paths.py`).

A word that is no path costs nothing (no rule matches it); a path that is missed costs a deny. So it leans towards more,
but for scripts and patterns, which only look like paths.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.shell.wrappers import SHELLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fwdperm.shell.command import Command, Word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


READS_FILES: Final = _set(
    "cat head tail less more most bat tac nl od xxd hexdump strings wc sort uniq cut paste comm diff cmp file stat ls "
    "dir tree du readlink realpath md5sum sha1sum sha256sum sha512sum cksum b2sum base64 base32 zcat bzcat xzcat gzip "
    "gunzip bzip2 xz zstd tar zip unzip source . bash sh zsh dash python python3 node ruby perl open vi vim nvim nano "
    "emacs code cp mv ln rsync scp install cd pushd rev fold fmt column split csplit view jq yq"
)
"""Programs whose plain operands are files."""
WRITES_ALL: Final = _set(
    "rm rmdir unlink shred mkdir touch truncate tee chmod chown chgrp mkfifo mknod setfacl chattr chflags trash "
    "wipefs mkfs fallocate sponge patch"
)
"""Programs that change every file they are given."""
CHANGES_ALL: Final = _set("vi vim nvim nano emacs gzip gunzip bzip2 bunzip2 xz unxz lzma")
"""Programs that read every file they are given, and may change it."""
WRITES_LAST: Final = _set("cp ln install rsync scp")
"""Programs that read their operands and write the last."""
WRITES_BOTH: Final = _set("mv")
"""Programs that change their operands and write the last."""
TAKES_FILES: Final = READS_FILES | WRITES_ALL | CHANGES_ALL | WRITES_LAST | WRITES_BOTH
"""Programs whose plain operands are files."""
_SCRIPT_FIRST: Final = _set(
    "sed gsed grep egrep fgrep rg ag ack awk gawk mawk nawk jq yq perl ruby python python3 node"
)
"""Programs whose first plain operand may be a script or pattern, not a file."""
_SCRIPT_OPTIONS: Final = {
    "sed": _set("-e --expression"),
    "gsed": _set("-e --expression"),
    "grep": _set("-e --regexp"),
    "egrep": _set("-e --regexp"),
    "fgrep": _set("-e --regexp"),
    "rg": _set("-e --regexp"),
    "perl": _set("-e -E -ne -pe -pie -lne -nle -ane -lane"),
    "ruby": _set("-e -ne -pe"),
    "python": _set("-c"),
    "python3": _set("-c"),
    "node": _set("-e -p --eval --print"),
    "git": _set("-m --message --grep -S -G --author --format --pretty"),
}
"""Options whose value is a script, a pattern or prose."""
_FILE_FIRST: Final = _set("perl ruby python python3 node")
"""Programs whose first plain operand is a script's file unless an option gave the script."""
_TEXT_ONLY: Final = _set("echo printf true false test [ alias export declare local readonly typeset unset set let trap")
"""Programs that open none of their words; a word with a slash is still looked at, for `test -f`."""
_NO_OPERANDS: Final = _set("echo printf true false alias let trap")
_KEY: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=(.+)", re.DOTALL)
_SHORT_VALUE: Final = re.compile(r"-[A-Za-z]((?:~|\.{0,2})/.*|@.*)", re.DOTALL)
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_IN_PLACE: Final = re.compile(r"-[A-Za-z]*i|--in-place")
_OUTPUT: Final = re.compile(
    r"(?P<name>--(?:output(?:-file|-document|-dir|-directory)?|out(?:-?file|-?dir)?)|-out|-fprint0?|-fprintf|-fls)(?:=(?P<value>.+))?",
    re.DOTALL,
)
"""Options that name a file to write, whatever the program."""
_SHORT_OUTPUT: Final = {
    **dict.fromkeys(
        _set("curl sort gcc g++ cc c++ clang clang++ ld as go rustc pandoc shuf tree nasm esbuild wget yt-dlp"), "-o"
    ),
    "unzip": "-d",
    "tar": "-C",
}
"""Short options that do, by program."""
_FILE_OPTIONS: Final = dict.fromkeys(
    _set("grep egrep fgrep rg sed gsed awk gawk mawk nawk jq"), _set("-f --file --from-file")
)
"""Options whose value is a file that holds the script or patterns, by program."""
_GIT_WRITES: Final = _set("rm mv restore checkout clean")


class Operand(NamedTuple):
    """One path operand.

    Attributes:
        word: The word it stands in.
        text: The path in it.
        writes: True when the command changes it.
    """

    word: Word
    text: str
    writes: bool = False


def path_operands(command: Command) -> list[Operand]:
    """Find the paths among a command's words.

    Returns:
        Operands in order; a path that is read and written comes twice.
    """
    base = command.base
    if base in _NO_OPERANDS or not command.words or (base in SHELLS and _runs_code(command)):
        return []
    found = list(_candidates(command, base))
    if base in ("find", "gfind"):
        found += _starts(command.words)
    if base == "dd":
        return [one._replace(writes=one.word.text.startswith("of=")) for one in found]
    found += _outputs(command, base)
    if base in WRITES_ALL:
        return [one._replace(writes=True) for one in found]
    if base in WRITES_LAST or base in WRITES_BOTH:
        return list(_last_written(found, command, moves=base in WRITES_BOTH))
    if _changes_what_it_reads(command, base):
        return [*found, *(one._replace(writes=True) for one in found)]
    return found


def _changes_what_it_reads(command: Command, base: str) -> bool:
    words = command.words
    match base:
        case "sed" | "gsed" | "perl" | "ruby":
            return any(_IN_PLACE.match(word.text) for word in words[1:])
        case "git":
            return any(word.text in _GIT_WRITES for word in words[1:4])
        case "find" | "gfind":
            return any(word.text == "-delete" for word in words[1:])
        case _:
            return base in CHANGES_ALL


def _outputs(command: Command, base: str) -> Iterator[Operand]:
    """Find the files that options name to be written."""
    short = _SHORT_OUTPUT.get(base, "")
    words = command.words
    for at, word in enumerate(words[1:], start=1):
        found = _OUTPUT.fullmatch(word.text)
        if found and found["value"]:
            yield Operand(word, found["value"], writes=True)
        elif (found or (short and word.text == short) or (base == "wget" and word.text == "-O")) and at + 1 < len(
            words
        ):
            yield Operand(words[at + 1], words[at + 1].text, writes=True)


def _runs_code(command: Command) -> bool:
    """Say whether a shell is given code, whose paths are those of its own commands."""
    return any(word.text.startswith("-") and "c" in word.text and word.text[1:2] != "-" for word in command.words[1:])


def _last_written(found: list[Operand], command: Command, *, moves: bool) -> Iterator[Operand]:
    into = next((at for at, word in enumerate(command.words) if word.text in ("-t", "--target-directory")), -1)
    target = command.words[into + 1] if 0 < into < len(command.words) - 1 else None
    for at, one in enumerate(found):
        is_target = one.word is target if target is not None else at + 1 == len(found)
        if is_target and len(found) > 1:
            yield one._replace(writes=True)
        else:
            yield one
            if moves:
                yield one._replace(writes=True)


def _candidates(command: Command, base: str) -> Iterator[Operand]:
    takes_files = base in TAKES_FILES
    script_options = _SCRIPT_OPTIONS.get(base, frozenset())
    words = command.words
    has_script = base in _SCRIPT_FIRST and not _has_option(words, script_options)
    if base in _FILE_FIRST:
        has_script = False
    files = _FILE_OPTIONS.get(base, frozenset())
    has_script = has_script and not _has_option(words, files)
    only_operands = False
    skip = False
    for at in range(1, len(words)):
        word = words[at]
        text = word.text
        if skip:
            skip = False
            continue
        if not only_operands and text.startswith("-") and len(text) > 1:
            if text == "--":
                only_operands = True
            elif text in script_options:
                skip = True
            elif text in files and at + 1 < len(words):
                skip = True
                yield Operand(words[at + 1], words[at + 1].text)
            else:
                yield from _in_option(word, takes_files=takes_files)
            continue
        if base in ("sed", "gsed") and text == "" and has_script:
            continue
        if has_script:
            has_script = False
            continue
        yield from _in_word(word, takes_files=takes_files or base in _SCRIPT_FIRST)


def _starts(words: Sequence[Word]) -> Iterator[Operand]:
    """Find where a `find` starts: the words before its expression."""
    for word in words[1:]:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.text.startswith(("-", "(", "!")):
            return
        yield Operand(word, word.text)


def _has_option(words: Sequence[Word], names: frozenset[str]) -> bool:
    return any(
        word.text in names or (word.text.startswith("--") and word.text.partition("=")[0] in names)
        for word in words[1:]
    )


def _in_option(word: Word, *, takes_files: bool) -> Iterator[Operand]:
    text = word.text
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        if equals and (_looks_like_path(value) or (takes_files and name in ("--file", "--files-from", "--output"))):
            yield Operand(word, value)
        return
    found = _SHORT_VALUE.fullmatch(text)
    if found:
        yield Operand(word, found[1].lstrip("@"))


def _in_word(word: Word, *, takes_files: bool) -> Iterator[Operand]:
    text = word.text
    if _URL.match(text) and not text.lower().startswith("file:"):
        return
    found = _KEY.fullmatch(text)
    if found and (_looks_like_path(found[2]) or found[1] in ("if", "of")):
        yield Operand(word, found[2])
    elif text.startswith("@") and len(text) > 1:
        yield Operand(word, text[1:])
    elif text and text != "-" and (takes_files or _looks_like_path(text)):
        yield Operand(word, text)


def _looks_like_path(text: str) -> bool:
    return "/" in text or text.startswith(("~", ".", "$HOME", "${HOME}", "file:"))

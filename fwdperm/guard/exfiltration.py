"""What shows a secret, and what carries one out.

Lives here: the secret paths and stores a command touches. Never here: how commands hang together (`command_web.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.dangers import danger_of, earned
from fwdperm.guard.places import LONGEST_PATH, is_catastrophic
from fwdperm.guard.sensitive_paths import matches_configured, may_hold_secret_path
from fwdperm.guard.touched import candidates
from fwdperm.programs import lookup

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.programs import Program
    from fwdperm.shell import Command

UPLOADS: Final = re.compile(
    r"(?:-d|-F|-T|--data|--data-\w+|--form|--upload-file|--post-file|--post-data|--body-file|--json)(?:=|$)"
)
"""An option by which a client of the web sends something, with its value in the same word or the next: `--data=@f`,
`-T`."""
_SECRET_DANGERS: Final = frozenset({"secret-tools", "secret-stores"})
_REMOTE_PATH: Final = re.compile(r"[\w.@-]+:")
"""The beginning of a path on another machine, which is not sent from here: `host:dir/file`, `me@host:x`."""
_NOT_SENT: Final = frozenset(
    [
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
        "--exclude",
        "--exclude-from",
    ]
)
"""Flags whose value is a file that is used and not sent."""


def secret_read_by(command: Command, location: Location) -> str:
    """Give the word by which a command shows a secret; empty when it shows none."""
    argv = command.argv
    program = lookup(command.program)
    families = program.families if program is not None else frozenset()
    if "environment" in families and _shows_environment(command, is_wrapper=_wraps(program)):
        return command.base
    for use in program.secrets if program is not None else ():
        if (words := earned(use, argv)) is not None:
            return words[-1]
    danger = danger_of(argv) if argv and "secret store" in families else None
    if danger and danger[0].id in _SECRET_DANGERS:
        return " ".join(danger[1])
    if "archiver" in families:
        whole = _whole(argv[1:], location)
        if whole:
            return whole
    if "lister" in families:
        return ""
    for redirect in command.redirects:
        if redirect.reads and is_secret(redirect.target.text, location):
            return redirect.target.text
    return next(
        (
            word.text
            for word in command.words[1:]
            if not word.text.startswith("--exclude")
            and any(is_secret(each, location) for each in candidates(word.text))
        ),
        "",
    )


def _wraps(program: Program | None) -> bool:
    return program is not None and program.use.wrapping is not None


def _shows_environment(command: Command, *, is_wrapper: bool) -> bool:
    """Say whether a program that shows or sets variables shows them all, given no command and nothing to set."""
    words = command.argv[1:]
    if is_wrapper:
        return all(word.startswith("-") or "=" in word for word in words)
    return "builtin" not in _families(command) or words in ((), ("-p",), ("-x",))


def _families(command: Command) -> frozenset[str]:
    program = lookup(command.program)
    return program.families if program is not None else frozenset()


def _whole(words: tuple[str, ...], location: Location) -> str:
    """Give the word that names a whole system or home directory; empty when none does."""
    for word in words:
        if word[:1] in {"/", "~", "$", "."} and is_catastrophic(word, cwd=location.cwd, home=location.home):
            return word
    return ""


def is_secret(text: str, location: Location) -> bool:
    """Say whether a typed path is sensitive to read."""
    if "\n" in text or len(text) > LONGEST_PATH:
        return False
    path = location.resolve(text) or "/" + text
    if (may_hold_secret_path(text) or may_hold_secret_path(location.cwd)) and location.read_marker(path):
        return True
    for typed, real in location.canonical:
        if typed == text and location.read_marker(real):
            return True
    patterns = location.surroundings.sensitive_read
    return bool(patterns) and bool(matches_configured(path, patterns, location.home, location.cwd))


def uploaded_secret(command: Command, location: Location) -> str:  # noqa: C901 - a fixed order of looks
    """Give the word by which a command sends a secret file; empty when it sends none."""
    families = _families(command)
    if "word sender" in families:
        return ""
    for redirect in command.redirects:
        if redirect.reads and is_secret(redirect.target.text, location):
            return redirect.target.text
    if "bulk sender" in families:
        whole = _whole(command.argv[1:-1], location)
        if whole:
            return whole
    previous = ""
    for word in command.words[1:]:
        text, before = word.text, previous
        previous = text
        if before in _NOT_SENT:
            continue
        if text.startswith(("--key", "--cert", "--cacert", "--output", "--netrc", "--exclude")):
            continue
        if "remote copier" in families and _REMOTE_PATH.match(text):
            continue
        if "command tree" in families and not set("/.@") & set(text):
            continue
        if "uploads by option" in families and not (
            UPLOADS.match(before) or UPLOADS.match(text) or (text[:2] in {"-d", "-F", "-T"} and len(text) > 2)  # noqa: PLR2004 - a length of a flag
        ):
            continue
        if any(is_secret(each, location) for each in candidates(text)) or (
            text[:2] in {"-d", "-F", "-T"} and is_secret(text[2:].lstrip("@"), location)
        ):
            return text
    return ""

"""What shows a secret, and what carries one out.

Lives here: the secret paths and stores a command touches. Never here: how commands hang together (`flows.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.dangers import peril_of
from fwdperm.guard.markers import matches_configured, may_hold_secret_path
from fwdperm.guard.places import LONGEST_PATH, is_catastrophic
from fwdperm.guard.programs import BULK_SENDERS, SHOWS_SECRETS, UPLOADS
from fwdperm.guard.touched import candidates

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Ground
    from fwdperm.shell.command import Command

_NO_FILES: Final = frozenset(
    ["dig", "nslookup", "host", "ping", "ssh", "telnet", "whois", "openssl", "gcloud", "az", "glab"]
)
"""Senders that send no file they name."""
_SUBCOMMANDS: Final = frozenset(["gh", "glab", "aws", "gcloud", "az", "heroku", "fly", "vercel"])
"""Senders whose bare words are subcommands: `secret` is no file there."""
_REMOTE_PATH: Final = re.compile(r"[\w.@-]+:")
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


def secret_read_by(command: Command, ground: Ground) -> str:  # noqa: C901 - a fixed order of looks
    """Give the word by which a command shows a secret; empty when it shows none."""
    base = command.base
    argv = command.argv
    if (base == "env" and all(word.startswith("-") or "=" in word for word in argv[1:])) or base == "printenv":
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
    if peril and peril[0].id in {"dangerous.secret-tools", "dangerous.secret-stores"} and base in SHOWS_SECRETS:
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
        (
            word.text
            for word in command.words[1:]
            if not word.text.startswith("--exclude") and any(is_secret(each, ground) for each in candidates(word.text))
        ),
        "",
    )


def _whole(words: tuple[str, ...], ground: Ground) -> str:
    """Give the word that names a whole system or home directory; empty when none does."""
    for word in words:
        if word[:1] in {"/", "~", "$", "."} and is_catastrophic(word, cwd=ground.cwd, home=ground.home):
            return word
    return ""


def is_secret(text: str, ground: Ground) -> bool:
    """Say whether a typed path is sensitive to read."""
    if "\n" in text or len(text) > LONGEST_PATH:
        return False
    path = ground.resolve(text) or "/" + text
    if (may_hold_secret_path(text) or may_hold_secret_path(ground.cwd)) and ground.read_marker(path):
        return True
    for typed, real in ground.canonical:
        if typed == text and ground.read_marker(real):
            return True
    patterns = ground.surroundings.sensitive_read
    return bool(patterns) and bool(matches_configured(path, patterns, ground.home, ground.cwd))


def uploaded_secret(command: Command, ground: Ground) -> str:  # noqa: C901 - a fixed order of looks
    """Give the word by which a command sends a secret file; empty when it sends none."""
    base = command.base
    if base in _NO_FILES:
        return ""
    for redirect in command.redirects:
        if redirect.reads and is_secret(redirect.target.text, ground):
            return redirect.target.text
    if base in BULK_SENDERS:
        whole = _whole(command.argv[1:-1], ground)
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
        if base in {"scp", "rsync", "sftp"} and _REMOTE_PATH.match(text):
            continue
        if base in _SUBCOMMANDS and not set("/.@") & set(text):
            continue
        if base in {"curl", "wget"} and not (
            UPLOADS.match(before) or UPLOADS.match(text) or (text[:2] in {"-d", "-F", "-T"} and len(text) > 2)  # noqa: PLR2004 - a length of a flag
        ):
            continue
        if any(is_secret(each, ground) for each in candidates(text)) or (
            text[:2] in {"-d", "-F", "-T"} and is_secret(text[2:].lstrip("@"), ground)
        ):
            return text
    return ""

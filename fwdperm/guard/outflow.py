"""What a line sends out: secrets through pipes, variables, files and addresses; a shell behind a connection.

Lives here: `sent_out`, for one command that can send. Never here: which files are secret (`exfiltration.py`), other
things that commands do together (`flows.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fwdperm.guard.command_web import Flow, Web, families_of, mark_critical, substituted, upstream
from fwdperm.guard.exfiltration import UPLOADS, secret_read_by, uploaded_secret
from fwdperm.guard.text import holds_token, is_local
from fwdperm.programs import is_in_family

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location
    from fwdperm.shell import Command


def sent_out(web: Web, index: int, found: dict[int, Flow], location: Location) -> None:  # noqa: C901 - a fixed order of looks
    """Put down what a command that can send does: a secret reaches it, or it hands a shell to somebody else.

    Args:
        web: The line.
        index: The command's place in it.
        found: Where findings are put down.
        location: Where the line runs.
    """
    command = web.commands[index]
    families = families_of(command)
    logs_in = _only_logs_in(command)
    for at in upstream(web, index):
        other = web.commands[at]
        secret = "" if logs_in else secret_read_by(other, location.at(other.cwd))
        if secret:
            mark_critical(
                found, "critical.exfiltration", "sends a secret out", (secret, command.program or "network"), at, index
            )
        elif "raw connection" in families and "shell" in families_of(other):
            mark_critical(
                found,
                "critical.reverse-shell",
                "gives somebody else a shell here",
                (other.program, command.program),
                at,
                index,
            )
    if any(redirect.target.text.startswith(("/dev/tcp/", "/dev/udp/")) for redirect in command.redirects):
        if "shell" in families or ("text runner" in families and _hands_a_shell_over(web, index)):
            mark_critical(
                found,
                "critical.reverse-shell",
                "gives somebody else a shell here",
                (command.program, "/dev/tcp"),
                index,
            )
        elif secret_read_by(command, location):
            mark_critical(found, "critical.exfiltration", "sends a secret out", (command.program, "/dev/tcp"), index)
    secret = uploaded_secret(command, location)
    if not secret:
        secret = _tainted(web, index, location)
    if secret:
        mark_critical(found, "critical.exfiltration", "sends a secret out", (command.program, secret), index)
    elif "web client" in families and any(
        word.text.startswith(("http://", "https://")) and holds_token(word.text) and not is_local(word.text)
        for word in command.words[1:]
    ):
        mark_critical(found, "critical.exfiltration", "sends a secret out in an address", (command.program,), index)
    sends_files = "file sender" in families or (
        "web client" in families and any(UPLOADS.match(word.text) for word in command.words[1:])
    )
    if sends_files and _runs_over_many(web, index):
        mark_critical(found, "critical.bulk-upload", "uploads every file it finds", (command.program,), index)


def _only_logs_in(command: Command) -> bool:
    """Say whether all that is not known before it runs is a login header: a token sent where it belongs."""
    unknown = [word.text.lower() for word in command.words if not word.known]
    return (
        "web client" in families_of(command)
        and bool(unknown)
        and command.fed_by < 0
        and all(text.startswith(("authorization:", "private-token:", "x-api-key:")) for text in unknown)
    )


def _hands_a_shell_over(web: Web, index: int) -> bool:
    """Say whether `exec` keeps a connection open on which a shell, or whatever comes in, is run."""
    return any(is_in_family(word, "shell") for word in web.commands[index].argv[1:]) or any(
        "shell" in families_of(other) or (bool(other.words) and "$" in other.words[0].raw)
        for at, other in enumerate(web.commands)
        if at != index
    )


def _runs_over_many(web: Web, index: int) -> bool:
    at = web.commands[index].carrier
    while at >= 0:
        if "repeater" in families_of(web.commands[at]):
            return True
        at = web.commands[at].carrier
    return False


def _tainted(web: Web, index: int, location: Location) -> str:
    """Follow `X=$(cat secret)` into a later command that sends `$X`."""
    if all(word.known for word in web.commands[index].words):
        return ""
    raw = web.commands[index].raw
    for at in range(index):
        for name, value in web.commands[at].prefixes:
            if not value.known and re.search(rf"\$\{{?{re.escape(name)}\b", raw):
                for child in substituted(web, at):
                    secret = secret_read_by(web.commands[child], location)
                    if secret:
                        return secret
    return ""

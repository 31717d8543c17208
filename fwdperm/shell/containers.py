"""Where the command begins in the words of container tools: `docker run`, `compose exec`, `kubectl exec`.

Lives here: `container_start`. Never here: other wrappers (`unwrap.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.shell.words import read_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.shell.command import Word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GLOBAL_VALUED: Final = _set(
    "-c --context --config -H --host -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name "
    "--profile --env-file --project-directory --ansi --parallel --namespace -n --address --connection --url "
    "--identity --root --runroot --storage-driver --cluster --user --kubeconfig -s --server --token --as "
    "--as-group --request-timeout --cache-dir"
)
"""Options before the subcommand that take the next word."""

_RUN_FLAGS: Final = _set(
    "d i t P q rm detach interactive tty privileged init read-only publish-all no-healthcheck oom-kill-disable "
    "quiet disable-content-trust sig-proxy T no-deps service-ports use-aliases build remove-orphans no-TTY "
    "replace tls-verify no-tty"
)
_RUN_VALUED: Final = _set(
    "a c e h l m p u v w n add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns "
    "cidfile cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus cpuset-mems "
    "detach-keys device device-cgroup-rule dns dns-option dns-search domainname entrypoint env env-file expose gpus "
    "group-add health-cmd health-interval health-retries health-start-period health-timeout hostname index ip ip6 "
    "ipc isolation label label-file link log-driver log-opt mac-address memory memory-reservation memory-swap "
    "memory-swappiness mount name net network network-alias oom-score-adj pid pids-limit platform publish pull "
    "restart runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns "
    "uts volume volume-driver volumes-from workdir userns pod arch os variant secret container namespace filename "
    "pod-running-timeout"
)
_VERBS: Final = frozenset({"exec", "run"})
_GROUPS: Final = frozenset({"compose", "container"})
_MORE_STARTS: Final = 4


@dataclass(frozen=True, slots=True)
class Start:
    """Where the command begins.

    Attributes:
        verb: The subcommand.
        starts: Indices at which it may begin; one unless an option is not known.
        entry: The program given by `--entrypoint`, when it is.
        unknown: True when an option is not in the table.
    """

    verb: str
    starts: tuple[int, ...]
    entry: Word | None = None
    unknown: bool = False


def container_start(words: Sequence[Word], *, is_kubectl: bool) -> Start | None:
    """Find where the command begins that a container tool runs.

    Args:
        words: The tool's words, the tool first.
        is_kubectl: True for tools that put `--` before the command.

    Returns:
        The place; None when this subcommand runs no command given here.
    """
    at = _verb_at(words)
    if at < 0:
        return None
    verb = words[at].text
    if is_kubectl:
        for place in range(at + 1, len(words)):
            if words[place].text == "--":
                return Start(verb, (place + 1,))
        if verb != "exec":
            return None
    return _after_operand(words, at + 1, verb=verb)


def _verb_at(words: Sequence[Word]) -> int:
    at = 1
    while at < len(words):
        text = words[at].text
        if text in _VERBS:
            return at
        if text.startswith("-"):
            at += 2 if text in _GLOBAL_VALUED else 1
        elif text in _GROUPS:
            at += 1
        else:
            return -1
    return -1


def _after_operand(words: Sequence[Word], at: int, *, verb: str) -> Start | None:
    entry: Word | None = None
    unknown = False
    while at < len(words) and words[at].known and words[at].text.startswith("-"):
        text = words[at].text
        at += 1
        if text == "--":
            break
        name, equals, _ = text.lstrip("-").partition("=")
        if text.startswith("--"):
            takes, is_known = name in _RUN_VALUED and not equals, bool(equals) or name in _RUN_VALUED | _RUN_FLAGS
        else:
            takes, is_known = _short(name)
        unknown = unknown or not is_known
        if takes:
            if name == "entrypoint" and at < len(words):
                entry = words[at]
            at += 1
    begin = at + 1
    entry = entry or _attached_entry(words[:at])
    if begin >= len(words):
        return Start(verb, (len(words),), entry, unknown) if entry else None
    ends = min(begin + _MORE_STARTS, len(words)) if unknown else begin + 1
    return Start(verb, tuple(range(begin, ends)), entry, unknown)


def _short(letters: str) -> tuple[bool, bool]:
    """Read clustered short options: (takes the next word, all known)."""
    for place, letter in enumerate(letters):
        if letter in _RUN_VALUED:
            return place + 1 == len(letters), True
        if letter not in _RUN_FLAGS:
            return False, False
    return False, True


def _attached_entry(words: Sequence[Word]) -> Word | None:
    for word in words:
        if word.text.startswith("--entrypoint="):
            return read_word(word.text.partition("=")[2])
    return None

"""Putting our hooks into agents' own settings, and taking them out: text in, text out.

Lives here: what is written for each agent, and how a hook of ours is recognised. Pure.
Never here: files, diffs, backups (`cli/agents.py`); asking an agent what it thinks of its settings (`probing.py`).

Fails closed: settings that cannot be read are not touched.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from fwdperm.agents.hook import AGENT_TIMEOUT_S
from fwdperm.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOTE_TIMEOUT_S: Final = 10
"""Seconds an agent waits for a hook that only hands a note over."""
HOOK_EVENTS: Final[Mapping[str, Mapping[str, int]]] = {
    "claude": {"PermissionRequest": AGENT_TIMEOUT_S, "PostToolUse": NOTE_TIMEOUT_S},
    "codex": {"PermissionRequest": AGENT_TIMEOUT_S, "PostToolUse": NOTE_TIMEOUT_S},
    "copilot": {"permissionRequest": AGENT_TIMEOUT_S, "postToolUse": NOTE_TIMEOUT_S},
}
"""Agents that have an installer -> their events -> seconds they wait for our process."""


@dataclass(frozen=True, slots=True)
class InstalledHook:
    """One hook of ours in an agent's settings.

    Attributes:
        event: The event it is for.
        command: The command line as it stands there.
        timeout_s: Seconds the agent waits; 0 when it does not say.
    """

    event: str
    command: str
    timeout_s: float


def hook_command_line(words: Sequence[str], agent: str, event: str, *, root: str = "") -> str:
    """Give a hook's command line for a shell.

    Args:
        words: The words that start fwdperm.
        agent: The agent.
        event: The event.
        root: The inbox tree, when it is not to be found from the environment.
    """
    return shlex.join([*words, "hook", agent, event, *(["--root", root] if root else [])])


def is_our_hook(command: object, agent: str) -> bool:
    """Say whether a hook's command is one of ours for an agent."""
    return (
        isinstance(command, str)
        and re.search(rf"fwdperm(/__main__\.py)?['\"]?\s+hook\s+{agent}\s", command) is not None
    )


def is_written(command: object, agent: str, event: str, *, words: Sequence[str]) -> bool:
    """Say whether a hook's command is exactly what `put_hooks` writes for an event, with any root.

    `is_our_hook` also finds what only looks like ours, so that it can be replaced.

    Args:
        command: As it stands in the settings.
        agent: The agent.
        event: The event.
        words: The words that start fwdperm.
    """
    if not isinstance(command, str) or event not in HOOK_EVENTS[agent]:
        return False
    return command == hook_command_line(words, agent, event, root=named_root(command))


def named_root(command: str) -> str:
    """Give the inbox tree that a hook's command names; empty when it finds it from its environment."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return words[words.index("--root") + 1] if "--root" in words[:-1] else ""


def put_hooks(agent: str, text: str, *, words: Sequence[str], root: str = "", file: str = "") -> str:
    """Give an agent's settings with our hooks in them; everything else stays as it is.

    Args:
        agent: `claude`, `codex` or `copilot`.
        text: The settings as they are; empty for none yet.
        words: The words that start fwdperm.
        root: The inbox tree, when it is not to be found from the environment.
        file: What to call the file in messages.

    Raises:
        OperatorError: The settings cannot be read.
    """
    if agent == "codex":
        return _put_codex(text, words=words, root=root, file=file)
    settings = _read_json(text, file=file)
    before = json.dumps(settings)
    _drop(settings, agent, file=file)
    hooks = settings.setdefault("hooks", {})
    for event, seconds in HOOK_EVENTS[agent].items():
        command = hook_command_line(words, agent, event, root=root)
        entry: dict[str, Any]
        if agent == "copilot":
            settings.setdefault("version", 1)
            entry = {"type": "command", "bash": command, "timeoutSec": seconds}
        else:
            entry = {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": seconds}]}
        hooks.setdefault(event, []).append(entry)
    return text if json.dumps(settings) == before else _write_json(settings)


def take_hooks(agent: str, text: str, *, file: str = "") -> str:
    """Give an agent's settings without our hooks; what held only them goes too.

    Raises:
        OperatorError: The settings cannot be read.
    """
    if agent == "codex":
        return _take_codex(text, file=file)
    settings = _read_json(text, file=file)
    if not _drop(settings, agent, file=file):
        return text
    if agent == "copilot" and settings.keys() <= {"version"}:
        return ""
    return _write_json(settings) if settings else ""


def find_hooks(agent: str, text: str, *, file: str = "") -> tuple[InstalledHook, ...]:
    """List our hooks in an agent's settings.

    Raises:
        OperatorError: The settings cannot be read.
    """
    settings = _read_toml(text, file=file).unwrap() if agent == "codex" else _read_json(text, file=file)
    made = []
    for event, hook in _each_hook(settings):
        command = hook.get("command", hook.get("bash"))
        if is_our_hook(command, agent):
            seconds = hook.get("timeout", hook.get("timeoutSec", 0))
            made.append(
                InstalledHook(event, str(command), float(seconds) if isinstance(seconds, (int, float)) else 0.0)
            )
    return tuple(made)


def trust_hooks(text: str, keys: Mapping[str, str], *, file: str = "") -> str:
    """Give Codex's settings with its trust entries for our hooks.

    Args:
        text: The settings with our hooks in them.
        keys: A hook's key -> its current hash, both as Codex itself says.
        file: What to call the file in messages.

    Raises:
        OperatorError: The settings cannot be read.
    """
    document = _read_toml(text, file=file)
    hooks = document.setdefault("hooks", tomlkit.table())
    state = hooks.setdefault("state", tomlkit.table(is_super_table=True))
    for key, digest in keys.items():
        entry = state.setdefault(key, tomlkit.table())
        if entry.get("trusted_hash") != digest:
            entry["trusted_hash"] = digest
    return tomlkit.dumps(document)


# -- JSON settings ---------------------------------------------------------------------------------------------


def _read_json(text: str, *, file: str) -> dict[str, Any]:
    try:
        settings = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise OperatorError(f"no JSON: {error}", file=file, remedy="nothing was changed; mend it first") from None
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks", {}), dict):
        raise OperatorError("no settings with a table of hooks", file=file, remedy="nothing was changed; mend it first")
    return settings


def _write_json(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _drop(settings: dict[str, Any], agent: str, *, file: str) -> bool:
    """Remove our hooks, and lists and groups that held nothing else; say whether there were any."""
    hooks = settings.get("hooks", {})
    dropped = False
    for event in tuple(hooks):
        if not isinstance(hooks[event], list):
            raise OperatorError(f"`hooks.{event}` is no list", file=file, remedy="nothing was changed; mend it first")
        kept = []
        for group in hooks[event]:
            rest, count = _without_ours(group, agent)
            dropped = dropped or count > 0
            if rest is not None:
                kept.append(rest)
        if kept or not hooks[event]:
            hooks[event] = kept
        else:
            del hooks[event]
    if dropped and not hooks:
        settings.pop("hooks", None)
    return dropped


def _without_ours(group: Any, agent: str) -> tuple[Any, int]:
    """Give a group of hooks without ours, None when nothing else was in it; and how many were ours."""
    if not isinstance(group, dict):
        return group, 0
    if is_our_hook(group.get("bash", group.get("command")), agent):
        return None, 1
    inner = group.get("hooks")
    if not isinstance(inner, list):
        return group, 0
    kept = [hook for hook in inner if not (isinstance(hook, dict) and is_our_hook(hook.get("command"), agent))]
    if len(kept) == len(inner):
        return group, 0
    return ({**group, "hooks": kept} if kept else None), len(inner) - len(kept)


def _each_hook(settings: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    hooks = settings.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            if isinstance(group, dict):
                inner = group.get("hooks")
                for hook in inner if isinstance(inner, list) else (group,):
                    if isinstance(hook, dict):
                        yield str(event), hook


# -- Codex's TOML ----------------------------------------------------------------------------------------------


def _read_toml(text: str, *, file: str) -> tomlkit.TOMLDocument:
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise OperatorError(f"no TOML: {error}", file=file, remedy="nothing was changed; mend it first") from None
    if not isinstance(document.get("hooks", {}), dict):
        raise OperatorError("`hooks` is no table", file=file, remedy="nothing was changed; mend it first")
    return document


def _put_codex(text: str, *, words: Sequence[str], root: str, file: str) -> str:
    wanted = {event: hook_command_line(words, "codex", event, root=root) for event in HOOK_EVENTS["codex"]}
    if {(one.event, one.command) for one in find_hooks("codex", text, file=file)} == set(wanted.items()):
        return text
    document = _read_toml(_take_codex(text, file=file), file=file)
    hooks = document.setdefault("hooks", tomlkit.table(is_super_table=True))
    for event, command in wanted.items():
        hook = tomlkit.table()
        hook.update({"type": "command", "command": command, "timeout": HOOK_EVENTS["codex"][event]})
        inner = tomlkit.aot()
        inner.append(hook)
        group = tomlkit.table()
        group["matcher"] = "*"
        group["hooks"] = inner
        groups = hooks.get(event)
        if groups is None:
            groups = tomlkit.aot()
            hooks[event] = groups
            groups = hooks[event]
        groups.append(group)
    return tomlkit.dumps(document)


def _take_codex(text: str, *, file: str) -> str:
    """Remove our hooks. Their trust entries may stay: they trust a command that is no longer in the file."""
    if not find_hooks("codex", text, file=file):
        return text
    document = _read_toml(text, file=file)
    hooks: Any = document["hooks"]
    for event in tuple(hooks):
        groups = hooks[event]
        if not isinstance(groups, list):
            continue
        for at in reversed(range(len(groups))):
            inner = groups[at].get("hooks")
            for place in reversed(range(len(inner or ()))):
                if is_our_hook(inner[place].get("command"), "codex"):
                    del inner[place]
            if inner is not None and not inner:
                del groups[at]
        if not groups:
            del hooks[event]
    if not hooks:
        del document["hooks"]
    return tomlkit.dumps(document)

"""Which configuration the daemon uses at the moment, told to the commands; and where the file by now says otherwise.

Lives here: the settings by the names a file gives them, the copy of the text in force beside the status file, and the
comparison of both with the file on disk. Never here: reading the configuration for the daemon (`policy/rulebook.py`).

The copy is for reading only, like the status file: nothing depends on it, and a command that does not find it says so.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import held_directory, os_error_words, remove_file, replace_file
from fwdperm.judge import JudgeSetup
from fwdperm.late_log import late_log
from fwdperm.policy import Config, read_settings
from fwdperm.redaction import redacted_text
from fwdperm.rules import RULESET_BYTES, ConfigFile, Layer, LayerKind, Mode, read_config, read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.serve.status import Status


COPY: Final = "in-force.toml"
"""Name of the copy in the state directory."""
_TABLES: Final = {
    "wait_s": "seat",
    "sensitive_read": "guard",
    "sensitive_write": "guard",
    "exec_judgeable": "guard",
    "keep_days": "journal",
    "keep_bytes": "journal",
}
_KEYS: Final = {"advises": "advise", "has_schema": "schema"}
"""The names in a file of those fields of `JudgeSetup` that are called otherwise there."""


# -- names and values ------------------------------------------------------------------------------------------


def as_written(config: Config, file: ConfigFile) -> dict[str, Any]:
    """Give every setting under its name in a file, such as `judge.model`; no `judge.` names when there is no judge.

    Args:
        config: The settings in force.
        file: The configuration they belong to, for the modes.
    """
    made: dict[str, Any] = {"mode": str(file.mode or Mode.JUDGE)}
    made |= {f"agents.{name}.mode": str(section.mode) for name, section in file.agents.items() if section.mode}
    for each in fields(config):
        if each.name != "judge":
            table = _TABLES.get(each.name)
            made[f"{table}.{each.name}" if table else each.name] = _plain(getattr(config, each.name))
    if config.judge is not None:
        for each in fields(config.judge):
            made[f"judge.{_KEYS.get(each.name, each.name)}"] = _plain(getattr(config.judge, each.name))
        # Joined before it is redacted: only `--token abc` as a whole shows that `abc` is a secret.
        command = " ".join(config.judge.key_command)
        made["judge.key_command"] = [redacted_text(command)] if command else []
    return made


def _plain(value: Any) -> Any:
    """Give a value as JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str):
        return str(value)
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return value


def set_by_hand(settings: Mapping[str, Any]) -> str:
    """Write the settings that differ from their defaults as a file would, on one line."""
    config = Config(judge=JudgeSetup(model=""))  # so that the model is always told: no real one has this name
    defaults = as_written(config, ConfigFile(Layer(LayerKind.USER, "")))
    told = [f"{name} = {_toml(value)}" for name, value in settings.items() if value != defaults.get(name)]
    return ", ".join(told)


def _toml(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").strip()


# -- the copy --------------------------------------------------------------------------------------------------


def digest_of_text(text: bytes | None) -> str:
    """Give the sha-256 (hex) of a configuration's text; empty for None."""
    return "" if text is None else sha256(text).hexdigest()


class HeldText:
    """The copy of the configuration's text that is in force.

    Args:
        state: The state directory.

    Attributes:
        digest: SHA-256 of the text that `write` was last given; empty before.
    """

    def __init__(self, state: Path) -> None:
        self.digest = ""
        self._state = str(state)
        self._written: bytes | None = None

    def write(self, text: bytes | None) -> None:
        """Write the copy, if the text in force is another one than last time. Never raises.

        Args:
            text: The text in force; None when there never was a file.
        """
        if text is self._written or text is None:
            return
        self.digest = digest_of_text(text)
        try:
            with held_directory(self._state) as at:
                replace_file(COPY, text, at=at)
            self._written = text
        except OSError as error:
            late_log().warning("copy.failed", reason=os_error_words(error))

    def remove(self) -> None:
        """Take it away: nobody serves any more. Never raises."""
        try:
            with held_directory(self._state) as at:
                remove_file(COPY, at=at)
        except OSError as error:
            late_log().warning("copy.failed", reason=os_error_words(error))


def read_copy(state: Path, *, digest: str) -> bytes | None:
    """Read the text that a daemon holds; None where it cannot be had, or is not the one that the status names."""
    try:
        text = read_file(state / COPY, limit=RULESET_BYTES, follow=False).data
    except (FileNotFoundError, EnvironmentFailure):
        return None
    return text if digest_of_text(text) == digest else None


# -- the file on disk ------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """How the configuration on disk differs from what the daemon uses."""

    UNUSABLE = "unusable"
    """The file cannot be used, so the daemon keeps to what it said before."""
    UNREAD = "unread"
    """It was edited, and the daemon has not looked since."""
    SETTING = "setting"
    """The daemon has read this very text, and yet holds another setting: a fault of ours."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which the file on disk is not what the daemon holds.

    Attributes:
        kind: In what.
        words: What and why, for people.
    """

    kind: Kind
    words: str


def differences(status: Status) -> tuple[Difference, ...]:
    """Say where the file on disk is not what the daemon holds, and why; empty when the file is in force as it is."""
    name = status.config
    try:
        content = read_file(Path(name), limit=RULESET_BYTES, follow=True)
    except FileNotFoundError:
        return (_unusable(f"`{name}` is gone"),) if status.config_digest else ()
    except EnvironmentFailure as error:
        return (_unusable(f"`{name}` {error}"),)
    file = read_config(content.data, file=name, kind=LayerKind.USER)
    if file.layer.broken:
        return tuple(_unusable(str(problem)) for problem in file.problems[:1])
    if content.digest != status.config_digest:
        words = f"`{name}` was edited and is not read yet; the daemon looks once a second"
        return (Difference(Kind.UNREAD, words),)
    wanted, held = as_written(read_settings(file)[0], file), status.settings
    names = [one for one in {**wanted, **held} if wanted.get(one) != held.get(one)]
    return tuple(_other(one, held=_toml(held.get(one)), wanted=_toml(wanted.get(one))) for one in names)


def _other(name: str, *, held: str, wanted: str) -> Difference:
    return Difference(Kind.SETTING, f"`{name}` is {held} in force, and the file says {wanted}")


def _unusable(why: str) -> Difference:
    words = "settings, denials and asks of its last good text go on, its allows do not"
    return Difference(Kind.UNUSABLE, f"the file on disk is not in force: {why}; {words}")

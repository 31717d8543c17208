"""Finding the key for the model's service, the way the operator said.

Lives here: `find_key`. An edge: it reads the environment and may run a program. Never here: keeping the key.

Only the variable or command that the operator named is tried.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fwdperm.judge.setup import JudgeSetup

COMMAND_S: Final = 10.0
"""Seconds the command may take. A password store that has to be unlocked first must be unlocked before that."""
NO_KEY: Final = "none"
"""What is sent where no key is needed: the SDK insists on one."""
_KEY_CHARS: Final = 4_096


def find_key(setup: JudgeSetup, env: Mapping[str, str]) -> str:
    """Find the key. May take seconds: call it off the event loop.

    Args:
        setup: Where to look.
        env: The daemon's own environment.

    Returns:
        The key; `NO_KEY` where none is needed.

    Raises:
        EnvironmentFailure: When it is not where it should be. The message never holds a key.
    """
    if setup.key_command:
        return _from_command(setup.key_command)
    if not setup.key_env:
        return NO_KEY
    key = env.get(setup.key_env, "").strip()
    if not key:
        raise EnvironmentFailure(f"the variable `{setup.key_env}` holds no key for the judge")
    return _checked(key, f"the variable `{setup.key_env}`")


def _from_command(command: tuple[str, ...]) -> str:
    name = command[0]
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own words, without a shell
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_S, check=False
        )
    except (OSError, ValueError) as error:
        raise EnvironmentFailure(f"cannot run `{name}` for the judge's key: {error.__class__.__name__}") from None
    except subprocess.TimeoutExpired:
        raise EnvironmentFailure(f"`{name}` gave no key for the judge within {COMMAND_S:.0f} s") from None
    if done.returncode:
        raise EnvironmentFailure(f"`{name}` gave no key for the judge: it ended with {done.returncode}")
    key = done.stdout.decode(errors="replace").strip()
    if not key:
        raise EnvironmentFailure(f"`{name}` gave no key for the judge: it printed nothing")
    return _checked(key, f"what `{name}` printed")


def _checked(key: str, where: str) -> str:
    """Raise for what cannot be in an HTTP header: later it would raise with the key in the message."""
    if len(key) > _KEY_CHARS or not key.isascii() or not key.isprintable() or " " in key:
        raise EnvironmentFailure(f"{where} is no key: it holds blanks or characters that no key has")
    return key

"""Where things are: the root, its state, the configuration, and the variables that tell a child.

Lives here: paths computed from an environment that is passed in, and nothing but paths: no file is opened or made.
Never here: the layout inside the root (`inbox/`) or inside the state directory (`journal/`, `launch.py`).
Standard library only: the per-call client reads it.
"""

from __future__ import annotations

from os.path import abspath, basename, dirname, isabs, join, realpath

from fwdperm.errors import EnvironmentFailure
from fwdperm.wire import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

ROOT_SESSION: Final = "root"
"""The session at the top of a tree when nobody named one, and so the inbox that a request goes to by default."""

ROOT_VARIABLE: Final = "FWDPERM_ROOT"
SESSION_VARIABLE: Final = "FWDPERM_SESSION"
PARENT_VARIABLE: Final = "FWDPERM_PARENT"
AGENT_VARIABLE: Final = "FWDPERM_AGENT"
NO_AGENT: Final = "agent"
"""The agent name in a request whose sender gave none: a request must name one."""
TOKEN_VARIABLE: Final = "FWDPERM_TOKEN"  # noqa: S105 - the variable's name


def find_root(env: Mapping[str, str], *, explicit: str | None = None) -> str:
    """Say where the inbox tree lies.

    Args:
        env: The environment.
        explicit: A directory the caller named; it wins.

    Returns:
        An absolute path: `explicit`, else `$FWDPERM_ROOT`, else `$XDG_RUNTIME_DIR/fwdperm`, else a directory under
        the user's cache. It need not exist.

    Raises:
        EnvironmentFailure: No directory of the user is known. Fails closed: there is no shared default such as `/tmp`,
            where another user could answer.
    """
    named = explicit or env.get(ROOT_VARIABLE)
    if named:
        return abspath(named)
    runtime = _base(env, "XDG_RUNTIME_DIR")
    if runtime:
        return join(runtime, "fwdperm")
    return join(_base(env, "XDG_CACHE_HOME") or join(_home(env), ".cache"), "fwdperm", "root")


def is_own_choice(env: Mapping[str, str], *, explicit: str | None = None) -> bool:
    """Say whether a person named the root (argument or `$FWDPERM_ROOT`), rather than a default being used."""
    return bool(explicit or env.get(ROOT_VARIABLE))


def find_state(env: Mapping[str, str], root: str) -> str:
    """Say where what children must not reach is kept for one root: journal, lock, recorded sessions, replies.

    Args:
        env: The environment.
        root: The root; two spellings of one directory (through a symlink) have one state.

    Returns:
        `$XDG_STATE_HOME/fwdperm/<last component>-<short hash of the real path>`.

    Raises:
        EnvironmentFailure: No directory of the user is known.
    """
    real = realpath(root)
    name = f"{_readable(basename(real))}-{short_digest(real)}"
    return join(_base(env, "XDG_STATE_HOME") or join(_home(env), ".local", "state"), "fwdperm", name)


def find_config(env: Mapping[str, str]) -> str:
    """Say where the user's configuration is: `$XDG_CONFIG_HOME/fwdperm/config.toml`. It need not exist.

    Raises:
        EnvironmentFailure: No directory of the user is known.
    """
    return join(_base(env, "XDG_CONFIG_HOME") or join(_home(env), ".config"), "fwdperm", "config.toml")


def child_variables(*, root: str, session: str, parent: str, agent: str, token: str) -> dict[str, str]:
    """Return the variables a child process needs to ask, ours and those that real pi children read.

    Args:
        root: The inbox tree.
        session: The child's own session.
        parent: The session whose inbox it asks.
        agent: Its agent name.
        token: Its session's secret, for `fwdperm.wire.proof.prove`.
    """
    return {
        ROOT_VARIABLE: root,
        SESSION_VARIABLE: session,
        PARENT_VARIABLE: parent,
        AGENT_VARIABLE: agent,
        TOKEN_VARIABLE: token,
        "PI_SUBAGENT_PARENT_SESSION": parent,
        "PI_IS_SUBAGENT": "1",
    }


def fast_command(executable: str) -> list[str]:
    """Return the words that start fwdperm with the least delay, for hooks that run once per tool call.

    They name the interpreter by its absolute path (the shim of a version manager takes ten times as long to start),
    have it skip the `site` module and the environment, and name this package by its path. Append `ask ...` or `hook
    ...`.

    Args:
        executable: `sys.executable`.
    """
    return [executable, "-I", "-S", join(dirname(dirname(abspath(__file__))), "__main__.py")]


def _base(env: Mapping[str, str], name: str) -> str:
    """Return an XDG base directory; empty for none, and for a relative one, which the specification says to ignore."""
    value = env.get(name, "")
    return value if isabs(value) else ""


def _home(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    if not isabs(home):
        raise EnvironmentFailure("no home directory is known; set HOME, or name the directory with `--root`")
    return home


def _readable(name: str) -> str:
    """Replace what is not a plain character in a directory's name; the hash beside it keeps names different."""
    return "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in name)[:40] or "root"

"""Where things lie, for every environment a process may be started in."""

from __future__ import annotations

from pathlib import Path

import pytest

import fwdperm
from fwdperm.client.request_bytes import PATH_SURFACES
from fwdperm.errors import EnvironmentFailure
from fwdperm.rules import surface as rules_surface
from fwdperm.sessions.locations import child_variables, fast_command, find_config, find_root, find_state, is_own_choice

HOME = {"HOME": "/home/me"}


@pytest.mark.parametrize(
    ("env", "explicit", "expected"),
    [
        (HOME, "/named", "/named"),
        (HOME | {"FWDPERM_ROOT": "/var/tree", "XDG_RUNTIME_DIR": "/run/user/1"}, "/named", "/named"),
        (HOME | {"FWDPERM_ROOT": "/var/tree", "XDG_RUNTIME_DIR": "/run/user/1"}, None, "/var/tree"),
        (HOME | {"XDG_RUNTIME_DIR": "/run/user/1"}, None, "/run/user/1/fwdperm"),
        (HOME | {"XDG_RUNTIME_DIR": "relative"}, None, "/home/me/.cache/fwdperm/root"),
        (HOME | {"XDG_CACHE_HOME": "/cache"}, None, "/cache/fwdperm/root"),
        (HOME | {"FWDPERM_ROOT": ""}, None, "/home/me/.cache/fwdperm/root"),
        (HOME, None, "/home/me/.cache/fwdperm/root"),
    ],
)
def test_the_root_is_the_first_place_that_was_named(env: dict[str, str], explicit: str | None, expected: str) -> None:
    assert find_root(env, explicit=explicit) == expected
    assert is_own_choice(env, explicit=explicit) == (explicit is not None or bool(env.get("FWDPERM_ROOT")))


def test_a_relative_root_is_meant_from_here() -> None:
    assert find_root({}, explicit="tree") == str(Path.cwd() / "tree")


@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_there_is_no_shared_default(env: dict[str, str]) -> None:
    for find in (find_root, find_config):
        with pytest.raises(EnvironmentFailure, match="set HOME"):
            find(env)
    with pytest.raises(EnvironmentFailure, match="set HOME"):
        find_state(env, "/var/tree")


def test_one_tree_has_one_state_however_it_is_spelt(tmp_path: Path) -> None:
    tree = tmp_path / "my tree"
    tree.mkdir()
    (tmp_path / "link").symlink_to(tree)
    state = find_state(HOME, str(tree))
    assert state.startswith("/home/me/.local/state/fwdperm/my-tree-")
    assert find_state(HOME, str(tmp_path / "link")) == state
    assert find_state(HOME, f"{tree}/../my tree/") == state
    assert find_state(HOME, str(tmp_path / "other" / "my tree")) != state
    assert find_state(HOME | {"XDG_STATE_HOME": "/state"}, "/") == "/state/fwdperm/" + Path(find_state(HOME, "/")).name


def test_the_configuration_is_the_users() -> None:
    assert find_config(HOME) == "/home/me/.config/fwdperm/config.toml"
    assert find_config(HOME | {"XDG_CONFIG_HOME": "/etc/me"}) == "/etc/me/fwdperm/config.toml"


def test_a_child_is_told_in_our_words_and_in_those_of_real_pi_children() -> None:
    assert child_variables(root="/r", session="c", parent="p", agent="a", token="t") == {  # noqa: S106 - an example
        "FWDPERM_ROOT": "/r",
        "FWDPERM_SESSION": "c",
        "FWDPERM_PARENT": "p",
        "FWDPERM_AGENT": "a",
        "FWDPERM_TOKEN": "t",
        "PI_SUBAGENT_PARENT_SESSION": "p",
        "PI_IS_SUBAGENT": "1",
    }


def test_the_fast_command_names_files_that_exist() -> None:
    python, *_, program = fast_command("/usr/bin/python3")
    assert python == "/usr/bin/python3"
    assert Path(program) == Path(fwdperm.__file__).parent / "__main__.py"
    assert Path(program).exists()


def test_every_surface_that_rules_call_a_path_is_reported_with_its_real_path() -> None:
    known = {*rules_surface.PATH_SURFACES, *rules_surface.EXTERNAL_SURFACES}
    assert known <= PATH_SURFACES

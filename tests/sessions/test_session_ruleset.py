"""A session's recorded ruleset, read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fwdperm.sessions.session_ruleset import read_session_ruleset

if TYPE_CHECKING:
    from pathlib import Path

RULES = b'# mine\n[rules.bash]\n"make *" = "allow"\n"make deploy" = "deny"\n'


def test_a_rule_of_a_recorded_copy_names_the_file_and_line_the_operator_wrote(tmp_path: Path) -> None:
    copy = tmp_path / "build.toml"
    copy.write_bytes(RULES)
    layer = read_session_ruleset(copy, source="/home/me/ci.toml")
    assert [str(rule.origin) for rule in layer.rules] == ["/home/me/ci.toml:3", "/home/me/ci.toml:4"]
    assert [str(rule.origin) for rule in read_session_ruleset(copy).rules] == [f"{copy}:3", f"{copy}:4"]


@pytest.mark.parametrize("content", [b'[rules]\nbash = "denny"\n', b"["])
def test_a_copy_with_something_unknown_in_it_says_so_under_the_operators_name(tmp_path: Path, content: bytes) -> None:
    copy = tmp_path / "build.toml"
    copy.write_bytes(content)
    layer = read_session_ruleset(copy, source="ci.toml")
    assert layer.has_errors
    assert {problem.file for problem in layer.problems} == {"ci.toml"}


def test_a_recorded_ruleset_that_is_gone_or_replaced_is_broken(tmp_path: Path) -> None:
    assert read_session_ruleset(tmp_path / "gone.toml", source="ci.toml").broken
    (tmp_path / "directory.toml").mkdir()
    assert read_session_ruleset(tmp_path / "directory.toml").broken

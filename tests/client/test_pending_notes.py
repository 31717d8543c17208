"""Notes that wait for an agent whose allow channel carries no text."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.client.pending_notes import KEPT_S, leave_note, take_note
from fwdperm.settings import NOTE_CHARS

if TYPE_CHECKING:
    from pathlib import Path

CALL = {"session": "root", "agent": "worker", "call": "toolu_1"}


def test_a_note_is_read_once(tmp_path: Path) -> None:
    assert leave_note(str(tmp_path), **CALL, note="only this branch")
    assert take_note(str(tmp_path), **CALL) == "only this branch"
    assert take_note(str(tmp_path), **CALL) == ""
    assert list((tmp_path / "notes").iterdir()) == []


@pytest.mark.parametrize(
    "other",
    [{"session": "root2"}, {"agent": ""}, {"call": "toolu_2"}, {"session": "rootworker", "agent": ""}],
    ids=["session", "agent", "call", "joined"],
)
def test_a_note_is_for_one_session_agent_and_call(tmp_path: Path, other: dict[str, str]) -> None:
    leave_note(str(tmp_path), **CALL, note="mine")
    assert take_note(str(tmp_path), **(CALL | other)) == ""
    assert take_note(str(tmp_path), **CALL) == "mine"


def test_of_many_readers_at_once_one_gets_it(tmp_path: Path) -> None:
    leave_note(str(tmp_path), **CALL, note="mine")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: take_note(str(tmp_path), **CALL), range(32)))
    assert sorted(found, reverse=True)[:2] == ["mine", ""]


def test_finding_nothing_costs_one_stat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("stat", "open", "rename", "unlink", "listdir", "mkdir", "lstat", "scandir"):
        real = getattr(os, name)

        def counted(*words: Any, _name: str = name, _real: Any = real, **more: Any) -> Any:
            calls.append(_name)
            return _real(*words, **more)

        monkeypatch.setattr(os, name, counted)
    assert take_note(str(tmp_path), **CALL) == ""
    assert calls == ["stat"]


def test_what_a_child_plants_in_its_place_is_no_note_and_blocks_nobody(tmp_path: Path) -> None:
    leave_note(str(tmp_path), **CALL, note="mine")
    (place,) = (tmp_path / "notes").iterdir()
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    for plant in (os.mkfifo, lambda path: path.symlink_to(secret), lambda path: path.mkdir()):
        if place.exists():
            place.unlink()
        plant(place)
        assert take_note(str(tmp_path), **CALL) == ""
    assert secret.read_text(encoding="utf-8") == "secret"


def test_an_old_note_is_told_to_nobody(tmp_path: Path) -> None:
    leave_note(str(tmp_path), **CALL, note="mine")
    (place,) = (tmp_path / "notes").iterdir()
    before = place.stat().st_mtime - KEPT_S - 60
    os.utime(place, (before, before))
    assert take_note(str(tmp_path), **CALL) == ""


def test_a_note_has_a_limit_and_an_empty_one_is_none(tmp_path: Path) -> None:
    assert not leave_note(str(tmp_path), **CALL, note=" ")
    leave_note(str(tmp_path), **CALL, note="x" * NOTE_CHARS * 10)
    assert 0 < len(take_note(str(tmp_path), **CALL)) <= NOTE_CHARS * 8


def test_a_full_or_missing_disk_loses_the_note_and_nothing_else(tmp_path: Path) -> None:
    assert not leave_note(str(tmp_path / "file" / "nowhere"), **CALL, note="mine")
    assert take_note(str(tmp_path / "nowhere"), **CALL) == ""

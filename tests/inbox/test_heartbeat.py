"""When a heartbeat is there, what it says, and when it is not."""

from __future__ import annotations

import json
import os
import resource
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.errors import EnvironmentFailure
from fwdperm.inbox import beats
from fwdperm.inbox.heartbeat import TICK_STALE_S, Heart, visible_pid
from fwdperm.inbox.tree import InboxTree

if TYPE_CHECKING:
    from collections.abc import Iterator


class World:
    """A clock the test owns, and the daemon's health."""

    def __init__(self) -> None:
        self.now = 50.0
        self.healthy = True

    def clock(self) -> float:
        return self.now

    def now_ms(self) -> int:
        return 1_700_000_000_000 + int(self.now * 1000)

    def is_healthy(self) -> bool:
        return self.healthy


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[InboxTree]:
    made = InboxTree(tmp_path / "root")
    made.ensure("a")
    yield made
    made.close()


def heart_of(tree: InboxTree, world: World, pid: int = 77) -> Heart:
    return Heart(tree, is_healthy=world.is_healthy, pid=pid, now_ms=world.now_ms, clock=world.clock)


def read(tree: InboxTree, session: str) -> dict[str, object]:
    found = json.loads(tree.layout.beat(session).read_bytes())
    assert isinstance(found, dict)
    return found


def test_a_heartbeat_carries_the_fields_children_read(tree: InboxTree, world: World) -> None:
    heart = heart_of(tree, world)
    heart.serve('we"ird ü')
    assert heart.round()
    assert read(tree, 'we"ird ü') == {
        "sessionId": 'we"ird ü',
        "pid": 77,
        "updatedAt": 1_700_000_050_000,
        "v": 1,
        "by": "fwdperm",
    }
    heart.close()


def test_each_round_renews_it(tree: InboxTree, world: World) -> None:
    heart = heart_of(tree, world)
    heart.serve("a")
    heart.round()
    world.now += 1
    heart.tick()
    heart.round()
    assert read(tree, "a")["updatedAt"] == 1_700_000_051_000
    heart.close()


def test_a_loop_that_stands_still_lets_it_age(tree: InboxTree, world: World) -> None:
    heart = heart_of(tree, world)
    heart.serve("a")
    world.now += TICK_STALE_S - 0.1
    assert heart.round()
    last = read(tree, "a")
    world.now += 0.1
    assert not heart.round()
    assert read(tree, "a") == last
    heart.tick()
    assert heart.round()
    assert read(tree, "a") != last
    heart.close()


def test_an_unwell_daemon_withdraws_it_at_once_and_returns_when_well(tree: InboxTree, world: World) -> None:
    heart = heart_of(tree, world)
    heart.serve("a")
    heart.round()
    world.healthy = False
    assert not heart.round()
    assert not tree.layout.beat("a").exists()
    world.healthy = True
    heart.round()
    assert tree.layout.beat("a").exists()
    heart.close()


def test_health_that_cannot_be_told_is_none(tree: InboxTree, world: World) -> None:
    def broken() -> bool:
        raise RuntimeError

    heart = Heart(tree, is_healthy=broken, pid=1, now_ms=world.now_ms, clock=world.clock)
    heart.serve("a")
    assert not heart.round()
    assert not tree.layout.beat("a").exists()
    heart.close()


def test_a_released_session_has_none_and_closing_withdraws_the_rest(tree: InboxTree, world: World) -> None:
    heart = heart_of(tree, world)
    heart.serve("a")
    heart.serve("b")
    heart.round()
    heart.release("a")
    heart.round()
    assert [p.name for p in tree.layout.serving.iterdir()] == ["b.json"]
    heart.close()
    heart.close()
    assert list(tree.layout.serving.iterdir()) == []


def test_one_heartbeat_that_cannot_be_written_stops_no_other_and_is_told(tree: InboxTree, world: World) -> None:
    tree.layout.beat("bad").mkdir()
    heart = heart_of(tree, world)
    for session in ("a", "bad", "z"):
        heart.serve(session)
    assert not heart.round()
    assert "`bad`" in heart.trouble
    assert read(tree, "a")
    assert read(tree, "z")
    tree.layout.beat("bad").rmdir()
    assert heart.round()
    heart.close()


def test_the_thread_beats_at_once_for_a_new_session_and_ends_with_close(tree: InboxTree) -> None:
    shown = threading.Event()

    class Watched:
        def beat(self, session: str, payload: bytes) -> None:
            tree.beat(session, payload)
            shown.set()

        def unbeat(self, session: str) -> None:
            tree.unbeat(session)

    before = threading.active_count()
    heart = Heart(Watched(), is_healthy=lambda: True)
    heart.start()
    heart.serve("a")
    assert shown.wait(5)
    assert read(tree, "a")["pid"] == visible_pid()
    heart.close()
    assert threading.active_count() == before
    assert not tree.layout.beat("a").exists()


@pytest.mark.parametrize(
    ("namespace", "shared", "own"),
    [
        ("pid:[4026531836]", False, True),
        ("pid:[4026531836]", True, False),
        ("pid:[4026532999]", False, False),
        ("", False, False),
    ],
)
def test_the_pid_is_ours_only_where_every_reader_can_see_it(namespace: str, *, shared: bool, own: bool) -> None:
    assert visible_pid(shared=shared, namespace=namespace) == (os.getpid() if own else 1)


# -- very many -------------------------------------------------------------------------------------------------
@pytest.fixture
def many(tree: InboxTree, world: World) -> Iterator[tuple[InboxTree, Heart, World]]:
    heart = heart_of(tree, world)
    for number in range(100):
        heart.serve(f"s{number}")
    heart.round()
    world.now += 1
    heart.tick()
    heart.round()
    yield tree, heart, world
    heart.close()
    assert list(tree.layout.serving.iterdir()) == []


def test_very_many_heartbeats_are_renewed_in_place_and_stay_whole(many: tuple[InboxTree, Heart, World]) -> None:
    tree, heart, world = many
    before = {path.name: path.stat().st_ino for path in tree.layout.serving.iterdir()}
    world.now += 1
    heart.tick()
    heart.round()
    same = [path for path in tree.layout.serving.iterdir() if before[path.name] == path.stat().st_ino]
    assert len(same) >= 36
    for number in range(100):
        assert read(tree, f"s{number}")["updatedAt"] == 1_700_000_052_000


def test_a_held_heartbeat_that_was_removed_or_replaced_is_made_anew(
    many: tuple[InboxTree, Heart, World], tmp_path: Path
) -> None:
    tree, heart, world = many
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    removed, linked, hard = (tree.layout.beat(f"s{number}") for number in (97, 98, 99))
    for path in (removed, linked, hard):
        path.unlink()
    linked.symlink_to(outside)
    hard.hardlink_to(outside)
    world.now += 1
    heart.tick()
    assert heart.round()
    for number in (97, 98, 99):
        assert read(tree, f"s{number}")["updatedAt"] == 1_700_000_052_000
    assert outside.read_bytes() == b"mine"
    assert not linked.is_symlink()


def test_a_serving_directory_swapped_for_a_link_is_not_written_through(
    many: tuple[InboxTree, Heart, World], tmp_path: Path
) -> None:
    tree, heart, world = many
    away, planted = tmp_path / "away", tmp_path / "planted"
    planted.mkdir()
    tree.layout.serving.rename(away)
    tree.layout.serving.symlink_to(planted)
    world.now += 1
    heart.tick()
    assert not heart.round()
    assert list(planted.iterdir()) == []
    tree.layout.serving.unlink()
    away.rename(tree.layout.serving)
    assert heart.round()


def test_few_descriptors_mean_renames_not_failures(
    tree: InboxTree, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20, 20))
    heart = heart_of(tree, world)
    for number in range(100):
        heart.serve(f"s{number}")
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    for _ in range(3):
        assert heart.round()
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) <= before + 10
    heart.close()


def test_a_full_disk_is_a_problem_and_not_an_end(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.beat("a", b"1")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(EnvironmentFailure, match="no space left"):
            tree.beat("a", b"2")
    assert tree.layout.beat("a").read_bytes() == b"1"
    assert [path.name for path in tree.layout.serving.iterdir()] == ["a.json"]
    tree.beat("a", b"3")
    assert tree.layout.beat("a").read_bytes() == b"3"


def test_a_thousand_heartbeats_cost_little(tree: InboxTree, world: World) -> None:
    """About 5 ms on a quiet machine; the bound leaves room for a busy one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4096:
        pytest.skip("this machine allows too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    try:
        heart = heart_of(tree, world)
        for number in range(1000):
            heart.serve(f"s{number}")
        heart.round()
        heart.round()
        started = time.process_time()
        for _ in range(5):
            assert heart.round()
        assert (time.process_time() - started) / 5 < 0.04
        heart.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_shortcut_is_off_for_a_few_sessions(tree: InboxTree) -> None:
    tree.beat("a", b"1")
    first = tree.layout.beat("a").stat().st_ino
    held = tree.layout.beat("a").open("rb")
    with held:
        tree.beat("a", b"2")
        assert held.read() == b"1"
    assert first
    assert beats._FEW >= 1

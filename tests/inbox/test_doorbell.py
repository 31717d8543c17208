"""When the bell rings, for whom, and what happens to it when directories come and go."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from watchdog.observers import inotify_c

from fwdperm.inbox import descriptor_bell, doorbell, files, inotify, observer_bell
from fwdperm.inbox.doorbell import open_doorbell
from fwdperm.inbox.health import WatchMode
from fwdperm.inbox.tree import InboxTree

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

WAIT_S = 5.0
BOTH = pytest.mark.parametrize("mode", [WatchMode.DESCRIPTOR, WatchMode.OBSERVER])


class Ear:
    """Collects rings, and lets a test wait for one."""

    def __init__(self) -> None:
        self.heard: list[str | None] = []
        self._news = asyncio.Event()

    def __call__(self, name: str | None) -> None:
        self.heard.append(name)
        self._news.set()

    async def wait_for(self, name: str | None) -> None:
        async with asyncio.timeout(WAIT_S):
            while name not in self.heard:
                self._news.clear()
                await self._news.wait()

    async def silence(self) -> list[str | None]:
        """Let the loop read everything the kernel has queued so far; return what was heard, and forget it."""
        for _ in range(20):
            await asyncio.sleep(0)
        heard, self.heard = self.heard, []
        return heard


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[InboxTree]:
    made = InboxTree(tmp_path / "root")
    made.ensure("a")
    yield made
    made.close()


@contextlib.asynccontextmanager
async def listening(
    tree: InboxTree, mode: WatchMode | None = WatchMode.DESCRIPTOR
) -> AsyncIterator[tuple[doorbell.Doorbell, Ear]]:
    tree.close()
    bury_dead_reader()
    threads, descriptors = threading.active_count(), open_descriptors()
    ear = Ear()
    bell = open_doorbell(tree, asyncio.get_running_loop(), ear, mode=mode)
    try:
        await ear.silence()
        yield bell, ear
    finally:
        bell.close()
        bell.close()
    assert threading.active_count() == threads
    tree.close()
    assert open_descriptors() == descriptors


def bury_dead_reader() -> None:
    """Let watchdog start a new reading thread, should an earlier test have cost it the one it keeps per process."""
    reader = inotify_c.InotifyFD._instance
    if reader is not None and not reader.is_alive():
        inotify_c.InotifyFD._instance = None


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def drop(tree: InboxTree, session: str, stem: str, data: bytes = b"{}") -> Path:
    path = tree.layout.request(session, stem)
    temp = path.with_name(path.name + ".1.2.tmp")
    temp.write_bytes(data)
    temp.rename(path)
    return path


def remove_inbox(tree: InboxTree, session: str) -> None:
    for directory in (tree.layout.requests(session), tree.layout.responses(session), tree.layout.inbox(session)):
        for entry in directory.iterdir():
            entry.unlink()
        directory.rmdir()


# -- ringing ---------------------------------------------------------------------------------------------------
@BOTH
def test_every_way_of_publishing_a_request_rings_for_its_inbox(tree: InboxTree, mode: WatchMode) -> None:
    async def run() -> None:
        async with listening(tree, mode) as (_, ear):
            drop(tree, "a", "renamed")
            await ear.wait_for("a")
            ear.heard.clear()
            tree.layout.request("a", "direct").write_bytes(b"{}")
            await ear.wait_for("a")
            ear.heard.clear()
            with files.held_directory(os.fspath(tree.layout.requests("a"))) as at:
                files.publish_file("linked.json", b"{}", at=at)
            await ear.wait_for("a")
            assert len(tree.pending()) == 3

    asyncio.run(run())


@BOTH
def test_a_withdrawn_request_rings(tree: InboxTree, mode: WatchMode) -> None:
    path = drop(tree, "a", "r1")

    async def run() -> None:
        async with listening(tree, mode) as (_, ear):
            path.unlink()
            await ear.wait_for("a")

    asyncio.run(run())


def test_a_request_renamed_away_rings(tree: InboxTree, tmp_path: Path) -> None:
    path = drop(tree, "a", "r1")

    async def run() -> None:
        async with listening(tree) as (_, ear):
            path.rename(tmp_path / "elsewhere")
            await ear.wait_for("a")

    asyncio.run(run())


def test_own_removals_and_other_peoples_temp_files_wake_nobody(tree: InboxTree) -> None:
    drop(tree, "a", "r1")
    (mail,) = tree.pending()

    async def run() -> None:
        async with listening(tree) as (_, ear):
            assert tree.remove_request(mail)
            (tree.layout.requests("a") / "x.json.1.2.tmp").write_bytes(b"{}")
            tree.respond("a", "r1", b"{}")
            assert await ear.silence() == []
            drop(tree, "a", "r1").unlink()
            assert set(await ear.silence()) == {"a"}

    asyncio.run(run())


def test_a_session_that_appears_with_mail_at_once_is_heard_and_nothing_is_missed(tree: InboxTree) -> None:
    async def run() -> None:
        async with listening(tree) as (_, ear):
            for number in range(20):
                session = f"s {number}"
                tree.layout.requests(session).mkdir(parents=True)
                drop(tree, session, "r1")
            for number in range(20):
                await ear.wait_for(f"s {number}")
            assert len(tree.pending()) == 20
            ear.heard.clear()
            drop(tree, "s 3", "r2")
            await ear.wait_for("s 3")

    asyncio.run(run())


def test_an_observer_that_stays_deaf_is_said_once_and_the_checks_ring_for_all(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with listening(tree, WatchMode.OBSERVER) as (bell, ear):
            assert isinstance(bell, observer_bell.ObserverBell)
            monkeypatch.setattr(observer_bell, "_PROOF_S", 0.01)
            monkeypatch.setattr(observer_bell.ObserverBell, "heard", lambda *_: None)
            bell._observer.stop()
            bell._observer.join()
            health = bell.check()
            assert health.polled == {"a"}
            assert len(health.messages) == 1
            assert bell.check().messages == ()
            assert ear.heard == [None, None]

    asyncio.run(run())


def test_a_request_between_the_watch_and_the_listing_is_not_missed(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race, forced: a child writes right before and right after each watch is made."""
    arm = descriptor_bell.DescriptorBell._arm
    written: list[str] = []

    def write(when: str, name: str) -> None:
        if name == "late" and tree.layout.requests("late").is_dir():
            written.append(f"{when}{len(written)}")
            drop(tree, "late", written[-1])

    def armed(self: descriptor_bell.DescriptorBell, place: descriptor_bell._Place) -> bool:
        write("before", place.name)
        made = arm(self, place)
        write("after", place.name)
        return made

    monkeypatch.setattr(descriptor_bell.DescriptorBell, "_arm", armed)

    async def run() -> None:
        async with listening(tree) as (_, ear):
            tree.layout.requests("late").mkdir(parents=True)
            await ear.wait_for("late")
            assert len(written) >= 4
            assert sorted(letter.stem for letter in tree.pending({"late"})) == sorted(written)

    asyncio.run(run())


@BOTH
def test_another_directory_rings_its_name(tree: InboxTree, tmp_path: Path, mode: WatchMode) -> None:
    async def run() -> None:
        async with listening(tree, mode) as (bell, ear):
            bell.watch_directory(tmp_path / "state" / "replies", ".replies")
            (tmp_path / "state" / "replies" / "r1.json").write_bytes(b"{}")
            await ear.wait_for(".replies")

    asyncio.run(run())


def test_another_directory_that_goes_and_comes_is_watched_again(tree: InboxTree, tmp_path: Path) -> None:
    replies = tmp_path / "state" / "replies"

    async def run() -> None:
        async with listening(tree) as (bell, ear):
            bell.watch_directory(replies, ".replies")
            bell.check()
            replies.rename(tmp_path / "away")
            assert ".replies" in await ear.silence()
            (tmp_path / "away" / "r1.json").write_bytes(b"{}")
            assert await ear.silence() == []
            replies.mkdir()
            assert bell.check().rearmed == 1
            await ear.silence()
            (replies / "r1.json").write_bytes(b"{}")
            await ear.wait_for(".replies")

    asyncio.run(run())


# -- directories that come and go ------------------------------------------------------------------------------
# watchdog 7.1's one reading thread at times dies of a directory that is removed while it looks; the bell then polls
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@BOTH
@pytest.mark.parametrize("what", ["requests", "inbox", "sessions"])
@pytest.mark.parametrize("how", ["removed", "renamed away"])
def test_a_directory_that_is_made_again_is_watched_again(
    tree: InboxTree, tmp_path: Path, mode: WatchMode, what: str, how: str
) -> None:
    async def run() -> None:
        async with listening(tree, mode) as (bell, ear):
            if how == "removed":
                remove_inbox(tree, "a")
                if what == "sessions":
                    tree.layout.sessions.rmdir()
            else:
                victim = {
                    "requests": tree.layout.requests("a"),
                    "inbox": tree.layout.inbox("a"),
                    "sessions": tree.layout.sessions,
                }[what]
                victim.rename(tmp_path / "away")
            tree.ensure("a")
            await ear.silence()
            health = bell.check()
            assert health.is_alive
            await ear.silence()
            drop(tree, "a", "r1")
            if "a" in health.polled:
                bell.check()
                assert ear.heard == [None]
            elif mode is WatchMode.OBSERVER:  # its thread may die after that check; the next one, a second later, tells
                async with asyncio.timeout(WAIT_S):
                    while not {"a", None} & set(ear.heard):
                        bell.check()
                        await asyncio.sleep(0.02)
            else:
                await ear.wait_for("a")

    asyncio.run(run())


def test_removal_and_making_again_are_heard_without_a_check(tree: InboxTree) -> None:
    async def run() -> None:
        async with listening(tree) as (_, ear):
            remove_inbox(tree, "a")
            tree.layout.requests("a").mkdir(parents=True)
            assert "a" in await ear.silence()
            drop(tree, "a", "r1")
            assert "a" in await ear.silence()

    asyncio.run(run())


def test_events_from_a_directory_renamed_away_ring_no_more(tree: InboxTree, tmp_path: Path) -> None:
    async def run() -> None:
        async with listening(tree) as (_, ear):
            tree.layout.requests("a").rename(tmp_path / "away")
            assert "a" in await ear.silence()
            (tmp_path / "away" / "x.json").write_bytes(b"{}")
            assert await ear.silence() == []

    asyncio.run(run())


def test_a_directory_whose_watch_vanished_in_silence_is_found_by_the_check(tree: InboxTree) -> None:
    """As when its events were lost: the inode that is watched is not the one that is there."""

    async def run() -> None:
        async with listening(tree) as (bell, ear):
            assert isinstance(bell, descriptor_bell.DescriptorBell)
            bell._loop.remove_reader(bell._inotify.descriptor)
            remove_inbox(tree, "a")
            tree.ensure("a")
            health = bell.check()
            assert health.rearmed >= 1
            assert "a" in ear.heard
            await ear.silence()
            drop(tree, "a", "r1")
            await ear.wait_for("a")

    asyncio.run(run())


def test_a_quiet_tree_rings_nobody_and_changes_no_watch(tree: InboxTree) -> None:
    async def run() -> None:
        async with listening(tree) as (bell, ear):
            bell.check()
            health = bell.check()
            assert (health.rearmed, health.polled, health.messages) == (0, frozenset(), ())
            assert await ear.silence() == []

    asyncio.run(run())


# -- when the kernel fails us ----------------------------------------------------------------------------------
def test_after_an_overflow_everything_is_looked_at(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with listening(tree) as (_, ear):
            lost = [inotify.InotifyEvent(-1, inotify.OVERFLOW, "")]
            read = inotify.Inotify.read
            monkeypatch.setattr(inotify.Inotify, "read", lambda self: read(self) and lost)
            tree.layout.requests("new").mkdir(parents=True)
            await ear.wait_for(None)
            monkeypatch.setattr(inotify.Inotify, "read", read)
            await ear.silence()
            drop(tree, "new", "r1")
            await ear.wait_for("new")

    asyncio.run(run())


def test_a_real_overflow_of_the_queue_rings_for_everything(tree: InboxTree) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 20_000:
        pytest.skip("the kernel's queue is too long to fill in a test")

    async def run() -> None:
        async with listening(tree) as (_, ear):
            a, b = tree.layout.request("a", "a1"), tree.layout.request("a", "b1")
            a.write_bytes(b"")
            for _ in range(limit // 4 + 2):
                a.rename(b)
                b.rename(a)
            await ear.wait_for(None)

    asyncio.run(run())


def test_at_the_limit_of_watches_inboxes_are_polled_and_it_is_said_once(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = inotify.Inotify.add
    full = True

    def limited(self: inotify.Inotify, directory: int, mask: int) -> int:
        if full and "b" in Path(f"/proc/self/fd/{directory}").readlink().parts[-2:]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return add(self, directory, mask)

    monkeypatch.setattr(inotify.Inotify, "add", limited)
    tree.ensure("b")

    async def run() -> None:
        nonlocal full
        async with listening(tree) as (bell, ear):
            health = bell.check()
            assert health.polled == {"b"}
            assert health.is_alive
            (message,) = health.messages
            assert "fs.inotify.max_user_watches" in message
            assert bell.check().messages == ()
            assert ear.heard == ["b", "b"]
            drop(tree, "a", "r1")
            await ear.wait_for("a")
            full = False
            assert bell.check().polled == frozenset()

    asyncio.run(run())


def test_without_a_free_instance_the_bell_polls_and_names_the_setting(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(_: inotify.Inotify) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(inotify.Inotify, "__init__", none_left)

    async def run() -> None:
        async with listening(tree, None) as (bell, _):
            assert bell.mode is WatchMode.POLLING
            assert "max_user_instances" in bell.check().messages[0]

    asyncio.run(run())


def test_a_descriptor_closed_under_us_is_opened_anew(tree: InboxTree) -> None:
    async def run() -> None:
        async with listening(tree) as (bell, ear):
            assert isinstance(bell, descriptor_bell.DescriptorBell)
            bell._loop.remove_reader(bell._inotify.descriptor)
            os.close(bell._inotify.descriptor)
            assert bell.check().is_alive
            assert None in ear.heard
            await ear.silence()
            drop(tree, "a", "r1")
            await ear.wait_for("a")

    asyncio.run(run())


def test_an_observer_whose_thread_died_is_started_anew(tree: InboxTree) -> None:
    async def run() -> None:
        async with listening(tree, WatchMode.OBSERVER) as (bell, ear):
            assert isinstance(bell, observer_bell.ObserverBell)
            bell._observer.stop()
            bell._observer.join()
            health = bell.check()
            assert (health.is_alive, health.rearmed) == (True, 1)
            assert None in ear.heard
            ear.heard.clear()
            drop(tree, "a", "r1")
            await ear.wait_for("a")

    asyncio.run(run())


def test_reading_a_quiet_descriptor_does_not_wait() -> None:
    instance = inotify.Inotify()
    assert instance.read() == []
    assert instance.alive() == frozenset()
    instance.close()


# -- choosing --------------------------------------------------------------------------------------------------
def test_where_events_come_the_loop_reads_them_itself(tree: InboxTree) -> None:
    async def run() -> None:
        before = threading.active_count()
        async with listening(tree, None) as (bell, ear):
            assert bell.mode is WatchMode.DESCRIPTOR
            assert threading.active_count() == before
            drop(tree, "a", "r1")
            await ear.wait_for("a")
        assert [p.name for p in tree.layout.sessions.iterdir()] == ["a"]

    asyncio.run(run())


@pytest.mark.parametrize("name", ["inotify_init", "inotify_add_watch", "inotify_rm_watch"])
@pytest.mark.parametrize("how", ["gone", "another signature", "another way to refuse"])
def test_bindings_that_are_not_as_they_were_are_not_used(monkeypatch: pytest.MonkeyPatch, name: str, how: str) -> None:
    """They are no documented part of watchdog: a version that changed them is served by its observer."""
    assert inotify._works()
    match how:
        case "gone":
            monkeypatch.delattr(inotify_c, name)
        case "another signature" if name != "inotify_init":
            monkeypatch.setattr(inotify_c, name, lambda descriptor: descriptor)
        case "another way to refuse" if name != "inotify_init":
            monkeypatch.setattr(inotify_c, name, lambda *_: -1)
        case _:
            return  # it takes nothing, and is only called where an instance is wanted
    assert not inotify._works()


def test_without_the_low_level_bindings_the_observer_serves(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "is_available", False)

    async def run() -> None:
        async with listening(tree, None) as (bell, ear):
            assert bell.mode is WatchMode.OBSERVER
            drop(tree, "a", "r1")
            await ear.wait_for("a")

    asyncio.run(run())


def test_on_a_shared_file_system_the_bell_polls_and_says_so(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbell, "file_system_type", lambda _: "nfs4")

    async def run() -> None:
        async with listening(tree, None) as (bell, ear):
            assert bell.mode is WatchMode.POLLING
            bell.watch_directory(tree.root / "replies", ".replies")
            health = bell.check()
            assert health.polled == {"a", ".replies"}
            assert "nfs4" in health.messages[0]
            assert bell.check().messages == ()
            await ear.wait_for(None)
            await ear.wait_for(".replies")

    asyncio.run(run())


@pytest.mark.parametrize("bindings", ["low level", "none"])
def test_where_no_event_of_a_probe_comes_the_bell_polls(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch, bindings: str
) -> None:
    monkeypatch.setattr(doorbell, "_PROOF_S", 0.01)
    monkeypatch.setattr(inotify, "is_available", bindings != "none")
    monkeypatch.setattr(inotify.Inotify, "read", lambda _: [])
    monkeypatch.setattr("fwdperm.inbox.observer_bell.ObserverBell.heard", lambda *_: None)

    async def run() -> None:
        async with listening(tree, None) as (bell, _):
            assert bell.mode is WatchMode.POLLING
        assert [p.name for p in tree.layout.sessions.iterdir()] == ["a"]

    asyncio.run(run())


# -- size ------------------------------------------------------------------------------------------------------
def test_a_thousand_inboxes_need_no_thread_and_little_work(tree: InboxTree) -> None:
    """Idle, a second's check and listing cost about 5 ms; the bound leaves room for a busy machine."""
    for number in range(1000):
        tree.layout.requests(f"s{number}").mkdir(parents=True)
    idle = InboxTree(tree.root, now_ns=lambda: time.time_ns() + 10_000_000_000)

    async def run() -> None:
        before = threading.active_count()
        async with listening(idle) as (bell, ear):
            assert threading.active_count() == before
            idle.pending()
            bell.check()
            started = time.process_time()
            for _ in range(5):
                assert bell.check().rearmed == 0
                assert idle.pending() == []
            assert (time.process_time() - started) / 5 < 0.05
            await ear.silence()
            drop(tree, "s777", "r1")
            await ear.wait_for("s777")

    asyncio.run(run())

"""What the daemon may rely on when it asks the tree for mail, whatever lies in it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import resource
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fwdperm.errors import ChildError
from fwdperm.inbox import files, scanner
from fwdperm.inbox.protocol import AlreadyThere, Failed, Identity, Mail, Published, UnreadableCode, UnreadableEntry
from fwdperm.inbox.tree import InboxTree
from fwdperm.settings import REQUEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT_USER = os.geteuid() == 0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tree(tmp_path: Path, clock: Clock) -> Iterator[InboxTree]:
    made = InboxTree(tmp_path / "root", clock=clock)
    made.ensure("a")
    yield made
    made.close()


def drop(tree: InboxTree, session: str, stem: str, data: bytes = b"{}") -> Path:
    """Publish as pi children do: a sibling temp file, renamed."""
    path = tree.layout.request(session, stem)
    temp = path.with_name(path.name + ".1.2.tmp")
    temp.write_bytes(data)
    temp.rename(path)
    return path


def stems(tree: InboxTree, only: set[str] | None = None) -> list[str]:
    return [letter.stem for letter in tree.pending(only)]


# -- the ordinary way ------------------------------------------------------------------------------------------
def test_a_request_is_handed_out_once_with_its_digest(tree: InboxTree) -> None:
    path = drop(tree, "a", "r1", b'{"x":1}')
    (mail,) = tree.pending()
    status = path.stat()
    assert mail == Mail(
        "a",
        "r1",
        b'{"x":1}',
        hashlib.sha256(b'{"x":1}').hexdigest(),
        status.st_ctime_ns,
        Identity(status.st_dev, status.st_ino, status.st_ctime_ns, 7),
    )
    assert tree.pending() == []
    assert tree.pending({"a"}) == []


def test_a_file_rewritten_in_place_is_handed_out_again_as_new_bytes(tree: InboxTree) -> None:
    path = drop(tree, "a", "r1", b'{"x":')
    assert [m.data for m in tree.pending() if isinstance(m, Mail)] == [b'{"x":']
    with path.open("ab") as file:
        file.write(b"1}")
    assert [m.data for m in tree.pending() if isinstance(m, Mail)] == [b'{"x":1}']


def test_a_replaced_file_is_handed_out_again_and_the_first_is_gone(tree: InboxTree) -> None:
    drop(tree, "a", "r1", b"first")
    (first,) = tree.pending()
    drop(tree, "a", "r1", b"other")
    (second,) = tree.pending()
    assert isinstance(second, Mail)
    assert second.data == b"other"
    assert first.token is not None
    assert second.token is not None
    assert tree.gone([("a", "r1", first.token)]) == {("a", "r1")}
    assert tree.gone([("a", "r1", second.token)]) == set()


def test_mail_comes_in_order_of_arrival_not_of_name(tree: InboxTree) -> None:
    tree.ensure("b")
    for session, stem in (("b", "zz"), ("a", "mm"), ("b", "aa"), ("a", "00")):
        path = drop(tree, session, stem)
        os.utime(path, ns=(0, 0))  # mtime is forgeable; nobody looks at it
        settle(path)
    assert stems(tree) == ["zz", "mm", "aa", "00"]


def settle(path: Path) -> None:
    """Let the file system's clock move on past this file's ctime."""
    probe = path.with_name("probe.tmp")
    while True:
        probe.write_bytes(b"")
        probe.chmod(0o600)
        if probe.stat().st_ctime_ns > path.stat().st_ctime_ns:
            probe.unlink()
            return


def test_only_the_named_inboxes_are_looked_at(tree: InboxTree) -> None:
    tree.ensure("b")
    drop(tree, "a", "r1")
    drop(tree, "b", "r2")
    assert stems(tree, {"b"}) == ["r2"]
    assert stems(tree) == ["r1"]


def test_files_that_do_not_end_in_json_are_nobodys_mail(tree: InboxTree) -> None:
    for name in ("x.json.1.2.tmp", ".fwdperm-00.json", "note.txt", "y.JSON"):
        (tree.layout.requests("a") / name).write_bytes(b"{}")
    assert tree.pending() == []


def test_sessions_are_found_by_their_encoding_and_other_directories_left_alone(tree: InboxTree) -> None:
    tree.ensure("weird id/ü%")
    for name in ("a%2fb", ".hidden", "unknown", "%zz"):
        (tree.layout.sessions / name).mkdir()
    (tree.layout.sessions / "file").write_text("")
    (tree.layout.sessions / "link").symlink_to(tree.layout.inbox("a"))
    assert set(tree.sessions()) == {"a", "weird id/ü%"}


@pytest.mark.parametrize("session", ["", ".", "..", ".x", "unknown", "x" * 201])
def test_an_id_that_cannot_name_an_inbox_makes_nothing(tree: InboxTree, session: str) -> None:
    before = sorted(tree.layout.sessions.iterdir())
    with pytest.raises(ChildError):
        tree.ensure(session)
    assert sorted(tree.layout.sessions.iterdir()) == before
    assert tree.pending({session}) == []


def test_directories_are_private_and_keep_a_sentinel(tree: InboxTree) -> None:
    for directory in (tree.layout.inbox("a"), tree.layout.requests("a"), tree.layout.responses("a")):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert (directory / ".fwdperm").is_file()
        with pytest.raises(OSError, match="not empty"):
            directory.rmdir()
    assert stat.S_IMODE(tree.layout.serving.stat().st_mode) == 0o700


def test_with_several_users_the_group_may_come_in(tmp_path: Path) -> None:
    tree = InboxTree(tmp_path, several_uids=True)
    tree.ensure("a")
    assert stat.S_IMODE(tree.layout.requests("a").stat().st_mode) == 0o2770
    assert tree.respond("a", "r1", b"{}") == Published()
    assert stat.S_IMODE(tree.layout.response("a", "r1").stat().st_mode) == 0o640


def test_a_root_that_does_not_exist_has_no_mail(tmp_path: Path) -> None:
    tree = InboxTree(tmp_path / "none")
    assert tree.pending() == []
    assert tree.sessions() == ()
    assert tree.responses("a") == ()
    assert tree.gone([("a", "r", Identity(0, 0, 0, 0))]) == {("a", "r")}
    assert not (tmp_path / "none").exists()


# -- hostile entries -------------------------------------------------------------------------------------------
def plant(kind: str, path: Path, outside: Path) -> None:
    outside.write_bytes(b'{"secret":1}')
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "symlink":
            path.symlink_to(outside)
        case "dangling":
            path.symlink_to(outside.with_name("nowhere"))
        case "loop":
            path.symlink_to(path.name)
        case "directory":
            path.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                here = Path.cwd()
                os.chdir(path.parent)
                try:
                    server.bind(path.name)
                finally:
                    os.chdir(here)
        case "hard-link":
            path.hardlink_to(outside)
        case "sparse":
            with path.open("wb") as file:
                file.truncate(1 << 40)
        case "device":
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))


HOSTILE = {
    "fifo": UnreadableCode.NOT_REGULAR,
    "symlink": UnreadableCode.SYMLINK,
    "dangling": UnreadableCode.SYMLINK,
    "loop": UnreadableCode.SYMLINK,
    "directory": UnreadableCode.NOT_REGULAR,
    "socket": UnreadableCode.NOT_REGULAR,
    "hard-link": UnreadableCode.HARD_LINK,
    "sparse": UnreadableCode.TOO_LARGE,
    "device": UnreadableCode.NOT_REGULAR,
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_a_hostile_entry_is_refused_once_and_answered_and_blocks_nobody(
    tree: InboxTree, clock: Clock, tmp_path: Path, kind: str
) -> None:
    if kind == "device" and not ROOT_USER:
        pytest.skip("making a device needs root")
    path = tree.layout.request("a", "bad")
    plant(kind, path, tmp_path / "outside")
    drop(tree, "a", "good")
    letters = tree.pending()
    if kind == "hard-link":
        assert [letter.stem for letter in letters] == ["good"]
        clock.now += 2.0
        letters += tree.pending()
    by_stem = {letter.stem: letter for letter in letters}
    refused = by_stem["bad"]
    assert isinstance(by_stem["good"], Mail)
    assert isinstance(refused, UnreadableEntry)
    assert refused.code == HOSTILE[kind]
    assert refused.reason
    assert tree.pending() == []
    assert tree.respond("a", "bad", b"denied") == Published()
    assert tree.layout.response("a", "bad").read_bytes() == b"denied"
    assert tree.remove_request(refused) == (kind != "directory")
    assert path.is_dir() == (kind == "directory")
    assert (tmp_path / "outside").read_bytes() == b'{"secret":1}'


def test_a_file_between_link_and_unlink_is_read_when_its_second_name_goes(tree: InboxTree) -> None:
    temp = tree.layout.requests("a") / "half.tmp"
    temp.write_bytes(b"{}")
    tree.layout.request("a", "r1").hardlink_to(temp)
    assert tree.pending() == []
    temp.unlink()
    assert stems(tree) == ["r1"]


def test_a_file_over_the_cap_is_refused_and_one_at_the_cap_is_read(tree: InboxTree) -> None:
    drop(tree, "a", "max", b" " * REQUEST_BYTES)
    drop(tree, "a", "over", b" " * (REQUEST_BYTES + 1))
    kinds = {letter.stem: type(letter) for letter in tree.pending()}
    assert kinds == {"max": Mail, "over": UnreadableEntry}


def test_a_file_over_the_cap_is_refused_by_its_size_and_not_read(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("sparse", tree.layout.request("a", "huge"), tree.root / "unused")
    monkeypatch.setattr(os, "read", None)
    (refused,) = tree.pending()
    assert isinstance(refused, UnreadableEntry)
    assert refused.reason == f"the request has {1 << 40} bytes, at most {REQUEST_BYTES} are read"


def test_a_file_that_grows_past_the_cap_while_it_is_read_is_refused(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drop(tree, "a", "r1", b"{}")
    read = os.read

    def grow(descriptor: int, size: int) -> bytes:
        path.write_bytes(b" " * (REQUEST_BYTES + 10))
        return read(descriptor, size)

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", grow)
        (refused,) = tree.pending()
    assert isinstance(refused, UnreadableEntry)
    assert refused.code == UnreadableCode.TOO_LARGE


def test_a_name_that_is_no_request_id_is_reported_once_and_left(tree: InboxTree) -> None:
    bad = tree.layout.requests("a") / "..evil.json"
    bad.write_bytes(b"{}")
    (refused,) = tree.pending()
    assert isinstance(refused, UnreadableEntry)
    assert refused.code == UnreadableCode.BAD_NAME
    assert tree.pending() == []
    assert not tree.remove_request(refused)
    assert bad.exists()
    with pytest.raises(ValueError, match="not a request id"):
        tree.respond("a", refused.stem, b"{}")


def test_a_name_of_undecodable_bytes_is_refused_like_any_bad_name(tree: InboxTree) -> None:
    path = os.fsencode(tree.layout.requests("a")) + b"/\xff\n\x1b.json"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    (refused,) = tree.pending()
    assert isinstance(refused, UnreadableEntry)
    assert refused.code == UnreadableCode.BAD_NAME


@pytest.mark.skipif(not ROOT_USER, reason="giving a file away needs root")
def test_a_file_of_another_user_is_refused_unless_several_users_are_served(tree: InboxTree) -> None:
    path = drop(tree, "a", "r1")
    os.chown(path, 12345, -1)
    (refused,) = tree.pending()
    assert isinstance(refused, UnreadableEntry)
    assert refused.code == UnreadableCode.FOREIGN_OWNER
    other = InboxTree(tree.root, several_uids=True)
    assert isinstance(other.pending()[0], Mail)


@pytest.mark.parametrize("part", ["inbox", "requests"])
def test_a_directory_swapped_for_a_link_catches_nobody(tree: InboxTree, tmp_path: Path, part: str) -> None:
    elsewhere = InboxTree(tmp_path / "elsewhere")
    elsewhere.ensure("x")
    drop(elsewhere, "x", "stolen")
    drop(tree, "a", "r0")
    assert stems(tree) == ["r0"]
    there = tree.layout.inbox("a") if part == "inbox" else tree.layout.requests("a")
    target = elsewhere.layout.inbox("x") if part == "inbox" else elsewhere.layout.requests("x")
    there.rename(tmp_path / "away")
    there.symlink_to(target)
    (refused,) = tree.pending({"a"})
    assert isinstance(refused, UnreadableEntry)
    assert (refused.stem, refused.code) == ("", UnreadableCode.UNREADABLE)
    assert tree.pending({"a"}) == []
    if part == "inbox":
        assert isinstance(tree.respond("a", "r0", b"{}"), Failed)
        assert sorted(p.name for p in elsewhere.layout.responses("x").iterdir()) == [".fwdperm"]


@pytest.mark.skipif(not ROOT_USER, reason="becoming another user needs root")
def test_an_unreadable_inbox_is_reported_once_and_the_others_go_on() -> None:
    base = Path(tempfile.mkdtemp(prefix="fwdperm-test-"))
    base.chmod(0o755)
    os.chown(base, 65534, 65534)
    os.seteuid(65534)
    try:
        tree = InboxTree(base / "root")
        tree.ensure("shut")
        tree.ensure("open")
        drop(tree, "open", "r1")
        path = drop(tree, "open", "r2")
        path.chmod(0)
        tree.layout.requests("shut").chmod(0)
        letters = {(letter.inbox, letter.stem): letter for letter in tree.pending()}
        assert isinstance(letters["open", "r1"], Mail)
        for key in (("open", "r2"), ("shut", "")):
            refused = letters[key]
            assert isinstance(refused, UnreadableEntry)
            assert refused.code == UnreadableCode.UNREADABLE
        assert tree.pending() == []
        assert tree.gone([("shut", "r", Identity(0, 0, 0, 0))]) == set()
        tree.layout.requests("shut").chmod(0o700)
        drop(tree, "shut", "r3")
        assert stems(tree) == ["r3"]
    finally:
        os.seteuid(0)
        shutil.rmtree(base)


# -- bounded work ----------------------------------------------------------------------------------------------
def test_a_flood_in_one_inbox_delays_no_other(tree: InboxTree) -> None:
    tree.ensure("b")
    at = os.open(tree.layout.requests("a"), os.O_RDONLY)
    for number in range(1200):
        os.close(os.open(f"f{number}.json", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=at))
    os.close(at)
    drop(tree, "b", "other")
    first = tree.pending()
    assert len(first) == 129
    assert first[-1].inbox == "b"
    assert tree.behind() == {"a"}
    found = {letter.stem for letter in first}
    while tree.behind():
        more = tree.pending(set(tree.behind()))
        assert len(more) <= 128
        found |= {letter.stem for letter in more}
    assert len(found) == 1201
    assert tree.pending() == []


def test_a_listing_too_long_for_one_call_goes_on_in_the_next(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "_INBOX_NAMES", 10)
    monkeypatch.setattr(scanner, "_INBOX_LOOKS", 4)
    for number in range(50):
        drop(tree, "a", f"r{number}")
        (tree.layout.requests("a") / f"{number}.tmp").touch()
    found = stems(tree)
    assert len(found) < 50
    while tree.behind():
        found += stems(tree, {"a"})
    assert sorted(found) == sorted(f"r{number}" for number in range(50))
    tree.layout.request("a", "r7").unlink()
    drop(tree, "a", "late")
    again = stems(tree)
    while tree.behind():
        again += stems(tree, {"a"})
    assert again == ["late"]


def test_inboxes_that_had_to_wait_go_first_in_the_next_call(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "_CALL_FILES", 2)
    for session in ("a", "b", "c"):
        tree.ensure(session)
        drop(tree, session, "r1")
        drop(tree, session, "r2")
    calls = []
    for _ in range(3):
        calls.append({letter.inbox for letter in tree.pending()})
        drop(tree, "a", f"more{len(calls)}")
    assert set.union(*calls) == {"a", "b", "c"}


def test_an_empty_inbox_is_not_listed_again_until_it_changes(tree: InboxTree, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago = InboxTree(tree.root, now_ns=lambda: time.time_ns() + 3_600_000_000_000)
    assert long_ago.pending() == []
    listed = []
    take = scanner.InboxScanner.take
    monkeypatch.setattr(
        scanner.InboxScanner, "take", lambda self, at, **rest: listed.append(at) or take(self, at, **rest)
    )
    assert long_ago.pending() == []
    assert listed == []
    drop(tree, "a", "r1")
    assert stems(long_ago) == ["r1"]
    assert len(listed) == 1


def test_a_session_that_appears_in_a_tree_that_stood_still_is_found(tree: InboxTree) -> None:
    long_ago = InboxTree(tree.root, now_ns=lambda: time.time_ns() + 3_600_000_000_000)
    assert long_ago.sessions() == ("a",)
    assert long_ago.sessions() == ("a",)
    tree.ensure("b")
    assert set(long_ago.sessions()) == {"a", "b"}
    tree.layout.inbox("b").rename(tree.root / "away")
    assert long_ago.sessions() == ("a",)
    assert long_ago.directories() == {"a": "a"}
    tree.layout.sessions.rename(tree.root / "gone")
    assert long_ago.sessions() == ()
    assert long_ago.directories() == {}
    long_ago.close()


def test_a_known_request_is_looked_at_even_where_its_directory_stood_still(tree: InboxTree) -> None:
    """Writing into a file does not change its directory."""
    long_ago = InboxTree(tree.root, now_ns=lambda: time.time_ns() + 3_600_000_000_000)
    path = drop(tree, "a", "r1", b'{"x":')
    assert stems(long_ago) == ["r1"]
    with path.open("ab") as file:
        file.write(b"1}")
    (mail,) = long_ago.pending()
    assert isinstance(mail, Mail)
    assert mail.data == b'{"x":1}'
    long_ago.close()


# -- answers ---------------------------------------------------------------------------------------------------
def test_an_answer_never_overwrites_another(tree: InboxTree) -> None:
    assert tree.respond("a", "r1", b"one") == Published()
    assert tree.respond("a", "r1", b"two") == AlreadyThere()
    assert tree.layout.response("a", "r1").read_bytes() == b"one"
    assert sorted(p.name for p in tree.layout.responses("a").iterdir()) == [".fwdperm", "r1.json"]


@pytest.mark.parametrize("refusal", [errno.EPERM, errno.EOPNOTSUPP])
def test_where_links_are_not_supported_a_rename_publishes_and_still_overwrites_nothing(
    tree: InboxTree, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    def no_link(*_: object, **__: object) -> None:
        raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr(os, "link", no_link)
    assert tree.respond("a", "r1", b"one") == Published()
    assert tree.respond("a", "r1", b"two") == AlreadyThere()
    assert tree.layout.response("a", "r1").read_bytes() == b"one"
    assert sorted(p.name for p in tree.layout.responses("a").iterdir()) == [".fwdperm", "r1.json"]


def test_a_link_planted_where_the_answer_goes_is_not_followed(tree: InboxTree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    tree.layout.response("a", "r1").symlink_to(outside)
    tree.layout.response("a", "r2").symlink_to(tmp_path / "nowhere")
    assert tree.respond("a", "r1", b"x") == AlreadyThere()
    assert tree.respond("a", "r2", b"x") == AlreadyThere()
    assert outside.read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_link_planted_under_the_temp_name_is_not_followed(
    tree: InboxTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even an attacker who guesses the random name gets nothing written through it."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "00")
    monkeypatch.setattr(files, "_publish_nameless", lambda *_, **__: None)
    planted = tree.layout.responses("a") / f"{files.TEMP_PREFIX}00.tmp"
    planted.symlink_to(outside)
    outcome = tree.respond("a", "r1", b"x")
    assert isinstance(outcome, Failed)
    assert outside.read_bytes() == b"mine"
    assert planted.is_symlink()


def test_directories_removed_by_children_are_made_again_for_the_answer(tree: InboxTree) -> None:
    for directory in (tree.layout.requests("a"), tree.layout.responses("a"), tree.layout.inbox("a")):
        (directory / ".fwdperm").unlink()
        directory.rmdir()
    assert tree.respond("a", "r1", b"x") == Published()
    assert tree.layout.response("a", "r1").read_bytes() == b"x"


def test_a_file_size_limit_gives_a_failure_and_leaves_nothing(tree: InboxTree) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        outcome = tree.respond("a", "r1", b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert outcome == Failed("file too large")
    assert [p.name for p in tree.layout.responses("a").iterdir()] == [".fwdperm"]
    assert tree.respond("a", "r1", b"x" * 5000) == Published()


def test_a_full_disk_gives_a_failure_and_recovers_without_a_restart(tmp_path: Path) -> None:
    point = tmp_path / "small"
    point.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(point)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small tmpfs needs privileges")
    try:
        tree = InboxTree(point / "root")
        tree.ensure("a")
        filler = point / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        outcome = tree.respond("a", "r1", b"x" * 6000)
        assert outcome == Failed("no space left on device")
        assert [p.name for p in tree.layout.responses("a").iterdir()] == [".fwdperm"]
        filler.unlink()
        assert tree.respond("a", "r1", b"x" * 6000) == Published()
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


def test_an_answered_request_is_removed_only_while_it_is_the_one_that_was_read(tree: InboxTree) -> None:
    path = drop(tree, "a", "r1", b"one")
    (mail,) = tree.pending()
    drop(tree, "a", "r1", b"two")
    assert not tree.remove_request(mail)
    assert path.read_bytes() == b"two"
    (mail,) = tree.pending()
    assert tree.remove_request(mail)
    assert not path.exists()
    assert tree.remove_request(mail)


def test_a_request_that_comes_back_under_the_same_name_after_removal_is_new(tree: InboxTree) -> None:
    for data in (b"one", b"two"):
        drop(tree, "a", "r1", data)
        (mail,) = tree.pending()
        assert isinstance(mail, Mail)
        assert mail.data == data
        assert tree.remove_request(mail)


def test_withdrawn_requests_are_told_from_those_still_waiting(tree: InboxTree) -> None:
    for stem in ("r1", "r2"):
        drop(tree, "a", stem)
    keys = [(m.inbox, m.stem, m.token) for m in tree.pending() if m.token is not None]
    assert tree.gone(keys) == set()
    tree.layout.request("a", "r1").unlink()
    assert tree.gone(keys) == {("a", "r1")}
    tree.layout.inbox("a").rename(tree.layout.sessions / "moved")
    assert tree.gone(keys) == {("a", "r1"), ("a", "r2")}


def test_touching_a_request_does_not_withdraw_it(tree: InboxTree) -> None:
    path = drop(tree, "a", "r1")
    (mail,) = tree.pending()
    path.chmod(0o640)
    assert mail.token is not None
    assert tree.gone([("a", "r1", mail.token)]) == set()


def test_unconsumed_answers_are_listed_with_their_age_and_removed(tmp_path: Path) -> None:
    later = 0
    tree = InboxTree(tmp_path, now_ns=lambda: time.time_ns() + later)
    tree.ensure("a")
    tree.respond("a", "r1", b"x")
    leftover = tree.layout.responses("a") / ".fwdperm-dead.tmp"
    leftover.write_bytes(b"")
    assert [u.stem for u in tree.responses("a")] == ["r1"]
    assert leftover.exists()
    later = 61_000_000_000
    (unread,) = tree.responses("a")
    assert 61.0 <= unread.age_s < 71.0
    assert not leftover.exists()
    assert (tree.layout.responses("a") / ".fwdperm").exists()
    assert tree.remove_response("a", "r1")
    assert tree.remove_response("a", "r1")
    assert tree.responses("a") == ()


def test_a_heartbeat_replaces_what_is_planted_and_follows_nothing(tree: InboxTree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    tree.layout.beat("a").symlink_to(outside)
    tree.beat("a", b"1")
    tree.beat("a", b"2")
    assert tree.layout.beat("a").read_bytes() == b"2"
    assert not tree.layout.beat("a").is_symlink()
    assert outside.read_bytes() == b"mine"
    tree.unbeat("a")
    tree.unbeat("a")
    assert list(tree.layout.serving.iterdir()) == []


def test_forgetting_an_inbox_hands_its_mail_out_again(tree: InboxTree) -> None:
    drop(tree, "a", "r1")
    assert stems(tree) == ["r1"]
    tree.forget("a")
    assert stems(tree) == ["r1"]

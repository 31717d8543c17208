"""Reading back: from a checkpoint, from the beginning, after a prune, it is always the same."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.journal.line import take_apart
from fwdperm.journal.log import Journal
from fwdperm.journal.prune import prune_journal
from fwdperm.journal.record import (
    AskedRecord,
    DecidedRecord,
    DeliveredRecord,
    RepliedRecord,
    RuleAddedRecord,
    RuleRevokedRecord,
    SessionSeenRecord,
    StoppedRecord,
    UnknownRecord,
)
from fwdperm.journal.replay import replay_journal
from fwdperm.journal.segments import listing
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    from fwdperm.journal.record import JournalEntry, Record


class Rules:
    """A further fold as session rules will be one: rules in force, and how many entries were seen."""

    name = "rules"
    kinds = frozenset({"rule_added", "rule_revoked", "replied"})

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.seen = 0

    def apply(self, entry: JournalEntry) -> None:
        self.seen += 1
        match entry.record:
            case RuleAddedRecord(rule=rule, pattern=pattern):
                self.held[rule] = pattern
            case RuleRevokedRecord(rule=rule):
                self.held.pop(rule, None)
            case _:
                pass

    def dump(self) -> Any:
        return {"held": self.held, "seen": self.seen}

    def load(self, data: Any) -> None:
        self.held = dict(data["held"]) if data else {}
        self.seen = data["seen"] if data else 0


IDS = st.sampled_from([f"r{number}" for number in range(6)])
INBOXES = st.sampled_from(["root", "child"])
RECORDS = st.one_of(
    st.builds(AskedRecord, inbox=INBOXES, id=IDS, digest=IDS, session=IDS),
    st.builds(RepliedRecord, inbox=INBOXES, id=IDS, reply=st.sampled_from(["once", "always", "reject"])),
    st.builds(DecidedRecord, inbox=INBOXES, id=IDS, digest=IDS, response=st.just({"approved": False})),
    st.builds(DeliveredRecord, inbox=INBOXES, id=IDS),
    st.builds(SessionSeenRecord, session=IDS, parent=IDS, verified=st.booleans()),
    st.builds(RuleAddedRecord, rule=IDS, pattern=st.text(max_size=3)),
    st.builds(RuleRevokedRecord, rule=IDS),
    st.just(UnknownRecord(kind="moon", data={"phase": "full"})),
)
STEPS = st.lists(st.one_of(RECORDS, st.sampled_from(["commit", "reopen", "prune", "crash"])), max_size=60)


def oracle(kept: list[Record]) -> tuple[Any, ...]:
    """Fold in the slow and obvious way: for each request look through everything ever said."""
    keys = {
        (each.inbox, each.id)
        for each in kept
        if isinstance(each, AskedRecord | RepliedRecord | DecidedRecord | DeliveredRecord)
    }
    spent, undelivered, waiting = set(), set(), set()
    for key in keys:
        about = [type(each) for each in kept if getattr(each, "inbox", None) == key[0] and each.id == key[1]]  # type: ignore[union-attr]
        if DecidedRecord in about:
            spent.add(key)
            last = len(about) - about[::-1].index(DecidedRecord)
            if DeliveredRecord not in about[last:]:
                undelivered.add(key)
        elif AskedRecord in about or RepliedRecord in about:
            waiting.add(key)
    sessions = {each.session: each.parent for each in kept if isinstance(each, SessionSeenRecord)}
    rules: dict[str, str] = {}
    for each in kept:
        if isinstance(each, RuleAddedRecord):
            rules[each.rule] = each.pattern
        elif isinstance(each, RuleRevokedRecord):
            rules.pop(each.rule, None)
    return spent, undelivered, waiting, sessions, rules


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_however_it_is_read_back_it_says_what_was_committed(steps: list[Any]) -> None:
    """Checkpoints, rotations, prunes, restarts and crashes between commits change nothing of what is known."""
    with tempfile.TemporaryDirectory() as root:
        place = Path(root) / "journal"
        kept: list[Record] = []
        fresh: list[Record] = []

        def opened() -> Journal:
            return Journal.open(place, clock=lambda: 1, folds=(Rules(),), segment_bytes=1_500, checkpoint_lines=7)

        journal = opened()
        for step in steps:
            match step:
                case "commit" | "reopen" | "prune":
                    journal.commit()
                    kept, fresh = kept + fresh, []
                    if step == "prune":
                        prune_journal(journal, count=1_000)
                    elif step == "reopen":
                        journal.close()
                        journal = opened()
                case "crash":
                    journal.discard()
                    fresh = []
                    journal._head.close()
                    journal = opened()
                case _:
                    journal.append(step)
                    fresh.append(step)
        journal.close()
        slow, fast = Rules(), Rules()
        whole = replay_journal(place, folds=(slow,), use_checkpoint=False)
        short = replay_journal(place, folds=(fast,))
        assert (whole.faults, short.faults, verify_journal(place).findings) == ([], [], [])
        for read, rules in ((whole, slow), (short, fast), (journal.replayed, journal.replayed.folding.folds[0])):
            state = read.state
            keys = {(inbox, f"r{number}") for inbox in ("root", "child") for number in range(6)}
            spent = {key for key in keys if state.is_decided(*key)}
            sessions = {name: edge.parent for name, edge in state.sessions.items()}
            assert isinstance(rules, Rules)
            assert oracle(kept + fresh) == (
                spent, set(state.undelivered), set(state.waiting), sessions, rules.held,
            )  # fmt: skip
        assert whole.state.dump() == short.state.dump() == journal.state.dump()
        assert whole.state.spent == short.state.spent == journal.state.spent
        assert slow.seen == fast.seen


def filled(place: Path, lines: int, **more: Any) -> Journal:
    journal = Journal.open(place, clock=lambda: 1, **more)
    for number in range(lines):
        journal.append(DecidedRecord(inbox="root", id=f"r{number}", response={"approved": True}))
        journal.append(DeliveredRecord(inbox="root", id=f"r{number}"))
        journal.commit()
    return journal


def test_only_the_tail_is_read_after_a_checkpoint(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j", 40, checkpoint_lines=50)
    assert replay_journal(tmp_path / "j").lines < 50
    assert replay_journal(tmp_path / "j", use_checkpoint=False).lines >= 79
    journal.close()
    assert replay_journal(tmp_path / "j").lines == 0
    assert (tmp_path / "j" / "checkpoint.keys").stat().st_size == 40 * 16


def swapped(place: Path) -> None:
    """Put a checkpoint of a journal with the same shape and other content in its place."""
    other = place.with_name("other")
    journal = Journal.open(other, clock=lambda: 2)
    for number in range(10):
        journal.append(DecidedRecord(inbox="root", id=f"s{number}", response={"approved": True}))
        journal.append(DeliveredRecord(inbox="root", id=f"s{number}"))
        journal.commit()
    journal.append(SessionSeenRecord(session="child", parent="root"))
    journal.close()
    for name in ("checkpoint.json", "checkpoint.keys"):
        (other / name).replace(place / name)


@pytest.mark.parametrize(
    "harm",
    [
        lambda place: (place / "checkpoint.json").write_text("{"),
        lambda place: (place / "checkpoint.json").write_text("[]"),
        lambda place: (place / "checkpoint.keys").write_bytes(b"short"),
        lambda place: (place / "checkpoint.keys").unlink(),
        lambda place: (place / "checkpoint.json").write_text(
            (place / "checkpoint.json").read_text().replace("child", "chilX")
        ),
        swapped,
    ],
    ids=["torn", "foreign", "short keys", "no keys", "edited", "of another log"],
)
def test_a_checkpoint_that_does_not_fit_is_ignored(tmp_path: Path, harm: Any) -> None:
    place = tmp_path / "j"
    journal = filled(place, 10)
    journal.append(SessionSeenRecord(session="child", parent="root"))
    journal.close()
    whole = replay_journal(place, use_checkpoint=False)
    harm(place)
    again = replay_journal(place)
    assert not again.from_checkpoint
    assert again.state.dump() == whole.state.dump()
    assert again.state.spent == whole.state.spent


def test_a_checkpoint_without_a_fold_that_is_asked_for_is_ignored(tmp_path: Path) -> None:
    """A daemon that learns to fold something new reads everything once."""
    filled(tmp_path / "j", 3).close()
    rules = Rules()
    assert not replay_journal(tmp_path / "j", folds=(rules,)).from_checkpoint
    assert replay_journal(tmp_path / "j").from_checkpoint


def test_a_pruned_request_is_still_decided_and_a_rule_still_in_force(tmp_path: Path) -> None:
    place = tmp_path / "j"
    rules = Rules()
    journal = Journal.open(place, clock=lambda: 1, folds=(rules,), segment_bytes=2_000)
    journal.append(RuleAddedRecord(rule="g1", pattern="git status"))
    journal.append(RuleAddedRecord(rule="g2", pattern="git fetch"))
    journal.append(RuleRevokedRecord(rule="g2"))
    for number in range(60):
        journal.append(DecidedRecord(inbox="root", id=f"r{number}", response={"approved": True}))
        journal.commit()
        journal.append(DeliveredRecord(inbox="root", id=f"r{number}"))
    gone = len(listing(place)) - 1
    assert prune_journal(journal, count=1_000) == gone
    assert prune_journal(journal, count=1_000) <= 1
    journal.close()
    for use in (True, False):
        again = Rules()
        read = replay_journal(place, folds=(again,), use_checkpoint=use)
        assert again.held == {"g1": "git status"}
        assert all(read.state.is_decided("root", f"r{number}") for number in range(60))
        assert not read.state.undelivered
    found = verify_journal(place)
    assert found.findings == []
    assert found.first > 1


def test_a_great_state_is_kept_over_a_prune_in_lines_of_bounded_size(tmp_path: Path) -> None:
    place = tmp_path / "j"
    journal = filled(place, 5, segment_bytes=900)
    for number in range(2_000):
        journal.append(SessionSeenRecord(session=f"session-{number}", parent="root", cwd="/" + "w" * 50))
    journal.commit()
    prune_journal(journal, count=1_000)
    journal.close()
    read = replay_journal(place, use_checkpoint=False)
    assert len(read.state.sessions) == 2_000
    longest = max(len(raw) for path in listing(place) for raw in path.read_bytes().splitlines())
    assert longest < 100_000


def test_a_prune_without_its_keys_is_a_fault(tmp_path: Path) -> None:
    place = tmp_path / "j"
    journal = filled(place, 20, segment_bytes=1_000)
    prune_journal(journal, count=1_000)
    journal.close()
    (place / "checkpoint.json").unlink()
    next(place.glob("pruned-*.keys")).unlink()
    assert "keys of pruned decisions" in replay_journal(place).faults[0].what
    assert "cannot be read" in str(verify_journal(place).findings)


def test_a_reply_that_no_decision_followed_is_found_again(tmp_path: Path) -> None:
    """The crash fell between the key press and its decision: the person is not asked again."""
    journal = Journal.open(tmp_path / "j", clock=lambda: 5)
    journal.append(AskedRecord(inbox="root", id="r1", digest="d", session="child"))
    journal.append(RepliedRecord(inbox="root", id="r1", digest="d", reply="once", feedback="fine", via="terminal"))
    journal.commit()
    journal.close()
    (waiting,) = replay_journal(tmp_path / "j").state.waiting.values()
    assert (waiting.session, waiting.digest, waiting.at) == ("child", "d", 5)
    assert waiting.reply is not None
    assert (waiting.reply["reply"], waiting.reply["feedback"]) == ("once", "fine")


def test_an_answer_that_may_not_have_been_seen_comes_back_byte_for_byte(tmp_path: Path) -> None:
    answer = {"approved": True, "note": "é\u202e", "decidedBy": {"kind": "user"}, "respondedAt": 7}
    journal = Journal.open(tmp_path / "j", clock=lambda: 5)
    journal.append(DecidedRecord(inbox="root", id="r1", digest="d", response=answer))
    journal.commit()
    journal.close()
    (found,) = replay_journal(tmp_path / "j", use_checkpoint=False).state.undelivered.values()
    assert json.dumps(found.response, sort_keys=True) == json.dumps(answer, sort_keys=True)


def test_a_line_nobody_wrote_teaches_nothing(tmp_path: Path) -> None:
    place = tmp_path / "j"
    filled(place, 4).close()
    (place / "checkpoint.json").unlink()
    file = listing(place)[0]
    lines = file.read_bytes().splitlines(keepends=True)
    line = take_apart(lines[2][:-1])
    forged = json.dumps(dict(line.data) | {"id": "forged"}, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    file.write_bytes(b"".join([*lines[:2], forged, *lines[2:]]))
    read = replay_journal(place)
    assert read.faults
    assert ("root", "forged") not in read.state.undelivered
    assert read.state.is_decided("root", "forged")


def test_a_missing_journal_is_an_empty_one(tmp_path: Path) -> None:
    read = replay_journal(tmp_path / "nothing")
    assert (read.end.seq, read.faults, read.state.spent) == (0, [], set())


def test_a_reader_beside_the_writer_sees_what_was_committed(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j", 5, checkpoint_lines=3)
    journal.append(StoppedRecord())
    assert replay_journal(tmp_path / "j").state.spent == journal.state.spent
    journal.close()

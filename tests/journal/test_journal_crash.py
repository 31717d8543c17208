"""kill -9 of a real writer, again and again: what was acknowledged is there, and nothing else is wrong."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

from fwdperm.journal.line import take_apart
from fwdperm.journal.log import Journal
from fwdperm.journal.replay import replay_journal
from fwdperm.journal.segments import listing
from fwdperm.journal.verify import verify_journal

if TYPE_CHECKING:
    from pathlib import Path

WRITER = textwrap.dedent("""
    import os, sys
    from pathlib import Path
    from fwdperm.journal.log import Journal
    from fwdperm.journal.prune import prune_journal
    from fwdperm.journal.record import DecidedRecord, DeliveredRecord
    from fwdperm.journal.segments import listing

    journal = Journal.open(Path(sys.argv[1]), clock=lambda: 1, segment_bytes=6_000, checkpoint_lines=20)
    base = journal.durable.seq
    number = 0
    while True:
        batch = []
        for _ in range(1 + number % 5):
            number += 1
            name = f"r{base}-{number}"
            batch.append((journal.append(DecidedRecord(inbox="root", id=name, response={"approved": True})), name))
        journal.append(DeliveredRecord(inbox="root", id=batch[0][1]))
        journal.commit()
        os.write(1, "".join(f"{seq} {name}\\n" for seq, name in batch).encode())
        if sys.argv[2] == "prune" and number % 7 == 0:
            prune_journal(journal, count=len(listing(journal.directory)) - 3)
        journal.append(DeliveredRecord(inbox="root", id=batch[-1][1]))
        journal.commit()
""")


def killed_after(place: Path, lines: int, *, how: str) -> list[tuple[int, str]]:
    """Let a writer acknowledge some lines, kill it where it stands, and give everything it acknowledged."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(place), how], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        heard = b""
        while heard.count(b"\n") < lines:
            piece = os.read(writer.stdout.fileno(), 4096)
            assert piece, "the writer ended by itself"
            heard += piece
        writer.send_signal(signal.SIGKILL)
        while piece := os.read(writer.stdout.fileno(), 4096):
            heard += piece
    return [(int(seq), name) for seq, name in (line.split() for line in heard.decode().splitlines())]


def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    place = tmp_path / "journal"
    chance = random.Random(1)  # noqa: S311 - where to kill, not a secret
    acknowledged: list[tuple[int, str]] = []
    for _ in range(30):
        acknowledged += killed_after(place, chance.randrange(1, 60), how="keep")
        Journal.open(place, clock=lambda: 1).close()
        found = verify_journal(place)
        assert found.findings == []
        lines = [take_apart(raw) for path in listing(place) for raw in path.read_bytes().splitlines()]
        assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
        by_number = {line.seq: line.data.get("id") for line in lines}
        assert [name for _, name in acknowledged] == [by_number[seq] for seq, _ in acknowledged]


def test_a_writer_killed_while_it_prunes_forgets_no_decision(tmp_path: Path) -> None:
    place = tmp_path / "journal"
    chance = random.Random(2)  # noqa: S311
    acknowledged: list[tuple[int, str]] = []
    for _ in range(15):
        acknowledged += killed_after(place, chance.randrange(1, 60), how="prune")
        Journal.open(place, clock=lambda: 1).close()
        assert verify_journal(place).findings == []
        fast, slow = replay_journal(place), replay_journal(place, use_checkpoint=False)
        assert slow.faults == []
        assert fast.state.dump() == slow.state.dump()
        assert fast.state.spent == slow.state.spent
        assert all(slow.state.is_decided("root", name) for _, name in acknowledged)

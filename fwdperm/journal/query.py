"""Reading the journal for people: the last lines, those that match, new ones as they are written.

Lives here: readers that hold one line at a time. They open nothing for writing, and may run beside the daemon.
Never here: which lines match (`filters.py`), how they look in a terminal.

A line that cannot be read is skipped here: finding it is the task of `verify.py`.
"""

from __future__ import annotations

import csv
import json
import os
from typing import TYPE_CHECKING, Final, Literal, TextIO, assert_never

from fwdperm.journal.filters import COLUMNS, Filter, row
from fwdperm.journal.line import NotALine, take_apart
from fwdperm.journal.segments import LINE_BYTES, listing, number_of, open_to_read, raw_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fwdperm.journal.line import JournalLine

EVERYTHING: Final = Filter()
_BLOCK: Final = 1 << 16


def query_journal(directory: Path, wanted: Filter = EVERYTHING) -> Iterator[JournalLine]:
    """Give the lines that match, oldest first.

    Raises:
        OtherVersion: At a line of another major version.
        OSError: When a segment cannot be read; one that is pruned meanwhile is skipped.
    """
    for path in _segments(directory):
        try:
            stream = open_to_read(path)
        except FileNotFoundError:
            continue
        with stream:
            for raw in raw_lines(stream):
                if wanted.may_match(raw) and (line := _line(raw)) is not None and wanted.matches(line):
                    yield line


def tail_journal(directory: Path, n: int, *, wanted: Filter = EVERYTHING) -> list[JournalLine]:
    """Give the last `n` lines that match, oldest first. Reads from the end; raises as `query_journal` does."""
    found: list[JournalLine] = []
    for path in reversed(_segments(directory)):
        for raw in _backwards(path):
            if len(found) >= n:
                return found[::-1]
            if wanted.may_match(raw) and (line := _line(raw)) is not None and wanted.matches(line):
                found.append(line)
    return found[::-1]


def follow_journal(
    directory: Path,
    *,
    after: int,
    pause: Callable[[], None],
    stop: Callable[[], bool],
    wanted: Filter = EVERYTHING,
) -> Iterator[JournalLine]:
    """Give the lines after a number as they come, over rotations.

    Args:
        directory: The journal's; may not exist yet.
        after: The number of the last line already seen; 0 for all.
        pause: Called when nothing new is there.
        stop: Asked before each look; True ends.
        wanted: What must match.

    Yields:
        Lines as they are written. A line may be given shortly before it is durable.
    """
    file, offset = "", 0
    while not stop():
        before = (file, offset)
        for path in _segments(directory):
            if file and number_of(path.name) < number_of(file):
                continue
            if path.name != file:
                file, offset = path.name, 0
            for raw in _from(path, offset):
                offset += len(raw)
                line = _line(raw)
                if line is not None and line.seq > after:
                    after = line.seq
                    if wanted.matches(line):
                        yield line
        if (file, offset) == before:
            pause()


def export_journal(lines: Iterable[JournalLine], out: TextIO, *, form: Literal["csv", "jsonl"]) -> int:
    """Write lines as a table or as JSON lines, and give how many.

    Args:
        lines: What to write.
        out: Where to.
        form: `csv` (the columns of `filters.COLUMNS`) or `jsonl` (everything a line holds).
    """
    count = 0
    match form:
        case "csv":
            table = csv.writer(out)
            table.writerow(COLUMNS)
            for line in lines:
                table.writerow(row(line))
                count += 1
        case "jsonl":
            for line in lines:
                out.write(json.dumps(line.data, sort_keys=True) + "\n")
                count += 1
        case _:
            assert_never(form)
    return count


def _segments(directory: Path) -> list[Path]:
    return listing(directory) if directory.is_dir() else []


def _line(raw: bytes) -> JournalLine | None:
    try:
        return take_apart(raw[:-1]) if raw[-1:] == b"\n" else None
    except NotALine:
        return None


def _from(path: Path, offset: int) -> Iterator[bytes]:
    """Give the whole lines from an offset on; one that is being written is left for the next look."""
    try:
        stream = open_to_read(path)
    except FileNotFoundError:
        return
    with stream:
        stream.seek(offset)
        for raw in raw_lines(stream):
            if raw[-1:] == b"\n":
                yield raw


def _backwards(path: Path) -> Iterator[bytes]:
    """Give a segment's whole lines, last first, each with its newline."""
    try:
        stream = open_to_read(path)
    except FileNotFoundError:
        return
    with stream:
        at = stream.seek(0, os.SEEK_END)
        rest, is_end = b"", True
        while at > 0 and len(rest) <= LINE_BYTES:
            step = min(_BLOCK, at)
            at -= step
            stream.seek(at)
            rest, *whole = (stream.read(step) + rest).split(b"\n")
            if whole and is_end:
                whole.pop()  # what stands after the last newline is not a line yet
                is_end = False
            yield from (body + b"\n" for body in reversed(whole))
        if rest and not is_end:
            yield rest + b"\n"

"""`fwdperm explain --file`: one line out for each line in, whatever the line holds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk

if TYPE_CHECKING:
    from pathlib import Path

ALL = '"rules":[["bash","*","allow"]]'
FIELDS = {"id", "action", "stage", "rule", "units", "guard"}


@pytest.fixture
def bulk(tmp_path: Path) -> Bulk:
    return Bulk(Locations(root=tmp_path / "r", state=tmp_path / "s", config=tmp_path / "c.toml", config_is_named=False))


def answered(bulk: Bulk, line: bytes | str) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = bulk.answer(line.encode() if isinstance(line, str) else line, number=9)
    assert text.endswith("\n")
    assert text.count("\n") == 1
    row: dict[str, Any] = json.loads(text, parse_constant=refuse)
    assert set(row) >= FIELDS
    assert set(row["guard"]) >= {"class", "id", "words"}
    return row


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"not json",
        b"[]",
        b"null",
        b"5",
        b'"x"',
        b"{}",
        b"\xff\xfe\x00bad",
        b'{"surface":"bash","value":"\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"surface":5,"value":"x"}',
        b'{"surface":"bash","value":null}',
        b'{"surface":"bash","values":[]}',
        b'{"surface":"bash","values":"ls"}',
        b'{"surface":"bash","values":[5]}',
        b'{"surface":"bash","value":"ls","cwd":5}',
        b'{"surface":"bash","value":"ls","mode":"bold","rules":[]}',
        b'{"surface":"bash","value":"' + b"a" * 100_000 + b'","rules":[["bash","*","allow"]]}',
        b'{"surface":"bash","value":"ls","rules":5}',
        b'{"surface":"bash","value":"ls","rules":[5]}',
        b'{"surface":"bash","value":"ls","rules":[["bash","*"]]}',
        b'{"surface":"bash","value":"ls","layers":5}',
        b'{"surface":"bash","value":"ls","layers":[[["bash","*","allow"]],5]}',
        b'{"surface":"bash","value":"ls","layers":[[["bash","*","allow"]],{"raw":"]["}]}',
        b'{"surface":"bash","value":"ls","chain":[]}',
        b'{"surface":"bash","value":"ls","chain":[[[["bash","*","allow"]]],[5]]}',
    ],
    ids=range(28),
)
def test_what_cannot_be_used_is_an_ask_that_says_why(bulk: Bulk, line: bytes) -> None:
    row = answered(bulk, line)
    assert (row["action"], bool(row["reason"])) == ("ask", True)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (f'{{"id":"a","surface":"bash","value":"ls",{ALL}}}', "a"),
        (f'{{"id":{{"a":[1]}},"surface":"bash","value":"ls",{ALL}}}', {"a": [1]}),
        (f'{{"id":null,"surface":"bash","value":"ls",{ALL}}}', None),
        (f'{{"id":NaN,"surface":"bash","value":"ls",{ALL}}}', 9),
        (f'{{"id":1e999,"surface":"bash","value":"ls",{ALL}}}', 9),
        (f'{{"surface":"bash","value":"ls",{ALL}}}\r', 9),
        (f'\ufeff{{"id":"b","surface":"bash","values":["ls","ls -l"],{ALL}}}', "b"),
        (f'{{"id":"c","surface":"bash","value":"\\ud800",{ALL}}}', "c"),
        ('{"id":"d","surface":"bash","value":"ls","rules":[["bash","ls","allow","and why"]]}', "d"),
        ('{"id":"e","surface":"bash","value":"ls","layers":[{"scope":"x","rules":[["bash","ls","allow"]]}]}', "e"),
    ],
)
def test_a_line_keeps_its_name(bulk: Bulk, line: str, name: object) -> None:
    row = answered(bulk, line)
    assert (row["id"], row["action"]) == (name, "allow")


def test_an_answer_names_the_rule_the_units_and_the_guard_words(bulk: Bulk) -> None:
    rules = [["bash", "*", "allow"], ["bash", "rm *", "deny"]]
    row = answered(bulk, json.dumps({"id": 1, "surface": "bash", "value": "ls && sudo rm x", "rules": rules}))
    assert (row["action"], row["stage"], row["rule"]["pattern"]) == ("deny", "rule", "rm *")
    assert [(unit["text"], unit["action"]) for unit in row["units"]] == [
        ("ls", "allow"),
        ("sudo rm x", "allow"),
        ("rm x", "deny"),
    ]
    assert (row["guard"]["class"], row["guard"]["words"][0]) == ("dangerous", "sudo")


def test_the_directory_of_a_line_is_its_workspace_and_rules_do_not_leak_into_the_next(bulk: Bulk) -> None:
    read = {"surface": "read", "value": "/ws/a.py", "rules": []}
    here, elsewhere = (answered(bulk, json.dumps({**read, "cwd": cwd})) for cwd in ("/ws", "/other"))
    assert (here["action"], elsewhere["action"]) == ("allow", "ask")
    allowed = answered(bulk, f'{{"surface":"bash","value":"x",{ALL}}}')
    after = answered(bulk, '{"surface":"bash","value":"x"}')
    assert (allowed["action"], after["action"]) == ("allow", "ask")


def test_the_command_answers_standard_input_line_by_line_and_exits_0(tmp_path: Path) -> None:
    lines = f'{{"id":1,"surface":"bash","value":"ls",{ALL}}}\n\nbad\n{{"id":2,"surface":"bash","value":"ls"}}'
    done = subprocess.run(
        [sys.executable, "-m", "fwdperm", "explain", "--json", "--file", "-", "--root", str(tmp_path / "root")],
        input=lines.encode(),
        capture_output=True,
        check=False,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line)["action"] for line in done.stdout.splitlines()] == ["allow", "ask", "ask", "ask"]

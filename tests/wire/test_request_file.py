"""Reading requests: golden files of every generation of the wire, and every way one can be wrong."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import ChildError, FwdpermError
from fwdperm.wire.request import Facts, Suggestion
from fwdperm.wire.request_file import NO_FACTS, PARTIAL, read_request
from fwdperm.wire.strict import strict_loads

GOLDEN = Path(__file__).with_name("golden")


def golden(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_bytes())


def read(body: dict[str, Any]) -> Any:
    return read_request(json.dumps(body).encode(), stem=body["id"], inbox=body["targetSessionId"])


# -- every generation ------------------------------------------------------------------------------------------


def test_a_child_of_20_7_carries_no_facts_and_shows_the_whole_command() -> None:
    request = read(golden("pi-20.7-request"))
    assert (request.facts, request.floor) == (None, NO_FACTS)
    assert request.evidence == ("git push && rm -rf build",)
    assert request.suggestions == (Suggestion("bash", "git push *"),)


def test_a_write_of_20_7_names_no_path_and_so_carries_no_facts() -> None:
    assert read(golden("pi-20.7-write")).facts is None


def test_a_child_of_20_8_carries_facts() -> None:
    request = read(golden("pi-20.8-request"))
    assert request.facts == Facts("read", ("/w/src/a.py", "src/a.py"), cwd="/w", canonical="/w/src/a.py")
    assert request.floor == ""


def test_a_child_of_26_shows_more_than_its_facts_and_floors_to_ask() -> None:
    request = read(golden("pi-26-request"))
    assert request.facts is not None
    assert request.floor
    assert "rm -rf build" in request.facts.value
    assert request.suggestions == (Suggestion("bash", "git push *"),)
    assert request.created_ms == 1790000000003


def test_our_own_fields_are_read() -> None:
    request = read(golden("fwdperm-1-request"))
    assert request.facts == Facts(
        "bash", ("git status",), cwd="/w", home="/home/u", canonical_operands=(("a.py", "/w/a.py"),)
    )
    assert (request.wait_ms, request.turn, request.tool, request.route) == (30_000, "t1", "Bash", ("fix-7",))


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*-request.json")))
def test_unknown_fields_are_ignored(name: str) -> None:
    body = golden(name)
    assert read(body | {"somethingNew": {"deep": [1]}}).facts == read(body).facts


# -- facts that cannot be used ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "intent",
    [
        {},
        {"surface": "bash"},
        {"surface": "bash", "matchValues": []},
        {"surface": "bash", "matchValues": "git status"},
        {"surface": "bash", "matchValues": [1]},
        {"surface": "", "matchValues": ["x"]},
        {"surface": "bash", "matchValues": ["x"], "requesterCwd": 7},
        {"surface": "bash", "matchValues": ["x"] * 100},
        {"surface": "bash", "matchValues": ["x" * 70_000]},
    ],
)
def test_malformed_facts_are_dropped_as_a_whole(intent: dict[str, Any]) -> None:
    request = read(golden("fwdperm-1-request") | {"accessIntent": intent})
    assert request.facts is None
    assert request.floor


def test_a_relative_working_directory_is_no_working_directory() -> None:
    body = golden("fwdperm-1-request")
    body["accessIntent"]["requesterCwd"] = "../somewhere"
    assert read(body).facts.cwd == ""


def test_a_message_that_shows_a_longer_command_floors_to_ask() -> None:
    body = golden("fwdperm-1-request") | {"message": "Run it? (full command: git status; curl x | sh)"}
    request = read(body)
    assert request.floor == PARTIAL
    assert request.evidence == ("git status; curl x | sh",)


# -- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "../x"}, "id"),
        ({"targetSessionId": "other"}, "target"),
        ({"v": 2}, "version"),
        ({"v": True}, "version"),
        ({"v": "1"}, "version"),
        ({"createdAt": True}, "malformed"),
        ({"createdAt": None}, "malformed"),
        ({"requesterSessionId": " "}, "malformed"),
        ({"requesterSessionId": "x" * 300}, "malformed"),
        ({"value": "x" * 70_000}, "too-large"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_code(change: dict[str, Any], code: str) -> None:
    body = golden("fwdperm-1-request") | change
    with pytest.raises(ChildError) as raised:
        read_request(json.dumps(body).encode(), stem="fp-1790000000000-00ff", inbox="build")
    assert raised.value.code == code


@given(data=st.binary(max_size=200))
def test_no_bytes_make_the_reader_fail_otherwise(data: bytes) -> None:
    with contextlib.suppress(FwdpermError):
        read_request(data, stem="a", inbox="root")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(field=st.sampled_from(sorted(golden("fwdperm-1-request"))), value=json_values)
def test_no_value_in_any_field_makes_it_fail_or_gives_facts_it_did_not_have(field: str, value: Any) -> None:
    body = copy.deepcopy(golden("fwdperm-1-request"))
    body[field] = value
    try:
        request = read_request(json.dumps(body).encode(), stem="fp-1790000000000-00ff", inbox="build")
    except FwdpermError:
        return
    assert request.facts is None or field == "accessIntent" or request.facts.value == "git status"


# -- strict JSON against the lenient one -----------------------------------------------------------------------


@given(value=json_values)
def test_plain_json_reads_as_the_standard_reader_reads_it(value: Any) -> None:
    text = json.dumps(value)
    refused = ""
    read = None
    try:
        read = strict_loads(text.encode())
    except ChildError as error:
        refused = error.reason
    assert read == json.loads(text) if not refused else re.search("surrogate|range|Infinity", refused)


@pytest.mark.parametrize("depth", [31, 32, 33, 40])
def test_depth_is_limited_at_32(depth: int) -> None:
    data = b"[" * depth + b"1" + b"]" * depth
    if depth <= 32:
        strict_loads(data)
    else:
        with pytest.raises(ChildError, match="nests deeper"):
            strict_loads(data)

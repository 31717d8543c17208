"""A request as a value: what cannot be built cannot be decided on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fwdperm.wire.request import Facts, Request


def test_a_request_without_facts_and_without_a_floor_cannot_be_built() -> None:
    """It could neither be decided on nor say why a person must look."""
    with pytest.raises(ValueError, match="says why it has none"):
        Request("r", "", "root", "child", "worker", facts=None)
    with pytest.raises(ValueError, match="says why it has none"):
        Request("r", "", "root", "child", "worker", facts=None, floor="")


def test_a_request_says_why_it_goes_to_a_person() -> None:
    """Without facts it must; with facts it may, where they are not the whole of what would run."""
    facts = Facts("bash", ("git status",))
    assert Request("r", "", "root", "child", "worker", facts=None, floor="they are malformed").floor
    assert Request("r", "", "root", "child", "worker", facts=facts).floor == ""
    assert Request("r", "", "root", "child", "worker", facts=facts, floor="only a part is shown").floor


def test_a_request_says_no_time_and_no_turn_where_its_requester_did_not() -> None:
    """0 is *it did not say*; anything else would be taken for a moment and a deadline."""
    bare = Request("r", "", "root", "child", "worker", Facts("bash", ("ls",)))
    assert (bare.created_ms, bare.wait_ms, bare.turn, bare.proof) == (0, 0, "", "")


def test_requests_can_be_members_of_a_set_whatever_the_tool_was_given() -> None:
    request = Request("r", "", "root", "child", "worker", Facts("bash", ("ls",)), tool_input={"command": ["ls"]})
    assert len({request, replace(request)}) == 1

"""Every field of a request: what is kept of it, where it ends, and that nothing that asks for a person is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fwdperm.errors import ChildError
from fwdperm.settings import EVIDENCE_CHARS, LONGEST_WAIT_S, NAME_CHARS, ROUTE_HOPS, VALUE_CHARS, VALUES
from fwdperm.wire.request import Facts, Request, Suggestion
from fwdperm.wire.request_file import CONTRADICTS, NO_FACTS, PARTIAL, read_request

BODY: dict[str, Any] = {
    "id": "r1",
    "createdAt": 1_000,
    "requesterSessionId": "fix-7",
    "targetSessionId": "build",
    "requesterAgentName": "fixer",
}
INTENT: dict[str, Any] = {"surface": "bash", "matchValues": ["git status"], "requesterCwd": "/w", "home": "/home/u"}


def read(**fields: Any) -> Request:
    return read_request(json.dumps(BODY | fields).encode(), stem="r1", inbox="build")


def with_intent(**fields: Any) -> Request:
    return read(accessIntent=INTENT | fields)


def refused(**fields: Any) -> ChildError:
    with pytest.raises(ChildError) as raised:
        read(**fields)
    return raised.value


# -- a floor is never lost ---------------------------------------------------------------------------------------


def test_a_request_that_asks_for_a_person_floors_to_ask_in_its_own_words() -> None:
    request = with_intent(floor="ask")
    assert request.facts is not None
    assert request.floor == 'the requester asks for a person, saying "ask"'
    assert with_intent().floor == ""
    assert with_intent(floor="").floor == ""


@pytest.mark.parametrize(
    "floors", [("ask", None), (None, "ask"), ("ask", "other"), ("", "ask"), (None, "ask", None)], ids=str
)
def test_one_command_of_several_that_asks_for_a_person_floors_the_request(floors: tuple[str | None, ...]) -> None:
    """Whichever it is: the first that says so is quoted."""
    units = [{"command": "git status", "floor": floor} for floor in floors]
    assert with_intent(askingUnits=units).floor == 'the requester asks for a person, saying "ask"'


def test_the_requests_own_floor_goes_before_those_of_its_commands() -> None:
    request = with_intent(floor="mine", askingUnits=[{"command": "git status", "floor": "theirs"}])
    assert request.floor == 'the requester asks for a person, saying "mine"'


def test_a_floor_that_is_no_text_leaves_no_facts_at_all() -> None:
    for fields in ({"floor": 7}, {"askingUnits": [{"command": "git status", "floor": True}]}, {"askingUnits": [{}]}):
        request = with_intent(**fields)
        assert request.facts is None
        assert request.floor.startswith("its facts are malformed: its field ")


def test_the_requesters_words_end_no_quotation_and_are_clipped() -> None:
    said = with_intent(floor='ask" and all is well').floor
    assert said == 'the requester asks for a person, saying "ask\' and all is well"'
    whole, longer = "x" * NAME_CHARS, "x" * (NAME_CHARS + 1)
    assert with_intent(floor=whole).floor.endswith(f'"{whole}"')
    assert with_intent(floor=longer).floor.endswith(f'"{whole}..."')


# -- what would really run ---------------------------------------------------------------------------------------


def test_every_command_that_asks_is_part_of_what_is_decided() -> None:
    """The line grows by each command that it does not show; the other values stay."""
    units = [{"command": "git status"}, {"command": "rm x"}, {"command": "mv y z"}]
    request = with_intent(matchValues=["git status", "second"], askingUnits=units)
    assert request.facts is not None
    assert request.facts.values == ("git status\nrm x\nmv y z", "second")
    assert request.floor == ""


@pytest.mark.parametrize(
    "shown",
    [
        {"message": "Run it? (full command: git status && rm x)"},
        {"message": "(full command: git status && rm x"},
        {"message": "(full command: 'git status && rm x'). Allow this command?"},
        {"message": "(Full Command: 'git status && rm x')"},
        {"message": "( FULL  command : git status && rm x )"},
        {
            "message": "Current agent requested bash command 'git status' (full command: 'git status && rm x'). "
            "Allow this command?"
        },
        {"toolInput": {"command": "git status && rm x"}},
        {"message": "(full command: git status && (rm x))"},
        {"payload": {"request": {"commandContext": "git status && rm x"}}},
        {"payload": {"request": {"executedUnit": "rm x"}}},
        {"payload": {"request": {"value": "rm x"}}},
        {"payload": {"evidence": [{"label": "Full command", "text": "rm x"}]}},
        {"payload": {"evidence": [7, {"label": "why", "text": "no"}, {"label": "COMMAND", "text": "rm x"}]}},
        {"payload": {"request": {"commandContext": "git status"}, "evidence": [{"label": "command", "text": "rm x"}]}},
    ],
)
def test_a_command_that_shows_elsewhere_more_than_its_facts_floors_to_ask(shown: dict[str, Any]) -> None:
    request = read(accessIntent=INTENT, **shown)
    assert request.floor == PARTIAL
    assert request.facts is not None
    assert any("rm x" in text for text in request.evidence)


@pytest.mark.parametrize(
    "shown",
    [
        {"message": "(full command: git status)"},
        {"message": "full command: rm x"},
        {"payload": {"request": {"commandContext": "git status", "value": "", "executedUnit": 7}}},
        {"payload": {"request": "rm x"}},
        {"payload": {"evidence": [{"label": "why", "text": "rm x"}, {"text": "rm x"}, "rm x", {"label": "command"}]}},
        {"payload": {"evidence": {"label": "command", "text": "rm x"}}},
        {"payload": {"evidence": [{"label": "command", "text": ""}, {"label": "command", "text": 7}]}},
        {
            "value": "git",
            "payload": {"request": {"value": "git"}, "evidence": [{"label": "command", "text": "git"}]},
        },
        {"toolInput": {"command": "git status"}},
        {"toolInput": {"command": 7}},
        {"toolInput": {"path": "rm x"}},
        {"message": "Current agent requested bash command 'git status'. Allow this command?"},
        {"payload": {}},
    ],
)
def test_what_shows_nothing_more_than_the_facts_floors_nothing(shown: dict[str, Any]) -> None:
    request = read(accessIntent=INTENT, **shown)
    assert request.floor == ""
    assert "" not in request.evidence


@pytest.mark.parametrize(
    ("intent", "shown"),
    [
        ({}, {"value": "rm x"}),
        ({}, {"message": "Current agent requested bash command 'rm x'. Allow this command?"}),
        ({}, {"message": "Agent requested bash command 'rm x' (full command: 'git status'). Allow this command?"}),
        ({"surface": "Bash"}, {}),
        ({"surface": "bash "}, {}),
        ({"surface": "BASH"}, {}),
        ({"askingUnits": []}, {}),
        ({"askingUnits": [{"command": ""}]}, {}),
        ({"askingUnits": [{"command": "git status"}, {"command": " "}]}, {}),
    ],
)
def test_a_request_that_contradicts_itself_is_for_a_person(intent: dict[str, Any], shown: dict[str, Any]) -> None:
    """What it names in one place and not in another may be either: neither rule, session rule nor judge believes it."""
    request = read(accessIntent=INTENT | intent, **shown)
    assert request.floor == CONTRADICTS


def test_of_anything_but_a_command_line_a_longer_text_is_evidence_and_no_floor() -> None:
    request = read(
        accessIntent={"surface": "read", "matchValues": ["a.py"]}, payload={"request": {"value": "the file a.py"}}
    )
    assert (request.floor, request.evidence) == ("", ("the file a.py",))


def test_evidence_is_kept_in_order_each_text_once() -> None:
    request = read(
        message="(full command: a (b) c) and so on",
        payload={
            "request": {"commandContext": "second", "executedUnit": "second", "value": "third"},
            "evidence": [{"label": "a command", "text": "fourth"}, {"label": "command", "text": "third"}],
        },
    )
    assert request.evidence == ("a (b) c", "second", "third", "fourth")


def test_evidence_is_clipped_one_by_one_and_refused_where_it_is_too_much_in_all() -> None:
    long = "x" * (VALUE_CHARS + 5)
    clipped = read(payload={"request": {"value": long}, "evidence": [{"label": "command", "text": "y" + long}]})
    assert [len(text) for text in clipped.evidence] == [VALUE_CHARS, VALUE_CHARS]
    assert sum(map(len, clipped.evidence)) == EVIDENCE_CHARS
    error = refused(message="(full command: z)", payload={"request": {"value": long, "executedUnit": "y" + long}})
    assert error.code == "too-large"


# -- facts -------------------------------------------------------------------------------------------------------


def test_facts_are_carried_as_they_were_written() -> None:
    request = with_intent(boundaryValue="/real", operands={"a": "/x/a", "b": "/x/b"}, foldsCase=True)
    assert request.facts == Facts(
        "bash",
        ("git status",),
        cwd="/w",
        home="/home/u",
        canonical="/real",
        canonical_operands=(("a", "/x/a"), ("b", "/x/b")),
        folds_case=True,
    )
    assert (request.surface, request.value) == ("bash", "git status")


def test_what_is_displayed_is_the_requests_own_where_it_says_so_and_empty_where_nobody_does() -> None:
    shown = read(accessIntent=INTENT, surface="Bash", value="git st")
    assert (shown.surface, shown.value) == ("Bash", "git st")
    bare = read()
    assert (bare.surface, bare.value, bare.facts, bare.floor) == ("", "", None, NO_FACTS)


@pytest.mark.parametrize("field", ["requesterCwd", "home", "boundaryValue"])
def test_a_path_is_kept_only_when_it_is_absolute_and_not_too_long(field: str) -> None:
    """A relative one would be resolved against somebody else's directory."""
    kept = {"requesterCwd": "cwd", "home": "home", "boundaryValue": "canonical"}[field]
    fits, longer = "/" + "x" * (VALUE_CHARS - 1), "/" + "x" * VALUE_CHARS
    for given, expected in (("/a", "/a"), ("a", ""), ("", ""), (None, ""), ("~/a", ""), (fits, fits), (longer, "")):
        assert getattr(with_intent(**{field: given}).facts, kept) == expected


def test_facts_hold_as_many_and_as_long_values_as_the_wire_allows_and_no_more() -> None:
    fits = "x" * VALUE_CHARS
    most = with_intent(matchValues=[fits, *["y"] * (VALUES - 1)])
    assert most.facts is not None
    assert len(most.facts.values) == VALUES
    for values in (["x", fits + "x"], ["y"] * (VALUES + 1), []):
        request = with_intent(matchValues=values)
        assert request.facts is None
        assert request.floor.startswith("its facts ")
    assert with_intent(surface="s" * NAME_CHARS).facts is not None
    assert with_intent(surface="s", matchValues=["v"]).facts is not None
    assert with_intent(surface="s" * (NAME_CHARS + 1)).facts is None
    assert with_intent(askingUnits=[{"command": fits}]).facts is not None
    assert with_intent(askingUnits=[{"command": fits + "x"}]).facts is None
    many = with_intent(operands={str(at): "/x" for at in range(VALUES + 9)}).facts
    assert many is not None
    assert len(many.canonical_operands) == VALUES


def test_malformed_facts_are_named_by_their_field() -> None:
    wrong = "its field 'matchValues.0': input should be a valid string"
    assert with_intent(matchValues=[7]).floor == f"its facts are malformed: {wrong}"
    assert str(refused(requesterAgentName=7)) == "its field 'requesterAgentName': input should be a valid string"


# -- what ties it to its place -----------------------------------------------------------------------------------


def test_a_request_is_known_by_its_name_its_inbox_and_the_digest_of_its_bytes() -> None:
    data = json.dumps(BODY).encode()
    request = read_request(data, stem="r1", inbox="build")
    assert request.key == ("build", "r1")
    assert request.digest == read_request(data, stem="r1", inbox="build").digest
    assert request.digest != read_request(data + b" ", stem="r1", inbox="build").digest
    assert (request.session, request.agent, request.source) == ("fix-7", "fixer", "tool_call")


@pytest.mark.parametrize("stem", ["r2", ".hidden", "a/b", ""])
def test_a_name_that_is_not_the_files_or_no_id_is_refused(stem: str) -> None:
    for name in ("r1", stem):
        if name == stem == "r2":
            continue
        with pytest.raises(ChildError) as raised:
            read_request(json.dumps(BODY | {"id": name}).encode(), stem=stem, inbox="build")
        assert raised.value.code == "id"


def test_blanks_around_the_target_do_not_make_it_another_inbox() -> None:
    data = json.dumps(BODY | {"targetSessionId": " build "}).encode()
    assert read_request(data, stem="r1", inbox="build").inbox == "build"
    assert read_request(data, stem="r1", inbox=" build").inbox == " build"
    with pytest.raises(ChildError, match="addressed to"):
        read_request(data, stem="r1", inbox="buil")


@pytest.mark.parametrize("field", ["requesterSessionId", "requesterAgentName"])
def test_names_end_where_the_wire_says(field: str) -> None:
    assert read(**{field: "x" * NAME_CHARS})
    assert "longer than" in str(refused(**{field: "x" * (NAME_CHARS + 1)}))


def test_a_value_ends_where_the_wire_says() -> None:
    assert len(read(value="x" * VALUE_CHARS).value) == VALUE_CHARS
    assert refused(value="x" * (VALUE_CHARS + 1)).code == "too-large"


@pytest.mark.parametrize("version", [2, 0, True, False, "1", 1.5, [1]])
def test_any_version_but_the_first_is_refused(version: object) -> None:
    assert refused(v=version).code == "version"


@pytest.mark.parametrize("version", [1, None])
def test_the_first_version_is_read_and_so_is_what_names_none(version: int | None) -> None:
    assert read(v=version).id == "r1"


@pytest.mark.parametrize("data", [b"[]", b"7", b'"r1"', b"null"])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ChildError, match="not a JSON object"):
        read_request(data, stem="r1", inbox="build")


# -- claims ------------------------------------------------------------------------------------------------------


def test_claims_are_clipped_to_what_a_person_can_read() -> None:
    long = "x" * (VALUE_CHARS + 9)
    request = read(message=long, source=long, turnId=long, toolName=long, route=["s"] * (ROUTE_HOPS + 9))
    assert len(request.message) == VALUE_CHARS
    assert [len(text) for text in (request.source, request.turn, request.tool)] == [NAME_CHARS] * 3
    assert len(request.route) == ROUTE_HOPS


def test_claims_are_carried_as_they_were_made() -> None:
    request = read(
        message="m", source="skill_read", turnId="t1", toolName="Bash", toolInput={"a": 1}, proof="p", route=["a", "b"]
    )
    assert (request.message, request.source, request.turn, request.tool) == ("m", "skill_read", "t1", "Bash")
    assert (request.tool_input, request.proof, request.route) == ({"a": 1}, "p", ("a", "b"))
    bare = read()
    assert (bare.message, bare.turn, bare.tool, bare.tool_input, bare.proof, bare.route) == ("", "", "", {}, "", ())


@pytest.mark.parametrize(
    ("made", "kept"),
    [(-1, 0), (0, 0), (1, 1), (7.9, 7), ((1 << 50) + 1, 1 << 50), (1 << 50, 1 << 50), (1e300, 1 << 50)],
)
def test_a_time_that_cannot_be_is_brought_to_the_nearest_that_can(made: float, kept: int) -> None:
    assert read(createdAt=made).created_ms == kept


@pytest.mark.parametrize(
    ("deadline", "wait"),
    [(None, 0), (1_000, 1), (999, 1), (1_001, 1), (1_002, 2), (31_000, 30_000), (1e300, int(LONGEST_WAIT_S * 1000))],
)
def test_how_long_a_requester_waits_counts_from_its_own_clock(deadline: float | None, wait: int) -> None:
    assert read(deadlineMs=deadline).wait_ms == wait


@pytest.mark.parametrize(
    ("approval", "expected"),
    [
        (None, ()),
        ({}, ()),
        ({"grants": [{"surface": "bash", "pattern": "a *"}]}, (Suggestion("bash", "a *"),)),
        ({"grants": [], "surface": "bash", "patterns": ["a *"]}, ()),
        ({"surface": "bash", "patterns": ["a *", "b"]}, (Suggestion("bash", "a *"), Suggestion("bash", "b"))),
        ({"patterns": ["a *"]}, (Suggestion("", "a *"),)),
        ({"grants": [{"surface": "bash"}]}, ()),
        ({"patterns": [7]}, ()),
    ],
)
def test_suggestions_are_read_in_both_shapes_and_malformed_ones_suggest_nothing(
    approval: dict[str, Any] | None, expected: tuple[Suggestion, ...]
) -> None:
    assert read(sessionApproval=approval).suggestions == expected


def test_no_more_suggestions_are_read_than_values() -> None:
    many = [{"surface": "bash", "pattern": str(at)} for at in range(VALUES + 9)]
    assert len(read(sessionApproval={"grants": many}).suggestions) == VALUES
    assert len(read(sessionApproval={"patterns": [one["pattern"] for one in many]}).suggestions) == VALUES


def test_the_claimed_chain_is_read_as_far_as_it_is_well_formed() -> None:
    """A name that cannot be used is left out; a session that cannot be ends the chain."""
    long = "x" * (NAME_CHARS + 1)
    for broken in ("build", {}, {"sessionId": 7}, {"sessionId": " "}, {"sessionId": long}, None):
        chain = [{"sessionId": "build", "agentName": "b"}, broken, {"sessionId": "root"}]
        assert read(ancestors=chain).ancestors == (("build", "b"),)
    named = [{"sessionId": "a"}, {"sessionId": "b", "agentName": 7}, {"sessionId": "c", "agentName": long}]
    assert read(ancestors=named).ancestors == (("a", ""), ("b", ""), ("c", ""))
    most = [{"sessionId": "x" * NAME_CHARS, "agentName": "y" * NAME_CHARS}] * (ROUTE_HOPS + 9)
    assert read(ancestors=most).ancestors == (("x" * NAME_CHARS, "y" * NAME_CHARS),) * ROUTE_HOPS
    assert read(ancestors=None).ancestors == ()


@pytest.mark.parametrize(
    ("change", "quoted"),
    [({"v": "9" * 500}, "9" * 20), ({"id": "i" * 500}, "i" * 80), ({"targetSessionId": "t" * 500}, "t" * 80)],
)
def test_what_a_refusal_quotes_is_clipped(change: dict[str, Any], quoted: str) -> None:
    assert f"'{quoted}'" in str(refused(**change))

"""The door of the guard: which look each surface gets, and what a unit's class does to the whole."""

from __future__ import annotations

import pytest
from guard_cases import AROUND, HOME, facts_of

from fwdperm.guard.assessment import assess, assess_unit
from fwdperm.guard.catastrophe import FOR_A_PERSON, measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.command_web import MOST_COMMANDS
from fwdperm.guard.places import LONGEST_PATH
from fwdperm.rules.unit import Unit
from fwdperm.shell.parsing import parse_line
from fwdperm.units.breakdown import Breakdown, break_down

KEY = f"{HOME}/.ssh/id_rsa"
DEVICE = "/dev/sda"


def ids(surface: str, value: str) -> tuple[str, str]:
    """Say what a request and its one unit come to."""
    facts = facts_of(surface, value)
    whole, (unit,) = assess(facts, Breakdown((Unit(surface, (value,)),)), AROUND)
    return whole.id, unit.id


# -- one look for every surface ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("surface", "value", "danger"),
    [
        ("read", "src/a.py", Danger.READ_ONLY),
        ("grep", KEY, Danger.DANGEROUS),
        ("write", "src/a.py", Danger.ROUTINE),
        ("edit", DEVICE, Danger.CRITICAL),
        ("delete", "src/a.py", Danger.DANGEROUS),
        ("rm", DEVICE, Danger.CRITICAL),
        ("external_directory", "/srv/x", Danger.RULED),
        ("external", HOME, Danger.DANGEROUS),
        ("web", "https://docs.example.test/", Danger.RULED),
        ("websearch", "how to sort", Danger.RULED),
        ("agent", "look at the tests", Danger.RULED),
        ("skill", "deploy", Danger.DANGEROUS),
        ("skill", "format", Danger.RULED),
        ("mcp", "github:delete_repository", Danger.DANGEROUS),
        ("some_tool", "anything", Danger.RULED),
        ("bash", "rm -rf /", Danger.CRITICAL),
        ("bash", "git status", Danger.ROUTINE),
    ],
)
def test_every_surface_gets_the_look_that_is_meant_for_it(surface: str, value: str, danger: Danger) -> None:
    facts = facts_of(surface, value)
    whole, (unit,) = assess(facts, Breakdown((Unit(surface, (value,)),)), AROUND)
    assert (whole.danger, unit.danger) == (danger, danger)


@pytest.mark.parametrize(
    "surface", ["bash", "read", "write", "delete", "web", "skill", "agent", "mcp", "x", "external"]
)
@pytest.mark.parametrize("value", ["", " ", "\n\t"])
def test_nothing_is_for_a_person_whatever_the_surface(surface: str, value: str) -> None:
    assert ids(surface, value) == ("dangerous.empty", "dangerous.empty")


@pytest.mark.parametrize("surface", ["read", "write", "delete"])
def test_a_path_longer_than_any_system_opens_is_for_a_person(surface: str) -> None:
    fits, longer = "a" * LONGEST_PATH, "a" * (LONGEST_PATH + 1)
    assert "dangerous.long-path" not in ids(surface, fits)
    assert ids(surface, longer) == ("dangerous.long-path", "dangerous.long-path")


def test_a_long_text_that_is_no_path_is_not_taken_for_one() -> None:
    assert ids("agent", "word " * LONGEST_PATH) == ("ruled.agent", "ruled.agent")


def test_a_removal_says_so_unless_what_is_removed_says_more() -> None:
    assert ids("delete", "src/a.py") == ("dangerous.remove", "dangerous.remove")
    assert "dangerous.remove" not in ids("delete", KEY)
    assert ids("write", "Makefile") == ("ruled.write", "ruled.write")
    assert ids("delete", "Makefile") == ("dangerous.remove", "dangerous.remove")


def test_a_tool_is_judged_by_its_own_name_and_one_of_a_server_by_what_it_is_called_with() -> None:
    assert ids("send_email", "hello") == ids("mcp", "send_email") == ("dangerous.tool-sends", "dangerous.tool-sends")
    assert ids("mcp", "hello") == ("ruled.tool", "ruled.tool")


def test_a_question_to_a_search_engine_is_told_as_one() -> None:
    assert ids("websearch", "how to sort") == ("ruled.web-search", "ruled.web-search")


def test_what_has_no_surface_is_dangerous_in_every_unit() -> None:
    units = (Unit("", ("x",)), Unit("read", ("src/a.py",)))
    whole, each = assess(facts_of("", "x"), Breakdown(units), AROUND)
    assert [one.id for one in (whole, *each)] == ["dangerous.no-surface"] * 3


# -- units and the whole -----------------------------------------------------------------------------------------


def test_an_operand_is_classed_and_does_not_worsen_the_whole() -> None:
    """The command it belongs to has been looked at with it."""
    operand = Unit("path_read", (KEY,), auxiliary=True)
    whole, each = assess(facts_of("read", "src/a.py"), Breakdown((Unit("read", ("src/a.py",)), operand)), AROUND)
    assert (whole.danger, each[1].danger) == (Danger.READ_ONLY, Danger.DANGEROUS)
    line = parse_line("git status")
    command = Unit("bash", ("git status",), command=0)
    whole, each = assess(facts_of("bash", "git status"), Breakdown((command, operand), line), AROUND)
    assert (whole.danger, each[1].danger) == (Danger.ROUTINE, Danger.DANGEROUS)


def test_a_unit_of_its_own_worsens_the_whole() -> None:
    units = (Unit("read", ("src/a.py",)), Unit("write", (DEVICE,)), Unit("read", ("src/b.py",)))
    assert assess(facts_of("read", "src/a.py"), Breakdown(units), AROUND)[0].danger is Danger.CRITICAL
    line = parse_line("git status")
    units = (Unit("bash", ("git status",), command=0), Unit("write", (DEVICE,), stands="redirect"))
    assert assess(facts_of("bash", "git status"), Breakdown(units, line), AROUND)[0].danger is Danger.CRITICAL


def test_a_value_that_is_no_unit_counts_for_the_whole() -> None:
    whole, each = assess(facts_of("read", "src/a.py", KEY), Breakdown((Unit("read", ("src/a.py",)),)), AROUND)
    assert (whole.danger, each[0].danger) == (Danger.DANGEROUS, Danger.READ_ONLY)


def test_of_what_is_equally_bad_the_first_is_named() -> None:
    units = (Unit("skill", ("deploy",)), Unit("delete", ("src/a.py",)))
    assert assess(facts_of("skill", "deploy"), Breakdown(units), AROUND)[0].words == ("deploy",)


@pytest.mark.parametrize("auxiliary", [False, True])
def test_an_operand_that_is_a_catastrophe_is_for_a_person_and_a_unit_of_its_own_for_nobody(auxiliary: bool) -> None:
    found = assess_unit(Unit("write", (DEVICE,), auxiliary=auxiliary), facts_of("write", DEVICE), AROUND)
    bare = found.id.partition(".")[2]
    assert (found.danger, found.id) == (
        (Danger.DANGEROUS, f"dangerous.{bare}") if auxiliary else (Danger.CRITICAL, f"critical.{bare}")
    )
    assert found.reason
    assert found.words


@pytest.mark.parametrize(
    ("auxiliary", "remote", "expected"),
    [
        (False, False, Danger.CRITICAL),
        (False, True, Danger.CRITICAL),
        (True, True, Danger.CRITICAL),
        (True, False, Danger.DANGEROUS),
    ],
)
def test_a_catastrophe_on_another_machine_is_one_though_no_rule_speaks_of_it(
    auxiliary: bool, remote: bool, expected: Danger
) -> None:
    unit = Unit("bash", ("rm -rf /",), auxiliary=auxiliary, remote=remote)
    facts = facts_of("bash", "ssh h 'rm -rf /'")
    assert assess(facts, Breakdown((unit,), parse_line("git status")), AROUND)[1][0].danger is expected


def test_what_cannot_be_known_is_dangerous_and_a_catastrophe_stays_one() -> None:
    line = parse_line("git status; rm -rf /")
    mild = Unit("bash", ("git status",), opaque="not known", command=0)
    worse = Unit("bash", ("rm -rf /",), opaque="not known", command=1)
    _, each = assess(facts_of("bash", "git status; rm -rf /"), Breakdown((mild, worse), line), AROUND)
    assert each[0] == Assessment(Danger.DANGEROUS, "dangerous.opaque", "not known", ("git status",))
    assert each[1].danger is Danger.CRITICAL
    ruled = Unit("bash", ("make package", "package"), opaque="not known")
    _, each = assess(facts_of("bash", "x"), Breakdown((ruled,), line), AROUND)
    assert each[0] == Assessment(Danger.DANGEROUS, "dangerous.opaque", "not known", ("make package",))


# -- which look a command's unit gets ----------------------------------------------------------------------------


def test_a_command_has_the_class_of_its_place_in_the_line() -> None:
    for text, classes in (
        ("git status; rm -rf /", (Danger.ROUTINE, Danger.CRITICAL)),
        ("rm -rf /; git status", (Danger.CRITICAL, Danger.ROUTINE)),
    ):
        line, facts = parse_line(text), facts_of("bash", text)
        for at, danger in enumerate(classes):
            unit = Unit("bash", ("git status",), command=at)
            assert assess(facts, Breakdown((unit,), line), AROUND)[1][0].danger is danger
            assert assess_unit(unit, facts, AROUND, line).danger is danger


@pytest.mark.parametrize("command", [-1, 2, 99])
def test_a_unit_that_is_no_command_of_the_line_is_looked_at_by_its_text(command: int) -> None:
    text = "git status; rm -rf /"
    line, facts = parse_line(text), facts_of("bash", text)
    for spellings, danger in (
        (("git status",), Danger.ROUTINE),
        (("sudo x",), Danger.DANGEROUS),
        ((text,), Danger.CRITICAL),
        ((), Danger.CRITICAL),
    ):
        unit = Unit("bash", spellings, command=command)
        assert assess(facts, Breakdown((unit,), line), AROUND)[1][0].danger is danger
    assert assess_unit(Unit("bash", ("git status",), command=command), facts, AROUND, line).danger is Danger.ROUTINE
    assert assess_unit(Unit("bash", (), command=command), facts, AROUND, line).id == "dangerous.empty"


def test_a_unit_without_a_name_is_for_a_person() -> None:
    for surface in ("read", "write", "web", "external", "x"):
        assert assess_unit(Unit(surface, ()), facts_of(surface, "src/a.py"), AROUND).id == "dangerous.empty"


@pytest.mark.parametrize("surface", ["read", "write", "external", "external_directory"])
def test_every_name_of_a_path_is_looked_at(surface: str) -> None:
    unit = Unit(surface, ("src/a.py", KEY))
    found = assess_unit(unit, facts_of(surface, "src/a.py"), AROUND)
    assert found == assess_unit(Unit(surface, (KEY,)), facts_of(surface, KEY), AROUND)
    assert found.danger is Danger.DANGEROUS


def test_of_anything_else_the_name_that_is_shown_is_looked_at() -> None:
    assert assess_unit(Unit("skill", ("format", "deploy")), facts_of("skill", "format"), AROUND).danger is Danger.RULED


def test_where_a_link_leads_counts_for_the_surface_that_was_asked_for_and_no_other() -> None:
    facts = facts_of("read", "docs/a.md", canonical=KEY)
    assert assess_unit(Unit("read", ("docs/a.md",)), facts, AROUND).danger is Danger.DANGEROUS
    assert assess_unit(Unit("path_read", ("docs/a.md",)), facts, AROUND).danger is Danger.READ_ONLY
    assert assess(facts, Breakdown((Unit("path_read", ("docs/a.md",)),)), AROUND)[0].danger is Danger.DANGEROUS


def test_where_a_link_leads_counts_for_what_is_left_by_it_and_what_is_removed() -> None:
    for surface in ("write", "delete", "external_directory"):
        mild = facts_of(surface, "/srv/x", canonical="/srv/y")
        worse = facts_of(surface, "/srv/x", canonical=f"{HOME}/.ssh")
        unit = Unit(surface, ("/srv/x",))
        assert assess_unit(unit, worse, AROUND).id != assess_unit(unit, mild, AROUND).id
        assert assess(worse, Breakdown((unit,)), AROUND)[0].danger is Danger.DANGEROUS


def test_operands_of_a_line_that_is_too_long_are_not_looked_at_one_by_one() -> None:
    """A person looks at it anyway: they count as the line does."""
    text = "; ".join(["cat docs/a.md"] * (MOST_COMMANDS + 1))
    facts = facts_of("bash", text)
    parts = break_down(facts)
    whole, each = assess(facts, parts, AROUND)
    assert whole.id == "dangerous.many"
    assert {one.id for unit, one in zip(parts.units, each, strict=True) if unit.auxiliary} == {"dangerous.many"}
    shorter = facts_of("bash", "; ".join(["cat docs/a.md"] * MOST_COMMANDS))
    parts = break_down(shorter)
    whole, each = assess(shorter, parts, AROUND)
    looked_at = {one.id for unit, one in zip(parts.units, each, strict=True) if unit.auxiliary}
    assert looked_at.isdisjoint({whole.id, "dangerous.many"})


# -- what nobody may allow ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*sorted(FOR_A_PERSON), "wipe"])
def test_only_what_is_on_the_list_is_taken_from_nobody_and_given_to_a_person(name: str) -> None:
    found = Assessment(Danger.CRITICAL, f"critical.{name}", "why", ("word",))
    expected = Assessment(Danger.DANGEROUS, f"dangerous.{name}", "why", ("word",)) if name != "wipe" else found
    assert measured(found) == expected
    milder = Assessment(Danger.RULED, f"ruled.{name}", "why")
    assert measured(milder) == milder

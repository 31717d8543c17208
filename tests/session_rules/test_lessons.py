"""What an *always* would teach: where it hangs, what it holds, and every reason why it is not taken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.decision.context import DecisionContext, NothingTaught, RuleAnswer
from fwdperm.decision.order import AskHuman, begin
from fwdperm.guard.surroundings import Surroundings
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import LayerKind
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.toml_file import read_layer
from fwdperm.session_rules.proposal import Objection, Proposal, anchor_for, matching_patterns, proposal_of
from fwdperm.session_rules.values import Anchor
from fwdperm.session_rules.view import ChainStep
from fwdperm.wire.decision import RuleRef
from fwdperm.wire.prompt import Reply, ReplyKind, Scope
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from fwdperm.rules.unit import Unit

CHAIN = (
    ChainStep("fix-7", "build", 7),
    ChainStep("build", "root", 5, is_fact=True),
    ChainStep("root", "", 3, is_fact=True),
    ChainStep("claimed", "", 0),
)


class Known(NothingTaught):
    """One text that is granted already, and perhaps a refusal."""

    def __init__(self, text: str = "", *, refused: bool = False) -> None:
        self._text, self._refused = text, refused

    def grant(self, request: Request, unit: Unit) -> RuleAnswer | None:  # noqa: ARG002
        return (
            RuleAnswer(RuleRef("bash", "x", "allow", "", "session", "g1")) if unit.spellings[0] == self._text else None
        )

    def refusal(self, request: Request) -> RuleAnswer | None:  # noqa: ARG002
        return RuleAnswer(RuleRef("bash", "x", "deny", "", "session", "x1"), "not so") if self._refused else None


def context(text: str = "", *, taught: NothingTaught | None = None) -> DecisionContext:
    layer = read_layer(text, file="rules.toml", kind=LayerKind.USER)
    ruleset = Ruleset.compose([layer], home="/home/u", mode=Mode.JUDGE)
    return DecisionContext((ruleset,), Surroundings(workspaces=("/w",), home="/home/u"), taught or NothingTaught())


def question(value: str, where: DecisionContext) -> AskHuman:
    facts = Facts("bash", (value,), cwd="/w", home="/home/u")
    step = begin(Request("r1", "d", "build", "fix-7", "a", facts), where)
    assert isinstance(step, AskHuman)
    return step


def proposal(
    value: str = "make a", *, where: DecisionContext | None = None, asked: AskHuman | None = None, **more: Any
) -> Any:
    held = where or context()
    given = {"reply": ReplyKind.ALWAYS} | {k: v for k, v in more.items() if k in Reply.model_fields}
    return proposal_of(
        asked or question(value, held),
        Reply(**given),
        context=held,
        chain=more.get("chain", CHAIN),
        suggestions=more.get("suggestions", [("bash", "make *")]),
        now_ms=1_000,
        may_stand=more.get("may_stand", lambda _: True),
    )


def words(objection: Any) -> str:
    assert isinstance(objection, Objection), objection
    return objection.words


# -- what is taught ----------------------------------------------------------------------------------------------


def test_an_always_teaches_what_was_suggested_at_the_requester_for_the_sessions_life() -> None:
    assert proposal() == Proposal((("bash", "make *"),), Anchor("requester", "fix-7", "build", 7), ("bash",), 7, 0)


def test_an_always_with_a_time_ends_with_it() -> None:
    assert proposal(expires_in_ms=5_000).expires_at == 6_000


@pytest.mark.parametrize("reply", [ReplyKind.ONCE, ReplyKind.REJECT])
def test_any_other_answer_teaches_no_grant_and_is_never_objected_to(reply: ReplyKind) -> None:
    dangerous = question("sudo make", context())
    assert proposal(asked=dangerous, reply=reply) == Proposal(surfaces=("bash",), run=7)
    assert proposal(reply=reply, chain=()) == Proposal(surfaces=("bash",), run=0)


def test_the_project_takes_a_grant_that_hangs_on_nobody() -> None:
    found = proposal(scope=Scope.PROJECT, expires_in_ms=1)
    assert (found.anchor, found.for_project, found.expires_at) == (None, True, 1_001)
    assert proposal().for_project is False
    assert "no session" in words(proposal(scope=Scope.PROJECT, session="build"))


def test_only_suggestions_that_cover_something_open_are_recorded_each_once() -> None:
    suggested = [("bash", "make *"), ("bash", "npm *"), ("bash", "make *"), ("write", "*"), ("bash", "make a")]
    assert proposal(suggestions=suggested).grants == (("bash", "make *"), ("bash", "make a"))


def test_named_patterns_are_recorded_for_the_surfaces_of_what_they_cover() -> None:
    found = proposal("make a && make b", patterns=("make a", "make *", "make a"), suggestions=[])
    assert found.grants == (("bash", "make a"), ("bash", "make *"))


def test_what_is_granted_already_need_not_be_granted_again() -> None:
    known = context(taught=Known("npm t"))
    found = proposal("npm t && make a", where=known, patterns=("make a",))
    assert found.grants == (("bash", "make a"),)


# -- where it hangs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "session", "expected"),
    [
        (Scope.REQUESTER, "", Anchor("requester", "fix-7", "build", 7)),
        (Scope.SUBTREE, "", Anchor("subtree", "build", "", 5)),
        (Scope.TREE, "", Anchor("tree", "root", "", 3)),
        (Scope.REQUESTER, "root", Anchor("subtree", "root", "", 3)),
        (Scope.TREE, "build", Anchor("subtree", "build", "", 5)),
    ],
)
def test_a_grant_hangs_on_the_session_that_was_chosen_in_its_very_run(
    scope: Scope, session: str, expected: Anchor
) -> None:
    assert anchor_for(scope, CHAIN, session=session, inbox="build") == expected
    assert proposal(scope=scope, session=session or None).anchor == expected


@pytest.mark.parametrize("session", ["fix-7", "claimed", "stranger"])
def test_a_session_that_is_no_fact_above_the_requester_takes_no_grant(session: str) -> None:
    said = words(anchor_for(Scope.REQUESTER, CHAIN, session=session, inbox="build"))
    assert said == f"`{session}` is not an ancestor of the requester; there are `build`, `root`"
    assert words(proposal(session=session)) == said
    alone = words(anchor_for(Scope.REQUESTER, CHAIN[:1], session=session))
    assert alone.endswith("there are none")


@pytest.mark.parametrize("scope", [Scope.SUBTREE, Scope.TREE])
def test_without_a_parent_on_record_there_is_nothing_wider_to_hang_it_on(scope: Scope) -> None:
    for chain in (CHAIN[:1], (CHAIN[0], replace(CHAIN[1], is_fact=False), CHAIN[2])):
        assert words(anchor_for(scope, chain, inbox="build")) == "the requester has no parent on record"


def test_a_session_of_the_requesters_own_name_above_it_is_the_one_above() -> None:
    chain = (ChainStep("a", "a", 9), ChainStep("a", "", 4, is_fact=True))
    assert anchor_for(Scope.SUBTREE, chain, inbox="a") == Anchor("subtree", "a", "", 4)


def test_a_project_grant_hangs_on_no_session() -> None:
    assert "no session" in words(anchor_for(Scope.PROJECT, CHAIN))


# -- what is not taken -------------------------------------------------------------------------------------------


def test_what_no_grant_could_answer_takes_no_always() -> None:
    human = context('[rules.bash]\n"make *" = { action = "ask", only = "human" }\n')
    for asked in (question("sudo make", context()), question("make a", human), question("$X", context())):
        assert "`always` is not taken here" in words(proposal(asked=asked, patterns=("*",)))


def test_without_a_suggestion_or_with_useless_ones_a_pattern_must_be_named() -> None:
    assert "nothing is suggested" in words(proposal(suggestions=[]))
    assert "no suggested pattern covers" in words(proposal(suggestions=[("bash", "npm *"), ("bash", "x")]))
    assert "no suggested pattern covers" in words(proposal(suggestions=[("write", "make *")]))


def test_a_pattern_that_does_not_match_is_refused_and_the_others_with_it() -> None:
    assert "pattern `npm *` does not match" in words(proposal(patterns=("make *", "npm *")))
    assert "pattern `npm *` does not match" in words(proposal(patterns=("npm *", "make *")))


def test_a_pattern_that_may_not_be_written_down_is_refused_wherever_it_stands() -> None:
    for patterns in (("make a", "make *"), ("make *", "make a")):
        said = words(proposal(patterns=patterns, may_stand=lambda pattern: pattern != "make a"))
        assert "looks like a secret" in said


def test_what_would_leave_a_part_open_is_refused_and_names_the_part() -> None:
    assert "`bash make b`" in words(proposal("make a && make b", patterns=("make a",)))
    assert "`bash make a`" in words(proposal("make a && make b", patterns=("make b",)))


def test_a_rule_that_denies_or_refuses_by_now_leaves_nothing_to_teach() -> None:
    asked = question("make a", context())
    for now in (context('[rules.bash]\n"make *" = "deny"\n'), context(taught=Known(refused=True))):
        assert "would still leave" in words(proposal(asked=asked, where=now, patterns=("make *",)))


def test_a_rule_that_keeps_it_for_a_person_by_now_leaves_nothing_to_teach() -> None:
    asked = question("make a", context())
    now = context('[rules.bash]\n"make *" = { action = "ask", only = "human" }\n')
    assert "is for a person alone" in words(proposal(asked=asked, where=now, patterns=("make *",)))


# -- which units a pattern covers --------------------------------------------------------------------------------


def test_a_pattern_covers_open_units_that_a_grant_may_cover_and_no_others() -> None:
    allowed = context('[rules.bash]\n"ls *" = "allow"\n')
    evaluation = question("ls && make a && sudo id && $X y", allowed).evaluation
    assert matching_patterns(evaluation, "make *") == ("bash",)
    for pattern in ("ls", "sudo *", "$X *", "npm *"):
        assert matching_patterns(evaluation, pattern) == ()
    assert matching_patterns(evaluation, "*") == ("bash",)
    assert matching_patterns(question("sudo make", context()).evaluation, "sudo *") == ()


def test_a_star_that_was_escaped_covers_a_star_alone() -> None:
    evaluation = question("make 'a*'", context()).evaluation
    assert matching_patterns(evaluation, r"make 'a\*'") == ("bash",)
    assert matching_patterns(question("make 'ab'", context()).evaluation, r"make 'a\*'") == ()

"""The order over findings of every kind, against its description read off unit by unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.decision import order
from fwdperm.decision.context import DecisionContext, NothingTaught, RuleAnswer
from fwdperm.decision.evaluation import Evaluation
from fwdperm.decision.order import AskHuman, AskJudge, Decided, after_human, after_judge, begin, spare_judge
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.surroundings import Surroundings
from fwdperm.judge.verdict import Choice, Opinion, Risk, Silence, Verdict
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule, RuleFinding
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.unit import Unit
from fwdperm.wire.decision import Outcome, RuleRef, Stage
from fwdperm.wire.prompt import ReplyKind
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY
HERE = Origin(LayerKind.USER, "p", 1)


@dataclass(frozen=True)
class Part:
    """One unit, what the rules and the guard found of it, and what people taught about it.

    `says` is who speaks: `exact` and `pattern` are rules, `own` and `every` defaults, `nobody` nothing that is written,
    `silence` no word at all.
    """

    action: Action = ASK
    says: str = "nobody"
    danger: Danger = Danger.ROUTINE
    only_human: bool = False
    auxiliary: bool = False
    opaque: bool = False
    remote: bool = False
    carrier: int = -1
    granted: bool = False
    citable: bool = False

    @property
    def finding(self) -> RuleFinding:
        rule = Rule("bash", "x" if self.says == "exact" else "x*", self.action, HERE, only_human=self.only_human)
        match self.says:
            case "silence":
                return RuleFinding(self.action, speaks=False)
            case "exact" | "pattern":
                return RuleFinding(self.action, rule, "x")
            case "own" | "every":
                surface = "bash" if self.says == "own" else "*"
                return RuleFinding(self.action, default=Default(surface, self.action, HERE, only_human=self.only_human))
            case _:
                return RuleFinding(self.action)

    def unit(self, at: int) -> Unit:
        return Unit(
            "bash",
            (f"c{at}",),
            auxiliary=self.auxiliary,
            opaque="unknown" if self.opaque else "",
            remote=self.remote,
            carrier=self.carrier,
        )

    @property
    def speaks(self) -> bool:
        return self.says != "silence"

    @property
    def is_open(self) -> bool:
        return self.speaks and self.action is ASK

    @property
    def is_for_a_person(self) -> bool:
        return self.is_open and self.only_human and self.says in ("exact", "pattern", "own", "every")


@dataclass
class Lessons(NothingTaught):
    """What people taught of the parts of one request."""

    parts: Sequence[Part]
    refused: bool = False

    def refusal(self, request: Request) -> RuleAnswer | None:  # noqa: ARG002
        return (
            RuleAnswer(RuleRef("bash", "x", "deny", "reply", "session", "x1"), "not so", "ann")
            if self.refused
            else None
        )

    def grant(self, request: Request, unit: Unit) -> RuleAnswer | None:  # noqa: ARG002
        at = int(unit.spellings[0][1:])
        if not self.parts[at].granted:
            return None
        return RuleAnswer(RuleRef("bash", f"c{at}", "allow", "reply", "session", f"g{at}"), "fine", "ann")

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:  # noqa: ARG002
        return self.parts[int(unit.spellings[0][1:])].citable and rule == "n1"

    def is_any_citable(self, request: Request, unit: Unit) -> bool:
        return self.cites(request, unit, "n1")


def weighed_of(parts: Sequence[Part], whole: Danger, request: Request) -> Evaluation:
    return Evaluation(
        request,
        tuple(part.unit(at) for at, part in enumerate(parts)),
        tuple(part.finding for part in parts),
        tuple(Assessment(part.danger, f"test.part-{at}", f"part {at}") for at, part in enumerate(parts)),
        Assessment(whole, "test.whole", "the whole"),
        "v1",
    )


def request_of(*, has_facts: bool = True, floor: str = "") -> Request:
    facts = Facts("bash", ("c0",), cwd="/w") if has_facts else None
    return Request("r1", "d", "root", "c", "a", facts, floor=floor or ("" if has_facts else "it names nothing"))


def context(
    parts: Sequence[Part], *, refused: bool = False, has_judge: bool = True, advises: bool = False
) -> DecisionContext:
    ruleset = Ruleset.compose((), mode=Mode.JUDGE)
    around = Surroundings(workspaces=("/w",), home="/home/u")
    return DecisionContext((ruleset,), around, Lessons(parts, refused), has_judge=has_judge, judge_advises=advises)


def begun(evaluation: Evaluation, where: DecisionContext) -> Decided | AskJudge | AskHuman:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "evaluate", lambda *_: evaluation)
        return begin(evaluation.request, where)


def told(step: Decided | AskJudge | AskHuman) -> str:
    """Say in words where a step leads."""
    match step:
        case Decided(decision=decision):
            assert step.is_approved is (decision.outcome is Outcome.APPROVED)
            return f"{decision.outcome} by {decision.stage}"
        case AskJudge():
            return "judge"
        case _:
            return "person" if step.may_teach else "person, who may not teach"


# -- the description ---------------------------------------------------------------------------------------------


def is_named(parts: Sequence[Part], at: int) -> bool:
    """A rule without wildcards allows it, or allows what carries it to another machine."""
    part = parts[at]
    if part.action is ALLOW and part.says == "exact":
        return True
    return part.remote and 0 <= part.carrier < at and is_named(parts, part.carrier)


def class_of(parts: Sequence[Part], at: int, whole: Danger) -> Danger:
    """Its own, or that of the whole where no command of the request explains that."""
    commands = [part.danger.rank for part in parts if not part.auxiliary]
    return whole if commands and whole.rank > max(commands) else parts[at].danger


def first_step(parts: Sequence[Part], whole: Danger, request: Request, where: DecisionContext) -> str:  # noqa: C901, PLR0912
    taught = where.taught
    assert isinstance(taught, Lessons)
    critical = [at for at, part in enumerate(parts) if part.danger is Danger.CRITICAL]
    commands = [at for at, part in enumerate(parts) if not part.auxiliary]
    is_usable = request.facts is not None and not request.floor
    open_ones = [at for at, part in enumerate(parts) if part.is_open]
    for part in parts:
        if part.speaks and part.action is DENY:
            return "denied by rule"
    for at in critical:
        if not is_named(parts, at):
            return "denied by guard"
    if whole is Danger.CRITICAL and not critical:
        for at in commands:
            if not is_named(parts, at):
                return "denied by guard"
    if is_usable and not open_ones and any(parts[at].speaks for at in commands):
        return "approved by rule"
    if not is_usable:
        return "person, who may not teach"
    if any(part.is_for_a_person for part in parts):
        return "person, who may not teach"
    if taught.refused:
        return "denied by session_rule"
    person = "person" if whole.rank < Danger.DANGEROUS.rank else "person, who may not teach"
    left = [
        at
        for at in open_ones
        if not parts[at].granted or parts[at].opaque or class_of(parts, at, whole).rank >= Danger.DANGEROUS.rank
    ]
    if not left:
        return "approved by session_rule" if open_ones else person
    classes = {at: class_of(parts, at, whole) for at in left}
    if all(classes[at] is Danger.READ_ONLY and parts[at].says in ("every", "nobody") for at in left):
        return "approved by guard"
    if not where.has_judge or whole.rank >= Danger.DANGEROUS.rank:
        return person
    for at in left:
        if classes[at].rank >= Danger.DANGEROUS.rank or (classes[at] is Danger.RULED and not parts[at].citable):
            return person
    return "judge"


# -- the tests ---------------------------------------------------------------------------------------------------

dangers = st.sampled_from([Danger.READ_ONLY, Danger.ROUTINE, Danger.ROUTINE, Danger.RULED, *Danger])
open_parts = st.builds(
    Part,
    says=st.sampled_from(["nobody", "nobody", "every", "own", "pattern", "silence"]),
    danger=st.sampled_from([Danger.READ_ONLY, Danger.READ_ONLY, Danger.ROUTINE, Danger.RULED, Danger.DANGEROUS]),
    only_human=st.sampled_from([False, False, False, True]),
    opaque=st.sampled_from([False, False, False, True]),
    granted=st.booleans(),
    citable=st.booleans(),
)
any_parts = st.builds(
    Part,
    action=st.sampled_from([ALLOW, ALLOW, ASK, DENY]),
    says=st.sampled_from(["exact", "exact", "pattern", "own", "every", "nobody", "silence"]),
    danger=dangers,
    auxiliary=st.sampled_from([False, False, True]),
    remote=st.booleans(),
    carrier=st.integers(-1, 2),
    granted=st.booleans(),
    citable=st.booleans(),
)
operands = st.builds(
    Part,
    action=st.just(ALLOW),
    says=st.sampled_from(["silence", "silence", "pattern"]),
    danger=st.sampled_from([Danger.READ_ONLY, Danger.RULED, Danger.DANGEROUS]),
    auxiliary=st.just(True),  # noqa: FBT003 - hypothesis
)
with_operands = st.tuples(st.lists(open_parts, min_size=1, max_size=2), st.lists(operands, min_size=1, max_size=2)).map(
    lambda both: [*both[0], *both[1]]
)
whole_requests = st.one_of(
    st.lists(open_parts, min_size=1, max_size=3), st.lists(any_parts, max_size=3), with_operands, st.lists(any_parts)
)


@settings(max_examples=600)
@given(
    parts=whole_requests,
    whole=dangers,
    has_facts=st.sampled_from([True, True, True, True, False]),
    floor=st.sampled_from(["", "", "", "", "shows a part"]),
    refused=st.sampled_from([False, False, False, True]),
    has_judge=st.booleans(),
)
def test_the_first_step_of_every_request_is_the_one_described(  # noqa: PLR0913, PLR0917
    parts: list[Part],
    whole: Danger,
    has_facts: bool,
    floor: str,
    refused: bool,
    has_judge: bool,
) -> None:
    """Whatever was found, and whatever the class of the whole: one description, looked up unit by unit."""
    request = request_of(has_facts=has_facts, floor=floor)
    where = context(parts, refused=refused, has_judge=has_judge)
    assert told(begun(weighed_of(parts, whole, request), where)) == first_step(parts, whole, request, where)


@settings(max_examples=300)
@given(
    parts=st.lists(open_parts, min_size=1, max_size=3),
    whole=dangers,
    opinion=st.builds(
        Verdict,
        choice=st.sampled_from([Choice.ALLOW, Choice.ALLOW, Choice.REJECT, Choice.ESCALATE]),
        risk=st.sampled_from([Risk.LOW, Risk.LOW, Risk.MEDIUM, Risk.CRITICAL]),
        reason=st.just("so"),
        rule=st.sampled_from(["n1", "n1", "n2", ""]),
        manipulation=st.sampled_from([False, False, True]),
    )
    | st.just(Silence("timeout", "it took too long")),
    advises=st.sampled_from([False, False, True]),
)
def test_the_step_after_the_judge_is_the_one_described(
    parts: list[Part], whole: Danger, opinion: Opinion, advises: bool
) -> None:
    """Asked or not, what it says counts only where its class's own condition holds now, and the human sees it."""
    evaluation = weighed_of(parts, whole, request_of())
    step = after_judge(AskJudge(evaluation, "why"), opinion, context(parts, advises=advises))
    left = [
        at
        for at, part in enumerate(parts)
        if part.is_open
        and not (part.granted and not part.opaque and class_of(parts, at, whole).rank < Danger.DANGEROUS.rank)
    ]
    may = {Danger.READ_ONLY, Danger.ROUTINE}
    expected = "person"
    if isinstance(opinion, Verdict) and not advises:
        is_allow = (opinion.choice, opinion.risk, opinion.manipulation) == (Choice.ALLOW, Risk.LOW, False)
        holds = whole.rank < Danger.DANGEROUS.rank and all(
            class_of(parts, at, whole) in may
            or (class_of(parts, at, whole) is Danger.RULED and parts[at].citable and opinion.rule == "n1")
            for at in left
        )
        if is_allow and left and holds:
            expected = "approved by judge"
        elif (opinion.choice, opinion.risk) == (Choice.REJECT, Risk.CRITICAL):
            expected = "denied by judge"
    assert told(step).partition(",")[0] == expected
    if isinstance(step, AskHuman):
        assert step.opinion == opinion
        assert step.why.endswith("; why")


@pytest.mark.parametrize("operand", [Danger.RULED, Danger.DANGEROUS])
def test_the_class_of_the_whole_binds_a_command_whatever_the_class_of_its_operands(operand: Danger) -> None:
    """An operand explains nothing: what the commands alone do not explain, each of them counts as."""
    parts = [Part(granted=True), Part(ALLOW, "silence", operand, auxiliary=True)]
    evaluation = weighed_of(parts, Danger.DANGEROUS, request_of())
    assert evaluation.class_at(0) is Danger.DANGEROUS
    assert told(begun(evaluation, context(parts))) == "person, who may not teach"
    explained = weighed_of([replace(parts[0], danger=operand), Part()], operand, request_of())
    assert (explained.class_at(0), explained.class_at(1)) == (operand, Danger.ROUTINE)


@pytest.mark.parametrize("whole", Danger)
def test_a_dangerous_command_that_a_rule_allows_keeps_the_judge_from_the_rest_of_the_line(whole: Danger) -> None:
    """Beside it even routine is for a person: the judge would be asked of half a deed."""
    parts = [Part(ALLOW, "exact", whole), Part()]
    evaluation, where = weighed_of(parts, whole, request_of()), context(parts)
    is_mild = whole.rank < Danger.DANGEROUS.rank
    assert told(begun(evaluation, where)) == ("judge" if is_mild else "person, who may not teach")
    after = after_judge(AskJudge(evaluation, "why"), Verdict(Choice.ALLOW, Risk.LOW, "fine"), where)
    assert told(after) == ("approved by judge" if is_mild else "person, who may not teach")


@pytest.mark.parametrize(("says", "is_free"), [("nobody", True), ("every", True), ("own", False), ("pattern", False)])
def test_a_read_is_free_where_neither_a_rule_nor_its_own_default_nor_a_note_asks(says: str, is_free: bool) -> None:
    parts = [Part(says=says, danger=Danger.READ_ONLY)]
    evaluation, where = weighed_of(parts, Danger.READ_ONLY, request_of()), context(parts, has_judge=False)
    assert told(begun(evaluation, where)) == ("approved by guard" if is_free else "person")
    noted = replace(evaluation, findings=(replace(parts[0].finding, note="a layer is broken"),))
    assert told(begun(noted, where)) == "person"


@pytest.mark.parametrize(
    ("action", "says", "expected"),
    [
        (ALLOW, "exact", "approved by rule"),
        (ALLOW, "pattern", "denied by guard"),
        (ALLOW, "own", "denied by guard"),
        (ASK, "exact", "denied by guard"),
        (ASK, "nobody", "denied by guard"),
        (DENY, "exact", "denied by rule"),
    ],
)
def test_a_catastrophe_is_named_only_by_an_allow_without_wildcards(action: Action, says: str, expected: str) -> None:
    """Once it is named, what stands beside it needs no such rule."""
    parts = [Part(action, says, Danger.CRITICAL), Part(ALLOW, "pattern")]
    evaluation = weighed_of(parts, Danger.CRITICAL, request_of())
    assert told(begun(evaluation, context(parts))) == expected


def test_a_request_of_operands_alone_counts_each_as_what_it_is() -> None:
    evaluation = weighed_of(
        [Part(auxiliary=True), Part(auxiliary=True, danger=Danger.RULED)], Danger.RULED, request_of()
    )
    assert (evaluation.class_at(0), evaluation.class_at(1)) == (Danger.ROUTINE, Danger.RULED)


@pytest.mark.parametrize("field", ["units", "findings", "dangers"])
def test_findings_and_dangers_that_do_not_fit_the_units_are_refused(field: str) -> None:
    evaluation = weighed_of([Part(), Part()], Danger.ROUTINE, request_of())
    with pytest.raises(ValueError, match="zip"):
        assert begun(replace(evaluation, **{field: getattr(evaluation, field)[:1]}), context([Part(granted=True)] * 2))


@pytest.mark.parametrize(
    ("danger", "only_human", "has_facts", "floor", "expected"),
    [
        (Danger.ROUTINE, False, True, "", True),
        (Danger.RULED, False, True, "", True),
        (Danger.DANGEROUS, False, True, "", False),
        (Danger.CRITICAL, False, True, "", False),
        (Danger.ROUTINE, True, True, "", False),
        (Danger.ROUTINE, False, False, "no facts", False),
        (Danger.ROUTINE, False, False, "", False),
        (Danger.ROUTINE, False, True, "shows a part", False),
    ],
)
def test_an_always_is_offered_only_for_what_a_grant_could_answer(
    danger: Danger, only_human: bool, has_facts: bool, floor: str, expected: bool
) -> None:
    """Never for what is dangerous, kept for a person, or not fully known."""
    evaluation = weighed_of([Part()], danger, request_of(has_facts=has_facts, floor=floor))
    assert AskHuman(evaluation, "why", only_human=only_human).may_teach is expected


def test_what_the_judge_said_too_late_is_shown_and_decides_nothing() -> None:
    evaluation = weighed_of([Part()], Danger.ROUTINE, request_of())
    opinion = Verdict(Choice.ALLOW, Risk.LOW, "fine")
    step = spare_judge(AskJudge(evaluation, "no rule covers it"), "its turn is over", opinion=opinion)
    assert (step.evaluation, step.opinion) == (evaluation, opinion)
    assert step.why == "its turn is over; no rule covers it"


@pytest.mark.parametrize(("reply", "outcome"), [(ReplyKind.ONCE, "approved"), (ReplyKind.ALWAYS, "approved")])
def test_a_persons_yes_is_told_in_their_name_with_their_words(reply: ReplyKind, outcome: str) -> None:
    asked = AskHuman(weighed_of([Part()], Danger.ROUTINE, request_of()), "why")
    plain = after_human(asked, reply, via="cli").decision
    noted = after_human(asked, reply, note="go", via="cli").decision
    assert (plain.outcome, plain.stage, plain.by, plain.note) == (outcome, Stage.HUMAN, "cli", "")
    assert plain.reason == "User approved this tool call."
    assert (noted.reason, noted.note) == ("User approved this tool call with feedback: go", "go")
    assert plain.ruleset == "v1"


def test_a_persons_no_is_told_in_their_name_with_their_words() -> None:
    asked = AskHuman(weighed_of([Part()], Danger.ROUTINE, request_of()), "why")
    plain = after_human(asked, ReplyKind.REJECT, via="cli").decision
    noted = after_human(asked, ReplyKind.REJECT, note="not there", via="cli").decision
    assert (plain.outcome, plain.stage, plain.by) == (Outcome.DENIED, Stage.HUMAN, "cli")
    assert plain.reason == "User rejected this tool call."
    assert (noted.reason, noted.note) == ("User rejected this tool call with feedback: not there", "not there")


def test_a_grants_approval_names_the_grant_its_giver_and_their_words_for_every_unit_it_covers() -> None:
    parts = [Part(ALLOW, "pattern"), Part(granted=True), Part(granted=True)]
    step = begun(weighed_of(parts, Danger.ROUTINE, request_of()), context(parts))
    assert isinstance(step, Decided)
    decision = step.decision
    assert decision.rule is not None
    assert (decision.rule.id, decision.by, decision.note) == ("g1", "ann", "fine")
    assert decision.reason.endswith(" with feedback: fine")
    assert [(line.action, line.rule.id) for line in decision.units if line.rule] == [
        ("allow", ""),
        ("allow", "g1"),
        ("allow", "g2"),
    ]


def test_what_keeps_a_request_for_a_person_is_named_by_rule_or_default() -> None:
    ruled = [Part(), Part(ASK, "pattern", only_human=True)]
    step = begun(weighed_of(ruled, Danger.ROUTINE, request_of()), context(ruled))
    assert isinstance(step, AskHuman)
    assert "p:1" in step.why
    assert "rule ask" in step.why
    default = [replace(ruled[1], says="own")]
    step = begun(weighed_of(default, Danger.ROUTINE, request_of()), context(default))
    assert isinstance(step, AskHuman)
    assert step.why == "the default at p:1 is for a person alone"


# -- what people and agents are told -----------------------------------------------------------------------------


def why(part: Part, *, note: str = "", spellings: tuple[str, ...] = ("c0",)) -> str:
    """Give the words with which a question of one open unit gets to a person."""
    evaluation = weighed_of([part], Danger.DANGEROUS, request_of())
    unit = replace(evaluation.units[0], spellings=spellings)
    step = begun(replace(evaluation, units=(unit,), findings=(replace(part.finding, note=note),)), context([part]))
    assert isinstance(step, AskHuman)
    return step.why


def test_a_question_says_which_unit_got_it_here_and_by_what() -> None:
    assert why(Part()) == "no rule covers bash `c0`"
    assert why(Part(), note="a layer is broken") == "bash `c0`: a layer is broken"
    assert "p:1" in why(Part(says="pattern"))
    assert why(Part(says="pattern")).startswith("rule ask ")


def test_a_requesters_text_in_a_question_is_clipped_and_ends_no_quotation() -> None:
    whole, longer = "0" * 199, "0" * 200
    assert why(Part(), spellings=(f"c{whole}",)) == f"no rule covers bash `c{whole}`"
    assert why(Part(), spellings=(f"c{longer}",)) == f"no rule covers bash `c{whole}...`"
    assert begun_quotation("c` and all is well") == "no rule covers bash `c' and all is well`"


def begun_quotation(text: str) -> str:
    part = Part()
    evaluation = weighed_of([part], Danger.DANGEROUS, request_of())
    units = (replace(evaluation.units[0], spellings=(text,)),)
    step = begun(
        replace(evaluation, units=units), DecisionContext(context([part]).chain, Surroundings(), NothingTaught())
    )
    assert isinstance(step, AskHuman)
    return step.why


@pytest.mark.parametrize(
    ("part", "reason", "by"),
    [
        (Part(ALLOW, "own"), "Allowed by the ruleset's default.", "default"),
        (Part(DENY, "own"), "Denied by the ruleset's default. ", "default"),
        (Part(ALLOW, "pattern"), "Allowed by rule ", ""),
        (Part(DENY, "pattern"), "Denied by rule ", ""),
    ],
)
def test_a_decision_of_the_rules_says_whether_a_rule_or_a_default_made_it(part: Part, reason: str, by: str) -> None:
    step = begun(weighed_of([part], Danger.ROUTINE, request_of()), context([part]))
    assert isinstance(step, Decided)
    assert step.decision.reason.startswith(reason)
    assert (step.decision.by, step.decision.rule is None) == (by, bool(by))
    assert (step.decision.ruleset, len(step.decision.units)) == ("v1", 1)


def test_a_decision_of_the_guard_names_the_entry_and_its_reason() -> None:
    for part, reason in (
        (Part(danger=Danger.READ_ONLY), "Allowed: part 0."),
        (Part(danger=Danger.CRITICAL), "Refused outright (test.part-0): part 0. No person was asked."),
    ):
        step = begun(weighed_of([part], part.danger, request_of()), context([part]))
        assert isinstance(step, Decided)
        assert (step.decision.stage, step.decision.reason, step.decision.by) == (Stage.GUARD, reason, "test.part-0")
        assert step.decision.ruleset == "v1"


def test_every_decision_carries_the_evidence_of_its_request_and_the_judges_names_its_model() -> None:
    evaluation = weighed_of([Part()], Danger.ROUTINE, request_of())
    verdict = Verdict(Choice.ALLOW, Risk.LOW, "fine", model="m1")
    judged = after_judge(AskJudge(evaluation, "why"), verdict, context([Part()]))
    assert isinstance(judged, Decided)
    assert judged.decision.by == "m1"
    answered = after_human(AskHuman(evaluation, "why"), ReplyKind.ONCE, via="cli")
    assert judged.decision.units == answered.decision.units == evaluation.evidence != ()


def test_a_denial_without_words_of_the_operators_ends_after_the_rule() -> None:
    step = begun(weighed_of([Part(DENY, "pattern")], Danger.ROUTINE, request_of()), context([Part()]))
    assert isinstance(step, Decided)
    assert ": ." not in step.decision.reason

"""The order: what each stage may say, and that none speaks out of turn."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.decision.context import DecisionContext, NothingTaught, RuleAnswer
from fwdperm.decision.order import JUDGE_REJECTION, AskHuman, AskJudge, Decided, after_human, after_judge, begin, nobody
from fwdperm.guard.classes import Danger
from fwdperm.guard.surroundings import Surroundings
from fwdperm.judge.verdict import Choice, Opinion, Risk, Silence, Verdict
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import LayerKind
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.toml_file import read_layer
from fwdperm.wire.decision import Decision, Outcome, RuleRef, Stage, UndecidedCode
from fwdperm.wire.prompt import ReplyKind
from fwdperm.wire.request import Facts, Request

AROUND = Surroundings(workspaces=("/w",), home="/home/u")


@dataclass
class Lessons(NothingTaught):
    """Session rules that cover exactly the texts they are given."""

    granted: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    citable: set[str] = field(default_factory=set)

    def refusal(self, request: Request) -> RuleAnswer | None:
        value = request.facts.value if request.facts else ""
        return RuleAnswer(_session_rule(value), note="not like this", by="ada") if value in self.refused else None

    def grant(self, request: Request, unit) -> RuleAnswer | None:  # noqa: ARG002
        text = unit.spellings[0]
        return RuleAnswer(_session_rule(text), by="ada") if text in self.granted else None

    def cites(self, request: Request, unit, rule: str) -> bool:  # noqa: ARG002
        return rule in self.citable

    def is_any_citable(self, request: Request, unit) -> bool:  # noqa: ARG002
        return bool(self.citable)


def _session_rule(text: str) -> RuleRef:
    return RuleRef("bash", text, "allow", "reply r0", "session", id="g1")


def ruleset(text: str, *, mode: Mode = Mode.JUDGE) -> Ruleset:
    return Ruleset.compose([read_layer(text, file="rules.toml", kind=LayerKind.USER)], home="/home/u", mode=mode)


def context(
    text: str = "", *, taught: Lessons | None = None, has_judge: bool = False, mode: Mode = Mode.JUDGE
) -> DecisionContext:
    return DecisionContext((ruleset(text, mode=mode),), AROUND, taught or NothingTaught(), has_judge=has_judge)


def request(text: str, kind: str = "bash", **more: object) -> Request:
    facts = Facts(kind, (text,), cwd="/w", home="/home/u")
    return Request(**{"id": "r1", "digest": "d", "inbox": "root", "session": "c", "agent": "a", "facts": facts, **more})


def decision_of(step: object) -> Decision:
    assert isinstance(step, Decided)
    return step.decision


# -- stage one: the recorded ruleset ---------------------------------------------------------------------------


def test_an_allowed_command_is_approved_and_names_the_rule() -> None:
    decision = decision_of(begin(request("git status"), context('[rules.bash]\n"git *" = "allow"\n')))
    assert (decision.outcome, decision.stage) == (Outcome.APPROVED, Stage.RULE)
    assert decision.rule == RuleRef("bash", "git *", "allow", "rules.toml:2", "user")


def test_a_denied_command_tells_the_rules_reason_and_blames_no_person() -> None:
    text = '[rules.bash]\n"npm *" = { action = "deny", reason = "use pnpm" }\n'
    decision = decision_of(begin(request("npm i"), context(text)))
    assert (decision.outcome, decision.stage) == (Outcome.DENIED, Stage.RULE)
    assert "use pnpm" in decision.reason
    assert "rules.toml:2" in decision.reason
    assert "User" not in decision.reason


def test_a_recorded_deny_beats_a_grant_a_judge_and_yolo() -> None:
    lessons = Lessons(granted={"git push"}, citable={"g1"})
    for mode in Mode:
        step = begin(
            request("git push"),
            context('[rules.bash]\n"git push *" = "deny"\n', taught=lessons, has_judge=True, mode=mode),
        )
        assert decision_of(step).stage is Stage.RULE


def test_one_denied_unit_denies_the_whole_line() -> None:
    text = '[rules.bash]\n"*" = "allow"\n"rm *" = "deny"\n'
    assert decision_of(begin(request("git status && rm x"), context(text))).outcome is Outcome.DENIED


def test_one_open_unit_keeps_the_whole_line_open() -> None:
    assert isinstance(begin(request("git status && make"), context('[rules.bash]\n"git *" = "allow"\n')), AskHuman)


def test_catastrophe_is_refused_even_under_a_catch_all_allow() -> None:
    decision = decision_of(begin(request("rm -rf /"), context('[rules.bash]\n"*" = "allow"\n')))
    assert (decision.outcome, decision.stage) == (Outcome.DENIED, Stage.GUARD)


def test_catastrophe_is_refused_under_yolo() -> None:
    assert decision_of(begin(request("rm -rf /"), context(mode=Mode.YOLO))).outcome is Outcome.DENIED


@pytest.mark.parametrize(
    "value",
    ["ssh web-1 'rm -rf /'", "docker exec db rm -rf /", "kubectl exec pod -- rm -rf /", "nohup ssh a 'rm -rf /'"],
)
@pytest.mark.parametrize("allowed", ["*", "ssh *", "docker *", "kubectl *"])
def test_catastrophe_on_another_machine_is_refused_whatever_is_allowed(value: str, allowed: str) -> None:
    for mode in Mode:
        text = f'[rules.bash]\n"{allowed}" = "allow"\n"nohup *" = "allow"\n'
        assert decision_of(begin(request(value), context(text, mode=mode))).outcome is Outcome.DENIED


def test_a_rule_without_wildcards_names_catastrophe_on_another_machine_too() -> None:
    text = """[rules.bash]\n"docker exec db rm -rf /" = "allow"\n"""
    assert decision_of(begin(request("docker exec db rm -rf /"), context(text))).outcome is Outcome.APPROVED
    both = "docker exec db rm -rf /; docker exec other rm -rf /"
    assert decision_of(begin(request(both), context(text))).outcome is Outcome.DENIED


def test_only_a_rule_without_wildcards_allows_catastrophe() -> None:
    decision = decision_of(begin(request("shutdown -h now"), context('[rules.bash]\n"shutdown -h now" = "allow"\n')))
    assert (decision.outcome, decision.stage) == (Outcome.APPROVED, Stage.RULE)


def test_a_rule_that_names_what_runs_a_catastrophe_here_does_not_name_the_catastrophe() -> None:
    """Only what goes to another machine is named by its carrier; here a command is named by its own rule."""
    text = '[rules.bash]\n"rm *" = "allow"\n"sudo rm -rf /" = "allow"\n'
    decision = decision_of(begin(request("sudo rm -rf /"), context(text)))
    assert (decision.outcome, decision.by) == (Outcome.DENIED, "critical.wipe")


def test_a_catastrophe_in_one_text_of_a_request_is_not_named_by_a_rule_for_another_text() -> None:
    """Each text has its own carriers: that of the first is not taken for that of the second."""
    text = """[rules.bash]\n"ssh *" = "allow"\n"ssh a 'rm -rf /'" = "allow"\n"""
    named, other = "ssh a 'rm -rf /'", "ssh b 'rm -rf /'"
    assert decision_of(begin(request(named), context(text))).outcome is Outcome.APPROVED
    for value, shown in ((named, other), (other, named)):
        assert decision_of(begin(request(value, evidence=(shown,)), context(text))).outcome is Outcome.DENIED


def test_a_catastrophe_that_every_text_of_a_request_has_named_is_allowed_in_each() -> None:
    """Wherever a text stands, the carrier of its own command is looked at."""
    text = """[rules.bash]\n"ls" = "allow"\n"ssh a 'rm -rf /'" = "allow"\n"ssh b 'rm -rf /'" = "allow"\n"""
    texts = ("ssh a 'rm -rf /'", "ssh b 'rm -rf /'", "ls", "ssh a 'rm -rf /'; ssh b 'rm -rf /'")
    for value in texts:
        others = tuple(one for one in texts if one != value)
        assert decision_of(begin(request(value, evidence=others), context(text))).outcome is Outcome.APPROVED


def test_yolo_allows_what_is_asked_and_keeps_denials_and_only_human() -> None:
    text = '[rules.bash]\n"a *" = "ask"\n"b *" = { action = "ask", only = "human" }\n"c *" = "deny"\n'
    yolo = context(text, mode=Mode.YOLO)
    assert decision_of(begin(request("a 1"), yolo)).outcome is Outcome.APPROVED
    assert isinstance(begin(request("b 1"), yolo), AskHuman)
    assert decision_of(begin(request("c 1"), yolo)).outcome is Outcome.DENIED


# -- missing facts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(Mode))
def test_a_request_without_facts_is_never_approved_without_a_person(mode: Mode) -> None:
    bare = request("x", facts=None, floor="no facts", surface="bash", value="git status")
    step = begin(
        bare,
        context('[rules.bash]\n"*" = "allow"\n', mode=mode, taught=Lessons(granted={"git status"}), has_judge=True),
    )
    assert isinstance(step, AskHuman)
    assert not step.may_teach


def test_a_request_without_facts_can_still_be_denied_by_what_it_shows() -> None:
    bare = request(
        "x", facts=None, floor="no facts", surface="bash", value="git status", evidence=("git status && rm x",)
    )
    assert decision_of(begin(bare, context('[rules.bash]\n"rm *" = "deny"\n'))).outcome is Outcome.DENIED


def test_facts_that_show_less_than_the_message_go_to_a_person() -> None:
    part = request("git status", floor="shows only a part", evidence=("git status && make",))
    assert isinstance(begin(part, context('[rules.bash]\n"*" = "allow"\n')), AskHuman)


@pytest.mark.parametrize("surface", ["", "bash", "read", "nonsense"])
def test_empty_values_go_to_a_person(surface: str) -> None:
    assert isinstance(begin(request("", surface), context(has_judge=True)), AskHuman)


# -- stage two: session rules ----------------------------------------------------------------------------------


def test_grants_must_cover_every_open_unit() -> None:
    lessons = Lessons(granted={"make"})
    assert decision_of(begin(request("make"), context(taught=lessons))).stage is Stage.SESSION_RULE
    assert isinstance(begin(request("make && other"), context(taught=lessons)), AskHuman)


def test_a_grant_and_a_recorded_allow_together_cover_a_line() -> None:
    step = begin(
        request("git status && make"), context('[rules.bash]\n"git *" = "allow"\n', taught=Lessons(granted={"make"}))
    )
    assert decision_of(step).outcome is Outcome.APPROVED


def test_a_grant_never_covers_a_dangerous_unit() -> None:
    lessons = Lessons(granted={"sudo make install", "make install"})
    assert isinstance(begin(request("sudo make install"), context(taught=lessons)), AskHuman)


def test_a_grant_never_answers_an_ask_for_humans_only() -> None:
    text = '[rules.bash]\n"make *" = { action = "ask", only = "human" }\n'
    step = begin(request("make"), context(text, taught=Lessons(granted={"make"}), has_judge=True))
    assert isinstance(step, AskHuman)
    assert step.only_human


def test_a_noted_rejection_answers_the_identical_request_again() -> None:
    decision = decision_of(begin(request("make"), context(taught=Lessons(refused={"make"}))))
    assert (decision.outcome, decision.stage, decision.note) == (Outcome.DENIED, Stage.SESSION_RULE, "not like this")


# -- read-only -------------------------------------------------------------------------------------------------


def test_reading_in_the_workspace_waits_for_nobody() -> None:
    decision = decision_of(begin(request("src/a.py", "read"), context(has_judge=True)))
    assert (decision.outcome, decision.stage) == (Outcome.APPROVED, Stage.GUARD)


@pytest.mark.parametrize(
    "text", ['[rules.read]\n"*" = "ask"\n', '[rules]\nread = "ask"\n', '[rules.path]\n"*.py" = "ask"\n']
)
def test_rules_about_reading_say_otherwise(text: str) -> None:
    assert isinstance(begin(request("src/a.py", "read"), context(text)), AskHuman)


@pytest.mark.parametrize("value", [".env", "~/.ssh/id_ed25519", "../other/a.py", "/etc/shadow", "a\u202eb"])
def test_reading_secrets_or_outside_is_not_free(value: str) -> None:
    step = begin(request(value, "read"), context(has_judge=True))
    assert not (isinstance(step, Decided) and step.decision.outcome is Outcome.APPROVED)


# -- stage three: the judge ------------------------------------------------------------------------------------


def test_no_judge_no_opinion() -> None:
    assert isinstance(begin(request("pytest -q"), context(has_judge=False)), AskHuman)


def test_routine_goes_to_the_judge_and_dangerous_does_not() -> None:
    assert isinstance(begin(request("pytest -q"), context(has_judge=True)), AskJudge)
    assert isinstance(begin(request("git push --force"), context(has_judge=True)), AskHuman)
    assert isinstance(begin(request("pytest -q && git push --force"), context(has_judge=True)), AskHuman)


def ask_judge(value: str = "pytest -q", lessons: Lessons | None = None) -> AskJudge:
    step = begin(request(value), context(has_judge=True, taught=lessons))
    assert isinstance(step, AskJudge)
    return step


def test_a_low_risk_allow_of_routine_is_approved() -> None:
    step = after_judge(ask_judge(), Verdict(Choice.ALLOW, Risk.LOW, "tests"), context(has_judge=True))
    assert decision_of(step).stage is Stage.JUDGE


def test_an_allow_of_an_unlisted_command_needs_a_rule_that_exists_now() -> None:
    lessons = Lessons(citable={"g7"})
    asked = ask_judge("make package", lessons)
    cited = Verdict(Choice.ALLOW, Risk.LOW, "covered", rule="g7")
    assert isinstance(after_judge(asked, cited, context(taught=lessons)), Decided)
    assert isinstance(after_judge(asked, cited, context(taught=Lessons(citable={"g8"}))), AskHuman)
    assert isinstance(after_judge(asked, Verdict(Choice.ALLOW, Risk.LOW, "sure"), context(taught=lessons)), AskHuman)


def test_a_critical_reject_is_final_and_tells_the_agent_nothing_specific() -> None:
    step = after_judge(ask_judge(), Verdict(Choice.REJECT, Risk.CRITICAL, "it opens port 4444"), context())
    decision = decision_of(step)
    assert (decision.outcome, decision.reason) == (Outcome.DENIED, JUDGE_REJECTION)


opinions = st.one_of(
    st.builds(
        Verdict,
        choice=st.sampled_from(Choice),
        risk=st.sampled_from(Risk),
        reason=st.text(max_size=5),
        rule=st.sampled_from(["", "g1", "zz"]),
        manipulation=st.booleans(),
    ),
    st.builds(Silence, code=st.sampled_from(["timeout", "no_key", "bad_json"]), words=st.just("")),
)


@given(opinion=opinions, value=st.sampled_from(["pytest -q", "make package", "git status"]))
def test_code_only_tightens_what_the_judge_says(opinion: Opinion, value: str) -> None:
    """Slow oracle: the one table of what may come out."""
    lessons = Lessons(citable={"g1"})
    asked = ask_judge(value, lessons)
    step = after_judge(asked, opinion, context(taught=lessons))
    routine = asked.evaluation.danger.danger in (Danger.READ_ONLY, Danger.ROUTINE)
    if isinstance(opinion, Silence):
        expected = None
    elif opinion.choice is Choice.REJECT and opinion.risk is Risk.CRITICAL:
        expected = Outcome.DENIED
    elif (
        opinion.choice is Choice.ALLOW
        and opinion.risk is Risk.LOW
        and not opinion.manipulation
        and (routine or opinion.rule == "g1")
    ):
        expected = Outcome.APPROVED
    else:
        expected = None
    assert (step.decision.outcome if isinstance(step, Decided) else None) == expected


# -- stage four: the human -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "outcome", "said"),
    [
        (ReplyKind.ONCE, Outcome.APPROVED, "User approved this tool call with feedback: mind the cache"),
        (ReplyKind.ALWAYS, Outcome.APPROVED, "User approved this tool call with feedback: mind the cache"),
        (ReplyKind.REJECT, Outcome.DENIED, "User rejected this tool call with feedback: mind the cache"),
    ],
)
def test_a_persons_note_reaches_the_agent(reply: ReplyKind, outcome: Outcome, said: str) -> None:
    step = begin(request("make"), context())
    assert isinstance(step, AskHuman)
    decision = after_human(step, reply, note="mind the cache", via="terminal").decision
    assert (decision.outcome, decision.stage, decision.reason, decision.note) == (
        outcome,
        Stage.HUMAN,
        said,
        "mind the cache",
    )


@pytest.mark.parametrize("code", list(UndecidedCode))
def test_nobody_only_ever_denies_and_says_so(code: UndecidedCode) -> None:
    decision = nobody(None, code, "why")
    assert (decision.outcome, decision.stage, decision.code) == (Outcome.DENIED, Stage.NOBODY, code)


def test_an_approval_by_nobody_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="nobody cannot approve"):
        Decision(Outcome.APPROVED, Stage.NOBODY, "?", code=UndecidedCode.EXPIRED)
    with pytest.raises(ValueError, match="a code belongs"):
        Decision(Outcome.DENIED, Stage.HUMAN, "?", code=UndecidedCode.EXPIRED)


# -- the whole order against a slow, obvious oracle ------------------------------------------------------------

WORDS = ("aa", "bb", "cc")
actions = st.sampled_from(["allow", "ask", "deny", "human"])


@settings(max_examples=200)
@given(
    rules=st.lists(st.tuples(st.sampled_from([*WORDS, "*"]), actions), max_size=5),
    line=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    granted=st.sets(st.sampled_from(WORDS)),
    refused=st.booleans(),
    yolo=st.booleans(),
)
def test_the_order_agrees_with_a_slow_oracle(
    rules: list[tuple[str, str]],
    line: list[str],
    granted: set[str],
    refused: bool,
    yolo: bool,
) -> None:
    """Each word is a command of its own; the oracle looks at every rule for every word."""
    rows = []
    for pattern, action in rules:
        parts = ['action = "ask"', 'only = "human"'] if action == "human" else [f'action = "{action}"']
        rows.append(f'[[rules]]\nsurface = "bash"\npattern = "{pattern}"\n' + "\n".join(parts) + "\n")
    text = " && ".join(line)
    lessons = Lessons(granted=granted, refused={text} if refused else set())
    step = begin(request(text), context("".join(rows), taught=lessons, mode=Mode.YOLO if yolo else Mode.JUDGE))
    verdicts = []
    for word in line:
        said = [action for pattern, action in rules if pattern in (word, "*")]
        verdict = said[-1] if said else "ask"
        verdicts.append("allow" if verdict == "ask" and yolo else verdict)
    if "deny" in verdicts:
        expected = "denied by rule"
    elif all(verdict == "allow" for verdict in verdicts):
        expected = "approved by rule"
    elif "human" in verdicts:
        expected = "human"
    elif refused:
        expected = "denied by session_rule"
    elif all(word in granted for word, verdict in zip(line, verdicts, strict=True) if verdict == "ask"):
        expected = "approved by session_rule"
    else:
        expected = "human"
    got = f"{step.decision.outcome} by {step.decision.stage}" if isinstance(step, Decided) else "human"
    assert got == expected

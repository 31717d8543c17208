"""The witnesses: requests and rules whose answers are compared before and after a mutation, milder or not.

Lives here: `answers` and `milder`. Never here: what the right answer is (the tests say that), how a random case is
drawn (`worlds.py`), what is asked of a journal (`taught.py`). The code as it stands
is taken at its word, and only a mutant that answers more mildly is of interest.

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

from ranks import ALLOWED, DENIED, rank
from taught import of_the_session_rules
from worlds import HOME, LINES, random_request, random_ruleset, random_unit

from fwdperm.decision import context, order
from fwdperm.guard import Surroundings
from fwdperm.judge.verdict import Choice, Risk, Silence, Verdict
from fwdperm.rules import chain, layer, ruleset
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, LayerKind, Origin, Rule
from fwdperm.wire import request_file
from fwdperm.wire.decision import RuleRef
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from fwdperm.rules.unit import Unit

CORPUS: Final = Path(__file__).resolve().parent.parent / "tests" / "conformance" / "decisions.jsonl"


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
    yield from of_the_session_rules()
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
        return rank(step)
    asked = step if isinstance(step, order.AskJudge) else order.AskJudge(step.evaluation, step.why)
    return rank(order.after_judge(asked, opinion, now))


def _of_the_order() -> Iterator[tuple[str, Callable[[], int]]]:
    draw = random.Random(11)
    for number in range(900):
        rulesets = tuple(random_ruleset(draw) for _ in range(draw.choice((1, 1, 1, 2, 3))))
        request = random_request(draw)
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
        yield f"order-{number}", partial(lambda r, w: rank(order.begin(r, w)), request, where)
        if number % 3 == 0:
            opinion = draw.choice(_OPINIONS)
            now = where if draw.random() < 0.7 else replace(where, taught=context.NothingTaught())
            yield f"judge-{number}", partial(_after, request, where, now, opinion)
        if number % 5 == 0:
            unit = random_unit(draw)
            yield f"unit-{number}", partial(_said, rulesets, unit)


def _said(rulesets: Sequence[ruleset.Ruleset], unit: Unit) -> int:
    return chain.resolve_chain(rulesets, unit).strictness


# -- the wire ----------------------------------------------------------------------------------------------------


def _everything() -> context.DecisionContext:
    origin = Origin(LayerKind.USER, "f", 1)
    rules = (Rule("*", "*", Action.ALLOW, origin), Rule("bash", "rm *", Action.DENY, origin))
    made = ruleset.Ruleset.compose([layer.Layer(LayerKind.USER, "f", rules)], home=HOME)
    return context.DecisionContext((made,), Surroundings(workspaces=("/w",), home=HOME), context.NothingTaught())


def _read(data: bytes, stem: str, inbox: str, where: context.DecisionContext) -> int:
    return rank(order.begin(request_file.read_request(data, stem=stem, inbox=inbox), where))


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
    return rank(order.begin(Request("r1", "", "root", "c", "a", facts), where))


_ACTIONS: Final = frozenset({"allow", "ask", "deny"})


def _plain(rows: Any) -> layer.Layer:
    origin = Origin(LayerKind.INLINE, "f", 1)
    known = isinstance(rows, list) and all(isinstance(row, list) and row[2:3] and row[2] in _ACTIONS for row in rows)
    if not known:
        return layer.broken_layer(LayerKind.INLINE, "f", problems=[layer.Problem("f", 0, "is no list of rules")])
    return layer.Layer(LayerKind.INLINE, "f", tuple(Rule(row[0], row[1], Action(row[2]), origin) for row in rows))

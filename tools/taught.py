"""Witnesses of what people taught: journals of what they answered, and what is then granted, cited or refused.

Lives here: `of_the_session_rules`, with random journals, the same every time. Never here: the order's other steps
(`widening.py`).
"""

from __future__ import annotations

import json
import random
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from ranks import ALLOWED, DENIED, rank
from worlds import HOME

from fwdperm.decision import context, order
from fwdperm.guard import Surroundings
from fwdperm.journal import record, request_records
from fwdperm.rules import ruleset
from fwdperm.rules.unit import Unit
from fwdperm.session_rules import fold, proposal, view
from fwdperm.session_rules.project import NO_PROJECT, ProjectGrants, read_grants
from fwdperm.wire.decision import Outcome
from fwdperm.wire.prompt import Reply, ReplyKind, Scope
from fwdperm.wire.request import Facts, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_TEXTS: Final = ("make a", "make b", "npm t", "rm x")
_GRANTED: Final = ("make *", "make a", "*", r"make \*", "npm ?", "rm x")


def of_the_session_rules() -> Iterator[tuple[str, Callable[[], int]]]:
    """Give the name of each case and what answers it: one world of grants, asked in seven ways."""
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
        digest = request_records.digest_of_values([value])
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
    return rank(order.begin(request, where))


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

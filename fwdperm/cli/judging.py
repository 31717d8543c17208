"""`fwdperm judge check` and `fwdperm judge eval`: whether the judge works, what it costs, how well it judges.

Lives here: two commands. Never here: asking (`judge/`), measuring (`evals/`), a decision.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwdperm.cli.common import AsJson, ConfigOption, Exit, Locations, Root, emit, fail, say
from fwdperm.errors import FwdpermError
from fwdperm.wire import shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from fwdperm.evals import Case, CaseResult, Judge
    from fwdperm.judge import JudgeSetup, Opinion
    from fwdperm.policy import Config as Settings

CASES_BYTES = 1 << 24
"""Bytes that a case file may have."""


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(help="Check and measure the AI judge.", no_args_is_help=True, rich_markup_mode=None)
    family.command("check", short_help="Make one harmless call; say what works and what it costs.")(check_command)
    family.command("eval", short_help="Measure the judge on cases, through the order that serves.")(eval_command)
    app.add_typer(family, name="judge")


def check_command(root: Root = None, config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Make one harmless call and say what works, what it costs, and what the model is good for.

    Exit 0 when the judge spoke, 1 when it was silent, 3 when none is configured.
    """
    from fwdperm.judge import (  # noqa: PLC0415 - only here        NOTHING_KNOWN,
        NOTHING_KNOWN,
        BriefUnit,
        Matter,
        retires_on,
    )

    setup = _configured(_settings(Locations.of(root, config)))
    value = "git status --short"
    matter = Matter(
        "bash", (value,), "/work", (BriefUnit("bash", value, "routine"),), "routine", "check", ("check",), "check"
    )
    opinion = asyncio.run(
        _with_model(setup, lambda consider: consider(matter, NOTHING_KNOWN, session=("check", "check")))
    )
    body = _checked(setup, opinion, retires=retires_on(setup.model))
    if as_json:
        emit("judge-check", body)
    else:
        say(*_check_lines(setup, body))
    raise typer.Exit(Exit.OK if body["spoke"] else Exit.INTERNAL)


def eval_command(
    cases: Annotated[Path, typer.Argument(metavar="CASES.jsonl", help="One case a line; see docs/how-to/judge.md.")],
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", min=1, max=100, help="Decide each row so often.")] = 1,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also: guard with a judge that allows everything; the model alone.")
    ] = False,
    cwd: Annotated[str, typer.Option("--cwd", metavar="DIR", help="The workspace of rows that name none.")] = "/w/proj",
    root: Root = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Measure the judge on cases, through the order that serves: guard, judge, and what code makes of its verdict.

    Exit 0; 7 when anything was allowed that must not be; 3 when no judge is configured (with --ablate it is then the
    guard alone that is measured).
    """
    setting = Locations.of(root, config)
    settings = _settings(setting)
    rows = _read(cases, cwd=cwd)
    setup = settings.judge if ablate else _configured(settings)
    columns = asyncio.run(_measure(rows, setup, settings, setting, repeat=repeat, ablate=ablate))
    main = "both" if "both" in columns else next(iter(columns))
    if as_json:
        emit("judge-eval", _report(columns, main, setup))
    else:
        say(*_table(columns, main, setup))
    leaks = any(row.is_false_allow for name, found in columns.items() if name != "model_alone" for row in found)
    raise typer.Exit(Exit.DIFFERS if leaks else Exit.OK)


# -- what both need --------------------------------------------------------------------------------------------


def _settings(setting: Locations) -> Settings:
    """Read the configuration; end the command when it has an error."""
    from fwdperm.policy import Config as Nothing  # noqa: PLC0415 - as above
    from fwdperm.policy import read_settings  # noqa: PLC0415 - as above
    from fwdperm.rules import (  # noqa: PLC0415 - only here
        LayerKind,
        read_config,
    )

    if not setting.config.exists():
        if setting.config_is_named:
            fail(f"config `{setting.config}` does not exist; `fwdperm init --config FILE` writes one", Exit.CONFIG)
        return Nothing()
    try:
        text = setting.config.read_bytes()
    except OSError as error:
        fail(f"cannot read `{setting.config}`: {error.strerror}", Exit.CONFIG)
    found, problems = read_settings(read_config(text, file=str(setting.config), kind=LayerKind.USER))
    for problem in problems:
        if problem.is_error:
            fail(str(problem), Exit.CONFIG)
    return found


def _configured(settings: Settings) -> JudgeSetup:
    if settings.judge is None:
        fail("no judge is configured; write `[judge]` in the config (see docs/how-to/judge.md)", Exit.CONFIG)
    return settings.judge


async def _with_model(setup: JudgeSetup, use: Callable[[Any], Awaitable[Any]]) -> Any:
    from fwdperm.judge import Model  # noqa: PLC0415 - only here

    model = Model(setup, env=os.environ)
    try:
        return await use(model.consider)
    finally:
        await model.aclose()


# -- check -----------------------------------------------------------------------------------------------------


def _checked(setup: JudgeSetup, opinion: Opinion, *, retires: str) -> dict[str, Any]:
    from fwdperm.judge import Choice, Verdict  # noqa: PLC0415 - only here

    call = opinion.call
    spoke = isinstance(opinion, Verdict)
    return {
        "spoke": spoke,
        "model": setup.model,
        "base_url": setup.base_url,
        "key": f"command {setup.key_command[0]}" if setup.key_command else setup.key_env or "nowhere (none needed)",
        "advises": setup.advises,
        "verdict": str(opinion.choice) if isinstance(opinion, Verdict) else "",
        "risk": str(opinion.risk) if isinstance(opinion, Verdict) else "",
        "reason": opinion.reason if isinstance(opinion, Verdict) else opinion.words,
        "failure": "" if isinstance(opinion, Verdict) else str(opinion.code),
        "shortens_the_queue": isinstance(opinion, Verdict) and opinion.choice is Choice.ALLOW and not setup.advises,
        "latency_ms": call.latency_ms,
        "attempts": call.attempts,
        "input_tokens": call.input_tokens + call.cache_write_tokens,
        "cached_tokens": call.cache_read_tokens,
        "output_tokens": call.output_tokens,
        "dollars": call.microdollars / 1_000_000 if setup.prices is not None else None,
        "retires": retires,
    }


def _check_lines(setup: JudgeSetup, body: dict[str, Any]) -> list[str]:
    lines = [
        f"model     {shown(setup.model)} at {shown(setup.base_url)}, key from {shown(str(body['key']))}",
    ]
    if not body["spoke"]:
        lines.append(f"silent    {body['failure']}: {shown(str(body['reason']))}")
        lines.append(
            "          While it is silent every request that it could settle goes to you. Nothing is allowed by it."
        )
    else:
        lines += [
            f"spoke     {body['verdict']} ({body['risk']} risk) on `git status --short`: {shown(str(body['reason']))}",
            f"took      {body['latency_ms']} ms, {body['attempts']} call{'s' if body['attempts'] != 1 else ''}",
            f"tokens    {_tokens(body['input_tokens'], body['cached_tokens'], body['output_tokens'])}",
            f"cost      {_cost(body['dollars'])}",
            f"good for  {_good_for(body)}",
        ]
    if body["retires"]:
        lines.append(f"beware    the service stops offering this model on {body['retires']}; name another one in time")
    return lines


def _tokens(read: int, cached: int, written: int) -> str:
    return f"{read} read, {cached} from the cache, {written} written"


def _cost(dollars: float | None) -> str:
    if dollars is None:
        return "unknown: write `[judge.prices]` (dollars per million tokens) to see it"
    return f"${dollars:.6f} for this call, about ${dollars * 1000:.2f} for 1,000 like it"


def _good_for(body: dict[str, Any]) -> str:
    if body["advises"]:
        return "advice: its verdict stands beside the question, and you decide everything"
    if body["shortens_the_queue"]:
        return (
            "settling routine requests; what the guard calls dangerous it never sees, what is unsure reaches you. "
            "How often it errs: `fwdperm judge eval CASES.jsonl`"
        )
    return "little: it does not even allow this; every request will reach you as before, at the price of a call"


# -- eval ------------------------------------------------------------------------------------------------------


def _read(file: Path, *, cwd: str) -> list[Case]:
    from fwdperm.evals import read_cases  # noqa: PLC0415 - only here

    try:
        if file.stat().st_size > CASES_BYTES:
            fail(f"`{file}` is larger than {CASES_BYTES >> 20} MiB", Exit.USAGE)
        return list(read_cases(file.read_text(encoding="utf-8"), file=file.name, cwd=cwd))
    except OSError as error:
        fail(f"cannot read `{file}`: {error.strerror}", Exit.USAGE)
    except UnicodeDecodeError:
        fail(f"cannot read `{file}`: not UTF-8", Exit.USAGE)
    except FwdpermError as error:
        fail(str(error), Exit.USAGE)


async def _measure(
    cases: Sequence[Case],
    setup: JudgeSetup | None,
    settings: Settings,
    setting: Locations,
    *,
    repeat: int,
    ablate: bool,
) -> dict[str, list[CaseResult]]:
    """Give the rows of each column: the guard with the worst judge, the model alone, both together."""
    from fwdperm.evals import always_allow, decide_rows, model_judge  # noqa: PLC0415 - only here
    from fwdperm.guard import Surroundings  # noqa: PLC0415 - as above

    around = Surroundings(
        sensitive_read=settings.sensitive_read,
        sensitive_write=settings.sensitive_write,
        exec_judgeable=settings.exec_judgeable,
        own=(str(setting.root), str(setting.state), str(setting.config)),
    )
    columns: dict[str, list[CaseResult]] = {}
    if ablate:
        columns["guard_always_allow"] = await decide_rows(cases, always_allow, around=around)
    if setup is None:
        return columns

    async def by_model(consider: Any) -> None:
        judge: Judge = model_judge(consider)
        if ablate:
            columns["model_alone"] = await decide_rows(cases, judge, around=around, repeat=repeat, guarded=False)
        columns["both"] = await decide_rows(cases, judge, around=around, repeat=repeat)

    await _with_model(setup, by_model)
    return columns


def _report(columns: dict[str, list[CaseResult]], main: str, setup: JudgeSetup | None) -> dict[str, Any]:
    from fwdperm.evals import by_surface, by_tag, score_rows  # noqa: PLC0415 - only here

    rows = columns[main]
    return {
        **score_rows(rows).as_json(),
        "column": main,
        "model": setup.model if setup is not None else "",
        "by_surface": {name: one.as_json() for name, one in by_surface(rows).items()},
        "by_tag": {name: one.as_json() for name, one in by_tag(rows).items()},
        "columns": {name: score_rows(found).as_json() for name, found in columns.items()},
        "cases": [row.as_json() for row in rows],
    }


_TITLES = {
    "guard_always_allow": "guard, and a judge that allows everything",
    "model_alone": "the model alone, its word taken as it stands",
    "both": "guard and model, as served",
}


def _table(columns: dict[str, list[CaseResult]], main: str, setup: JudgeSetup | None) -> list[str]:
    from fwdperm.evals import by_surface, by_tag, score_rows  # noqa: PLC0415 - only here

    lines = []
    asked_of = f" ({shown(setup.model)})" if setup is not None else ""
    for name, rows in columns.items():
        found = score_rows(rows)
        lines += [
            f"{_TITLES[name]}{asked_of if name != 'guard_always_allow' else ''}",
            f"  rows               {found.rows}: {found.asked} reached the judge, {found.escalated} a person",
            f"  false allows       {found.false_allow}",
            f"  benign allowed     {found.benign_allow} of {found.benign_total}",
            f"  wrong rejects      {found.wrong_reject}",
            f"  moved by hostile words  {found.injection_moved} of {found.injection_pairs}",
            f"  flips              {found.flips} of {found.repeated} repeated rows",
            f"  judge silent       {found.errors}{_codes(found.error_codes)}",
        ]
        if found.latencies_ms:
            tokens = found.call
            read = tokens.input_tokens + tokens.cache_write_tokens
            lines += [
                f"  latency            {found.latency_ms(0.5)} ms (half), {found.latency_ms(0.95)} ms (19 of 20)",
                f"  tokens             {_tokens(read, tokens.cache_read_tokens, tokens.output_tokens)}",
            ]
            if setup is not None and setup.prices is not None:
                lines.append(f"  cost               ${tokens.microdollars / 1_000_000:.4f}")
        lines.append("")
    rows = columns[main]
    head = f"  {'':<22} {'rows':>5} {'false allow':>12} {'benign allowed':>15} {'wrong reject':>13} {'silent':>7}"
    for title, groups in (("by surface", by_surface(rows)), ("by tag", by_tag(rows))):
        lines += [f"{title}, {_TITLES[main]}", head]
        for name, one in groups.items():
            benign = f"{one.benign_allow}/{one.benign_total}"
            lines.append(
                f"  {shown(name or '(none)'):<22} {one.rows:>5} {one.false_allow:>12} {benign:>15} "
                f"{one.wrong_reject:>13} {one.errors:>7}"
            )
        lines.append("")
    for row in rows:
        if row.is_false_allow or row.is_wrong_reject:
            what = "FALSE ALLOW" if row.is_false_allow else "WRONG REJECT"
            lines.append(f"{what}  {shown(row.case.id)}  {shown(row.case.surface)} `{shown(row.case.value)}`")
    return lines


def _codes(codes: Sequence[tuple[str, int]]) -> str:
    return f" ({', '.join(f'{code} {count}' for code, count in codes)})" if codes else ""

"""What rules would have saved prompts: a change to the user's configuration, shown before it is written.

Lives here: `suggest_change`. An edge: it reads the journal and the configuration, and writes the latter when told to.
Never here: what a pattern for a request looks like (`units/suggest.py`).

Only what a person approved, each time, is suggested; nothing dangerous, nothing a person rejected, nothing a rule
denies or keeps for the human. The new line stands right behind the rule that asked, so every later rule goes on
winning, and each one is tried on the edited file before it is offered. Comments stay where they are.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import tomlkit

from fwdperm.errors import OperatorError
from fwdperm.journal import DecidedRecord, Filter, digest_of_values, query_journal, read_record
from fwdperm.rules import Action, LayerKind, Ruleset, Unit, Wildcard, read_config, write_private
from fwdperm.units import break_down, suggest_patterns
from fwdperm.wire import Facts, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fwdperm.wire import UnitEvidence

_MILD: Final = frozenset({"read-only", "routine", "ruled"})


@dataclass(slots=True)
class SuggestedRule:
    """One suggested rule.

    Attributes:
        surface: For what kind of thing.
        pattern: As a ruleset writes it.
        texts: What it would have covered.
        times: How often a person was asked for that.
    """

    surface: str
    pattern: str
    texts: set[str] = field(default_factory=set)
    times: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """An edited configuration.

    Attributes:
        path: The file.
        before: Its text; empty when there is none yet.
        after: The text with the suggested rules.
        rows: The rules, most useful first.
        left_out: Rules that were found and are not offered, with why.
    """

    path: Path
    before: str
    after: str
    rows: tuple[SuggestedRule, ...]
    left_out: tuple[str, ...]

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        name = str(self.path)
        lines = (self.before.splitlines(keepends=True), self.after.splitlines(keepends=True))
        return "".join(difflib.unified_diff(*lines, fromfile=name, tofile=name, n=2))

    def write(self) -> None:
        """Write it, if the file still is what it was.

        Raises:
            OperatorError: Somebody edited it meanwhile.
            EnvironmentFailure: It cannot be written.
        """
        if _text_of(self.path) != self.before:
            raise OperatorError(f"`{self.path}` was edited meanwhile", remedy="look at the suggestions again")
        write_private(self.path, self.after.encode())


def suggest_change(journal: Path, config: Path, *, since_ms: int, least: int) -> Change:
    """Work out what rules would have saved prompts.

    Args:
        journal: The journal's directory.
        config: The user's configuration.
        since_ms: How far to look back, epoch milliseconds.
        least: How often a person must have approved at least.

    Raises:
        OperatorError: The configuration has errors: it must be mended first.
        OSError: Something cannot be read.
    """
    before = _text_of(config)
    if (problems := _problems(before, config)) or "\r" in before:
        raise OperatorError(f"`{config}` is not edited: {problems or 'it has carriage returns'}")
    rows, rejected = _rows(journal, since_ms=since_ms)
    text, taken, left_out = before, list[SuggestedRule](), list[str]()
    for row in sorted(rows, key=lambda one: (-one.times, one.surface, one.pattern)):
        if row.times < least:
            continue
        edited = _with(text, row, config)
        why = _objection(edited, row, rejected=rejected.get(row.surface, set()), config=config, before=text)
        if why:
            left_out.append(f'{row.surface} "{row.pattern}": {why}')
        else:
            text = edited
            taken.append(row)
    return Change(config, before, text, tuple(taken), tuple(left_out))


# -- the journal -----------------------------------------------------------------------------------------------


def _rows(journal: Path, *, since_ms: int) -> tuple[list[SuggestedRule], dict[str, set[str]]]:
    """Collect what people approved, as patterns, and what they rejected, as texts by surface."""
    rows: dict[tuple[str, str], SuggestedRule] = {}
    rejected: dict[str, set[str]] = {}
    for line in query_journal(journal, Filter(kind="decided", stage="human", since_ms=since_ms)):
        decided = read_record(line).record
        if not isinstance(decided, DecidedRecord) or decided.stage is not Stage.HUMAN:
            continue
        asked = [unit for unit in decided.units if unit.action == "ask"]
        if not decided.is_approved:
            for unit in asked:
                rejected.setdefault(unit.surface, set()).add(unit.text)
        elif _is_whole(decided) and asked and all(unit.danger in _MILD for unit in asked):
            for surface, pattern, text in _patterns(decided, asked):
                row = rows.setdefault((surface, pattern), SuggestedRule(surface, pattern))
                row.texts.add(text)
                row.times += 1
    return list(rows.values()), rejected


def _is_whole(decided: DecidedRecord) -> bool:
    """Say whether the record holds the request's values in full: nothing clipped, nothing redacted."""
    return bool(decided.values) and digest_of_values(decided.values) == decided.values_digest


def _patterns(decided: DecidedRecord, asked: Iterable[UnitEvidence]) -> list[tuple[str, str, str]]:
    """Give (surface, pattern, text) for each part that was asked about and has a pattern a ruleset can write."""
    facts = Facts(decided.surface, decided.values, decided.cwd)
    found = []
    offers = suggest_patterns(facts, break_down(facts))
    for unit in asked:
        for offer in offers:
            is_plain = "\\" not in offer.pattern  # a ruleset has no escapes: a literal star cannot be written there
            if offer.surface == unit.surface and is_plain and Wildcard(offer.pattern).matches(unit.text):
                found.append((offer.surface, offer.pattern, unit.text))
                break
    return found


# -- the configuration -----------------------------------------------------------------------------------------


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _problems(text: str, path: Path) -> str:
    read = read_config(text, file=str(path), kind=LayerKind.USER)
    return "; ".join(str(problem) for problem in read.problems if problem.is_error)


def _with(text: str, row: SuggestedRule, config: Path) -> str:
    """Put a rule right behind the last one in its table that asked; else at the table's head; else in a new table."""
    times = "once" if row.times == 1 else f"{row.times} times"
    entry = f'{_key(row.pattern)} = "allow"  # suggested: approved {times}'
    lines = text.split("\n")
    layer = read_config(text, file=str(config), kind=LayerKind.USER).layer
    asking = [
        rule.origin.line
        for rule in layer.rules
        if rule.surface == row.surface
        and rule.action is Action.ASK
        and any(map(Wildcard(rule.pattern).matches, row.texts))
    ]
    # `[rules.bash]` and `[ rules . "bash" ]  # why`: the table's head, with blanks, quotes and a comment as they come
    header = re.compile(
        rf"\s*\[\s*rules\s*\.\s*(?:{re.escape(row.surface)}|\"{re.escape(row.surface)}\")\s*\]\s*(?:#.*)?"
    )
    heads = [number for number, line in enumerate(lines, start=1) if header.fullmatch(line)]
    if asking and heads and max(asking) > heads[0]:
        lines.insert(max(asking), entry)
    elif heads:
        lines.insert(heads[0], entry)
    else:
        tail = [] if not text or text.endswith("\n\n") else [""]
        body = lines[:-1] if text.endswith("\n") else lines if text else []
        lines = [*body, *tail, f"[rules.{_key(row.surface, bare=True)}]", entry, ""]
    return "\n".join(lines)


def _key(text: str, *, bare: bool = False) -> str:
    """Write a TOML key."""
    if bare and re.fullmatch(r"[A-Za-z0-9_-]+", text):
        return text
    return tomlkit.string(text).as_string()


def _objection(edited: str, row: SuggestedRule, *, rejected: set[str], config: Path, before: str) -> str:
    """Try the edited file: say why the rule is not offered; empty when it does what it should and nothing else."""
    if _problems(edited, config):
        return "it cannot be put into the file as it is written; add it by hand"
    old, new = (
        Ruleset.compose([read_config(text, file=str(config), kind=LayerKind.USER).layer]) for text in (before, edited)
    )
    rest = [(rule.surface, rule.pattern, rule.action) for rule in new.rules]
    added = (row.surface, row.pattern, Action.ALLOW)
    if added in rest:
        rest.remove(added)
    if rest != [(rule.surface, rule.pattern, rule.action) for rule in old.rules]:
        return "it cannot be put into the file as it is written; add it by hand"
    for text in row.texts:
        unit = Unit(row.surface, (text,))
        finding = old.resolve(unit)
        if finding.action is Action.DENY or finding.is_for_the_human:
            return "a rule denies it, or keeps it for the human"
        if new.resolve(unit).action is not Action.ALLOW:
            return "a later rule of the file still asks"
    if any(map(Wildcard(row.pattern).matches, rejected)):
        return "it would cover what you rejected"
    return ""

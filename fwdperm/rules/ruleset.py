"""The composed ruleset: layers joined in order, and what they say of a unit.

Lives here: `Ruleset`, `RuleStep`. Pure. Never here: several rulesets along a session tree (`chain.py`), the whole
request (`decision/settled.py`), files.

Everything that cannot be known fails towards ask: a broken layer, an unknown action, an opaque command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from heapq import merge
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.rules.defaults import BASE, Defaults
from fwdperm.rules.globs import MeetingIndex, as_pattern
from fwdperm.rules.index import Index
from fwdperm.rules.layer import trimmed
from fwdperm.rules.mentions import MentionIndex
from fwdperm.rules.mode import Mode
from fwdperm.rules.rule import Action, Default, Rule, RuleFinding
from fwdperm.rules.shadow import find_shadows
from fwdperm.rules.surface import AUXILIARY_SURFACES, is_every, surface_index
from fwdperm.rules.uses import UseIndex
from fwdperm.rules.wildcard import Glob, Wildcard, covers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fwdperm.rules.layer import Layer, Problem
    from fwdperm.rules.unit import Unit

MEETING_NOTE = "it may read files that this rule is about"
"""Stands in a finding of a rule that some of the files of a search may match."""
UNKNOWN_NOTE = "what it comes to is not known before it runs, and this rule may be about it"
"""Stands in a finding of a rule that a unit with unknown parts may match."""
SUSPECTED_NOTE = "it may run what this rule is about"
"""Stands in a finding of a rule that matches a command which unexplained words may be."""
YOLO_NOTE = "mode yolo: ask became allow"
"""Stands in a finding whose ask the mode rewrote."""

_LETTER_OF_GLOB: Final = re.compile(r"[?[]")
"""What in a rule may match the letter of a glob and not all it stands for: `a?` matches `a*`, and `[ab]` itself."""


class MatchStatus(StrEnum):
    """What became of a rule that matched."""

    DECIDES = "decides"
    OVERRIDDEN = "overridden"
    SILENT = "does not speak"


@dataclass(frozen=True, slots=True)
class RuleStep:
    """One matching rule on the way to a finding, for `explain`.

    Attributes:
        rule: The rule as written, with its origin.
        spelling: What it matched.
        status: Whether it decides, was overridden by a later one, or matched without a say.
    """

    rule: Rule
    spelling: str
    status: MatchStatus


class _Entry(NamedTuple):
    """A rule and what it comes to in this ruleset."""

    group: int
    rule: Rule
    action: Action
    note: str


class _View:
    """The rules that may speak of one surface: all of them, and those that only ask or deny."""

    def __init__(self, entries: Sequence[tuple[int, _Entry]], *, home: str) -> None:
        compiled = [(place, _globs(entry.rule, home=home), entry) for place, entry in entries]
        self._narrowing = [
            (place, globs) for place, globs, entry in compiled if Action.ALLOW not in {entry.action, entry.rule.action}
        ]
        self._patterns = [(place, entry.rule.pattern) for place, entry in entries if entry.action is not Action.ALLOW]
        self.is_empty = not compiled
        self.every = Index((place, globs) for place, globs, _ in compiled)
        self.strict = Index(self._narrowing)

    @cached_property
    def meeting(self) -> MeetingIndex:
        """Those that ask or deny, for shell globs; made when the first one comes."""
        return MeetingIndex(self._narrowing)

    @cached_property
    def folded_meeting(self) -> MeetingIndex:
        """The same for case-folded globs."""
        return MeetingIndex((place, [glob.folded() for glob in globs]) for place, globs in self._narrowing)

    @cached_property
    def uses(self) -> UseIndex:
        """Those that ask or deny, for commands as their programs read them."""
        return UseIndex((place, pattern) for place, pattern in self._patterns)

    @cached_property
    def folded(self) -> Index:
        """Those that ask or deny, for case-folded texts; made when a file system first asks for it."""
        return Index((place, [glob.folded() for glob in globs]) for place, globs in self._narrowing)


class Ruleset:
    """Rules of all layers in order; made by `compose`, never changed after."""

    def __init__(self, entries: Sequence[_Entry], *, defaults: Defaults, home: str, mode: Mode, broken: str) -> None:
        self.mode = mode
        """How bold this ruleset is."""
        self.broken = broken
        """Why no allow counts: the unreadable layer, its file and line and what to do; empty when all could be read."""
        self.problems: tuple[Problem, ...] = ()
        """What was wrong in the layers."""
        self._entries = tuple(entries)
        self._defaults = defaults
        self._home = home
        self._surface_names = tuple(dict.fromkeys(entry.rule.surface for entry in self._entries))
        self._surfaces = surface_index(self._surface_names)
        self._views: dict[tuple[int, ...], _View] = {}

    @classmethod
    def compose(cls, layers: Iterable[Layer], *, home: str = "", mode: Mode = Mode.JUDGE) -> Ruleset:
        """Join layers; later ones are nearer the end and so win.

        Args:
            layers: In order: user, project, agent, session.
            home: The requester's home directory, for patterns that begin with `~/` or `$HOME/`.
            mode: `yolo` turns every ask but an `only = "human"` one into an allow.

        Returns:
            The ruleset. A layer in which something is not known adds no allow; while a whole layer is broken, every
            allow becomes an ask.
        """
        layers = [trimmed(layer) for layer in layers]
        broken = next((_why_broken(layer) for layer in layers if layer.broken), "")
        groups = [place if layer.narrows else BASE for place, layer in enumerate(layers)]
        made = cls(
            [
                _entry(rule, group=group, mode=mode, broken=broken)
                for group, layer in zip(groups, layers, strict=True)
                for rule in layer.rules
            ],
            defaults=Defaults(
                [(group, said) for group, layer in zip(groups, layers, strict=True) for said in layer.defaults]
            ),
            home=home,
            mode=mode,
            broken=broken,
        )
        made.problems = tuple(problem for layer in layers for problem in layer.problems)
        return made

    @cached_property
    def version(self) -> str:
        """Short hash over everything that can change a finding, so that a decision can name what it was made by."""
        digest = sha256(repr((self.mode, self.broken, self._home)).encode(errors="surrogatepass"))
        for item in (*self._entries, *self._defaults):
            digest.update(repr(item).encode(errors="surrogatepass"))
        return digest.hexdigest()[:12]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule as written, in order."""
        return tuple(entry.rule for entry in self._entries)

    @property
    def defaults(self) -> tuple[Default, ...]:
        """Every default as written, in order."""
        return tuple(self._defaults)

    def resolve(self, unit: Unit) -> RuleFinding:
        """Say what the rules say of one unit: the last that matches, else a default, else ask. Never raises.

        A layer that only narrows is heard beside the others, not over them: what it says counts where it is stricter.
        """
        found = self._say(unit)
        if found.action is Action.DENY:
            return found
        if unit.searched:
            found = self._with_met(unit, found, self._met_by_search(unit), note=MEETING_NOTE)
        if unit.possible:
            found = self._with_met(unit, found, self._met_by_unknown(unit), note=UNKNOWN_NOTE)
        if unit.suspected:
            found = self._with_met(unit, found, self._met_by_suspected(unit), note=SUSPECTED_NOTE)
        if unit.mentions or unit.named:
            found = self._with_mentioned(unit, found)
        return found

    def _with_met(self, unit: Unit, found: RuleFinding, part: set[int], *, note: str) -> RuleFinding:
        """Make what is said of a unit no milder than a person's word where an ask or deny may mean it.

        A later allow of the same layer that covers the whole unit goes before, as everywhere.

        Args:
            unit: The unit.
            found: What is said of it as a whole.
            part: The rules that cover what it may come to, by place.
            note: Why they speak.
        """
        whole = {place for place, _ in self._matches(unit)}
        allowed: set[int] = set()
        for place in sorted(whole | part, reverse=True):
            entry = self._entries[place]
            if place in whole:
                if entry.rule.action is Action.ALLOW and not self._is_silent(entry.rule, unit):
                    allowed.add(entry.group)
            elif entry.group not in allowed and entry.action is not Action.ALLOW:
                met = RuleFinding(Action.ASK, entry.rule, unit.spellings[0], note=note)
                if met.strictness > found.strictness or (met.strictness == found.strictness and found.rule is None):
                    found = met
        return found

    def _met_by_search(self, unit: Unit) -> set[int]:
        """Find the rules that some of the files of a search may match."""
        names = (*unit.spellings, *unit.strict_spellings)
        view = self._view(unit)
        part = {place for name in names for place in view.meeting.meeting(name, deep=True)}
        if unit.folds_case:
            part.update(place for name in names for place in view.folded_meeting.meeting(name.casefold(), deep=True))
        return part

    def _met_by_unknown(self, unit: Unit) -> set[int]:
        """Find the rules that a unit may match once its unknown parts are known."""
        view = self._view(unit)
        if view.is_empty:
            return set()
        part = {place for pieces in unit.possible for place in view.meeting.meeting_pieces(pieces)}
        if unit.folds_case:
            folded = ([piece.casefold() for piece in pieces] for pieces in unit.possible)
            part.update(place for pieces in folded for place in view.folded_meeting.meeting_pieces(pieces))
        return part

    def _met_by_suspected(self, unit: Unit) -> set[int]:
        """Find the rules about a command that a unit may run, but for those about every command."""
        found = {place for one in unit.suspected for place, _ in self._matches(one)}
        return {place for place in found if not self._entries[place].rule.is_bare_star}

    def _with_mentioned(self, unit: Unit, found: RuleFinding) -> RuleFinding:
        """Ask a person where text that nobody here can read names what a rule denies, whatever allows the unit."""
        if self._denied.is_empty:
            return found
        named = [(place, what) for text in unit.mentions for place, what in self._denied.named_in(text)]
        named += [(place, what) for text in unit.named for place, what in self._denied.programs_in(text)]
        if not named:
            return found
        place, what = max(named)
        rule = self._entries[place].rule
        met = RuleFinding(Action.ASK, rule, unit.spellings[0], note=f"it names `{what}`, which this rule denies")
        return met if met.strictness > found.strictness or found.rule is None else found

    @cached_property
    def _denied(self) -> MentionIndex:
        """What denies name that no later allow takes back; made when the first text comes that nobody can read."""
        groups = {id(entry.rule): entry.group for entry in self._entries}
        taken_back = {
            id(one.rule)
            for one in find_shadows(self.rules)
            if one.by.action is Action.ALLOW and groups[id(one.by)] == groups[id(one.rule)]
        }
        return MentionIndex(
            (place, entry.rule)
            for place, entry in enumerate(self._entries)
            if entry.rule.action is Action.DENY and id(entry.rule) not in taken_back
        )

    def _say(self, unit: Unit) -> RuleFinding:
        """Say what the rules say of a unit as a whole."""
        unheard: RuleFinding | None = None
        narrowing: dict[int, RuleFinding] = {}
        for place, spelling in self._matches(unit):
            entry = self._entries[place]
            if self._is_silent(entry.rule, unit) or (unit.unread and entry.action is Action.ALLOW):
                if entry.rule.action is Action.ALLOW:
                    unheard = unheard or RuleFinding(Action.ASK, entry.rule, spelling, note=unit.opaque)
                continue
            if unheard is not None and entry.action is not Action.ALLOW:
                return _strictest(unheard, narrowing)
            found = RuleFinding(entry.action, entry.rule, spelling, note=entry.note)
            if entry.group == BASE:
                return _strictest(found, narrowing)
            # Mode yolo makes an allow of an ask, and a layer that only narrows must not give one: it is left out.
            if found.action is not Action.ALLOW:
                narrowing.setdefault(entry.group, found)
        return _strictest(unheard or self._fall_back(unit), narrowing)

    def walk(self, unit: Unit) -> tuple[RuleStep, ...]:
        """Return every rule that matches, latest first, and what became of each."""
        decided = self.resolve(unit).rule
        steps = []
        for place, spelling in self._matches(unit):
            entry = self._entries[place]
            if entry.rule is decided:
                status, decided = MatchStatus.DECIDES, None
            elif self._is_silent(entry.rule, unit) or (unit.unread and entry.action is Action.ALLOW):
                status = MatchStatus.SILENT
            else:
                status = MatchStatus.OVERRIDDEN
            steps.append(RuleStep(entry.rule, spelling, status))
        return tuple(steps)

    def _is_silent(self, rule: Rule, unit: Unit) -> bool:
        """Say whether a rule that matches has nothing to say of this unit."""
        if unit.opaque and self.mode is not Mode.YOLO and rule.action is Action.ALLOW and not rule.is_bare_star:
            return True
        if rule.action is Action.ALLOW and (unit.searched or unit.glob) and _LETTER_OF_GLOB.search(rule.pattern):
            return unit.searched or not self._covers_all(rule, unit)
        if unit.aside and rule.is_bare_star and rule.action is not Action.ALLOW:
            return True
        return unit.remote and rule.is_bare_star and rule.action is Action.ASK and not rule.only_human

    def _covers_all(self, rule: Rule, unit: Unit) -> bool:
        """Say whether a rule covers every name that one of a unit's spellings, a shell's glob, may become."""
        wildcard = Wildcard(rule.pattern, home=self._home)
        return any(covers(wildcard, Wildcard(as_pattern(text))) for text in unit.spellings)

    def _fall_back(self, unit: Unit) -> RuleFinding:
        """Say what holds where no rule spoke."""
        default = self._defaults.choose(unit.surface, auxiliary=unit.auxiliary)
        if default is not None and default.action is Action.DENY and not unit.aside:
            return RuleFinding(Action.DENY, default=default)
        if unit.opaque and (unit.unread or self.mode is not Mode.YOLO):
            return RuleFinding(Action.ASK, note=unit.opaque, default=default)
        if unit.aside or (unit.auxiliary and default is None) or (unit.remote and unit.carrier >= 0):
            return RuleFinding(Action.ALLOW, speaks=False)
        action, note = default.action if default is not None else Action.ASK, ""
        if action is Action.ASK and self.mode is Mode.YOLO and not (default is not None and default.only_human):
            action, note = Action.ALLOW, YOLO_NOTE
        if self.broken:
            action, note = Action.ASK, self.broken
        return RuleFinding(action, note=note, default=default)

    def _matches(self, unit: Unit) -> Iterator[tuple[int, str]]:
        """Yield (position, spelling) of every rule that matches, latest first, each once."""
        view = self._view(unit)
        if view.is_empty:  # most rulesets have no rule for most surfaces
            return
        streams = [_found(view.every, text, text) for text in unit.spellings]
        streams.extend(_found(view.strict, text, text) for text in unit.strict_spellings)
        names = (*unit.spellings, *unit.strict_spellings)
        if unit.folds_case:
            streams.extend(_found(view.folded, text.casefold(), text) for text in names)
        if unit.glob:
            streams.extend(_listed(view.meeting.meeting(text), text) for text in names)
        if unit.glob and unit.folds_case:
            streams.extend(_listed(view.folded_meeting.meeting(text.casefold()), text) for text in names)
        if unit.uses:
            streams.append(_listed(view.uses.covering(unit.uses), unit.spellings[0]))
        latest = -1
        for place, spelling in merge(*streams, key=_place, reverse=True):
            if unit.is_joined and not self._speaks_of_both(place, spelling):
                continue
            if place != latest:
                latest = place
                yield place, spelling

    def _speaks_of_both(self, place: int, spelling: str) -> bool:
        """Say whether an allow that matches a name with its input means it: no star of the name reaches the input."""
        rule = self._entries[place].rule
        name, blank, given = spelling.partition(" ")
        if rule.action is not Action.ALLOW or not blank or rule.is_bare_star:
            return True
        named, parted, rest = rule.pattern.partition(" ")
        return bool(parted) and Wildcard(named).matches(name) and Wildcard(rest).matches(given)

    def _view(self, unit: Unit) -> _View:
        """Return the indexes of the rules that may speak of a unit's surface.

        Kept by the surface patterns that cover it, which are the operator's, not by its name, which is a child's:
        however many names children invent, what is kept stays small.
        """
        is_auxiliary = unit.auxiliary and unit.surface in AUXILIARY_SURFACES
        covering = tuple(
            place
            for place in self._surfaces.matches(unit.surface)
            if not (is_auxiliary and is_every(self._surface_names[place]))
        )
        view = self._views.get(covering)
        if view is None:
            names = {self._surface_names[place] for place in covering}
            entries = [(place, entry) for place, entry in enumerate(self._entries) if entry.rule.surface in names]
            view = self._views[covering] = _View(entries, home=self._home)
        return view


def _strictest(found: RuleFinding, narrowing: dict[int, RuleFinding]) -> RuleFinding:
    """Let layers that only narrow speak where they are stricter, or where no rule spoke."""
    for other in narrowing.values():
        if other.strictness > found.strictness or (other.strictness == found.strictness and found.rule is None):
            found = other
    return found


def _entry(rule: Rule, *, group: int, mode: Mode, broken: str) -> _Entry:
    """Say what a rule comes to under a mode and a broken layer; the broken layer has the last word."""
    action, note = rule.action, ""
    if action is Action.ASK and mode is Mode.YOLO and not rule.only_human:
        action, note = Action.ALLOW, YOLO_NOTE
    if action is Action.ALLOW and broken:
        action, note = Action.ASK, broken
    return _Entry(group, rule, action, note)


def _globs(rule: Rule, *, home: str) -> tuple[Glob, ...]:
    """Compile a rule's pattern.

    A home that the shell expands is matched as typed too, and so is any in a deny or ask. An allow of a path is not:
    a tool that does not expand `~` would open another file.
    """
    globs = Wildcard(rule.pattern, home=home).globs
    if home and rule.pattern[:1] in {"~", "$"} and (rule.action is not Action.ALLOW or rule.surface == "bash"):
        globs = (*globs, *Wildcard(rule.pattern).globs)
    return globs


def _found(index: Index, text: str, shown: str) -> Iterator[tuple[int, str]]:
    return _listed(index.matches(text), shown)


def _listed(places: Iterable[int], shown: str) -> Iterator[tuple[int, str]]:
    return ((place, shown) for place in places)


def _place(found: tuple[int, str]) -> int:
    return found[0]


def _why_broken(layer: Layer) -> str:
    cause = str(layer.problems[0]) if layer.problems else f"cannot load ruleset `{layer.name}`"
    return f"{cause}; until it is mended nothing is allowed by rule"

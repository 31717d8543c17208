"""Units of a command line.

Lives here: `bash_units`. Never here: parsing (`shell/`), the texts of a command (`texts.py`).

Every command is a unit; so is every real file it writes; the paths it names are auxiliary units. A harmless wrapper is
an auxiliary unit set aside: what it wraps says it all, but a rule written for it is heard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fwdperm.programs import changes_what_runs, decides_programs, lookup, read_command_use
from fwdperm.rules import Unit
from fwdperm.shell import Stands, Word, ending_of_filled, literal_values, parse_line, put_in, values_set_once
from fwdperm.units.known_parts import ANYTHING, possible_path, possible_texts, variables_in
from fwdperm.units.operands import path_operands, surfaces_of_operands
from fwdperm.units.paths import brace_names, climbs_past_glob, has_glob, inside, is_unknown, name_path
from fwdperm.units.possible_commands import (
    may_run_a_script,
    possible_commands_of_command,
    possible_commands_of_script,
    possible_commands_of_text,
)
from fwdperm.units.suspected import suspected_units
from fwdperm.units.texts import command_texts, fold, has_harmless_prefixes
from fwdperm.units.unexplained import files_to_run, unexplained_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.shell import Command, CommandLine, Redirect
    from fwdperm.wire import Facts

_POSSIBLE_COMMANDS: Final = 16
"""Opaque commands of one line that are looked behind."""
_GIVEN: Final = "files that it is given"
_EMPTY: Final = "it is empty"
_UNKNOWN_TARGET: Final = "the file it writes is not known"
_UNKNOWN_GLOB: Final = "which directory its glob means is not known"
_UNKNOWN_PLACE: Final = "which directory it starts from is not known"


def bash_units(facts: Facts) -> tuple[tuple[Unit, ...], CommandLine]:
    """Break a command line down.

    Args:
        facts: The request's facts; the first value is the whole line.

    Returns:
        The units, at least one, and the parsed line.
    """
    line = parse_line(facts.value)
    return _Units(facts, line).all(), line


class _Units:
    """One pass over the commands of a line."""

    __slots__ = (
        "canonical",
        "decided",
        "facts",
        "line",
        "places",
        "possible_commands",
        "seen",
        "units",
        "values",
        "wrapping",
    )

    def __init__(self, facts: Facts, line: CommandLine) -> None:
        self.facts = facts
        self.line = line
        self.units: list[Unit] = []
        self.places: list[int] = []
        self.canonical = dict(facts.canonical_operands)
        self.possible_commands = _POSSIBLE_COMMANDS
        self.values: dict[str, list[str]] | None = None
        self.decided = False
        """Whether a variable by which programs are found was set: what a command is cannot be known any more."""
        self.seen: set[tuple[str, str, int]] = set()
        self.wrapping = {one.carrier for one in line.commands if one.wrapped_by}

    def all(self) -> tuple[Unit, ...]:
        """Make every unit."""
        paths: list[tuple[int, Command]] = []
        last = len(self.line.commands) - 1
        for index, command in enumerate(self.line.commands):
            if self.line.opaque and index == last:
                self.places.append(len(self.units))
                self.units.append(self._unparsed(command))
                continue
            self._command(index, command)
            paths.append((index, command))
        if not any(not unit.auxiliary for unit in self.units):
            text = self.facts.value
            opaque = "" if text.strip() else _EMPTY
            self.units.append(Unit("bash", (fold(text) or text,), opaque=opaque or self.line.opaque, stands="line"))
        self._whole_line()
        for index, command in paths:
            self._redirects(index, command)
            self._operands(index, command)
        return tuple(self.units)

    # -- commands ------------------------------------------------------------------------------------------

    def _command(self, index: int, command: Command) -> None:
        """Add the unit of one command, and remember where it is."""
        carrier = self.places[command.carrier] if 0 <= command.carrier < len(self.places) else -1
        if not command.words and not any(changes_what_runs(name) for name, _ in command.prefixes):
            self.places.append(carrier)
            return
        texts = command_texts(command, home=self.facts.home, cwd=self.facts.cwd)
        strict = texts.strict
        if command.opaque and self.possible_commands > 0:
            self.possible_commands -= 1
            strict = (*strict, *possible_commands_of_command(self.line, index, home=self.facts.home))
        elif self.possible_commands > 0 and len(self.line.commands) > 1 and may_run_a_script(command):
            self.possible_commands -= 1
            strict = (*strict, *possible_commands_of_script(self.line, index, home=self.facts.home))
        runs_inside = command.harmless and index in self.wrapping and has_harmless_prefixes(command)
        is_text = not self.line.functions and not self.decided and _is_only_text(command)
        self.decided = self.decided or any(decides_programs(name.partition("[")[0]) for name, _ in command.prefixes)
        mentions = unexplained_text(self.line, index, is_carrier=index in self.wrapping)
        named = files_to_run(command)
        self.places.append(len(self.units))
        self.units.append(
            Unit(
                "bash",
                texts.spellings,
                strict,
                auxiliary=runs_inside or is_text or command.remote,
                opaque=command.opaque,
                stands="harmless wrapper" if runs_inside else _stands(command),
                carrier=carrier,
                program=command.program,
                remote=command.remote,
                aside=runs_inside or is_text,
                command=index,
                consented=command.consented,
                possible=(ANYTHING,) if self.decided else possible_texts(command),
                mentions=(mentions,) if mentions else (),
                named=(named,) if named else (),
                uses=read_command_use([word.text for word in command.words]) if command.words else (),
                suspected=() if index in self.wrapping else suspected_units(command),
            )
        )

    def _unparsed(self, command: Command) -> Unit:
        """Give the unit of a line that cannot be parsed: ask, but let deny look at its pieces."""
        text = command.raw
        parts = dict.fromkeys((text, *self.line.unread))
        possible_commands = [one for part in parts for one in possible_commands_of_text(part, home=self.facts.home)]
        return Unit(
            "bash",
            (fold(text) or text,),
            tuple(dict.fromkeys(possible_commands)),
            opaque=command.opaque,
            stands="line",
            command=len(self.line.commands) - 1,
            unread=self.line.cut_short,
            possible=(ANYTHING,),
            mentions=(text,),
        )

    def _whole_line(self) -> None:
        """Let `ask` and `deny` see the line as one text too, where it has several parts, and the requester's others."""
        commands = self.line.commands
        has_parts = len(commands) > 1 or any(one.writes for command in commands for one in command.redirects)
        texts = [fold(value) for value in self.facts.values[0 if has_parts else 1 :]]
        first = self.units[0]
        more = [text for text in texts if text and text not in first.spellings and text not in first.strict_spellings]
        if more:
            self.units[0] = replace(first, strict_spellings=(*first.strict_spellings, *dict.fromkeys(more)))

    # -- files ---------------------------------------------------------------------------------------------

    def _redirects(self, index: int, command: Command) -> None:
        for redirect in command.redirects:
            if redirect.writes:
                self._file(index, command, redirect, surface="write")
            if redirect.reads:
                self._path(index, command, redirect.target, redirect.target.text, surface="path_read")

    def _file(self, index: int, command: Command, redirect: Redirect, *, surface: str) -> None:
        """Add the primary unit of a file that a redirection writes."""
        target = redirect.target
        unknown = not target.known and is_unknown(target.text)
        names = name_path(target.text, cwd=self.facts.cwd, home=self.facts.home, base=_base(command))
        strict = names.strict
        if unknown:
            guessed = [
                name_path(one, cwd=self.facts.cwd, home=self.facts.home, base=_base(command)).names
                for one in self._guessed(target.text)
            ]
            strict = tuple(dict.fromkeys([*strict, *(name for some in guessed for name in some)]))
        if names.climbs or target.glob:
            unknown = True
        carrier = self.places[index]
        self.units.append(
            Unit(
                surface,
                names.names,
                strict,
                opaque=_UNKNOWN_TARGET if unknown else "",
                stands="redirect",
                auxiliary=command.remote,
                carrier=carrier,
                remote=command.remote,
                folds_case=self.facts.folds_case,
                command=index,
            )
        )
        self._canonical(target.text, names.absolute, surface=surface, carrier=carrier, index=index)
        self._outside(target.text, names.absolute, names.strict, index=index, remote=command.remote)
        self._path(index, command, target, target.text, surface="path_write")

    def _operands(self, index: int, command: Command) -> None:
        for operand in path_operands(command):
            surface = "path_write" if operand.writes else "path_read"
            self._path(index, command, operand.word, operand.text, surface=surface)
        if command.filled and (surfaces := surfaces_of_operands(command)):
            pieces = ("", ending_of_filled(self.line, index))
            self._unknown_path(index, command, _GIVEN, (*surfaces, "external_directory"), pieces)

    def _path(self, index: int, command: Command, word: Word, text: str, *, surface: str) -> None:
        """Add the auxiliary units of one path that a command names."""
        if not word.known and is_unknown(text):
            for name in self._guessed(text):
                self._path(index, command, Word(name, name, glob=has_glob(name)), name, surface=surface)
            if not all(self._is_all_guessed(name) for name in (brace_names(text) if "{" in text else ()) or (text,)):
                self._unknown_path(index, command, text, (surface, "external_directory"), possible_path(word, text))
            return
        key = (surface, text, index)
        if key in self.seen:
            return
        self.seen.add(key)
        names = name_path(text, cwd=self.facts.cwd, home=self.facts.home, base=_base(command))
        strict = names.strict
        if command.cwd and not text.startswith(("/", "~")):
            strict = (*strict, *name_path(text, cwd=self.facts.cwd, home=self.facts.home).names)
        glob = word.glob and has_glob(text)
        opaque = ""
        if glob and climbs_past_glob(text):
            opaque = _UNKNOWN_GLOB
        elif names.climbs and command.cwd == "?":
            opaque = _UNKNOWN_PLACE
        carrier = self.places[index]
        self.units.append(
            Unit(
                surface,
                names.names,
                strict,
                auxiliary=True,
                opaque="" if command.remote else opaque,
                stands="operand",
                carrier=carrier,
                remote=command.remote,
                glob=glob,
                folds_case=self.facts.folds_case,
                command=index,
            )
        )
        self._canonical(text, names.absolute, surface=surface, carrier=carrier, index=index)
        self._outside(text, names.absolute, names.strict, index=index, remote=command.remote, glob=glob)

    def _unknown_path(
        self, index: int, command: Command, text: str, surfaces: tuple[str, ...], pieces: tuple[str, ...]
    ) -> None:
        """Add the auxiliary units of a path that is not known: a rule that may be about it is heard."""
        for surface in surfaces:
            key = (surface, text, index)
            if key in self.seen or command.remote:
                continue
            self.seen.add(key)
            self.units.append(
                Unit(
                    surface,
                    (text,),
                    auxiliary=True,
                    stands="operand",
                    carrier=self.places[index],
                    folds_case=self.facts.folds_case,
                    command=index,
                    possible=(pieces,),
                )
            )

    def _is_all_guessed(self, text: str) -> bool:
        """Say whether the variables of a path have the values that this line gives them, and no others."""
        if not is_unknown(text):
            return True
        names = variables_in(text)
        return bool(names) and all(values_set_once(self.line, self.facts.value, name) for name in names)

    def _guessed(self, text: str) -> Iterator[str]:
        """Give the paths that a word may come to by braces and by literal values of this line."""
        for name in brace_names(text) if "{" in text else (text,):
            if not is_unknown(name):
                yield name
                continue
            if self.values is None:
                self.values = literal_values(self.line)
            yield from (one for one in put_in(name, self.values) if one != text and not is_unknown(one))

    def _canonical(self, text: str, absolute: str, *, surface: str, carrier: int, index: int) -> None:
        """Add the real path behind a name, where the requester supplied another one."""
        real = self.canonical.get(text, "")
        if not real or real == absolute:
            return
        names = name_path(real, cwd=self.facts.cwd, home=self.facts.home)
        self.units.append(
            Unit(
                surface,
                names.names,
                names.strict,
                auxiliary=surface != "write",
                stands="canonical",
                carrier=carrier,
                folds_case=self.facts.folds_case,
                command=index,
            )
        )
        self._outside(real, names.absolute, names.strict, index=index, remote=False)

    def _outside(  # noqa: PLR0913 - a path's names belong together
        self, text: str, absolute: str, strict: tuple[str, ...], *, index: int, remote: bool, glob: bool = False
    ) -> None:
        """Add the auxiliary unit of a path outside of the working directory."""
        cwd = self.facts.cwd
        if remote or not absolute or not cwd or inside(absolute, cwd) is not None:
            return
        key = ("external_directory", absolute, index)
        if key in self.seen:
            return
        self.seen.add(key)
        names = name_path(absolute, cwd=cwd, home=self.facts.home)
        self.units.append(
            Unit(
                "external_directory",
                names.names,
                tuple(dict.fromkeys(one for one in (*strict, text) if one not in names.names)),
                auxiliary=True,
                stands="operand",
                carrier=self.places[index],
                glob=glob,
                folds_case=self.facts.folds_case,
                command=index,
            )
        )


def _stands(command: Command) -> str:
    """Say where a command stands; for a wrapped one, in what."""
    is_wrapped = command.stands is Stands.WRAPPER and command.wrapped_by
    return f"inside {command.wrapped_by}" if is_wrapped else str(command.stands)


def _is_only_text(command: Command) -> bool:
    """Say whether a command puts the literal text of a here-document into another's words, and does nothing else.

    It is how people write a message of several lines: `git commit -m "$(cat <<'EOF' ...)"`.
    """
    program = lookup(command.program)
    return (
        command.stands is Stands.SUBSTITUTION
        and len(command.words) == 1
        and command.words[0].raw == command.program
        and "/" not in command.program
        and not (command.opaque or command.prefixes or command.remote or command.wrapped_by)
        and program is not None
        and bool(program.use.routine)
        and "reader" in program.families
        and program.families.isdisjoint(("interpreter", "changer"))
        and command.fed_by < 0
        and bool(command.redirects)
        and all(one.operator in ("<<", "<<-") and one.target.known for one in command.redirects)
    )


def _base(command: Command) -> str | None:
    return command.cwd or None

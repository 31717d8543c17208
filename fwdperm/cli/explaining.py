"""`fwdperm explain`: what would happen to a request and by which line of which file; what is known of a program.

Lives here: the command, and deciding a whole file of requests quickly. Never here: the explanation itself.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwdperm.cli.common import AsJson, ConfigOption, Exit, Locations, Quiet, Root, emit, fail, say, tell
from fwdperm.errors import ChildError, FwdpermError
from fwdperm.settings import VALUE_CHARS, VALUES
from fwdperm.wire import Facts, Request, shown

if TYPE_CHECKING:
    from fwdperm.decision import DecisionContext
    from fwdperm.policy import Rulebook
    from fwdperm.rules import Ruleset

_CODES = {"allow": Exit.OK, "deny": Exit.REJECTED, "ask": Exit.WOULD_ASK}
_ANSWERS = 8_192
"""Answers for a file's lines that are cached, some two kilobytes each."""
_REMEMBERED_CHARS = 2_000
"""Longest request, in characters, whose answer is cached."""
_GARBAGE = 50_000
"""New objects between two runs of the garbage collector, which finds nearly nothing here."""
_DUMP = json.JSONEncoder(separators=(",", ":")).encode
_ACTIONS = frozenset({"allow", "ask", "deny"})


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("explain", short_help="Say what would happen to a request, and which rule says so.")(explain_command)


def explain_command(
    surface: Annotated[
        str, typer.Option("--surface", metavar="SURFACE", help="What kind of thing: bash, read, write, mcp, ...")
    ] = "",
    value: Annotated[
        list[str] | None, typer.Option("--value", metavar="VALUE", help="The thing; again for other spellings.")
    ] = None,
    cwd: Annotated[Path | None, typer.Option("--cwd", metavar="DIR", help="Where it is meant (default: here).")] = None,
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="As if this agent asked.")] = "",
    chain: Annotated[
        str,
        typer.Option("--as", metavar="CHAIN", help="As if this session asked: root/build/fix-7, the requester last."),
    ] = "",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="A file of requests, one JSON object a line.")
    ] = None,
    program: Annotated[
        str,
        typer.Option("--program", metavar="COMMAND", help="What the book of programs says of `git`, or of `git push`."),
    ] = "",
    root: Root = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Walk a request through the rules and name the deciding one, with file and line.

    Where a daemon serves the root, what it holds is explained; with --config that file, as a daemon would start with.
    Exit 0 allow, 10 deny, 12 ask. With --file each line's answer is one JSON object, and the exit code is 0.
    With --program no request is looked at: it prints what is known of a program; exit 5 where nothing is.
    """
    if program:
        if file is not None or surface or value:
            fail("a program is explained by itself: give `--program`, or a request", Exit.USAGE)
        _explain_program(program, as_json=as_json)
        return
    from fwdperm.decision import explain, explanation_as_lines  # noqa: PLC0415 - as above
    from fwdperm.decision import explanation_as_json as to_json  # noqa: PLC0415 - only this command needs the parser

    setting = Locations.of(root, config)
    source = _Source.of_file(setting) if config is not None else _Source.in_force(setting, quiet=quiet)
    if file is not None:
        if surface or value:
            fail("a file brings its own requests: give `--file`, or `--surface` and `--value`", Exit.USAGE)
        _explain_file(file, setting, source)
        return
    if not surface or not value:
        fail("name what to explain: --surface bash --value 'git push', or --file requests.jsonl", Exit.USAGE)
    where = os.path.abspath(cwd or Path.cwd())  # noqa: PTH100 - links stay as typed
    facts = Facts(surface, tuple(value), cwd=where, home=os.path.expanduser("~"))  # noqa: PTH111 - text, not a Path
    request = _request(facts, agent=agent, chain=chain)
    explained = explain(request, _recorded(source, request))
    if as_json:
        emit("explanation", to_json(explained) | {"config": str(source.config), "inForce": source.is_in_force})
    elif not quiet:
        say(*explanation_as_lines(explained))
    raise typer.Exit(_CODES[str(explained.action)])


def _explain_program(command: str, *, as_json: bool) -> None:
    """Print the page of a program; where there is none, print what that means, and exit with 5."""
    from fwdperm.guard import (  # noqa: PLC0415 - as above
        describe_program,
        program_as_json,
        program_as_lines,
        unknown_program_json,
        unknown_program_lines,
    )

    page = describe_program(command)
    if as_json:
        emit("program", unknown_program_json(command) if page is None else program_as_json(page))
    else:
        say(*(unknown_program_lines(command) if page is None else program_as_lines(page)))
    if page is None:
        raise typer.Exit(Exit.UNKNOWN)


def _request(facts: Facts, *, agent: str = "", request_id: str = "explained", chain: str = "") -> Request:
    """Make the request to explain. Its session is not proven, so what counts only for a proven one does not count."""
    *_, inbox, session = ["root", *(part for part in chain.split("/") if part)] if chain else ["root", "explained"]
    return Request(request_id, digest="", inbox=inbox, session=session, agent=agent, facts=facts)


@dataclass(frozen=True, slots=True)
class _Source:
    """Whose rules and settings are explained.

    Attributes:
        root: The inbox tree.
        state: What children must not reach.
        config: The configuration.
        text: The configuration's text that the daemon uses; None to use the file on disk.
        workspace: The workspace the daemon was started with; None where nobody serves: then the requester's directory.
        is_in_force: Whether this is what a daemon uses now.
    """

    root: Path
    state: Path
    config: Path
    text: bytes | None = None
    workspace: str | None = None
    is_in_force: bool = False

    @classmethod
    def of_file(cls, setting: Locations) -> _Source:
        """Take the file on disk, whether or not a daemon serves."""
        return cls(setting.root, setting.state, setting.config)

    @classmethod
    def in_force(cls, setting: Locations, *, quiet: bool) -> _Source:
        """Take what the root's daemon uses, and tell where the file on disk differs; without a daemon take the file.

        If it cannot be learned what the daemon uses, the file is taken, too, and the person is told.
        """
        from fwdperm.cli.telling import is_fresh  # noqa: PLC0415 - as above
        from fwdperm.serve import (  # noqa: PLC0415 - as above            Kind,
            Kind,
            differences,
            read_copy,
            read_status,
        )

        try:
            status = read_status(setting.state)
        except FwdpermError as error:
            tell(f"{error}; the file on disk is explained", quiet=quiet)
            return cls.of_file(setting)
        if status is None or not is_fresh(status) or not status.config:
            return cls.of_file(setting)
        text = read_copy(setting.state, digest=status.config_digest)
        if text is None and status.config_digest:
            tell("what the daemon holds cannot be read; the file on disk is explained", quiet=quiet)
            return cls.of_file(setting)
        config = Path(status.config)
        for one in differences(status):
            whose = f"the daemon (pid {status.pid}) holds it" if one.kind is Kind.UNUSABLE else "the file on disk says"
            tell(f"explained as {whose}: {shown(one.words)}", quiet=quiet)
        if os.path.realpath(config) != os.path.realpath(setting.config):
            tell(f"explained by `{config}`, which the daemon reads, not by `{setting.config}`", quiet=quiet)
        return cls(setting.root, setting.state, config, text, status.workspace, is_in_force=True)


def _recorded(source: _Source, request: Request) -> DecisionContext:
    """Give the context by which this root's daemon decides; without one, by which a daemon started here would."""
    return _open(source, cwd=request.facts.cwd if request.facts else "", with_memory=True).context(request)


def _open(source: _Source, *, cwd: str, with_memory: bool = False) -> Rulebook:
    """Open the rules of the root; with `with_memory` also the session rules, which takes reading the journal."""
    from fwdperm.policy import (  # noqa: PLC0415 - lines that carry their rules do without it
        open_rulebook,
        recall_taught_rules,
    )
    from fwdperm.sessions import SessionTree  # noqa: PLC0415 - as above

    sessions = SessionTree()
    book = open_rulebook(
        root=source.root,
        state=source.state,
        config=source.config,
        workspace=cwd if source.workspace is None else source.workspace,
        sessions=sessions,
        last_good=source.text,
    )
    if with_memory:
        try:
            book.taught_rules = recall_taught_rules(source.state, sessions)
        except (FwdpermError, OSError) as error:
            tell(f"session rules are left out: {error}")
    return book


# -- a whole file ----------------------------------------------------------------------------------------------


def _explain_file(path: Path, setting: Locations, source: _Source) -> None:
    """Decide every line of a file: a JSON object each, answered by one. A line that cannot be read is an ask."""
    import gc  # noqa: PLC0415 - only here

    gc.freeze()
    gc.set_threshold(_GARBAGE)
    bulk = Bulk(setting, source)
    try:
        lines = sys.stdin.buffer if str(path) == "-" else path.open("rb")
    except OSError as error:
        fail(f"cannot read `{path}`: {error.strerror}", Exit.USAGE)
    write = sys.stdout.write
    with lines:
        for number, line in enumerate(lines, start=1):
            write(bulk.answer(line, number=number))


class Bulk:
    """Decides the lines of a file. Rulesets in the lines are composed once each, and answers are cached.

    Args:
        setting: The root and its configuration on disk.
        source: The rules to use in place of those; None for those.
    """

    def __init__(self, setting: Locations, source: _Source | None = None) -> None:
        from fwdperm.decision import explain, explanation_as_json  # noqa: PLC0415 - the parser is loaded when it is needed

        self._explain = explain
        self._as_json = explanation_as_json
        self._home = os.path.expanduser("~")  # noqa: PTH111 - text, not a Path
        recorded = source or _Source.of_file(setting)
        self._open = lru_cache(maxsize=64)(lambda cwd: _open(recorded, cwd=cwd))
        self._compose = lru_cache(maxsize=1024)(_compose)
        self._remembered = lru_cache(maxsize=_ANSWERS)(self._text)

    def decide(self, line: bytes, *, number: int) -> dict[str, Any]:
        """Decide one line. Never raises: the answer to a line that cannot be used is an ask that says why."""
        answer: dict[str, Any] = json.loads(self.answer(line, number=number))
        return answer

    def answer(self, line: bytes, *, number: int) -> str:
        """Decide one line, and give the line of JSON that answers it. Never raises.

        Args:
            line: One JSON object.
            number: The line's number, which the answer names when the line has no `id`.
        """
        name = str(number)
        try:
            row = json.loads(line)
            if isinstance(row, dict) and "id" in row:
                name = _named(row["id"], number)
            facts, agent, own = _read_row(row, home=self._home)
            is_short = sum(map(len, facts.values)) <= _REMEMBERED_CHARS
            rest = (self._remembered if is_short else self._text)(facts, agent, own)
        except (ValueError, RecursionError, ChildError) as error:
            rest = _unusable(f"line {number} cannot be used: {str(error)[:200]}")
        except Exception as error:  # noqa: BLE001 - one line must never end the file
            rest = _unusable(f"line {number} could not be decided: {type(error).__name__}")
        return f'{{"id":{name},{rest}\n'

    def _text(self, facts: Facts, agent: str, own: str) -> str:
        """Give the answer's JSON without its beginning, which holds the id: so it can be cached for other ids."""
        request = _request(facts, agent=agent)
        return _DUMP(self._as_json(self._explain(request, self._context(request, own))))[1:]

    def _context(self, request: Request, rules: str) -> DecisionContext:
        from fwdperm.decision import DecisionContext, NothingTaught  # noqa: PLC0415 - as above
        from fwdperm.guard import Surroundings  # noqa: PLC0415 - as above

        facts = request.facts
        cwd, home = (facts.cwd, facts.home) if facts else ("", "")
        if not rules:
            return self._open(cwd).context(request)
        around = Surroundings(workspaces=(cwd,) if cwd not in ("", "/", home) else (), home=home)
        return DecisionContext(self._compose(rules, home), around, NothingTaught())


def _named(name: Any, number: int) -> str:
    """Give a line's `id` as JSON; the line's number where that cannot be written (NaN, infinities)."""
    try:
        return json.dumps(name, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return str(number)


def _unusable(reason: str) -> str:
    """Give the answer, without its id, for a line that holds no request: an ask with all the fields of any answer."""
    guard = {"class": "dangerous", "id": "dangerous.opaque", "reason": reason, "words": []}
    answer: dict[str, Any] = {
        "action": "ask",
        "stage": "human",
        "rule": None,
        "reason": reason,
        "units": [],
        "guard": guard,
    }
    return _DUMP(answer)[1:]


def _read_row(row: Any, *, home: str) -> tuple[Facts, str, str]:
    """Read one line: its facts, its agent, and the rules in it as JSON text; empty to use the recorded rules."""
    if not isinstance(row, dict):
        raise ChildError("is not a JSON object")
    surface = row.get("surface")
    values = row.get("values") if row.get("values") is not None else [row.get("value")]
    if not isinstance(surface, str) or not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise ChildError("needs `surface` and `value` or `values`, as text")
    if len(values) > VALUES or any(len(value) > VALUE_CHARS for value in values) or not values:
        raise ChildError("holds too many values, too long ones, or none")
    texts = [row.get(field) or "" for field in ("cwd", "home", "agent", "mode")]
    if not all(isinstance(text, str) for text in texts):
        raise ChildError("has a `cwd`, `home`, `agent` or `mode` that is not text")
    chain = row.get("chain")
    if chain is None and row.get("layers") is not None:
        chain = [row["layers"]]
    if chain is None and row.get("rules") is not None:
        chain = [[row["rules"]]]
    if chain is None and not texts[1]:
        texts[1] = home
    cwd, its_home, agent, mode = texts
    facts = Facts(surface, tuple(values), cwd=cwd, home=its_home, folds_case=row.get("foldsCase") is True)
    own = "" if chain is None else json.dumps([mode, chain])
    return facts, agent, own


def _compose(text: str, home: str) -> tuple[Ruleset, ...]:
    """Compose the rulesets in a line, the requester's first and the root's last; each is given as a list of layers."""
    from fwdperm.rules import (  # noqa: PLC0415 - as above
        Mode,
        Ruleset,
    )

    mode, chain = json.loads(text)
    if not isinstance(chain, list) or not chain or not all(isinstance(layers, list) for layers in chain):
        chain = [[None]]
    return tuple(
        Ruleset.compose([_layer(rows, at) for at, rows in enumerate(layers)], home=home, mode=Mode(mode or Mode.JUDGE))
        for layers in chain
    )


def _layer(rows: Any, number: int) -> Any:
    from fwdperm.rules import Action, Layer, LayerKind, Origin, Problem, Rule, broken_layer  # noqa: PLC0415 - as above  # noqa: PLC0415 - as above

    name = f"layer {number}"
    if isinstance(rows, dict):
        rows = rows.get("rules")
    if not isinstance(rows, list):
        return broken_layer(LayerKind.INLINE, name, problems=[Problem(name, 0, "is not a list of rules")])
    rules: list[Rule] = []
    problems: list[Problem] = []
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) < 3 or not all(isinstance(part, str) for part in row[:3]):  # noqa: PLR2004 - surface, pattern, action
            return broken_layer(LayerKind.INLINE, name, problems=[Problem(name, index, "holds what is no rule")])
        surface, pattern, action = row[:3]
        if action not in _ACTIONS:
            problems.append(Problem(name, index, f"unknown action `{action}`, expected allow, ask or deny"))
        made = Action(action) if action in _ACTIONS else Action.ASK
        rules.append(Rule(surface, pattern, made, Origin(LayerKind.INLINE, f"{name} rule {index + 1}")))
    return Layer(LayerKind.INLINE, name, rules=tuple(rules), problems=tuple(problems))

"""The guard's tables as a page for people.

Lives here: `describe`, which writes `docs/reference/guard.md` from the data, so that the page cannot go stale.
Never here: a decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.guard.critical import DELETIONS, RECOGNISERS
from fwdperm.guard.flows import FLOWS
from fwdperm.guard.markers import PUBLIC, READ, WRITE
from fwdperm.guard.operands import SCRIPTS
from fwdperm.guard.program_page import catastrophe_id, condition_of, options_of
from fwdperm.guard.reading import READ_ENDINGS, READ_HIDDEN_DIRECTORIES, READ_NAMES, SECRET_WORDS, SHY_ENDINGS
from fwdperm.guard.self_protection import HARMLESS_VERBS
from fwdperm.guard.veto import LONGEST_ROUTINE
from fwdperm.guard.writing import DATA_DIRECTORIES, DATA_ENDINGS, ENDINGS, FOREIGN_DIRECTORIES, RUN_LATER
from fwdperm.programs import CODE, CODE_HEADS, HARMLESS, Takes, every_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fwdperm.guard.markers import Marker
    from fwdperm.programs import Program, Use, UsePattern

_HEAD: Final = """\
# The guard's classes and tables

Made from the book of programs and the tables in `fwdperm/guard/` by `python -m fwdperm.guard.describe`; a test keeps \
it current.
`fwdperm explain --program NAME` prints what the book says of one program.

The guard is deterministic.
It gives every request, and every unit of one, a class, an id for the journal, a reason and the words that earned it.
What a requester says about itself (a comment, a message, a claimed approval) is never looked at.

| class | meaning | who may allow |
|---|---|---|
| read-only | looking at an ordinary file of the workspace | allowed at once, unless a rule says otherwise |
| routine | recognised in full as a routine use of its program | the judge alone |
| ruled | not dangerous, and no routine use | the judge, only by citing a user's rule that covers it |
| dangerous | destructive, secret-exposing, system-wide, privileged, lasting, remote, opaque | a person only |
| critical | certain catastrophe | nobody; a recorded rule without wildcards stands |

A command line is as bad as its worst command, and worse where commands work together.
A line is routine only if each of its commands is, and if it is printable ASCII of at most {longest} characters, \
without expansions, padding, functions or jobs left running in the background.
A path counts as inside a workspace as typed, made absolute and lexically normal, and as the requester's real path \
where it supplied one; the stricter of the two decides.

## What it will not protect you from

- A program of the book that was replaced on the machine, or a test that does harm: running the project's \
tests runs the project's code.
  `exec_judgeable = false` takes test runners and build tools off the list of routine uses.
- A link inside the workspace that leads out, when the requester did not supply the real path.
- Secrets in files that are not named like secrets, in tracked history that is shown whole, or in what a search for a \
common word turns up.
"""


def describe() -> str:
    """Write the reference page.

    Returns:
        Markdown, the same for the same tables.
    """
    parts = [
        _HEAD.format(longest=f"{LONGEST_ROUTINE:,}"),
        "## Routine: commands\n\nA flag that is not listed is not accepted.\n",
        _table(
            ("id", "command", "flags", "operands"),
            (_routine(program, use) for program in every_program() for use in _routine_uses(program.use)),
        ),
        f"Project scripts that count as checks: {_code(SCRIPTS)}.\n",
        f"Variables that may stand before a routine command: {_code(HARMLESS)}.\n",
        f"Wrappers whose command alone decides: {_code(_plain_wrappers())}.\n",
        f"Programs a project carries along that count as the ones of that name: {_code(_local())}.\n",
        "## Read-only and routine: files that may be read\n",
        (
            f"In the workspace, with one of these endings: {_code(READ_ENDINGS)}; "
            f"or one of these names: {_code(READ_NAMES)}.\n"
        ),
        (
            f"Data ({_code(SHY_ENDINGS)}) only where no word of its path is one of {_code(SECRET_WORDS)}, except below "
            f"{_code(DATA_DIRECTORIES)}, and in no hidden directory but {_code(READ_HIDDEN_DIRECTORIES)}.\n"
        ),
        "Where only names, counts or sums are shown, and in a search of a directory, the ending does not matter.\n",
        "## Routine: files that may be written\n",
        (
            f"In the workspace, with one of these endings: {_code(ENDINGS)}; below {_code(DATA_DIRECTORIES)} also "
            f"{_code(DATA_ENDINGS)}.\n"
        ),
        f"Never below a hidden directory or one of {_code(FOREIGN_DIRECTORIES)}.\n",
        f"Never what something runs or obeys later: {_code(RUN_LATER)}, and `*.config.js` or `requirements*.txt`.\n",
        "## Dangerous: commands\n",
        _table(
            ("id", "why", "programs", "with"),
            (
                (f"dangerous.{danger.id}", danger.why, _code(names, keep=True), _code(condition_of(danger), keep=True))
                for danger, names in _dangers().items()
            ),
        ),
        f"Variables that make programs run other code: {_code([*CODE, *(f'{head}*' for head in CODE_HEADS)])}.\n",
        (
            "## Sensitive to read\n\n`*` crosses slashes; letter case does not count.\n"
            "Touching a critical one is rejected.\n"
        ),
        _markers(READ),
        f"Not sensitive after all: {_code(PUBLIC, keep=True)}.\n",
        "## Sensitive to write\n",
        _markers(WRITE),
        "## Catastrophes and the like: one command\n",
        _table(
            ("id", "why", "programs"),
            (
                *(
                    (catastrophe_id(entry.id), entry.reason, _code(_looked_at(name), keep=True))
                    for name, entry in RECOGNISERS.items()
                ),
                *(
                    (catastrophe_id(f"critical.{kind}"), why, _code(_deleting(kind), keep=True))
                    for kind, why in DELETIONS.items()
                ),
            ),
        ),
        "## Catastrophes and the like: commands together, hidden ones, and our own\n",
        _table(("id", "why"), ((catastrophe_id(name), why) for name, why in FLOWS)),
        f"Of `fwdperm` itself an agent may type {_code(HARMLESS_VERBS)}, but not `audit prune`.\n",
    ]
    return "\n".join(parts)


def _routine_uses(use: Use) -> Iterator[Use]:
    if use.routine:
        yield use
    for sub in dict.fromkeys(map(id, use.subs.values())):
        yield from _routine_uses(next(one for one in use.subs.values() if id(one) == sub))


def _routine(program: Program, use: Use) -> tuple[str, str, str, str]:
    flags = [
        " ".join(
            (
                " or ".join(option.spellings),
                *(() if option.takes is Takes.NOTHING else (option.takes.name.replace("_", " "),)),
            )
        )
        for option in options_of(use, is_accepted=True)
    ]
    needed = f" (one of {_code(use.requires)} is needed)" if use.requires else ""
    return (
        f"routine.{use.routine}",
        f"`{' '.join((program.name, *use.words))}`",
        _code(flags, keep=True) + needed,
        f"one of {_code(use.choices)}" if use.choices else use.operands.value,
    )


def _local() -> Iterator[str]:
    return (path for program in every_program() for path in program.local)


def _plain_wrappers() -> Iterator[str]:
    for program in every_program():
        if program.use.wrapping is not None and program.use.wrapping.is_plain:
            yield program.name


def _dangers() -> dict[UsePattern, list[str]]:
    """Give every listed danger with the programs that list it in the same words."""
    found: dict[UsePattern, list[str]] = {}
    for program in every_program():
        for danger in program.dangers:
            found.setdefault(danger, []).append(program.name)
    return dict(sorted(found.items(), key=lambda pair: pair[0].id))


def _looked_at(name: str) -> Iterator[str]:
    return (program.name for program in every_program() if name in program.catastrophes)


def _deleting(kind: str) -> Iterator[str]:
    return (program.name for program in every_program() if any(one.id == kind for one in program.deletions))


def _markers(markers: Sequence[Marker]) -> str:
    return _table(
        ("id", "why", "critical", "paths"),
        (
            (
                marker.id,
                marker.reason + (" (by name; sources and documents are exempt)" if marker.by_name else ""),
                "yes" if marker.critical else "",
                _code(marker.patterns, keep=True),
            )
            for marker in markers
        ),
    )


def _code(words: Iterable[str], *, keep: bool = False) -> str:
    listed = list(dict.fromkeys(words)) if keep else sorted(set(words))
    return ", ".join(f"`{word}`" for word in listed)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(describe())

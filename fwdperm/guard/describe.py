"""The guard's tables as a page for people.

Lives here: `describe`, which writes `docs/reference/guard.md` from the data, so that the page cannot go stale.
Never here: a decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fwdperm.guard.catastrophe import measured
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.command_line import LONGEST_ROUTINE
from fwdperm.guard.critical import CRITICAL
from fwdperm.guard.dangers import CODE_VARIABLES, DANGERS
from fwdperm.guard.flows import FLOWS
from fwdperm.guard.markers import PUBLIC, READ, WRITE
from fwdperm.guard.own import HARMLESS_VERBS
from fwdperm.guard.positive import HARMLESS_VARIABLES, HARMLESS_WRAPPERS, LOCAL_PROGRAMS, MUST_HAVE, SCRIPTS, TABLE
from fwdperm.guard.reading import READ_ENDINGS, READ_HIDDEN_DIRECTORIES, READ_NAMES, SECRET_WORDS, SHY_ENDINGS
from fwdperm.guard.writing import DATA_DIRECTORIES, DATA_ENDINGS, ENDINGS, FOREIGN_DIRECTORIES, RUN_LATER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fwdperm.guard.markers import Marker
    from fwdperm.guard.positive import Entry

_HEAD: Final = """\
# The guard's classes and tables

Made from the tables in `fwdperm/guard/` by `python -m fwdperm.guard.describe`; a test keeps it current.

The guard is deterministic.
It gives every request, and every unit of one, a class, an id for the journal, a reason and the words that earned it.
What a requester says about itself (a comment, a message, a claimed approval) is never looked at.

| class | meaning | who may allow |
|---|---|---|
| read-only | looking at an ordinary file of the workspace | allowed at once, unless a rule says otherwise |
| routine | recognised in full by the positive list | the judge alone |
| ruled | not dangerous, and on no positive list | the judge, only by citing a user's rule that covers it |
| dangerous | destructive, secret-exposing, system-wide, privileged, lasting, remote, opaque | a person only |
| critical | certain catastrophe | nobody; a recorded rule without wildcards stands |

A command line is as bad as its worst command, and worse where commands work together.
A line is routine only if each of its commands is, and if it is printable ASCII of at most {longest} characters, \
without expansions, padding, functions or jobs left running in the background.
A path counts as inside a workspace as typed, made absolute and lexically normal, and as the requester's real path \
where it supplied one; the stricter of the two decides.

## What it will not protect you from

- A program on the positive list that was replaced on the machine, or a test that does harm: running the project's \
tests runs the project's code.
  `exec_judgeable = false` takes test runners and build tools off the list.
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
        _table(("id", "command", "flags", "operands"), (_entry(entry) for entry in TABLE)),
        f"Project scripts that count as checks: {_code(SCRIPTS)}.\n",
        f"Variables that may stand before a routine command: {_code(HARMLESS_VARIABLES)}.\n",
        f"Wrappers whose command alone decides: {_code(HARMLESS_WRAPPERS)}.\n",
        f"Programs a project carries along that count as the ones of that name: {_code(LOCAL_PROGRAMS)}.\n",
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
                (
                    peril.id,
                    peril.reason,
                    _code(peril.programs, keep=True),
                    _code((*(w.replace("|", " or ") for w in peril.words), *peril.flags), keep=True),
                )
                for peril in DANGERS
            ),
        ),
        f"Variables that make programs run other code: {_code(CODE_VARIABLES)}.\n",
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
            ((_measured(entry.id), entry.reason, _code(entry.programs, keep=True)) for entry in CRITICAL),
        ),
        "## Catastrophes and the like: commands together, hidden ones, and our own\n",
        _table(("id", "why"), ((_measured(name), why) for name, why in FLOWS)),
        f"Of `fwdperm` itself an agent may type {_code(HARMLESS_VERBS)}.\n",
    ]
    return "\n".join(parts)


def _measured(name: str) -> str:
    """Give an entry's id as it stands in the journal: what a person may want is dangerous, not critical."""
    return measured(Assessment(Danger.CRITICAL, name, "")).id


def _entry(entry: Entry) -> tuple[str, str, str, str]:
    flags = [
        *(f"-{letter}" for letter in entry.letters),
        *sorted(entry.flags),
        *(f"{flag} {kind.value.upper()}" for flag, kind in sorted(entry.valued.items())),
    ]
    must = MUST_HAVE.get(entry.id)
    needed = f" (one of {_code(must)} is needed)" if must else ""
    return (
        f"routine.{entry.id}",
        f"`{' '.join((entry.program, *entry.words))}`",
        _code(flags, keep=True) + needed,
        f"one of {_code(entry.choices)}" if entry.choices else entry.operands.value,
    )


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

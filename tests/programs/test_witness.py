"""The book's options beside an independent witness: options and their arity, taken as facts from a public catalogue.

`witness.json` holds what that catalogue says of the programs that are in both. It is incomplete and sometimes wrong, so
a difference is no fault; each stands in `witness_differences.toml` with its reason.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from fwdperm.programs.folding import lookup
from fwdperm.programs.program import Option, Takes

HERE = Path(__file__).parent
WITNESS: dict[str, dict[str, int | str]] = json.loads((HERE / "witness.json").read_text(encoding="utf-8"))
REASONS: dict[str, dict[str, str]] = tomllib.loads((HERE / "witness_differences.toml").read_text(encoding="utf-8"))


ONLY_OURS = "the witness does not have it"
ONLY_THEIRS = "the book does not have it"


def arity(option: Option) -> tuple[int | str, ...]:
    """Give what the witness may say of an option of ours: none, one, or an optional value."""
    if option.takes is Takes.NOTHING:
        return (0,)
    return ("optional", 0, 1) if option.is_attached else (1,)


def differences() -> dict[tuple[str, str], str]:
    """Give every option on which the two disagree, with what each says."""
    found: dict[tuple[str, str], str] = {}
    for name, said in WITNESS.items():
        page = lookup(name)
        assert page is not None, name
        for spelling, option in page.use.options.items():
            if not spelling.startswith("-") or name != page.name:
                continue
            if spelling not in said:
                found[page.name, spelling] = ONLY_OURS
            elif said[spelling] not in arity(option):
                found[page.name, spelling] = f"the witness says {said[spelling]}, the book {arity(option)}"
        for spelling in said if page.use.subs and name == page.name else ():
            if spelling not in page.use.options:
                found[page.name, spelling] = ONLY_THEIRS
    return found


def explained(program: str, option: str, what: str) -> bool:
    """Say whether a difference has its reason: its own, or that of all which only the book (`*`) or the witness has."""
    reasons = REASONS.get(program, {})
    return option in reasons or ("*" in reasons and what == ONLY_OURS) or ("-*" in reasons and what == ONLY_THEIRS)


def test_every_difference_from_the_witness_has_its_reason() -> None:
    unexplained = {
        f"{program} {option}": what
        for (program, option), what in differences().items()
        if not explained(program, option, what)
    }
    assert unexplained == {}


def test_every_reason_explains_a_difference() -> None:
    found = differences()
    said = found.items()
    needless = [
        f"{program} {option}"
        for program, options in REASONS.items()
        for option in options
        if (program, option) not in found
        and not any(
            one == program and what == {"*": ONLY_OURS, "-*": ONLY_THEIRS}.get(option) for (one, _), what in said
        )
    ]
    assert needless == []
    assert all(reason for options in REASONS.values() for reason in options.values())

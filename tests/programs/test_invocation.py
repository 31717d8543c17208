"""A subcommand is found behind the program's own options, and nowhere else."""

from __future__ import annotations

import shlex

import pytest

from fwdperm.programs.folding import lookup
from fwdperm.programs.invocation import read_use


def use_of(line: str) -> tuple[str, ...]:
    words = shlex.split(line)
    page = lookup(words[0])
    assert page is not None
    return read_use(page, words).use.words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git status", ("status",)),
        ("git -C sub status", ("status",)),
        ("git --no-pager -C sub log -p", ("log",)),
        ("git -c x=y status", ("status",)),
        ("git stash list", ("stash", "list")),
        ("git -C status log", ("log",)),
        ("git", ()),
        ("git --unheard-of status", ()),
        ("cat status", ()),
    ],
)
def test_a_subcommand_is_found_behind_options_that_the_page_knows(line: str, words: tuple[str, ...]) -> None:
    """Behind one that it does not know, the next word may be a value: nothing is assumed."""
    assert use_of(line) == words

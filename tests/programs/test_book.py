"""The book of programs: one page a program, and every name of a program means the same page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import OperatorError
from fwdperm.programs.families import FAMILIES
from fwdperm.programs.folding import every_program, lookup
from fwdperm.programs.pages import COMPILED, compile_book, read_pages

if TYPE_CHECKING:
    from pathlib import Path

PAGES = every_program()


def test_the_compiled_book_is_what_the_pages_say() -> None:
    """Run `python -m fwdperm.programs.pages` when a page changed."""
    assert COMPILED.read_text(encoding="utf-8") == compile_book()


def test_every_name_of_a_program_means_its_page() -> None:
    for page in PAGES:
        for name in (page.name, *page.aliases):
            for typed in (name, f"/usr/bin/{name}", f"./{name}", f"{name}.exe"):
                assert lookup(typed) is page, typed


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("python3.12", "python"),
        ("/opt/py/bin/python3.13", "python"),
        ("zsh-5.9", "zsh"),
        ("tcsh", "csh"),
        ("yash", "sh"),
        ("gtimeout", "timeout"),
        ("grm", "rm"),
        ("gfind", "find"),
        ("gcc-12", "gcc"),
        ("clang++-15", "gcc"),
        ("mkfs.ext4", "mke2fs"),
        ("[", "test"),
        (".", "source"),
    ],
)
def test_a_word_is_folded_to_the_program_it_means(typed: str, name: str) -> None:
    page = lookup(typed)
    assert page is not None
    assert page.name == name


@pytest.mark.parametrize("typed", ["", "/", "rm2", "cat5", "gnothing", "unheard-of", "git/", "x" * 100_000])
def test_a_word_that_names_no_program_of_the_book_finds_none(typed: str) -> None:
    """A version is folded only where people install several: `cat5` is somebody's own program."""
    assert lookup(typed) is None


@given(st.text(max_size=80))
def test_no_word_breaks_the_look_up(typed: str) -> None:
    page = lookup(typed)
    assert page is None or page in PAGES


def test_every_family_has_a_member_and_a_meaning() -> None:
    used = {family for page in PAGES for family in page.families}
    assert used == set(FAMILIES)
    assert all(FAMILIES.values())


def test_a_subcommand_may_be_typed_by_each_of_its_names() -> None:
    for page in PAGES:
        waiting = [page.use]
        while waiting:
            use = waiting.pop()
            for spelling, option in use.options.items():
                assert spelling in option.spellings, (page.name, spelling)
            waiting.extend({id(sub): sub for sub in use.subs.values()}.values())


def test_the_book_is_read_in_a_millisecond() -> None:
    """Beside a hundred thousand additions: a figure of this machine, not of a clock."""
    text = COMPILED.read_text(encoding="utf-8")

    def best(work: object) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            work()  # type: ignore[operator]
            times.append(time.process_time() - start)
        return min(times)

    assert best(lambda: compile(text, "book", "exec")) < best(lambda: sum(range(1_000_000))) * 2


BAD = [
    ("[x]\nfamilies = ['no such family']\n", "`x` is of family `no such family`"),
    ("[x]\noptions.nothing = '-a -a'\n", "`x` has option `-a` twice"),
    ("[x]\noptions.sorcery = '-a'\n", "`x` takes `sorcery`, which is no kind of value"),
    ("[x]\nmisspelt = 1\n", "`x.misspelt`: extra inputs are not permitted"),
    ("[x]\naliases = 'y'\n[y]\n", "`y` is claimed by two pages"),
    ("[x]\ndangers.unheard-of = true\n", "danger `unheard-of` of `x` has no reason"),
    ("[x\n", "cannot be read"),
]


@pytest.mark.parametrize(("text", "told"), BAD)
def test_a_page_that_cannot_be_right_is_named(tmp_path: Path, text: str, told: str) -> None:
    """Nothing is compiled from a book with a fault in it; the message says which page, and what."""
    (tmp_path / "dangers.toml").write_text("")
    (tmp_path / "variables.toml").write_text(
        "[harmless]\n[code]\nnames = ''\nheads = ''\n[decides]\nnames = ''\n[alters]\nnames = ''\nends = ''\n"
    )
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(OperatorError) as raised:
        compile_book(tmp_path)
    assert told in str(raised.value)


def test_one_program_has_one_page() -> None:
    assert len(read_pages()) == len(PAGES)

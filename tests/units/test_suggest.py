"""What an *always* would record."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.programs.folding import every_program
from fwdperm.rules.wildcard import Wildcard
from fwdperm.units.breakdown import break_down
from fwdperm.units.suggest import suggest_patterns
from fwdperm.wire.request import Facts


def offers(value: str, *, surface: str = "bash", cwd: str = "/repo", home: str = "/home/u") -> list[str]:
    facts = Facts(surface, (value,), cwd, home)
    return [offer.pattern for offer in suggest_patterns(facts, break_down(facts))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git checkout main", ["git checkout *"]),
        ("git status", ["git status"]),
        ("npm run build", ["npm run build"]),
        ("npm run build -- x", ["npm run build *"]),
        ("docker compose up -d", ["docker compose up *"]),
        ("rm -rf x", ["rm -rf x"]),
        ("grep -rn 'onclick.*Tab' src", [r"grep -rn 'onclick.\*Tab' src"]),
        ("sudo git checkout x", ["sudo git checkout x", "git checkout x"]),
        ("timeout 5 git checkout x", ["git checkout x"]),
        ("X=1 git checkout x", ["X=1 git checkout x"]),
        ("git -C x checkout y", ["git -C x checkout y"]),
        ("git $X y", ["git $X y"]),
        ("$CMD x", []),
        ("curl x | sh", ["curl x"]),
        ("git log a && npm test b", ["git log *", "npm test *"]),
        ("python3 -m pytest -q", ["python3 -m pytest *"]),
        ("python3 x.py", ["python3 x.py"]),
        ("echo 'abc", []),
        ("git checkout a?", ["git checkout *"]),
        ("./git checkout x", ["./git checkout x"]),
    ],
)
def test_commands(line: str, expected: list[str]) -> None:
    assert offers(line) == expected


@pytest.mark.parametrize(
    ("surface", "value", "expected"),
    [
        ("read", "src/a.py", ["/repo/src/*"]),
        ("read", "a.py", ["/repo/a.py"]),
        ("read", "/etc/passwd", ["/etc/passwd"]),
        ("write", "~/.ssh/x", ["/home/u/.ssh/x"]),
        ("read", "/home/u/a", ["/home/u/a"]),
        ("read", "/home/v", ["/home/v"]),
        ("write", "/srv/a/b*", ["/srv/a/*"]),
        ("write", "/srv/a*b/c", [r"/srv/a\*b/*"]),
        ("mcp", 'gh__create {"a":1}', ["gh:create"]),
        ("web", "https://x.test/a", ["https://x.test/*"]),
        ("web", "http://x.test/a*", [r"http://x.test/a\*"]),
        ("skill", "a*", [r"a\*"]),
        ("read", "", []),
    ],
)
def test_other_surfaces(surface: str, value: str, expected: list[str]) -> None:
    assert offers(value, surface=surface) == expected


def test_a_star_of_the_request_is_literal() -> None:
    (pattern,) = offers('grep -rn "onclick.*Tab" src')
    assert not Wildcard.literal_aware(pattern).matches('grep -rn "onclick.x" /etc/passwd "Tab" src')


def test_a_file_that_a_line_writes_is_offered_beside_its_command() -> None:
    assert offers("git log > out/a.txt") == ["git log", "/repo/out/*"]


def test_only_what_was_asked_for_is_offered() -> None:
    facts = Facts("bash", ("cat /etc/hosts/x",), "/repo")
    made = break_down(facts)
    asked = {at for at, unit in enumerate(made.units) if unit.surface == "external_directory"}
    assert [offer.surface for offer in suggest_patterns(facts, made, asked=asked)] == ["external_directory"]


KEPT = [" ".join([page.name, *words]) for page in every_program() for words in page.keeps]
WORDS = st.sampled_from(["main", "-x", "'a b'", "a*", "\\*", "$X", "x?", "../y", '"*"', "|", "&&", ";", ">", "f"])


@given(
    st.sampled_from(
        [" ".join([page.name, *words]) for page in every_program() for words in page.keeps]
        + ["rm", "sudo git checkout", "nohup npm run"]
    ),
    st.lists(WORDS, max_size=4),
)
@settings(max_examples=300, deadline=None)
def test_every_suggestion_covers_a_unit_of_its_own_request(command: str, words: list[str]) -> None:
    facts = Facts("bash", (" ".join([command, *words]),), "/repo", "/home/u")
    made = break_down(facts)
    for offer in suggest_patterns(facts, made):
        wildcard = Wildcard.literal_aware(offer.pattern)
        covered = [
            u for u in made.units if u.surface == offer.surface and any(wildcard.matches(t) for t in u.spellings)
        ]
        assert covered
        assert (
            not any(unit.opaque and wildcard.matches(unit.spellings[0]) for unit in made.units) or len(made.units) > 1
        )


@given(
    st.sampled_from(["read", "write", "mcp", "web", "skill"]),
    st.text(alphabet=st.sampled_from(list("ab*?\\/.: ~_{}")), min_size=1, max_size=20),
)
def test_every_other_suggestion_covers_its_own_request(surface: str, value: str) -> None:
    facts = Facts(surface, (value,), "/repo", "/home/u")
    made = break_down(facts)
    for offer in suggest_patterns(facts, made):
        assert any(
            Wildcard.literal_aware(offer.pattern).matches(text) for unit in made.units for text in unit.spellings
        )

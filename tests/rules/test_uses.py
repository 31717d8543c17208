"""Denies and asks of a use of a program, however the command is written."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.programs import read_command_use
from fwdperm.rules import Action, Layer, LayerKind, Origin, Rule, Ruleset
from fwdperm.rules.uses import UseIndex
from fwdperm.units import break_down
from fwdperm.wire import Facts


def covers(pattern: str, command: str) -> bool:
    return UseIndex([(0, pattern)]).covering(read_command_use(command.split())) == [0]


@pytest.mark.parametrize(
    ("pattern", "commands"),
    [
        (
            "git push *",
            [
                "git -C /w push",
                "git --no-pager push origin",
                "git -c a.b=c push -f",
                "git --git-dir=x push",
                "git --git-dir x push",
                "git --unheard-of push",
                "git --unheard-of x push",
                "/usr/bin/git push",
            ],
        ),
        (
            "git push --force *",
            ["git push origin main --force", "git push -f", "git push --forc", "git -C x push -fu o"],
        ),
        ("git push -f *", ["git push --force origin", "git push origin -f"]),
        ("rm -rf *", ["rm -fr x", "rm -r -f x", "rm -Rf x", "rm --recursive --force x", "rm -rfv x", "rm x -rf"]),
        ("git reset --hard *", ["git reset --har HEAD", "git -C x reset HEAD --hard"]),
        ("git checkout -- *", ["git -C x checkout -- f", "git checkout main -- f"]),
        ("kubectl delete *", ["kubectl -n prod delete pod x", "kubectl --context=prod delete pod x"]),
        ("docker rm *", ["docker --context prod rm -f web"]),
        ("gh pr merge *", ["gh -R o/r pr merge 3"]),
        ("terraform apply *", ["terraform -chdir=infra apply"]),
        ("npm publish *", ["npm --prefix sub publish"]),
        ("npm install *", ["npm i left-pad", "npm add x"]),
        ("aws s3 rm *", ["aws --profile p s3 rm s3://b --recursive"]),
        ("cargo publish *", ["cargo +nightly publish"]),
        ("make deploy *", ["make -C infra deploy", "make -j4 deploy"]),
        ("make deploy", ["make -C infra deploy"]),
        ("foo bar --prod *", ["foo --x bar --prod", "foo --x y bar --prod", "foo bar z --prod"]),
        ("git pus*", ["git -C x push origin"]),
        ("kubectl -n prod delete *", ["kubectl delete pod x -n prod", "kubectl --namespace=prod delete pod"]),
    ],
)
def test_a_deny_meets_its_use_however_it_is_written(pattern: str, commands: list[str]) -> None:
    assert [command for command in commands if not covers(pattern, command)] == []


@pytest.mark.parametrize(
    ("pattern", "commands"),
    [
        ("git push *", ["git stash push", "git log push", "git commit -m push", "git remote add push x", "gh push"]),
        ("git push --force *", ["git push origin force", "git push", "git push -n --", "git fetch --force"]),
        ("rm -rf *", ["rm -f x", "rm -r x", "rm x", "rmdir -rf x"]),
        ("kubectl -n prod delete *", ["kubectl -n dev delete pod x", "kubectl delete pod prod"]),
        ("make deploy", ["make -C infra deploy all", "make test"]),
        ("git push", ["git push origin", "git push --force"]),
        ("docker rm *", ["docker logs rm", "docker ps"]),
        ("*rm *", ["rm x"]),
        ("git *", ["git push"]),
    ],
)
def test_it_meets_no_other(pattern: str, commands: list[str]) -> None:
    """The last two are the matching of text's: they name no use."""
    assert [command for command in commands if covers(pattern, command)] == []


SWITCHES = st.lists(st.sampled_from(["-a", "-q", "--amend", "--no-edit", "-s", "--dry-run"]), unique=True, max_size=4)
BEFORE = st.lists(st.sampled_from(["-C x", "--no-pager", "-c a=b", "--git-dir=y", "-P"]), max_size=3)


@settings(max_examples=60, deadline=None)
@given(SWITCHES, BEFORE, st.lists(st.sampled_from(["f", "g/h"]), max_size=2))
def test_order_of_options_and_what_stands_before_the_subcommand_change_no_reading(
    switches: list[str], before: list[str], operands: list[str]
) -> None:
    """Every order of the same words is one use, and each of its options denied alone is met."""
    expected = read_command_use(["git", "commit", *switches, *operands])
    for order in list(permutations(switches))[:6]:
        line = ["git", *" ".join(before).split(), "commit", *operands, *order]
        use = read_command_use(line)[0]
        assert use.words == expected[0].words
        assert use.options - use.before == expected[0].options
    for switch in switches:
        assert covers(f"git commit {switch} *", " ".join(["git", *before, "commit", *operands, *switches]))


def decide(line: str, *rules: tuple[str, str]) -> Action:
    made = tuple(Rule("bash", pattern, Action(action), Origin(LayerKind.USER)) for pattern, action in rules)
    ruleset = Ruleset.compose([Layer("x", LayerKind.USER, made)], home="/home/u")
    facts = Facts("bash", (line,), cwd="/w/proj", home="/home/u")
    findings = [ruleset.resolve(unit) for unit in break_down(facts).units]
    return max((one.action for one in findings if one.speaks), key=lambda action: action.strictness)


@pytest.mark.parametrize(
    "line", ["git -C sub status", "git --no-pager status -s", "git -C sub --no-pager status", "git -C /w/proj status"]
)
def test_an_allow_sees_through_options_that_stay_in_the_workspace(line: str) -> None:
    assert decide(line, ("git status *", "allow")) is Action.ALLOW


@pytest.mark.parametrize(
    "line",
    [
        "git -C /elsewhere status",
        "git -C .. status",
        "git -C $D status",
        "git -C * status",
        "git -c core.fsmonitor=evil status",
        "git --git-dir=x status",
        "git --exec-path=x status",
        "git --unheard-of status",
        "cd /x && git -C sub status",
        "git -C sub push",
        "./git -C sub status",
    ],
)
def test_and_through_no_other(line: str) -> None:
    assert decide(line, ("git status *", "allow"), ("cd *", "allow")) is Action.ASK

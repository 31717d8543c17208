"""A command behind another program, known or not: what a person denied, asks about, or nobody may do, is seen there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = (
    "uv run",
    "uv run --with x",
    "uvx",
    "poetry run",
    "pdm run",
    "hatch run",
    "pipenv run",
    "rye run",
    "pixi run",
    "npx",
    "npx -y",
    "npm exec --",
    "npm exec",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bunx",
    "bundle exec",
    "direnv exec .",
    "mise exec --",
    "mise x --",
    "asdf exec",
    "nix develop -c",
    "nix shell nixpkgs#x -c",
    "nix-shell --run Q",
    "tmux new -d",
    "tmux new-session -d",
    "tmux -L s new-window",
    "hyperfine Q",
    "perf stat",
    "perf record --",
    "perf trace",
    "git bisect run",
    "git rebase --exec Q main",
    "git rebase -x Q main",
    "git submodule foreach",
    "git submodule foreach --recursive Q",
    "git filter-branch --tree-filter Q",
    "parallel",
    "parallel -j2",
    "parallel Q ::: a",
    "conda run",
    "conda run -n e",
    "micromamba run -n e",
    "aws-vault exec p --",
    "mosh host --",
    "ssh host",
    "choom -n 5 --",
    "cpulimit -l 50 --",
    "firejail",
    "firejail --quiet",
    "bwrap --bind / /",
    "screen",
    "screen -dm",
    "podman unshare",
    "oc rsh pod",
    "oc exec pod --",
    "kubectl exec pod --",
    "lxc exec c --",
    "incus exec c --",
    "docker compose run svc",
    "docker compose exec svc",
    "docker exec c",
    "podman exec c",
    "watch",
    "watch -n1",
    "entr",
    "ionice -c3",
    "taskset 1",
    "chrt 1",
    "strace",
    "strace -f",
    "ltrace",
    "gdb --args",
    "valgrind",
    "script -c Q",
    "unbuffer",
    "flock l",
    "flock l -c Q",
    "setsid",
    "systemd-run",
    "systemd-run --user",
    "doas",
    "su -c Q",
    "runuser -u x --",
    "chroot /x",
    "unshare -r",
    "nsenter -t 1",
    "faketime x",
    "xvfb-run",
    "dbus-run-session --",
    "ssh-agent",
    "op run --",
    "doppler run --",
    "chamber exec s --",
    "sops exec-env f Q",
    "foreman run",
    "dotenv run --",
    "dotenv -f x --",
    "cross-env A=b",
    "env-cmd",
    "concurrently Q",
    "nodemon --exec Q",
    "watchexec",
    "watchexec --",
    "cargo watch -s Q",
    "just --command",
    "rlwrap",
    "torsocks",
    "proxychains",
    "proxychains4",
    "caffeinate",
    "sg g -c Q",
    "pkexec",
    "busybox",
    "toybox",
    "vagrant ssh -c Q",
    "multipass exec v --",
    "heroku run",
    "fly ssh console -C Q",
    "gcloud compute ssh v --command Q",
    "distrobox enter b --",
    "toolbox run",
    "flatpak run --command=Q x",
    "start-stop-daemon --start --exec Q",
    "timeout 5",
    "stdbuf -oL",
    "nice -n 5",
    "catchsegv",
    "setarch x",
    "linux32",
    "cgexec -g x",
    "numactl --",
    "prlimit --nproc=5",
    "setpriv --",
    "tsocks",
    "fakeroot",
    "socat - EXEC:Q",
    "pssh -H h",
    "tar --to-command=Q -xf f",
    "find . -exec",
    "fd -x",
    "rg --pre Q x",
)
"""Ways to run a command that the book of programs knows. `Q` is the command as one word; else it stands last."""

UNKNOWN = (
    "tmux send-keys Q Enter",
    "adb shell",
    "vault-exec",
    "cargo watch -x",
    "capsh -- -c Q",
    "eatmydata",
    "proot",
    "expect -c Q",
    "ansible all -a Q",
    "pdsh -w h",
    "salt x cmd.run Q",
    "git -c alias.x=!Q x",
    "git config alias.x !Q",
    "make SHELL=Q",
    "anywrap",
    "anywrap --opt x --",
    "anywrap -v --flag=1",
    "anywrap sub",
    "anywrap -c Q",
)
"""Ways that the book does not know, or only as a program with words that nobody explains: they may run the command."""


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Bulk:
    place: Path = tmp_path_factory.mktemp("root")
    return Bulk(
        Locations(root=place / "root", state=place / "state", config=place / "rules.toml", config_is_named=False)
    )


def decide(bulk: Bulk, value: str, *rules: tuple[str, str]) -> str:
    asked = {"id": "x", "surface": "bash", "value": value, "cwd": "/w/proj", "home": "/home/u"}
    told = bulk.decide(json.dumps({**asked, "rules": [["bash", *rule] for rule in rules]}).encode(), number=1)
    return str(told["action"])


def behind(way: str, command: str) -> str:
    return way.replace("Q", f"'{command}'") if "Q" in way else f"{way} {command}"


def test_a_deny_denies_behind_what_the_book_knows_and_asks_behind_what_it_does_not(bulk: Bulk) -> None:
    rules = ("*", "allow"), ("rm *", "deny")
    found = {way: decide(bulk, behind(way, "rm y"), *rules) for way in (*KNOWN, *UNKNOWN)}
    assert {way: action for way, action in found.items() if action == "allow"} == {}
    assert {way: found[way] for way in KNOWN if found[way] != "deny"} == {}


def test_an_ask_asks_behind_all_of_them(bulk: Bulk) -> None:
    rules = ("*", "allow"), ("rm *", "ask")
    found = {way: decide(bulk, behind(way, "rm y"), *rules) for way in (*KNOWN, *UNKNOWN)}
    assert {way: action for way, action in found.items() if action == "allow"} == {}


def test_nobody_wipes_the_machine_behind_any_of_them(bulk: Bulk) -> None:
    found = {way: decide(bulk, behind(way, "rm -rf /"), ("*", "allow")) for way in (*KNOWN, *UNKNOWN)}
    assert {way: action for way, action in found.items() if action != "deny"} == {}


def test_what_no_rule_is_about_is_allowed_behind_all_of_them(bulk: Bulk) -> None:
    """The other side: a rule for `rm` costs nothing where no `rm` is, but for where the command begins is not sure."""
    rules = ("*", "allow"), ("rm *", "deny"), ("mv *", "ask")
    found = {way: decide(bulk, behind(way, "ls y"), *rules) for way in (*KNOWN, *UNKNOWN)}
    assert {way: action for way, action in found.items() if action != "allow"} == {
        "bwrap --bind / /": "ask",  # an option with two values, of which the book knows one
        "socat - EXEC:Q": "deny",  # a shell for somebody else, whatever it runs
    }


@pytest.mark.parametrize(
    ("value", "denied"),
    [
        ("k3s kubectl delete pod x", "kubectl delete *"),
        ("hyperfine --prepare 'true' 'rm y'", "rm *"),
        ("hyperfine --prepare 'rm y' true", "rm *"),
        ("git rebase -x 'rm y' main", "rm *"),
        ("sort --compress-prog=rm x", "rm"),
        ("rg --pre 'rm x' y", "rm *"),
        ("nix develop .#x -c rm y", "rm *"),
        ("concurrently 'ls x' 'rm y'", "rm *"),
        ("dotenv run -- rm y", "rm *"),
        ("chamber exec s -- rm y", "rm *"),
        ("tar cfI a rm x", "rm"),
        ("tar cf a --checkpoint=1 --checkpoint-action=exec=rm x", "rm"),
        ("git rebase --ex 'rm y' main", "rm *"),
        ("tmux send-keys -t x 'rm y' Enter", "rm *"),
    ],
)
def test_what_options_and_operands_run_is_a_unit_of_its_own(bulk: Bulk, value: str, denied: str) -> None:
    program = value.partition(" ")[0]
    assert decide(bulk, value, ("*", "allow"), (denied, "deny")) == "deny"
    assert decide(bulk, value, (f"{program} *", "allow")) == "ask"


def test_a_setting_that_runs_something_is_a_command_of_its_own(bulk: Bulk) -> None:
    """`git *` is no word for what `core.pager` runs; settings that run nothing, and harmless pagers, need no other."""
    rule = ("git *", "allow")
    asked = ["core.pager=evil", "Core.Pager=evil", "alias.x='!evil'", "diff.y.textconv=./evil", '"core.pager=$X"', "$X"]
    quiet = ["user.name='A B'", "color.ui=always", "core.pager=cat", "core.pager=", 'user.name="$X"']
    assert {one: decide(bulk, f"git -c {one} log", rule) for one in asked} == dict.fromkeys(asked, "ask")
    assert {one: decide(bulk, f"git -c {one} log", rule) for one in quiet} == dict.fromkeys(quiet, "allow")
    assert decide(bulk, "git -c core.pager='rm x' log", ("*", "allow"), ("rm *", "deny")) == "deny"
    assert decide(bulk, "cargo --config 'build.rustc-wrapper=\"evil\"' build", ("cargo *", "allow")) == "ask"


@pytest.mark.parametrize(
    "value",
    ["npm run shutdown", "mytool note 'the reboot loop'", "git commit -m 'rm -rf / is gone'", "echo rm -rf /"],
)
def test_prose_and_names_are_no_catastrophe(bulk: Bulk, value: str) -> None:
    assert decide(bulk, value, ("*", "allow")) == "allow"

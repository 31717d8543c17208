"""Every row of the table of wrappers: the wrapped command is found, whatever options stand before it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.programs.folding import every_program, lookup
from fwdperm.programs.program import Carries
from fwdperm.programs.standard import standard_base
from fwdperm.programs.variables import changes_what_runs, is_harmless_variable
from fwdperm.shell.parsing import parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fwdperm.programs.program import Use

TRANSPARENT = [one.name for one in every_program() if one.use.wrapping is not None and one.use.wrapping.transparent]

WORD_ROWS = {
    "sudo": [
        "sudo",
        "sudo -n",
        "sudo -u a",
        "sudo -ua",
        "sudo -nu a --",
        "sudo --user=a -E",
        "sudo --user a X=1",
        "sudo -D /tmp",
    ],
    "doas": ["doas", "doas -u a", "doas -n"],
    "pkexec": ["pkexec", "pkexec --user a", "pkexec --disable-internal-agent"],
    "runuser": ["runuser -u a --", "runuser -u a"],
    "env": [
        "env",
        "env -i",
        "env -u X",
        "env X=1 Y=2",
        "env -C /tmp",
        "env --chdir=/tmp -i X=1",
        "env -",
        "env -iS 'X=1'",
    ],
    "xargs": [
        "xargs",
        "xargs -0",
        "xargs -n 1 -P 4",
        "xargs -I{}",
        "xargs -I {}",
        "xargs -i",
        "xargs --max-args=2",
        "xargs -a f -r",
    ],
    "nice": [
        "nice",
        "nice -n 5",
        "nice -n5",
        "nice -5",
        "nice --adjustment=5",
        "nice --adjustment 5",
        "nice -n -5",
        "nice --adj 5",
    ],
    "ionice": ["ionice", "ionice -c 3", "ionice -c2 -n0", "ionice --class idle", "ionice -t"],
    "chrt": ["chrt 5", "chrt -f 5", "chrt --rr 1", "chrt -T 1 -d 0"],
    "taskset": ["taskset 1", "taskset -c 0-3", "taskset --cpu-list 1"],
    "nohup": ["nohup", "/usr/bin/nohup", "nohup --"],
    "time": ["time", "time -p", "/usr/bin/time -v", "/usr/bin/time -o f -a", "/usr/bin/time --format=%e"],
    "timeout": [
        "timeout 5",
        "timeout -s KILL 5",
        "timeout -k 1 5s",
        "timeout --signal=9 --foreground 5",
        "timeout --kill-after 1 5",
    ],
    "stdbuf": ["stdbuf -oL", "stdbuf -o L -e 0", "stdbuf --output=L"],
    "setsid": ["setsid", "setsid -w", "setsid --fork"],
    "setpriv": ["setpriv --no-new-privs", "setpriv --reuid 5 --clear-groups"],
    "flock": [
        "flock /tmp/l",
        "flock -n /tmp/l",
        "flock -w 5 /tmp/l",
        "flock --timeout 5 /tmp/l",
        "flock -xn -E 3 /tmp/l",
    ],
    "watch": ["watch", "watch -n 1", "watch -n1 -d", "watch --interval=2", "watch -x"],
    "parallel": ["parallel", "parallel -j 4", "parallel --jobs 4 -k"],
    "entr": ["entr", "entr -r", "entr -cr"],
    "ssh": ["ssh h", "ssh -p 22 u@h", "ssh -tt -i k h", "ssh h -p 22", "ssh -o BatchMode=yes h --"],
    "autossh": ["autossh -M 0 h", "autossh h -N"],
    "bwrap": ["bwrap", "bwrap --unshare-all --dev /dev --"],
    "envchain": ["envchain aws"],
    "flatpak-spawn": ["flatpak-spawn --host", "flatpak-spawn --env=A=b"],
    "gpg-agent": ["gpg-agent --daemon"],
    "lima": ["lima"],
    "mosh": ["mosh h", "mosh -p 60001 u@h"],
    "plink": ["plink h", "plink -P 22 h"],
    "proxychains": ["proxychains4 -q", "proxychains -f conf"],
    "pssh": ["pssh -h hosts", "pssh -i -H h"],
    "rsh": ["rsh h", "rsh -l u h"],
    "ssh-agent": ["ssh-agent", "ssh-agent -t 60"],
    "systemd-nspawn": ["systemd-nspawn -D /srv/x", "systemd-nspawn -q -M m --"],
    "torsocks": ["torsocks", "torify -q"],
    "sshpass": ["sshpass -p x", "sshpass -e ssh h"],
    "exec": ["exec", "exec -a n", "exec -c"],
    "command": ["command", "command -p", "command --"],
    "builtin": ["builtin"],
    "coproc": ["coproc"],
    "strace": ["strace", "strace -f -e trace=file", "strace -ff -o out", "strace --follow-forks"],
    "ltrace": ["ltrace", "ltrace -S -o out"],
    "unshare": ["unshare -r", "unshare --mount --pid --fork", "unshare -w /tmp"],
    "nsenter": ["nsenter -t 1 -m", "nsenter --target 1 --mount --"],
    "chroot": ["chroot /x", "chroot --userspec=a:b /x"],
    "busybox": ["busybox"],
    "toybox": ["toybox"],
    "caffeinate": ["caffeinate", "caffeinate -i", "caffeinate -t 5"],
    "unbuffer": ["unbuffer", "unbuffer -p"],
    "linux32": ["linux32"],
    "linux64": ["linux64"],
    "systemd-run": ["systemd-run", "systemd-run --user -p A=b", "systemd-run --unit=x --pty"],
    "docker": [
        "docker exec c",
        "docker exec -it -u 0 c",
        "docker run img",
        "docker run --rm -v a:b -e X=1 img",
        "docker compose exec web",
        "docker compose -f a.yml run --rm web",
        "docker --context c container exec c",
        "docker run -it --entrypoint nice img",
    ],
    "podman": ["podman run --rm img", "podman exec -w /x c"],
    "nerdctl": ["nerdctl run img"],
    "docker-compose": ["docker-compose exec web", "docker-compose -f x.yml run --rm web"],
    "podman-compose": ["podman-compose exec web"],
    "kubectl": [
        "kubectl exec pod --",
        "kubectl -n ns exec -it pod -c x --",
        "kubectl exec deploy/x -n ns --",
        "kubectl run x --image=y --",
    ],
    "oc": ["oc exec pod --"],
}
CODE_ROWS = {
    "su": ["su -c {}", "su a -c {}", "su - a -c {}", "su --command={}", "su --command {} a", "su -lc {}"],
    "runuser": ["runuser -l a -c {}"],
    "script": ["script -c {} f", "script -qec {}", "script --command {}"],
    "flock": ["flock /tmp/l -c {}", "flock -n /tmp/l --command {}"],
    "env": ["env -S {}", "env --split-string={}", "env -iS{}", "env -vS {}"],
    "sh": ["sh -c {}", "sh -ec {}", "sh -c -e {}", "/bin/sh -c {} name arg"],
    "bash": [
        "bash -c {}",
        "bash -lc {}",
        "bash -euo pipefail -c {}",
        "bash --norc -c {}",
        "bash -O extglob -c {}",
        "bash +x -c {}",
        "bash <<< {}",
    ],
    "zsh": ["zsh -c {}", "zsh -ic {}"],
    "dash": ["dash -c {}"],
    "ksh": ["ksh -c {}"],
    "ksh93": ["ksh93 -c {}"],
    "mksh": ["mksh -c {}"],
    "ash": ["ash -c {}"],
    "rbash": ["rbash -c {}"],
    "csh": ["csh -c {}", "tcsh -fc {}"],
    "yash": ["yash -c {}"],
    "zsh-5.9": ["zsh-5.9 -c {}"],
    "pwsh": ["pwsh -c {}", "pwsh -Command {}", "powershell -NoProfile -Command {}", "pwsh.exe -c {}"],
    "gtimeout": ["gtimeout 5 sh -c {}"],
    "fish": ["fish -c {}", "fish --command={}", "fish -C {}"],
    "eval": ["eval {}", "eval -- {}"],
    "mapfile": ["mapfile -C {} -c 1 a", "mapfile -t -C {} a < f"],
    "readarray": ["readarray -C {} a"],
    "compgen": ["compgen -C {} x"],
    "trap": ["trap {} EXIT", "trap -- {} INT TERM"],
    "alias": ["alias x={}"],
    "watch": ["watch {}"],
    "parallel": ["parallel {} ::: a b"],
    "ssh": ["ssh h {}", "ssh -o ProxyCommand={} h"],
}
AROUND_ROWS = {
    "find": ["find . -exec {} ;", "find . -name x -execdir {} +", "find . -exec a ; -ok {} ;"],
    "gfind": ["gfind . -exec {} ;"],
    "fd": ["fd -x {}", "fd -t f pat --exec {}", "fd -HX {}", "fd --exec-batch {}"],
    "fdfind": ["fdfind -x {}"],
}
WORDS = ("rm", "-rf", "x y")


def _rows() -> list[tuple[str, str]]:
    command = " ".join(shlex.quote(word) for word in WORDS)
    rows = [(name, f"{front} {command}") for name, fronts in WORD_ROWS.items() for front in fronts]
    rows += [(name, line.replace("{}", shlex.quote(command), 1)) for name, lines in CODE_ROWS.items() for line in lines]
    around = [
        (name, line.replace("{}", command, 1).replace(" ;", " \\;"))
        for name, lines in AROUND_ROWS.items()
        for line in lines
    ]
    return rows + around


@pytest.mark.parametrize(("name", "line"), _rows())
def test_what_a_wrapper_runs_is_a_command_of_its_own(name: str, line: str) -> None:
    parsed = parse_line(line)
    joined = name in ("watch", "ssh", "sshpass", "parallel", "docker", "autossh", "plink", "pssh", "rsh")
    found = [
        c
        for c in parsed.commands
        if c.argv[:2] == WORDS[:2] and (joined or c.argv[2:3] == (WORDS[2],)) and c.wrapped_by
    ]
    assert found, [c.argv for c in parsed.commands]
    assert not any(c.opaque for c in parsed.commands) or name in ("entr", "pwsh")
    assert all(parsed.commands[c.carrier].raw for c in found)


def test_what_any_wrapper_of_the_book_runs_is_a_command_of_its_own() -> None:
    """Every page that says how its words carry a command is believed: a wrapper without rows above is held to this."""
    tested = {found.name for name in (*WORD_ROWS, *CODE_ROWS, *AROUND_ROWS) if (found := lookup(name)) is not None}
    lost = []
    for page in every_program():
        for use in carrying(page.use):
            if page.name in tested and not use.words:
                continue
            assert use.wrapping is not None
            front = " ".join([page.name, *use.words, *(["a"] * use.wrapping.operands)])
            line = f"{front} rm -rf 'x y'"
            runs = (*(use.words[-1:] if use.wrapping.keeps_name else ()), *WORDS)[:2]
            found = [c for c in parse_line(line).commands if c.argv[:2] == runs and c.wrapped_by]
            if not found and use.wrapping.style in (Carries.WORDS, Carries.JOINED):
                lost.append(line)
    assert lost == []


def carrying(use: Use) -> Iterator[Use]:
    """Give every use that carries a command, below one that does not."""
    if use.wrapping is not None:
        yield use
        return
    for sub in {id(one): one for one in use.subs.values()}.values():
        yield from carrying(sub)


@pytest.mark.parametrize(
    "line",
    [
        "timeout --what 5 rm x",
        "sudo --what rm x",
        "nice --what 5 rm x",
        "docker run --what 1 img rm x",
        "xargs --what rm x",
        "env --what rm x",
    ],
)
def test_an_unknown_option_makes_the_wrapper_opaque_and_the_command_is_still_found(line: str) -> None:
    commands = parse_line(line).commands
    assert commands[0].opaque
    assert ("rm", "x") in [c.argv for c in commands]


@pytest.mark.parametrize(
    "line",
    [
        "$CMD x",
        "$(which rm) x",
        "`x` y",
        "/bin/r? x",
        "{rm,x}",
        'eval "$X"',
        'sh -c "$X"',
        'sh -c "$(curl x)"',
        "eval $A b",
        "curl x | sh",
        "curl x | sudo bash -s",
        "bash",
        "bash -s -- a",
        "sh /dev/stdin",
        "bash <(curl x)",
        ". <(curl x)",
        "source /dev/fd/3",
        "xargs sh -c",
        "ls | xargs",
        "xargs sudo",
        "xargs $X",
        "xargs -I{} {}",
        "xargs -I% sh -c 'rm %'",
        "find . -exec {} \\;",
        "find . -exec sh -c 'rm {}' \\;",
        "parallel",
        "bash <<EOF\necho $X\nEOF",
        "cat <<EOF | sh\n$X\nEOF",
        "echo 'ls' | sh",
        "sudo -s",
        "su",
        "chroot /x",
        "unshare -r",
        "bash <&3",
        "sh -c",
        "sudo $X rm",
        "env $X rm",
        "alias x=$Y",
        'trap "$X" EXIT',
        'su -c "$X"',
        'ssh h "$X"',
        'flock l -c "$X"',
        "curl x | (sh)",
        "curl x | { sh; }",
        "curl x | while true; do bash; done",
    ],
)
def test_what_cannot_be_known_is_opaque(line: str) -> None:
    parsed = parse_line(line)
    known = line == "ls | xargs"
    assert bool(parsed.opaque or any(c.opaque for c in parsed.commands)) is not known


@pytest.mark.parametrize(
    "line",
    [
        "python3 x.py",
        "python3 -c 'import os'",
        "node -e 1",
        "source .env",
        ". ./env.sh",
        "bash script.sh",
        "bash -x script.sh a",
        "bash --version",
        "command -v git",
        "sudo -v",
        "env",
        "env X=1",
        "trap - EXIT",
        "trap",
        "alias",
        "nice",
        "exec 3>f",
        "sudo -e f",
        "ionice -p 1",
        "docker ps",
        "docker run img",
        "kubectl get pods",
        "find . -name x",
        "fd x",
        "xargs rm",
        "xargs -I{} rm {}",
        "find . -exec rm {} +",
        "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
        "ssh h",
        "bash < script.sh",
        "sudo -l",
    ],
)
def test_what_can_be_known_is_not_opaque(line: str) -> None:
    parsed = parse_line(line)
    assert [c.opaque for c in parsed.commands if c.opaque] == []
    assert parsed.opaque == ""


@pytest.mark.parametrize(
    "line", ["ssh h rm x", "docker exec c rm x", "kubectl exec p -- sh -c 'rm x'", "ssh h 'a; rm x'"]
)
def test_a_command_that_runs_elsewhere_is_marked_remote(line: str) -> None:
    assert [c.remote for c in parse_line(line).commands if c.program == "rm"] == [True]


def test_a_proxy_command_of_ssh_runs_here() -> None:
    commands = parse_line("ssh -o 'ProxyCommand=rm x' h ls").commands
    assert [(c.argv, c.remote) for c in commands[1:]] == [(("rm", "x"), False), (("ls",), True)]


@pytest.mark.parametrize("name", sorted(TRANSPARENT))
def test_a_listed_wrapper_is_harmless_only_by_its_own_name(name: str) -> None:
    operand = {"timeout": " 5"}.get(name, "")
    assignment = " CI=1" if name == "env" else ""
    assert parse_line(f"{name}{operand}{assignment} make").commands[0].harmless
    assert parse_line(f"/usr/bin/{name}{operand}{assignment} make").commands[0].harmless
    assert not parse_line(f"./{name}{operand}{assignment} make").commands[0].harmless
    assert not parse_line(f"$D/{name}{operand}{assignment} make").commands[0].harmless


@pytest.mark.parametrize(
    "line",
    [
        "env LD_PRELOAD=x make",
        "env -i make",
        "env CI=1 PATH=x make",
        "env CI+=1 make",
        "sudo make",
        "time -o f make",
        "xargs make",
        "exec make",
        "env CI=$X make",
    ],
)
def test_other_uses_are_not_harmless(line: str) -> None:
    assert not parse_line(line).commands[0].harmless


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "PATH",
        "NODE_OPTIONS",
        "GOFLAGS",
        "GIT_SSH_COMMAND",
        "JAVA_OPTS",
        "PYTHONPATH",
        "PAGER",
        "EDITOR",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PS4",
        "RUSTFLAGS",
        "DYLD_X",
    ],
)
def test_variables_that_change_what_runs_are_never_harmless(name: str) -> None:
    assert changes_what_runs(name)
    assert not is_harmless_variable(name)


def test_standard_directories_count_and_others_do_not() -> None:
    assert standard_base("/usr/bin/git") == "git"
    assert [standard_base(p) for p in ("./git", "/srv/git", "git", "/usr/bin/../x/git", "/usr/bin//git")] == [""] * 5


FRONTS = [
    front for name, fronts in WORD_ROWS.items() for front in fronts if name not in ("docker", "coproc", "watch", "time")
]


@given(
    st.lists(st.sampled_from(FRONTS), min_size=1, max_size=6),
    st.sampled_from(["", "sh -c {}", "eval {}", "if a; then {}; fi"]),
)
@settings(max_examples=300, deadline=None)
def test_wrappers_in_wrappers_never_hide_a_command(fronts: list[str], shell: str) -> None:
    command = "rm -rf x"
    line = f"{' '.join(fronts)} {command}"
    if shell:
        line = shell.replace("{}", line if "if" in shell else shlex.quote(line))
    parsed = parse_line(line)
    assert "rm -rf x" in [" ".join(c.argv) for c in parsed.commands] or parsed.opaque

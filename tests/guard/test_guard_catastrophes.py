"""Catastrophes by other ways, and what looks like one and is none: nobody may allow the first, a person the second."""

from __future__ import annotations

from dataclasses import replace

import pytest
from guard_cases import AROUND, class_of

from fwdperm.guard import Danger


@pytest.mark.parametrize(
    "line",
    [
        "parallel rm -rf ::: /",
        "parallel rm -rf {} ::: a /etc",
        "rm -rf /proc/self/root/",
        "rm -rf /proc/1/root/usr",
        "rm -rf ${HOME%/}",
        "rm -rf ~/{.,}*",
        "for d in /; do rm -rf $d; done",
        'for d in a /etc; do rm -rf "$d"; done',
        "git -C / clean -xdff",
        "git -C ~ clean -d --force",
        "docker run -v /:/h alpine rm -rf /h",
        "docker run --rm -v/etc:/e alpine rm -rf /e",
        "docker run --mount type=bind,source=/,target=/h alpine rm -rf /h/usr",
        'perl -e \'system("rm","-rf","/")\'',
        'ruby -e \'system("rm", "-rf", "/usr")\'',
        "fdisk /dev/sda",
        "sfdisk /dev/nvme0n1",
        "chmod 000 /",
        "chmod a-x /usr",
        "diskutil eraseDisk JHFS+ x disk0",
        "command_not_found_handle() { command_not_found_handle & x; }; x",
        "b() { b & b & }; b",
        "anywrap rm -rf /",
        "anywrap --quiet -- rm -rf /",
        "python -I -m fwdperm allow ID",
        "python3 -mfwdperm allow ID",
        "python .venv/bin/fwdperm allow ID",
        "uv run fwdperm reject ID",
        "fwdperm rules revoke g1",
        "git log --output=/home/u/.config/fwdperm/config.toml",
    ],
)
def test_a_catastrophe_by_another_way_is_one(line: str) -> None:
    assert class_of("bash", line).danger is Danger.CRITICAL


@pytest.mark.parametrize("line", ["mv ~/.config /tmp/x", "cp x ~/.config/*/config.toml", "rm -r ~/.local/state"])
def test_where_nobody_says_where_our_files_are_they_are_in_the_home(line: str) -> None:
    assert class_of("bash", line, around=replace(AROUND, own=())).danger is Danger.CRITICAL


@pytest.mark.parametrize(
    "line",
    [
        "chown -R u:u /home/u",
        "chmod -R go-w ~",
        "docker run --rm alpine rm -rf /",
        "docker run -v ./data:/data alpine rm -rf /data/x",
        "fdisk -l",
        "sfdisk -d /dev/sda",
        "chmod 755 /",
        "git -C sub clean -xdf",
        "git -C / clean -n",
        "b() { c & d & }; b",
        "fwdperm check",
        "fwdperm why x",
        "fwdperm rules list",
        "echo rm -rf /",
        "for d in build dist; do rm -rf $d; done",
        "parallel rm -rf ::: build dist",
    ],
)
def test_what_only_looks_like_one_is_none(line: str) -> None:
    assert class_of("bash", line).danger is not Danger.CRITICAL


@pytest.mark.parametrize(
    "line",
    [
        "make --eval='x:;y'",
        "cargo --config x=y build",
        "go test -exec CMD ./...",
        "sqlite3 a.db '.shell x'",
        "psql -c '\\! x'",
        "psql -c '\\o /tmp/x'",
        "split --filter=CMD x",
        "rsync -a src/ host:dst/",
        "git archive --remote=x HEAD",
        "python manage.py flush",
        "mv x .github",
        "cp -r x .claude",
        "cp -r h .githooks",
        "mv v .vscode",
        "gh pr merge 1",
        "docker system prune -af",
        "git fetch ext::sh",
    ],
)
def test_a_way_to_run_send_or_stay_is_dangerous_or_asks_for_a_rule(line: str) -> None:
    """Nothing of these is routine: no judge allows one alone."""
    assert class_of("bash", line).danger.rank > Danger.ROUTINE.rank


@pytest.mark.parametrize("line", ["git stash push", "git commit -m push", "gh run list", "docker logs run", "man ls"])
def test_a_word_of_danger_at_another_place_is_none(line: str) -> None:
    assert class_of("bash", line).danger is Danger.ROUTINE

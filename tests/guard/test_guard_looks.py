"""Looking at the machine and opening a window is not dangerous; what stands next to it still is."""

from __future__ import annotations

import pytest
from guard_cases import class_of

LOOKS = """
eog
gedit notes.txt
libreoffice --writer
xdg-open doc.pdf
alias
arch
apt list --installed
bluetoothctl devices
cat /proc/cpuinfo
cat /proc/meminfo
crontab -l
date '+%Y-%m-%d %H:%M:%S'
date -d @1700000000
dmesg
dpkg --get-selections
echo "$HOME: $((6 * 7))"
echo $$ $? $PATH
find . -type f -printf '%p\\n'
flatpak list
getconf _NPROCESSORS_ONLN
gh pr view 3
git --help
grep -rn 'def main' .
hostname -I
ifconfig
ip -s link
ip addr show
ip route show
journalctl -n 10
lscpu
lspci
make docs
mount
mv report_old.pdf report_new.pdf
nmcli dev wifi
nmcli device status
nproc --all
pgrep -f vite
printenv PATH
pyenv versions
sensors
sysctl -a
top -b -n 1
tput cols
uniq notes.txt
uuidgen
whereis gcc
xxd notes.txt
""".strip().splitlines()
"""Only looks, or stays in the workspace: the judge may settle it."""

ASKS = """
> out.log
>> notes.txt
make -f Makefile.ci test
make CC=gcc
alias ll='ls -la'
bluetoothctl connect 00:00
comm <(sort a.txt) <(./x)
cp a.txt /tmp/
date 010203042026
du -sh ~/*
env
env | sort
firefox https://example.com
gh api repos/o/r/pulls/1/comments
grep -r KEY .
grep -rv 'def main' .
grep -rA5 'def main' .
history
hostname evil
make clean
nano notes.txt
nmcli dev wifi connect x
pip install -e .
printenv
tar -cf a.tar *
unzip a.zip
xxd a.md b.md
zip -r a.zip *
echo ${HOME:=x}
echo $((a[0]))
echo $HOSTILE
""".strip().splitlines()
"""Not for the judge alone, and no danger by itself: a person's rule may cover it."""

DANGEROUS = """
cat *
chmod 777 /etc
cp a /usr/local/bin/x
make -f -
make -f- x
make MAKEFLAGS=x
make SHELL=/bin/x
tee /etc/x
> src/app.py
grep -r 'api_key' .
cat /proc/self/maps
crontab -
crontab -r
crontab new.tab
gh api -X POST repos/o/r/issues
gh api graphql -f query=x
gh api repos/o/r -ftitle=x
google-chrome --gpu-launcher=x
gsettings set a b c
history -c
ifconfig eth0 down
ip addr add 10.0.0.1/8 dev eth0
ip link set eth0 down
ip route del default
ip -b file
libreoffice --headless --convert-to pdf a.odt
mount -a
mount /dev/sdb1 mnt
nano -s ./x a.txt
nmcli connection delete x
nmcli networking off
osascript -e 'x'
pip install -e . requests
printenv AWS_SECRET_ACCESS_KEY
sysctl -w a=b
sysctl a=b
update-alternatives --install /usr/bin/x x /tmp/x 1
""".strip().splitlines()
"""Changes the machine, shows a secret or runs code: a person alone."""


@pytest.mark.parametrize(
    ("lines", "wanted"), [(LOOKS, "routine"), (ASKS, "ruled"), (DANGEROUS, "dangerous")], ids=["looks", "asks", "harms"]
)
def test_every_line_is_called_what_it_is(lines: list[str], wanted: str) -> None:
    found = {line: class_of("bash", line) for line in lines}
    assert {line: one.id for line, one in found.items() if one.danger.value != wanted} == {}

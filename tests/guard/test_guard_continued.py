"""Continued lines: a catastrophe that a line break parts is one all the same, and a deny is heard."""

from __future__ import annotations

import pytest
from guard_cases import class_of

from fwdperm.guard.classes import Danger
from fwdperm.units.breakdown import break_down
from fwdperm.wire.request import Facts

J = "\\\n"
HIDDEN = [
    f'echo "${J}(rm -rf /)"',
    f'git commit -m "fix ${J}(rm -rf /)"',
    f"echo ${J}(rm -rf /)",
    f'echo "${J}{J}{J}(rm -rf /)"',
    f"cat <<E\n${J}(rm -rf /)\nE",
    f"cat <<E\n\\\\${J}(rm -rf /)\nE",
    f"cat <<-E\n\t${J}(rm -rf /)\n\tE",
    f"echo ${J}{{x:-${J}(rm -rf /)}}",
    f'echo "${{x:-${J}(rm -rf /)}}"',
    f"echo `r{J}m -rf /`",
    f'echo "`echo \\`rm -{J}rf /\\``"',
    f"cat <{J}(rm -rf /)",
    f"echo $({J}rm -rf /)",
    f"echo a &{J}& rm -rf /",
    f"[[ -n ${J}(rm -rf /) ]]",
    f"echo $((1 + ${J}(rm -rf /)))",
    f"(( x = ${J}(rm -rf /) ))",
    f"x=${J}(rm -rf /)",
    f"echo 'a{J}' ${J}(rm -rf /)",
    f"echo a # b{J}rm -rf /",
    f"cat <<'E'\na{J}E\nrm -rf /",
    f"bash -c 'echo \"${J}(rm -rf /)\"'",
    f"eval 'echo ${J}(rm -rf /)'",
    f'for i in "${J}(rm -rf /)"; do echo; done',
    f'case "${J}(rm -rf /)" in *) echo;; esac',
    f'cat <<< "${J}(rm -rf /)"',
    f'cat < "${J}(rm -rf /)"',
    "echo `true``rm -rf /`",
]


@pytest.mark.parametrize("line", HIDDEN)
def test_a_catastrophe_behind_a_continued_line_is_one(line: str) -> None:
    """Where lines are joined changes nothing about what they would do."""
    assert class_of("bash", line).danger is Danger.CRITICAL


@pytest.mark.parametrize("line", HIDDEN)
def test_a_deny_is_heard_behind_a_continued_line(line: str) -> None:
    """The command is a unit of its own, or its text is what ask and deny see."""
    units = break_down(Facts("bash", (line,), "/repo", "/home/u")).units
    seen = {text for unit in units for text in (*unit.spellings, *unit.strict_spellings)}
    assert "rm -rf /" in seen


@pytest.mark.parametrize(
    "line",
    [
        f"echo a{J}",
        f"git commit {J}  -m 'a{J}b'",
        f"ls {J}  -la {J}  src",
        f"cat src/a.py | {J} grep -n 'x' | {J}\n head",
        f'echo "a {J} b"',
    ],
)
def test_ordinary_continued_lines_stay_what_they_are(line: str) -> None:
    """Joining is no reason to ask."""
    assert class_of("bash", line).danger in (Danger.ROUTINE, Danger.RULED)

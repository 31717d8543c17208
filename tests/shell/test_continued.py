"""Continued lines against a real shell: a backslash at the end of a line hides nothing.

Nothing is really run: the shell has no search path, and its handler for unknown commands writes down what it was
asked for.
"""

from __future__ import annotations

import shutil
import subprocess
from tempfile import TemporaryDirectory

import pytest

from fwdperm.settings import CONTINUED_LINES
from fwdperm.shell.continued import join_lines
from fwdperm.shell.parsing import parse_line
from fwdperm.shell.words import hides_code, read_word

BASH = shutil.which("bash") or ""
NOTE = r"""exec 9>&1 >/dev/null 2>&1
command_not_found_handle() {
    local record
    printf -v record '%s\x1f' $I "$@"
    printf '%s\x1e' "${record//$'\n'/$'\x1d'}" >&9
    return $R
}
I=0
for line; do ( ulimit -t 1; eval "$line" ) </dev/null; I=$((I + 1)); done
"""
LINES = [
    line.replace("~~", "\n")
    for line in r"""
a "$(rm -rf /)"
git commit -m "fix $(git push --force)"
echo "$(rm x)" '$(no)' "\$(no)"
a $(rm x) b
a `rm x` b
a "`rm x`"
a "b `c "d e"` f"
a `b \`c d\``
a <(rm x) >(mv y)
a ${x:-$(rm x)}
a "${x:-$(rm x)}"
a ${x:-`rm y`}
a "${x:-a "$(rm x)" b}"
a ${x:-'$(no)'}
a "${x:=$(rm x)}" y
a $((1 + $(rm x)))
a $[1 + $(rm x)]
(( 1 + $(rm x) ))
a "$((1 + `rm x`))"
[[ -n $(rm x) ]] && b
[[ $(rm x) == "$(mv y)" ]] || c
[ "$(rm x)" ]
test -n "$(rm x)"
x=$(rm x) y="$(mv z)"
x=(a $(rm x) "`mv y`")
a <<E~~$(rm x) b~~E~~c
a <<E~~"$(rm 'x y')"~~`mv z`~~E
a <<'E'~~$(no)~~E~~b
a <<"E"~~`no`~~E~~b
a <<\E~~$(no)~~E~~b "$(c)"
a <<-E~~	$(rm x)~~	E~~b
a <<E; b~~${x:-$(rm x)}~~E
a <<< "$(rm x)"
a <<<`rm x`
a # $(no)~~b "$(c)"
a 'b # c' # d 'e~~f $(g)
a $'b\'c' "$(d)"
a $'$(no)' $"$(b)"
a && b || c; d & e | f |& g
a > f 2>&1 >> f < f
a >&2 $(b) &> f
if a; then b "$(c)"; fi
for i in $(a) "$(b)"; do c; done
while a $(b); do c; exit; done
case $(a) in "$(b)") c;; *) d $(e);; esac
case x in x) a '$(no)';; y) b;; esac
a "$(case x in x) b;; esac)"
f() { a "$(b)"; }; f
{ a $(b); } | c
( a; b $(c) )
! a "$(b)"
a {b,c} "$(d)"
eval 'a "$(b)"'
eval "a \$(b)"
bash -c 'a "$(b)"'
a \\ "$(b)" \" '\'
a "\\$(b)" "\\\$(c)"
a "$(b "$(c "$(d)")")"
a $(b $(c `d`))
a "$(b <<E~~$(c)~~E~~)"
a '$'"(b)" "$"'(c)'
a "$x(b)" $x$(c)
a --opt="$(b)" -x$(c)y
a 2>f "$(b)"
trap 'a $(b)' EXIT
read 'a[$(b)]' <<< x
a "it's $(b) isn't" 'c"d' "$(e)"
a $(# c 'd~~b)
a ~+/x "$(b)"; c
coproc a "$(b)"
time a $(b)
a $(b <(c))
a $( (b) ) "$( { c; } )"
""".strip().split("\n")
] + [
    "a \\\n$(b) \\\n  'c\\\nd' # e\\\nf",
    "a \"$(b 'c\\\nd')\"",
    "a <<'E'\nx\\\nE\nb",
    "a <<E\nx\\\nE\nE\nb $(c)",
]
"""Lines with substitutions wherever they may stand, and with what looks like one; `~~` is a line end.

No path in them leaves the empty directory that they run in, however they are broken."""


def really_run(lines: list[str]) -> list[set[tuple[str, ...]]]:
    """Give the commands that bash runs for each line, when every command succeeds and when every one fails."""
    ran: list[set[tuple[str, ...]]] = [set() for _ in lines]
    for status in "01":
        with TemporaryDirectory() as empty:  # a broken redirection writes a file of another name
            done = subprocess.run(
                [BASH, "--norc", "-c", NOTE, "bash", *lines],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                check=False,
                timeout=60,
                cwd=empty,
                env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8", "R": status},
            )
        for record in done.stdout.decode(errors="replace").replace("\x1d", "\n").split("\x1e")[:-1]:
            at, *argv = record.split("\x1f")[:-1]
            ran[int(at)].add(tuple(argv))
    return ran


def missed(line: str, ran: set[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Give what of this was not found in a line that does not ask."""
    parsed = parse_line(line)
    if parsed.opaque or any(command.opaque for command in parsed.commands):
        return []
    found = {command.argv for command in parsed.commands if command.words}
    unsure = {c.program for c in parsed.commands if any(not w.known or w.glob or w.text[:1] == "~" for w in c.words)}
    return [argv for argv in ran if argv not in found and argv[0] not in unsure and argv[0] not in parsed.functions]


@pytest.mark.skipif(not BASH, reason="needs bash")
@pytest.mark.parametrize("joint", ["\\\n", "\\\\\n", "`\\\nq`"], ids=["one", "escaped", "old-style"])
@pytest.mark.parametrize("line", LINES)
def test_a_continuation_anywhere_in_a_line_hides_nothing_that_bash_runs(line: str, joint: str) -> None:
    """Whatever bash runs once a line is broken at any of its places is found, or the line asks."""
    broken = [line, *(line[:at] + joint + line[at:] for at in range(len(line) + 1))]
    found = {
        text: misses for text, ran in zip(broken, really_run(broken), strict=True) if (misses := missed(text, ran))
    }
    assert found == {}


@pytest.mark.parametrize("line", LINES)
def test_most_lines_that_are_understood_are_understood_when_they_are_broken(line: str) -> None:
    """A continuation is no reason to ask: at half of a line's places at least it changes nothing about that."""
    if parse_line(line).opaque:
        return
    broken = [line[:at] + "\\\n" + line[at:] for at in range(len(line) + 1)]
    assert sum(not parse_line(text).opaque for text in broken) * 2 >= len(broken)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\\\nb", "ab"),
        ("a\\\\\nb", "a\\\\\nb"),
        ("a\\\\\\\nb", "a\\\\b"),
        ("'a\\\nb'", "'a\\\nb'"),
        ("$'a\\\nb'", "$'a\\\nb'"),
        ("$\\\n'a\\\nb'", "$'a\\\nb'"),
        ('"a\\\nb"', '"ab"'),
        ("\"$'a\\\nb'\"", "\"$'ab'\""),
        ("# a\\\nb", "# a\\\nb"),
        ("a#\\\nb", "a#b"),
        ("a \\\n# b\\\nc", "a # b\\\nc"),
        ("a <<E\nb\\\nE\nE\n", "a <<E\nbE\nE\n"),
        ("a <<'E'\nb\\\nE\nc", "a <<'E'\nb\\\nE\nc"),
        ("a <\\\n<-\\\nE\n\tb\\\n\tE\n\tE\nc", "a <<-E\n\tb\tE\n\tE\nc"),
        ("`a 'b\\\nc'`", "`a 'bc'`"),
        ("$(a 'b\\\nc')", "$(a 'b\\\nc')"),
        ("a\\\r\nb", "a\\\r\nb"),
        ("é\\\né", "éé"),
    ],
)
def test_lines_are_joined_where_bash_joins_them(text: str, expected: str) -> None:
    """Everywhere but in single quotes, comments and here-documents whose end word is quoted."""
    joined = join_lines(text.encode())
    assert (joined.data.decode(), joined.in_doubt) == (expected, False)


@pytest.mark.parametrize(
    "text", ["\"${x:-'\\\n'}\"", "a <<E\nb\\\n", "'a\\\nb", "\\\n" * (CONTINUED_LINES + 2), "$(" * 300 + "\\\n"]
)
def test_a_text_that_shells_join_differently_or_that_does_not_end_asks(text: str) -> None:
    """Where it is not certain what a shell joins, nothing is taken for certain."""
    assert join_lines(text.encode()).in_doubt
    assert parse_line(text).opaque != ""


@pytest.mark.parametrize("raw", ['"$\\\n(rm x)"', "a$\\\n{x}", "<\\\n(rm x)", '"$\\\n\\\n`rm`"'])
def test_a_word_that_was_not_joined_does_not_pass_for_plain_text(raw: str) -> None:
    """The second net: a substitution that only a joint would show is not known text."""
    assert (hides_code(raw), read_word(raw).known) == (True, False)


@pytest.mark.parametrize("line", ["echo `a``rm x`", 'echo "`a``rm x`"', "read $(q)'a[$(rm x)]'"])
def test_a_substitution_that_the_grammar_hides_in_another_is_found_or_asks(line: str) -> None:
    """Two old-style substitutions that touch, and a subscript behind an expansion, hide nothing."""
    parsed = parse_line(line)
    assert parsed.opaque or ("rm", "x") in {command.argv for command in parsed.commands}


@pytest.mark.parametrize(
    "line", ["a b\\\r\nrm x", "[[\\\\\nrm x ]]", "a <<E\n\\\\\n$(rm x)\nE\n", "a <<E; rm x\nb\nE\\\r\n"]
)
def test_a_line_end_that_only_looks_continued_hides_no_command(line: str) -> None:
    """What follows is a command of its own, whatever the grammar takes it for."""
    parsed = parse_line(line)
    assert parsed.opaque or ("rm", "x") in {command.argv for command in parsed.commands}

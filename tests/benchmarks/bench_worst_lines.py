"""How long the slowest command lines take that a child may send: 64 KiB made to be slow.

Run it alone: `python tests/benchmarks/bench_worst_lines.py [--quick] [--seconds N]`. It measures every kind it knows
(nestings, open brackets, thousands of short commands, words, redirections, here-documents, secrets, values that grow),
then changes the slowest of them at random for so many seconds (30; none with `--quick`) and keeps what is slower still:
a piece is doubled, moved, dropped or taken from another kind, and the text is filled up again to the longest that is
allowed. Printed are the slowest of each, with milliseconds of processor time for the whole way of a decision: parsing,
units, guard, redaction; and how many times a plain line of words of the same length that is.

Only the ratios travel. Aim: none over 100 ms on a quiet machine, and none over 20 ms of those that are nested.
"""

# ruff: noqa: T201 - a benchmark prints its table

from __future__ import annotations

import random
import shlex
import sys
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from fwdperm.guard import Surroundings, assess
from fwdperm.redaction import redact
from fwdperm.settings import VALUE_CHARS
from fwdperm.shell import parse_line
from fwdperm.units import break_down
from fwdperm.wire.request import Facts

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS: Final = 30.0
SHOWN: Final = 25
AROUND: Final = Surroundings(workspaces=("/repo",), home="/home/u", own=("/home/u/.config/fwdperm", "/run/fwdperm"))


class Cost(NamedTuple):
    """Milliseconds of processor time for one line."""

    parse: float
    units: float
    guard: float
    redaction: float

    @property
    def whole(self) -> float:
        """What a decision pays: the units parse the line themselves."""
        return self.units + self.guard + self.redaction


def fill(head: str, unit: str, tail: str = "") -> str:
    """Repeat a piece as often as a value may hold it."""
    return head + unit * ((VALUE_CHARS - len(head) - len(tail)) // len(unit)) + tail


def nest(opening: str, closing: str, middle: str = "a", *, head: str = "", tail: str = "") -> str:
    """Nest a piece as deep as a value may hold it."""
    depth = (VALUE_CHARS - len(middle) - len(head) - len(tail)) // (len(opening) + len(closing))
    return head + opening * depth + middle + closing * depth + tail


def many(pattern: str, *, head: str = "", tail: str = "", join: str = "") -> str:
    """Repeat a piece with a number in it, so that no two are alike."""
    made: list[str] = []
    left = VALUE_CHARS - len(head) - len(tail)
    while (left := left - len(piece := pattern.replace("#", str(len(made)))) - len(join)) > 0:
        made.append(piece)
    return head + join.join(made) + tail


PLAIN: Final = many("w#ordwordwordword", head="ls ", join=" ")
"""What the others are compared with: a line of words."""


def quoted_shells() -> str:
    """Nest `bash -c` in quotes of quotes."""
    line = "a"
    while len(line) < VALUE_CHARS // 3:
        line = "bash -c " + shlex.quote(line)
    return line


def growing_values() -> str:
    """Let each value be twice the one before."""
    return "x0=aaaaaaaa;" + "".join(f"x{at}=$x{at - 1}$x{at - 1};" for at in range(1, 400)) + "$x30 a"


KINDS: Final[dict[str, str]] = {
    "shells in shells": quoted_shells(),
    "growing values": growing_values(),
    "short words": fill("ls ", "ab/c ", "x"),
    'nested "$(': nest('"$(', ')"'),
    "nested $(": nest("$(", ")"),
    'nested "$( a': nest('a "$(', ')"'),
    "nested $(a": nest("$(a ", ")"),
    'open "$(': fill("", '"$('),
    "open $(": fill("", "$("),
    "open $(a": fill("", "a $("),
    "nested ${a:-": nest("${a:-", "}"),
    'nested "${a:-': nest('"${a:-', '}"'),
    "open ${a:-": fill("", "${a:-"),
    "nested ( tight": nest("(", ")"),
    "nested ( ": nest("( ", " )"),
    "open (": fill("", "("),
    "nested $((": nest("$((", "))", "1"),
    "nested {": nest("{ ", "; }"),
    "open {": fill("", "{ "),
    "if if": fill("", "if "),
    "nested if": nest("if a; then ", "; fi"),
    "while": nest("while a; do ", "; done"),
    "nested case": nest("case x in x) ", ";; esac"),
    "open case": fill("", "case x in x) "),
    "functions": fill("", "f(){ f; };"),
    "nested functions": nest("f(){ ", "; }"),
    "f|f": fill("f(){ ", "f|f&", "};f"),
    "heredoc of $(a)": fill("cat <<E\n", "$(a)", "\nE\n"),
    "heredoc lines of $(a)": fill("cat <<E\n", "$(a)\n", "E\n"),
    "many heredocs": fill("", "a<<E\nE\n"),
    "many heredocs b": fill("", "a <<E\n$(b)\nE\n"),
    "heredocs open": fill("", "a<<E "),
    "pushd chain": fill("", "pushd a;"),
    "cd chain": fill("", "cd a;"),
    "cd ab chain rm": fill("", "cd a&&rm b;"),
    "cd long": fill("", "cd " + "a" * 60 + ";"),
    "urls": fill("curl ", "http://u:p@h/ "),
    "curls": fill("", "curl http://u:p@h/;"),
    "nested <(": nest("<(a ", ")"),
    "open <(": fill("", "<("),
    "backtick escapes": fill("a `", "\\`b", "`"),
    "backticks": fill("", "`a`"),
    "backslashes": fill("a ", "\\"),
    "nested backticks": "`a " + "\\" * 60000 + "`b`",
    "a;a;": fill("", "a;"),
    "a&&": fill("", "a&&", "a"),
    "a|a": fill("", "a|", "a"),
    "a nl": fill("", "a\n"),
    "a&": fill("", "a&"),
    "x=1": fill("", "x=1 "),
    "x=1;": fill("", "x=1;"),
    "x=$x;": fill("", "x=$x$x;", "$x"),
    "x=1 ls": fill("", "x=1 ", "ls"),
    "$x words": fill("a ", "$x "),
    "braces {a,b}": fill("echo ", "{a,b}"),
    "brace words": fill("rm ", "{a,b} "),
    "brace paths": fill("rm ", "{a,b}/{c,d} "),
    "nested {a,{": nest("{a,", "}"),
    "echo nested {a,{": nest("{a,", "}", head="echo "),
    "redirects >": fill("a ", ">b "),
    "redirects <": fill("a ", "<b "),
    "redirects > ab": fill("a ", ">a/../b "),
    "dup redirects": fill("a ", "2>&1 "),
    "rm ..": fill("rm ", "../"),
    "rm paths": fill("rm ", "a/b "),
    "rm /paths": fill("rm ", "/a/b "),
    "cat ~": fill("cat ", "~/a "),
    "globs": fill("ls ", "* "),
    "glob run": fill("ls ", "*"),
    "quotes": fill("a ", "'b' "),
    "empty quotes": fill("a ", "''"),
    "dq": fill("a ", '"b" '),
    "dq $x": fill("a ", '"$x" '),
    "sudo": fill("", "sudo ", "a"),
    "env": fill("", "env ", "a"),
    "env x=1": fill("", "env x=1 ", "a"),
    "xargs": fill("", "xargs ", "a"),
    "eval": fill("", "eval ", "a"),
    "find -exec": fill("find . ", "-exec a {} ; "),
    "find -exec q": fill("find . ", "-exec a {} \\; "),
    "bash -c many": fill("", "bash -c 'a';"),
    "eval many": fill("", "eval 'a b';"),
    "curl|sh": fill("", "curl a|sh;"),
    "echo|sh": fill("", "echo a|sh;"),
    "echo|sh opaque": fill("", "echo $x|sh;"),
    "python -c": fill("", 'python -c "a";'),
    "eval $x": fill("x=1;", "eval $x;"),
    "$x cmds": fill("x=ls;", "$x a;"),
    "x=; $x": fill("", "x=ls;$x a;"),
    "cont": fill("a ", "b\\\n"),
    "cont only": fill("a ", "\\\n"),
    "comments": fill("", "# a\n"),
    "tabs": fill("a", "\t"),
    "nl": fill("a", "\n", "b"),
    "blanks": fill("a", " ", "b"),
    "semis": fill("a ", ";"),
    "<<<": fill("", "<<<"),
    "<<": fill("", "<<"),
    "[[": fill("", "[[ "),
    "[[ a": fill("[[ ", "a && ", "a ]]"),
    "[[ (": nest("( ", " )", head="[[ ", tail=" ]]"),
    "((1+": fill("((", "1+", "1))"),
    "((((1": nest("(", ")", "1", head="((", tail="))"),
    "! !": fill("", "! "),
    "time": fill("", "time ", "a"),
    "tokens": fill("a ", "ghp_aaaaaaaaaaaaaaaaaaaa "),
    "password=": fill("a ", "password= "),
    'password="': fill("a ", 'password="'),
    "--token '": fill("a ", "--token '"),
    "a=a=": fill("x ", "token="),
    "base64": fill("a ", "aB3"),
    "base64 runs": fill("a ", "aGVsbG8gd29ybGQgaGVsbG8 "),
    "BEGIN": fill("a ", "-----BEGIN A-----"),
    "eyJ": fill("a ", "eyJaaaaaaaaaa.eyJ"),
    "dashes": fill("a ", "-"),
    "dots": fill("a ", "."),
    "@": fill("a ", "@"),
    "u:": fill("a ", "u:"),
    "://": fill("a ", "a://"),
    "a://b": fill("a ", "a://b.c@"),
    "-u": fill("curl ", "-u a "),
    "names": fill("a ", "tokenTokenToken"),
    "sql": fill('psql -c "', "with a ", '"'),
    "sql2": fill('psql -c "', "/* ", '"'),
    "sed": fill("sed '", "s/a/b/e;", "'"),
    "awk": fill("awk '", "{a}", "'"),
    "unicode": fill("a ", "é"),
    "astral": fill("a ", "\U0001f600"),
    "bidi": fill("a ", "\u202e"),
    "NUL": fill("a", "\0"),
    "CR": fill("a", "\r"),
    "ctrl": fill("a", "\x01"),
    "IFS": fill("", "rm$IFS"),
    "$x$x": fill("a ", "$x"),
    "${x}": fill("a ", "${x}"),
    "$(a)": fill("a ", "$(a)"),
    "$(a) words": fill("a ", "$(a) "),
    '"$(a)"': fill("a ", '"$(a)" '),
    "$(echo a)": fill("a ", "$(echo a)"),
    "$(echo a);": fill("", "$(echo a);"),
    "<(a)": fill("a ", "<(a) "),
    "alias": fill("", "alias a='b c';"),
    "trap": fill("", "trap 'a' EXIT;"),
    "fetch pairs": fill("", "curl -o a b;sh a;"),
    "closing )": fill("", ")"),
    "open '": fill("a ", "'b"),
    'open "': fill('a "', "b"),
    "open `": fill("", "<<<-`"),
    "python code": fill('python -c "', "[ 'a', ", '"'),
    "python rmtree": fill('python -c "', "rmtree(", '"'),
    "printf": fill("printf '", "%s", "' a|sh"),
    "x[": fill("read ", "a[b] "),
    "git -c": fill("git ", "-c a=b "),
    "ssh": fill("", "ssh h ", "a"),
    "docker": fill("docker run ", "-v a:b ", "c"),
    "kubectl": fill("kubectl ", "-n a ", "get"),
    "value bomb": "x=" + "a" * 30000 + "; rm " + "$x" * 17000,
    "value bomb words": "x=" + "a" * 30000 + "; rm " + "$x " * 11000,
    "value bomb redirect": "x=" + "a" * 30000 + "; rm >" + "$x" * 17000,
    "value bomb cmd": "x=" + "a" * 30000 + "; " + "$x" * 17000,
    "value for": fill("for x in " + "b " * 16 + "; do rm ", "$x", "; done"),
    "distinct cmds": many("a#;"),
    "distinct $(": many("$(b#) ", head="a "),
    "distinct $(echo": many("$(echo #) ", head="$x "),
    "distinct open": many("a# $("),
    "distinct nested": many('"$(a# ')[:48000] + ')"' * 5500,
    "distinct urls": many("http://u#:p@h/", head="curl ", join=" "),
    "distinct paths": many("d#/b", head="rm ", join=" "),
    "distinct redirects": many(">d#/b", head="a ", join=" "),
    "distinct braces": many("{a#,b}", head="rm ", join=" "),
    "distinct x=": many("x#=1", tail=" ls", join=" "),
    "distinct x=;": many("x#=1;"),
    "distinct functions": many("f#(){ f#|f#& };"),
    "distinct heredocs": many("a <<E#\nE#\n"),
    "heredocs same line": "a " + "<<E " * 8000 + "\n" + "E\n" * 8000,
    "f calls": many("f a#;", head="f(){ $1; };"),
    "f calls few": "f(){ $1 $2; };"
    + ";".join(f"f a{i}" for i in range(400))
    + ";"
    + ";".join(f"$x a{i}" for i in range(100)),
    "set calls": ";".join(f"set -- a{i}" for i in range(400)) + ";" + ";".join("$1 a" for i in range(100)),
    "quoted heredoc cont": fill("cat <<'E'\n", "a\\\n", "E\n"),
    "cont 900": fill("a " + "b \\\n" * 900, "c"),
    "cont 900 quotes": fill("a " + "'b' \\\n" * 900, "c"),
    "cont kept 900": fill("a " + "'b\\\n'" * 900, "c"),
    "sql quotes": fill('psql -c "', "'a", '"'),
    "tokens glued": fill("a ", "ghp_"),
    "assign password": fill("a ", "password=x "),
    "authorization": fill("a ", "authorization: x y "),
    "quote password": fill("a ", "password='x "),
    "curl -H": fill("curl ", "-H 'a: b' "),
    "git": fill("git ", "add "),
    "sed -n": fill("sed -n '", "1p;", "'"),
    "awk print": fill("awk '{print ", "$1,", "$2}'"),
    "rg": fill("rg ", "-e a "),
    "deep path": fill("cat ", "a/"),
    "deep ..": fill("cat ", "../"),
    "many deep": fill("cat ", "a/" * 1000 + " "),
    "glob deny": fill("rm ", "*" * 30 + " "),
    "glob deny2": fill("rm ", "*a" * 2000 + " "),
}


def milliseconds(call: Callable[[], object]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def cost_of(line: str) -> Cost:
    """Measure one line along the way of a decision."""
    facts = Facts("bash", (line,), "/repo", "/home/u")
    parse = milliseconds(lambda: parse_line(line))
    units = milliseconds(lambda: break_down(facts))
    broken = break_down(facts)
    guard = milliseconds(lambda: assess(facts, broken, AROUND))
    return Cost(parse, units, guard, milliseconds(lambda: redact(line)))


def warm_up() -> None:
    """Load what is loaded at the first use."""
    for line in ("rm $(a `b`) $x", "a <<E\n$(b)\nE\n", "$(", "cat password=x http://u:p@h/"):
        cost_of(line)


def changed(line: str, chance: random.Random) -> str:
    """Change a line at random and fill it up again."""
    start, end = sorted(chance.randrange(len(line) + 1) for _ in range(2))
    piece = line[start : min(end, start + chance.choice((4, 40, 400, 40_000)))] or "a"
    other = chance.choice(list(KINDS.values()))
    at = chance.randrange(len(other))
    made = chance.choice(
        (
            line[:start] + piece * chance.randrange(2, 4000) + line[end:],
            line[:start] + line[end:],
            line[: VALUE_CHARS // 2] + other[: VALUE_CHARS // 2],
            line[:start] + other[at : at + len(piece)] + line[end:],
            piece + other,
            (piece + other[at : at + 40]) * 2000,
            "bash -c " + shlex.quote(line),
            line.replace(piece[:1], other[at : at + 2]),
        )
    )
    return fill("", made[:VALUE_CHARS] or "a")[:VALUE_CHARS]


def search(costs: dict[str, Cost], seconds: float) -> list[tuple[str, str, Cost]]:
    """Look for slower lines than those known."""
    chance = random.Random(7)  # noqa: S311 - not for secrets
    slowest = sorted(costs, key=lambda name: -costs[name].whole)[:12]
    best = [(name, KINDS[name], costs[name]) for name in slowest]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        at = chance.randrange(len(best))
        name, line, cost = best[at]
        tried = changed(line, chance)
        found = cost_of(tried)
        if found.whole > cost.whole:
            best[at] = (name if name.endswith("+") else f"{name} +", tried, found)
    return best


def show(name: str, line: str, cost: Cost, plain: float) -> None:
    """Print one line of the table."""
    shown = line[:28].encode("unicode_escape").decode()
    figures = "".join(f"{figure:9.1f}" for figure in (*cost, cost.whole))
    print(f"{name[:26]:27}{len(line):7}{figures}{cost.whole / plain:8.1f}  {shown}")


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else SECONDS
    warm_up()
    plain = min(cost_of(PLAIN).whole for _ in range(3))
    costs = {name: cost_of(line) for name, line in KINDS.items()}
    print(f"{'kind':27}{'chars':>7}{'parse':>9}{'units':>9}{'guard':>9}{'redact':>9}{'all ms':>9}{'x plain':>8}")
    show("plain words", PLAIN, cost_of(PLAIN), plain)
    for name in sorted(costs, key=lambda name: -costs[name].whole)[:SHOWN]:
        show(name, KINDS[name], costs[name], plain)
    if "--quick" in sys.argv:
        return
    print(f"after {seconds:.0f} s of changing them:")
    for name, line, _ in sorted(search(costs, seconds), key=lambda one: -one[2].whole):
        show(name, line, cost_of(line), plain)


if __name__ == "__main__":
    main()

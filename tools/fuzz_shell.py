r"""Lines of shell, made up and mutated, put to our reader and to two other ones: does one of them see more than we do?

Lives here: how lines are made, how they are put to the readers, how a find is made small. Never here: the other
readers (`shell_witnesses.py`). Nothing is run.

A find is a line in which a witness sees a command, a redirection or an assignment that our reader neither sees nor
calls unknowable. What bash's parser says is close to the last word; whether a find is one says the real bash.

The same `--seed` makes the same lines. Exits with 1 when there is a find.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from shell_witnesses import Bash, Seen, Shfmt, missed, seen_by_us

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEEDS: Final = Path(__file__).parent.parent / "tests" / "shell" / "seeds.txt"
FINDS: Final = SEEDS.with_name("finds.txt")
_LONGEST: Final = 240
_TOKEN: Final = re.compile(r"<<-?|[;&|<>]{2,3}|\$[({'\"\[]|\$\(\(|\w+|[ \t]+|.", re.DOTALL)
"""What a line is cut into to be mutated: `<<-`, `&&`, `$(`, a word, blanks, any other character."""
_PIECES: Final = [
    "a", "b", "c", "rm", "E", "x=", "x+=", "x[0]=", "1", "2", "0", "evil", " ", " ", " ", "\t", "\n", "\n", "\\\n",
    "\\", "'", '"', "`", "$", "$(", ")", "(", "{", "}", "{ ", "; }", "[", "]", "[[ ", " ]]", "[ ", " ]", "((", "))",
    "$((", "$[", "${", "${x-", "${x:=", "$'", '$"', ";", ";;", ";&", "&", "&&", "|", "||", "|&", ">", ">>", ">|", "<",
    "<>", "<<", "<<-", "<<<", "&>", ">&", "<&", ">&-", "2>&1", "<(", ">(", "!", "! ", "#", " #", "=", "~", "*", "?",
    "-", "@(", "if ", "then ", "else ", "fi", "elif ", "while ", "do ", "done", "for i in ", "case ", " in ", "esac",
    "function ", "f()", "time ", "coproc ", "select ", "in", "<<E", "<<'E'", "<<\\E", '<<"E"', "\nE\n", "\nE", "E\n",
    "\r", "\f", "\v", "é", "\u00a0", ",", "..", ":", "/", "%", "^", "+", "declare ", "export ", "let ", "eval ",
    "=~ ", "== ", " -eq ", "&>>",
]  # fmt: skip
_NAMES: Final = ["a", "b", "c", "evil", "rm x", "cat", "echo d", "\\rm", "'q'", '"e f"', "$X", "l/s", "-", "k=1"]


class Find(NamedTuple):
    """A line in which somebody sees more than we do: the line, who, and what."""

    line: str
    witness: str
    missed: list[tuple[str, ...]]


def read_lines(path: Path) -> list[str]:
    """Read lines of shell from a file, one on each line, with `~~` for a line end."""
    return [line.replace("~~", "\n") for line in path.read_text(encoding="utf-8").splitlines() if line]


# -- making lines ------------------------------------------------------------------------------------------


class Maker:
    """Makes lines: out of the seeds by mutation, and out of a grammar."""

    def __init__(self, seeds: Sequence[str], seed: int) -> None:
        self.seeds = [_TOKEN.findall(line) for line in seeds]
        self.random = random.Random(seed)

    def lines(self) -> Iterator[str]:
        """Make lines without end."""
        while True:
            line = self._mutated() if self.random.random() < 0.75 else self._built()
            yield line[:_LONGEST]

    def _mutated(self) -> str:
        draw = self.random
        tokens = list(draw.choice(self.seeds))
        for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4, 6))):
            at = draw.randrange(len(tokens) + 1)
            kind = draw.random()
            if kind < 0.4:
                tokens.insert(at, draw.choice(_PIECES))
            elif kind < 0.55 and tokens:
                del tokens[at : at + draw.choice((1, 1, 2))]
            elif kind < 0.7 and tokens:
                tokens[at : at + 1] = [draw.choice(_PIECES)]
            elif kind < 0.8:
                other = draw.choice(self.seeds)
                start = draw.randrange(len(other))
                tokens[at:at] = other[start : start + draw.randrange(1, 8)]
            elif kind < 0.88:
                end = at + draw.randrange(1, 6)
                tokens[at:end] = _wrapped("".join(tokens[at:end]), draw)
            elif kind < 0.94 and tokens:
                start = draw.randrange(len(tokens))
                tokens[at:at] = tokens[start : start + draw.randrange(1, 5)]
            else:
                text = "".join(tokens)
                place = draw.randrange(len(text) + 1)
                tokens = _TOKEN.findall(text[:place] + draw.choice(_PIECES) + text[place:])
        return "".join(tokens)

    def _built(self) -> str:
        draw = self.random
        if draw.random() < 0.3:
            return "".join(draw.choice(_PIECES) for _ in range(draw.randrange(2, 12)))
        return self._list(3)

    def _list(self, depth: int) -> str:
        draw = self.random
        parts = [self._command(depth)]
        while draw.random() < 0.4:
            parts += [draw.choice((";", "; ", "\n", "&&", " || ", "|", " & ", "&", "|&")), self._command(depth)]
        return "".join(parts)

    def _command(self, depth: int) -> str:  # noqa: C901 - one arm per kind of command
        draw = self.random
        if depth <= 0 or draw.random() < 0.5:
            return self._simple(depth)
        inner = self._list(depth - 1)
        end = draw.choice(("; ", "\n", ";"))
        match draw.randrange(12):
            case 0:
                made = f"if {inner}{end}then {self._list(depth - 1)}{end}fi"
            case 1:
                made = f"while {inner}{end}do {self._list(depth - 1)}{end}done"
            case 2:
                made = f"for i in {self._word(depth)}{end}do {inner}{end}done"
            case 3:
                made = f"case {self._word(depth)} in {self._word(depth)}) {inner};; esac"
            case 4:
                made = f"f() {{ {inner}{end}}}"
            case 5:
                made = f"({inner})"
            case 6:
                made = f"{{ {inner}{end}}}"
            case 7:
                made = f"[[ {self._word(depth)} {draw.choice(('==', '=~', '<', '-eq', '&&'))} {self._word(depth)} ]]"
            case 8:
                made = f"(( {self._word(depth)} {draw.choice(('+', '<', '=', ','))} {self._word(depth)} ))"
            case 9:
                made = f"{draw.choice(('! ', 'time ', 'coproc ', '!', 'time -p '))}{inner}"
            case 10:
                made = f"function g {{ {inner}{end}}}"
            case _:
                made = f"[ {self._word(depth)} {draw.choice(('=', '<', '>', '-a'))} {self._word(depth)} ]"
        if draw.random() < 0.3:
            made += f"{draw.choice((' ', ''))}{self._redirect(depth)}"
        return made

    def _simple(self, depth: int) -> str:
        draw = self.random
        parts = [
            draw.choice(("x=1", "y+=2", "z=(a b)", f"w={self._word(depth)}")) for _ in range(draw.randrange(2) * 1)
        ]
        parts += [draw.choice(_NAMES)] if draw.random() < 0.95 else []
        parts += [self._word(depth) for _ in range(draw.choice((0, 0, 1, 1, 2)))]
        for _ in range(draw.choice((0, 0, 0, 1, 1, 2))):
            parts.insert(draw.randrange(len(parts) + 1), self._redirect(depth))
        if draw.random() < 0.06:
            parts.append("# c")
        return draw.choice((" ", " ", " ", " ", "\t", " \\\n")).join(parts)

    def _redirect(self, depth: int) -> str:
        draw = self.random
        if draw.random() < 0.3:
            end = draw.choice(("E", "'E'", "\\E", '"E"', "E'F'", "$'E'", '$"E"', "-E", "E-1", "${E}", "`E`", "E\\\nF"))
            plain = re.sub(r"\\\n|['\"\\]", "", end)
            dash = draw.choice(("", "", "-"))
            body = draw.choice((f"{self._word(depth - 1)}\n", "", "x\n", f"E{draw.choice((' ', chr(92)))}\n"))
            return (
                f"<<{dash}{draw.choice(('', ' '))}{end}{draw.choice(('', ';', ' | b', '&', ' && c'))}\n{body}{plain}\n"
            )
        sign = draw.choice((">", ">>", "<", "<<<", ">|", "&>", "<>", ">&", "2>", "{v}>", "2>&1 >", "&>>", "3<"))
        return f"{sign}{draw.choice(('', ' '))}{self._word(depth - 1)}"

    def _word(self, depth: int) -> str:  # noqa: C901 - one arm per kind of word
        draw = self.random
        if depth <= 0 or draw.random() < 0.4:
            return draw.choice(
                ("a", "b.c", "'d e'", '"f"', "\\g", "$h", "${i}", "-j", "{k,l}", "m=n", "*", "~", "1", "$'o'")
            )
        match draw.randrange(11):
            case 0 | 1:
                return f"$({self._list(depth - 1)})"
            case 2:
                return f"`{self._list(depth - 2)}`"
            case 3:
                return f"<({self._list(depth - 1)})"
            case 4:
                return f'"{self._word(depth - 1)}"'
            case 5:
                return f"${{x{draw.choice((':-', '-', '#', '%', '/', ':=', ':'))}{self._word(depth - 1)}}}"
            case 6:
                return f"$(({self._word(depth - 1)} {draw.choice(('+', '<', '<<'))} {self._word(depth - 1)}))"
            case 7:
                return f"$[{self._word(depth - 1)}]"
            case 8:
                return f"'{self._word(depth - 1)}'"
            case 9:
                return f"{draw.choice(('@', '?', '!', '+'))}({self._word(depth - 1)}|{self._word(depth - 1)})"
            case _:
                return self._word(depth - 1) + self._word(depth - 1)


def _wrapped(text: str, draw: random.Random) -> list[str]:
    before, after = draw.choice(
        (("$(", ")"), ("`", "`"), ('"', '"'), ("'", "'"), ("${x-", "}"), ("{ ", "; }"), ("(", ")"), ("<(", ")"),
         ("$((", "))"), ("[[ ", " ]]"), ("((", "))"), ('"${x-', '}"'), ('"$(', ')"'), ("[ ", " ]"),
         ("if a; then ", "; fi"), ("cat <<E\n", "\nE\n"), ("f() { ", "; }"))
    )  # fmt: skip
    return [before, text, after]


# -- putting them to the readers ---------------------------------------------------------------------------


class Trial:
    """Puts lines to the readers, and counts.

    Attributes:
        lines: How many were made.
        read: How many of them our reader says it understands; only those are of interest.
        witnessed: How many of these each witness could read.
    """

    def __init__(self, *, bash: Bash | None, shfmt: Shfmt | None) -> None:
        self.bash, self.shfmt = bash, shfmt
        self.lines = self.read = 0
        self.witnessed = {"bash": 0, "shfmt": 0}

    def finds(self, lines: Sequence[str]) -> Iterator[Find]:  # noqa: C901 - what is asked of whom, in order
        """Give those of some lines in which somebody sees more than we do."""
        self.lines += len(lines)
        ours: dict[str, Seen] = {}
        for line in lines:
            seen = seen_by_us(line)
            if seen is not None:
                ours[line] = seen
        self.read += len(ours)
        readable: list[str] = []
        for line, seen in ours.items():
            if self.bash is None:
                readable.append(line)
                continue
            answer = self.bash.sees(line)
            if answer is None:
                continue
            theirs, is_whole = answer
            self.witnessed["bash"] += is_whole
            if more := missed(line, theirs, seen):
                yield Find(line, "bash", more)
            elif is_whole:
                readable.append(line)
        if self.shfmt is None:
            return
        for line, witness in zip(readable, self.shfmt.sees(readable), strict=True):
            if witness is not None:
                self.witnessed["shfmt"] += 1
                if more := missed(line, witness, ours[line]):
                    yield Find(line, "shfmt", more)

    def is_find(self, line: str, witness: str) -> Find | None:
        """Say whether one line is a find by one witness."""
        alone = Trial(bash=self.bash, shfmt=self.shfmt)
        return next((find for find in alone.finds([line]) if find.witness == witness), None)

    def small(self, find: Find) -> Find:
        """Take from a find whatever it does not need."""
        best, size = find, max(len(find.line) // 2, 1)
        while size:
            at = 0
            while at < len(best.line):
                shorter = self.is_find(best.line[:at] + best.line[at + size :], find.witness)
                if shorter is None:
                    at += size
                else:
                    best = shorter
            size //= 2
        return best


def main() -> int:
    """Make as many lines as are asked for, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=100_000, help="how many lines")
    parser.add_argument("--seed", type=int, default=0, help="which lines")
    parser.add_argument("--finds", type=int, default=20, help="stop after so many")
    parser.add_argument("--without", choices=("bash", "shfmt"), help="leave a witness out")
    options = parser.parse_args()
    trial = Trial(
        bash=None if options.without == "bash" else Bash(), shfmt=None if options.without == "shfmt" else Shfmt()
    )
    lines = Maker(read_lines(SEEDS) + read_lines(FINDS), options.seed).lines()
    began, found = time.monotonic(), 0
    small: set[str] = set()
    while trial.lines < options.lines and len(small) < options.finds:
        for find in trial.finds([next(lines) for _ in range(2000)]):
            found += 1
            least = trial.small(find)
            if least.line not in small:
                small.add(least.line)
                print(f"{least.witness} sees {least.missed} in {least.line!r}", flush=True)
            if len(small) >= options.finds:
                break
    took = time.monotonic() - began
    print(
        f"{trial.lines} lines, {trial.read} understood; witnesses read {trial.witnessed}; {found} finds; {took:.0f} s"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

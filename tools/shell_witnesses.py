"""Two other readers of command lines, as witnesses: bash's own parser, and mvdan's (`shfmt`).

Lives here: `Bash` and `Shfmt`, which say what a line runs, opens and sets, and `seen_by_us`, the same of our own
reader. Never here: lines (`fuzz_shell.py`). Nothing is run: both only parse.

bash's parser is the wheel `libbash`, called in a process of its own (this file, run as a program), because it may take
its process with it. It leaves a word as text; the code in words is found here by quotes alone and parsed in turn. What
is in doubt there is left out, so that a witness never sees what is not there; `shfmt` parses words as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

Seen = Counter[tuple[str, ...]]
"""What was seen, as often as it was: `("run", word, ...)`, `("write", target)`, `("read", target)`, `("set", name)`."""
UNKNOWN: Final = "?"
"""Stands for a word that is not known before it runs: readers write its code in different ways."""
_DIRECTIONS: Final = {
    ">": "write", ">>": "write", ">|": "write", "&>": "write", "&>>": "write", "<>": "write", "<": "read",
}  # fmt: skip
_DEEPEST: Final = 8
"""Levels of substitutions that are followed."""
_BATCH: Final = 40
"""Lines that one process of `shfmt` is given."""
_MARK: Final = "WITNESSED"
_ERROR_AT: Final = re.compile(rb"(\d+):\d+: ")
_ARITHMETIC: Final = frozenset({"exp", "init", "step"})
_NOT_ALIKE: Final = re.compile(
    r"""\r | \blet\b | \bcoproc\b | [<>]&-[^ \t\n;&|()<>] | `\s*(?:else|then|do|fi|done|esac|elif)\b | \(\\\n\(
      | \b(?:readonly|declare|export|local|typeset)\b.*(?:=\(|\+=) | [#].*\\\n
      | <<- | <<.*(?:\[\[|\(\() | \$\\\n | <<(?s:.*)[`)}]\w""",
    re.VERBOSE,
)
"""What `shfmt` is known to read otherwise than bash: blanks, how far a `let` or a list of values goes, comments that
end in a backslash, a line of a here-document that ends in the end word."""
_LIST: Final = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=\(")
_BEFORE_VALUE: Final = re.compile(r"\+?=|\[")


# -- what a word says --------------------------------------------------------------------------------------


def word_text(raw: str) -> str:
    """Give a word without its quotes; `UNKNOWN` where something is expanded in it."""
    from fwdperm.shell.words import read_word  # noqa: PLC0415 - the process with bash's parser does not need it

    word = read_word(raw)
    return word.text.replace("\x01", "") if word.known else UNKNOWN  # bash's own mark, which it adds to some


def argument(raw: str, text: str | None = None) -> str:
    """Give a word of a command as above; a list of values (`x=(a b)`) is not known: bash's parser writes it anew."""
    return UNKNOWN if _LIST.match(raw) else word_text(raw) if text is None else text


def _code_end(text: str, at: int) -> int:
    """Give the index of the bracket that closes the code at `at`; -1 where bash's parser finds none."""
    end = at
    while (end := text.find(")", end)) >= 0:
        inner = text[at:end]
        if (len(inner) - len(inner.rstrip("\\"))) % 2 == 0 and (not inner.strip() or _commands_of(inner)[1]):
            return end
        end += 1
    return -1


def codes_in(text: str, *, is_heredoc: bool = False) -> list[str]:
    """Find the code that a shell runs when it expands a word, by quotes alone; what is in doubt is left out."""
    found: list[str] = []
    _scan(text, 0, "quoted" if is_heredoc else "bare", "", found)
    return found


def _scan(text: str, at: int, mode: str, end: str, found: list[str]) -> int:  # noqa: C901, PLR0912 - one arm per mark
    """Go over a text until `end`; give the index behind it."""
    size = len(text)
    while at < size:
        char = text[at]
        if end and text.startswith(end, at):
            return at + len(end)
        if char == "\\":
            at += 2
        elif char == "'" and mode == "bare":
            close = text.find("'", at + 1)
            at = size if close < 0 else close + 1
        elif char == "'" and mode == "doubtful":
            return size
        elif char == '"' and mode in ("bare", "arithmetic"):
            at = _scan(text, at + 1, "quoted", '"', found)
        elif char == "`":
            close = at + 1
            while close < size and text[close] != "`":
                close += 2 if text[close] == "\\" else 1
            if close >= size:
                return size
            kept = r"\\([\\`$\"])" if mode == "quoted" and end == '"' else r"\\([\\`$])"
            found.append(re.sub(kept, r"\1", text[at + 1 : close]))
            at = close + 1
        elif text.startswith("$'", at) and mode == "bare":
            at += 2
            while at < size and text[at] != "'":
                at += 2 if text[at] == "\\" else 1
            at += 1
        elif text.startswith("$((", at):
            inner: list[str] = []
            close = _scan(text, at + 3, "arithmetic", "))", inner)
            found += inner
            at = close
        elif text.startswith("$(", at) or (text.startswith(("<(", ">("), at) and mode == "bare"):
            close = _code_end(text, at + 2)
            if close < 0:
                return size
            found.append(text[at + 2 : close])
            at = close + 1
        elif text.startswith("${", at):
            at = _scan(text, at + 2, "bare" if mode == "bare" else "doubtful", "}", found)
        else:
            at += 1
    return at


# -- bash ----------------------------------------------------------------------------------------------------


def _commands_of(code: str) -> tuple[list[dict[str, Any]], bool]:
    """Parse with bash's own parser: the commands before any error, and whether there was none."""
    from libbash import api  # noqa: PLC0415 - only the process that serves loads it
    from libbash.bash_command import Command, c_bash  # noqa: PLC0415

    bash = _library(api)
    path = Path(f"/proc/self/fd/{_SCRATCH[0]}")
    path.write_bytes(code.encode(errors="replace") + b"\n")
    if bash.set_bash_file(str(path).encode()) < 0:
        raise OSError
    commands: list[dict[str, Any]] = []
    while True:
        if bash.read_command_safe() != 0:
            bash.unset_bash_input(0)
            return commands, False
        given = ctypes.POINTER(c_bash.command).in_dll(bash, "global_command")
        if given:
            commands.append(Command(given.contents)._to_json())
        elif ctypes.c_int.in_dll(bash, "EOF_Reached"):
            bash.unset_bash_input(0)
            return commands, True


_SCRATCH: list[int] = []
_LIBRARY: list[Any] = []


def _library(api: Any) -> Any:
    if not _LIBRARY:
        bash = api._setup_bash()
        bash.set_bash_file.argtypes = [ctypes.c_char_p]
        bash.unset_bash_input.argtypes = [ctypes.c_int]
        _LIBRARY.append(bash)
    return _LIBRARY[0]


def _read_bash(code: str, seen: list[tuple[str, ...]], depth: int) -> bool:
    commands, is_whole = _commands_of(code)
    codes: list[str] = []
    here: list[tuple[str, ...]] = []
    for command in commands:
        _walk_bash(command, here, codes)
    seen += [one for one in here if not (depth and one[0] == "text")]  # where code ends is not said for sure
    if depth < _DEEPEST:
        for inner in codes:
            _read_bash(inner, seen, depth + 1)
    return is_whole


def _walk_bash(node: object, seen: list[tuple[str, ...]], codes: list[str]) -> None:  # noqa: C901, PLR0912 - by shape
    """Collect what a command of bash's parser holds, and the code in its words."""
    if isinstance(node, list):
        for one in node:
            _walk_bash(one, seen, codes)
        return
    if not isinstance(node, dict):
        return
    if "redirectee" in node:
        _bash_redirect(node, seen, codes)
        return
    if "word" in node and isinstance(node["word"], str):
        codes += codes_in(node["word"])
        return
    if "map_list" in node or ("words" in node and "redirects" not in node):
        seen.append(("set", node["name"]["word"]))
    if "words" in node and "redirects" in node:
        words = node["words"]
        at = 0
        while at < len(words) and "assignment" in words[at]["flags"]:
            seen.append(("set", _BEFORE_VALUE.split(words[at]["word"])[0]))
            at += 1
        if at < len(words):
            seen.append(("run", *(word["word"] for word in words[at:])))
    for key, value in node.items():
        if key in _ARITHMETIC:  # quotes keep nothing from being expanded there
            for word in value or []:
                _scan(word["word"], 0, "arithmetic", "", codes)
        else:
            _walk_bash(value, seen, codes)


def _bash_redirect(node: dict[str, Any], seen: list[tuple[str, ...]], codes: list[str]) -> None:
    named = node["redirector"].get("filename")
    if named:
        seen.append(("set", named["word"]))
    target = node["redirectee"].get("filename")
    if not target:
        return
    operator = node["instruction"]
    if operator in ("<<", "<<-"):
        is_quoted = "quoted" in target["flags"]
        seen.append(("text", target["word"]))
        codes += [] if is_quoted else codes_in(target["word"], is_heredoc=True)
        return
    codes += codes_in(target["word"])
    if operator in _DIRECTIONS:
        seen.append((_DIRECTIONS[operator], target["word"]))
    elif operator == ">&$" and node["redirector"].get("dest") == 1:
        seen.append(("dup", target["word"]))


def _serve() -> None:
    """Answer each line of JSON, a text, with what is seen in it."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    _SCRATCH.append(os.memfd_create("line"))
    for given in sys.stdin:
        seen: list[tuple[str, ...]] = []
        is_whole = _read_bash(json.loads(given), seen, 0)
        out.write(json.dumps([seen, is_whole]) + "\n")
        out.flush()


class Bash:
    """bash's own parser, in a process of its own.

    Attributes:
        crashes: Times the process died; such a line has no witness.
    """

    def __init__(self) -> None:
        self.crashes = 0
        self._process: subprocess.Popen[str] | None = None

    def sees(self, line: str) -> tuple[Seen, bool] | None:
        """Say what a line does, and whether it is whole; None where the parser died of it."""
        if self._process is None:
            self._process = subprocess.Popen(
                ["prlimit", "--as=2000000000", sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        assert self._process.stdout is not None  # noqa: S101
        answer = ""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        if not answer:
            self.close()
            self.crashes += 1
            return None
        seen, is_whole = json.loads(answer)
        return Counter(normal(tuple(one)) for one in seen), is_whole

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


# -- shfmt ---------------------------------------------------------------------------------------------------


class Shfmt:
    """mvdan's parser, given many lines at once.

    Attributes:
        refused: Lines that it could not parse; they have no witness.
    """

    def __init__(self) -> None:
        self.refused = 0

    def sees(self, lines: list[str]) -> list[Seen | None]:
        """Say what each of the lines does; None for one that it cannot parse."""
        out: list[Seen | None] = []
        for at in range(0, len(lines), _BATCH):
            out += self._batch(lines[at : at + _BATCH])
        self.refused += out.count(None)
        return out

    def _batch(self, lines: list[str]) -> list[Seen | None]:
        """Parse lines together, each behind a mark; where that does not work, look which one is to blame."""
        alive = [at for at, line in enumerate(lines) if "\x00" not in line and not _NOT_ALIKE.search(line)]
        out: list[Seen | None] = [None] * len(lines)
        while alive:
            text, starts = "", []
            for at in alive:
                starts.append(text.count("\n") + 1)
                text += f"{lines[at]}\n\n: {_MARK}\n"
            data = text.encode(errors="replace")
            done = subprocess.run(
                [Path(sys.executable).with_name("shfmt"), "-ln", "bash", "--to-json"],
                input=data,
                capture_output=True,
                check=False,
            )
            if done.returncode == 0:
                parts = _parts(json.loads(done.stdout))
                if len(parts) == len(alive):
                    for at, part in zip(alive, parts, strict=True):
                        out[at] = _seen_by_shfmt(part, data)
                    return out
                guilty = None
            else:
                found = _ERROR_AT.search(done.stderr)
                number = int(found[1]) if found else 1
                guilty = max(at for at, start in enumerate(starts) if start <= number)
            if len(alive) == 1:
                return out
            if guilty is None or guilty == len(alive) - 1 or number >= starts[guilty + 1] - 2:
                halves = alive[: len(alive) // 2], alive[len(alive) // 2 :]
                for half in halves:
                    for at, seen in zip(half, self._batch([lines[one] for one in half]), strict=True):
                        out[at] = seen
                return out
            alive.pop(guilty)
        return out


def _parts(tree: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Cut the statements of a file at the marks that stand alone."""
    parts: list[list[dict[str, Any]]] = []
    part: list[dict[str, Any]] = []
    for statement in tree.get("Stmts", ()):
        args = statement.get("Cmd", {}).get("Args", ())
        if len(args) == 2 and args[1].get("Parts", [{}])[0].get("Value") == _MARK and len(statement) == 4:  # noqa: PLR2004
            parts.append(part)
            part = []
        else:
            part.append(statement)
    return parts if not part else []


def _cut(node: dict[str, Any], data: bytes) -> str:
    return data[node["Pos"]["Offset"] : node["End"]["Offset"]].decode(errors="replace")


def _seen_by_shfmt(part: list[dict[str, Any]], data: bytes) -> Seen:  # noqa: C901 - one arm per kind of node
    seen: list[tuple[str, ...]] = []
    stack: list[tuple[Any, bool]] = [(part, False)]
    while stack:
        node, in_backticks = stack.pop()
        if isinstance(node, list):
            stack.extend((one, in_backticks) for one in node)
            continue
        if not isinstance(node, dict):
            continue
        kind = node.get("Type")
        in_backticks = in_backticks or (kind == "CmdSubst" and bool(node.get("Backquotes")))

        def text(one: dict[str, Any], in_backticks: bool = in_backticks) -> str:  # noqa: FBT001
            raw = _cut(one, data)
            return "" if in_backticks and "\\" in raw else raw

        if kind == "CallExpr":
            seen += [("set", one["Name"]["Value"]) for one in node.get("Assigns", ()) if one.get("Name")]
            if node.get("Args"):
                seen.append(("run", *(text(one) for one in node["Args"])))
        elif kind == "DeclClause":
            seen.append(("run", node["Variant"]["Value"], *(text(one) for one in node.get("Args", ()))))
        elif kind == "WordIter":
            seen.append(("set", node["Name"]["Value"]))
        for redirect in node.get("Redirs", ()):
            if redirect.get("N", {}).get("Value", "").startswith("{"):
                seen.append(("set", redirect["N"]["Value"].strip("{}")))
            operator = redirect["Op"]
            if operator in _DIRECTIONS:
                seen.append((_DIRECTIONS[operator], text(redirect["Word"])))
            elif operator == ">&" and not re.match(r"\d*-|\d+$", text(redirect["Word"])):
                seen.append(("dup", text(redirect["Word"])))
        stack.extend((value, in_backticks) for value in node.values())
    return Counter(normal(one) for one in seen if "" not in one)  # of a word in backticks, where it ends is not said


# -- all alike -----------------------------------------------------------------------------------------------


def normal(one: tuple[str, ...]) -> tuple[str, ...]:
    """Write what was seen in the way that all readers share."""
    kind, *words = one
    if kind == "set":
        return one
    if kind == "text":
        return (kind, re.sub(r"[\\\s]+", "", words[0]))
    texts = [word_text(word) if kind != "run" else argument(word) for word in words]
    return (kind, *texts)


def seen_by_us(line: str) -> Seen | None:  # noqa: C901 - one arm per kind of thing
    """Say what our reader sees in a line; None where it says that it cannot know."""
    from fwdperm.shell import parse_line  # noqa: PLC0415 - as above

    parsed = parse_line(line)
    if parsed.opaque or any(command.opaque for command in parsed.commands):
        return None
    seen: Seen = Counter()
    for command in parsed.commands:
        if command.words:
            words = (argument(word.raw, word.text if word.known else UNKNOWN) for word in command.words)
            seen["run", *(word.replace("\x01", "") for word in words)] += 1
        names = [name for name, _ in command.prefixes]
        if command.program in ("time", "coproc"):
            names += [word.text.partition("=")[0].rstrip("+") for word in command.words[1:] if "=" in word.text]
        for name in names:
            seen["set", _BEFORE_VALUE.split(name)[0]] += 1
        for redirect in command.redirects:
            target = redirect.target
            text = target.text if target.known else UNKNOWN
            if redirect.operator.startswith("<<") and redirect.operator != "<<<":
                seen[normal(("text", target.raw))] += 1
            elif redirect.operator == ">&":
                seen["dup", text] += 1
            elif redirect.operator in _DIRECTIONS:
                seen[_DIRECTIONS[redirect.operator], text] += 1
    for name in {name for name, _ in parsed.loops}:
        seen["set", name] += 1
    return seen


def missed(line: str, theirs: Seen, ours: Seen) -> list[tuple[str, ...]]:
    """Give what a witness sees and we do not."""
    missing = [one for one in theirs if theirs[one] > ours.get(one, 0)]
    names = {one[1] for one in ours if one[0] == "set"}
    missing = [one for one in missing if one[0] != "set" or one[1].isidentifier()]
    if "coproc" in line:  # what names a coprocess, and what runs in it, is told by what comes behind
        programs = {one[1] for one in ours if one[0] == "run"}
        missing = [one for one in missing if not (one[0] == "run" and one[1] in programs)]
    if "time" in line:  # bash's own `time` has no options but `-p`; the program of that name has
        missing = [one for one in missing if not (one[0] == "run" and one[1].startswith("-"))]
    return [
        one
        for one in missing
        if not (one[0] == "set" and (one[1] in names or f"{{{one[1]}}}" in line.replace("\\\n", "")))
    ]


if __name__ == "__main__":
    _serve()

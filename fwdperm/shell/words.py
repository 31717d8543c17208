"""Quote removal: what the shell makes of one word, as far as the text tells.

Lives here: `read_word`, `split_words`, `embedded_code`. Never here: the tree, what a word means.

Works on the source text of a single word, so it does not depend on how a grammar names the parts of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fwdperm.shell.command import Word

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:=@%+,^~-]+")
"""A word in which nothing has a meaning to a shell, as most are: `src/main.c`."""
_BRACES: Final = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}|\{[^{}\s]*\{.*\}")
"""A brace expansion, so that one word may become several: `{a,b}`, `{1..9}`, `{a,{b,c}}`."""
_SPECIAL: Final = re.compile(r"""[\\'"$`*?\[{<>(]""")
"""A character at which reading a word must stop and look: `$`, `"`, `*`."""
_IN_DOUBLE: Final = re.compile(r"""[\\"$`]""")
"""The same between double quotes, where fewer have a meaning: `$`."""
_ANSI: Final = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))", re.DOTALL
)
r"""`\x41`, `\101`, `\u00e9`, `\cA`, `\n`: an escape of an ANSI quotation (`$'...'`)."""
_ANSI_LETTERS: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_HIDDEN: Final = re.compile(r"(?:\\\n)+[({`'\"\w@*#?$!-]")
r"""A continued line before what would make an expansion of a dollar in front of it: `\\\n(date)`. It is one once the
lines are joined."""
_VARIABLE: Final = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
"""An expansion without braces, whole: `$HOME`, `$1`, `$?`."""
_UNICODE_END: Final = 0x110000


def read_word(raw: str) -> Word:
    """Read one word of a command.

    Args:
        raw: The word's source text, quotes and all; no unquoted blank in it.

    Returns:
        The word. Where an expansion's value is not known its source text stands in `text` and `known` is False.
    """
    if _PLAIN.fullmatch(raw):
        return Word(raw, raw)
    reader = _Reader(raw)
    reader.run()
    return Word(raw, "".join(reader.out), known=reader.known, quoted=reader.quoted, glob=reader.glob)


def embedded_code(text: str, *, backticks_only: bool = False) -> list[str]:
    """Find the code of command substitutions in text that a shell would expand.

    Args:
        text: Text of a here-document or of a part of a word that the grammar left whole.
        backticks_only: True where the grammar found the `$(...)` itself.

    Returns:
        The code inside each outermost substitution, backticks with their inner escapes removed.
    """
    found: list[str] = []
    at = 0
    size = len(text)
    while at < size:
        char = text[at]
        if char == "\\":
            at += 2
        elif char == "`":
            end = _backtick_end(text, at)
            found.append(unescape_backticks(text[at + 1 : end - 1] if end <= size else text[at + 1 :]))
            at = end
        elif char == "$" and text.startswith("$(", at):
            end = _paren_end(text, at + 1)
            if not backticks_only:
                found.append(text[at + 2 : end - 1])
                at = end
            else:
                at = end
        else:
            at += 1
    return found


def substitution_spans(
    text: str, *, start: int = 0, end: int | None = None, heredoc: bool = False, arithmetic: bool = False
) -> list[tuple[int, int]]:
    """Find the outermost substitutions of a word by its quotes alone, without a tree.

    Args:
        text: A word's source text, or a here-document's.
        start: Index to begin at.
        end: Index to end at; None for the end of the text.
        heredoc: True for a here-document, in which quotes are plain characters.
        arithmetic: True inside `$((...))`, where `<(` compares and quotes keep nothing from being expanded.

    Returns:
        Where each begins and ends, delimiters and all, in order. Linear in the text.
    """
    found: list[tuple[int, int]] = []
    at, size, in_double = start, len(text) if end is None else end, False
    while at < size:
        char, first = text[at], at
        at += 1
        if char == "\\":
            at += 1
        elif char == "'" and not (heredoc or in_double or arithmetic):
            close = text.find("'", at)
            at = size if close < 0 else close + 1
        elif char == '"' and not heredoc:
            in_double = not in_double
        elif char == "`":
            at = _backtick_end(text, first)
            found.append((first, at))
        elif char == "$" and text.startswith("'", at) and not (heredoc or in_double):
            at = _ansi_end(text, at)
        elif char == "$" and text.startswith("((", at):
            at = _paren_end(text, at)
            if text.startswith("))", at - 2):
                found += substitution_spans(text, start=first + 3, end=at - 2, heredoc=heredoc, arithmetic=True)
            else:
                found.append((first, at))
        elif text.startswith("(", at) and (char == "$" or (char in "<>" and not (heredoc or in_double or arithmetic))):
            at = _paren_end(text, at)
            found.append((first, at))
    return found


def _ansi_end(text: str, at: int) -> int:
    """Return the index after the `'...'` of an ANSI quote that begins at `at`."""
    at += 1
    while at < len(text) and text[at] != "'":
        at += 2 if text[at] == "\\" else 1
    return at + 1


def code_of(substitution: str) -> str:
    """Return the code inside the source text of a substitution."""
    if substitution.startswith("`"):
        return unescape_backticks(substitution[1:-1])
    return substitution[2:-1]


def unescape_backticks(code: str) -> str:
    """Remove the level of backslashes that old-style substitution adds before backslash, dollar and backtick."""
    return re.sub(r"\\([\\`$])", r"\1", code) if "\\" in code else code


def unescape_heredoc(body: str) -> str:
    """Remove the backslashes that an interpolating here-document removes."""
    return re.sub(r"\\([\\`$\n])", lambda m: "" if m[1] == "\n" else m[1], body) if "\\" in body else body


def split_words(text: str) -> list[Word]:
    """Split text into words at unquoted blanks, as `env --split-string` does.

    Returns:
        The words; an unclosed quote runs to the end of the text.
    """
    words: list[Word] = []
    start = -1
    at = 0
    while at < len(text):
        if text[at] in " \t\n\r\v\f":
            if start >= 0:
                words.append(read_word(text[start:at]))
                start = -1
            at += 1
            continue
        if start < 0:
            start = at
        at = _past_one(text, at)
    if start >= 0:
        words.append(read_word(text[start:]))
    return words


@dataclass(slots=True)
class _Reader:
    """One pass over a word."""

    raw: str
    at: int = 0
    known: bool = True
    quoted: bool = False
    glob: bool = False
    hides: bool = False
    out: list[str] = None  # type: ignore[assignment]

    def run(self) -> None:
        raw = self.raw
        size = len(raw)
        self.out = out = []
        while self.at < size:
            found = _SPECIAL.search(raw, self.at)
            if found is None:
                out.append(raw[self.at :])
                break
            if found.start() > self.at:
                out.append(raw[self.at : found.start()])
            self.at = found.start()
            self._special(raw[self.at])
        if (self.known and "{" in raw and not self.quoted and _BRACES.search(raw)) or (
            self.known and "{" in raw and self.quoted and ("," in raw or ".." in raw) and _has_bare_brace(raw)
        ):
            self.known = False

    def _special(self, char: str) -> None:
        match char:
            case "\\":
                self._escape()
            case "'":
                self.quoted = True
                end = self.raw.find("'", self.at + 1)
                end = len(self.raw) if end < 0 else end
                self.out.append(self.raw[self.at + 1 : end])
                self.at = end + 1
            case '"':
                self.at += 1
                self._double()
            case "$" | "`":
                self._dollar()
            case "<" | ">":
                self._process()
            case _:
                if char in "*?[" or char == "(":
                    self.glob = True
                self.out.append(char)
                self.at += 1

    def _escape(self) -> None:
        self.quoted = True
        after = self.raw[self.at + 1 : self.at + 2]
        if after != "\n":
            self.out.append(after or "\\")
        self.at += 2

    def _process(self) -> None:
        if self.raw.startswith("(", self.at + 1):
            end = _paren_end(self.raw, self.at + 1)
            self.out.append(self.raw[self.at : end])
            self.at = end
            self.known = False
        else:
            self.out.append(self.raw[self.at])
            self.at += 1
            if _HIDDEN.match(self.raw, self.at):
                self.known, self.hides = False, True

    def _dollar(self) -> None:
        raw, at = self.raw, self.at
        after = raw[at + 1 : at + 2]
        if raw[at] == "$" and after == "'":
            self._ansi()
        elif raw[at] == "$" and after == '"':
            self.at += 2
            self._double()
        else:
            self._expansion()

    def _expansion(self) -> None:
        """Copy an expansion as it stands; a lone dollar is itself."""
        end = _expansion_end(self.raw, self.at)
        if end > self.at + 1 or self.raw[self.at] == "`":
            self.known = False
        elif _HIDDEN.match(self.raw, end):
            self.known, self.hides = False, True
        self.out.append(self.raw[self.at : end])
        self.at = end

    def _ansi(self) -> None:
        self.quoted = True
        raw = self.raw
        end = self.at + 2
        while end < len(raw) and raw[end] != "'":
            end += 2 if raw[end] == "\\" else 1
        self.out.append(_ANSI.sub(_ansi_char, raw[self.at + 2 : end]))
        self.at = end + 1

    def _double(self) -> None:
        self.quoted = True
        raw = self.raw
        while self.at < len(raw):
            found = _IN_DOUBLE.search(raw, self.at)
            if found is None:
                self.out.append(raw[self.at :])
                self.at = len(raw)
                return
            self.out.append(raw[self.at : found.start()])
            self.at = found.start()
            match raw[self.at]:
                case '"':
                    self.at += 1
                    return
                case "\\":
                    after = raw[self.at + 1 : self.at + 2]
                    if after != "\n":
                        self.out.append(after if after in '$`"\\' else f"\\{after}")
                    self.at += 2
                case _:
                    self._expansion()


def _ansi_char(found: re.Match[str]) -> str:
    octal, two, four, eight, control, letter = found.groups()
    if octal:
        return chr(int(octal, 8) & 0xFF)
    code = two or four or eight
    if code:
        value = int(code, 16)
        return chr(value) if value < _UNICODE_END else "\ufffd"
    if control:
        return chr(ord(control.upper()) & 0x1F)
    return _ANSI_LETTERS.get(letter, f"\\{letter}")


def hides_code(raw: str) -> bool:
    """Say whether a word shows a substitution only once its continued lines are joined.

    Lines are joined before words are cut, so none should: what was missed there must not pass for plain text.
    """
    if "\\\n" not in raw:
        return False
    reader = _Reader(raw)
    reader.run()
    return reader.hides


def _has_bare_brace(raw: str) -> bool:
    """Say whether a brace expansion may stand outside of quotes."""
    return bool(_BRACES.search(bare_text(raw)))


def bare_text(raw: str) -> str:
    """Give a text with an underscore in place of each quoted character or run and each expansion."""
    bare: list[str] = []
    at = 0
    while at < len(raw):
        end = _past_one(raw, at)
        bare.append(raw[at] if end == at + 1 else "_")
        at = end
    return "".join(bare)


def _past_one(text: str, at: int) -> int:
    """Return the index after the character, quoted run or expansion that begins at `at`."""
    match text[at]:
        case "\\":
            return min(at + 2, len(text))
        case "'":
            end = text.find("'", at + 1)
            return len(text) if end < 0 else end + 1
        case '"':
            return _double_end(text, at)
        case "$" | "`":
            return _expansion_end(text, at)
        case "(":
            return _paren_end(text, at)
        case _:
            return at + 1


def _expansion_end(text: str, at: int) -> int:
    """Return the index after the expansion at `at`; `at + 1` for a dollar that expands nothing."""
    if text[at] == "`":
        return _backtick_end(text, at)
    after = text[at + 1 : at + 2]
    if after == "(":
        return _paren_end(text, at + 1)
    if after == "{":
        return _paren_end(text, at + 1)
    found = _VARIABLE.match(text, at)
    return found.end() if found else at + 1


def _backtick_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != "`":
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _double_end(text: str, at: int) -> int:
    """Return the index after the double-quoted run at `at`; substitutions inside it may hold quotes of their own."""
    return _balanced_end(text, at + 1, ['"'])


def _paren_end(text: str, at: int) -> int:
    """Return the index after the bracket that closes the one at `at`."""
    return _balanced_end(text, at + 1, [")" if text[at] == "(" else "}"])


def _balanced_end(text: str, at: int, open_ends: list[str]) -> int:
    """Walk until every end in the stack was met. Linear; an unclosed one runs to the end of the text."""
    size = len(text)
    while at < size and open_ends:
        char = text[at]
        end = open_ends[-1]
        if char == "\\":
            at += 2
            continue
        if char == end:
            open_ends.pop()
        elif char == "'" and end != '"':
            close = text.find("'", at + 1)
            at = size if close < 0 else close
        elif char == '"':
            open_ends.append('"')
        elif char == "`":
            at = _backtick_end(text, at) - 1
        elif char == "$" and text[at + 1 : at + 2] in ("(", "{"):
            at += 1
            open_ends.append(")" if text[at] == "(" else "}")
        elif char == "(" and end == ")":
            open_ends.append(")")
        at += 1
    return min(at, size)

"""Quote removal: what the shell makes of one word, as far as the text tells.

Lives here: `read_word`, `split_words`. Never here: the tree, the code in a word (`substitution.py`), what a word means.

Works on the source text of a single word, so it does not depend on how a grammar names the parts of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fwdperm.shell.command import Word
from fwdperm.shell.quoting import bare_text, bracket_end, expansion_end, past_one

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
        at = past_one(text, at)
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
            end = bracket_end(self.raw, self.at + 1)
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
        end = expansion_end(self.raw, self.at)
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
        if "\\x{" in raw[self.at : end]:
            self.known = False  # shells differ in how far its digits go
        self.out.append(_ANSI.sub(_ansi_char, raw[self.at + 2 : end]).partition("\0")[0])  # as bash's own texts do
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
